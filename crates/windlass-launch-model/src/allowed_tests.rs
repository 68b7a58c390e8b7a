//! Tables of what is admitted, and ten thousand hostile paths against a second reading of the rule.

use proptest::{prelude::*, test_runner::Config};

use super::*;

fn allowed(entries: &[&str]) -> AllowedPaths {
    AllowedPaths::new(entries).unwrap()
}

#[test]
fn entries_that_cannot_be_used() {
    for (entry, fault) in [
        ("", EntryFault::Path(PathFault::Empty)),
        ("/content", EntryFault::Path(PathFault::Absolute)),
        ("/", EntryFault::Path(PathFault::Absolute)),
        ("c:/content", EntryFault::Path(PathFault::Absolute)),
        ("a/../b", EntryFault::Path(PathFault::Parent)),
        ("..", EntryFault::Path(PathFault::Parent)),
        ("a\\b", EntryFault::Path(PathFault::Backslash)),
        ("a\0b", EntryFault::Path(PathFault::Control)),
        ("a//b", EntryFault::Path(PathFault::EmptyComponent)),
        ("a/b//", EntryFault::Path(PathFault::EmptyComponent)),
        ("a/**b", EntryFault::DoubleStar),
        ("a/***", EntryFault::DoubleStar),
        (".git", EntryFault::Git),
        ("sub/.GIT/hooks", EntryFault::Git),
    ] {
        assert_eq!(
            AllowedPaths::new(&["fine", entry]),
            Err(vec![(1, fault)]),
            "{entry:?}"
        );
    }
}

#[test]
fn whole_components_match() {
    // Entry, path, whether it is admitted.
    for (entry, path, admitted) in [
        // A file or folder.
        ("note/en", "note/en", true),
        ("note/en", "note/en/x.md", true),
        ("note/en", "note/en/a/b.md", true),
        ("note/en", "note/english", false),
        ("note/en", "note/english/x.md", false),
        ("note/en", "note/e", false),
        ("note/en", "note", false),
        ("note/en", "x/note/en", false),
        ("note/en", "note/EN/x.md", false),
        ("./note/en", "note/en/x.md", true),
        // A folder outright.
        ("note/en/", "note/en/x.md", true),
        ("note/en/", "note/en", false),
        ("note/en/**", "note/en/a/b.md", true),
        ("note/en/**", "note/en", false),
        ("note/en/**", "note/english/x.md", false),
        // Globs.
        ("note/*.md", "note/x.md", true),
        ("note/*.md", "note/a/x.md", false),
        ("note/*.md", "note/x.md/y", false),
        ("note/*.md", "note/.hidden.md", false),
        ("note/*", "note/x", true),
        ("note/*", "note/x/y", false),
        ("note/*/", "note/x/y", true),
        ("note/*/", "note/x", false),
        ("note/?.md", "note/a.md", true),
        ("note/?.md", "note/ab.md", false),
        ("note/**/x.md", "note/x.md", true),
        ("note/**/x.md", "note/a/b/x.md", true),
        ("note/**/x.md", "note/a/b/y.md", false),
        ("**/acme/*.md", "content/docs/acme/x.md", true),
        ("**/acme/*.md", "content/docs/acme/a/x.md", false),
        ("**/a/**/b/*.md", "a/a/b/b/x.md", true),
        ("a*b*c", "aXbYbZc", true),
        ("a*b*c", "aXbYbZ", false),
        ("note/[ab].md", "note/[ab].md", true),
        ("note/[ab].md", "note/a.md", false),
        // Everything.
        (".", "x.md", true),
        (".", "a/b.md", true),
        ("**", "a/b.md", true),
        ("*", "x.md", true),
        ("*", "a/x.md", false),
        // Resolved first.
        ("note/en", "note/en/../../x", false),
        ("note/en", "x/../note/en/y.md", true),
        ("note/en", "./note//en/y.md", true),
        ("note/en", "../note/en/y.md", false),
        ("note/en", "/note/en/y.md", false),
        ("note/en", "note\\en\\y.md", false),
        ("note/en", "note/en/\0", false),
        ("note/en", "note/en/..", false),
        ("note/en", "", false),
        // Encoded dots are a name like any other.
        ("note/en", "note/en/%2e%2e/x.md", true),
        ("note/en", "note/%65n/x.md", false),
    ] {
        let found = allowed(&[entry]).admit(path);
        assert_eq!(found.is_ok(), admitted, "{entry:?} {path:?}: {found:?}");
    }
}

#[test]
fn the_answer_is_the_resolved_path() {
    let rule = allowed(&["note/en"]);
    assert_eq!(rule.admit("a/../note/./en//x.md").unwrap(), "note/en/x.md");
    assert_eq!(rule.admit("note/en/../../x").unwrap_err().path(), "x");
    insta::assert_snapshot!(
        ["../x", "note/english", ".git/config", ".github/x.yml"]
            .map(|path| rule.admit(path).unwrap_err().to_string())
            .join("\n"),
        @r#"
    "../x" is not a path inside the site: it leads out of the repository
    "note/english" is outside allowed_paths
    ".git/config" lies in '.git', which is never writable
    ".github/x.yml" is CI configuration; no entry of allowed_paths names it outright
    "#
    );
}

#[test]
fn git_is_never_writable() {
    let rule = allowed(&["**"]);
    for path in [
        ".git",
        ".git/config",
        ".GIT/hooks/pre-commit",
        "sub/.git/config",
        "a/../.git/config",
        ".git./config",
        ".git /config",
        ".g\u{200c}it/config",
        "git~1/config",
        "GIT~1/config",
        ".git::$INDEX_ALLOCATION/config",
    ] {
        assert!(
            matches!(rule.admit(path), Err(Refusal::Git { .. })),
            "{path:?}"
        );
    }
    for path in [".gitignore", "git/x", "a.git/x", ".gitx/x", "x.git"] {
        assert!(rule.admit(path).is_ok(), "{path:?}");
    }
}

#[test]
fn ci_configuration_must_be_named_outright() {
    for (entry, path, admitted) in [
        ("**", ".github/workflows/x.yml", false),
        (".", ".gitlab-ci.yml", false),
        ("*", ".gitlab-ci.yml", false),
        (".git*", ".gitlab-ci.yml", false),
        (".*/workflows/**", ".github/workflows/x.yml", false),
        ("**", ".GitHub/workflows/x.yml", false),
        ("**", ".github./workflows/x.yml", false),
        ("**", "Jenkinsfile", false),
        (".github", ".github/workflows/x.yml", true),
        (".github/workflows/*.yml", ".github/workflows/x.yml", true),
        (".github/workflows/*.yml", ".github/dependabot.yml", false),
        (".gitlab-ci.yml", ".gitlab-ci.yml", true),
        (".github", ".GITHUB/workflows/x.yml", false),
        // Not at the top, it steers nothing.
        ("**", "docs/.github/x.md", true),
    ] {
        let found = allowed(&[entry]).admit(path);
        assert_eq!(found.is_ok(), admitted, "{entry:?} {path:?}: {found:?}");
    }
}

#[test]
fn whether_a_folder_can_be_written_below() {
    for (entry, folder, reaches) in [
        ("content/docs", "content/docs/acme", true),
        ("content/docs/acme/en/**", "content/docs/acme", true),
        ("content/docs/acme/x.md", "content/docs/acme", true),
        ("content/docs", "content/docs", true),
        ("content/docs", "content/blog", false),
        ("content/docs", "content/docsy", false),
        ("content/*/acme/**", "content/blog/acme", true),
        ("content/*/acme/**", "content/blog/other", false),
        ("content/docs/*.md", "content/docs", true),
        ("content/docs/*.md", "content/docs/acme", false),
        ("**/x.md", "content/docs", true),
        (".", "content/docs", true),
        ("content", ".", true),
        (".", ".github", false),
        (".github", ".github/workflows", true),
        (".", "../x", false),
        (".", "a/.git", false),
    ] {
        assert_eq!(
            allowed(&[entry]).reaches_below(folder),
            reaches,
            "{entry:?} {folder:?}"
        );
    }
}

/// A second reading of the rule for the entry `note/en`, over bytes and without the code above.
fn expected(path: &str) -> Option<Vec<String>> {
    if path.starts_with('/') || path.contains('\\') || path.chars().any(|part| part < ' ') {
        return None;
    }
    if path.len() > 1 && path.as_bytes()[1] == b':' && path.as_bytes()[0].is_ascii_alphabetic() {
        return None;
    }
    let mut stack: Vec<String> = Vec::new();
    for name in path.split('/') {
        if name == ".." {
            stack.pop()?;
        } else if !name.is_empty() && name != "." {
            stack.push(name.to_owned());
        }
    }
    let hides_git = stack
        .iter()
        .map(|name| name.to_ascii_lowercase())
        .any(|name| name.starts_with(".git") || name.starts_with("git~"));
    let inside = stack.len() >= 2 && stack[0] == "note" && stack[1] == "en";
    (inside && !hides_git).then_some(stack)
}

fn payloads() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(vec![
            "..", ".", "", "note", "en", "x.md", "...", "....", "note/en",
        ]),
        4 => prop::sample::select(vec![
            "english", "En", "EN", "Note", "no", "n", "e", ".git", ".GIT", ".git.", "git~1",
            "%2e%2e", "%2f", "..%2f", "\u{2025}", "\u{ff0e}\u{ff0e}", "\u{2215}", "..;", " ..",
            ".. ", "~", "$HOME", "C:", "c:x", "a\0b", "..\\", "\\", "\n", "-rf", "*", "**", "?",
            "note\u{200d}", "en\u{301}", "en.", "en ", "\u{65}\u{6e}", "\u{feff}en",
        ]),
    ];
    (
        prop::sample::select(vec!["", "", "", "/", "//", "./", "../", "note/en/", "C:/"]),
        prop::collection::vec(piece, 0..9),
        prop::sample::select(vec!["", "", "/", "/..", "/.", "/x.md", "/../x.md"]),
    )
        .prop_map(|(start, pieces, end)| format!("{start}{}{end}", pieces.join("/")))
}

proptest! {
    #![proptest_config(Config { cases: 10_000, ..Config::default() })]

    #[test]
    fn ten_thousand_hostile_paths_stay_inside(path in payloads()) {
        let rule = AllowedPaths::new(&["note/en"]).unwrap();
        match (rule.admit(&path), expected(&path)) {
            (Ok(resolved), Some(stack)) => prop_assert_eq!(resolved, stack.join("/")),
            (Err(_), None) => {}
            (Ok(resolved), None) => {
                prop_assert!(false, "{:?} was let through as {:?}", path, resolved);
            }
            (Err(refusal), Some(_)) => prop_assert!(false, "{:?} was refused: {}", path, refusal),
        }
    }

    #[test]
    fn no_glob_is_slow_or_wrong(text in "[ab]{0,12}", pattern in "[ab*?]{1,10}") {
        // The same question asked of a backtracking definition.
        fn slow(pattern: &[u8], text: &[u8]) -> bool {
            match pattern.split_first() {
                None => text.is_empty(),
                Some((b'*', rest)) => (0..=text.len()).any(|from| slow(rest, &text[from..])),
                Some((b'?', rest)) => !text.is_empty() && slow(rest, &text[1..]),
                Some((byte, rest)) => text.first() == Some(byte) && slow(rest, &text[1..]),
            }
        }
        prop_assert_eq!(
            component_matches(&pattern, &text),
            slow(pattern.as_bytes(), text.as_bytes())
        );
    }
}
