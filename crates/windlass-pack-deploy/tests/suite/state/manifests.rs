//! Managed manifests as they are found in a root.

use windlass_pack_deploy::state::{manifest_path, read_manifest};
use windlass_pack_model::Target;

use super::world::{World, digest, put};

fn text(tool: &str) -> String {
    format!(
        r#"{{"schema_version":1,"generated_at":"2026-01-01T00:00:00Z","tool":"{tool}","managed_files":[{{"path":"a.md","sha256":"{}"}}]}}"#,
        digest("a")
    )
}

#[test]
fn what_is_found_in_a_root() {
    let world = World::new();
    let root = world.codex();
    let found = || read_manifest(&root, Target::Codex).unwrap();
    assert_eq!(found(), Default::default());

    put(&root.join(".agentpack.manifest.json"), &text("codex"));
    let legacy = found();
    assert_eq!(legacy.manifest.unwrap().managed_files.len(), 1);
    assert_eq!(legacy.digest, None, "a write has to find nothing");
    assert!(legacy.legacy.is_some());
    assert_eq!(legacy.warnings.len(), 1);

    put(&manifest_path(&root, Target::Codex), &text("codex"));
    let current = found();
    assert_eq!(current.digest, Some(digest(&text("codex"))));
    assert_eq!((current.legacy, current.warnings.len()), (None, 0));

    for bad in ["{ half".to_owned(), text("cursor")] {
        put(&manifest_path(&root, Target::Codex), &bad);
        let ignored = found();
        assert_eq!(ignored.manifest, None, "{bad}");
        assert_eq!(ignored.digest, Some(digest(&bad)));
        assert_eq!(ignored.warnings.len(), 1, "{bad}");
    }
    fs_err::write(manifest_path(&root, Target::Codex), [0xff]).unwrap();
    assert_eq!(found().warnings.len(), 1);
}
