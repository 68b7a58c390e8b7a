//! Tests of the managed manifest.

use super::*;

const SHA: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

fn read(text: &str) -> ManagedRead {
    read_managed(
        text,
        Target::Codex,
        Path::new("/r/.agentpack.manifest.codex.json"),
    )
}

fn v1() -> String {
    format!(
        r#"{{
  "schema_version": 1,
  "generated_at": "2026-01-02T03:04:05.678901234Z",
  "tool": "codex",
  "snapshot_id": "1767323045678901234",
  "managed_files": [
    {{
      "path": "AGENTS.md",
      "sha256": "{SHA}",
      "module_ids": [
        "instructions:base"
      ]
    }},
    {{
      "path": "skills/a/run.sh",
      "sha256": "{SHA}"
    }}
  ]
}}
"#
    )
}

#[test]
fn a_v1_manifest_is_written_back_byte_for_byte() {
    let ManagedRead { manifest, warnings } = read(&v1());
    assert_eq!(warnings, Vec::<String>::new());
    assert_eq!(manifest.unwrap().render(), v1());
}

#[test]
fn modes_and_keys_are_additive() {
    let mut manifest = read(&v1()).manifest.unwrap();
    manifest.managed_files[0].mode = Some(FileMode::REGULAR);
    manifest.managed_files[1].mode = Some(FileMode::EXECUTABLE);
    manifest.managed_keys.push(ManagedKey {
        path: RelPath::new("config.toml").unwrap(),
        pointer: "/mcp_servers/x".into(),
        sha256: SHA.parse().unwrap(),
        module_ids: vec!["mcp:x".into()],
        value: Some(serde_json::json!({"command": "x"})),
        created: true,
    });
    let text = manifest.render();
    assert_eq!(text.matches("\"mode\"").count(), 1, "only executables");
    let again = read(&text).manifest.unwrap();
    assert!(again.managed_files[1].is_executable());
    assert!(!again.managed_files[0].is_executable());
    assert_eq!(again.managed_keys, manifest.managed_keys);
    assert!(
        !text.contains("\"path\": \"config.toml\",\n      \"sha256\""),
        "a shared file in managed_files would be deleted by agentpack"
    );
}

#[test]
fn invalid_files_count_as_missing() {
    for (text, part) in [
        ("{".to_owned(), "cannot be read"),
        ("[]".to_owned(), "cannot be read"),
        ("{}".to_owned(), "unsupported schema_version (none)"),
        (
            v1().replace("\"schema_version\": 1", "\"schema_version\": 7"),
            "unsupported schema_version 7",
        ),
        (
            "{\"schema_version\": 3, \"new\": []}".to_owned(),
            "unsupported schema_version 3",
        ),
        (v1().replace("\"codex\"", "\"zed\""), "belongs to \"zed\""),
    ] {
        let read = read(&text);
        assert_eq!(read.manifest, None, "{text}");
        assert_eq!(read.warnings.len(), 1);
        assert!(read.warnings[0].contains(part), "{:?}", read.warnings);
        assert!(read.warnings[0].contains("/r/.agentpack.manifest.codex.json"));
    }
}

#[test]
fn must_4_entries_that_leave_the_root_are_skipped() {
    let files: Vec<String> = ["/etc/passwd", "../x", "a/../../b", "", "a\\\\b", "ok.md"]
        .iter()
        .map(|path| format!(r#"{{"path": "{path}", "sha256": "{SHA}"}}"#))
        .chain([
            r#"{"path": "bad", "sha256": "xyz"}"#.to_owned(),
            format!(r#"{{"path": "mode", "sha256": "{SHA}", "mode": "rwx"}}"#),
        ])
        .collect();
    let text = format!(
        r#"{{"schema_version": 1, "generated_at": "t", "tool": "codex", "later": 1,
            "managed_files": [{}],
            "managed_keys": [{{"path": "../y", "pointer": "/a", "sha256": "{SHA}"}}]}}"#,
        files.join(",")
    );
    let ManagedRead { manifest, warnings } = read(&text);
    let manifest = manifest.unwrap();
    assert_eq!(manifest.managed_files.len(), 1);
    assert_eq!(manifest.managed_files[0].path.as_str(), "ok.md");
    assert_eq!(manifest.managed_keys, []);
    assert_eq!(warnings.len(), 8);
    assert!(warnings[0].contains("\"/etc/passwd\""), "{}", warnings[0]);
}

#[test]
fn the_old_name_is_read_with_a_warning() {
    let read = read_managed(
        &v1(),
        Target::Codex,
        Path::new("/r/.agentpack.manifest.json"),
    );
    assert!(read.manifest.is_some());
    assert!(read.warnings[0].contains("old name"));
    for (name, expected) in [
        (".agentpack.manifest.json", true),
        (".agentpack.manifest.codex.json", true),
        (".agentpack.manifest.other.json", true),
        (".agentpack.manifest.codex.json.tmp", false),
        ("agentpack.manifest.json", false),
    ] {
        assert_eq!(is_manifest_name(name), expected, "{name}");
    }
    assert_eq!(
        manifest_name(Target::ClaudeCode),
        ".agentpack.manifest.claude_code.json"
    );
}

#[test]
fn time_and_snapshot_are_ignored() {
    let old = read(&v1()).manifest.unwrap();
    let mut new = old.clone();
    new.generated_at = "later".into();
    new.snapshot_id = None;
    assert!(old.same_content(&new));
    new.managed_files.pop();
    assert!(!old.same_content(&new));
}
