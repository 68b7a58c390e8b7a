//! The life of a stack on an emulator we did not write: its events have no client tokens and no
//! resources, its change sets are listed with those of other stacks.

use serde_json::{Value, json};

use super::moto::Moto;
use super::world::{World, args};

fn config(visibility: u32, more: &str) -> String {
    format!(
        "
serviceName: shop
resources:
  jobs:
    type: sqs-queue
    properties:
      visibilityTimeoutSeconds: {visibility}
  items:
    type: dynamo-db-table
    properties:
      primaryKey:
        partitionKey: {{ name: id, type: string }}
{more}"
    )
}

const BROKEN: &str = "
cloudformationResources:
  Broken:
    Type: AWS::SQS::Queue
    Properties: { QueueName: 'not a name!' }
";

#[test]
fn create_no_change_change_failure_rollback_delete() {
    let Some(moto) = Moto::start() else { return };
    let world = moto.whole();
    let mut client = world.tool_client();
    let none = args(json!({}));

    world.config(&config(30, ""));
    let preview = client.ops("preview_changes", &none);
    assert_eq!(preview.worked()["isNewStack"], true);
    let stacks = client.diagnose("info_stacks", &none);
    assert_eq!(
        stacks.worked()["stacks"],
        json!([]),
        "a preview leaves nothing behind"
    );

    let deployed = client.ops("deploy", &none);
    assert_eq!(
        deployed.worked()["version"],
        "v000001",
        "{:#}",
        deployed.body
    );
    assert_eq!(deployed.worked()["changeCounts"]["create"], 2);

    let same = client.ops("deploy", &none);
    assert_eq!(same.worked()["reason"], "no_changes", "{:#}", same.body);

    world.config(&config(60, ""));
    let preview = client.ops("preview_changes", &none);
    let token = preview.worked()["confirmToken"].clone();
    assert_eq!(
        preview.worked()["counts"]["update"],
        1,
        "{:#}",
        preview.body
    );
    let changed = client.ops("deploy", &args(json!({ "confirmToken": token })));
    assert_eq!(changed.worked()["version"], "v000002", "{:#}", changed.body);
    let info = client.diagnose("info_stack", &none);
    assert_eq!(info.worked()["status"], "UPDATE_COMPLETE");

    // A second update ends in the status it began in.
    world.config(&config(90, ""));
    let again = client.ops("deploy", &none);
    assert_eq!(again.worked()["version"], "v000003", "{:#}", again.body);

    world.config(&config(90, BROKEN));
    let failed = client.ops("deploy", &none);
    assert_eq!(failed.body["code"], "DEPLOY_FAILED", "{:#}", failed.body);
    let message = failed.body["message"].as_str().unwrap();
    assert!(message.contains("alphanumeric"), "{message}");

    let wish = json!({ "targetVersion": "v000001" });
    let back = client.ops("rollback", &args(wish));
    assert_eq!(back.worked()["toVersion"], "v000001", "{:#}", back.body);

    client.confirmed("delete", &none).worked();
    let stacks = client.diagnose("info_stacks", &none);
    assert_eq!(stacks.worked()["stacks"], json!([]));

    // The name is free again; what the emulator remembers of the first stack is not taken for ours.
    world.config(&config(30, ""));
    let deployed = client.ops("deploy", &none);
    assert_eq!(
        deployed.worked()["changeCounts"]["create"],
        2,
        "{:#}",
        deployed.body
    );
}

#[test]
fn a_stack_whose_creation_failed_can_be_deployed_once_it_is_fixed() {
    let Some(moto) = Moto::start() else { return };
    let world = moto.whole();
    let mut client = world.tool_client();
    let none = args(json!({}));
    world.config(&config(30, BROKEN));
    let failed = client.ops("deploy", &none);
    assert_eq!(failed.body["code"], "DEPLOY_FAILED", "{:#}", failed.body);
    world.config(&config(30, ""));
    client.ops("deploy", &none).worked();
}

#[test]
fn stacks_beside_each_other_do_not_take_each_others_change_sets() {
    let Some(moto) = Moto::start() else { return };
    let world = moto.whole();
    world.config(&config(30, ""));
    let deploy = |world: &World, stage: &str| {
        let said = world.cli(&[
            "deploy",
            "--project-name",
            "shop",
            "--stage",
            stage,
            "--region",
            "eu-west-1",
            "--agent",
        ]);
        let last = said.stdout.lines().last().unwrap().to_owned();
        let result: Value = serde_json::from_str(&last).unwrap();
        assert_eq!(result["ok"], true, "{}", said.stdout);
        assert!(said.stdout.contains("CREATE_COMPLETE"), "{}", said.stdout);
    };
    deploy(&world, "dev");
    deploy(&world, "test");
    let said = world.cli(&[
        "delete",
        "--project-name",
        "shop",
        "--stage",
        "dev",
        "--region",
        "eu-west-1",
        "--yes",
    ]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let mut client = world.tool_client();
    let stacks = client.diagnose("info_stacks", &json!({ "region": "eu-west-1" }));
    assert_eq!(stacks.worked()["stacks"][0]["stackName"], "shop-test");
}
