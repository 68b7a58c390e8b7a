//! Tests of relative paths.

use std::path::Component;

use super::*;
use crate::{GitSource, module_id::module_name};

/// The parts attacks on paths are made of.
const PARTS: [&str; 22] = [
    "..",
    ".",
    "",
    "a",
    "b.md",
    "/",
    "//",
    "\\",
    "..\\",
    "\\..",
    "\0",
    "..\0",
    "...",
    ".. ",
    "%2e%2e",
    "%2f",
    "..%c0%af",
    "C:",
    "~",
    "$HOME",
    "\u{ff0e}\u{ff0e}",
    "\u{2025}",
];

fn stays_inside(path: &RelPath) -> bool {
    let root = Path::new("/root/of/all");
    let joined = path.under(root);
    joined.starts_with(root)
        && joined != root
        && joined
            .strip_prefix(root)
            .unwrap()
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
        && !path.as_str().contains(['\0', '\\'])
}

#[test]
fn must_4_ten_thousand_traversal_payloads_never_leave_the_root() {
    let mut tried = 0;
    let mut taken = 0;
    for first in PARTS {
        for second in PARTS {
            for third in PARTS {
                for payload in [
                    format!("{first}/{second}/{third}"),
                    format!("{first}{second}{third}"),
                ] {
                    tried += 1;
                    if let Ok(path) = RelPath::new(payload.clone()) {
                        taken += 1;
                        assert!(stays_inside(&path), "{payload:?}");
                    }
                    let read = serde_json::to_string(&payload).unwrap();
                    if let Ok(path) = serde_json::from_str::<RelPath>(&read) {
                        assert!(stays_inside(&path), "{payload:?}");
                    }
                    if let Ok(name) = module_name(&format!("skill:{payload}")) {
                        assert!(stays_inside(&name), "{payload:?}");
                    }
                    let git = GitSource {
                        url: "https://h/r".into(),
                        reference: "main".into(),
                        subdir: payload.clone(),
                        shallow: true,
                    };
                    if let Ok(Some(subdir)) = git.subdir_path() {
                        assert!(stays_inside(&subdir), "{payload:?}");
                    }
                }
            }
        }
    }
    assert!(tried >= 10_000, "{tried}");
    assert!(
        taken > 100,
        "{taken}: nothing was taken, nothing was tested"
    );
}

#[test]
fn good_paths_are_accepted_and_bad_ones_refused_with_a_reason() {
    for text in ["a", "a/b", "..a", "a..", "...", ".hidden/x", "a b/ü", "~/x"] {
        assert_eq!(RelPath::new(text).unwrap().as_str(), text);
    }
    for (text, reason) in [
        ("", "empty"),
        ("/a", "absolute"),
        ("a//b", "component is empty"),
        ("a/", "component is empty"),
        ("a/./b", ". or .."),
        ("../a", ". or .."),
        ("a\0", "NUL"),
        ("a\\b", "backslash"),
    ] {
        let error = RelPath::new(text).unwrap_err();
        assert!(error.reason.contains(reason), "{text:?}: {error}");
    }
}

#[test]
fn names_windows_reserves_are_known() {
    for name in [
        "con",
        "CON.md",
        "nul",
        "Aux.tar.gz",
        "COM1",
        "lpt9.txt",
        "COM¹",
        "a:b",
        "a.",
        "a ",
        "a?b",
        "CONIN$",
        "nul .md",
    ] {
        assert!(is_reserved_on_windows(name), "{name}");
    }
    for name in ["console", "com", "com10", "lpt", "a.md", "null", ".con"] {
        assert!(!is_reserved_on_windows(name), "{name}");
    }
}

#[test]
fn paths_that_differ_in_case_only_collide() {
    let path = |text: &str| RelPath::new(text).unwrap();
    assert!(path("a/README.md").collides_ignoring_case(&path("A/readme.md")));
    assert!(!path("a").collides_ignoring_case(&path("a")));
    assert!(!path("a").collides_ignoring_case(&path("b")));
    let paths = [path("x"), path("Dir/a"), path("x"), path("dir/A")];
    assert_eq!(first_case_collision(&paths), Some((&paths[1], &paths[3])));
    assert_eq!(first_case_collision(&paths[..3]), None);
}
