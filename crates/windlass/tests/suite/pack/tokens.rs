//! Confirm tokens over the real binary: what they are bound to, and the order of refusals.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::place::{MACHINE, PackPlace, difference};
use crate::suite::support::directory::fill;

const MISMATCH: &str = "E_CONFIRM_TOKEN_MISMATCH";

#[test]
fn must_40_a_token_survives_a_restart() {
    let place = PackPlace::new();
    let mut first = place.serve();
    let token = first.token(json!({}));
    assert_eq!(first.server.close(), Some(0));
    let mut second = place.serve();
    let tool_reply = second.apply(&token);
    assert_eq!(tool_reply.data()["applied"], true, "{:#}", tool_reply.0);
    assert_eq!(tool_reply.0["command_id"], "deploy --apply");
    assert!(place.project().join("AGENTS.md").is_file());
}

#[test]
fn a_token_survives_kill_9() {
    let place = PackPlace::new();
    let mut first = place.serve();
    let token = first.token(json!({}));
    first.server.process.kill();
    assert!(place.serve().apply(&token).is_ok());
}

#[test]
fn a_token_works_once() {
    let place = PackPlace::new();
    let mut client = place.serve();
    let planned = client.call("deploy", json!({}));
    let token = planned.data()["confirm_token"].as_str().unwrap();
    assert!(client.apply(token).is_ok());
    let before = place.picture();
    for _ in 0..2 {
        let tool_reply = client.apply(token);
        tool_reply.refused_for(MISMATCH, "confirm_token_mismatch");
    }
    assert_eq!(difference(&before, &place.picture()), Vec::<String>::new());
    assert_eq!((place.runs().len(), place.snapshots().len()), (1, 1));
    // Also when the plan is again the one it was issued for.
    place.say(&["pack", "undo", "--yes", "--json"]).worked();
    let again = client.call("deploy", json!({}));
    assert_eq!(
        again.data()["confirm_plan_hash"],
        planned.data()["confirm_plan_hash"]
    );
    client.apply(token).refusal(MISMATCH);
    assert!(!place.project().join("AGENTS.md").exists());
}

#[test]
fn an_empty_plan_uses_its_token_too() {
    let place = PackPlace::new();
    let mut client = place.serve();
    client.deploy();
    let token = client.token(json!({}));
    let tool_reply = client.apply(&token);
    assert_eq!(tool_reply.data()["applied"], false, "{:#}", tool_reply.0);
    assert_eq!(
        tool_reply.data()["reason"],
        "no_changes",
        "{:#}",
        tool_reply.0
    );
    assert_eq!(
        tool_reply.data().get("snapshot_id"),
        None,
        "{:#}",
        tool_reply.0
    );
    client.apply(&token).refusal(MISMATCH);
    assert_eq!(place.snapshots().len(), 1);
}

#[test]
fn tokens_that_were_never_issued() {
    let place = PackPlace::new();
    let mut client = place.serve();
    let token = client.token(json!({}));
    let mut other = token.clone();
    let last = if other.pop() == Some('0') { '1' } else { '0' };
    other.push(last);
    for forged in [
        other,
        token.to_uppercase() + "G",
        "x".to_owned(),
        " ".to_owned(),
    ] {
        client
            .apply(&forged)
            .refused_for(MISMATCH, "confirm_token_mismatch");
    }
    for arguments in [
        json!({ "yes": true }),
        json!({ "yes": true, "confirm_token": "" }),
        json!({ "yes": true, "confirm_token": null }),
    ] {
        let tool_reply = client.call("deploy_apply", arguments);
        let details = tool_reply.refused_for("E_CONFIRM_TOKEN_REQUIRED", "confirm_token_required");
        assert_eq!(
            details["next_actions"],
            json!(["call_deploy", "retry_deploy_apply"])
        );
        assert!(details["hint"].is_string());
    }
    assert!(client.apply(&token).is_ok());
}

/// Changes one thing between `deploy` and `deploy_apply` and gives the refusal's details.
fn changed_in_between(place: &PackPlace, change: impl FnOnce()) -> (Value, Value) {
    let mut client = place.serve();
    let planned = client.call("deploy", json!({}));
    let token = planned.data()["confirm_token"].as_str().unwrap();
    change();
    let before = place.picture();
    let tool_reply = client.apply(token);
    let details = tool_reply
        .refused_for(MISMATCH, "confirm_token_mismatch")
        .clone();
    assert_eq!(difference(&before, &place.picture()), Vec::<String>::new());
    assert_eq!(place.runs(), Vec::<Value>::new());
    (planned.data()["confirm_plan_hash"].clone(), details)
}

#[test]
fn must_38_a_source_changed_by_one_byte_is_a_mismatch() {
    let place = PackPlace::new();
    let (hash, details) = changed_in_between(&place, || {
        place.repo_file("modules/demo/run.sh", "echo demO\n");
    });
    assert_eq!(details["expected_confirm_plan_hash"], hash);
    assert_ne!(details["confirm_plan_hash"], hash);
    let changed = place.project().join(".codex/skills/demo/run.sh");
    let user = place.user().join(".codex/skills/demo/run.sh");
    assert_eq!(details["changed_paths"], json!([changed, user]));
}

#[test]
fn a_destination_changed_after_the_review_is_a_mismatch() {
    let place = PackPlace::new();
    let path = place.project().join("AGENTS.md");
    let (hash, details) = changed_in_between(&place, || {
        fs_err::write(&path, "mine\n").unwrap();
    });
    assert_eq!(details["expected_confirm_plan_hash"], hash);
    assert_ne!(details["confirm_plan_hash"], hash);
    assert_eq!(details["changed_paths"], json!([path]));
}

/// Modes are no part of the hash that 0.9.1 knows, but they are part of the plan.
#[test]
fn a_mode_changed_after_the_review_is_a_mismatch_with_equal_hashes() {
    let place = PackPlace::new();
    let (hash, details) = changed_in_between(&place, || {
        let script = place.repo().join("modules/demo/run.sh");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(script, mode).unwrap();
    });
    assert_eq!(details["expected_confirm_plan_hash"], hash);
    assert_eq!(details["confirm_plan_hash"], hash);
}

#[test]
fn must_37_spelled_out_defaults_bind_like_none() {
    let place = PackPlace::new();
    let spelled = json!({
        "repo": place.repo(), "profile": "default", "target": "all", "machine": MACHINE,
    });
    let tilde = json!({ "repo": "~/.agentpack/repo", "machine": "LapTop", "dry_run": false });
    let mut client = place.serve();
    let plain = client.call("deploy", json!({}));
    for arguments in [&spelled, &tilde] {
        let tool_reply = client.call("deploy", arguments.clone());
        assert_eq!(
            tool_reply.data()["confirm_plan_hash"],
            plain.data()["confirm_plan_hash"],
            "{arguments}"
        );
    }
    // A token of one is good for the other, both ways round.
    let mut apply = spelled.clone();
    apply["yes"] = json!(true);
    apply["confirm_token"] = plain.data()["confirm_token"].clone();
    assert!(client.call("deploy_apply", apply).is_ok());
    place.repo_file("modules/base/AGENTS.md", "# Next\n");
    let token = client.token(spelled);
    assert!(client.apply(&token).is_ok());
    place.repo_file("modules/base/AGENTS.md", "# And next\n");
    let token = client.token(tilde);
    assert!(client.apply(&token).is_ok());
}

#[test]
fn other_arguments_are_another_binding() {
    let place = PackPlace::new();
    place.edit_manifest(
        "profiles:\n",
        "profiles:\n  same:\n    include_tags: [base]\n",
    );
    let mut client = place.serve();
    let plain = client.call("deploy", json!({}));
    let token = plain.data()["confirm_token"].clone();
    let before = place.picture();
    for (name, value) in [
        ("target", "codex"),
        ("profile", "same"),
        ("machine", "other"),
        ("repo", "/elsewhere"),
    ] {
        let mut arguments = json!({ "yes": true, "confirm_token": token });
        arguments[name] = json!(value);
        let tool_reply = client.call("deploy_apply", arguments);
        assert!(!tool_reply.is_ok(), "{name}: {:#}", tool_reply.0);
        if name != "repo" {
            tool_reply.refused_for(MISMATCH, "confirm_token_mismatch");
            let other = client.call("deploy", json!({ name: value }));
            assert_ne!(
                other.data()["confirm_plan_hash"],
                plain.data()["confirm_plan_hash"],
                "{name}"
            );
        }
    }
    assert_eq!(difference(&before, &place.picture()), Vec::<String>::new());
    let tool_reply = client.apply(token.as_str().unwrap());
    assert!(
        tool_reply.is_ok(),
        "the token stays valid: {:#}",
        tool_reply.0
    );
}

#[test]
fn an_adopt_is_confirmed_with_the_same_token() {
    let place = PackPlace::new();
    fill(&place.project(), &[("AGENTS.md", "mine\n")]);
    let mut client = place.serve();
    let token = client.token(json!({}));
    client.apply(&token).refusal("E_ADOPT_CONFIRM_REQUIRED");
    client.apply(&token).refusal("E_ADOPT_CONFIRM_REQUIRED");
    let tool_reply = client.call(
        "deploy_apply",
        json!({ "yes": true, "adopt": true, "confirm_token": token }),
    );
    assert_eq!(tool_reply.data()["applied"], true, "{:#}", tool_reply.0);
    let written = fs_err::read_to_string(place.project().join("AGENTS.md")).unwrap();
    assert_eq!(written, "# Base\n");
    let again = json!({ "yes": true, "adopt": true, "confirm_token": token });
    client.call("deploy_apply", again).refusal(MISMATCH);
}

#[test]
fn must_35_a_failed_plan_issues_no_token() {
    let place = PackPlace::new();
    fs_err::remove_file(place.repo().join("modules/demo/SKILL.md")).unwrap();
    let mut client = place.serve();
    let tool_reply = client.call("deploy", json!({}));
    tool_reply.refusal("E_CONFIG_INVALID");
    assert!(
        !tool_reply.0.to_string().contains("confirm_token"),
        "{:#}",
        tool_reply.0
    );
    let tool_reply = client.call("deploy", json!({ "repo": "/nowhere" }));
    tool_reply.refusal("E_CONFIG_MISSING");
    assert!(
        !tool_reply.0.to_string().contains("confirm_token"),
        "{:#}",
        tool_reply.0
    );
}

/// Each refusal although everything that is looked at later is wrong as well.
#[test]
fn must_36_refusals_come_in_the_order_of_the_contract() {
    let place = PackPlace::new();
    fill(&place.project(), &[("AGENTS.md", "mine\n")]);
    let mut client = place.serve();
    let token = client.token(json!({}));
    let manifest = fs_err::read_to_string(place.repo().join("agentpack.yaml")).unwrap();
    place.repo_file("agentpack.yaml", "version: [\n");
    let refused = [
        (json!({}), "E_CONFIRM_REQUIRED"),
        (json!({ "yes": true }), "E_CONFIRM_TOKEN_REQUIRED"),
        (json!({ "yes": true, "confirm_token": "f00" }), MISMATCH),
        (
            json!({ "yes": true, "confirm_token": token }),
            "E_CONFIG_INVALID",
        ),
    ];
    for (arguments, code) in refused {
        client.call("deploy_apply", arguments).refusal(code);
    }
    // The plan is compared before adopting is asked about.
    place.repo_file("agentpack.yaml", &manifest);
    place.repo_file("modules/base/AGENTS.md", "# Based\n");
    client.apply(&token).refusal(MISMATCH);
    place.repo_file("modules/base/AGENTS.md", "# Base\n");
    client.apply(&token).refusal("E_ADOPT_CONFIRM_REQUIRED");
    let adopt = json!({ "yes": true, "adopt": true, "confirm_token": token });
    assert!(
        client.call("deploy_apply", adopt).is_ok(),
        "valid to the end"
    );
}

#[test]
fn a_token_of_another_toolset_is_refused() {
    let place = PackPlace::new();
    let mut command = place.command(&place.project());
    command.args(["mcp", "serve", "--toolset", "pack,demo"]);
    let mut client = super::place::Client::of(command);
    let input = json!({ "dir": place.project(), "files": { "a.txt": "a" } });
    let planned = client.request(
        "tools/call",
        &json!({ "name": "demo_plan", "arguments": input }),
    );
    let token = planned["result"]["structuredContent"]["confirm_token"]
        .as_str()
        .unwrap_or_else(|| panic!("{planned}"));
    client.apply(token).refusal(MISMATCH);
}

/// The pack home is part of who asks.
#[test]
fn a_token_of_another_pack_home_is_refused() {
    let place = PackPlace::new();
    let token = place.serve().token(json!({}));
    let other = place.root().join("other");
    let output = std::process::Command::new("cp")
        .args([
            "-a".as_ref(),
            place.pack_home().as_os_str(),
            other.as_os_str(),
        ])
        .status();
    assert!(output.unwrap().success());
    let mut command = place.command(&place.project());
    command
        .args(["mcp", "serve", "--toolset", "pack"])
        .env("AGENTPACK_HOME", &other);
    let mut client = super::place::Client::of(command);
    client.apply(&token).refusal(MISMATCH);
    // Another name for the same home is the same home.
    let link = place.root().join("link");
    std::os::unix::fs::symlink(place.pack_home(), &link).unwrap();
    let mut command = place.command(&place.project());
    command
        .args(["mcp", "serve", "--toolset", "pack"])
        .env("AGENTPACK_HOME", &link);
    let tool_reply = super::place::Client::of(command).apply(&token);
    assert!(tool_reply.is_ok(), "{:#}", tool_reply.0);
}
