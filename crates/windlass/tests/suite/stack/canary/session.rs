//! A development session whose function prints every secret it was given.

use std::{net::SocketAddr, os::unix::fs::PermissionsExt as _};

use serde_json::{Value, json};

use super::{
    super::{tool_client::ToolClient, world::World},
    ADDRESSED, ENVIRONED, IN_FILE, IN_JSON, LOCAL, Said, files_with_secrets,
};
use crate::suite::support::http::Ask;

const TOOL: &str = "stacktape_dev";

const CONFIG: &str = "
serviceName: shop
resources:
  api:
    type: function
    properties:
      packaging:
        type: custom-artifact
        properties:
          packagePath: local
      runtime: provided.al2023
      environment:
        - name: ORDINARY
          value: good morning
        - name: LOCAL
          value: $Secret('payment.token')
        - name: ENVIRONED
          value: $Secret('mail.key')
        - name: ADDRESS
          value: key:$Secret('address')
        - name: LOGIN
          value: $Secret('login')
        - name: FILE_PASSWORD
          value: $File('settings.env').FILE_PASSWORD
scripts:
  before:
    type: local-script
    properties:
      executeCommand: echo $KEY; echo $KEY >&2
      environment:
        - name: KEY
          value: $Secret('mail.key')
  after:
    type: local-script
    properties:
      executeCommand: echo $KEY >&2; exit 3
      environment:
        - name: KEY
          value: key:$Secret('address')
hooks:
  beforeDev: [{ scriptName: before }]
  afterDev: [{ scriptName: after }]
";

/// Prints all of it, whole and in parts, and waits for events that never come.
const BOOTSTRAP: &str = r#"#!/usr/bin/env bash
tell() {
  env
  printf '%s says %s\n' "$ORDINARY" "$LOCAL" "$ORDINARY" "$ENVIRONED"
  printf '%s is the key\n' "${ADDRESS#key:}"
  printf '%s\n' "$LOGIN" | sed 's/.*"password": *"\([^"]*\)".*/\1 logs in/'
  printf '{"file": "%s"}\n' "$FILE_PASSWORD"
}
tell
tell >&2
ENDING
exec 3<>"/dev/tcp/${AWS_LAMBDA_RUNTIME_API%:*}/${AWS_LAMBDA_RUNTIME_API##*:}"
printf 'GET /2018-06-01/runtime/invocation/next HTTP/1.1\r\nHost: runtime\r\n\r\n' >&3
exec cat <&3 >/dev/null
"#;

/// Ends the session, also where the test fails.
struct Running<'a>(&'a World);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.cli(&["dev", "stop"]);
    }
}

/// Walks the operations of a session, its HTTP API and its files.
pub(super) fn walk(world: &World, said: &mut Said, found: &mut Vec<String>) {
    write_project(world);
    let mut tool_client = world.tool_client();
    let local = world.project().join(".env.local");
    let values = fs_err::read_to_string(&local).unwrap();

    // A file whose lines are none; the session says so and is ended.
    let _running = Running(world);
    world.file(".env.local", &format!("{IN_JSON} is no line"));
    let refused = said.call(&mut tool_client, TOOL, "start", json!({}), false);
    assert_eq!(refused["ok"], false, "{refused:#}");
    said.call(&mut tool_client, TOOL, "stop", json!({}), false);
    world.file(".env.local", &values);

    let started = said.call(&mut tool_client, TOOL, "start", json!({}), false);
    assert_eq!(started["code"], "OK", "{started:#}");
    let failures = started["data"]["hookFailures"].as_array();
    assert_eq!(failures.map(Vec::len), Some(1), "{started:#}");
    for (operation, args) in [
        ("status", json!({ "verbose": true })),
        ("rebuild", json!({ "workload": "api" })),
        ("rebuild_all", json!({})),
        ("logs", json!({ "workload": "api", "limit": 1000 })),
        ("logs", json!({ "limit": 1000 })),
    ] {
        said.call(&mut tool_client, TOOL, operation, args, false);
    }
    let lines = said.0.last().unwrap().1.clone();
    for phrase in ["good morning says", "is the key", "logs in"] {
        assert!(
            lines.contains(phrase),
            "the function said '{phrase} …': {lines}"
        );
    }
    for command in [&["dev", "status"][..], &["dev", "logs"], &["dev", "start"]] {
        said.cli(world, command);
    }
    asks(world, said);

    // A build that fails says with what.
    bootstrap(world, "exit 3");
    let broken = rebuild(&mut tool_client, said);
    assert_eq!(broken["ok"], false, "{broken:#}");
    assert!(
        broken.to_string().contains("is the key"),
        "its output is shown: {broken:#}"
    );
    files_with_secrets(&world.project().join(".windlass"), found);
    let stopped = said.call(&mut tool_client, TOOL, "stop", json!({}), false);
    assert_eq!(stopped["code"], "OK", "{stopped:#}");
}

fn rebuild(tool_client: &mut ToolClient, said: &mut Said) -> Value {
    let args = json!({ "workload": "api" });
    said.call(tool_client, TOOL, "rebuild", args, false)
}

fn write_project(world: &World) {
    world.config(CONFIG);
    bootstrap(world, "");
    world.file("settings.env", &format!("FILE_PASSWORD={IN_FILE}\n"));
    let login = json!({ "user": "ada", "password": IN_JSON });
    world.file(
        ".env.local",
        &format!("PAYMENT_TOKEN={LOCAL}\nADDRESS={ADDRESSED}\nLOGIN='{login}'\n"),
    );
    world.trust();
}

fn bootstrap(world: &World, ending: &str) {
    world.file("local/bootstrap", &BOOTSTRAP.replace("ENDING", ending));
    let file = world.project().join("local/bootstrap");
    let mode = std::fs::Permissions::from_mode(0o755);
    fs_err::set_permissions(file, mode).unwrap();
}

/// The HTTP API, called by a process that may read the session file.
fn asks(world: &World, said: &mut Said) {
    let file = world.project().join(".windlass/dev/shop-dev.json");
    let session: Value = serde_json::from_slice(&fs_err::read(file).unwrap()).unwrap();
    let port = u16::try_from(session["port"].as_u64().unwrap()).unwrap();
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let token = session["token"].as_str().unwrap();
    for path in [
        "/",
        "/status?verbose=true",
        "/logs?limit=1000",
        "/env/api",
        "/health/api",
        "/env/nobody",
    ] {
        let reply = Ask::get(path)
            .with("authorization", format!("Bearer {token}"))
            .with("connection", "close")
            .send(address)
            .unwrap();
        let text = reply.text();
        if path == "/env/api" {
            for name in ["LOCAL", "ENVIRONED", "ADDRESS", "LOGIN", "FILE_PASSWORD"] {
                assert!(text.contains(name), "{text}");
            }
            assert!(!text.contains(ENVIRONED), "{text}");
        }
        said.note(format!("GET {path}"), text);
    }
}
