//! Four scenarios from end to end, as an agent sees them: over MCP, with nothing known beforehand
//! but the tools.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use windlass_cfn_double::Moment;

use super::{
    tool_client::ToolClient,
    world::{STACK, World, args},
};
use crate::suite::support::loopback::{Loopback, json_answer};

/// Asks the documentation for code about something.
fn snippets(tool_client: &mut ToolClient, input: Value) -> Vec<(String, String)> {
    let answer = tool_client.tool("stacktape_docs", &input).body;
    let found = answer["snippets"].as_array();
    let found = found.unwrap_or_else(|| panic!("no code for {input}: {answer:#}"));
    let text = |snippet: &Value, name: &str| snippet[name].as_str().unwrap().to_owned();
    found
        .iter()
        .map(|snippet| (text(snippet, "language"), text(snippet, "code")))
        .collect()
}

#[test]
fn a_new_project() {
    let world = World::new();
    let mut tool_client = world.tool_client();
    let code = snippets(
        &mut tool_client,
        json!({ "query": "deploy a first stack: write a config", "mode": "snippet" }),
    );
    let (_, config) = code
        .iter()
        .find(|(_, code)| code.starts_with("resources:"))
        .unwrap();
    let entry = config
        .lines()
        .find_map(|line| line.trim().strip_prefix("entryfilePath: "))
        .unwrap();
    world.config(config);
    world.file(
        entry,
        "export const handler = async () => ({ statusCode: 200, body: 'hello' });\n",
    );

    let preview = tool_client.ops("preview_changes", &args(json!({})));
    let plan = preview.worked();
    assert_eq!(plan["isNewStack"], true, "{plan:#}");
    assert!(plan["counts"]["create"].as_u64().unwrap() > 1, "{plan:#}");
    assert!(world.stacks().is_empty(), "a preview leaves nothing");
    let token = plan["confirmToken"].clone();
    let deploy = tool_client.ops("deploy", &args(json!({ "confirmToken": token })));
    let deployed = deploy.worked();
    assert_eq!(deployed["planDigest"], plan["planDigest"]);

    let known = tool_client.diagnose("info_stack", &args(json!({})));
    let known = known.worked();
    assert_eq!(known["stackName"], STACK, "{known:#}");
    let listed = known.to_string();
    for name in ["gateway", "hello"] {
        assert!(listed.contains(name), "{name}: {known:#}");
    }
    assert_eq!(known["status"], "CREATE_COMPLETE", "{known:#}");
}

const SHOP: &str = "
serviceName: shop
resources:
  jobs:
    type: sqs-queue
    properties:
      visibilityTimeoutSeconds: 30
  api:
    type: function
    properties:
      packaging:
        type: custom-artifact
        properties:
          packagePath: code
          handler: index.handler
      runtime: nodejs24.x
      connectTo: [jobs]
";

#[test]
fn a_broken_deploy() {
    let logs = Loopback::start(|_| {
        let line = "Task timed out after 10.01 seconds";
        json_answer(
            200,
            &json!({ "events": [{ "timestamp": 1, "message": line, "logStreamName": "s" }] }),
        )
    });
    let world = World::new().env(
        "AWS_ENDPOINT_URL_CLOUDWATCH_LOGS",
        &format!("http://{}", logs.address),
    );
    world.config(SHOP);
    world.file("code/index.mjs", "export const handler = async () => 1;\n");
    let mut tool_client = world.tool_client();
    tool_client.ops("deploy", &args(json!({}))).worked();

    world.config(&SHOP.replace("Seconds: 30", "Seconds: 5"));
    let reason = "Invalid value for VisibilityTimeout: shorter than the timeout of its consumer";
    world
        .control
        .fail_resource("JobsQueue", Moment::Update, reason);
    let broken = tool_client.ops("deploy", &args(json!({})));
    let run = broken.refused("DEPLOY_FAILED")["runId"].clone();

    // Another caller diagnoses it.
    drop(tool_client);
    let mut tool_client = world.tool_client();
    let known = tool_client.diagnose("info_operations", &args(json!({})));
    let all = known.worked()["operations"].as_array().unwrap().clone();
    let failed = all.iter().find(|it| it["runId"] == run);
    let failed = failed.unwrap_or_else(|| panic!("{:#}", known.body));
    assert_eq!(
        (&failed["operation"], &failed["state"], &failed["code"]),
        (&json!("deploy"), &json!("failed"), &json!("DEPLOY_FAILED")),
        "{failed:#}"
    );
    let said = tool_client.diagnose("logs", &args(json!({ "resourceName": "api" })));
    assert!(
        said.worked().to_string().contains("timed out"),
        "{:#}",
        said.body
    );
    let question = json!({ "query": "DEPLOY_FAILED: what helps when a resource failed" });
    let answer = tool_client.tool("stacktape_docs", &question).body;
    let pages = answer["references"].to_string();
    assert!(
        pages.contains("troubleshooting/deploy-failed"),
        "{answer:#}"
    );

    world.control.clear_faults();
    world.config(&SHOP.replace("Seconds: 30", "Seconds: 60"));
    let fixed = tool_client.ops("deploy", &args(json!({})));
    let run = fixed.worked()["runId"].clone();
    let known = tool_client.diagnose("info_operations", &args(json!({})));
    let newest = &known.worked()["operations"][0];
    assert_eq!(
        (&newest["runId"], &newest["code"]),
        (&run, &json!("OK")),
        "{:#}",
        known.body
    );
    assert_eq!(
        world.control.stack_status(STACK).unwrap(),
        "UPDATE_COMPLETE"
    );
}

const LOCAL: &str = "
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
";

/// A program that greets and waits for events.
const BOOTSTRAP: &str = r#"#!/usr/bin/env bash
echo "GREETING"
exec 3<>"/dev/tcp/${AWS_LAMBDA_RUNTIME_API%:*}/${AWS_LAMBDA_RUNTIME_API##*:}"
printf 'GET /2018-06-01/runtime/invocation/next HTTP/1.1\r\nHost: runtime\r\n\r\n' >&3
exec cat <&3 >/dev/null
"#;

fn greet(world: &World, greeting: &str) {
    let text = BOOTSTRAP.replace("GREETING", greeting);
    world.file("local/bootstrap", &text);
    let file = world.project().join("local/bootstrap");
    let mode = std::fs::Permissions::from_mode(0o755);
    fs_err::set_permissions(file, mode).unwrap();
}

/// Ends the session, also where the test fails.
struct Session<'a>(&'a World);

impl Drop for Session<'_> {
    fn drop(&mut self) {
        self.0.cli(&["dev", "stop"]);
    }
}

#[test]
fn the_loop_of_development() {
    let world = World::new();
    world.config(LOCAL);
    greet(&world, "good morning");
    world.trust();
    let _session = Session(&world);
    let mut tool_client = world.tool_client();
    let started = tool_client.dev("start", &json!({}));
    assert!(started.worked()["agentPort"].is_u64(), "{:#}", started.body);
    let status = tool_client.dev("status", &json!({}));
    let status = status.worked();
    assert_eq!(status["ready"], true, "{status:#}");
    assert_eq!(status["workloads"]["api"], "running", "{status:#}");
    let before = tool_client.dev("logs", &json!({ "workload": "api" }));
    let before = before.worked().clone();
    let lines = before["logs"].as_str().unwrap();
    assert!(lines.contains("good morning"), "{lines}");

    greet(&world, "good evening");
    tool_client
        .dev("rebuild", &json!({ "workload": "api" }))
        .worked();
    let news = json!({ "workload": "api", "cursor": before["nextCursor"] });
    let news = tool_client.dev("logs", &news);
    let lines = news.worked()["logs"].as_str().unwrap();
    assert!(lines.contains("good evening"), "{lines}");
    assert!(!lines.contains("good morning"), "{lines}");

    tool_client.dev("stop", &json!({})).worked();
    tool_client.dev("status", &json!({})).refused("NOT_FOUND");
    assert_eq!(world.mark(), 0, "nothing is asked of AWS");
}

#[test]
fn a_config_from_the_documentation_alone() {
    let world = World::new();
    let mut tool_client = world.tool_client();
    let mut config = "serviceName: shop\nresources:\n".to_owned();
    for kind in ["function", "http-api-gateway", "dynamo-db-table"] {
        let code = snippets(
            &mut tool_client,
            json!({
                "query": format!("a {kind}"), "mode": "snippet", "resourceType": kind,
                "maxItems": 1,
            }),
        );
        let (_, code) = code
            .iter()
            .find(|(language, code)| language == "yaml" && code.starts_with("resources:"))
            .unwrap_or_else(|| panic!("{kind}: {code:?}"));
        config.push_str(code.strip_prefix("resources:\n").unwrap());
    }
    // What only the author knows: the project's files.
    let config = config.replace(".ts", ".mjs");
    for line in config.lines() {
        if let Some(entry) = line.trim().strip_prefix("entryfilePath: ") {
            world.file(entry, "export const handler = async () => 1;\n");
        }
    }
    world.config(&config);
    let compiled = tool_client.ops("compile_template", &args(json!({})));
    let template = compiled.worked()["template"]["Resources"].to_string();
    for kind in [
        "AWS::Lambda::Function",
        "AWS::ApiGatewayV2::Api",
        "AWS::ApiGatewayV2::Route",
        "AWS::DynamoDB::GlobalTable",
    ] {
        assert!(template.contains(kind), "{kind}: {config}\n{template}");
    }
}
