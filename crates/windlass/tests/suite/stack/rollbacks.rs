//! Back to an earlier version: listed, planned, confirmed where data would go.

use serde_json::json;

use super::world::{QUEUE, STACK, STATEFUL, World, args};

fn timeout_of(world: &World) -> String {
    let stack = &world.stacks()[0];
    let timeout = &stack["resources"]["JobsQueue"]["properties"]["VisibilityTimeout"];
    timeout.to_string().trim_matches('"').to_owned()
}

#[test]
fn back_to_the_first_version() {
    let world = World::new();
    let mut tool_client = world.tool_client();
    for seconds in [30, 60, 90] {
        let wanted = format!("Seconds: {seconds}");
        world.config(&QUEUE.replace("Seconds: 30", &wanted));
        tool_client.ops("deploy", &args(json!({}))).worked();
    }
    assert_eq!(timeout_of(&world), "90");
    let listed = tool_client.ops("rollback", &args(json!({ "listVersions": true })));
    let versions = listed.worked()["versions"].as_array().unwrap();
    assert_eq!(versions.len(), 3, "{:#}", listed.body);
    assert_eq!(timeout_of(&world), "90", "a list changes nothing");

    let back = tool_client.ops("rollback", &args(json!({ "targetVersion": "v000001" })));
    let data = back.worked();
    assert_eq!(data["fromVersion"], "v000003", "{data:#}");
    assert_eq!(data["toVersion"], "v000001");
    assert!(data["outputs"]["queueUrl"].is_string(), "{data:#}");
    assert_eq!(timeout_of(&world), "30");

    let unknown = tool_client.ops("rollback", &args(json!({ "targetVersion": "v000042" })));
    unknown.refused("NOT_FOUND");
    let wrong = tool_client.ops(
        "rollback",
        &args(json!({ "targetVersion": "the last one" })),
    );
    wrong.refused("VALIDATION_ERROR");
    let far = tool_client.ops("rollback", &args(json!({ "rollbackSteps": 40 })));
    assert!(["NOT_FOUND", "VALIDATION_ERROR"].contains(&far.body["code"].as_str().unwrap()));
    let none = tool_client.ops(
        "rollback",
        &json!({ "projectName": "none", "stage": "dev", "region": "eu-west-1" }),
    );
    none.refused("NOT_FOUND");
}

#[test]
fn one_step_back_is_the_default() {
    let world = World::new();
    let mut tool_client = world.tool_client();
    world.config(QUEUE);
    tool_client.ops("deploy", &args(json!({}))).worked();
    world.config(&QUEUE.replace("Seconds: 30", "Seconds: 60"));
    tool_client.ops("deploy", &args(json!({}))).worked();
    let back = tool_client.ops("rollback", &args(json!({})));
    assert_eq!(back.worked()["toVersion"], "v000001", "{:#}", back.body);
    assert_eq!(timeout_of(&world), "30");
}

#[test]
fn going_back_past_a_table_needs_the_yes_too() {
    let world = World::new();
    let mut tool_client = world.tool_client();
    world.config(QUEUE);
    tool_client.ops("deploy", &args(json!({}))).worked();
    world.config(STATEFUL);
    tool_client.ops("deploy", &args(json!({}))).worked();
    let target = json!({ "targetVersion": "v000001" });
    let refusal = tool_client.confirmed("rollback", &args(target.clone()));
    let data = refusal.refused_for("CONFIRMATION_REQUIRED", "stateful_loss");
    let mut with = target;
    with["confirmToken"] = data["confirmToken"].clone();
    tool_client.confirmed("rollback", &args(with)).worked();
    assert_eq!(
        world.control.stack_status(STACK).unwrap(),
        "UPDATE_COMPLETE"
    );
}
