//! The formats of 0.9.1 as this program writes them: manifest, snapshot, envelope, plan hash.

use std::path::Path;

use regex::Regex;
use serde_json::{Value, json};

use super::place::{MODULES, PackPlace, json_file, sha};
use crate::suite::support::directory::fill;

/// Text with what differs from run to run replaced by its name.
fn named(place: &PackPlace, text: &str) -> String {
    let mut text = place.relative(text);
    for (pattern, name) in [
        (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z\b", "TIME-9"),
        (r"\b\d{19}\b", "ID"),
        (r"\brun_[0-9a-f]{32}\b", "RUN"),
        (r#""project_id": "[0-9a-f]{16}""#, r#""project_id": "PROJECT""#),
        (r#""version": "\d+\.\d+\.\d+""#, r#""version": "VERSION""#),
    ] {
        let pattern = Regex::new(pattern).unwrap();
        text = pattern.replace_all(&text, name).into_owned();
    }
    text
}

fn module(path: &str) -> &'static str {
    let found = MODULES.iter().find(|(name, _)| *name == path);
    found.unwrap().1
}

#[test]
fn the_manifest_of_a_root() {
    let place = PackPlace::new();
    place.serve().deploy();
    let manifest = |root: &Path, target: &str| {
        let path = root.join(format!(".agentpack.manifest.{target}.json"));
        named(&place, &fs_err::read_to_string(path).unwrap())
    };
    let skills = place.project().join(".codex/skills");
    insta::assert_snapshot!(manifest(&skills, "codex"), @"");
    // Also where nothing is wanted: the list is empty.
    let prompts = place.user().join(".codex/prompts");
    if prompts.exists() {
        insta::assert_snapshot!(manifest(&prompts, "codex"), @"");
    }
}

#[test]
fn a_snapshot() {
    let place = PackPlace::new();
    place.edit_manifest("  claude_code:\n    mode: files\n    scope: both\n    options: {}\n", "");
    place.edit_manifest("scope: both", "scope: project");
    place.edit_manifest("    options: {}\n", "    options:\n      write_repo_skills: false\n");
    let lockfile = r#"{"version":1,"generated_at":"2025-01-01T00:00:00Z","modules":[]}"#;
    place.repo_file("agentpack.lock.json", lockfile);
    fill(&place.project(), &[("AGENTS.md", "mine\n")]);
    let mut client = place.serve();
    let token = client.token(json!({}));
    let adopt = json!({ "yes": true, "adopt": true, "confirm_token": token });
    client.call("deploy_apply", adopt).data();
    let snapshots = place.snapshots();
    let manifest = place.project().join(".agentpack.manifest.codex.json");
    let manifest = sha(fs_err::read(manifest).unwrap());
    let shown = format!("{:#}", snapshots[0]).replace(&manifest, "MANIFEST");
    insta::assert_snapshot!(named(&place, &shown), @"");
    // Version 0.9.1 goes back by reading this path.
    let backup = snapshots[0]["changes"][0]["backup_path"].as_str().unwrap();
    assert_eq!(fs_err::read_to_string(backup).unwrap(), "mine\n");
    assert_eq!(snapshots[0]["lockfile_sha256"], sha(lockfile));
    let id = snapshots[0]["id"].as_str().unwrap();
    let own = place.pack_home().join("state/snapshots").join(id);
    assert!(!own.join("state").exists(), "no tree of contents");
}

/// The keys 0.9.1 insists on, in every event this program records for its eyes.
#[test]
fn every_event_has_the_v1_keys() {
    let place = PackPlace::new();
    let mut client = place.serve();
    let first = client.deploy();
    place.repo_file("modules/base/AGENTS.md", "# Second\n");
    client.deploy();
    client.call("rollback", json!({ "to": first, "yes": true })).data();
    let snapshots = place.snapshots();
    assert_eq!(snapshots.len(), 3);
    for snapshot in &snapshots {
        for key in ["kind", "id", "created_at", "backup_root"] {
            assert!(snapshot[key].is_string(), "{key}: {snapshot}");
        }
        for key in ["targets", "managed_files", "changes"] {
            assert!(snapshot[key].is_array(), "{key}: {snapshot}");
        }
        assert!(snapshot.as_object().unwrap().contains_key("lockfile_sha256"));
        for change in snapshot["changes"].as_array().unwrap() {
            let path = Path::new(change["path"].as_str().unwrap());
            assert!(path.is_absolute(), "{change}");
            if let Some(before) = change.get("before_sha256") {
                let backup = Path::new(change["backup_path"].as_str().unwrap());
                assert!(backup.is_absolute(), "{change}");
                assert_eq!(json!(sha(fs_err::read(backup).unwrap())), *before);
            }
        }
    }
    let kinds: Vec<&Value> = snapshots.iter().map(|snapshot| &snapshot["kind"]).collect();
    assert_eq!(kinds, ["deploy", "deploy", "rollback"]);
    assert_eq!(snapshots[2]["rolled_back_to"], first);
    let ops: Vec<&str> = snapshots[2]["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["op"].as_str().unwrap())
        .collect();
    assert!(ops.iter().all(|op| op.starts_with("rollback_")), "{ops:?}");
}

/// D4: only roots whose list changed get a new manifest.
#[test]
fn a_manifest_whose_list_did_not_change_stays_as_it_is() {
    let place = PackPlace::new();
    let mut client = place.serve();
    client.deploy();
    let commands = place.project().join(".claude/commands/.agentpack.manifest.claude_code.json");
    let before = super::place::picture(&commands);
    place.repo_file("modules/base/AGENTS.md", "# Second\n");
    client.deploy();
    assert_eq!(super::place::picture(&commands), before);
}

fn text_of(place: &PackPlace, tool: &str, arguments: &Value) -> String {
    let mut client = place.serve();
    let params = json!({ "name": tool, "arguments": arguments });
    let answer = client.request("tools/call", &params);
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    named(place, text)
}

#[test]
fn the_envelope_of_a_success() {
    let place = PackPlace::new();
    insta::assert_snapshot!(text_of(&place, "plan", &json!({ "target": "claude_code" })), @"");
}

#[test]
fn the_envelope_of_a_failure() {
    let place = PackPlace::bare();
    insta::assert_snapshot!(text_of(&place, "plan", &json!({})), @"");
}

#[test]
fn drift_as_status_shows_it() {
    let place = PackPlace::new();
    let mut client = place.serve();
    client.deploy();
    fs_err::write(place.project().join("AGENTS.md"), "edited\n").unwrap();
    fs_err::remove_file(place.user().join(".codex/AGENTS.md")).unwrap();
    fill(&place.user(), &[(".claude/commands/extra.md", "extra\n")]);
    let told = client.call("status", json!({}));
    let mut data = told.data().clone();
    // Shown with the operator assets elsewhere.
    for key in ["summary_by_root", "next_actions", "next_actions_detailed"] {
        data.as_object_mut().unwrap().remove(key);
    }
    insta::assert_snapshot!(named(&place, &format!("{data:#}")), @"");
}

/// The plan hash against the formula, built here from nothing but known contents.
#[test]
fn the_plan_hash_of_no_arguments_is_that_of_the_formula() {
    let place = PackPlace::new();
    let mut client = place.serve();
    client.deploy();
    // One of each: an update, an adoption, a deletion, a creation.
    place.repo_file("modules/base/AGENTS.md", "# Second\n");
    fs_err::rename(
        place.repo().join("modules/demo/run.sh"),
        place.repo().join("modules/demo/go.sh"),
    )
    .unwrap();
    fill(&place.project(), &[(".codex/skills/demo/go.sh", "mine\n")]);
    let planned = client.call("deploy", json!({}));
    let (user, project) = (place.user(), place.project());
    let quoted = |hash: Option<&str>| {
        hash.map_or("null".to_owned(), |text| format!("\"{}\"", sha(text)))
    };
    let (base, second) = (module("modules/base/AGENTS.md"), "# Second\n");
    let script = module("modules/demo/run.sh");
    let changes: String = [
        (project.join(".codex/skills/demo/go.sh"), "update", Some("mine\n"), Some(script),
            "would overwrite unmanaged existing file", "adopt_update"),
        (project.join(".codex/skills/demo/run.sh"), "delete", Some(script), None,
            "no longer managed", ""),
        (project.join("AGENTS.md"), "update", Some(base), Some(second),
            "content differs", "managed_update"),
        (user.join(".codex/AGENTS.md"), "update", Some(base), Some(second),
            "content differs", "managed_update"),
        (user.join(".codex/skills/demo/go.sh"), "create", None, Some(script),
            "file missing", ""),
        (user.join(".codex/skills/demo/run.sh"), "delete", Some(script), None,
            "no longer managed", ""),
    ]
    .into_iter()
    .map(|(path, op, before, after, reason, kind)| {
        let path = path.display();
        let kind = match kind {
            "" => String::new(),
            kind => format!(r#","update_kind":"{kind}""#),
        };
        format!(
            r#"{{"after_sha256":{},"before_sha256":{},"op":"{op}","path":"{path}","path_posix":"{path}","reason":"{reason}","target":"codex"{kind}}}"#,
            quoted(after),
            quoted(before),
        )
    })
    .collect::<Vec<_>>()
    .join(",");
    let text = format!(
        r#"{{"binding":{{"machine":null,"profile":null,"repo":null,"target":null}},"data":{{"applied":false,"changes":[{changes}],"profile":"default","summary":{{"create":1,"delete":2,"update":3}},"targets":["claude_code","codex"]}}}}"#
    );
    assert_eq!(planned.data()["confirm_plan_hash"], sha(text), "{:#}", planned.0);
}

/// A manifest that 0.9.1 wrote, with keys nobody knows, is read; its list decides.
#[test]
fn unknown_keys_of_a_manifest_are_ignored() {
    let place = PackPlace::new();
    let mut client = place.serve();
    client.deploy();
    let path = place.project().join(".agentpack.manifest.codex.json");
    let mut manifest = json_file(&path);
    manifest["future"] = json!({ "a": [1] });
    manifest["managed_files"][0]["future"] = json!(true);
    fs_err::write(&path, manifest.to_string()).unwrap();
    let told = client.call("status", json!({}));
    let clean = json!({ "modified": 0, "missing": 0, "extra": 0 });
    assert_eq!(told.data()["summary"], clean, "{:#}", told.0);
}
