//! Windlass's own diffs, patches and merges compared with git's.

use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use windlass_text::{Merge, MergeLabels, merge3, parse_patch, unified};

use super::support::{Home, plain_git};

/// git runs for each case, so there are few, and always the same: what is compared is another
/// program, and a case that cannot be repeated does not help.
fn cases(count: u32) -> TestRunner {
    let config = Config {
        cases: count,
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

fn text() -> impl Strategy<Value = String> {
    let line = prop::sample::select(&["a", "b", "c", "-- d", "", "e\r"][..]);
    (prop::collection::vec(line, 1..14), any::<bool>()).prop_map(|(lines, complete)| {
        let end = if complete { "\n" } else { "" };
        format!("{}{end}", lines.join("\n"))
    })
}

/// Runs `git apply` on a file in a directory that is no repository.
fn git_apply(home: &Home, directory: &Path, before: &str, patch: &str) -> Option<String> {
    fs_err::write(directory.join("x"), before).unwrap();
    fs_err::write(directory.join("p"), patch).unwrap();
    let args = ["apply", "--whitespace=nowarn", "p"];
    let output = plain_git(&home.variables(&[]), directory, &args);
    output
        .status
        .success()
        .then(|| fs_err::read_to_string(directory.join("x")).unwrap())
}

#[test]
fn we_apply_what_git_applies_and_vice_versa() {
    let home = Home::new();
    let directory = home.path().join("apply");
    fs_err::create_dir_all(&directory).unwrap();
    cases(48)
        .run(&(text(), text(), text()), |(before, after, other)| {
            prop_assume!(before != after && !before.is_empty() && !after.is_empty());
            let patch = unified(&before, &after, "a/x", "b/x");
            let applied = git_apply(&home, &directory, &before, &patch);
            prop_assert_eq!(applied.as_deref(), Some(after.as_str()));
            // On a file that has moved on. A hunk without the last newline is left out: git
            // would put it before other lines and glue two of them together.
            for moved in [format!("{before}{other}"), format!("{other}\n{before}")] {
                let expected = git_apply(&home, &directory, &moved, &patch);
                if let Some(expected) = expected.filter(|_| !patch.contains("\\ No newline")) {
                    let ours = parse_patch(&patch).unwrap().apply(&moved);
                    prop_assert_eq!(ours.ok(), Some(expected));
                }
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn patches_by_git_are_read_and_applied() {
    let home = Home::new();
    let directory = home.path().join("diff");
    fs_err::create_dir_all(directory.join("a")).unwrap();
    fs_err::create_dir_all(directory.join("b")).unwrap();
    for name in ["x", "two words", "ä", "say \"hi\"", "tab\there"] {
        let (before, after) = ("one\n-- two\nthree", "one\n++ two\nthree\nfour\n");
        fs_err::write(directory.join("a").join(name), before).unwrap();
        fs_err::write(directory.join("b").join(name), after).unwrap();
        let paths = [format!("a/{name}"), format!("b/{name}")];
        let args = [
            "diff",
            "--no-index",
            "--src-prefix=",
            "--dst-prefix=",
            "--",
            &paths[0],
            &paths[1],
        ];
        let output = plain_git(&home.variables(&[]), &directory, &args);
        let patch = parse_patch(std::str::from_utf8(&output.stdout).unwrap()).unwrap();
        assert_eq!(patch.before_path.as_deref(), Some(name));
        assert_eq!(patch.after_path.as_deref(), Some(name));
        assert_eq!(patch.apply(before).unwrap(), after);
    }
}

#[test]
fn merges_are_clean_and_conflicting_where_gits_are() {
    let home = Home::new();
    let directory = home.path().join("merge");
    fs_err::create_dir_all(&directory).unwrap();
    // Distinct lines: with repeated ones there are several right ways to align two texts.
    let edit = (
        0..8_usize,
        0..3_usize,
        prop::sample::select(&["", "X\n", "X\nY\n"][..]),
    );
    let edits = prop::collection::vec(edit, 0..3);
    let apply = |edits: &[(usize, usize, &str)], side: &str| -> String {
        let mut lines: Vec<String> = (0..8).map(|n| format!("{n}\n")).collect();
        for (at, removed, added) in edits {
            for line in lines.iter_mut().skip(*at).take(*removed) {
                line.clear();
            }
            let added = added.replace('X', &format!("X{at}"));
            lines[*at].insert_str(0, &added.replace('Y', &format!("{side}{at}")));
        }
        lines.concat()
    };
    cases(64)
        .run(&(edits.clone(), edits), |(ours, theirs)| {
            let base = apply(&[], "");
            let (ours, theirs) = (apply(&ours, "Y"), apply(&theirs, "Z"));
            for (name, text) in [("base", &base), ("ours", &ours), ("theirs", &theirs)] {
                fs_err::write(directory.join(name), text).unwrap();
            }
            let args = ["merge-file", "-p", "ours", "base", "theirs"];
            let output = plain_git(&home.variables(&[]), &directory, &args);
            let text = String::from_utf8(output.stdout).unwrap();
            let conflicts = usize::try_from(output.status.code().unwrap()).unwrap();
            let expected = match conflicts {
                0 => Merge::Clean(text),
                _ => Merge::Conflict {
                    text_with_markers: text,
                    conflicts,
                },
            };
            let labels = MergeLabels {
                ours: "ours",
                theirs: "theirs",
            };
            prop_assert_eq!(merge3(&base, &ours, &theirs, labels), expected);
            Ok(())
        })
        .unwrap();
}
