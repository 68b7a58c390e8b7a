//! What is frozen is thawed as it was.

use proptest::prelude::*;
use windlass_pack_deploy::state::HeldContents;
use windlass_pack_model::{
    FileMode, SnapshotChange, SnapshotFile, SnapshotKind, SnapshotOp::*, SnapshotRoot,
};

use super::*;

fn path() -> impl Strategy<Value = PathBuf> {
    "(/[a-zA-Z0-9ü ._\"\\\\-]{1,6}){1,3}"
        .prop_filter("leads up", |path| !path.split('/').any(|part| part == ".."))
        .prop_map(PathBuf::from)
}

fn digest() -> impl Strategy<Value = Digest> {
    any::<u64>().prop_map(|seed| Digest::of(&seed.to_be_bytes()))
}

fn target() -> impl Strategy<Value = Target> {
    proptest::sample::select(Target::ALL.to_vec())
}

fn op() -> impl Strategy<Value = SnapshotOp> {
    proptest::sample::select(vec![
        Create,
        Update,
        Delete,
        RollbackRestore,
        RollbackDelete,
    ])
}

fn bytes() -> impl Strategy<Value = Arc<[u8]>> {
    proptest::collection::vec(any::<u8>(), 0..40).prop_map(Arc::from)
}

fn after() -> impl Strategy<Value = After> {
    let body = prop_oneof![bytes().prop_map(Body::Memory), path().prop_map(Body::File)];
    (digest(), body, any::<bool>()).prop_map(|(digest, body, executable)| After {
        digest,
        body,
        executable,
    })
}

fn action() -> impl Strategy<Value = FileAction> {
    let some = proptest::option::of::<BoxedStrategy<_>>;
    (
        some(target().boxed()),
        path(),
        proptest::option::of(digest()),
        proptest::option::of(after()),
        op(),
        any::<bool>(),
    )
        .prop_map(
            |(target, path, before, after, snapshot_op, adopted)| FileAction {
                target,
                path,
                before,
                after,
                snapshot_op,
                adopted,
            },
        )
}

fn manifest() -> impl Strategy<Value = ManifestWrite> {
    (
        target(),
        path(),
        proptest::option::of(digest()),
        proptest::option::of(bytes()),
        op(),
    )
        .prop_map(|(target, path, before, after, snapshot_op)| ManifestWrite {
            target,
            path,
            before,
            after,
            snapshot_op,
        })
}

fn root() -> impl Strategy<Value = KnownRoot> {
    let project = proptest::option::of("[0-9a-f]{16}");
    (path(), project, target(), path(), any::<bool>()).prop_map(
        |(repo, project_id, target, root, scan_extras)| KnownRoot {
            repo,
            project_id,
            target,
            root,
            scan_extras,
        },
    )
}

fn snapshot() -> impl Strategy<Value = Snapshot> {
    let file = || {
        (target(), path(), digest()).prop_map(|(target, path, sha256)| SnapshotFile {
            target,
            path,
            sha256,
            mode: Some(FileMode::EXECUTABLE),
        })
    };
    let change = (target(), op(), path(), any::<bool>()).prop_map(|(target, op, path, adopted)| {
        SnapshotChange {
            target,
            op,
            path,
            backup_path: None,
            before_sha256: None,
            after_sha256: Some(Digest::of(b"after")),
            before_mode: None,
            after_mode: Some(FileMode::EXECUTABLE),
            adopted,
        }
    });
    let several = |size| proptest::collection::vec(file(), 0..size);
    (
        several(3),
        several(2),
        proptest::collection::vec(change, 0..3),
        (target(), path()),
        proptest::option::of(digest()),
    )
        .prop_map(
            |(managed_files, manifests, changes, (target, root), lockfile_sha256)| Snapshot {
                kind: SnapshotKind::Deploy,
                id: "1700000000000000000".to_owned(),
                created_at: "2026-01-01T00:00:00.000000000Z".to_owned(),
                targets: vec![target],
                managed_files,
                changes,
                rolled_back_to: None,
                lockfile_sha256,
                backup_root: PathBuf::new(),
                repo: Some(root.clone()),
                project_id: Some("0123456789abcdef".to_owned()),
                profile: Some("default".to_owned()),
                roots: vec![SnapshotRoot { target, root }],
                manifests,
                run_id: None,
            },
        )
}

fn transaction() -> impl Strategy<Value = Transaction> {
    (
        proptest::collection::vec(action(), 0..5),
        proptest::collection::vec(manifest(), 0..3),
        proptest::option::of(snapshot()),
        proptest::collection::vec(path(), 0..3),
        proptest::collection::vec(root(), 0..3),
        proptest::collection::vec(root(), 0..3),
        any::<bool>(),
    )
        .prop_map(
            |(actions, manifests, snapshot, write_through, remember_roots, forget_roots, fsync)| {
                Transaction {
                    run_id: String::new(),
                    actions,
                    manifests,
                    snapshot,
                    links: LinkRule {
                        project: write_through.first().cloned(),
                        destinations: write_through.clone(),
                    },
                    held: Vec::new(),
                    write_through,
                    remember_roots,
                    forget_roots,
                    fsync,
                    contents: HeldContents::default(),
                }
            },
        )
}

proptest! {
    #[test]
    fn a_frozen_transaction_is_thawed_as_it_was(
        transaction in transaction(),
        roots in proptest::collection::vec(path(), 0..3),
    ) {
        let frozen = FrozenTransactionV1::new(&transaction, &roots).unwrap();
        let text = serde_json::to_vec(&frozen).unwrap();
        let read: FrozenTransactionV1 = serde_json::from_slice(&text).unwrap();
        let (thawed, thawed_roots) = read.thaw().unwrap();
        prop_assert_eq!(format!("{thawed:?}"), format!("{transaction:?}"));
        prop_assert_eq!(thawed_roots, roots);
    }

    #[test]
    fn no_text_makes_thawing_panic(text in "\\PC{0,80}") {
        if let Ok(frozen) = serde_json::from_str::<FrozenTransactionV1>(&text) {
            let _ = frozen.thaw();
        }
    }
}

#[test]
fn a_damaged_transaction_is_refused() {
    let mut transaction = Transaction::new("");
    transaction.manifests.push(ManifestWrite {
        target: Target::Codex,
        path: "/p/m".into(),
        before: None,
        after: Some(Arc::from(*b"bytes")),
        snapshot_op: Create,
    });
    let frozen = FrozenTransactionV1::new(&transaction, &[]).unwrap();
    let text = serde_json::to_string(&frozen).unwrap();
    let damaged = text.replace(&STANDARD.encode("bytes"), "*");
    assert_ne!(damaged, text);
    let read: FrozenTransactionV1 = serde_json::from_str(&damaged).unwrap();
    assert!(read.thaw().is_err());
}
