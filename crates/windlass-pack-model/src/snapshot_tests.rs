//! Tests of snapshots.

use std::path::Path;

use super::*;

const SHA: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

fn v1() -> String {
    format!(
        r#"{{
  "kind": "deploy",
  "id": "1767323045678901234",
  "created_at": "2026-01-02T03:04:05.678901234Z",
  "targets": ["codex", "claude_code"],
  "managed_files": [{{"target": "codex", "path": "/h/.codex/AGENTS.md", "sha256": "{SHA}"}}],
  "changes": [
    {{"target": "codex", "op": "update", "path": "/h/.codex/AGENTS.md",
     "backup_path": "/a/state/snapshots/1/backup/codex/0123456789abcdef",
     "before_sha256": "{SHA}", "after_sha256": "{SHA}"}},
    {{"target": "codex", "op": "rollback_delete", "path": "/h/x"}}
  ],
  "lockfile_sha256": null,
  "backup_root": "/a/state/snapshots/1/backup"
}}
"#
    )
}

#[test]
fn v1_snapshots_are_read() {
    let snapshot = Snapshot::parse(&v1()).unwrap();
    assert_eq!(snapshot.kind, SnapshotKind::Deploy);
    assert_eq!(snapshot.targets, [Target::Codex, Target::ClaudeCode]);
    assert_eq!(snapshot.changes[0].op, SnapshotOp::Update);
    assert_eq!(snapshot.changes[1].before_sha256, None);
    assert_eq!(snapshot.run_id, None);
    let oldest = v1().replace("\"kind\": \"deploy\",", "");
    assert_eq!(
        Snapshot::parse(&oldest).unwrap().kind,
        SnapshotKind::Deploy,
        "the oldest do not say"
    );
}

#[test]
fn ours_are_compact_keep_the_v1_shape_and_come_back() {
    let mut snapshot = Snapshot::parse(&v1()).unwrap();
    let v1_text = snapshot.render().unwrap();
    insta::assert_snapshot!(v1_text, @r#"{"kind":"deploy","id":"1767323045678901234","created_at":"2026-01-02T03:04:05.678901234Z","targets":["codex","claude_code"],"managed_files":[{"target":"codex","path":"/h/.codex/AGENTS.md","sha256":"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"}],"changes":[{"target":"codex","op":"update","path":"/h/.codex/AGENTS.md","backup_path":"/a/state/snapshots/1/backup/codex/0123456789abcdef","before_sha256":"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824","after_sha256":"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"},{"target":"codex","op":"rollback_delete","path":"/h/x"}],"lockfile_sha256":null,"backup_root":"/a/state/snapshots/1/backup"}"#);
    snapshot.kind = SnapshotKind::Uninstall;
    snapshot.repo = Some("/r".into());
    snapshot.project_id = Some("0123456789abcdef".into());
    snapshot.profile = Some("default".into());
    snapshot.run_id = Some("run".into());
    snapshot.rolled_back_to = Some("1".into());
    snapshot.roots.push(SnapshotRoot {
        target: Target::Codex,
        root: "/h/.codex".into(),
    });
    snapshot.manifests = snapshot.managed_files.clone();
    snapshot.managed_files[0].mode = Some(FileMode::EXECUTABLE);
    snapshot.changes[0].before_mode = Some(FileMode::new(0o600));
    let text = snapshot.render().unwrap();
    assert!(text.contains(r#""mode":"0755""#) && text.contains(r#""before_mode":"0600""#));
    assert_eq!(text.lines().count(), 1);
    assert_eq!(Snapshot::parse(&text).unwrap(), snapshot);
}

#[test]
fn must_12_unreadable_snapshots_are_an_error_to_skip() {
    for (text, part) in [
        ("{".to_owned(), "not a snapshot"),
        (v1().replace("\"deploy\"", "\"party\""), "not a snapshot"),
        (v1().replace(SHA, "abc"), "not a snapshot"),
        (
            v1().replace("1767323045678901234\"", "../../x\""),
            "\"../../x\"",
        ),
    ] {
        let error = Snapshot::parse(&text).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn ids_are_ordered_as_numbers() {
    let mut ids = vec!["100", "9", "1767323045678901234", "010", "99"];
    ids.sort_by(|left, right| compare_ids(left, right));
    assert_eq!(ids, ["9", "010", "99", "100", "1767323045678901234"]);
    for (id, expected) in [("17", true), ("", false), ("1a", false), ("../1", false)] {
        assert_eq!(is_snapshot_id(id), expected, "{id}");
    }
}

#[test]
fn the_index_stays_within_400_bytes_per_file() {
    let mut snapshot = Snapshot::parse(&v1()).unwrap();
    snapshot.changes.clear();
    snapshot.managed_files.clear();
    let mut managed = Vec::new();
    for number in 0..3000 {
        let path = format!("skill-{:04}/references/part-{number:05}.md", number / 4);
        snapshot.managed_files.push(SnapshotFile {
            target: Target::ClaudeCode,
            path: Path::new("/home/someone/.claude/skills").join(&path),
            sha256: Digest::of(path.as_bytes()),
            mode: None,
        });
        managed.push(crate::ManagedFile {
            sha256: Digest::of(path.as_bytes()),
            path: crate::RelPath::new(path).unwrap(),
            module_ids: vec![format!("skill:skill-{:04}", number / 4)],
            mode: None,
        });
    }
    let manifest = crate::ManagedManifest {
        generated_at: snapshot.created_at.clone(),
        tool: Target::ClaudeCode,
        snapshot_id: Some(snapshot.id.clone()),
        managed_files: managed,
        managed_keys: Vec::new(),
    };
    let bytes = snapshot.render().unwrap().len() + manifest.render().len();
    assert!(bytes / 3000 <= 400, "{} bytes per file", bytes / 3000);
}

#[cfg(unix)]
#[test]
fn a_path_that_is_not_utf8_is_refused_not_mangled() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};
    let mut snapshot = Snapshot::parse(&v1()).unwrap();
    snapshot.managed_files[0].path = Path::new(OsStr::from_bytes(b"/h/\xff")).into();
    let problem = snapshot.render().unwrap_err();
    assert_eq!(problem.code().name, "E_IO_INVALID_PATH");
}

#[test]
fn must_4_paths_that_could_lead_anywhere_make_a_snapshot_unusable() {
    for path in ["/r/../etc/x", "r/x", "../x", "", "/r/x\u{0}"] {
        for key in ["managed_files", "manifests", "changes", "roots"] {
            let mut snapshot = serde_json::json!({
                "id": "17", "created_at": "", "targets": ["codex"], "changes": [],
                "lockfile_sha256": null, "backup_root": "/b",
            });
            let sha256 = windlass_types::Digest::of(b"x");
            snapshot[key] = serde_json::json!([{
                "target": "codex", "path": path, "root": path, "sha256": sha256, "op": "create",
            }]);
            let read = Snapshot::parse(&snapshot.to_string());
            assert!(
                matches!(&read, Err(SnapshotError::Path(found)) if found.to_str() == Some(path)),
                "{key} {path:?}: {read:?}"
            );
        }
    }
}
