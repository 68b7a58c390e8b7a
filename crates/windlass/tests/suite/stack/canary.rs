//! Secrets in every place a value can come from are in no answer, no event, no log, no error and no
//! file of the home.

mod hidden;
mod session;

use std::path::Path;

use serde_json::{Value, json};
use windlass_cfn_double::Moment;

use super::{
    tool_client::ToolClient,
    world::{REGION, World, args},
};
use crate::suite::support::loopback::{Loopback, json_answer};

/// The key of the AWS account, from the environment.
const KEY: &str = "canary-aws-key-7c1f9e2b4d";
/// The session token of the AWS account, from the environment.
const SESSION: &str = "canary-aws-session-5a8d3c6e";
/// A secret value given as an argument.
const GIVEN: &str = "canary-given-value-2f6b8a1d";
/// A secret value given as a file.
const FILED: &str = "canary-filed-value-9d4e7b3c";
/// Credentials where none are taken.
const MISPLACED: &str = "canary-misplaced-1e5a9c7f";
/// Known by its form alone; it was never declared a secret.
const PATTERN: &str = "sk_live_51CanaryCanaryCanaryCanary";
/// The password in a database's address.
const ADDRESS: &str = "canaryhunter2222";

/// The value of a `NoEcho` parameter.
const HIDDEN: &str = "canary-hidden-value-3b8e1d6a";
/// Values of a development session: of its file, of its environment, in a longer text, in a
/// member of an object, in a file the config reads.
const LOCAL: &str = "canary-local-value-6e2c9f4b";
const ENVIRONED: &str = "canary-environed-8a5d1f7c";
const ADDRESSED: &str = "canary-addressed-4c7b2e9d";
const IN_JSON: &str = "canary-in-an-object-1d9f5b3e";
const IN_FILE: &str = "canary-in-a-file-7f3a8c2d";

const ALL: [&str; 13] = [
    KEY, SESSION, GIVEN, FILED, MISPLACED, PATTERN, ADDRESS, HIDDEN, LOCAL, ENVIRONED, ADDRESSED,
    IN_JSON, IN_FILE,
];

const CONFIG: &str = "
serviceName: shop
resources:
  jobs:
    type: sqs-queue
  api:
    type: function
    properties:
      packaging:
        type: custom-artifact
        properties:
          packagePath: code
          handler: index.handler
      runtime: nodejs24.x
      environment:
        - name: TOKEN
          value: $Secret('payment.token')
scripts:
  tells:
    type: local-script
    properties:
      executeCommand: echo out $TOKEN; echo err $TOKEN >&2; echo sk_live_51CanaryCanaryCanaryCanary
      environment:
        - name: TOKEN
          value: $Secret('payment.token')
  fails:
    type: local-script
    properties:
      executeCommand: echo $TOKEN postgres://shop:canaryhunter2222@db/shop; exit 3
      environment:
        - name: TOKEN
          value: $Secret('payment.token')
hooks:
  afterDeploy:
    - scriptName: tells
    - scriptName: fails
";

/// What was said, and by whom.
struct Said(Vec<(String, String)>);

impl Said {
    fn note(&mut self, by: impl Into<String>, text: impl Into<String>) {
        self.0.push((by.into(), text.into()));
    }

    fn call(
        &mut self,
        tool_client: &mut ToolClient,
        tool: &str,
        operation: &str,
        args: Value,
        confirm: bool,
    ) -> Value {
        let mut input = json!({ "operation": operation, "args": args });
        if confirm {
            input["confirm"] = json!(true);
        }
        let answer = tool_client.tool(tool, &input).body;
        self.note(format!("{tool} {operation}"), answer.to_string());
        answer
    }

    fn cli(&mut self, world: &World, arguments: &[&str]) {
        let said = world.cli(arguments);
        self.note(format!("stdout of {arguments:?}"), said.stdout);
        self.note(format!("stderr of {arguments:?}"), said.stderr);
    }
}

/// Logs of the function, with what functions print.
fn logs() -> Loopback {
    Loopback::start(|_| {
        let line = format!("charging with {PATTERN} at postgres://shop:{ADDRESS}@db/shop");
        json_answer(
            200,
            &json!({ "events": [{ "timestamp": 1, "message": line, "logStreamName": "s" }] }),
        )
    })
}

/// Files below a folder that hold one of the secrets.
fn files_with_secrets(folder: &Path, found: &mut Vec<String>) {
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_with_secrets(&path, found);
            continue;
        }
        // A socket or a file that has just gone holds nothing.
        let Ok(bytes) = fs_err::read(&path) else {
            continue;
        };
        for secret in ALL {
            if holds(&bytes, secret) {
                found.push(format!("{secret} in {}", path.display()));
            }
        }
    }
}

fn holds(bytes: &[u8], secret: &str) -> bool {
    bytes
        .windows(secret.len())
        .any(|window| window == secret.as_bytes())
}

#[test]
fn no_secret_is_anywhere() {
    let logs = logs();
    let world = World::new()
        .env("AWS_SECRET_ACCESS_KEY", KEY)
        .env("AWS_SESSION_TOKEN", SESSION)
        .env("MAIL_KEY", ENVIRONED)
        .env(
            "AWS_ENDPOINT_URL_CLOUDWATCH_LOGS",
            &format!("http://{}", logs.address),
        );
    world.config(CONFIG);
    world.file("code/index.mjs", "export const handler = async () => 1;\n");
    world.trust();
    let filed = world.place.root().join("filed.txt");
    fs_err::write(&filed, FILED).unwrap();
    let (ops, diagnose) = ("stacktape_ops", "stacktape_diagnose");
    let mut said = Said(Vec::new());
    let mut tool_client = world.tool_client();
    let secret = |more: Value| {
        let mut all = json!({ "secretName": "payment", "region": REGION });
        all.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        all
    };

    // Arguments: taken, refused, of a wrong type, in a wrong place.
    let value = json!({ "token": GIVEN }).to_string();
    let made = said.call(
        &mut tool_client,
        ops,
        "secret_create",
        secret(json!({ "secretValue": value })),
        false,
    );
    assert_eq!(made["code"], "OK", "{made:#}");
    for wrong in [
        secret(json!({ "secretValue": value })),
        secret(json!({ "secretValue": [GIVEN] })),
        secret(json!({ "secretValeu": GIVEN })),
        secret(json!({ "secretValue": GIVEN, "secretFile": "x" })),
        secret(json!({ "secretValue": GIVEN, "apiKey": MISPLACED })),
    ] {
        said.call(&mut tool_client, ops, "secret_create", wrong, false);
    }
    let file = json!({ "secretName": "filed", "secretFile": filed, "region": REGION });
    let made = said.call(&mut tool_client, ops, "secret_create", file, false);
    assert_eq!(made["code"], "OK", "{made:#}");
    said.call(
        &mut tool_client,
        ops,
        "secret_get",
        secret(json!({})),
        false,
    );
    for name in ["accessKey", "secretAccessKey", "sessionToken", "apiKey"] {
        said.call(
            &mut tool_client,
            ops,
            "deploy",
            args(json!({ name: MISPLACED })),
            false,
        );
        said.call(
            &mut tool_client,
            diagnose,
            "info_stack",
            args(json!({ name: MISPLACED })),
            false,
        );
    }

    // A deployment whose code, scripts and hooks use them, which fails with one in the reason.
    world.control.fail_resource(
        "JobsQueue",
        Moment::Create,
        &format!("the key {PATTERN} is not valid for postgres://shop:{ADDRESS}@db/shop"),
    );
    said.call(
        &mut tool_client,
        ops,
        "preview_changes",
        args(json!({})),
        false,
    );
    said.call(
        &mut tool_client,
        ops,
        "compile_template",
        args(json!({})),
        false,
    );
    let failed = said.call(&mut tool_client, ops, "deploy", args(json!({})), false);
    assert_eq!(failed["code"], "DEPLOY_FAILED", "{failed:#}");
    said.call(&mut tool_client, ops, "delete", args(json!({})), true);
    let deployed = said.call(&mut tool_client, ops, "deploy", args(json!({})), false);
    assert_eq!(deployed["code"], "OK", "{deployed:#}");
    let failures = deployed["data"]["hookFailures"].as_array().unwrap();
    assert_eq!(failures.len(), 1, "{deployed:#}");
    for script in ["tells", "fails"] {
        let call = args(json!({ "scriptName": script }));
        let ran = said.call(&mut tool_client, ops, "script_run", call, false);
        assert!(ran["data"]["exitCode"].is_u64(), "{ran:#}");
    }
    let with = args(json!({ "scriptName": "tells", "env": [format!("PASSWORD={GIVEN}")] }));
    said.call(&mut tool_client, ops, "script_run", with, false);

    // Questions.
    for (operation, more) in [
        ("info_stack", json!({})),
        ("info_stacks", json!({})),
        ("info_operations", json!({})),
        ("info_whoami", json!({})),
        ("logs", json!({ "resourceName": "api" })),
        (
            "sql",
            json!({ "resourceName": "db", "sql": format!("select '{PATTERN}'") }),
        ),
    ] {
        said.call(&mut tool_client, diagnose, operation, args(more), false);
    }
    let lines = &said.0.iter().rev().nth(1).unwrap().1;
    assert!(lines.contains("charging with"), "the log was read: {lines}");
    drop(tool_client);

    // The same from the command line, as text and as a stream.
    let place = [
        "--project-name",
        "shop",
        "--stage",
        "dev",
        "--region",
        REGION,
    ];
    for (command, more) in [
        (&["deploy"][..], &["--agent"][..]),
        (&["preview"], &["--json"]),
        (&["template"], &[]),
        (&["script", "run", "tells"], &["--agent"]),
        (&["script", "run", "fails"], &[]),
        (&["info", "stack"], &["--json"]),
        (&["info", "operations"], &[]),
        (&["logs", "api"], &[]),
    ] {
        said.cli(&world, &[command, &place[..], more].concat());
    }
    said.cli(&world, &["secret", "get", "payment", "--region", REGION]);
    let mut found = Vec::new();
    hidden::walk(&world, &mut said);
    session::walk(&world, &mut said, &mut found);
    let runs = runs(&world);
    assert!(runs.len() > 5, "{runs:?}");
    for run in &runs {
        for verb in ["show", "export", "watch"] {
            let mut command = world.command();
            command.args(["runs", verb, run]);
            let output = command.output().unwrap();
            said.note(
                format!("runs {verb} {run}"),
                String::from_utf8_lossy(&output.stdout).into_owned(),
            );
        }
    }

    for (by, text) in &said.0 {
        for secret in ALL {
            if text.contains(secret) {
                found.push(format!("{secret} said by {by}"));
            }
        }
    }
    files_with_secrets(&world.place.home(), &mut found);
    let local = world.project().join(".windlass");
    if local.is_dir() {
        files_with_secrets(&local, &mut found);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The ids of every run of the home.
fn runs(world: &World) -> Vec<String> {
    let mut command = world.command();
    command.args(["--json", "runs", "list", "--limit", "100"]);
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let listed: Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let runs = listed["runs"]
        .as_array()
        .or(listed["data"]["runs"].as_array());
    let runs = runs.unwrap_or_else(|| panic!("{listed:#}")).iter();
    runs.map(|run| {
        let id = run["run_id"].as_str().or(run["id"].as_str());
        id.unwrap_or_else(|| panic!("{run:#}")).to_owned()
    })
    .collect()
}
