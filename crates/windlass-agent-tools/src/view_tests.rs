//! Files, pictures, directories, searches.

use std::io::Write as _;

use serde_json::json;
use windlass_ports::Part;

use crate::test_support::{Session, code, text};

#[tokio::test]
async fn ranges_of_a_file() {
    let session = Session::new();
    let lines: String = (1..=1_000).map(|line| format!("line {line}\n")).collect();
    session.write("a", lines);
    session.write("empty", "");
    session.write("crlf", "\u{feff}a\r\nb");
    for (input, first, last) in [
        (
            json!({ "path": "a" }),
            "     1\tline 1",
            "[lines 1 to 300 of 1000; view_range [301, -1] shows the next]",
        ),
        (
            json!({ "path": "a", "view_range": [998, -1] }),
            "   998\tline 998",
            "  1000\tline 1000",
        ),
        (
            json!({ "path": "a", "view_range": [5, 6] }),
            "     5\tline 5",
            "[lines 5 to 6 of 1000; view_range [7, -1] shows the next]",
        ),
        (json!({ "path": "crlf" }), "     1\t\u{feff}a", "     2\tb"),
    ] {
        let told = text(&session.call("view", input).await);
        let told: Vec<&str> = told.lines().collect();
        assert_eq!((told[1], told[told.len() - 1]), (first, last));
    }
    assert!(
        session
            .text("view", json!({ "path": "empty" }))
            .await
            .contains("is empty")
    );
    for (input, expected) in [
        (
            json!({ "path": "a", "view_range": [1001, -1] }),
            "INVALID_ARGUMENTS",
        ),
        (
            json!({ "path": "a", "view_range": [0, 3] }),
            "INVALID_ARGUMENTS",
        ),
        (
            json!({ "path": "a", "view_range": [3, 2] }),
            "INVALID_ARGUMENTS",
        ),
        (json!({ "path": "b" }), "PATH_NOT_FOUND"),
        (json!({ "path": "a", "grep": "(" }), "INVALID_REGEX"),
        (json!({ "path": ".", "glob": "[z-a]" }), "INVALID_GLOB"),
        (
            json!({ "path": "ada@host:/x" }),
            "INVALID_REMOTE_CONNECTION",
        ),
        (json!({ "path": "a", "password": "x" }), "INVALID_ARGUMENTS"),
    ] {
        assert_eq!(
            code(&session.call("view", input.clone()).await),
            expected,
            "{input}"
        );
    }
}

#[tokio::test]
async fn binary_huge_and_odd_files() {
    let session = Session::new();
    session.write("a.bin", b"\x7fELF\x00\x01");
    session.write("latin1", b"caf\xe9\n");
    session.write("long", "x".repeat(3 << 20));
    session.write("p.png", b"\x89PNG\r\n\x1a\nrest");
    let mut huge = fs_err::File::create(session.path("huge")).unwrap();
    for _ in 0..200 {
        huge.write_all("0123456789\n".repeat(60_000).as_bytes())
            .unwrap();
    }
    rustix::fs::mknodat(
        rustix::fs::CWD,
        session.path("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    assert!(
        session
            .text("view", json!({ "path": "a.bin" }))
            .await
            .contains("binary file of 6 bytes")
    );
    assert!(
        session
            .text("view", json!({ "path": "latin1" }))
            .await
            .contains("caf\u{fffd}")
    );
    let long = session.text("view", json!({ "path": "long" })).await;
    assert!(
        long.len() < 3_000 && long.contains("[cut: the line has 3145728 bytes]"),
        "{}",
        long.len()
    );
    let picture = session.call("view", json!({ "path": "p.png" })).await;
    assert!(matches!(&picture.parts[1], Part::Image(media) if media.media_type == "image/png"));
    let told = session.text("view", json!({ "path": "huge" })).await;
    assert!(
        told.contains("[lines 1 to 300 of more than "),
        "{}",
        &told[told.len() - 200..]
    );
    let end = session
        .text(
            "view",
            json!({ "path": "huge", "view_range": [11_999_999, -1] }),
        )
        .await;
    assert!(end.contains("12000000\t0123456789"), "{end}");
    assert_eq!(
        code(&session.call("view", json!({ "path": "pipe" })).await),
        "INVALID_PATH"
    );
}

#[tokio::test]
async fn directories_without_what_is_ignored() {
    let session = Session::new();
    for path in [
        "src/main.rs",
        "src/deep/a/b/c.rs",
        "target/debug/x",
        ".git/config",
        ".gitignore",
        "keep.log",
        "src/x.log",
        "node_modules/a.js",
        "src/.gitignore",
        "src/local.tmp",
    ] {
        session.write(path, "needle\n");
    }
    session.write(".gitignore", "target/\n*.log\n!keep.log\n/node_modules\n");
    session.write("src/.gitignore", "*.tmp\n");
    std::os::unix::fs::symlink(session.root().join("outside"), session.path("out")).unwrap();
    let told = [
        session.text("view", json!({ "path": "." })).await,
        session
            .text("view", json!({ "path": ".", "tree": true }))
            .await,
        session.text("view", json!({ "path": "src" })).await,
        session.text("view", json!({ "path": "target" })).await,
        session
            .text("view", json!({ "path": ".", "glob": "*.rs" }))
            .await,
        session
            .text("view", json!({ "path": ".", "glob": "src/*.rs" }))
            .await,
        session
            .text(
                "view",
                json!({ "path": ".", "grep": "ne+dle", "glob": "*.log" }),
            )
            .await,
        session
            .text("view", json!({ "path": "src", "grep": "needle" }))
            .await,
        session
            .text("view", json!({ "path": "src/main.rs", "grep": "^n" }))
            .await,
        session
            .text("view", json!({ "path": "src", "grep": "nothing" }))
            .await,
    ];
    insta::assert_snapshot!(told.join("\n---\n"), @"
    /work/
    .gitignore
    keep.log
    out@
    src/

    ---
    /work/
    .gitignore
    keep.log
    out@
    src/
      .gitignore
      deep/
        a/
      main.rs

    ---
    /work/src/
    .gitignore
    deep/
    main.rs

    ---
    /work/target/
    debug/

    ---
    src/deep/a/b/c.rs
    src/main.rs

    ---
    src/main.rs

    ---
    keep.log:1:needle

    ---
    deep/a/b/c.rs:1:needle
    main.rs:1:needle

    ---
    1:needle

    ---
    Nothing was found.
    ");
}
