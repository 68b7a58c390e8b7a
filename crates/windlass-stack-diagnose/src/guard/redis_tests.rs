//! Commands let through and refused; command lines split.

use proptest::prelude::*;

use super::*;

fn verdict(line: &str) -> Result<(), Refusal> {
    check(&words(line)?, &[])
}

#[test]
fn commands_that_read_pass() {
    for line in [
        "GET a",
        "get a",
        "MGET a b",
        "STRLEN a",
        "GETRANGE a 0 3",
        "EXISTS a",
        "TTL a",
        "PTTL a",
        "TYPE a",
        "SCAN 0 MATCH user:* COUNT 100",
        "HGET h f",
        "HMGET h f g",
        "HGETALL h",
        "HKEYS h",
        "HLEN h",
        "HSCAN h 0",
        "LLEN l",
        "LRANGE l 0 -1",
        "LINDEX l 0",
        "SCARD s",
        "SMEMBERS s",
        "SISMEMBER s m",
        "SSCAN s 0",
        "ZCARD z",
        "ZRANGE z 0 -1 WITHSCORES",
        "ZRANGE z 0 10 BYSCORE REV",
        "ZSCORE z m",
        "ZCOUNT z -inf +inf",
        "ZSCAN z 0",
        "XLEN x",
        "XRANGE x - +",
        "XINFO STREAM x",
        "xinfo groups x",
        "INFO",
        "INFO memory",
        "DBSIZE",
        "TIME",
        "PING",
        "MEMORY USAGE a",
        "OBJECT ENCODING a",
        "OBJECT IDLETIME a",
        "OBJECT FREQ a",
        "SLOWLOG GET 10",
        "SLOWLOG LEN",
        "CLUSTER INFO",
        "CLUSTER NODES",
        "GET \"set a 1\"",
    ] {
        assert_eq!(verdict(line), Ok(()), "{line}");
    }
}

#[test]
fn everything_else_is_refused() {
    for line in [
        "SET a 1",
        "set a 1",
        "SeT a 1",
        "\"SET\" a 1",
        "'SET' a 1",
        "\"\\x53ET\" a 1",
        "SETEX a 1 b",
        "SETNX a 1",
        "GETSET a 1",
        "GETDEL a",
        "GETEX a EX 1",
        "MSET a 1",
        "APPEND a 1",
        "INCR a",
        "DECRBY a 1",
        "DEL a",
        "UNLINK a",
        "EXPIRE a 1",
        "PERSIST a",
        "RENAME a b",
        "COPY a b",
        "MOVE a 1",
        "RESTORE a 0 x",
        "DUMP a",
        "MIGRATE h 1 a 0 1",
        "HSET h f 1",
        "HDEL h f",
        "HINCRBY h f 1",
        "LPUSH l 1",
        "LPOP l",
        "RPOPLPUSH l m",
        "LMOVE l m LEFT LEFT",
        "LTRIM l 0 0",
        "SADD s 1",
        "SREM s 1",
        "SPOP s",
        "SMOVE s t 1",
        "SINTERSTORE d s",
        "ZADD z 1 a",
        "ZREM z a",
        "ZPOPMIN z",
        "ZRANGESTORE d z 0 1",
        "ZRANGE z 0 1 STORE d",
        "XADD x * a 1",
        "XDEL x 1",
        "XTRIM x MAXLEN 0",
        "XGROUP CREATE x g 0",
        "XREADGROUP GROUP g c STREAMS x >",
        "XACK x g 1",
        "XINFO HELP",
        "SORT l STORE d",
        "SORT l",
        "GEOADD g 1 1 a",
        "GEORADIUS g 1 1 1 m STORE d",
        "PFADD p 1",
        "PFCOUNT p",
        "BITOP NOT d a",
        "SETBIT a 1 1",
        "BITFIELD a SET u8 0 1",
        "EVAL \"return 1\" 0",
        "EVAL_RO \"return 1\" 0",
        "EVALSHA abc 0",
        "SCRIPT FLUSH",
        "FCALL f 0",
        "FCALL_RO f 0",
        "FUNCTION LOAD x",
        "MULTI",
        "EXEC",
        "WATCH a",
        "FLUSHALL",
        "FLUSHDB",
        "SWAPDB 0 1",
        "CONFIG SET a b",
        "CONFIG GET *",
        "CLIENT KILL x",
        "CLIENT LIST",
        "MONITOR",
        "DEBUG SLEEP 10",
        "SHUTDOWN",
        "SAVE",
        "BGSAVE",
        "BGREWRITEAOF",
        "REPLICAOF a 1",
        "SLAVEOF NO ONE",
        "CLUSTER RESET",
        "CLUSTER FAILOVER",
        "CLUSTER",
        "MEMORY PURGE",
        "MEMORY DOCTOR",
        "OBJECT HELP",
        "SLOWLOG RESET",
        "LATENCY RESET",
        "ACL SETUSER a",
        "MODULE LOAD x",
        "KEYS *",
        "RANDOMKEY",
        "TOUCH a",
        "SUBSCRIBE c",
        "PUBLISH c 1",
        "BLPOP l 0",
        "WAIT 1 1",
        "AUTH x",
        "HELLO 3",
        "SELECT 1",
        "QUIT",
        "RESET",
        "READWRITE",
        "ASKING",
        "GET\\ SET",
        "FT.SEARCH i *",
        "JSON.SET a $ 1",
        "NOSUCH",
        "",
    ] {
        assert!(verdict(line).is_err(), "{line}");
    }
}

#[test]
fn a_refusal_names_its_rule_and_a_way() {
    insta::assert_snapshot!(verdict("keys *").unwrap_err(), @r#"KEYS is not among the commands that only read; KEYS blocks the server, list keys with SCAN; if the server calls it read-only, allow it in config.toml: [stack] allowed_redis_commands = ["KEYS"] (rule redis.command)"#);
    insta::assert_snapshot!(verdict("memory purge").unwrap_err(), @r#"MEMORY PURGE is not a command that only reads; allowed: MEMORY USAGE; if the server calls it read-only, allow it in config.toml: [stack] allowed_redis_commands = ["MEMORY PURGE"] (rule redis.subcommand)"#);
    insta::assert_snapshot!(verdict("GET \"a").unwrap_err(), @"the command line cannot be read: a quote is not closed (rule redis.unreadable)");
}

#[test]
fn settings_allow_more_commands() {
    let allowed = ["HVALS".to_owned(), "memory stats".to_owned()];
    for (line, passes) in [
        ("hvals h", true),
        ("MEMORY STATS", true),
        ("MEMORY USAGE a", true),
        ("MEMORY PURGE", false),
        ("HVALSX h", false),
        ("SET a 1", false),
    ] {
        let verdict = check(&words(line).unwrap(), &allowed);
        assert_eq!(verdict.is_ok(), passes, "{line}");
    }
}

#[test]
fn lines_are_split_as_the_usual_client_splits_them() {
    for (line, expected) in [
        ("GET a", vec!["GET", "a"]),
        ("  GET   'a b' ", vec!["GET", "a b"]),
        (r#"GET "a\n\x41\"b""#, vec!["GET", "a\nA\"b"]),
        (r"GET 'it\'s \n'", vec!["GET", r"it's \n"]),
        (r#"GET """#, vec!["GET", ""]),
    ] {
        let expected: Vec<Vec<u8>> = expected
            .iter()
            .map(|word| word.as_bytes().to_vec())
            .collect();
        assert_eq!(words(line).unwrap(), expected, "{line}");
    }
    for line in ["GET 'a", "GET \"a\\", "GET 'a'b"] {
        assert!(words(line).is_err(), "{line}");
    }
}

proptest! {
    #[test]
    fn no_line_panics_and_no_unknown_command_passes(line in "\\PC{0,60}") {
        if let Ok(words) = words(&line) && check(&words, &[]).is_ok() {
            let name = String::from_utf8_lossy(&words[0]).to_ascii_uppercase();
            prop_assert!(COMMANDS.contains(&name.as_str()) || SUBCOMMANDS.iter().any(|(known, _)| *known == name));
        }
    }
}
