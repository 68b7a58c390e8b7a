//! Run ids and artifact names that try to reach something else: nothing is read outside the
//! run, whatever is there.

use serde_json::json;

use super::{
    client::{Client, ToolReply},
    place::LaunchPlace,
};
use crate::suite::support::directory::fill;

const CANARY: &str = "CANARY-7f3a";

/// Files that no answer may show: next to the home, in it, and in the run's own folder.
fn plant(place: &LaunchPlace, run_id: &str) {
    let run = format!("home/launch/{run_id}/canary.md");
    let text = format!("{CANARY}\n");
    fill(
        place.root(),
        &[
            ("canary.json", &text),
            ("canary.md", &text),
            ("home/canary.json", &text),
            ("home/launch/canary.md", &text),
            ("home/launch/page_plan.json", &text),
            ("home/blobs/canary.md", &text),
            ("home/r_canary/page_plan.json", &text),
            ("user/canary.md", &text),
            (&run, &text),
        ],
    );
}

/// Ways to say another path, for a name that is there.
fn tricks(target: &str) -> Vec<String> {
    let up = format!("../{target}");
    vec![
        up.clone(),
        format!("../../{target}"),
        format!("../../../../../../../../../../{target}"),
        format!("./{target}"),
        format!("/{target}"),
        format!("//{target}"),
        format!("~/{target}"),
        format!("drafts/../{target}"),
        format!("drafts/docs/../../{target}"),
        format!("artifacts/{target}"),
        format!("page_plan.json/../{target}"),
        format!("page_plan.json\u{0}{target}"),
        format!("{target}\u{0}"),
        format!("{target}\u{0}.json"),
        up.replace('/', "\\"),
        format!("..\\..\\{target}"),
        format!("%2e%2e%2f{target}"),
        format!("..%2f{target}"),
        format!("..%252f{target}"),
        format!("%2e%2e/{target}"),
        format!("..%c0%af{target}"),
        format!("\u{2024}\u{2024}/{target}"),
        format!("\u{ff0e}\u{ff0e}\u{ff0f}{target}"),
        format!("..\u{2215}{target}"),
        format!("....//{target}"),
        format!("..;/{target}"),
        format!("file:{target}"),
        format!("file:///{target}"),
        format!("\u{202e}{target}"),
        format!(" {target}"),
        format!("{target} "),
        format!("{target}\n"),
        format!("{target}\r\n\r\n"),
        format!("{}{target}", "../".repeat(5000)),
        format!("{}{target}", "a/".repeat(50_000)),
    ]
}

fn artifact(client: &mut Client, run_id: &str, name: &str) -> ToolReply {
    client.call(
        "launch_get_artifact",
        json!({ "run_id": run_id, "artifact_name": name }),
    )
}

/// The answer does not show a canary, nor does it repeat a hostile text at length.
#[track_caller]
fn assert_harmless(tool_reply: &ToolReply, what: &str) {
    let text = tool_reply.0.to_string();
    assert!(!text.contains(CANARY), "{what:?}: {text}");
    assert!(text.len() < 8000, "{what:.60?}: {} bytes", text.len());
}

#[test]
fn artifact_names_reach_the_index_alone() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let run_id = client.started(&place.config(), "READY_FOR_PR");
    plant(&place, &run_id);
    let mut names: Vec<String> = Vec::new();
    for target in ["canary.json", "canary.md", "windlass.db"] {
        names.extend(tricks(target));
    }
    names.extend(
        [
            "canary.json",
            "canary.md",
            "config.toml",
            "windlass.db",
            "drivers",
            "keys",
            "blobs",
            ".",
            "..",
            "/",
            "/etc/passwd",
            "page_plan",
            "PAGE_PLAN.JSON",
            "page_plan.json/",
            "page_plan.json.",
            "Page_plan.json",
            "*.json",
            "page_plan.*",
            "drafts",
            "drafts/",
            "drafts/docs",
            "drafts/docs/",
            "drafts/<section>/<output_path>",
            "fix_<issue_id>.md",
            "logs/../canary.md",
            "evidence/llm_calls/../../canary.md",
            "site/content/docs/index.md",
            "repo/README.md",
            "git/site.git/HEAD",
            "events.ndjson",
            "snapshot.json",
            "__proto__",
            "constructor",
            "' OR 1=1 --",
            "\u{feff}page_plan.json",
            "page_plan.json\u{200b}",
        ]
        .map(str::to_owned),
    );
    // What is given is repeated, so that the home itself must not be in it.
    let root = place.root().display();
    names.push(format!("{root}/canary.json"));
    names.push(format!("file://{root}/canary.json"));
    names.push(format!("{root}/./home/canary.json"));
    names.push(format!("{run_id}/canary.md"));
    names.push(format!("../{run_id}/page_plan.json"));
    names.push("n".repeat(1 << 20));
    assert!(names.len() >= 60, "{}", names.len());
    for name in &names {
        let tool_reply = artifact(&mut client, &run_id, name);
        assert_harmless(&tool_reply, name);
        let details = tool_reply.refused("INVALID_INPUT");
        assert_eq!(
            details["reason"], "unknown_artifact",
            "{name:.60?}: {:#}",
            tool_reply.0
        );
        assert!(
            details["available"].as_array().unwrap().len() > 10,
            "{details}"
        );
        assert_eq!(tool_reply.0["run_id"], run_id);
    }
    println!("{} artifact names", names.len());
    // What the index has is still what the index has.
    client.artifact_json(&run_id, "page_plan.json");
}

#[test]
fn run_ids_reach_runs_alone() {
    let place = LaunchPlace::clean();
    let mut client = place.serve();
    let run_id = client.started(&place.config(), "READY_FOR_PR");
    plant(&place, &run_id);
    let mut ids: Vec<String> = Vec::new();
    for target in [run_id.as_str(), "r_canary"] {
        ids.extend(tricks(target));
    }
    let tail = &run_id[run_id.len() - 26..];
    ids.extend([
        run_id.to_uppercase(),
        format!("{run_id}/"),
        format!("{run_id}/../{run_id}"),
        format!("{run_id}\u{0}"),
        format!("{run_id}\n"),
        format!("\n{run_id}"),
        run_id[..48].to_owned(),
        format!("{run_id}a"),
        run_id.replace('T', "t"),
        run_id.replace('-', "\u{2010}"),
        run_id.replace("r_", "run_"),
        run_id.replace("r_", "R_"),
        format!("r_9999-99-99T99-99-99Z_{tail}"),
        format!("r_2026-01-21T10-00-00Z_{}", "1".repeat(26)),
        format!("r_2026-01-21T10-00-00Z_{}", "ａ".repeat(26)),
        format!("r_٢٠٢٦-01-21T10-00-00Z_{tail}"),
        ".".to_owned(),
        "..".to_owned(),
        "/".to_owned(),
        "*".to_owned(),
        "%".to_owned(),
        "_".to_owned(),
        "latest".to_owned(),
        "' OR 1=1 --".to_owned(),
        "r_".repeat(1 << 19),
    ]);
    assert!(ids.len() >= 60, "{}", ids.len());
    for id in &ids {
        for tool in ["launch_get_status", "launch_cancel", "launch_open_pr"] {
            let tool_reply = client.about(tool, id);
            assert_harmless(&tool_reply, id);
            tool_reply.refused("RUN_NOT_FOUND");
            assert!(tool_reply.0.get("run_id").is_none(), "{:#}", tool_reply.0);
        }
        let tool_reply = artifact(&mut client, id, "page_plan.json");
        assert_harmless(&tool_reply, id);
        tool_reply.refused("RUN_NOT_FOUND");
    }
    println!("{} run ids", ids.len());
    assert_eq!(client.status(&run_id)["state"], "READY_FOR_PR", "untouched");
}
