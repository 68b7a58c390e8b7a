//! Every tool once along the way of a good launch: what it answers, what it changes.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use windlass_types::Digest;

use super::{
    client::digests,
    place::{DEFECTS, LaunchPlace},
    shapes::{STATES, TOOLS},
};

#[test]
fn the_toolset_is_the_contracts() {
    let place = LaunchPlace::clean();
    let client = place.serve();
    let mut wanted = TOOLS;
    wanted.sort_unstable();
    let names: Vec<&str> = client.tools.keys().map(String::as_str).collect();
    assert_eq!(names, wanted);
    for (name, tool) in &client.tools {
        let schema = &tool["inputSchema"];
        assert_eq!(schema["type"], "object", "{name}");
        assert_eq!(schema["additionalProperties"], false, "{name}");
        let members: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        let (members_wanted, required): (&[&str], &[&str]) = match name.as_str() {
            "launch_start_run" => (&["idempotency_key", "run_config"], &["run_config"]),
            "launch_get_artifact" => (&["artifact_name", "run_id"], &["run_id", "artifact_name"]),
            "launch_list_runs" => (&["cursor", "filter", "limit"], &[]),
            _ => (&["run_id"], &["run_id"]),
        };
        assert_eq!(members, members_wanted, "{name}");
        let listed = schema.get("required").cloned().unwrap_or(json!([]));
        assert_eq!(listed, json!(required), "{name}");
        // A client checks structured content against this even when a call failed.
        let output = &tool["outputSchema"];
        assert_eq!(output["type"], "object", "{name}");
        assert_eq!(output["anyOf"].as_array().unwrap().len(), 2, "{name}");
    }
    let info = &client.session.greeting["result"]["serverInfo"];
    assert_eq!(info["version"], env!("CARGO_PKG_VERSION"), "{info}");
}

#[test]
fn an_unknown_tool_is_an_error_of_the_protocol() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let params = json!({ "name": "launch_nothing", "arguments": {} });
    let answer = client.session.request("tools/call", &params);
    assert!(answer["error"]["code"].is_i64(), "{answer}");
    assert!(answer.get("result").is_none(), "{answer}");
}

#[test]
fn from_start_to_done() {
    let place = LaunchPlace::defective();
    let mut client = place.serve();
    let tool_reply = client.call(
        "launch_start_run",
        json!({ "run_config": place.config(), "idempotency_key": "first" }),
    );
    let run_id = tool_reply.worked()["run_id"].as_str().unwrap().to_owned();
    assert_eq!(
        tool_reply.0,
        json!({ "ok": true, "run_id": run_id, "state": "CREATED" })
    );
    let status = client.settled(&run_id);
    assert_eq!(status["state"], "VALIDATING");
    assert_eq!(
        status["section_states"],
        json!({ "docs": "MERGED_IN_WORKTREE" })
    );
    assert_eq!(status["fix_attempts"], json!({ "used": 0, "max": 5 }));
    assert_eq!(status["parked"], true);
    assert!(status.get("failure").is_none());
    let issues = status["open_issues"].as_array().unwrap();
    assert_eq!(issues.len() as u64, DEFECTS, "{issues:#?}");

    // Validating again finds the same, and every issue has one id however often it is found.
    let report = client.about("launch_validate", &run_id).worked()["validation_report"].clone();
    assert_eq!(report["ok"], false);
    let ids = |issues: &Value| -> Vec<String> {
        let issues = issues.as_array().unwrap().iter();
        issues.map(|issue| issue["issue_id"].to_string()).collect()
    };
    assert_eq!(ids(&report["issues"]), ids(&status["open_issues"]));

    for left in (0..DEFECTS).rev() {
        let first = client.status(&run_id)["open_issues"][0]["issue_id"].clone();
        let tool_reply = client.about("launch_fix_next", &run_id);
        let fixed = tool_reply.worked();
        assert_eq!(fixed["fixed_issue_id"], first, "the first in order");
        assert_eq!(fixed["remaining_blockers"], left);
        assert_eq!(fixed["applied_patch_ids"].as_array().unwrap().len(), 1);
        assert_eq!(fixed["validation_report"]["ok"], left == 0);
    }
    let status = client.status(&run_id);
    assert_eq!(status["state"], "READY_FOR_PR");
    assert_eq!(status["section_states"], json!({ "docs": "DONE" }));
    assert_eq!(status["fix_attempts"], json!({ "used": DEFECTS, "max": 5 }));

    // At rest with a good report there is nothing to resume, and no pull request comes of it.
    let resumed = client.about("launch_resume", &run_id);
    assert_eq!(resumed.worked()["status"], status);
    assert_eq!(place.site_git(&["branch", "--list", "launch/*"]), "");

    let opened = client.about("launch_open_pr", &run_id);
    let branch = opened.worked()["branch"].as_str().unwrap().to_owned();
    assert_eq!(branch, format!("launch/{run_id}/quill"));
    let commit = place.site_git(&["rev-parse", &branch]);
    assert_eq!(opened.worked()["commit_sha"], commit.trim());
    let status = client.status(&run_id);
    assert_eq!(status["state"], "DONE");
    assert_eq!(status["pr"]["branch"], branch);

    let listed = client.call("launch_list_runs", json!({}));
    let run = &listed.worked()["runs"][0];
    assert_eq!(run["run_id"], run_id);
    assert_eq!(run["state"], "DONE");
    assert_eq!(run["product_slug"], "quill");
    assert!(run["finished_at"].is_string(), "{run}");
    assert!(run["started_at"].as_str() < run["finished_at"].as_str());
}

#[test]
fn every_artifact_is_what_its_digest_says() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let run_id = client.started(&place.config(), "READY_FOR_PR");
    client.about("launch_open_pr", &run_id).worked();
    let status = client.status(&run_id);
    let artifacts = digests(&status);
    for name in [
        "run_config.json",
        "resolved_config.json",
        "site_context.json",
        "frontmatter_contract.json",
        "repo_inventory.json",
        "product_facts.json",
        "evidence_map.json",
        "truth_lock_report.json",
        "snippet_catalog.json",
        "page_plan.json",
        "draft_manifest.json",
        "review_report.json",
        "patch_bundle.json",
        "patch_conflicts.json",
        "pr_plan.json",
        "diff_report.md",
        "validation_report.json",
        "pr.json",
        "drafts/docs/content/docs/quill/index.md",
    ] {
        assert!(artifacts.contains_key(name), "{name}: {artifacts:#?}");
    }
    for (name, sha256) in &artifacts {
        let arguments = json!({ "run_id": run_id, "artifact_name": name });
        let tool_reply = client.call("launch_get_artifact", arguments);
        let artifact = &tool_reply.worked()["artifact"];
        assert_eq!(artifact["name"], *name);
        assert_eq!(artifact["sha256"], *sha256);
        let content = artifact["content"].as_str().unwrap();
        let bytes = match artifact.get("encoding") {
            Some(_) => STANDARD.decode(content).unwrap(),
            None => content.as_bytes().to_vec(),
        };
        assert_eq!(Digest::of(&bytes).to_string(), *sha256, "{name}");
        let kind = artifact["content_type"].as_str().unwrap();
        let ending = name.rsplit('.').next().unwrap();
        let wanted = match ending {
            "json" => "application/json",
            "md" => "text/markdown",
            other => panic!("{other}"),
        };
        assert_eq!(kind, wanted, "{name}");
        assert!(content.ends_with('\n') && !content.contains('\r'), "{name}");
        if ending == "json" {
            let json: Value = serde_json::from_str(content).unwrap();
            assert_eq!(json["schema_version"], "1.0", "{name}");
        }
    }
}

/// Newest first, in pages, by product and by state; each with its own state and times.
#[test]
fn runs_are_listed_newest_first_in_pages() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let empty = client.call("launch_list_runs", json!({}));
    assert_eq!(empty.0, json!({ "ok": true, "runs": [] }));
    let mut started = Vec::new();
    for number in 0..5 {
        let name = if number == 2 { "Other Thing" } else { "Quill" };
        let config = place.config_with(json!({ "product_name": name }));
        started.push(client.start(&config));
    }
    for run_id in &started {
        client.settled(run_id);
    }
    client.about("launch_cancel", &started[4]).worked();
    started.reverse();
    let ids = |tool_reply: &Value| -> Vec<String> {
        let runs = tool_reply["runs"].as_array().unwrap().iter();
        let id = |run: &Value| run["run_id"].as_str().unwrap().to_owned();
        runs.map(id).collect()
    };
    let whole = client.call("launch_list_runs", json!({ "limit": 1000 }));
    assert_eq!(ids(whole.worked()), started);
    let runs = whole.worked()["runs"].as_array().unwrap();
    assert_eq!(runs[0]["state"], "CANCELLED");
    assert!(runs[0]["finished_at"].is_string());
    assert!(runs[1]["finished_at"].is_null());

    let mut paged = Vec::new();
    let mut arguments = json!({ "limit": 2 });
    loop {
        let page = client.call("launch_list_runs", arguments.clone());
        paged.extend(ids(page.worked()));
        match page.0.get("next_cursor") {
            Some(cursor) => arguments["cursor"] = cursor.clone(),
            None => break,
        }
    }
    assert_eq!(paged, started);

    let mut filtered = |filter: Value| {
        let tool_reply = client.call("launch_list_runs", json!({ "filter": filter }));
        ids(tool_reply.worked())
    };
    assert_eq!(filtered(json!({})), started);
    assert_eq!(
        filtered(json!({ "product_slug": "other-thing" })),
        [started[2].clone()]
    );
    assert_eq!(filtered(json!({ "product_slug": "nobody" })), [""; 0]);
    assert_eq!(
        filtered(json!({ "state": "CANCELLED" })),
        [started[0].clone()]
    );
    assert_eq!(
        filtered(json!({ "state": "CANCELLED", "product_slug": "other-thing" })),
        [""; 0]
    );
    for state in STATES {
        for run in filtered(json!({ "state": state })) {
            assert!(started.contains(&run), "{state}");
        }
    }
}

/// Calls that take long say how far they are to those who ask for it.
#[test]
fn long_calls_report_progress() {
    let place = LaunchPlace::defective();
    let mut client = place.serve();
    let run_id = client.started(&place.config(), "VALIDATING");
    let params = json!({
        "name": "launch_validate",
        "arguments": { "run_id": run_id },
        "_meta": { "progressToken": "p1" },
    });
    client.session.ask("tools/call", &params);
    let mut seen = 0;
    loop {
        let message = client.session.server.receive().expect("the server is up");
        if message["method"] == "notifications/progress" {
            assert_eq!(message["params"]["progressToken"], "p1", "{message}");
            seen += 1;
        } else if message.get("id").is_some() {
            assert_eq!(message["result"]["isError"], false, "{message}");
            break;
        }
    }
    assert!(seen > 0, "no progress was reported");
}
