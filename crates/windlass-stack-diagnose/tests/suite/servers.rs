//! Real Postgres and Redis behind the scripted cloud: found as in a stack, reached at their socket.

use std::sync::Arc;

use serde_json::json;
use windlass_database::Databases;
use windlass_ports::BoxFuture;
use windlass_ports::database::{
    DatabaseAddress, DatabaseFailure, DatabasePort, RedisReply, RedisRequest, Rows, SqlRequest,
};
use windlass_secrets::Redactor;
use windlass_stack_diagnose::{Answer, Operation, Outside, Settings, answer};
use windlass_system::SystemClock;
use windlass_testkit::SeededEntropy;
use windlass_testkit::servers::{Postgres, Redis, at_socket};
use windlass_types::Problem;

use super::world::{
    Journal, Projects, World, code_and_reason, of_stack, with_cache, with_database,
};

/// Sends what is meant for AWS's endpoint to a socket of this machine.
struct Redirected(DatabaseAddress);

impl DatabasePort for Redirected {
    fn query<'a>(
        &'a self,
        request: &'a SqlRequest,
    ) -> BoxFuture<'a, Result<Rows, DatabaseFailure>> {
        Box::pin(async move {
            let request = SqlRequest {
                address: self.0.clone(),
                ..request.clone()
            };
            Databases.query(&request).await
        })
    }

    fn redis<'a>(
        &'a self,
        request: &'a RedisRequest,
    ) -> BoxFuture<'a, Result<RedisReply, DatabaseFailure>> {
        Box::pin(async move {
            let request = RedisRequest {
                address: self.0.clone(),
                ..request.clone()
            };
            Databases.redis(&request).await
        })
    }
}

async fn ask(
    address: &DatabaseAddress,
    name: &str,
    more: serde_json::Value,
) -> Result<Answer, Problem> {
    let world = World::new();
    with_database(&world.cloud, "postgres", "pass-word-1");
    with_cache(&world.cloud, "cache-token-1");
    let outside = Outside {
        cloud: Arc::new(world.cloud),
        databases: Arc::new(Redirected(address.clone())),
        journal: Arc::new(Journal(Vec::new())),
        projects: Arc::new(Projects),
        sockets: None,
        clock: Arc::new(SystemClock),
        entropy: Arc::new(SeededEntropy::new(1)),
        redactor: Redactor::new(),
        settings: Settings::default(),
    };
    answer(&outside, Operation::named(name).unwrap(), &of_stack(more)).await
}

#[tokio::test]
async fn postgres_is_read_and_not_written() {
    let Some(server) = Postgres::start("diagnose") else {
        return;
    };
    server.run("create table users (id int, name text); insert into users values (1, 'ada'), (2, 'bob'), (3, 'cy');").unwrap();
    let address = at_socket(server.socket(), "postgres", "postgres");
    let sql = |statement: &str, limit: u64| {
        ask(
            &address,
            "sql",
            json!({ "resourceName": "db", "sql": statement, "limit": limit }),
        )
    };
    let data = sql("select id, name from users order by id", 2)
        .await
        .unwrap()
        .data;
    assert_eq!(
        data["rows"],
        json!([{ "id": 1, "name": "ada" }, { "id": 2, "name": "bob" }])
    );
    assert_eq!(
        (&data["fields"], &data["truncated"]),
        (&json!(["id", "name"]), &json!(true))
    );
    let data = sql(
        "-- all\nwith u as (select * from users) select count(*) as n from u",
        10,
    )
    .await
    .unwrap()
    .data;
    assert_eq!(data["truncated"], false);
    let slow = ask(
        &address,
        "sql",
        json!({ "resourceName": "db", "sql": "select count(*) from generate_series(1, 1000000000)", "timeout": 100 }),
    )
    .await;
    assert_eq!(code_and_reason(&slow.unwrap_err()).0, "TIMEOUT");
    let wrong = sql("select * from nothing", 10).await.unwrap_err();
    assert_eq!(
        code_and_reason(&wrong),
        ("INVALID_INPUT", "sql_error".to_owned())
    );
    assert!(sql("delete from users", 10).await.is_err());
    assert_eq!(
        sql("select count(*)::int as n from users", 1)
            .await
            .unwrap()
            .data["rows"],
        json!([{ "n": 3 }])
    );
}

#[tokio::test]
async fn redis_is_read_by_type() {
    let Some(server) = Redis::start(&[]) else {
        return;
    };
    let address = at_socket(server.socket(), "", "");
    let fill = |line: &'static str| {
        let address = address.clone();
        async move {
            let words = windlass_stack_diagnose::guard::redis::words(line).unwrap();
            let request = windlass_testkit::servers::asking(
                &address,
                windlass_ports::database::Access::LocalUnrestricted,
                windlass_ports::database::RedisAsk::Command(words),
            );
            Databases.redis(&request).await.unwrap();
        }
    };
    for line in [
        "SET text hello",
        "RPUSH list a b c",
        "HSET hash f v g w",
        "SADD set x",
        "ZADD zset 1 one",
    ] {
        fill(line).await;
    }
    for (key, kind, result) in [
        ("text", "string", json!("hello")),
        ("list", "list", json!(["a", "b", "c"])),
        ("hash", "hash", json!({ "f": "v", "g": "w" })),
        ("set", "set", json!(["x"])),
    ] {
        let data = ask(
            &address,
            "redis",
            json!({ "resourceName": "cache", "operation": "get", "key": key }),
        )
        .await
        .unwrap()
        .data;
        assert_eq!((&data["type"], &data["result"]), (&json!(kind), &result));
    }
    let data = ask(
        &address,
        "redis",
        json!({ "resourceName": "cache", "operation": "get", "key": "hash", "field": "g" }),
    )
    .await
    .unwrap()
    .data;
    assert_eq!(data["result"], "w");
    let data = ask(
        &address,
        "redis",
        json!({ "resourceName": "cache", "operation": "keys", "pattern": "*set" }),
    )
    .await
    .unwrap()
    .data;
    assert_eq!(data["keys"], json!(["set", "zset"]));
    let data = ask(&address, "redis", json!({ "resourceName": "cache" }))
        .await
        .unwrap()
        .data;
    assert!(data["info"]["Server"]["redis_version"].is_string());
}
