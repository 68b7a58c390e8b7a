//! FIX_EXHAUSTED, ALLOWED_PATHS_VIOLATION and budgets: how a launch comes to its end early.

use serde_json::{Value, json};

use super::{
    client::Client,
    place::{DEFECTS, LaunchPlace, git},
};
use crate::suite::support::directory::{fill, read_tree};

/// The run failed for good, and says the same however often it is asked.
fn assert_exhausted(client: &mut Client, run_id: &str, reason: &str, open: u64) {
    let first = client.about("launch_fix_next", run_id);
    let details = first.refused_for("FIX_EXHAUSTED", reason);
    let issues = details["open_issues"].as_array().unwrap();
    assert_eq!(issues.len() as u64, open, "{:#}", first.0);
    assert_eq!(first.0["run_id"], run_id);
    for _ in 0..3 {
        let again = client.about("launch_fix_next", run_id);
        assert_eq!(again.refused("FIX_EXHAUSTED")["reason"], reason);
        assert_eq!(
            again.refused("FIX_EXHAUSTED")["open_issues"],
            details["open_issues"]
        );
        assert_eq!(again.0["error"]["message"], first.0["error"]["message"]);
    }
    let status = client.settled(run_id);
    assert_eq!(status["state"], "FAILED", "{status:#}");
    assert_eq!(status["failure"]["code"], "FIX_EXHAUSTED", "{status:#}");
    client
        .about("launch_validate", run_id)
        .refused("ILLEGAL_STATE");
    client
        .about("launch_cancel", run_id)
        .refused("ILLEGAL_STATE");
}

#[test]
fn no_attempt_is_no_attempt() {
    let place = LaunchPlace::defective();
    let mut client = place.serve();
    let config = place.config_with(json!({ "max_fix_attempts": 0 }));
    let run_id = client.started(&config, "VALIDATING");
    assert_exhausted(&mut client, &run_id, "max_attempts", DEFECTS);
}

#[test]
fn the_last_attempt_still_answers() {
    let place = LaunchPlace::defective();
    let mut client = place.serve();
    let config = place.config_with(json!({ "max_fix_attempts": 1 }));
    let run_id = client.started(&config, "VALIDATING");
    let tool_reply = client.about("launch_fix_next", &run_id);
    assert_eq!(tool_reply.worked()["validation_report"]["ok"], false);
    let status = client.status(&run_id);
    assert_eq!(status["state"], "VALIDATING");
    assert_eq!(status["fix_attempts"], json!({ "used": 1, "max": 1 }));
    assert_exhausted(&mut client, &run_id, "max_attempts", DEFECTS - 1);
}

#[test]
fn the_budget_of_attempts_counts_too() {
    let place = LaunchPlace::defective();
    let mut client = place.serve();
    let config = place.config_with(json!({ "budgets": { "max_patch_attempts": 2 } }));
    let run_id = client.started(&config, "VALIDATING");
    for _ in 0..2 {
        client.about("launch_fix_next", &run_id).worked();
    }
    assert_exhausted(&mut client, &run_id, "budget", DEFECTS - 2);
}

#[test]
fn a_resume_that_runs_out_answers_with_the_end() {
    let place = LaunchPlace::defective();
    let mut client = place.serve();
    let config = place.config_with(json!({ "max_fix_attempts": DEFECTS - 1 }));
    let run_id = client.started(&config, "VALIDATING");
    let tool_reply = client.about("launch_resume", &run_id);
    let status = &tool_reply.worked()["status"];
    assert_eq!(status["state"], "FAILED", "{status:#}");
    assert_eq!(status["failure"]["code"], "FIX_EXHAUSTED", "{status:#}");
    assert_eq!(status["failure"]["details"]["reason"], "max_attempts");
    assert_exhausted(&mut client, &run_id, "max_attempts", 1);
    client
        .about("launch_resume", &run_id)
        .refused("ILLEGAL_STATE");
}

#[test]
fn a_resume_fixes_until_the_gates_are_content() {
    let place = LaunchPlace::defective();
    let mut client = place.serve();
    let config = place.config_with(json!({ "max_fix_attempts": DEFECTS }));
    let run_id = client.started(&config, "VALIDATING");
    let tool_reply = client.about("launch_resume", &run_id);
    let status = &tool_reply.worked()["status"];
    assert_eq!(status["state"], "READY_FOR_PR", "{status:#}");
    assert_eq!(
        status["fix_attempts"],
        json!({ "used": DEFECTS, "max": DEFECTS })
    );
    assert_eq!(place.site_git(&["branch", "--list", "launch/*"]), "");
}

/// Every page of the site carries a token in its front matter: which no fixer fixes.
fn careless() -> LaunchPlace {
    let place = LaunchPlace::clean();
    let site = place.root().join("site");
    let token = ["ghp", "_", "x8Kq2Lw9Zr4Tn7Vb1Mc6Pd3Fs5Gh0Jy8Re2A"].concat();
    let page = format!("---\ntitle: Docs\nsearch_token: \"{token}\"\n---\n\nOur documentation.\n");
    fill(
        &site,
        &[
            ("content/docs/index.md", &page),
            ("content/docs/more.md", &page),
        ],
    );
    git(&site, &["add", "--all"]);
    git(&site, &["commit", "--quiet", "--message", "careless"]);
    place
}

#[test]
fn unfixable_issues_end_the_run() {
    let place = careless();
    let mut client = place.serve();
    let head = place.site_git(&["rev-parse", "HEAD"]);
    let config = place.config_with(json!({ "site_ref": head.trim() }));
    let run_id = client.started(&config, "VALIDATING");
    let status = client.status(&run_id);
    assert_eq!(status["section_states"]["docs"], "BLOCKED", "{status:#}");
    let issues = status["open_issues"].as_array().unwrap();
    assert!(
        issues.iter().all(|issue| issue["gate"] == "Secrets"),
        "{status:#}"
    );
    assert!(
        !client
            .artifact(&run_id, "validation_report.json")
            .contains("x8Kq2Lw9")
    );
    let open = issues.len() as u64;
    assert_exhausted(&mut client, &run_id, "no_fixable_issue", open);
}

/// Where a person may edit, the run waits for that instead.
#[test]
fn unfixable_issues_wait_where_manual_edits_are_allowed() {
    let place = careless();
    let mut client = place.serve();
    let head = place.site_git(&["rev-parse", "HEAD"]);
    let config = place.config_with(json!({
        "site_ref": head.trim(), "allow_manual_edits": true,
    }));
    let run_id = client.started(&config, "VALIDATING");
    for _ in 0..2 {
        let tool_reply = client.about("launch_fix_next", &run_id);
        tool_reply.refused_for("FIX_EXHAUSTED", "no_fixable_issue");
        let status = client.settled(&run_id);
        assert_eq!(status["state"], "VALIDATING", "{status:#}");
        assert_eq!(status["fix_attempts"]["used"], 0);
    }
    client.about("launch_validate", &run_id).worked();
}

#[test]
fn a_budget_that_is_spent_fails_the_run() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    for (name, code) in [
        ("max_files_changed", "BUDGET_EXCEEDED_MAX_FILES_CHANGED"),
        ("max_lines_per_file", "BUDGET_EXCEEDED_MAX_LINES_PER_FILE"),
        ("max_file_writes", "BUDGET_EXCEEDED_MAX_FILE_WRITES"),
    ] {
        let config = place.config_with(json!({ "budgets": { name: 1 } }));
        let run_id = client.started(&config, "FAILED");
        let failure = client.status(&run_id)["failure"].clone();
        assert_eq!(failure["code"], code, "{failure:#}");
        assert_eq!(failure["details"]["limit"], 1, "{failure:#}");
    }
}

fn violation(client: &mut Client, config: &Value) -> Value {
    let run_id = client.started(config, "FAILED");
    let failure = client.status(&run_id)["failure"].clone();
    assert_eq!(failure["code"], "ALLOWED_PATHS_VIOLATION", "{failure:#}");
    for member in ["path", "resolved_path", "patch_id"] {
        assert!(failure["details"][member].is_string(), "{failure:#}");
    }
    for tool in ["launch_fix_next", "launch_open_pr", "launch_validate"] {
        client.about(tool, &run_id).refused("ILLEGAL_STATE");
    }
    failure
}

/// A planned page that no entry admits ends the run before anything is written.
#[test]
fn a_page_outside_the_allowed_paths_fails_the_run() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    for entry in [
        "content/docs/quill/index.md",
        "content/docs/quill/*.txt",
        "content/docs/quill/getting",
    ] {
        let config = place.config_with(json!({ "allowed_paths": [entry] }));
        violation(&mut client, &config);
    }
    assert_eq!(place.site_git(&["branch", "--list", "launch/*"]), "");
}

/// A link of the site that leads out of it is never followed.
#[test]
fn a_link_in_the_site_is_never_written_through() {
    let place = LaunchPlace::clean();
    let outside = place.root().join("outside");
    std::fs::create_dir(&outside).unwrap();
    fs_err::write(outside.join("kept.md"), "kept\n").unwrap();
    let before = read_tree(&outside);
    let site = place.root().join("site");
    std::os::unix::fs::symlink(&outside, site.join("content/docs/quill")).unwrap();
    git(&site, &["add", "--all"]);
    git(&site, &["commit", "--quiet", "--message", "a link"]);
    let head = place.site_git(&["rev-parse", "HEAD"]);
    let mut client = place.serve();
    let config = place.config_with(json!({ "site_ref": head.trim() }));
    violation(&mut client, &config);
    assert_eq!(read_tree(&outside), before);
}
