//! Every code of the closed set is reachable, and there are no others.

use std::collections::BTreeSet;

use serde_json::json;
use windlass_cfn_double::Moment;

use super::{
    shapes::CODES,
    world::{QUEUE, World, args},
};

const CONFIG: &str = "
scripts:
  fails:
    type: local-script
    properties:
      executeCommand: exit 1
";

#[test]
fn every_code_is_reachable() {
    let world = World::new();
    world.config(&format!("{QUEUE}{CONFIG}"));
    world.trust();
    let mut tool_client = world.tool_client();
    let mut seen = BTreeSet::new();
    let mut see = |answer: super::tool_client::Answer| {
        seen.insert(answer.body["code"].as_str().unwrap().to_owned());
    };
    let slower = |seconds: u32| {
        let wanted = format!("Seconds: {seconds}");
        world.config(&format!(
            "{}{CONFIG}",
            QUEUE.replace("Seconds: 30", &wanted)
        ));
    };
    see(tool_client.ops("deploy", &args(json!({ "stage": 5 }))));
    see(tool_client.diagnose("info_stack", &args(json!({}))));
    see(tool_client.ops("delete", &args(json!({}))));
    see(tool_client.ops("script_run", &args(json!({ "scriptName": "fails" }))));
    let insert = json!({ "resourceName": "db", "sql": "insert into t values (1)" });
    see(tool_client.diagnose("sql", &args(insert)));
    let secret =
        json!({ "secretName": "k", "secretValue": "some-secret-value", "region": "eu-west-1" });
    see(tool_client.ops("secret_create", &secret));
    see(tool_client.ops("secret_create", &secret));
    see(tool_client.ops("deploy", &args(json!({}))));
    // A failed update, a rollback that stays blocked, and one that goes through.
    slower(60);
    world
        .control
        .fail_resource("JobsQueue", Moment::Update, "no");
    world
        .control
        .fail_resource("JobsQueue", Moment::Rollback, "no");
    see(tool_client.ops("deploy", &args(json!({}))));
    world
        .control
        .fail_resource("JobsQueue", Moment::Rollback, "no");
    see(tool_client.ops("rollback", &args(json!({}))));
    see(tool_client.ops("rollback", &args(json!({}))));
    world.control.hang_resource("JobsQueue", Moment::Update);
    slower(90);
    see(tool_client.ops("deploy", &args(json!({ "timeoutSeconds": 1 }))));
    world.control.release("JobsQueue");
    let started = std::time::Instant::now();
    while world
        .control
        .stack_status("shop-dev")
        .unwrap()
        .ends_with("IN_PROGRESS")
    {
        assert!(started.elapsed().as_secs() < 60);
        std::thread::sleep(std::time::Duration::from_millis(20));
        world.control.advance(1_000);
    }
    world
        .control
        .fail_resource("JobsQueue", Moment::Delete, "no");
    let mut deleted = tool_client.confirmed("delete", &args(json!({})));
    // The deployment that was not waited for may still be writing its version.
    while deleted.body["data"]["reason"] == "stack_busy" {
        assert!(started.elapsed().as_secs() < 60, "{:#}", deleted.body);
        deleted = tool_client.confirmed("delete", &args(json!({})));
    }
    see(deleted);
    world.control.expire_credentials(true);
    see(tool_client.diagnose("info_stack", &args(json!({}))));
    let all: BTreeSet<String> = CODES.iter().map(|&code| code.to_owned()).collect();
    let missing: Vec<&String> = all.difference(&seen).collect();
    assert!(missing.is_empty(), "never seen: {missing:?}");
    assert_eq!(seen, all);
}
