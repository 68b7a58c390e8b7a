//! Confirm tokens: for one plan, once, for a while.

use serde_json::{Value, json};

use super::world::{QUEUE, STACK, World, args};

fn preview(world: &World, seconds: u32) -> Value {
    world.config(&QUEUE.replace("Seconds: 30", &format!("Seconds: {seconds}")));
    let preview = world.tool_client().ops("preview_changes", &args(json!({})));
    preview.worked().clone()
}

fn with(token: &Value) -> Value {
    args(json!({ "confirmToken": token }))
}

#[test]
fn a_token_works_once() {
    let world = World::new();
    let plan = preview(&world, 30);
    let mut tool_client = world.tool_client();
    tool_client
        .ops("deploy", &with(&plan["confirmToken"]))
        .worked();
    let again = tool_client.ops("deploy", &with(&plan["confirmToken"]));
    again.refused_for("CONFIRMATION_REQUIRED", "confirm_token_used");
}

#[test]
fn a_token_fits_only_its_plan() {
    let world = World::new();
    let plan = preview(&world, 30);
    let mut tool_client = world.tool_client();
    for token in [json!("nonsense"), json!(""), json!("a.b.c")] {
        let answer = tool_client.ops("deploy", &with(&token));
        let code = answer.body["code"].as_str().unwrap();
        assert!(
            code == "CONFIRMATION_REQUIRED"
                && answer.body["data"]["reason"] == "confirm_token_mismatch"
                || code == "VALIDATION_ERROR",
            "{token}: {:#}",
            answer.body
        );
    }
    let mut other = with(&plan["confirmToken"]);
    other["stage"] = json!("prod");
    let answer = tool_client.ops("deploy", &other);
    answer.refused_for("CONFIRMATION_REQUIRED", "confirm_token_mismatch");
    let answer = tool_client.ops("rollback", &with(&plan["confirmToken"]));
    assert_eq!(
        answer.body["ok"], false,
        "a token of deploy is none of rollback"
    );
    assert_eq!(world.stacks(), Vec::<Value>::new());
    tool_client
        .ops("deploy", &with(&plan["confirmToken"]))
        .worked();
}

#[test]
fn a_changed_plan_is_shown_again() {
    let world = World::new();
    preview(&world, 30);
    let mut tool_client = world.tool_client();
    tool_client.ops("deploy", &args(json!({}))).worked();
    let old = preview(&world, 60);
    // In the meantime another caller deploys something else.
    world.config(&QUEUE.replace("Seconds: 30", "Seconds: 90"));
    tool_client.ops("deploy", &args(json!({}))).worked();
    world.config(&QUEUE.replace("Seconds: 30", "Seconds: 60"));
    let mark = world.mark();
    let answer = tool_client.ops("deploy", &with(&old["confirmToken"]));
    let data = answer.refused_for("CONFIRMATION_REQUIRED", "plan_changed");
    assert_ne!(data["planDigest"], old["planDigest"]);
    assert!(
        data["diff"].is_object() || data["diff"].is_array(),
        "{data:#}"
    );
    let token = data["confirmToken"].clone();
    assert_ne!(token, old["confirmToken"]);
    assert!(
        !world
            .actions_since(mark)
            .iter()
            .any(|it| it == "ExecuteChangeSet")
    );
    tool_client.ops("deploy", &with(&token)).worked();
    assert_eq!(
        world.control.stack_status(STACK).unwrap(),
        "UPDATE_COMPLETE"
    );
    assert_eq!(
        timeout_of(&world),
        "60",
        "what was confirmed is what is done"
    );
}

/// A config that was edited after the preview is not what was confirmed.
#[test]
fn what_nobody_saw_is_not_deployed() {
    let world = World::new();
    preview(&world, 30);
    let mut tool_client = world.tool_client();
    tool_client.ops("deploy", &args(json!({}))).worked();
    for edited in [30, 90] {
        let seen = preview(&world, 60);
        world.config(&QUEUE.replace("Seconds: 30", &format!("Seconds: {edited}")));
        let answer = tool_client.ops("deploy", &with(&seen["confirmToken"]));
        if answer.body["code"] == "OK" {
            assert_eq!(timeout_of(&world), "60", "{:#}", answer.body);
        } else {
            answer.refused_for("CONFIRMATION_REQUIRED", "plan_changed");
            assert_eq!(timeout_of(&world), "30", "{:#}", answer.body);
        }
    }
}

fn timeout_of(world: &World) -> String {
    let stack = &world.stacks()[0];
    let timeout = &stack["resources"]["JobsQueue"]["properties"]["VisibilityTimeout"];
    timeout.to_string().trim_matches('"').to_owned()
}
