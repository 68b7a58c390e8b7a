//! Policy over stacks: rules by operation and stack, and approvals by a person.

use serde_json::json;

use super::world::{QUEUE, STACK, World, args};

#[test]
fn what_policy_forbids_is_not_done() {
    let world = World::with_policy(
        "version = 1
[[rule]]
operation = \"stack.deploy\"
target = \"shop-*\"
decision = \"deny\"
reason = \"frozen\"
",
    );
    world.config(QUEUE);
    let mut tool_client = world.tool_client();
    let denied = tool_client.ops("deploy", &args(json!({})));
    denied.refused_for("VALIDATION_ERROR", "policy_denied");
    assert_eq!(world.mark(), 0, "nothing is asked of AWS");
    tool_client
        .ops("preview_changes", &args(json!({})))
        .worked();
    // Bad arguments are reported before policy is asked.
    let wrong = tool_client.ops("deploy", &args(json!({ "colour": "red" })));
    wrong.refused_for("VALIDATION_ERROR", "unknown_argument");
}

#[test]
fn what_policy_asks_about_waits_for_a_person() {
    let world = World::with_policy(
        "version = 1
approvers = [\"local:*\"]
[[rule]]
operation = \"stack.deploy\"
decision = \"ask\"
",
    );
    world.config(QUEUE);
    let mut tool_client = world.tool_client();
    let pending = tool_client.ops("deploy", &args(json!({})));
    let data = pending.refused_for("CONFIRMATION_REQUIRED", "approval_pending");
    let run = data["runId"].as_str().unwrap().to_owned();
    assert!(data["approvalId"].is_string(), "{data:#}");
    assert!(pending.next_actions().join(" ").contains("approve"));
    assert_eq!(world.stacks().len(), 0);
    let mut approve = world.command();
    let said = approve.args(["runs", "approve", &run]).output().unwrap();
    assert!(
        said.status.success(),
        "{}",
        String::from_utf8_lossy(&said.stderr)
    );
    let started = std::time::Instant::now();
    while world.control.stack_status(STACK).as_deref() != Some("CREATE_COMPLETE") {
        assert!(started.elapsed().as_secs() < 60);
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// A reading operation that writes its answer to a file is judged as one that writes.
#[test]
fn a_rule_about_writing_holds_for_a_template_that_is_written() {
    let world = World::with_policy(
        "version = 1
[[rule]]
operation = \"stack.compile_template\"
effect = \"write\"
decision = \"deny\"
reason = \"frozen\"
",
    );
    world.config(QUEUE);
    let mut tool_client = world.tool_client();
    tool_client
        .ops("compile_template", &args(json!({})))
        .worked();
    let out = json!({ "outFile": "t.json" });
    let denied = tool_client.ops("compile_template", &args(out));
    denied.refused_for("VALIDATION_ERROR", "policy_denied");
    assert!(!world.project().join("t.json").exists());
}
