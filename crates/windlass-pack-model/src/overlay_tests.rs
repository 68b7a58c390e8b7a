//! Tests of overlay metadata.

use super::*;

const SHA: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

#[test]
fn baselines_of_both_kinds_come_back_byte_for_byte() {
    let git = format!(
        r#"{{
  "version": 2,
  "created_at": "2026-01-02T03:04:05.678901234Z",
  "upstream_sha256": "{SHA}",
  "file_manifest": [
    {{
      "path": "SKILL.md",
      "sha256": "{SHA}",
      "bytes": 5
    }}
  ],
  "upstream": {{
    "kind": "git",
    "url": "https://host/o/r.git",
    "commit": "0123456789abcdef0123456789abcdef01234567",
    "subdir": "skills/demo"
  }}
}}
"#
    );
    let local = format!(
        r#"{{
  "version": 2,
  "created_at": "t",
  "upstream_sha256": "{SHA}",
  "file_manifest": [],
  "upstream": {{
    "kind": "local_path",
    "repo_rel_path": "modules/x",
    "repo_git_rev": "abc",
    "repo_dirty": false
  }}
}}
"#
    );
    let path = Path::new("/o/.agentpack/baseline.json");
    for text in [&git, &local] {
        assert_eq!(&Baseline::parse(text, path).unwrap().render(), text);
    }
    let baseline = Baseline::parse(&git, path).unwrap();
    assert!(baseline.file(&RelPath::new("SKILL.md").unwrap()).is_some());
    let first = local
        .replace("\"version\": 2", "\"version\": 1")
        .split("  \"upstream\":")
        .next()
        .map(|head| format!("{}}}", head.trim_end().trim_end_matches(',')))
        .unwrap();
    assert_eq!(Baseline::parse(&first, path).unwrap().upstream, None);
    for text in [
        "{".to_owned(),
        git.replace("SKILL.md", "../x"),
        git.replace("\"version\": 2", "\"version\": 3"),
        git.replace("0123456789abcdef0123456789abcdef01234567", "../../x"),
    ] {
        let problem = Baseline::parse(&text, path).unwrap_err();
        assert_eq!(problem.code().name, "E_CONFIG_INVALID", "{text}");
        assert_eq!(problem.details()["path"], "/o/.agentpack/baseline.json");
    }
}

#[test]
fn overlay_kinds_and_deletions_are_read() {
    let path = Path::new("/o/.agentpack/overlay.json");
    let parse = |text: &str| OverlayConfig::parse(text, path);
    assert_eq!(parse("{}").unwrap(), OverlayConfig::default());
    let patch = parse("{\"overlay_kind\": \"patch\"}").unwrap();
    assert_eq!(patch.overlay_kind, OverlayKind::Patch);
    assert_eq!(patch.render(), "{\n  \"overlay_kind\": \"patch\"\n}\n");
    let delete = parse("{\"delete\": [\"a/b.md\"]}").unwrap();
    assert_eq!(delete.delete[0].as_str(), "a/b.md");
    assert_eq!(parse(&delete.render()).unwrap(), delete);
    for text in [
        "{\"overlay_kind\": \"tree\"}",
        "{\"delete\": [\"../x\"]}",
        "[",
    ] {
        let problem = parse(text).unwrap_err();
        assert_eq!(problem.code().name, "E_CONFIG_INVALID", "{text}");
        assert!(problem.details().contains_key("hint"));
    }
}

#[test]
fn overlays_are_looked_up_where_they_may_be() {
    let dirs = |layer| overlay_dirs(layer, "skill:demo", "laptop", Some("0123456789abcdef"));
    assert_eq!(dirs(Layer::Upstream), Vec::<PathBuf>::new());
    assert_eq!(
        dirs(Layer::Global),
        [
            PathBuf::from("overlays/skill_demo--f2b4dd2c0d"),
            PathBuf::from("overlays/skill:demo")
        ]
    );
    assert_eq!(
        dirs(Layer::Machine)[0],
        PathBuf::from("overlays/machines/laptop/skill_demo--f2b4dd2c0d")
    );
    assert_eq!(
        dirs(Layer::Project)[0],
        PathBuf::from("projects/0123456789abcdef/overlays/skill_demo--f2b4dd2c0d")
    );
    assert_eq!(
        overlay_dirs(Layer::Project, "a", "m", None),
        Vec::<PathBuf>::new()
    );
}
