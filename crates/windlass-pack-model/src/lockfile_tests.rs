//! Tests of the lockfile.

use super::*;

const V1: &str = r#"{
  "version": 1,
  "generated_at": "2026-01-02T03:04:05.678901234Z",
  "modules": [
    {
      "id": "skill:demo",
      "type": "skill",
      "resolved_source": {
        "local_path": null,
        "git": {
          "url": "https://host/o/r.git",
          "commit": "0123456789abcdef0123456789abcdef01234567",
          "subdir": ""
        }
      },
      "resolved_version": "0123456789abcdef0123456789abcdef01234567",
      "sha256": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
      "file_manifest": [
        {
          "path": "SKILL.md",
          "sha256": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
          "bytes": 5
        }
      ]
    }
  ]
}
"#;

fn parse(text: &str) -> Result<Lockfile, Problem> {
    Lockfile::parse(text, Path::new("/r/agentpack.lock.json"))
}

#[test]
fn a_v1_lockfile_is_written_back_byte_for_byte() {
    let lockfile = parse(V1).unwrap();
    assert_eq!(lockfile.render(), V1);
    let module = lockfile.module("skill:demo").unwrap();
    assert_eq!(lockfile.by_id()["skill:demo"], module);
    let git = module.resolved_source.git.as_ref().unwrap();
    assert_eq!(git.source(true).reference, git.commit);
}

#[test]
fn must_23_an_unchanged_lockfile_is_recognised() {
    let old = parse(V1).unwrap();
    let again = Lockfile::new("2027-01-01T00:00:00Z", old.modules.clone());
    assert!(old.same_content(&again));
    let mut changed = again;
    changed.modules[0].resolved_version = "local".into();
    assert!(!old.same_content(&changed));
}

#[test]
fn must_28_a_corrupt_lockfile_has_its_own_error() {
    let commit = "0123456789abcdef0123456789abcdef01234567";
    for (text, code, reason) in [
        (
            "{".to_owned(),
            "E_LOCKFILE_INVALID",
            "lockfile_invalid_json",
        ),
        (String::new(), "E_LOCKFILE_INVALID", "lockfile_invalid_json"),
        (
            "{}".to_owned(),
            "E_LOCKFILE_INVALID",
            "lockfile_invalid_json",
        ),
        (
            V1.replace("SKILL.md", "../SKILL.md"),
            "E_LOCKFILE_INVALID",
            "lockfile_invalid_json",
        ),
        (
            V1.replace(commit, "../../../etc"),
            "E_LOCKFILE_INVALID",
            "lockfile_invalid_json",
        ),
        (
            V1.replace("\"subdir\": \"\"", "\"subdir\": \"../..\""),
            "E_LOCKFILE_INVALID",
            "lockfile_invalid_json",
        ),
        (
            V1.replace("\"version\": 1", "\"version\": 2"),
            "E_LOCKFILE_UNSUPPORTED_VERSION",
            "lockfile_unsupported_version",
        ),
        (
            "{\"version\": 9, \"else\": true}".to_owned(),
            "E_LOCKFILE_UNSUPPORTED_VERSION",
            "lockfile_unsupported_version",
        ),
    ] {
        let problem = parse(&text).unwrap_err();
        assert_eq!(problem.code().name, code, "{text}");
        assert_eq!(problem.details()["reason_code"], reason);
        assert_eq!(problem.details()["path"], "/r/agentpack.lock.json");
        if code == "E_LOCKFILE_INVALID" {
            assert!(problem.details().contains_key("error"));
        } else {
            assert_eq!(problem.details()["supported"], serde_json::json!([1]));
        }
    }
}

#[test]
fn the_module_hash_follows_the_formula() {
    let record = |path: &str, bytes: &[u8]| FileRecord {
        path: RelPath::new(path).unwrap(),
        sha256: Digest::of(bytes),
        bytes: bytes.len() as u64,
    };
    let files = [record("b/x", b"hello"), record("a", b"")];
    let text = format!(
        "a\n{}\n0\nb/x\n{}\n5\n",
        Digest::of(b""),
        Digest::of(b"hello")
    );
    assert_eq!(module_hash(&files), Digest::of(text.as_bytes()));
    assert_eq!(module_hash(&[]), Digest::of(b""));
    let mut tree = Tree::new();
    for (path, bytes) in [("b/x", b"hello".as_slice()), ("a", b"")] {
        let content = crate::Content::of(bytes, false, crate::Layer::Upstream);
        tree.insert(RelPath::new(path).unwrap(), content);
    }
    assert_eq!(module_hash(&file_records(&tree)), module_hash(&files));
}
