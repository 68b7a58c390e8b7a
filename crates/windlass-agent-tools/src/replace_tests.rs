//! Edits of files, and back.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::test_support::{Session, snapshot, text};

#[tokio::test]
async fn an_edit_keeps_everything_else_and_is_undone_exactly() {
    let session = Session::new();
    session.write("script.sh", "\u{feff}#!/bin/sh\r\necho one\r\n");
    let permissions = std::fs::Permissions::from_mode(0o750);
    fs_err::set_permissions(session.path("script.sh"), permissions).unwrap();
    let before = snapshot(&session.path(""));
    let input = json!({ "path": "script.sh", "old_str": "echo one\n", "new_str": "echo two\necho three\n" });
    let outcome = session.call("str_replace", input).await;
    insta::assert_snapshot!(
        text(&outcome).replace(session.root().to_str().unwrap(), "").replace('\r', "␍"),
        @"
        Replaced 1 place in /work/script.sh. The text differed only in quotes, dashes, blanks or line ends.
        --- a/script.sh
        +++ b/script.sh
        @@ -1,2 +1,3 @@
         ﻿#!/bin/sh␍
        -echo one␍
        +echo two␍
        +echo three␍
        "
    );
    assert_eq!(
        session.read("script.sh"),
        "\u{feff}#!/bin/sh\r\necho two\r\necho three\r\n".as_bytes()
    );
    let mode = fs_err::metadata(session.path("script.sh"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o7777, 0o750);
    session.undoes(&outcome.changes, &before).await;
}

#[tokio::test]
async fn what_is_not_edited_stays() {
    let session = Session::new();
    session.write("twice", "a\nb\na\n");
    session.write("binary", b"a\xff\x00b");
    session.write("sub/x", "");
    std::os::unix::fs::symlink("twice", session.path("link")).unwrap();
    let huge = fs_err::File::create(session.path("huge")).unwrap();
    huge.set_len(17 << 20).unwrap();
    let edits = [
        ("twice", "a", "STRING_NOT_UNIQUE"),
        ("twice", "c", "STRING_NOT_FOUND"),
        ("twice", "x", "OLD_STR_NEW_STR_IDENTICAL"),
        ("binary", "a", "READ_ERROR"),
        ("huge", "a", "READ_ERROR"),
        ("missing", "a", "FILE_NOT_FOUND"),
        ("missing/deep", "a", "PATH_NOT_FOUND"),
        ("sub", "a", "INVALID_PATH"),
        ("link", "a", "INVALID_PATH"),
    ];
    let calls = edits.map(|(path, old, expected)| {
        (
            json!({ "path": path, "old_str": old, "new_str": "x" }),
            expected,
        )
    });
    session.refuses("str_replace", calls).await;
}
