//! Arguments that cannot be: refused by name, before anything is asked.

use serde_json::{Value, json};
use windlass_ports::Clock as _;
use windlass_stack_diagnose::{Operation, check};
use windlass_testkit::FakeClock;

use super::world::{World, code_and_reason, of_stack};

/// Operation, arguments besides those of the stack, reason, the argument that is named.
fn invalid() -> Vec<(&'static str, Value, &'static str, &'static str)> {
    vec![
        (
            "info_stack",
            json!({ "stagee": "x" }),
            "unknown_argument",
            "stagee",
        ),
        (
            "info_stack",
            json!({ "stage": "much-too-long-name" }),
            "invalid_argument",
            "stage",
        ),
        (
            "info_stack",
            json!({ "stackName": "other" }),
            "invalid_argument",
            "stackName",
        ),
        (
            "info_stack",
            json!({ "accessKey": "AKIAIOSFODNN7EXAMPLE" }),
            "credentials_in_arguments",
            "accessKey",
        ),
        (
            "info_stack",
            json!({ "region": 1 }),
            "invalid_argument",
            "region",
        ),
        (
            "info_stack",
            json!({ "timeoutSeconds": 0 }),
            "invalid_argument",
            "timeoutSeconds",
        ),
        (
            "info_stacks",
            json!({ "limit": 1 }),
            "unknown_argument",
            "limit",
        ),
        (
            "info_operations",
            json!({ "limit": 0 }),
            "invalid_argument",
            "limit",
        ),
        (
            "info_operations",
            json!({ "currentUserOnly": "yes" }),
            "invalid_argument",
            "currentUserOnly",
        ),
        (
            "info_whoami",
            json!({ "whom": 1 }),
            "unknown_argument",
            "whom",
        ),
        ("logs", json!({}), "missing_argument", "resourceName"),
        (
            "logs",
            json!({ "resourceName": "api", "startTime": "yesterday" }),
            "invalid_argument",
            "startTime",
        ),
        (
            "logs",
            json!({ "resourceName": "api", "startTime": "1m", "endTime": "1h" }),
            "invalid_argument",
            "startTime",
        ),
        (
            "logs",
            json!({ "resourceName": "api", "cursor": "??" }),
            "invalid_argument",
            "cursor",
        ),
        (
            "logs",
            json!({ "resourceName": "api", "filter": "a", "query": "b" }),
            "invalid_argument",
            "query",
        ),
        (
            "logs",
            json!({ "resourceName": "api", "limit": 100_000 }),
            "invalid_argument",
            "limit",
        ),
        (
            "logs",
            json!({ "resourceName": " " }),
            "invalid_argument",
            "resourceName",
        ),
        (
            "metrics",
            json!({ "resourceName": "api" }),
            "missing_argument",
            "metric",
        ),
        (
            "metrics",
            json!({ "resourceName": "api", "metric": "m", "period": 7 }),
            "invalid_argument",
            "period",
        ),
        (
            "metrics",
            json!({ "resourceName": "api", "metric": "m", "startTime": "52w", "period": 60 }),
            "invalid_argument",
            "period",
        ),
        (
            "metrics",
            json!({ "resourceName": "api", "metric": "m", "stat": "Median" }),
            "invalid_argument",
            "stat",
        ),
        (
            "metrics",
            json!({ "resourceName": "api", "metric": "m", "dimensions": { "A": "b" } }),
            "invalid_argument",
            "dimensions",
        ),
        (
            "alarms",
            json!({ "state": "ok" }),
            "invalid_argument",
            "state",
        ),
        (
            "container_exec",
            json!({ "resourceName": "web" }),
            "missing_argument",
            "command",
        ),
        (
            "container_exec",
            json!({ "resourceName": "web", "command": "a\u{0}b" }),
            "invalid_argument",
            "command",
        ),
        (
            "sql",
            json!({ "resourceName": "db" }),
            "missing_argument",
            "sql",
        ),
        (
            "sql",
            json!({ "resourceName": "db", "sql": "select 1", "limit": "many" }),
            "invalid_argument",
            "limit",
        ),
        (
            "dynamodb",
            json!({ "resourceName": "items", "operation": "put" }),
            "invalid_argument",
            "operation",
        ),
        (
            "dynamodb",
            json!({ "resourceName": "items", "operation": "query" }),
            "missing_argument",
            "pk",
        ),
        (
            "dynamodb",
            json!({ "resourceName": "items", "operation": "get" }),
            "missing_argument",
            "key",
        ),
        (
            "dynamodb",
            json!({ "resourceName": "items", "operation": "get", "key": "{" }),
            "invalid_argument",
            "key",
        ),
        (
            "dynamodb",
            json!({ "resourceName": "items", "pk": true }),
            "invalid_argument",
            "pk",
        ),
        (
            "redis",
            json!({ "resourceName": "cache", "operation": "get" }),
            "missing_argument",
            "key",
        ),
        (
            "redis",
            json!({ "resourceName": "cache", "operation": "command" }),
            "missing_argument",
            "command",
        ),
        (
            "redis",
            json!({ "resourceName": "cache", "operation": "command", "command": "GET \"a" }),
            "invalid_argument",
            "command",
        ),
        (
            "redis",
            json!({ "resourceName": "cache", "command": "GET a" }),
            "invalid_argument",
            "command",
        ),
        (
            "opensearch",
            json!({ "resourceName": "search", "operation": "get" }),
            "missing_argument",
            "index",
        ),
        (
            "opensearch",
            json!({ "resourceName": "search", "operation": "get", "index": "a" }),
            "missing_argument",
            "id",
        ),
        (
            "opensearch",
            json!({ "resourceName": "search", "operation": "delete" }),
            "invalid_argument",
            "operation",
        ),
        (
            "aws_sdk",
            json!({ "service": "sts" }),
            "missing_argument",
            "command",
        ),
        (
            "aws_sdk",
            json!({ "service": "sts", "command": "x", "input": "[1]" }),
            "invalid_argument",
            "input",
        ),
        (
            "secret_create",
            json!({ "secretName": "a" }),
            "missing_argument",
            "secretValue",
        ),
        (
            "secret_create",
            json!({ "secretName": "a b", "secretValue": "x" }),
            "invalid_argument",
            "secretName",
        ),
        (
            "secret_create",
            json!({ "secretName": "a", "secretValue": "" }),
            "invalid_argument",
            "secretValue",
        ),
        (
            "secret_create",
            json!({ "secretName": "a", "secretValue": 12 }),
            "invalid_argument",
            "secretValue",
        ),
        (
            "secret_create",
            json!({ "secretName": "a", "secretValue": "x", "secretFile": "y" }),
            "invalid_argument",
            "secretFile",
        ),
        ("secret_get", json!({}), "missing_argument", "secretName"),
        (
            "secret_delete",
            json!({ "secretName": "a", "recoveryDays": 3 }),
            "invalid_argument",
            "recoveryDays",
        ),
        (
            "secret_delete",
            json!({ "secretName": "a", "force": true, "recoveryDays": 7 }),
            "invalid_argument",
            "recoveryDays",
        ),
    ]
}

#[tokio::test]
async fn each_is_refused_and_nothing_is_asked() {
    for (name, more, reason, argument) in invalid() {
        let arguments = of_stack(more.clone());
        let (answered, left) = World::new().ask(name, arguments.clone()).await;
        let problem = answered.unwrap_err();
        assert_eq!(
            code_and_reason(&problem),
            ("INVALID_INPUT", reason.to_owned()),
            "{name} {more}: {problem}"
        );
        assert_eq!(problem.details()["argument"], argument, "{name} {more}");
        assert!(left.cloud.asked.lock().unwrap().is_empty(), "{name} {more}");
        let operation = Operation::named(name).unwrap();
        assert_eq!(
            check(operation, &arguments, FakeClock::new().now()),
            Err(problem)
        );
    }
}

#[tokio::test]
async fn every_operation_names_what_is_missing_of_its_stack_and_region() {
    let own = |operation: Operation| match operation.name() {
        "logs" => json!({ "resourceName": "api" }),
        "metrics" => json!({ "resourceName": "api", "metric": "Errors" }),
        "container_exec" => json!({ "resourceName": "web", "command": "ls", "confirm": true }),
        "sql" => json!({ "resourceName": "db", "sql": "select 1" }),
        "dynamodb" => json!({ "resourceName": "items" }),
        "redis" => json!({ "resourceName": "cache" }),
        "opensearch" => json!({ "resourceName": "search" }),
        "info_stack" | "alarms" => json!({}),
        _ => Value::Null,
    };
    for operation in Operation::ALL {
        let arguments = own(*operation);
        if arguments.is_null() {
            continue;
        }
        let (answered, _) = World::new().ask(operation.name(), arguments.clone()).await;
        let problem = answered.unwrap_err();
        assert_eq!(
            problem.details()["argument"],
            "stage",
            "{}",
            operation.name()
        );
        let mut world = World::new();
        world.cloud.region = None;
        world.sockets = Some(std::sync::Arc::new(super::exec::Peer::default()));
        let mut staged = arguments;
        staged["stage"] = json!("dev");
        let (answered, _) = world.ask(operation.name(), staged).await;
        assert_eq!(
            answered.unwrap_err().details()["argument"],
            "region",
            "{}",
            operation.name()
        );
    }
}

#[tokio::test]
async fn spellings_and_numeric_strings_are_accepted_and_the_config_names_the_project() {
    for arguments in [
        json!({ "project_name": "shop", "stage": "dev" }),
        json!({ "project-name": "shop", "stage": "dev" }),
        json!({ "stackName": "shop-dev" }),
        json!({ "stage": "dev", "timeoutSeconds": "5" }),
    ] {
        let (answered, _) = World::new().ask("info_stack", arguments.clone()).await;
        assert_eq!(
            answered.unwrap().data["stackName"],
            "shop-dev",
            "{arguments}"
        );
    }
    let nameless = json!({ "stage": "dev", "configPath": "nameless.yml" });
    let (answered, _) = World::new().ask("info_stack", nameless).await;
    assert_eq!(answered.unwrap_err().details()["argument"], "projectName");
    let (answered, _) = World::new().ask("info_whoami", json!([1])).await;
    assert_eq!(code_and_reason(&answered.unwrap_err()).0, "INVALID_INPUT");
}
