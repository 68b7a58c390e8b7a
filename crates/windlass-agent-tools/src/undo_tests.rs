//! What others changed since stays.

use serde_json::json;

use crate::{test_support::Session, undo};

#[tokio::test]
async fn a_file_that_others_changed_is_left() {
    let session = Session::new();
    session.write("a", "one");
    let edit = session
        .call(
            "str_replace",
            json!({ "path": "a", "old_str": "one", "new_str": "two" }),
        )
        .await;
    let made = session
        .call("create", json!({ "path": "d/b", "file_text": "x" }))
        .await;
    session.write("a", "three");
    session.write("d/other", "y");
    let changes: Vec<_> = edit.changes.into_iter().chain(made.changes).collect();
    let undone = undo(&changes, &session.context.places, session.blobs.as_ref()).await;
    assert_eq!(session.read("a"), b"three");
    assert!(!session.path("d/b").exists() && session.path("d/other").exists());
    let left: Vec<_> = undone
        .left
        .iter()
        .map(|(path, _)| path.rsplit('/').next().unwrap())
        .collect();
    assert_eq!(left, ["d", "a"]);
}
