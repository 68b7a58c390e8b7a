//! Every operation with every kind of argument that does not fit: refused by name, before policy,
//! credentials or AWS are looked at, and never with the value of a credential.

use serde_json::{Value, json};

use super::{
    shapes::{DEV, DIAGNOSE, OPS},
    tool_client::{Answer, ToolClient},
    world::{World, args},
};

const SECRET: &str = "zq7-never-shown-zq7";

/// An operation of a tool and arguments that fit.
type Good = (&'static str, &'static str, Value);

fn good() -> Vec<Good> {
    let ops = "stacktape_ops";
    let dev = "stacktape_dev";
    let diagnose = "stacktape_diagnose";
    let of = |more: Value| args(more);
    vec![
        (ops, "preview_changes", of(json!({ "detectDrift": true }))),
        (
            ops,
            "deploy",
            of(json!({ "disableAutoRollback": false, "noCache": true })),
        ),
        (ops, "delete", of(json!({ "retainResources": ["A"] }))),
        (ops, "rollback", of(json!({ "targetVersion": "v000001" }))),
        (
            ops,
            "script_run",
            of(json!({ "scriptName": "seed", "env": ["A=b"] })),
        ),
        (ops, "compile_template", of(json!({}))),
        (
            ops,
            "secret_create",
            json!({ "secretName": "k", "secretValue": "v", "region": "eu-west-1" }),
        ),
        (
            ops,
            "secret_get",
            json!({ "secretName": "k", "region": "eu-west-1" }),
        ),
        (
            ops,
            "secret_delete",
            json!({ "secretName": "k", "region": "eu-west-1", "recoveryDays": 7 }),
        ),
        (
            dev,
            "start",
            json!({ "stage": "dev", "resources": ["all"], "freshDb": false }),
        ),
        (dev, "status", json!({ "stage": "dev" })),
        (
            dev,
            "logs",
            json!({ "limit": 20, "cursor": 3, "workload": "api" }),
        ),
        (dev, "rebuild", json!({ "workload": "api" })),
        (dev, "rebuild_all", json!({})),
        (dev, "stop", json!({})),
        (diagnose, "info_stack", of(json!({}))),
        (diagnose, "info_stacks", json!({ "region": "eu-west-1" })),
        (diagnose, "info_operations", json!({ "limit": 5 })),
        (diagnose, "info_whoami", json!({})),
        (
            diagnose,
            "logs",
            of(json!({ "resourceName": "api", "limit": "20" })),
        ),
        (
            diagnose,
            "metrics",
            of(json!({ "resourceName": "api", "metric": "Errors" })),
        ),
        (diagnose, "alarms", of(json!({ "state": "ALARM" }))),
        (
            diagnose,
            "container_exec",
            of(json!({ "resourceName": "web", "command": "ls" })),
        ),
        (
            diagnose,
            "sql",
            of(json!({ "resourceName": "db", "sql": "select 1" })),
        ),
        (diagnose, "dynamodb", of(json!({ "resourceName": "items" }))),
        (diagnose, "redis", of(json!({ "resourceName": "cache" }))),
        (
            diagnose,
            "opensearch",
            of(json!({ "resourceName": "search" })),
        ),
        (
            diagnose,
            "aws_sdk",
            json!({ "service": "sts", "command": "GetCallerIdentity", "region": "eu-west-1" }),
        ),
    ]
}

fn call(tool_client: &mut ToolClient, tool: &str, operation: &str, args: &Value) -> Answer {
    tool_client.tool(tool, &json!({ "operation": operation, "args": args }))
}

fn with(args: &Value, name: &str, value: Value) -> Value {
    let mut args = args.clone();
    args[name] = value;
    args
}

/// What an answer is wrong about, if anything.
fn complaint(answer: &Answer, reason: &str, says: &str) -> Option<String> {
    let body = &answer.body;
    let wrong = body["code"] != "VALIDATION_ERROR"
        || body["data"]["reason"] != reason
        || !answer.message().contains(says)
        || body.to_string().contains(SECRET);
    wrong.then(|| {
        let body: String = body.to_string().chars().take(300).collect();
        format!("not {reason} {says:?}: {body}")
    })
}

#[test]
fn the_table_has_every_operation() {
    let listed = |tool: &str| -> Vec<&str> {
        let good = good();
        let of_tool = good.iter().filter(|(of, ..)| *of == tool);
        of_tool.map(|(_, operation, _)| *operation).collect()
    };
    assert_eq!(listed("stacktape_ops"), OPS);
    assert_eq!(listed("stacktape_dev"), DEV);
    assert_eq!(listed("stacktape_diagnose"), DIAGNOSE);
}

#[test]
fn arguments_that_do_not_fit_are_named() {
    let world = World::new();
    let mut tool_client = world.tool_client();
    let mut wrong = Vec::new();
    for (tool, operation, args) in good() {
        let cases = [
            (
                with(&args, "colour", json!("red")),
                "unknown_argument",
                "colour",
            ),
            (
                with(&args, "stagee", json!("dev")),
                "unknown_argument",
                "did you mean \"stage\"?",
            ),
            (with(&args, "stage", json!(5)), "invalid_argument", "stage"),
            (
                with(&args, "stage", json!(["dev"])),
                "invalid_argument",
                "stage",
            ),
            (
                with(&args, "region", json!({ "a": 1 })),
                "invalid_argument",
                "region",
            ),
            (
                with(&args, "accessKey", json!(SECRET)),
                "credentials_in_arguments",
                "accessKey",
            ),
            (
                with(&args, "secretAccessKey", json!(SECRET)),
                "credentials_in_arguments",
                "secretAccessKey",
            ),
            (
                with(&args, "apiKey", json!(SECRET)),
                "credentials_in_arguments",
                "apiKey",
            ),
            (
                with(&args, "session_token", json!(SECRET)),
                "credentials_in_arguments",
                "session_token",
            ),
        ];
        for (args, reason, says) in cases {
            let answer = call(&mut tool_client, tool, operation, &args);
            wrong.extend(
                complaint(&answer, reason, says)
                    .map(|complaint| format!("{operation} {args}\n  {complaint}")),
            );
        }
        let twice = with(
            &with(&args, "config_path", json!("a.yml")),
            "configPath",
            json!("b.yml"),
        );
        let answer = call(&mut tool_client, tool, operation, &twice);
        let code = answer.body["code"].as_str().unwrap().to_owned();
        if code != "VALIDATION_ERROR" {
            wrong.push(format!(
                "{operation} takes two spellings with two values: {code}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(world.mark(), 0, "nothing is asked of AWS");
}

#[test]
fn what_is_missing_is_named() {
    let world = World::new().env("AWS_REGION", "");
    let mut tool_client = world.tool_client();
    let mut wrong = Vec::new();
    let cases: &[(&str, &str, Value, &str)] = &[
        (
            "stacktape_ops",
            "preview_changes",
            json!({ "region": "eu-west-1" }),
            "stage",
        ),
        (
            "stacktape_ops",
            "deploy",
            json!({ "region": "eu-west-1" }),
            "stage",
        ),
        (
            "stacktape_ops",
            "delete",
            json!({ "stage": "dev", "region": "eu-west-1" }),
            "projectName",
        ),
        (
            "stacktape_ops",
            "delete",
            json!({ "projectName": "shop", "region": "eu-west-1" }),
            "stage",
        ),
        (
            "stacktape_ops",
            "rollback",
            json!({ "projectName": "shop", "region": "eu-west-1" }),
            "stage",
        ),
        (
            "stacktape_ops",
            "script_run",
            json!({ "stage": "dev", "region": "eu-west-1" }),
            "scriptName",
        ),
        (
            "stacktape_ops",
            "compile_template",
            json!({ "region": "eu-west-1" }),
            "stage",
        ),
        (
            "stacktape_ops",
            "secret_create",
            json!({ "secretName": "k", "region": "eu-west-1" }),
            "secretValue",
        ),
        (
            "stacktape_ops",
            "secret_create",
            json!({ "secretValue": "v", "region": "eu-west-1" }),
            "secretName",
        ),
        (
            "stacktape_ops",
            "secret_get",
            json!({ "region": "eu-west-1" }),
            "secretName",
        ),
        (
            "stacktape_ops",
            "secret_delete",
            json!({ "region": "eu-west-1" }),
            "secretName",
        ),
        ("stacktape_dev", "rebuild", json!({}), "workload"),
        (
            "stacktape_diagnose",
            "info_stack",
            json!({ "region": "eu-west-1" }),
            "",
        ),
        (
            "stacktape_diagnose",
            "logs",
            args(json!({})),
            "resourceName",
        ),
        (
            "stacktape_diagnose",
            "metrics",
            args(json!({ "metric": "Errors" })),
            "resourceName",
        ),
        (
            "stacktape_diagnose",
            "metrics",
            args(json!({ "resourceName": "api" })),
            "metric",
        ),
        (
            "stacktape_diagnose",
            "container_exec",
            args(json!({ "resourceName": "web" })),
            "command",
        ),
        (
            "stacktape_diagnose",
            "sql",
            args(json!({ "resourceName": "db" })),
            "sql",
        ),
        (
            "stacktape_diagnose",
            "sql",
            args(json!({ "sql": "select 1" })),
            "resourceName",
        ),
        (
            "stacktape_diagnose",
            "dynamodb",
            args(json!({})),
            "resourceName",
        ),
        (
            "stacktape_diagnose",
            "redis",
            args(json!({})),
            "resourceName",
        ),
        (
            "stacktape_diagnose",
            "opensearch",
            args(json!({})),
            "resourceName",
        ),
        (
            "stacktape_diagnose",
            "aws_sdk",
            json!({ "command": "ListTables", "region": "eu-west-1" }),
            "service",
        ),
        (
            "stacktape_diagnose",
            "aws_sdk",
            json!({ "service": "dynamodb", "region": "eu-west-1" }),
            "command",
        ),
    ];
    for (tool, operation, args, says) in cases {
        let answer = call(&mut tool_client, tool, operation, args);
        wrong.extend(
            complaint(&answer, "missing_argument", says)
                .map(|complaint| format!("{operation} {args}\n  {complaint}")),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_top_level_is_checked_too() {
    let mut tool_client = World::new().tool_client();
    for (tool, input, says) in [
        ("stacktape_ops", json!({ "args": {} }), "operation"),
        ("stacktape_ops", json!({ "operation": "deploy" }), "stage"),
        (
            "stacktape_ops",
            json!({ "operation": 5, "args": {} }),
            "operation",
        ),
        (
            "stacktape_ops",
            json!({ "operation": "deploi", "args": {} }),
            "deploy",
        ),
        (
            "stacktape_ops",
            json!({ "operation": "info_stack", "args": {} }),
            "info_stack",
        ),
        (
            "stacktape_ops",
            json!({ "operation": "deploy", "args": [] }),
            "args",
        ),
        (
            "stacktape_ops",
            json!({ "operation": "deploy", "args": {}, "confrim": true }),
            "confirm",
        ),
        (
            "stacktape_ops",
            json!({ "operation": "delete", "args": args(json!({})), "confirm": "yes" }),
            "confirm",
        ),
        (
            "stacktape_dev",
            json!({ "operation": "pause", "args": {} }),
            "pause",
        ),
        (
            "stacktape_dev",
            json!({ "operation": "status", "args": {}, "confirm": true }),
            "confirm",
        ),
        (
            "stacktape_diagnose",
            json!({ "operation": "deploy", "args": {} }),
            "deploy",
        ),
        (
            "stacktape_diagnose",
            json!({ "operation": "sqll", "args": {} }),
            "sql",
        ),
    ] {
        let answer = tool_client.tool(tool, &input);
        answer.refused("VALIDATION_ERROR");
        assert!(
            answer.message().contains(says),
            "{input}: {:#}",
            answer.body
        );
    }
}

/// Any spelling is the same argument, and numbers may be texts where the old contract said so.
#[test]
fn spellings_and_numbers_in_texts() {
    let world = World::new();
    let mut tool_client = world.tool_client();
    for args in [
        json!({ "project_name": "shop", "stage": "dev", "region": "eu-west-1" }),
        json!({ "project-name": "shop", "stage": "dev", "region": "eu-west-1" }),
        json!({ "projectName": "shop", "project_name": "shop", "stage": "dev", "region": "eu-west-1" }),
    ] {
        let data = tool_client.diagnose("info_stack", &args);
        data.refused("NOT_FOUND");
    }
    let listed = tool_client.diagnose("info_operations", &json!({ "limit": "5" }));
    listed.worked();
    let listed = tool_client.diagnose("info_operations", &json!({ "limit": "five" }));
    listed.refused_for("VALIDATION_ERROR", "invalid_argument");
}
