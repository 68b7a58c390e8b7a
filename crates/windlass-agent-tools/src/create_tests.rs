//! New files, in order and undone.

use serde_json::json;

use crate::test_support::{Session, code, snapshot, text};

#[tokio::test]
async fn a_new_file_with_its_directories_and_back() {
    let session = Session::new();
    let before = snapshot(&session.path(""));
    let input = json!({ "path": "a/b/c.txt", "file_text": "one\ntwo\n" });
    let outcome = session.call("create", input.clone()).await;
    assert!(
        text(&outcome).ends_with("a/b/c.txt (2 lines, 8 bytes)."),
        "{outcome:?}"
    );
    assert_eq!(session.read("a/b/c.txt"), b"one\ntwo\n");
    assert_eq!(outcome.changes.len(), 3);
    assert_eq!(code(&session.call("create", input).await), "FILE_EXISTS");
    session.undoes(&outcome.changes, &before).await;
}

#[tokio::test]
async fn what_is_in_the_way_stays_as_it_is() {
    let session = Session::new();
    session.write("file", "x");
    std::os::unix::fs::symlink("/nowhere", session.path("dangling")).unwrap();
    let paths = [
        ("file", "FILE_EXISTS"),
        ("dangling", "FILE_EXISTS"),
        ("file/below", "INVALID_PATH"),
        ("dangling/below", "INVALID_PATH"),
        (".", "INVALID_PATH"),
        (".git/hooks/pre-commit", "INVALID_PATH"),
        ("new/.git/config", "INVALID_PATH"),
        (".windlass/policy.toml", "INVALID_PATH"),
        ("ada@host:/etc/x", "INVALID_REMOTE_CONNECTION"),
    ];
    let calls = paths.map(|(path, expected)| (json!({ "path": path, "file_text": "y" }), expected));
    session.refuses("create", calls).await;
}
