//! Attempts to change a Redis, by the rules and by the server's own list.

use windlass_ports::database::{Access, DatabaseFailure};
use windlass_stack_diagnose::guard::redis;
use windlass_testkit::servers::{Redis, at_socket};

use super::ask::command;

fn words(line: &str) -> Vec<Vec<u8>> {
    redis::words(line).unwrap()
}

/// Commands that would change data, the server or other connections.
const ATTEMPTS: &[&str] = &[
    "SET a 2",
    "set a 2",
    "\"\\x53ET\" a 2",
    "SETEX a 10 2",
    "SETNX b 1",
    "GETSET a 2",
    "GETDEL a",
    "GETEX a EX 10",
    "MSET a 2 b 3",
    "APPEND a x",
    "INCR n",
    "DECRBY n 3",
    "INCRBYFLOAT n 1.5",
    "SETRANGE a 0 x",
    "SETBIT a 0 1",
    "DEL a",
    "UNLINK a",
    "EXPIRE a 1",
    "PEXPIREAT a 1",
    "PERSIST a",
    "RENAME a b",
    "RENAMENX a b",
    "COPY a b",
    "MOVE a 1",
    "HSET h f 2",
    "HDEL h f",
    "HINCRBY h n 1",
    "HSETNX h g 1",
    "LPUSH l x",
    "LPOP l",
    "RPOP l",
    "LREM l 0 x",
    "LSET l 0 x",
    "LTRIM l 1 1",
    "RPOPLPUSH l m",
    "LMOVE l m LEFT LEFT",
    "LINSERT l BEFORE x y",
    "SADD s x",
    "SREM s x",
    "SPOP s",
    "SMOVE s t x",
    "SINTERSTORE d s",
    "SUNIONSTORE d s",
    "ZADD z 1 x",
    "ZREM z x",
    "ZINCRBY z 1 x",
    "ZPOPMIN z",
    "ZRANGESTORE d z 0 -1",
    "XADD x * a 1",
    "XDEL x 1-1",
    "XTRIM x MAXLEN 0",
    "XGROUP CREATE x g 0 MKSTREAM",
    "SORT l STORE d",
    "SORT l ALPHA",
    "GEOADD g 1 1 a",
    "PFADD p 1",
    "BITOP NOT d a",
    "BITFIELD a SET u8 0 1",
    "RESTORE q 0 x",
    "FLUSHALL",
    "FLUSHDB",
    "SWAPDB 0 1",
    "EVAL \"return redis.call('set', 'a', 2)\" 0",
    "EVAL_RO \"return 1\" 0",
    "EVALSHA abc 0",
    "SCRIPT LOAD \"return 1\"",
    "SCRIPT FLUSH",
    "FCALL f 0",
    "FUNCTION FLUSH",
    "MULTI",
    "EXEC",
    "WATCH a",
    "CONFIG SET maxmemory 1",
    "CONFIG REWRITE",
    "CONFIG RESETSTAT",
    "CLIENT KILL TYPE normal",
    "CLIENT PAUSE 1000",
    "MONITOR",
    "DEBUG SLEEP 0",
    "SAVE",
    "BGSAVE",
    "BGREWRITEAOF",
    "REPLICAOF 127.0.0.1 1",
    "SHUTDOWN NOSAVE",
    "SLOWLOG RESET",
    "LATENCY RESET",
    "ACL SETUSER eve on",
    "MODULE LOAD /x",
    "PUBLISH c x",
    "SUBSCRIBE c",
    "BLPOP l 0",
    "NOSUCHCOMMAND",
];

#[tokio::test]
async fn attempts_to_write_are_refused_by_the_rules_and_by_the_servers_own_list() {
    assert!(ATTEMPTS.len() >= 60);
    for line in ATTEMPTS {
        assert!(redis::check(&words(line), &[]).is_err(), "{line}");
    }
    let Some(server) = Redis::start(&[]) else {
        return;
    };
    let address = at_socket(server.socket(), "", "");
    for line in [
        "SET a 1",
        "SET n 5",
        "HSET h f 1 n 1",
        "RPUSH l x y",
        "SADD s x",
        "ZADD z 1 x",
        "XADD x 1-1 a 1",
    ] {
        command(&address, Access::LocalUnrestricted, words(line))
            .await
            .unwrap();
    }
    let state = async || {
        let mut state = Vec::new();
        for line in [
            "DEBUG DIGEST",
            "DBSIZE",
            "ACL LIST",
            "TTL a",
            "CONFIG GET maxmemory",
            "ROLE",
        ] {
            // The digest is of a debugging command that servers switch off; the rest is not.
            state.push(
                command(&address, Access::LocalUnrestricted, words(line))
                    .await
                    .ok(),
            );
        }
        for key in ["a", "n", "h", "l", "s", "z", "x"] {
            let dump = words(&format!("DUMP {key}"));
            state.push(
                command(&address, Access::LocalUnrestricted, dump)
                    .await
                    .ok(),
            );
        }
        state
    };
    let before = state().await;
    assert!(before.iter().skip(1).all(Option::is_some));
    // With the rules switched off: what the server calls a write is not sent.
    for line in ATTEMPTS {
        let failure = command(&address, Access::ReadOnly, words(line))
            .await
            .unwrap_err();
        assert!(
            matches!(failure, DatabaseFailure::ReadOnly { .. }),
            "{line}: {failure}"
        );
        assert_eq!(state().await, before, "{line}");
    }
}

#[tokio::test]
async fn what_settings_allow_is_sent_only_if_the_server_calls_it_read_only() {
    let Some(server) = Redis::start(&[]) else {
        return;
    };
    let address = at_socket(server.socket(), "", "");
    for (line, passes) in [
        ("HVALS h", true),
        ("RANDOMKEY", true),
        ("SORT_RO l", true),
        ("INFO server", true),
        ("PING", true),
        ("TIME", true),
        ("SLOWLOG GET 1", true),
        ("SELECT 1", false),
        ("ECHO x", false),
        ("MEMORY PURGE", false),
        ("OBJECT HELP", false),
        ("LATENCY DOCTOR", false),
        ("CLIENT LIST", false),
        ("CONFIG GET maxmemory", false),
        ("SLOWLOG RESET", false),
        ("CLUSTER RESET", false),
        ("XREAD BLOCK 1 STREAMS x 0", false),
        ("EVAL_RO \"return 1\" 0", false),
    ] {
        let name = line.split(' ').next().unwrap().to_owned();
        assert_eq!(redis::check(&words(line), &[name]), Ok(()), "{line}");
        let outcome = command(&address, Access::ReadOnly, words(line)).await;
        match outcome {
            Ok(_) => assert!(passes, "{line}"),
            Err(DatabaseFailure::ReadOnly { .. }) => assert!(!passes, "{line}: {outcome:?}"),
            Err(other) => panic!("{line}: {other}"),
        }
    }
}
