//! Redis: what is read, passwords, users.

use serde_json::{Value, json};
use windlass_database::Databases;
use windlass_ports::database::{Access, DatabaseFailure, DatabasePort as _, RedisAsk, RedisReply};
use windlass_testkit::servers::{Redis, asking, at_socket};
use windlass_types::Secret;

use super::ask::command;

fn words(line: &str) -> Vec<Vec<u8>> {
    line.split(' ')
        .map(|word| word.as_bytes().to_vec())
        .collect()
}

#[tokio::test]
async fn values_and_keys_are_read() {
    let Some(server) = Redis::start(&[]) else {
        return;
    };
    let address = at_socket(server.socket(), "", "0");
    for line in [
        "SET greeting hello",
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
    let mut bytes = words("SET bytes");
    bytes.push(vec![0xff, 0]);
    command(&address, Access::LocalUnrestricted, bytes)
        .await
        .unwrap();
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
        command(&address, Access::ReadOnly, words(line))
            .await
            .unwrap();
    }
    let keys = async |pattern: &str, limit: usize| {
        let ask = RedisAsk::Keys {
            pattern: pattern.to_owned(),
            limit,
        };
        let request = asking(&address, Access::ReadOnly, ask);
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
