//! Every command as the operation it calls and the input it calls it with.

use clap::Parser as _;
use serde_json::json;

use super::*;
use crate::cli::{Cli, Command};

/// A command line without quotes has its words between blanks; with them, between quotes too.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        match index % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

pub(super) fn parsed(line: &str) -> StackCommand {
    match Cli::try_parse_from(words(&format!("windlass stack {line}"))) {
        Ok(Cli {
            command: Command::Stack(command),
            ..
        }) => *command.0,
        Ok(other) => panic!("{line}: {other:?}"),
        Err(error) => panic!("{line}: {error}"),
    }
}

pub(super) fn asked(line: &str) -> (String, Value) {
    let request = parsed(line).call().request();
    let request = request.unwrap_or_else(|problem| panic!("{line}: {problem}"));
    (request.operation.to_owned(), request.input)
}

#[test]
fn each_command_calls_its_operation() {
    let cases: &[(&str, &str, Value)] = &[
        ("init", "init", json!({})),
        (
            "init app --force --print",
            "init",
            json!({ "currentWorkingDirectory": "app", "force": true, "print": true }),
        ),
        (
            "preview --stage dev --region eu-west-1 --detect-drift",
            "preview_changes",
            json!({ "stage": "dev", "region": "eu-west-1", "detectDrift": true }),
        ),
        (
            "deploy --project-name shop --stage dev --profile p --config-path s.yml --timeout-seconds 9",
            "deploy",
            json!({ "projectName": "shop", "stage": "dev", "profile": "p", "configPath": "s.yml", "timeoutSeconds": 9 }),
        ),
        (
            "deploy --yes --confirm-token ct --disable-auto-rollback --no-cache --docker-arg --quiet --no-wait",
            "deploy",
            json!({ "confirm": true, "confirmToken": "ct", "disableAutoRollback": true, "noCache": true, "dockerArgs": ["--quiet"], "wait": false }),
        ),
        (
            "delete --project-name shop --stage dev -y --retain-resources A,B",
            "delete",
            json!({ "projectName": "shop", "stage": "dev", "confirm": true, "retainResources": ["A", "B"] }),
        ),
        (
            "rollback --target-version v000003",
            "rollback",
            json!({ "targetVersion": "v000003" }),
        ),
        (
            "rollback --rollback-steps 2 --resources-to-skip A",
            "rollback",
            json!({ "rollbackSteps": 2, "resourcesToSkip": ["A"] }),
        ),
        (
            "rollback --list-versions",
            "rollback",
            json!({ "listVersions": true }),
        ),
        (
            "script run migrate --env A=1 --env B=2 --assume-role-of-resource api",
            "script_run",
            json!({ "scriptName": "migrate", "env": ["A=1", "B=2"], "assumeRoleOfResource": "api" }),
        ),
        (
            "script run --script-name migrate",
            "script_run",
            json!({ "scriptName": "migrate" }),
        ),
        (
            "template --out-file t.json",
            "compile_template",
            json!({ "outFile": "t.json" }),
        ),
        ("compile", "compile_template", json!({})),
        (
            "validate --with-package --thorough",
            "validate",
            json!({ "withPackage": true, "thorough": true }),
        ),
        (
            "secret create shop.db --value v --force-update",
            "secret_create",
            json!({ "secretName": "shop.db", "secretValue": "v", "forceUpdate": true }),
        ),
        (
            "secret create --secret-name shop.db --value-file /f",
            "secret_create",
            json!({ "secretName": "shop.db", "secretFile": "/f" }),
        ),
        (
            "secret get shop.db",
            "secret_get",
            json!({ "secretName": "shop.db" }),
        ),
        (
            "secret delete shop.db --recovery-days 7",
            "secret_delete",
            json!({ "secretName": "shop.db", "recoveryDays": 7 }),
        ),
        (
            "secret delete shop.db --force --yes",
            "secret_delete",
            json!({ "secretName": "shop.db", "force": true, "confirm": true }),
        ),
        (
            "info stack shop-dev",
            "info_stack",
            json!({ "stackName": "shop-dev" }),
        ),
        (
            "info stacks --region eu-west-1",
            "info_stacks",
            json!({ "region": "eu-west-1" }),
        ),
        (
            "info operations --current-user-only --limit 3",
            "info_operations",
            json!({ "currentUserOnly": true, "limit": 3 }),
        ),
        ("info whoami", "info_whoami", json!({})),
        (
            "logs api --start-time 15m --filter ERROR --limit 5 --raw",
            "logs",
            json!({ "resourceName": "api", "startTime": "15m", "filter": "ERROR", "limit": 5, "raw": true }),
        ),
        (
            "logs --resource-name api -f",
            "logs",
            json!({ "resourceName": "api" }),
        ),
        (
            r#"metrics api Errors --stat p99 --period 60 --dimensions {"a":"b"}"#,
            "metrics",
            json!({ "resourceName": "api", "metric": "Errors", "stat": "p99", "period": 60, "dimensions": { "a": "b" } }),
        ),
        (
            "metrics --resource-name api Errors",
            "metrics",
            json!({ "resourceName": "api", "metric": "Errors" }),
        ),
        (
            "alarms --stack-name shop-dev --state ALARM",
            "alarms",
            json!({ "stackName": "shop-dev", "state": "ALARM" }),
        ),
        (
            "exec web --yes --container app -- sh -c 'ls -la'",
            "container_exec",
            json!({ "resourceName": "web", "confirm": true, "container": "app", "command": "sh -c 'ls -la'" }),
        ),
        (
            "exec --resource-name web --command env",
            "container_exec",
            json!({ "resourceName": "web", "command": "env" }),
        ),
        (
            "sql db 'select 1' --limit 2 --timeout 100",
            "sql",
            json!({ "resourceName": "db", "sql": "select 1", "limit": 2, "timeout": 100 }),
        ),
        (
            "sql --resource-name db 'select 1' --bastion-resource b --port 99",
            "sql",
            json!({ "resourceName": "db", "sql": "select 1", "bastionResource": "b", "port": 99 }),
        ),
        (
            "dynamodb items",
            "dynamodb",
            json!({ "resourceName": "items" }),
        ),
        (
            "dynamodb items query --pk 7 --sk -1 --index byDate",
            "dynamodb",
            json!({ "resourceName": "items", "operation": "query", "pk": "7", "sk": "-1", "index": "byDate" }),
        ),
        (
            r#"dynamodb items get --key {"id":"7"}"#,
            "dynamodb",
            json!({ "resourceName": "items", "operation": "get", "key": { "id": "7" } }),
        ),
        (
            "redis cache get session:1",
            "redis",
            json!({ "resourceName": "cache", "operation": "get", "key": "session:1" }),
        ),
        (
            "redis cache keys session:*",
            "redis",
            json!({ "resourceName": "cache", "operation": "keys", "pattern": "session:*" }),
        ),
        (
            "redis cache info memory",
            "redis",
            json!({ "resourceName": "cache", "operation": "info", "section": "memory" }),
        ),
        (
            "redis cache command HGET 'a b' c",
            "redis",
            json!({ "resourceName": "cache", "operation": "command", "command": "HGET 'a b' c" }),
        ),
        (
            "redis --resource-name cache --operation keys --pattern x*",
            "redis",
            json!({ "resourceName": "cache", "operation": "keys", "pattern": "x*" }),
        ),
        (
            r#"opensearch find search items --query {"match_all":{}}"#,
            "opensearch",
            json!({ "resourceName": "find", "operation": "search", "index": "items", "query": { "match_all": {} } }),
        ),
        (
            "opensearch find search --index items --query 'blue shoes'",
            "opensearch",
            json!({ "resourceName": "find", "operation": "search", "index": "items", "query": "blue shoes" }),
        ),
        (
            r#"aws s3 ListBuckets --input {"MaxBuckets":1}"#,
            "aws_sdk",
            json!({ "service": "s3", "command": "ListBuckets", "input": { "MaxBuckets": 1 } }),
        ),
        (
            "aws --service sqs --command ListQueues",
            "aws_sdk",
            json!({ "service": "sqs", "command": "ListQueues" }),
        ),
        (
            "drift --stage dev",
            "preview_changes",
            json!({ "stage": "dev", "detectDrift": true }),
        ),
        (
            "dev --stage dev --stop-on-exit",
            "dev_start",
            json!({ "stage": "dev" }),
        ),
        (
            "dev start --resources api,db --remote db --agent-port 7400 --fresh-db",
            "dev_start",
            json!({ "resources": ["api", "db"], "remote": ["db"], "agentPort": 7400, "freshDb": true }),
        ),
        ("dev status", "dev_status", json!({})),
        (
            "dev logs api --limit 20 --cursor 118",
            "dev_logs",
            json!({ "workload": "api", "limit": 20, "cursor": 118 }),
        ),
        (
            "dev rebuild api",
            "dev_rebuild",
            json!({ "workload": "api" }),
        ),
        ("dev rebuild", "dev_rebuild_all", json!({})),
        ("dev rebuild --all", "dev_rebuild_all", json!({})),
        (
            "dev stop --stage dev",
            "dev_stop",
            json!({ "stage": "dev" }),
        ),
        (
            "docs connect 'a function' --mode snippet --resource-type function --max-items 2",
            "docs",
            json!({ "query": "connect a function", "mode": "snippet", "resourceType": "function", "maxItems": 2 }),
        ),
    ];
    for (line, operation, input) in cases {
        let expected = (format!("stack.{operation}"), input.clone());
        assert_eq!(asked(line), expected, "{line}");
    }
}
