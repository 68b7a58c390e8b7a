//! A stack whose first creation failed: one confirmed plan deletes it and creates it again.

use serde_json::{Value, json};
use windlass_cfn_double::Moment;

use super::{
    tool_client::ToolClient,
    world::{QUEUE, REGION, STACK, World, args},
};

/// A stack that failed when it was first made.
fn failed(config: &str) -> World {
    let world = World::new();
    world.config(config);
    world
        .control
        .fail_resource("JobsQueue", Moment::Create, "the queue is not well");
    let failed = world.tool_client().ops("deploy", &args(json!({})));
    failed.refused("DEPLOY_FAILED");
    let said = failed.next_actions().join("\n");
    assert!(said.contains("creates it again"), "{said}");
    assert_eq!(status(&world), "ROLLBACK_COMPLETE");
    world
}

fn status(world: &World) -> String {
    world.control.stack_status(STACK).unwrap()
}

fn confirmed(tool_client: &mut ToolClient, token: &Value) -> super::tool_client::Answer {
    tool_client.confirmed("deploy", &args(json!({ "confirmToken": token })))
}

#[test]
fn one_confirmed_plan_recreates_a_failed_stack() {
    let world = failed(QUEUE);
    let mut tool_client = world.tool_client();
    let mark = world.mark();
    let preview = tool_client.ops("preview_changes", &args(json!({})));
    let plan = preview.worked().clone();
    for (member, expected) in [
        ("recreate", json!(true)),
        ("isNewStack", json!(true)),
        ("noChanges", json!(false)),
        ("source", json!("local")),
        ("drift", Value::Null),
    ] {
        assert_eq!(plan[member], expected, "{member}: {plan:#}");
    }
    assert_eq!(
        plan["counts"]["create"], plan["counts"]["total"],
        "{plan:#}"
    );
    assert_eq!(plan["stuck"]["state"], "ROLLBACK_COMPLETE", "{plan:#}");
    let message = preview.body["message"].as_str().unwrap();
    assert!(message.contains("deleted and created again"), "{message}");
    let asked = world.actions_since(mark);
    assert!(!asked.contains(&"CreateChangeSet".to_owned()), "{asked:?}");

    // Neither a yes nor a token alone will do; each refusal has what is needed.
    let plain = tool_client.ops("deploy", &args(json!({})));
    plain.refused_for("CONFIRMATION_REQUIRED", "stuck_stack");
    let blind = tool_client.confirmed("deploy", &args(json!({})));
    let refusal = blind
        .refused_for("CONFIRMATION_REQUIRED", "stuck_stack")
        .clone();
    assert_eq!(refusal["recreate"], true, "{refusal:#}");
    assert_eq!(refusal["planDigest"], plan["planDigest"]);
    assert_eq!(refusal["resourceChanges"], plan["resourceChanges"]);
    let token = json!({ "confirmToken": refusal["confirmToken"] });
    let no_yes = tool_client.ops("deploy", &args(token));
    no_yes.refused_for("CONFIRMATION_REQUIRED", "stuck_stack");
    assert_eq!(status(&world), "ROLLBACK_COMPLETE");

    let mark = world.mark();
    let deployed = confirmed(&mut tool_client, &refusal["confirmToken"]);
    let data = deployed.worked();
    assert_eq!(data["planDigest"], plan["planDigest"], "{data:#}");
    assert_eq!(data["version"], "v000001");
    assert_eq!(status(&world), "CREATE_COMPLETE");
    assert_eq!(world.stacks().len(), 1);
    let run = data["runId"].as_str().unwrap().replace('_', "-");
    let tokens: Vec<(String, Option<String>)> = world.control.calls()[mark..]
        .iter()
        .filter(|call| ["DeleteStack", "ExecuteChangeSet"].contains(&call.action.as_str()))
        .map(|call| (call.action.clone(), call.token.clone()))
        .collect();
    assert_eq!(
        tokens,
        [
            ("DeleteStack".to_owned(), Some(format!("{run}-recreate"))),
            ("ExecuteChangeSet".to_owned(), Some(run)),
        ]
    );
    // The token of the preview is of the stack that is gone.
    let late = confirmed(&mut tool_client, &plan["confirmToken"]);
    late.refused_for("CONFIRMATION_REQUIRED", "plan_changed");
}

#[test]
fn a_changed_plan_is_confirmed_again() {
    let world = failed(QUEUE);
    let mut tool_client = world.tool_client();
    let seen = tool_client
        .ops("preview_changes", &args(json!({})))
        .worked()
        .clone();
    world.config(&QUEUE.replace("Seconds: 30", "Seconds: 60"));
    let changed = confirmed(&mut tool_client, &seen["confirmToken"]);
    let data = changed
        .refused_for("CONFIRMATION_REQUIRED", "plan_changed")
        .clone();
    assert_eq!(data["diff"]["templateChanged"], true, "{data:#}");
    assert_eq!(status(&world), "ROLLBACK_COMPLETE", "nothing was deleted");
    confirmed(&mut tool_client, &data["confirmToken"]).worked();
    assert_eq!(status(&world), "CREATE_COMPLETE");
}

const KEPT: &str = "
serviceName: shop
resources:
  jobs:
    type: sqs-queue
cloudformationResources:
  Photos:
    Type: AWS::S3::Bucket
    DeletionPolicy: Retain
  Later:
    Type: AWS::SQS::Queue
    DependsOn: Photos
";

/// What the failed creation left in the account is reported, and stays.
#[test]
fn what_the_failed_creation_kept_is_listed() {
    let world = World::new();
    world.config(KEPT);
    world
        .control
        .fail_resource("Later", Moment::Create, "the queue is not well");
    let mut tool_client = world.tool_client();
    tool_client
        .ops("deploy", &args(json!({})))
        .refused("DEPLOY_FAILED");
    let plan = tool_client
        .ops("preview_changes", &args(json!({})))
        .worked()
        .clone();
    let listed = plan["statefulChanges"].as_array().unwrap();
    assert_eq!(listed.len(), 1, "{plan:#}");
    assert_eq!(listed[0]["logicalId"], "Photos");
    assert_eq!(listed[0]["action"], "retain");
    assert_eq!(listed[0]["needsConfirm"], false);
    confirmed(&mut tool_client, &plan["confirmToken"]).worked();
    assert_eq!(world.leftovers()["kept"][0]["logical_id"], "Photos");
}

/// A creation that fails again leaves the same way out.
#[test]
fn a_second_failure_can_be_fixed_too() {
    let world = failed(QUEUE);
    let mut tool_client = world.tool_client();
    for is_well in [false, true] {
        if !is_well {
            world
                .control
                .fail_resource("JobsQueue", Moment::Create, "still not");
        }
        let refusal = tool_client.ops("deploy", &args(json!({})));
        let token =
            refusal.refused_for("CONFIRMATION_REQUIRED", "stuck_stack")["confirmToken"].clone();
        let answer = confirmed(&mut tool_client, &token);
        if is_well {
            answer.worked();
        } else {
            answer.refused("DEPLOY_FAILED");
        }
    }
    assert_eq!(status(&world), "CREATE_COMPLETE");
}

#[test]
fn the_command_line_takes_the_same_two_flags() {
    let world = failed(QUEUE);
    let deploy = [
        "deploy",
        "--project-name",
        "shop",
        "--stage",
        "dev",
        "--region",
        REGION,
        "--json",
        "--yes",
    ];
    let refused = world.cli(&deploy);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    let said = format!("{}{}", refused.stdout, refused.stderr);
    assert!(said.contains("stuck_stack"), "{said}");
    let (_, after) = said
        .split_once("--confirm-token ")
        .unwrap_or_else(|| panic!("{said}"));
    let token = after
        .split(|it: char| it.is_whitespace() || it == '"')
        .next()
        .unwrap();
    let deployed = world.cli(&[&deploy[..], &["--confirm-token", token]].concat());
    assert_eq!(
        deployed.code,
        Some(0),
        "{}{}",
        deployed.stdout,
        deployed.stderr
    );
    assert_eq!(status(&world), "CREATE_COMPLETE");
}
