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
        (
            r#""project_id": "[0-9a-f]{16}""#,
            r#""project_id": "PROJECT""#,
        ),
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
    insta::assert_snapshot!(manifest(&skills, "codex"), @r#"
    {
      "schema_version": 1,
      "generated_at": "TIME-9",
      "tool": "codex",
      "snapshot_id": "ID",
      "managed_files": [
        {
          "path": "demo/SKILL.md",
          "sha256": "982b63dc04d46edaaa4de8f7cbf48daae59ccfc875558e3fb13812bd7b26049a",
          "module_ids": [
            "skill:demo"
          ]
        },
        {
          "path": "demo/run.sh",
          "sha256": "514e1a509a5d2f74c51efaf30a234b8bde391ac08a76ebff51658656465a61bc",
          "module_ids": [
            "skill:demo"
          ]
        }
      ]
    }
    "#);
    // A root where nothing is wanted any more keeps one, with an empty list.
    place.edit_manifest("include_tags: [base]", "include_tags: [none]");
    place.serve().deploy();
    insta::assert_snapshot!(manifest(&skills, "codex"), @r#"
    {
      "schema_version": 1,
      "generated_at": "TIME-9",
      "tool": "codex",
      "snapshot_id": "ID",
      "managed_files": []
    }
    "#);
}

#[test]
fn a_snapshot() {
    let place = PackPlace::new();
    place.edit_manifest(
        "  claude_code:\n    mode: files\n    scope: both\n    options: {}\n",
        "",
    );
    place.edit_manifest("scope: both", "scope: project");
    place.edit_manifest(
        "    options: {}\n",
        "    options:\n      write_repo_skills: false\n",
    );
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
    insta::assert_snapshot!(named(&place, &shown), @r#"
    {
      "backup_root": "ROOT/user/.agentpack/state/blobs/sha256",
      "changes": [
        {
          "adopted": true,
          "after_sha256": "a35e972177595b0735e0231799361624bdff74ee9393efed07c65c8f9cad31f7",
          "backup_path": "ROOT/user/.agentpack/state/blobs/sha256/fc/bc800db3f1867000b852f1ce0044b8f1584f76ade1ed6e65189824f95c3cda",
          "before_mode": "0644",
          "before_sha256": "fcbc800db3f1867000b852f1ce0044b8f1584f76ade1ed6e65189824f95c3cda",
          "op": "update",
          "path": "ROOT/project/AGENTS.md",
          "target": "codex"
        },
        {
          "after_sha256": "MANIFEST",
          "op": "create",
          "path": "ROOT/project/.agentpack.manifest.codex.json",
          "target": "codex"
        }
      ],
      "created_at": "TIME-9",
      "id": "ID",
      "kind": "deploy",
      "lockfile_sha256": "973bbcd5e50c538364f536cea3753634f7013d32f1f2472494da773b7b8cff41",
      "managed_files": [
        {
          "path": "ROOT/project/AGENTS.md",
          "sha256": "a35e972177595b0735e0231799361624bdff74ee9393efed07c65c8f9cad31f7",
          "target": "codex"
        }
      ],
      "manifests": [
        {
          "path": "ROOT/project/.agentpack.manifest.codex.json",
          "sha256": "MANIFEST",
          "target": "codex"
        }
      ],
      "profile": "default",
      "project_id": "PROJECT",
      "repo": "ROOT/user/.agentpack/repo",
      "roots": [
        {
          "root": "ROOT/project",
          "target": "codex"
        }
      ],
      "run_id": "RUN",
      "targets": [
        "codex"
      ]
    }
    "#);
    // Version 0.9.1 goes back by reading this path.
    let backup = snapshots[0]["changes"][0]["backup_path"].as_str().unwrap();
    assert_eq!(fs_err::read_to_string(backup).unwrap(), "mine\n");
    assert_eq!(snapshots[0]["lockfile_sha256"], sha(lockfile));
    let id = snapshots[0]["id"].as_str().unwrap();
    let own = place.pack_home().join("state/snapshots").join(id);
    assert!(!own.join("state").exists(), "no tree of contents");
}

#[test]
fn the_lockfile() {
    let place = PackPlace::new();
    place.say(&["pack", "lock", "--yes", "--json"]).worked();
    let path = place.repo().join("agentpack.lock.json");
    let text = fs_err::read_to_string(&path).unwrap();
    insta::assert_snapshot!(named(&place, &text), @r#"
    {
      "version": 1,
      "generated_at": "TIME-9",
      "modules": [
        {
          "id": "command:greet",
          "type": "command",
          "resolved_source": {
            "local_path": {
              "path": "modules/greet.md"
            },
            "git": null
          },
          "resolved_version": "local",
          "sha256": "40b477869aaa67b6d20eac7808b230d11bef91f171fe06740d66ca6d653b2622",
          "file_manifest": [
            {
              "path": "greet.md",
              "sha256": "66995de00de5550d85f5203750bb42d46fdda48bedad640bff2f7e17247a28e2",
              "bytes": 39
            }
          ]
        },
        {
          "id": "instructions:base",
          "type": "instructions",
          "resolved_source": {
            "local_path": {
              "path": "modules/base"
            },
            "git": null
          },
          "resolved_version": "local",
          "sha256": "da8fac143899443e0811d9ee186bd787b0f17e88df28a1da16216fdfab55b299",
          "file_manifest": [
            {
              "path": "AGENTS.md",
              "sha256": "a35e972177595b0735e0231799361624bdff74ee9393efed07c65c8f9cad31f7",
              "bytes": 7
            }
          ]
        },
        {
          "id": "skill:demo",
          "type": "skill",
          "resolved_source": {
            "local_path": {
              "path": "modules/demo"
            },
            "git": null
          },
          "resolved_version": "local",
          "sha256": "a9ba45dd93ddab950373b8af3094f7a8e73e80c9656fb3f33ec9b04ed3c79d5f",
          "file_manifest": [
            {
              "path": "SKILL.md",
              "sha256": "982b63dc04d46edaaa4de8f7cbf48daae59ccfc875558e3fb13812bd7b26049a",
              "bytes": 44
            },
            {
              "path": "run.sh",
              "sha256": "514e1a509a5d2f74c51efaf30a234b8bde391ac08a76ebff51658656465a61bc",
              "bytes": 10
            }
          ]
        }
      ]
    }
    "#);
    // The module's hash by its formula: path, digest and size of every file, in path order.
    let lines: String = ["SKILL.md", "run.sh"]
        .iter()
        .map(|name| {
            let text = module(&format!("modules/demo/{name}"));
            format!("{name}\n{}\n{}\n", sha(text), text.len())
        })
        .collect();
    assert_eq!(json_file(&path)["modules"][2]["sha256"], sha(lines));
    // must 23: nothing changed, not a byte.
    place.say(&["pack", "lock", "--yes", "--json"]).worked();
    assert_eq!(fs_err::read_to_string(&path).unwrap(), text);
    place.serve().call("plan", json!({})).data();
}

/// The keys 0.9.1 insists on, in every event this program records for its eyes.
#[test]
fn every_event_has_the_v1_keys() {
    let place = PackPlace::new();
    let mut client = place.serve();
    let first = client.deploy();
    place.repo_file("modules/base/AGENTS.md", "# Second\n");
    client.deploy();
    client
        .call("rollback", json!({ "to": first, "yes": true }))
        .data();
    let snapshots = place.snapshots();
    assert_eq!(snapshots.len(), 3);
    for snapshot in &snapshots {
        for key in ["kind", "id", "created_at", "backup_root"] {
            assert!(snapshot[key].is_string(), "{key}: {snapshot}");
        }
        for key in ["targets", "managed_files", "changes"] {
            assert!(snapshot[key].is_array(), "{key}: {snapshot}");
        }
        assert!(
            snapshot
                .as_object()
                .unwrap()
                .contains_key("lockfile_sha256")
        );
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
    let commands = place
        .project()
        .join(".claude/commands/.agentpack.manifest.claude_code.json");
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
    insta::assert_snapshot!(text_of(&place, "plan", &json!({ "target": "claude_code" })), @r#"
    {
      "schema_version": 1,
      "ok": true,
      "command": "plan",
      "command_id": "plan",
      "command_path": [
        "plan"
      ],
      "version": "VERSION",
      "data": {
        "changes": [
          {
            "after_sha256": "66995de00de5550d85f5203750bb42d46fdda48bedad640bff2f7e17247a28e2",
            "before_sha256": null,
            "op": "create",
            "path": "ROOT/project/.claude/commands/greet.md",
            "path_posix": "ROOT/project/.claude/commands/greet.md",
            "reason": "file missing",
            "target": "claude_code"
          },
          {
            "after_sha256": "66995de00de5550d85f5203750bb42d46fdda48bedad640bff2f7e17247a28e2",
            "before_sha256": null,
            "op": "create",
            "path": "ROOT/user/.claude/commands/greet.md",
            "path_posix": "ROOT/user/.claude/commands/greet.md",
            "reason": "file missing",
            "target": "claude_code"
          }
        ],
        "profile": "default",
        "summary": {
          "create": 2,
          "delete": 0,
          "update": 0
        },
        "targets": [
          "claude_code"
        ]
      },
      "warnings": [],
      "errors": []
    }
    "#);
}

#[test]
fn the_envelope_of_a_failure() {
    let place = PackPlace::bare();
    insta::assert_snapshot!(text_of(&place, "plan", &json!({})), @r#"
    {
      "schema_version": 1,
      "ok": false,
      "command": "plan",
      "command_id": "plan",
      "command_path": [
        "plan"
      ],
      "version": "VERSION",
      "data": {},
      "warnings": [],
      "errors": [
        {
          "code": "E_CONFIG_MISSING",
          "details": {
            "hint": "create it with init, or name the repository with --repo",
            "next_actions": [
              "run_init",
              "retry_with_repo",
              "retry_command"
            ],
            "path": "ROOT/user/.agentpack/repo/agentpack.yaml",
            "path_posix": "ROOT/user/.agentpack/repo/agentpack.yaml",
            "reason_code": "config_missing"
          },
          "message": "there is no ROOT/user/.agentpack/repo/agentpack.yaml; create it with init, or name the repository with --repo"
        }
      ]
    }
    "#);
}

#[test]
fn drift_as_status_shows_it() {
    let place = PackPlace::new();
    let mut client = place.serve();
    client.deploy();
    fs_err::write(place.project().join("AGENTS.md"), "edited\n").unwrap();
    fs_err::remove_file(place.user().join(".codex/AGENTS.md")).unwrap();
    fill(&place.user(), &[(".claude/commands/extra.md", "extra\n")]);
    let tool_reply = client.call("status", json!({}));
    let mut data = tool_reply.data().clone();
    // Shown with the operator assets elsewhere.
    for key in ["summary_by_root", "next_actions", "next_actions_detailed"] {
        data.as_object_mut().unwrap().remove(key);
    }
    insta::assert_snapshot!(named(&place, &format!("{data:#}")), @r#"
    {
      "drift": [
        {
          "actual": "sha256:65110ea3b8b62b0c09742c368bf1527f0978b06dff7a1371ef7b4c98e244d91a",
          "expected": null,
          "kind": "extra",
          "path": "ROOT/user/.claude/commands/extra.md",
          "path_posix": "ROOT/user/.claude/commands/extra.md",
          "root": "ROOT/user/.claude/commands",
          "root_posix": "ROOT/user/.claude/commands",
          "target": "claude_code"
        },
        {
          "actual": "sha256:68f01b289aedcf28e96fce1f9444365e83b9bfc7e1bf32df20f1f15966835316",
          "expected": "sha256:a35e972177595b0735e0231799361624bdff74ee9393efed07c65c8f9cad31f7",
          "kind": "modified",
          "path": "ROOT/project/AGENTS.md",
          "path_posix": "ROOT/project/AGENTS.md",
          "root": "ROOT/project",
          "root_posix": "ROOT/project",
          "target": "codex"
        },
        {
          "actual": null,
          "expected": "sha256:a35e972177595b0735e0231799361624bdff74ee9393efed07c65c8f9cad31f7",
          "kind": "missing",
          "path": "ROOT/user/.codex/AGENTS.md",
          "path_posix": "ROOT/user/.codex/AGENTS.md",
          "root": "ROOT/user/.codex",
          "root_posix": "ROOT/user/.codex",
          "target": "codex"
        }
      ],
      "profile": "default",
      "summary": {
        "extra": 1,
        "missing": 1,
        "modified": 1
      },
      "targets": [
        "claude_code",
        "codex"
      ]
    }
    "#);
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
    let quoted =
        |hash: Option<&str>| hash.map_or("null".to_owned(), |text| format!("\"{}\"", sha(text)));
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
    assert_eq!(
        planned.data()["confirm_plan_hash"],
        sha(text),
        "{:#}",
        planned.0
    );
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
    let tool_reply = client.call("status", json!({}));
    let clean = json!({ "modified": 0, "missing": 0, "extra": 0 });
    assert_eq!(tool_reply.data()["summary"], clean, "{:#}", tool_reply.0);
}
