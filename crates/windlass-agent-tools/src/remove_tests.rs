//! Removals, what they refuse, and back.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::json;

use crate::test_support::{Session, code, snapshot, text};

fn tree(session: &Session) {
    session.write("dir/a.txt", "a");
    session.write("dir/deep/b.bin", b"\x00\xff");
    session.write("dir/deep/run.sh", "x");
    fs_err::create_dir_all(session.path("dir/empty")).unwrap();
    for (path, mode) in [
        ("dir/deep/run.sh", 0o755),
        ("dir/deep", 0o700),
        ("dir/a.txt", 0o444),
    ] {
        let permissions = std::fs::Permissions::from_mode(mode);
        fs_err::set_permissions(session.path(path), permissions).unwrap();
    }
    symlink("../../outside", session.path("dir/out")).unwrap();
    symlink("/nowhere/at/all", session.path("dir/deep/dangling")).unwrap();
}

#[tokio::test]
async fn a_directory_goes_and_comes_back_exactly() {
    let session = Session::new();
    tree(&session);
    let (before, outside) = (
        snapshot(&session.path("")),
        snapshot(&session.root().join("outside")),
    );
    let refused = session.call("remove", json!({ "path": "dir" })).await;
    assert_eq!(code(&refused), "WRITE_ERROR");
    assert_eq!(snapshot(&session.path("")), before);
    let outcome = session
        .call("remove", json!({ "path": "dir", "recursive": true }))
        .await;
    assert_eq!(code(&outcome), "", "{}", text(&outcome));
    assert!(!session.path("dir").exists());
    assert_eq!(snapshot(&session.root().join("outside")), outside);
    let json = serde_json::to_string(&outcome.changes).unwrap();
    let changes: Vec<crate::FileChange> = serde_json::from_str(&json).unwrap();
    for _ in 0..2 {
        session.undoes(&changes, &before).await;
    }
}

#[tokio::test]
async fn links_go_and_what_they_lead_to_stays() {
    let session = Session::new();
    symlink(session.root().join("outside"), session.path("link")).unwrap();
    let before = snapshot(&session.path(""));
    let outcome = session
        .call("remove", json!({ "path": "link", "recursive": true }))
        .await;
    assert_eq!(code(&outcome), "", "{}", text(&outcome));
    assert!(session.root().join("outside/secret").exists());
    session.undoes(&outcome.changes, &before).await;
}

#[tokio::test]
async fn protected_paths_stay_also_inside_what_is_removed() {
    let session = Session::new();
    session.write("vendor/lib/.git/config", "x");
    session.write("vendor/lib/a", "x");
    session.write("big/one", "");
    fs_err::File::create(session.path("big/one"))
        .unwrap()
        .set_len(17 << 20)
        .unwrap();
    let paths = [
        ("vendor", "INVALID_PATH"),
        ("vendor/lib/.git", "INVALID_PATH"),
        (".", "INVALID_PATH"),
        ("..", "INVALID_PATH"),
        ("missing", "PATH_NOT_FOUND"),
        ("big", "BACKUP_ERROR"),
    ];
    let calls =
        paths.map(|(path, expected)| (json!({ "path": path, "recursive": true }), expected));
    session.refuses("remove", calls).await;
}
