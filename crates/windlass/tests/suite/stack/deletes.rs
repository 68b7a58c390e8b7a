//! Deletions: never without a yes, never of another tool's stack, and complete or explained.

use serde_json::{Value, json};
use windlass_cfn_double::Moment;

use super::world::{QUEUE, STACK, STATEFUL, World, args};
use crate::suite::support::http::Ask;

#[test]
fn nothing_is_deleted_without_a_yes() {
    let world = World::new();
    world.config(STATEFUL);
    let mut tool_client = world.tool_client();
    tool_client.ops("deploy", &args(json!({}))).worked();
    let before = world.leftovers();
    let mark = world.mark();
    let refusal = tool_client.ops("delete", &args(json!({})));
    let data = refusal.refused("CONFIRMATION_REQUIRED");
    assert_eq!(data["stackName"], STACK);
    let stateful = data["statefulChanges"].as_array().unwrap();
    let names: Vec<&str> = stateful
        .iter()
        .filter_map(|it| it["resourceName"].as_str())
        .collect();
    assert!(
        names.contains(&"items") && names.contains(&"files"),
        "{data:#}"
    );
    assert!(
        refusal
            .next_actions()
            .iter()
            .any(|it| it.contains("confirm"))
    );
    assert_eq!(world.leftovers(), before);
    assert!(
        !world
            .actions_since(mark)
            .iter()
            .any(|it| it == "DeleteStack")
    );
    // The same without access: a yes is asked for first, and what is lost is not known.
    let stranger = World::new()
        .env("AWS_ACCESS_KEY_ID", "")
        .env("AWS_SECRET_ACCESS_KEY", "");
    let refusal = stranger.tool_client().ops("delete", &args(json!({})));
    assert_eq!(
        refusal.refused("CONFIRMATION_REQUIRED")["statefulChanges"],
        Value::Null
    );
    // `confirm` is the tool's, and a plain `false` is no yes.
    let input = json!({ "operation": "delete", "args": args(json!({})), "confirm": false });
    tool_client
        .tool("stacktape_ops", &input)
        .refused("CONFIRMATION_REQUIRED");

    let deleted = tool_client.confirmed("delete", &args(json!({})));
    let data = deleted.worked();
    assert_eq!(data["stackName"], STACK);
    let gone = data["deleted"].to_string();
    assert!(gone.contains("ItemsGlobalTable"), "{gone}");
    assert_eq!(data["retained"], json!([]));
    assert_eq!(world.stacks(), Vec::<Value>::new());
    let again = tool_client.confirmed("delete", &args(json!({})));
    assert_eq!(
        again.refused("NOT_FOUND")["kind"],
        "stack",
        "{:#}",
        again.body
    );
}

#[test]
fn what_cannot_go_is_named_and_can_be_kept() {
    let world = World::new();
    world.config(STATEFUL);
    let mut tool_client = world.tool_client();
    tool_client.ops("deploy", &args(json!({}))).worked();
    let early = args(json!({ "retainResources": ["ItemsGlobalTable"] }));
    tool_client
        .confirmed("delete", &early)
        .refused("VALIDATION_ERROR");
    world
        .control
        .fail_resource("ItemsGlobalTable", Moment::Delete, "the table is in use");
    let failed = tool_client.confirmed("delete", &args(json!({})));
    let data = failed.refused("DELETE_FAILED");
    let failure = &data["failure"];
    assert_eq!(failure["logicalId"], "ItemsGlobalTable", "{failure:#}");
    assert_eq!(failure["stackStatus"], "DELETE_FAILED");
    let said = format!("{:#}", failed.body);
    assert!(said.contains("retainResources"), "{said}");
    let kept = tool_client.confirmed("delete", &early);
    let data = kept.worked();
    assert!(
        data["retained"].to_string().contains("ItemsGlobalTable"),
        "{data:#}"
    );
    assert_eq!(world.stacks(), Vec::<Value>::new());
    assert_eq!(
        world.leftovers()["kept"][0]["logical_id"],
        "ItemsGlobalTable"
    );
}

#[test]
fn a_protected_stack_says_how_to_remove_the_protection() {
    let world = World::new();
    world.config(&format!(
        "{QUEUE}deploymentConfig:\n  terminationProtection: true\n"
    ));
    let mut tool_client = world.tool_client();
    tool_client.ops("deploy", &args(json!({}))).worked();
    let refusal = tool_client.confirmed("delete", &args(json!({})));
    refusal.refused_for("VALIDATION_ERROR", "termination_protection");
    assert!(!refusal.next_actions().is_empty(), "{:#}", refusal.body);
    assert_eq!(
        world.control.stack_status(STACK).unwrap(),
        "CREATE_COMPLETE"
    );
}

/// A stack that another tool created under the name.
pub(super) fn made_elsewhere(world: &World, name: &str) {
    let template = json!({
        "Resources": { "Theirs": { "Type": "AWS::SQS::Queue", "Properties": {} } },
    });
    let form = format!(
        "Action=CreateStack&Version=2010-05-15&StackName={name}&ClientRequestToken=elsewhere-1&TemplateBody={}",
        percent(&template.to_string())
    );
    let address = world.endpoint.strip_prefix("http://").unwrap();
    let reply = Ask::post("/", form)
        .without("content-type")
        .with("content-type", "application/x-www-form-urlencoded")
        .with(
            "authorization",
            "AWS4-HMAC-SHA256 Credential=AKIDOTHER/20260101/eu-west-1/cloudformation/aws4_request, \
             SignedHeaders=host, Signature=0",
        )
        .with("connection", "close")
        .send(address.parse().unwrap())
        .unwrap();
    assert_eq!(reply.status, 200, "{}", reply.text());
    world.control.advance(60_000);
}

fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[test]
fn another_tools_stack_is_read_and_not_touched() {
    let world = World::new();
    world.config(QUEUE);
    made_elsewhere(&world, STACK);
    let before = world.leftovers();
    let mut tool_client = world.tool_client();
    for (operation, args) in [
        ("preview_changes", args(json!({}))),
        ("deploy", args(json!({}))),
        ("rollback", args(json!({}))),
        ("delete", args(json!({}))),
    ] {
        let answer = tool_client.confirmed(operation, &args);
        answer.refused_for("VALIDATION_ERROR", "foreign_stack");
    }
    assert_eq!(world.leftovers(), before);
    let info = tool_client.diagnose("info_stack", &args(json!({})));
    assert_eq!(info.worked()["stackName"], STACK);
    let known = tool_client.diagnose("info_operations", &args(json!({})));
    let operations = known.worked()["operations"].as_array().unwrap();
    assert!(
        operations.iter().any(|it| it["source"] == "cloudformation"),
        "{:#}",
        known.body
    );
}
