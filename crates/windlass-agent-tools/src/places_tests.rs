//! Paths that try to leave, in every way that is known, while directories are swapped for links.

use std::{
    os::unix::fs::symlink,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::json;

use super::*;
use crate::test_support::{Session, code, snapshot, text};

#[test]
fn where_paths_are() {
    let session = Session::new();
    let root = session.root();
    let places = &session.context.places;
    let inside = |text: &str| {
        let located = places.locate(text).unwrap();
        (
            located.is_inside(),
            located.text().replace(root.to_str().unwrap(), ""),
        )
    };
    for (path, expected) in [
        ("a/b", (true, "/work/a/b")),
        ("./a//b/.", (true, "/work/a/b")),
        ("a/../b", (true, "/work/b")),
        ("..", (false, "")),
        ("../work/a", (true, "/work/a")),
        ("a/../../outside", (false, "/outside")),
        ("~/x", (false, "/home/x")),
        ("~other/x", (true, "/work/~other/x")),
        ("%2e%2e/x", (true, "/work/%2e%2e/x")),
        ("..\\x", (true, "/work/..\\x")),
        (".", (true, "/work")),
    ] {
        assert_eq!(inside(path), (expected.0, expected.1.to_owned()), "{path}");
    }
    for path in ["", "a\0b", "a\nb", &"x/".repeat(4_000)] {
        assert_eq!(places.locate(path).unwrap_err().code, Code::InvalidPath);
    }
}

#[test]
fn a_root_that_is_spelled_through_a_link_is_known_by_both_names() {
    let session = Session::new();
    let root = session.root();
    symlink(root.join("work"), root.join("alias")).unwrap();
    let home = root.join("home");
    let places = Places::open(&root.join("alias"), &home, &home.join(".windlass")).unwrap();
    for name in ["alias/a", "work/a"] {
        let located = places.locate(root.join(name).to_str().unwrap()).unwrap();
        assert_eq!(located.absolute, root.join("work/a"));
        assert!(located.is_inside());
    }
}

#[tokio::test]
async fn outside_is_read_only_where_the_call_may_and_never_written() {
    let mut session = Session::new();
    let secret = session.root().join("outside/secret");
    let input = json!({ "path": secret });
    assert_eq!(
        code(&session.call("view", input.clone()).await),
        "INVALID_PATH"
    );
    session.context.may_read_outside = true;
    assert!(text(&session.call("view", input).await).contains("outside"));
    for path in [
        "/proc/self/environ",
        "/dev/zero",
        "/proc/self/root/etc/passwd",
        "/sys/power/state",
    ] {
        assert_eq!(
            code(&session.call("view", json!({ "path": path })).await),
            "INVALID_PATH",
            "{path}"
        );
    }
    for (tool, input) in [
        (
            "create",
            json!({ "path": session.root().join("outside/new"), "file_text": "x" }),
        ),
        (
            "str_replace",
            json!({ "path": secret, "old_str": "outside", "new_str": "x" }),
        ),
        ("remove", json!({ "path": secret })),
    ] {
        assert_eq!(
            code(&session.call(tool, input).await),
            "INVALID_PATH",
            "{tool}"
        );
    }
    assert_eq!(fs_err::read_to_string(secret).unwrap(), "outside\n");
}

/// Paths made of parts that lead out, in a fixed order.
fn payloads(root: &str, count: usize) -> Vec<String> {
    let parts = [
        "..",
        ".",
        "a",
        "link",
        "deep",
        "swap",
        "file",
        "%2e%2e",
        "..%2f",
        "%2e%2e%2f",
        "\u{2025}",
        "．．",
        "..\\",
        "\\..\\",
        "....//",
        ".../",
        "link/..",
        "abs",
        "loop",
        "secret",
        "outside",
        "../outside",
        "..;/",
        "%00",
        "\0",
        "\u{202e}..",
        ".. ",
        " ..",
        "dev",
        "proc/self/root",
        "/proc/self/cwd",
        "/proc/self/fd/3",
        "~",
        "~root",
        "$HOME",
        ".git/hooks/x",
        ".GIT/config",
        ".windlass/x",
        "//",
        "C:",
        "\u{ff0f}",
        "c0\u{af}",
        "..\u{0}",
        "..\u{200b}",
        "up",
    ];
    let mut state = 7_u64;
    let mut next = move |most: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % most
    };
    (0..count)
        .map(|index| {
            let length = 1 + next(6);
            let path: Vec<&str> = (0..length).map(|_| parts[next(parts.len())]).collect();
            let path = path.join("/");
            match index % 4 {
                0 => format!("{root}/work/{path}"),
                1 => format!("{root}/{path}"),
                2 => format!("swap/{path}/secret"),
                _ => path,
            }
        })
        .collect()
}

#[tokio::test]
async fn ten_thousand_paths_lead_nowhere_outside() {
    let session = Session::new();
    let (root, work) = (session.root(), session.path(""));
    let outside = root.join("outside");
    fs_err::write(outside.join("only-outside"), "outside\n").unwrap();
    // What calls removed or replaced is there again for the next one.
    let lay = || {
        for directory in ["deep/a", "real"] {
            let _ = fs_err::create_dir_all(work.join(directory));
        }
        for file in ["file", "real/secret"] {
            let _ = fs_err::write(work.join(file), "inside\n");
        }
        for (to, name) in [
            (outside.clone(), "link"),
            (PathBuf::from("../outside"), "deep/link"),
            (PathBuf::from("../.."), "up"),
            (PathBuf::from("/"), "abs"),
            (PathBuf::from("loop"), "loop"),
            (outside.join("secret"), "secret"),
            (PathBuf::from("/dev/null"), "dev"),
        ] {
            let _ = symlink(to, work.join(name));
        }
    };
    lay();
    let before = (snapshot(&outside), snapshot(&root.join("home")));
    // A directory that becomes a link and a directory again, all the time.
    let stop = Arc::new(AtomicBool::new(false));
    let swapper = std::thread::spawn({
        let (stop, work, outside) = (stop.clone(), work.clone(), outside.clone());
        move || {
            let mut swaps = 0_u64;
            while !stop.load(Ordering::Relaxed) {
                let _ = fs_err::rename(work.join("real"), work.join("swap"));
                let _ = fs_err::rename(work.join("swap"), work.join("real"));
                let _ = symlink(&outside, work.join("swap"));
                let _ = fs_err::remove_file(work.join("swap"));
                swaps += 1;
            }
            swaps
        }
    });
    let (mut refused, mut changed) = (0, 0);
    for (index, path) in payloads(root.to_str().unwrap(), 10_000)
        .into_iter()
        .enumerate()
    {
        let (tool, input) = match index % 5 {
            0 | 1 => ("view", json!({ "path": path })),
            2 => ("create", json!({ "path": path, "file_text": "payload" })),
            3 => (
                "str_replace",
                json!({ "path": path, "old_str": "outside", "new_str": "payload" }),
            ),
            _ => ("remove", json!({ "path": path, "recursive": true })),
        };
        let outcome = session.call(tool, input).await;
        refused += usize::from(outcome.failed.is_some());
        if !outcome.changes.is_empty() {
            changed += 1;
            lay();
        }
        let told = text(&outcome);
        assert!(!told.contains("only-outside"), "{tool} {path:?}: {told}");
        // The one word that is only in the file outside, as a line of a file.
        assert!(!told.contains("\toutside"), "{tool} {path:?}: {told}");
    }
    stop.store(true, Ordering::Relaxed);
    assert!(swapper.join().unwrap() > 10, "nothing was swapped");
    assert!(
        refused > 1_000 && changed > 500,
        "{refused} refused, {changed} changed"
    );
    let after = (snapshot(&outside), snapshot(&root.join("home")));
    assert_eq!(before, after);
    assert!(!work.join(".git").exists() && !work.join(".windlass").exists());
}
