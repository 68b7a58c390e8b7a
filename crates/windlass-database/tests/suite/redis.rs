//! Redis: what is read, what the server's own list keeps from being sent, passwords.

use std::time::Duration;

use serde_json::{Value, json};
use windlass_database::Databases;
use windlass_ports::database::{
    Access, DatabaseFailure, DatabasePort as _, RedisAsk, RedisReply, RedisRequest,
};
use windlass_stack_guard::redis;
use windlass_testkit::servers::Redis;
use windlass_types::Secret;

use super::request::{MEGABYTE, at_socket, command};

fn words(line: &str) -> Vec<Vec<u8>> {
    redis::words(line).unwrap()
}

#[tokio::test]
async fn values_and_keys_are_read() {
    let Some(server) = Redis::start(&[]) else {
        return;
    };
    let address = at_socket(server.socket(), "", "0");
    for line in [
        "SET greeting hello",
        "SET bytes \"\\xff\\x00\"",
        "HSET user name ada age 36",
        "RPUSH list a b c",
        "ZADD scores 1 ada 2 bob",
        "XADD stream 1-1 kind start",
        "SET big 9007199254740993",
    ] {
        command(&address, Access::LocalUnrestricted, words(line))
            .await
            .unwrap();
    }
    for (line, expected) in [
        ("GET greeting", json!("hello")),
        ("GET missing", Value::Null),
        ("GET bytes", json!({ "base64": "/wA=" })),
        ("HGETALL user", json!(["name", "ada", "age", "36"])),
        ("LRANGE list 0 -1", json!(["a", "b", "c"])),
        ("ZRANGE scores 0 -1 REV", json!(["bob", "ada"])),
        ("XRANGE stream - +", json!([["1-1", ["kind", "start"]]])),
        ("TTL greeting", json!(-1)),
        ("TYPE list", json!("list")),
        ("PING", json!("PONG")),
        ("OBJECT ENCODING greeting", json!("embstr")),
        ("SLOWLOG LEN", json!(0)),
        ("STRLEN greeting", json!(5)),
    ] {
        redis::check(&words(line)).unwrap();
        let reply = command(&address, Access::ReadOnly, words(line))
            .await
            .unwrap();
        assert_eq!(reply, RedisReply::Value(expected), "{line}");
    }
    for line in [
        "INFO server",
        "MEMORY USAGE greeting",
        "DBSIZE",
        "TIME",
        "SLOWLOG GET 5",
        "XINFO STREAM stream",
    ] {
        redis::check(&words(line)).unwrap();
        command(&address, Access::ReadOnly, words(line))
            .await
            .unwrap();
    }
    let keys = async |pattern: &str, limit: usize| {
        let request = RedisRequest {
            address: address.clone(),
            access: Access::ReadOnly,
            ask: RedisAsk::Keys {
                pattern: pattern.to_owned(),
                limit,
            },
            byte_limit: MEGABYTE,
            timeout: Duration::from_secs(20),
        };
        Databases.redis(&request).await.unwrap()
    };
    assert_eq!(
        keys("[bg]*", 10).await,
        RedisReply::Keys {
            keys: vec!["big".to_owned(), "bytes".to_owned(), "greeting".to_owned()],
            truncated: false
        }
    );
    assert!(
        matches!(keys("*", 2).await, RedisReply::Keys { keys, truncated: true } if keys.len() == 2)
    );
    let failure = command(&address, Access::ReadOnly, words("HGET greeting x"))
        .await
        .unwrap_err();
    assert!(
        matches!(failure, DatabaseFailure::Statement { ref code, .. } if code == "WRONGTYPE"),
        "{failure}"
    );
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
        assert!(redis::check(&words(line)).is_err(), "{line}");
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
async fn passwords_users_and_databases() {
    let Some(server) = Redis::start(&["--requirepass", "only-for-tests"]) else {
        return;
    };
    let mut address = at_socket(server.socket(), "", "3");
    let ask = async |password: Option<&str>,
                     user: &str,
                     address: &mut windlass_ports::database::DatabaseAddress| {
        address.password = password.map(|password| Secret::new(password.to_owned()));
        address.user = user.to_owned();
        command(address, Access::ReadOnly, words("DBSIZE")).await
    };
    assert_eq!(
        ask(Some("only-for-tests"), "", &mut address).await,
        Ok(RedisReply::Value(json!(0)))
    );
    assert_eq!(
        ask(Some("only-for-tests"), "default", &mut address).await,
        Ok(RedisReply::Value(json!(0)))
    );
    for (password, user) in [
        (None, ""),
        (Some("wrong"), ""),
        (Some("only-for-tests"), "eve"),
    ] {
        let failure = ask(password, user, &mut address).await.unwrap_err();
        assert!(matches!(failure, DatabaseFailure::Auth { .. }), "{failure}");
        assert!(!failure.to_string().contains("only-for-tests"));
    }
}
