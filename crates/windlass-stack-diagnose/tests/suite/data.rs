//! SQL, Redis, DynamoDB, OpenSearch and AWS actions.

use serde_json::{Value, json};
use windlass_ports::database::{Access, DatabaseFailure, Listening, RedisAsk, SqlEngine, Tls};

use super::world::{World, code_and_reason, of_stack, rows, with_cache, with_database};

#[tokio::test]
async fn sql_asks_the_database_of_the_stack_with_the_password_of_its_secret() {
    let world = World::new();
    with_database(&world.cloud, "postgres", "pass-word-1");
    *world.database.sql.lock().unwrap() = Some(Ok(rows(&[json!(1), json!(2), json!(3)])));
    let arguments = of_stack(json!({ "resourceName": "db", "sql": "select v from t", "limit": 2 }));
    let (answered, left) = world.ask("sql", arguments).await;
    let data = answered.unwrap().data;
    assert_eq!(data["rows"], json!([{ "v": 1 }, { "v": 2 }]));
    assert_eq!(
        (&data["rowCount"], &data["truncated"]),
        (&json!(2), &json!(true))
    );
    assert_eq!(data["engine"], "postgres");
    let asked = &left.database.queries.lock().unwrap()[0];
    assert_eq!(
        (asked.engine, asked.access, asked.row_limit),
        (SqlEngine::Postgres, Access::ReadOnly, 3)
    );
    assert_eq!(
        asked.address.listening,
        Listening::Tcp {
            host: "db.example".to_owned(),
            port: 5433
        }
    );
    assert!(matches!(asked.address.tls, Tls::Verified { .. }));
    assert_eq!(
        asked.address.password.as_ref().unwrap().expose_secret(),
        "pass-word-1"
    );
}

#[tokio::test]
async fn a_reader_is_preferred_and_a_managed_secret_used() {
    let world = World::new();
    world
        .cloud
        .answer("rds:DescribeDBClusters", json!({ "DBClusters": [{
            "Engine": "aurora-mysql", "MasterUsername": "a", "Endpoint": "writer", "ReaderEndpoint": "reader",
            "Port": 3307, "MasterUserSecret": { "SecretArn": "arn:managed" },
        }] }))
        .answer("secretsmanager:GetSecretValue", json!({ "SecretString": "{\"password\":\"from-rds-1\"}" }));
    let (answered, left) = world
        .ask(
            "sql",
            of_stack(json!({ "resourceName": "aurora", "sql": "show tables" })),
        )
        .await;
    assert_eq!(
        answered.unwrap().data["endpoint"],
        json!({ "host": "reader", "reader": true })
    );
    assert_eq!(
        left.cloud.inputs("secretsmanager:GetSecretValue")[0]["SecretId"],
        "arn:managed"
    );

    let world = World::new();
    let instance = |id: &str, replicas: Value| {
        json!({ "DBInstances": [{
        "Engine": "postgres", "DBInstanceStatus": "available", "Endpoint": { "Address": id, "Port": 1 },
        "ReadReplicaDBInstanceIdentifiers": replicas,
        "MasterUserSecret": { "SecretArn": "arn:managed" },
    }] })
    };
    world
        .cloud
        .answer(
            "rds:DescribeDBInstances",
            instance("primary", json!(["replica"])),
        )
        .answer("rds:DescribeDBInstances", instance("replica", json!([])))
        .answer(
            "secretsmanager:GetSecretValue",
            json!({ "SecretString": "{\"password\":\"from-rds-1\"}" }),
        );
    let (answered, _) = world
        .ask(
            "sql",
            of_stack(json!({ "resourceName": "db", "sql": "select 1" })),
        )
        .await;
    assert_eq!(answered.unwrap().data["endpoint"]["host"], "replica");
}

#[tokio::test]
async fn sql_that_writes_is_refused_without_credentials() {
    for statement in [
        "insert into t values (1)",
        "select 1; insert into t values (1)",
        "explain analyze delete from t",
        "select * into u from t",
        "select pg_terminate_backend(1)",
        "with x as (delete from t returning *) select * from x",
    ] {
        let world = World::new();
        with_database(&world.cloud, "postgres", "pass-word-1");
        let (answered, left) = world
            .ask(
                "sql",
                of_stack(json!({ "resourceName": "db", "sql": statement })),
            )
            .await;
        let problem = answered.unwrap_err();
        assert_eq!(
            code_and_reason(&problem).0,
            "READ_ONLY_VIOLATION",
            "{statement}"
        );
        assert!(
            problem.details()["rule"]
                .as_str()
                .unwrap()
                .starts_with("sql.")
        );
        assert!(left.database.queries.lock().unwrap().is_empty());
    }
}

#[tokio::test]
async fn failures_of_databases_become_codes() {
    let text = |text: &str| text.to_owned();
    for (failure, code, reason) in [
        (
            DatabaseFailure::ReadOnly {
                code: text("25006"),
                message: text("m"),
            },
            "READ_ONLY_VIOLATION",
            "read_only_violation",
        ),
        (
            DatabaseFailure::Timeout { message: text("m") },
            "TIMEOUT",
            "statement_timeout",
        ),
        (
            DatabaseFailure::Auth {
                code: text("28P01"),
                message: text("m"),
            },
            "UNAUTHORIZED",
            "database_login",
        ),
        (
            DatabaseFailure::Unreachable { message: text("m") },
            "UPSTREAM_ERROR",
            "unreachable",
        ),
        (
            DatabaseFailure::Unprotected { message: text("m") },
            "INVALID_INPUT",
            "unprotected_connection",
        ),
        (
            DatabaseFailure::Statement {
                code: text("42P01"),
                message: text("m"),
                position: Some(3),
            },
            "INVALID_INPUT",
            "sql_error",
        ),
        (
            DatabaseFailure::Answer { message: text("m") },
            "UPSTREAM_ERROR",
            "bad_answer",
        ),
    ] {
        let world = World::new();
        with_database(&world.cloud, "mysql", "pass-word-1");
        *world.database.sql.lock().unwrap() = Some(Err(failure));
        let (answered, _) = world
            .ask(
                "sql",
                of_stack(json!({ "resourceName": "db", "sql": "select 1" })),
            )
            .await;
        assert_eq!(
            code_and_reason(&answered.unwrap_err()),
            (code, reason.to_owned())
        );
    }
    for (engine, resource, code, reason) in [
        ("oracle-ee", "db", "INVALID_INPUT", "unsupported_engine"),
        ("postgres", "api", "INVALID_INPUT", "wrong_resource_type"),
        ("postgres", "nope", "NOT_FOUND", "not_found"),
    ] {
        let world = World::new();
        with_database(&world.cloud, engine, "pass-word-1");
        let (answered, _) = world
            .ask(
                "sql",
                of_stack(json!({ "resourceName": resource, "sql": "select 1" })),
            )
            .await;
        assert_eq!(
            code_and_reason(&answered.unwrap_err()),
            (code, reason.to_owned())
        );
    }
    // A password that CloudFormation does not show.
    let world = World::new();
    world.cloud.answer(
        "rds:DescribeDBClusters",
        json!({ "DBClusters": [{ "Engine": "aurora-postgresql", "Endpoint": "w" }] }),
    );
    let (answered, _) = world
        .ask(
            "sql",
            of_stack(json!({ "resourceName": "aurora", "sql": "select 1" })),
        )
        .await;
    assert_eq!(
        code_and_reason(&answered.unwrap_err()),
        ("UNAUTHORIZED", "credentials_unknown".to_owned())
    );
}

#[tokio::test]
async fn redis_by_its_verbs() {
    for (arguments, replies, expected) in [
        (
            json!({}),
            vec![json!("# Server\r\nversion:7\r\n")],
            json!({ "info": { "Server": { "version": "7" } } }),
        ),
        (
            json!({ "operation": "keys" }),
            vec![json!({ "keys": ["a"] })],
            json!({ "keys": ["a"], "count": 1, "truncated": false, "pattern": "*" }),
        ),
        (
            json!({ "operation": "get", "key": "a" }),
            vec![json!("string"), json!("v")],
            json!({ "key": "a", "type": "string", "result": "v", "truncated": false }),
        ),
        (
            json!({ "operation": "get", "key": "h" }),
            vec![json!("hash"), json!(["0", ["f", "v"]])],
            json!({ "key": "h", "type": "hash", "result": { "f": "v" }, "truncated": false }),
        ),
        (
            json!({ "operation": "get", "key": "l", "limit": 1 }),
            vec![json!("list"), json!(["x", "y"])],
            json!({ "key": "l", "type": "list", "result": ["x"], "truncated": true }),
        ),
        (
            json!({ "operation": "ttl", "key": "a" }),
            vec![json!(-1)],
            json!({ "key": "a", "result": -1, "meaning": "does not expire" }),
        ),
        (
            json!({ "operation": "type", "key": "a" }),
            vec![json!("set")],
            json!({ "key": "a", "result": "set", "type": "set" }),
        ),
        (
            json!({ "operation": "command", "command": "STRLEN a" }),
            vec![json!(3)],
            json!({ "result": 3, "truncated": false }),
        ),
    ] {
        let world = World::new();
        with_cache(&world.cloud, "cache-token-1");
        *world.database.redis.lock().unwrap() = replies;
        let mut arguments = of_stack(arguments);
        arguments["resourceName"] = json!("cache");
        let (answered, left) = world.ask("redis", arguments).await;
        let mut expected = expected;
        expected["resource"] = json!("cache");
        assert_eq!(answered.unwrap().data, expected);
        let asked = left.database.commands.lock().unwrap();
        assert_eq!(asked[0].access, Access::ReadOnly);
        assert_eq!(
            asked[0].address.listening,
            Listening::Tcp {
                host: "reader.cache".to_owned(),
                port: 6380
            }
        );
        assert_eq!(
            asked[0].address.password.as_ref().unwrap().expose_secret(),
            "cache-token-1"
        );
        assert!(asked.iter().all(
            |request| !matches!(&request.ask, RedisAsk::Command(words) if words[0] == b"KEYS")
        ));
    }
    for command in ["SET a 1", "KEYS *", "EVAL x 0", "CONFIG GET *", "FLUSHALL"] {
        let arguments = of_stack(
            json!({ "resourceName": "cache", "operation": "command", "command": command }),
        );
        let (answered, left) = World::new().ask("redis", arguments).await;
        assert_eq!(
            code_and_reason(&answered.unwrap_err()).0,
            "READ_ONLY_VIOLATION",
            "{command}"
        );
        assert!(left.cloud.asked.lock().unwrap().is_empty());
    }
    let world = World::new();
    with_cache(&world.cloud, "cache-token-1");
    *world.database.redis.lock().unwrap() = vec![json!("none")];
    let (answered, _) = world
        .ask(
            "redis",
            of_stack(json!({ "resourceName": "cache", "operation": "get", "key": "z" })),
        )
        .await;
    assert_eq!(code_and_reason(&answered.unwrap_err()).0, "NOT_FOUND");
}

#[tokio::test]
async fn dynamodb_by_its_verbs() {
    let table = json!({ "Table": {
        "TableName": "shop-dev-items", "TableStatus": "ACTIVE",
        "KeySchema": [{ "AttributeName": "n", "KeyType": "RANGE" }, { "AttributeName": "id", "KeyType": "HASH" }],
        "AttributeDefinitions": [{ "AttributeName": "id", "AttributeType": "S" }, { "AttributeName": "n", "AttributeType": "N" }],
        "GlobalSecondaryIndexes": [{ "IndexName": "byN", "KeySchema": [{ "AttributeName": "n", "KeyType": "HASH" }] }],
    } });
    let ask = |arguments: Value| {
        let world = World::new();
        let page = json!({ "Items": [{ "id": { "S": "a" }, "n": { "N": "1" } }], "ScannedCount": 1, "LastEvaluatedKey": { "id": { "S": "a" } } });
        world
            .cloud
            .answer("dynamodb:DescribeTable", table.clone())
            .answer("dynamodb:Scan", page.clone())
            .answer("dynamodb:Query", page)
            .answer(
                "dynamodb:GetItem",
                json!({ "Item": { "id": { "S": "a" }, "ok": { "BOOL": true } } }),
            );
        let mut arguments = of_stack(arguments);
        arguments["resourceName"] = json!("items");
        world.ask("dynamodb", arguments)
    };
    let (answered, left) = ask(json!({ "limit": 2 })).await;
    let data = answered.unwrap().data;
    assert_eq!(
        data["items"],
        json!([{ "id": "a", "n": 1 }, { "id": "a", "n": 1 }])
    );
    assert_eq!(
        (&data["scannedCount"], &data["truncated"]),
        (&json!(2), &json!(true))
    );
    assert_eq!(
        left.cloud.inputs("dynamodb:Scan")[1]["ExclusiveStartKey"],
        json!({ "id": { "S": "a" } })
    );

    let (answered, left) =
        ask(json!({ "operation": "query", "pk": "a", "sk": 1, "limit": 1 })).await;
    answered.unwrap();
    let asked = &left.cloud.inputs("dynamodb:Query")[0];
    assert_eq!(asked["KeyConditionExpression"], "#k0 = :v0 AND #k1 = :v1");
    assert_eq!(
        asked["ExpressionAttributeValues"],
        json!({ ":v0": { "S": "a" }, ":v1": { "N": "1" } })
    );

    let (answered, _) =
        ask(json!({ "operation": "query", "pk": 1, "index": "byN", "limit": 1 })).await;
    answered.unwrap();
    for key in [
        json!({ "pk": "a", "sk": 1 }),
        json!({ "key": { "id": "a", "n": 1 } }),
        json!({ "key": "{\"id\":\"a\",\"n\":1}" }),
    ] {
        let mut arguments = key;
        arguments["operation"] = json!("get");
        let (answered, left) = ask(arguments).await;
        assert_eq!(
            answered.unwrap().data["item"],
            json!({ "id": "a", "ok": true })
        );
        assert_eq!(
            left.cloud.inputs("dynamodb:GetItem")[0]["Key"],
            json!({ "id": { "S": "a" }, "n": { "N": "1" } })
        );
    }
    let (answered, _) = ask(json!({ "operation": "schema" })).await;
    assert_eq!(answered.unwrap().data["gsi"][0]["name"], "byN");
    for (arguments, expected) in [
        (
            json!({ "operation": "get", "key": { "id": "a" } }),
            "INVALID_INPUT",
        ),
        (
            json!({ "operation": "get", "key": { "id": "a", "n": "x" } }),
            "INVALID_INPUT",
        ),
        (
            json!({ "operation": "get", "key": { "other": "a" } }),
            "INVALID_INPUT",
        ),
        (json!({ "operation": "get", "pk": "a" }), "INVALID_INPUT"),
        (
            json!({ "operation": "query", "pk": "a", "index": "none" }),
            "NOT_FOUND",
        ),
    ] {
        let (answered, _) = ask(arguments.clone()).await;
        assert_eq!(
            code_and_reason(&answered.unwrap_err()).0,
            expected,
            "{arguments}"
        );
    }
}

#[tokio::test]
async fn opensearch_by_its_verbs() {
    let ask = |arguments: Value, status: u16, body: Value| {
        let world = World::new();
        world.cloud.answer(
            "es:DescribeDomain",
            json!({ "DomainStatus": { "Endpoints": { "vpc": "search.example" } } }),
        );
        *world.cloud.http.lock().unwrap() = Some((status, body));
        let mut arguments = of_stack(arguments);
        arguments["resourceName"] = json!("search");
        world.ask("opensearch", arguments)
    };
    for (arguments, request, sent) in [
        (
            json!({}),
            "GET https://search.example/_cat/indices?format=json&bytes=b",
            Value::Null,
        ),
        (
            json!({ "operation": "search", "index": "a", "query": "x" }),
            "POST https://search.example/a/_search",
            json!({ "query": { "query_string": { "query": "x" } }, "size": 10 }),
        ),
        (
            json!({ "operation": "search", "query": { "term": { "k": 1 } }, "limit": 3 }),
            "POST https://search.example/_all/_search",
            json!({ "query": { "term": { "k": 1 } }, "size": 3 }),
        ),
        (
            json!({ "operation": "count", "index": "a" }),
            "POST https://search.example/a/_count",
            json!({ "query": { "match_all": {} } }),
        ),
        (
            json!({ "operation": "get", "index": "a", "id": "1" }),
            "GET https://search.example/a/_doc/1",
            Value::Null,
        ),
        (
            json!({ "operation": "mapping", "index": "a" }),
            "GET https://search.example/a/_mapping",
            Value::Null,
        ),
    ] {
        let (answered, left) = ask(arguments.clone(), 200, json!({ "count": 2 })).await;
        assert_eq!(
            answered.unwrap().data["result"],
            json!({ "count": 2 }),
            "{arguments}"
        );
        assert_eq!(left.cloud.inputs(request), [sent], "{arguments}");
    }
    for (status, expected) in [
        (404, "NOT_FOUND"),
        (403, "FORBIDDEN"),
        (400, "INVALID_INPUT"),
        (503, "UPSTREAM_ERROR"),
    ] {
        let (answered, _) = ask(
            json!({ "operation": "count" }),
            status,
            json!({ "error": { "reason": "r" } }),
        )
        .await;
        assert_eq!(code_and_reason(&answered.unwrap_err()).0, expected);
    }
    for index in [
        "_bulk",
        "a/_delete_by_query",
        "a/../_all",
        "a?scroll=1m",
        "%2e%2e",
    ] {
        let (answered, left) = ask(
            json!({ "operation": "search", "index": index }),
            200,
            json!({}),
        )
        .await;
        assert_eq!(
            code_and_reason(&answered.unwrap_err()).0,
            "READ_ONLY_VIOLATION",
            "{index}"
        );
        assert!(left.cloud.asked.lock().unwrap().is_empty());
    }
}

#[tokio::test]
async fn only_aws_actions_of_the_table() {
    let world = World::new();
    world.cloud.answer("lambda:GetFunctionConfiguration", json!({
        "Environment": { "Variables": { "PLAIN": "an-environment-value" } }, "List": vec![1; 1_200],
    }));
    let arguments = json!({ "service": "lambda", "command": "GetFunctionConfigurationCommand", "input": "{\"FunctionName\":\"f\"}" });
    let (answered, left) = world.ask("aws_sdk", arguments).await;
    let data = answered.unwrap().data;
    assert_eq!(data["command"], "GetFunctionConfiguration");
    assert_eq!(
        data["data"]["Environment"]["Variables"]["PLAIN"],
        "an-e...alue"
    );
    assert_eq!(data["data"]["List"].as_array().unwrap().len(), 1_000);
    assert_eq!(data["truncated"], true);
    assert_eq!(
        left.cloud.inputs("lambda:GetFunctionConfiguration")[0],
        json!({ "FunctionName": "f" })
    );
    for (service, command) in [
        ("secretsmanager", "GetSecretValue"),
        ("dynamodb", "BatchWriteItem"),
        ("dynamodb", "BatchExecuteStatement"),
        ("s3", "GetObject"),
        ("ssm", "GetParameters"),
        ("nothing", "List"),
    ] {
        let arguments = json!({ "service": service, "command": command });
        let (answered, left) = World::new().ask("aws_sdk", arguments).await;
        assert_eq!(
            code_and_reason(&answered.unwrap_err()).0,
            "READ_ONLY_VIOLATION",
            "{service} {command}"
        );
        assert!(left.cloud.asked.lock().unwrap().is_empty());
    }
}
