//! TOOLCHAIN_MISSING: without Hugo a stricter launch waits, says what it needs, and continues.

use serde_json::json;

use super::{
    levers::{self, write_program},
    place::{LaunchPlace, git},
};
use crate::suite::support::directory::fill;

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

/// A program of the site runs only where the settings of the installation name it, whatever the
/// configuration says: it is the caller's.
#[test]
fn a_configuration_alone_starts_no_program_of_the_site() {
    let place = LaunchPlace::clean();
    let site = place.root().join("site");
    fill(
        &site,
        &[
            ("hugo.toml", "baseURL = \"https://a.example/\"\n"),
            ("leave-mark", "echo started > \"$OUT/mark\"\n"),
        ],
    );
    git(&site, &["add", "--all"]);
    git(&site, &["commit", "--quiet", "--message", "hugo"]);
    let head = place.site_git(&["rev-parse", "HEAD"]);
    // A Hugo that starts a program of the site where it may start any.
    write_program(
        &place.root().join("bin/hugo"),
        r#"case "$1" in
version) echo 'hugo v0.168.0+extended linux/amd64 BuildDate=unknown'; exit ;;
config) printf '{"path":"project","dir":"%s","mounts":[{"source":"content"}]}' "$PWD"; exit ;;
esac
PATH=/usr/bin:/bin
[ "$HUGO_SECURITY_EXEC_ALLOW" = none ] || OUT=$3 . ./leave-mark
exit 0
"#,
    );
    let config = place.config_with(json!({
        "site_ref": head.trim(),
        "hugo": { "exec_allow": ["^leave-mark$"] },
    }));
    let mut client = place.serve();
    let refused = client.call("launch_start_run", json!({ "run_config": config }));
    refused.refused_for("INVALID_INPUT", "not_allowed");
    drop(client);
    let marks = || {
        let launches = place.home().join("launch");
        walk(&launches)
            .into_iter()
            .filter(|path| path.file_name().is_some_and(|name| name == "mark"))
            .count()
    };
    assert_eq!(marks(), 0);
    place.settings("[launch]\nexec_allow = [\"^leave-mark$\"]\n");
    let mut client = place.serve();
    let run_id = client.start(&config);
    client.settled(&run_id);
    assert_eq!(marks(), 1, "the program leaves one where it runs");
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let Ok(entries) = fs_err::read_dir(folder) else {
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    let below = |path: std::path::PathBuf| match path.is_dir() && !path.is_symlink() {
        true => walk(&path),
        false => vec![path],
    };
    paths.flat_map(below).collect()
}
