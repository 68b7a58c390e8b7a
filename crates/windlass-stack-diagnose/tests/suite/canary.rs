//! A secret in every place a value can come from is in no answer and no problem.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_ports::aws::{AwsFailure, StackOutput};
use windlass_ports::database::DatabaseFailure;
use windlass_types::Secret;

use super::exec::{Peer, with_task};
use super::world::{World, of_stack, rows, with_cache, with_database};

/// Known to Windlass once it is read as a password, token or secret.
const CANARY: &str = "canary-known-9f8e7d6c5b4a";
/// Known by its form alone.
const PATTERN: &str = "sk_live_51CanaryCanaryCanaryCanary";

/// One call of every operation, with the canary in what it is given.
fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("info_stack", json!({})),
        ("info_stacks", json!({})),
        ("info_operations", json!({})),
        ("info_whoami", json!({})),
        ("logs", json!({ "resourceName": "api" })),
        (
            "logs",
            json!({ "resourceName": "api", "query": "fields @message" }),
        ),
        (
            "metrics",
            json!({ "resourceName": "api", "metric": "Errors" }),
        ),
        ("alarms", json!({})),
        (
            "container_exec",
            json!({ "resourceName": "web", "command": "env", "confirm": true }),
        ),
        (
            "sql",
            json!({ "resourceName": "db", "sql": "select v from t" }),
        ),
        ("dynamodb", json!({ "resourceName": "items" })),
        (
            "redis",
            json!({ "resourceName": "cache", "operation": "get", "key": "a" }),
        ),
        ("opensearch", json!({ "resourceName": "search" })),
        (
            "aws_sdk",
            json!({ "service": "lambda", "command": "GetFunctionConfiguration" }),
        ),
        (
            "secret_create",
            json!({ "secretName": "key", "secretValue": CANARY }),
        ),
        (
            "secret_create",
            json!({ "secretName": "key", "secretValue": [CANARY] }),
        ),
        ("secret_get", json!({ "secretName": "key" })),
        ("secret_delete", json!({ "secretName": "key" })),
    ]
}

fn world(say: &str) -> World {
    let mut world = World::new();
    // What a surface knows already: the canary is a secret of the account.
    world.redactor.register(&Secret::new(CANARY.to_owned()));
    world.cloud.stacks[0].stack_status_reason = Some(format!("failed with {say}"));
    world.cloud.stacks[0].outputs.push(StackOutput {
        output_key: "Leak".to_owned(),
        output_value: say.to_owned(),
        ..StackOutput::default()
    });
    with_database(&world.cloud, "postgres", CANARY);
    with_cache(&world.cloud, CANARY);
    with_task(&world.cloud, true);
    let line = json!({ "events": [{ "timestamp": 1, "message": format!("key={say}"), "logStreamName": say }] });
    world
        .cloud
        .answer("logs:FilterLogEvents", line)
        .answer("logs:StartQuery", json!({ "queryId": "q" }))
        .answer(
            "logs:GetQueryResults",
            json!({ "status": "Complete", "results": [[{ "field": "m", "value": say }]] }),
        )
        .answer(
            "cloudwatch:GetMetricStatistics",
            json!({ "Datapoints": [{ "Unit": say }] }),
        )
        .answer(
            "cloudwatch:DescribeAlarms",
            json!({ "MetricAlarms": [{ "AlarmName": "a", "StateReason": say }] }),
        )
        .answer(
            "dynamodb:Scan",
            json!({ "Items": [{ "v": { "S": say }, "l": { "L": [{ "S": say }] } }] }),
        )
        .answer(
            "es:DescribeDomain",
            json!({ "DomainStatus": { "Endpoint": "x" } }),
        )
        .answer(
            "lambda:GetFunctionConfiguration",
            json!({ "Environment": { "Variables": { "A": say } }, "Description": say }),
        )
        .answer("secretsmanager:CreateSecret", json!({ "ARN": say }))
        .answer("secretsmanager:DescribeSecret", json!({}))
        .answer("secretsmanager:DeleteSecret", json!({ "ARN": say }));
    *world.cloud.http.lock().unwrap() = Some((200, json!([{ "index": say }])));
    *world.database.sql.lock().unwrap() = Some(Ok(rows(&[json!(say), json!({ "inner": [say] })])));
    *world.database.redis.lock().unwrap() = vec![json!("string"), json!(say)];
    let peer = Peer::default();
    *peer.output.lock().unwrap() = vec![format!("KEY={say}\r\n")];
    world.sockets = Some(Arc::new(peer));
    world
}

fn holds_none(name: &str, shown: &str) {
    for secret in [CANARY, PATTERN] {
        assert!(!shown.contains(secret), "{name} shows {secret}: {shown}");
    }
}

#[tokio::test]
async fn no_answer_and_no_problem_shows_it() {
    for say in [CANARY, PATTERN] {
        for (name, more) in calls() {
            let (answered, _) = world(say).ask(name, of_stack(more)).await;
            holds_none(name, &format!("{answered:?}"));
        }
    }
}

#[tokio::test]
async fn no_failure_shows_it() {
    for say in [CANARY, PATTERN] {
        for (name, more) in calls() {
            let world = world(say);
            let failure = AwsFailure::answered(
                "s:A",
                "ValidationException",
                &format!("bad value {say}"),
                400,
            );
            *world.cloud.failure.lock().unwrap() = Some(failure);
            let (answered, _) = world.ask(name, of_stack(more)).await;
            holds_none(name, &format!("{answered:?}"));
        }
        let world = world(say);
        *world.database.sql.lock().unwrap() = Some(Err(DatabaseFailure::Statement {
            code: "22P02".to_owned(),
            message: format!("invalid input: {say}"),
            position: None,
        }));
        let (answered, _) = world
            .ask(
                "sql",
                of_stack(json!({ "resourceName": "db", "sql": "select 1" })),
            )
            .await;
        holds_none("sql", &format!("{answered:?}"));
    }
}

#[tokio::test]
async fn a_password_is_redacted_once_read() {
    // The redactor does not know it; the row holds the password of the connection.
    let world = World::new();
    with_database(&world.cloud, "postgres", CANARY);
    *world.database.sql.lock().unwrap() = Some(Ok(rows(&[json!(format!("dsn {CANARY}"))])));
    let (answered, _) = world
        .ask(
            "sql",
            of_stack(json!({ "resourceName": "db", "sql": "select v from t" })),
        )
        .await;
    assert!(answered.is_ok());
    holds_none("sql", &format!("{answered:?}"));
}
