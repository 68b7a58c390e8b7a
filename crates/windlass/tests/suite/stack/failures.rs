//! Deployments that fail: what failed first and why, where the stack stands, what helps.

use serde_json::{Value, json};
use windlass_cfn_double::Moment;

use super::world::{QUEUE, STACK, World, args};

const TWO: &str = "
serviceName: shop
resources:
  jobs:
    type: sqs-queue
    properties:
      visibilityTimeoutSeconds: 30
  news:
    type: sns-topic
    properties:
      smsDisplayName: one
";

fn changed() -> String {
    TWO.replace("Seconds: 30", "Seconds: 60")
        .replace("smsDisplayName: one", "smsDisplayName: two")
}

fn status(world: &World) -> String {
    world.control.stack_status(STACK).unwrap()
}

#[test]
fn a_failed_creation_names_the_first_resource_and_can_be_recreated() {
    let world = World::new();
    world.config(QUEUE);
    world.control.fail_resource(
        "JobsQueue",
        Moment::Create,
        "shop-dev-jobs already exists (Service: Sqs, Status Code: 400, Request ID: abc-123)",
    );
    let mut tool_client = world.tool_client();
    let failed = tool_client.ops("deploy", &args(json!({})));
    let data = failed.refused("DEPLOY_FAILED");
    assert_eq!(data["phase"], "deploying", "{data:#}");
    assert!(data["runId"].is_string(), "{data:#}");
    let failure = &data["failure"];
    assert_eq!(failure["logicalId"], "JobsQueue", "{failure:#}");
    assert_eq!(failure["resourceName"], "jobs");
    assert_eq!(failure["resourceType"], "AWS::SQS::Queue");
    assert_eq!(failure["status"], "CREATE_FAILED");
    assert_eq!(failure["stackStatus"], "ROLLBACK_COMPLETE");
    let reason = failure["reason"].as_str().unwrap();
    assert!(reason.contains("already exists"), "{reason}");
    assert!(!reason.contains("abc-123"), "{reason}");
    assert!(
        !failure["remedies"].as_array().unwrap().is_empty(),
        "{failure:#}"
    );
    for member in ["physicalId", "cause", "logs", "alsoFailed", "cancelled"] {
        assert!(failure.get(member).is_some(), "{member}: {failure:#}");
    }
    assert!(
        failed.body["rawTail"]
            .as_str()
            .unwrap()
            .contains("JobsQueue")
    );
    assert!(!failed.next_actions().is_empty());
    assert_eq!(status(&world), "ROLLBACK_COMPLETE");

    let known = tool_client.diagnose("info_stack", &args(json!({})));
    let stuck = &known.worked()["stuck"];
    assert!(stuck.to_string().contains("ROLLBACK_COMPLETE"), "{stuck:#}");

    // One plan deletes it and creates it again; a deletion alone is possible too.
    let remedies = failure["remedies"].as_array().unwrap().iter();
    let remedies: Vec<&Value> = remedies.map(|remedy| &remedy["operation"]).collect();
    assert!(
        remedies.ends_with(&[&json!("deploy"), &json!("delete")]),
        "{failure:#}"
    );
    let back = tool_client.ops("rollback", &args(json!({})));
    let data = back.refused_for("VALIDATION_ERROR", "stack_stuck");
    assert_eq!(
        data["stuck"]["remedies"][0]["operation"], "deploy",
        "{data:#}"
    );
    tool_client.confirmed("delete", &args(json!({}))).worked();
    tool_client.ops("deploy", &args(json!({}))).worked();
    assert_eq!(status(&world), "CREATE_COMPLETE");
}

#[test]
fn a_failed_update_is_rolled_back_automatically() {
    let world = World::new();
    world.config(TWO);
    let mut tool_client = world.tool_client();
    tool_client.ops("deploy", &args(json!({}))).worked();
    world
        .control
        .fail_resource("JobsQueue", Moment::Update, "quota exceeded");
    world.config(&changed());
    let failed = tool_client.ops("deploy", &args(json!({})));
    let failure = &failed.refused("DEPLOY_FAILED")["failure"];
    assert_eq!(failure["logicalId"], "JobsQueue", "{failure:#}");
    assert_eq!(failure["stackStatus"], "UPDATE_ROLLBACK_COMPLETE");
    assert_eq!(status(&world), "UPDATE_ROLLBACK_COMPLETE");
    // The next one continues as if nothing had happened.
    let again = tool_client.ops("deploy", &args(json!({})));
    assert_eq!(again.worked()["version"], "v000002", "{:#}", again.body);
    let known = tool_client.diagnose("info_operations", &args(json!({})));
    let operations = known.worked()["operations"].as_array().unwrap();
    let codes: Vec<&Value> = operations
        .iter()
        .filter(|it| it["operation"] == "deploy")
        .map(|it| &it["code"])
        .collect();
    assert_eq!(codes, ["OK", "DEPLOY_FAILED", "OK"]);
}

#[test]
fn without_rollback_the_stack_waits_for_a_decision() {
    let world = World::new();
    world.config(TWO);
    let mut tool_client = world.tool_client();
    tool_client.ops("deploy", &args(json!({}))).worked();
    world
        .control
        .fail_resource("JobsQueue", Moment::Update, "no");
    world.config(&changed());
    let failed = tool_client.ops("deploy", &args(json!({ "disableAutoRollback": true })));
    let failure = &failed.refused("DEPLOY_FAILED")["failure"];
    assert_eq!(failure["stackStatus"], "UPDATE_FAILED", "{failure:#}");
    let back = tool_client.ops("rollback", &args(json!({})));
    let data = back.worked();
    assert!(data["mode"].is_string(), "{data:#}");
    assert_eq!(status(&world), "UPDATE_ROLLBACK_COMPLETE");
    let calls = world.control.calls();
    let rollback = calls
        .iter()
        .find(|it| it.action == "RollbackStack")
        .unwrap();
    let token = data["runId"].as_str().unwrap().replace('_', "-");
    assert_eq!(rollback.token, Some(token));
}

#[test]
fn a_blocked_rollback_is_continued_and_can_leave_something_out() {
    let world = World::new();
    world.config(TWO);
    let mut tool_client = world.tool_client();
    tool_client.ops("deploy", &args(json!({}))).worked();
    let control = &world.control;
    control.fail_resource("JobsQueue", Moment::Update, "no");
    control.fail_resource("JobsQueue", Moment::Rollback, "cannot go back");
    world.config(&changed());
    let failed = tool_client.ops("deploy", &args(json!({})));
    let failure = &failed.refused("DEPLOY_FAILED")["failure"];
    assert_eq!(
        failure["stackStatus"], "UPDATE_ROLLBACK_FAILED",
        "{failure:#}"
    );
    let info = tool_client.diagnose("info_stack", &args(json!({})));
    assert!(
        info.worked()["stuck"]
            .to_string()
            .contains("UPDATE_ROLLBACK_FAILED")
    );

    control.fail_resource("JobsQueue", Moment::Rollback, "still not");
    let blocked = tool_client.ops("rollback", &args(json!({})));
    let data = blocked.refused("ROLLBACK_FAILED");
    assert_eq!(data["failure"]["logicalId"], "JobsQueue", "{data:#}");
    let said = format!("{} {:?}", blocked.body, blocked.next_actions());
    assert!(said.contains("resourcesToSkip"), "{said}");
    let skip = args(json!({ "resourcesToSkip": ["JobsQueue"] }));
    tool_client.ops("rollback", &skip).worked();
    assert_eq!(status(&world), "UPDATE_ROLLBACK_COMPLETE");
}
