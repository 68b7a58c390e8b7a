//! Deployments that go well: created, unchanged, changed, with code, hooks and others at work.

use serde_json::{Value, json};
use windlass_cfn_double::Moment;

use super::world::{QUEUE, STACK, World, args};

fn longer() -> String {
    QUEUE.replace(
        "visibilityTimeoutSeconds: 30",
        "visibilityTimeoutSeconds: 60",
    )
}

#[test]
fn created_unchanged_and_changed() {
    let world = World::new();
    world.config(QUEUE);
    let mut tool_client = world.tool_client();
    let first = tool_client.ops("deploy", &args(json!({})));
    let data = first.worked();
    assert_eq!(data["stackName"], STACK);
    assert_eq!(data["version"], "v000001", "{data:#}");
    let url = data["outputs"]["queueUrl"].as_str().unwrap();
    assert!(url.contains("shop-dev-jobs"), "{url}");
    assert_eq!(data["hookFailures"], json!([]));
    assert_eq!(data["planDigest"].as_str().unwrap().len(), 64);
    assert!(
        data["changeCounts"]["create"].as_u64().unwrap() >= 1,
        "{data:#}"
    );
    let run = data["runId"].as_str().unwrap().to_owned();
    assert_eq!(
        world.control.stack_status(STACK).unwrap(),
        "CREATE_COMPLETE"
    );
    let calls = world.control.calls();
    let execute = calls
        .iter()
        .find(|it| it.action == "ExecuteChangeSet")
        .unwrap();
    assert_eq!(
        execute.token.as_deref(),
        Some(token_of(&run).as_str()),
        "the run's id is the token"
    );
    for action in ["CreateStack", "UpdateStack"] {
        assert!(!calls.iter().any(|it| it.action == action), "{action}");
    }
    let stack = &world.stacks()[0];
    assert!(
        stack["resources"]["JobsQueue"]["type"] == "AWS::SQS::Queue",
        "{stack:#}"
    );

    let again = tool_client.ops("deploy", &args(json!({})));
    assert_eq!(again.worked()["reason"], "no_changes", "{:#}", again.body);
    assert_eq!(
        world.control.stack_status(STACK).unwrap(),
        "CREATE_COMPLETE"
    );

    world.config(&longer());
    let second = tool_client.ops("deploy", &args(json!({})));
    let data = second.worked();
    assert_eq!(data["version"], "v000002", "{data:#}");
    assert_eq!(data["changeCounts"]["update"], 1, "{data:#}");
    assert_eq!(
        world.control.stack_status(STACK).unwrap(),
        "UPDATE_COMPLETE"
    );

    let known = tool_client.diagnose("info_operations", &args(json!({})));
    let operations = known.worked()["operations"].as_array().unwrap();
    let mine = operations
        .iter()
        .find(|it| it["runId"] == json!(run))
        .unwrap();
    assert_eq!(mine["operation"], "deploy", "{mine:#}");
    assert_eq!(mine["code"], "OK");
    for member in [
        "principal",
        "state",
        "startedAt",
        "endedAt",
        "planDigest",
        "source",
    ] {
        assert!(mine.get(member).is_some(), "{member}: {mine:#}");
    }
}

/// The previewed plan is executed with its token, by another server of the same home.
#[test]
fn a_token_of_a_preview_deploys_exactly_that() {
    let world = World::new();
    world.config(QUEUE);
    let preview = world.tool_client().ops("preview_changes", &args(json!({})));
    let plan = preview.worked().clone();
    let token = json!({ "confirmToken": plan["confirmToken"] });
    let deploy = world.tool_client().ops("deploy", &args(token));
    assert_eq!(deploy.worked()["planDigest"], plan["planDigest"]);
    assert_eq!(
        world.control.stack_status(STACK).unwrap(),
        "CREATE_COMPLETE"
    );
}

/// No caller has to wait, and a later caller learns how it ended.
#[test]
fn a_deploy_that_nobody_waits_for() {
    let world = World::new();
    world.config(QUEUE);
    world.control.hang_resource("JobsQueue", Moment::Create);
    let mut tool_client = world.tool_client();
    let begun = tool_client.ops("deploy", &args(json!({ "wait": false })));
    let data = begun.worked();
    assert_eq!(data["state"], "running", "{data:#}");
    let run = data["runId"].as_str().unwrap().to_owned();
    let started = std::time::Instant::now();
    while world.control.stack_status(STACK).as_deref() != Some("CREATE_IN_PROGRESS") {
        assert!(started.elapsed().as_secs() < 60);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // The same again finds the run; anything else has to wait.
    let again = tool_client.ops("deploy", &args(json!({ "wait": false })));
    assert_eq!(again.worked()["runId"], run.as_str(), "{:#}", again.body);
    let other = json!({ "disableAutoRollback": true });
    for (operation, more) in [
        ("deploy", other),
        ("rollback", json!({})),
        ("delete", json!({})),
    ] {
        let busy = tool_client.confirmed(operation, &args(more));
        let data = busy.refused_for("VALIDATION_ERROR", "stack_busy");
        assert!(
            data.to_string().contains(&run),
            "{operation}: {:#}",
            busy.body
        );
        assert!(!busy.next_actions().is_empty(), "{:#}", busy.body);
    }
    world.control.release("JobsQueue");
    let ended = until_ended(&mut tool_client, &run);
    assert_eq!(ended["code"], "OK", "{ended:#}");
    assert_eq!(
        world.control.stack_status(STACK).unwrap(),
        "CREATE_COMPLETE"
    );
}

/// Looks until the journal says that a run has ended; what it says.
fn until_ended(tool_client: &mut super::tool_client::ToolClient, run: &str) -> Value {
    let started = std::time::Instant::now();
    loop {
        let known = tool_client.diagnose("info_operations", &args(json!({})));
        let operations = known.worked()["operations"].as_array().unwrap().clone();
        let found = operations.into_iter().find(|it| it["runId"] == run);
        if let Some(found) = found
            && found["endedAt"].is_string()
        {
            return found;
        }
        assert!(started.elapsed().as_secs() < 60, "{:#}", known.body);
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn a_wait_timeout_does_not_end_the_run() {
    let world = World::new();
    world.config(QUEUE);
    world.control.hang_resource("JobsQueue", Moment::Create);
    let mut tool_client = world.tool_client();
    let late = tool_client.ops("deploy", &args(json!({ "timeoutSeconds": 2 })));
    let data = late.refused("TIMEOUT");
    let run = data["runId"].as_str().unwrap().to_owned();
    assert_eq!(
        world.control.stack_status(STACK).unwrap(),
        "CREATE_IN_PROGRESS"
    );
    assert!(
        !world
            .actions_since(0)
            .iter()
            .any(|it| it == "CancelUpdateStack")
    );
    world.control.release("JobsQueue");
    assert_eq!(until_ended(&mut tool_client, &run)["code"], "OK");
}

const FUNCTION: &str = "
serviceName: shop
resources:
  api:
    type: function
    properties:
      packaging:
        type: custom-artifact
        properties:
          packagePath: code
          handler: index.handler
      runtime: nodejs24.x
";

#[test]
fn code_is_sent_once() {
    let world = World::new();
    world.config(FUNCTION);
    world.file("code/index.mjs", "export const handler = async () => 1;\n");
    let mut tool_client = world.tool_client();
    let preview = tool_client.ops("preview_changes", &args(json!({})));
    preview.worked();
    assert_eq!(
        world.leftovers()["buckets"],
        json!({}),
        "a preview sends nothing"
    );
    tool_client.ops("deploy", &args(json!({}))).worked();
    let zips = || -> Vec<String> {
        let state = world.control.state();
        let objects = &state["buckets"]["windlass-assets-123456789012-eu-west-1"];
        let keys = objects
            .as_array()
            .unwrap_or_else(|| panic!("{state:#}"))
            .iter();
        let keys = keys.filter_map(|key| key.as_str().map(str::to_owned));
        keys.filter(|key| key.starts_with("zips/")).collect()
    };
    let first = zips();
    assert_eq!(first.len(), 1, "{first:?}");
    let again = tool_client.ops("deploy", &args(json!({})));
    assert_eq!(again.worked()["reason"], "no_changes", "{:#}", again.body);
    world.file("code/index.mjs", "export const handler = async () => 2;\n");
    tool_client.ops("deploy", &args(json!({}))).worked();
    assert_eq!(zips().len(), 2);
    let stack = &world.stacks()[0];
    let log = &stack["resources"]["ApiLogGroup"]["properties"]["LogGroupName"];
    assert_eq!(log, "/aws/lambda/shop-dev-api");
}

#[test]
fn before_hooks_stop_a_deploy_and_after_hooks_are_reported() {
    let world = World::new();
    let with = |hooks: &str| {
        format!(
            "{QUEUE}
scripts:
  works:
    type: local-script
    properties:
      executeCommand: echo works > works.txt
  fails:
    type: local-script
    properties:
      executeCommand: echo fails >&2; exit 3
hooks:
{hooks}"
        )
    };
    let mut tool_client = world.tool_client();
    world.config(&with("  beforeDeploy:\n    - scriptName: fails\n"));
    world.trust();
    let stopped = tool_client.ops("deploy", &args(json!({})));
    assert_eq!(stopped.body["ok"], false);
    assert!(stopped.message().contains("fails"), "{}", stopped.message());
    assert_eq!(world.stacks(), Vec::<Value>::new());
    world.config(&with(
        "  beforeDeploy:\n    - scriptName: works\n  afterDeploy:\n    - scriptName: fails\n",
    ));
    world.trust();
    let deployed = tool_client.ops("deploy", &args(json!({})));
    let failures = deployed.worked()["hookFailures"].as_array().unwrap();
    assert_eq!(failures.len(), 1, "{:#}", deployed.body);
    assert!(failures[0].to_string().contains("fails"), "{failures:?}");
    assert!(
        deployed.message().contains("hook"),
        "{}",
        deployed.message()
    );
    assert!(world.project().join("works.txt").exists());
}

#[test]
fn scripts_run_and_their_result_is_reported() {
    let world = World::new();
    world.config(&format!(
        "{QUEUE}
scripts:
  greet:
    type: local-script
    properties:
      executeCommand: echo hello $NAME; echo to the side >&2
      environment:
        - name: NAME
          value: ada
  fails:
    type: local-script
    properties:
      executeCommand: echo broken; exit 7
"
    ));
    world.trust();
    let mut tool_client = world.tool_client();
    let ran = tool_client.ops("script_run", &args(json!({ "scriptName": "greet" })));
    let data = ran.worked();
    assert_eq!(data["exitCode"], 0);
    assert!(
        data["outputTail"].as_str().unwrap().contains("hello ada"),
        "{data:#}"
    );
    assert!(data["durationMs"].is_u64());
    let with = args(json!({ "scriptName": "greet", "env": ["NAME=eve"] }));
    let ran = tool_client.ops("script_run", &with);
    assert!(
        ran.worked()["outputTail"]
            .as_str()
            .unwrap()
            .contains("hello eve")
    );
    let failed = tool_client.ops("script_run", &args(json!({ "scriptName": "fails" })));
    let data = failed.refused_for("INTERNAL_ERROR", "script_failed");
    assert_eq!(data["exitCode"], 7, "{data:#}");
    let unknown = tool_client.ops("script_run", &args(json!({ "scriptName": "gret" })));
    let data = unknown.refused("NOT_FOUND");
    assert_eq!(data["kind"], "script", "{data:#}");
    assert!(
        unknown.body.to_string().contains("greet"),
        "{:#}",
        unknown.body
    );
}

/// A run's id in the letters that CloudFormation takes.
fn token_of(run: &str) -> String {
    run.replace('_', "-")
}
