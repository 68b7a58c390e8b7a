//! TOOLCHAIN_MISSING: without Hugo a stricter launch waits, says what it needs, and continues.

use serde_json::json;

use super::{levers, place::LaunchPlace};

#[test]
fn a_missing_hugo_parks_the_run_until_it_is_there() {
    let place = LaunchPlace::example();
    let mut client = place.serve();
    let run_id = client.started(&place.config_far("ci"), "VALIDATING");
    let status = client.status(&run_id);
    assert_eq!(status["parked"], true, "waiting, not failed");
    let failure = &status["failure"];
    assert_eq!(failure["code"], "TOOLCHAIN_MISSING", "{status:#}");
    assert_eq!(failure["details"]["tool"], "hugo", "{failure:#}");
    assert_eq!(failure["details"]["gate"], "HugoBuild", "{failure:#}");
    let tool_reply = client.call(
        "launch_get_artifact",
        json!({ "run_id": run_id, "artifact_name": "validation_report.json" }),
    );
    tool_reply.refused_for("ILLEGAL_STATE", "not_produced");

    for tool in ["launch_validate", "launch_resume"] {
        let tool_reply = client.about(tool, &run_id);
        let details = tool_reply.refused("TOOLCHAIN_MISSING");
        assert_eq!(details["tool"], "hugo", "{:#}", tool_reply.0);
        assert!(details["found_version"].is_null(), "{:#}", tool_reply.0);
        assert_eq!(tool_reply.0["run_id"], run_id);
    }
    client
        .about("launch_fix_next", &run_id)
        .refused_for("ILLEGAL_STATE", "no_report");
    client
        .about("launch_open_pr", &run_id)
        .refused("ILLEGAL_STATE");
    assert_eq!(client.status(&run_id)["state"], "VALIDATING");

    // A Hugo that says its version is enough for the gate to run; that it built nothing is
    // what the gate then says.
    let _hugo = levers::hugo(&place);
    let tool_reply = client.about("launch_validate", &run_id);
    let report = &tool_reply.worked()["validation_report"];
    assert_eq!(report["profile"], "ci");
    let gates = report["gates"].as_array().unwrap();
    let build = gates
        .iter()
        .find(|gate| gate["name"] == "HugoBuild")
        .unwrap();
    assert_ne!(build["skipped"], true, "{build}");
    assert_eq!(build["ok"], false, "nothing was rendered: {build}");
    let status = client.status(&run_id);
    assert!(status.get("failure").is_none(), "{status:#}");
    assert_eq!(status["state"], "VALIDATING");
}

/// In profile local the build is left out, and said so.
#[test]
fn without_hugo_a_local_launch_skips_the_build_aloud() {
    let place = LaunchPlace::example();
    let mut client = place.serve();
    let run_id = client.started(&place.config(), "VALIDATING");
    let report = client.artifact_json(&run_id, "validation_report.json");
    let gates = report["gates"].as_array().unwrap();
    let build = gates
        .iter()
        .find(|gate| gate["name"] == "HugoBuild")
        .unwrap();
    assert_eq!(build["skipped"], true, "{build}");
    let issues = report["issues"].as_array().unwrap();
    let said = issues
        .iter()
        .find(|issue| issue["gate"] == "HugoBuild")
        .unwrap();
    assert_eq!(said["error_code"], "GATE_TOOLCHAIN_SKIPPED", "{said}");
    assert_eq!(said["severity"], "warn", "{said}");
}

/// A site without Hugo has no use for it, in any profile.
#[test]
fn a_plain_site_needs_no_hugo() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let run_id = client.start(&place.config_far("ci"));
    let status = client.settled(&run_id);
    assert!(status.get("failure").is_none(), "{status:#}");
    let report = client.artifact_json(&run_id, "validation_report.json");
    for gate in report["gates"].as_array().unwrap() {
        if gate["name"].as_str().unwrap().starts_with("Hugo") {
            assert_eq!(gate["skipped"], true, "{gate}");
            assert_eq!(gate["reason"], "not_applicable", "{gate}");
        }
    }
}
