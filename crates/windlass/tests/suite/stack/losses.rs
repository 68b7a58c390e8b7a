//! What holds data is lost only by a yes to the plan that says so.

use serde_json::{Value, json};

use super::{
    tool_client::Answer,
    world::{STATEFUL, World, args},
};

/// The same stack without the table.
fn without_items() -> String {
    let (before, rest) = STATEFUL.split_once("  items:").unwrap();
    let (_, after) = rest.split_once("  files:").unwrap();
    format!("{before}  files:{after}")
}

fn has_table(world: &World) -> bool {
    world.stacks()[0]["resources"]
        .as_object()
        .unwrap()
        .contains_key("ItemsGlobalTable")
}

/// The token of a refusal that lists a loss.
#[track_caller]
fn token_of(refusal: &Answer, action: &str) -> Value {
    let data = refusal.refused_for("CONFIRMATION_REQUIRED", "stateful_loss");
    let changes = data["statefulChanges"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{data:#}");
    assert_eq!(changes[0]["action"], action, "{data:#}");
    assert!(
        changes[0]["reason"]
            .as_str()
            .is_some_and(|it| !it.is_empty())
    );
    assert!(data["planDigest"].is_string(), "{data:#}");
    assert!(data["confirmTokenExpiresAt"].is_string(), "{data:#}");
    data["confirmToken"].clone()
}

#[test]
fn a_table_is_deleted_only_with_token_and_yes() {
    let world = World::new();
    world.config(STATEFUL);
    let mut tool_client = world.tool_client();
    tool_client.ops("deploy", &args(json!({}))).worked();
    world.config(&without_items());

    let preview = tool_client.ops("preview_changes", &args(json!({})));
    let listed = &preview.worked()["statefulChanges"];
    assert_eq!(listed[0]["resourceName"], "items", "{listed:#}");
    assert_eq!(listed[0]["type"], "AWS::DynamoDB::GlobalTable");

    let plain = tool_client.ops("deploy", &args(json!({})));
    token_of(&plain, "delete");
    let blind = tool_client.confirmed("deploy", &args(json!({})));
    let token = token_of(&blind, "delete");
    let token = json!({ "confirmToken": token });
    let no_yes = tool_client.ops("deploy", &args(token.clone()));
    no_yes.refused("CONFIRMATION_REQUIRED");
    assert!(has_table(&world), "nothing was lost yet");
    let both = tool_client.confirmed("deploy", &args(token));
    both.worked();
    assert!(!has_table(&world));
}

const NAMED: &str = "
serviceName: shop
resources:
  jobs:
    type: sqs-queue
cloudformationResources:
  Photos:
    Type: AWS::S3::Bucket
    Properties:
      BucketName: shop-photos-one
";

#[test]
fn a_replacement_of_a_bucket_is_a_loss() {
    let world = World::new();
    world.config(NAMED);
    let mut tool_client = world.tool_client();
    tool_client.ops("deploy", &args(json!({}))).worked();
    world.config(&NAMED.replace("shop-photos-one", "shop-photos-two"));
    let preview = tool_client.ops("preview_changes", &args(json!({})));
    let data = preview.worked();
    let change = data["resourceChanges"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["logicalId"] == "Photos")
        .unwrap();
    assert_eq!(change["action"], "replace", "{change:#}");
    assert_eq!(change["willReplace"], json!(["BucketName"]));
    let reason = change["reason"].as_str().unwrap();
    for part in ["BucketName", "shop-photos-one", "shop-photos-two"] {
        assert!(reason.contains(part), "{reason}");
    }
    let refusal = tool_client.ops("deploy", &args(json!({})));
    let token = token_of(&refusal, "replace");
    let deployed = tool_client.confirmed("deploy", &args(json!({ "confirmToken": token })));
    deployed.worked();
    let photos = &world.stacks()[0]["resources"]["Photos"];
    assert_eq!(photos["physical_id"], "shop-photos-two");
}

/// What is kept is reported and needs no yes.
#[test]
fn what_is_kept_is_no_loss() {
    let world = World::new();
    let kept = NAMED.replace(
        "    Type: AWS::S3::Bucket\n",
        "    Type: AWS::S3::Bucket\n    DeletionPolicy: Retain\n    UpdateReplacePolicy: Retain\n",
    );
    world.config(&kept);
    let mut tool_client = world.tool_client();
    tool_client.ops("deploy", &args(json!({}))).worked();
    world.config(NAMED.split_once("cloudformationResources:").unwrap().0);
    let preview = tool_client.ops("preview_changes", &args(json!({})));
    let data = preview.worked();
    let change = data["resourceChanges"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["logicalId"] == "Photos")
        .unwrap();
    assert_eq!(change["action"], "retain", "{change:#}");
    tool_client.ops("deploy", &args(json!({}))).worked();
    let kept = world.leftovers()["kept"].clone();
    assert_eq!(kept[0]["logical_id"], "Photos", "{kept:#}");
}
