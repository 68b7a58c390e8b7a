//! Unified diffs: their look, and that they carry everything.

use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::{parse_patch, samples};

fn diff(before: &str, after: &str) -> String {
    unified(before, after, "a/x.md", "b/x.md")
}

#[test]
fn equal_texts_have_no_diff() {
    for text in ["", "a", "a\n", "a\r\nb"] {
        assert_eq!(diff(text, text), "");
    }
}

#[test]
fn a_change_is_shown_with_three_lines_of_context() {
    assert_snapshot!(diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"), @r"
    --- a/x.md
    +++ b/x.md
    @@ -2,7 +2,7 @@
     2
     3
     4
    -5
    +five
     6
     7
     8
    ");
}

#[test]
fn changes_far_apart_are_two_hunks_and_close_ones_are_one() {
    let lines = |changed: &[usize]| -> String {
        (1..=20)
            .map(|n| match changed.contains(&n) {
                true => format!("changed {n}\n"),
                false => format!("{n}\n"),
            })
            .collect()
    };
    let headers = |changed: &[usize]| {
        diff(&lines(&[]), &lines(changed))
            .lines()
            .filter(|line| line.starts_with("@@"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(headers(&[2, 9]), ["@@ -1,12 +1,12 @@"]);
    assert_eq!(headers(&[2, 10]), ["@@ -1,5 +1,5 @@", "@@ -7,7 +7,7 @@"]);
}

#[test]
fn created_and_emptied_files_have_the_zero_ranges_of_git() {
    assert_snapshot!(unified("", "one\n", "/dev/null", "b/x.md"), @r"
    --- /dev/null
    +++ b/x.md
    @@ -0,0 +1 @@
    +one
    ");
    assert_snapshot!(unified("one\ntwo\n", "", "a/x.md", "/dev/null"), @r"
    --- a/x.md
    +++ /dev/null
    @@ -1,2 +0,0 @@
    -one
    -two
    ");
}

#[test]
fn a_missing_last_newline_is_marked() {
    assert_snapshot!(diff("a\nb", "a\nb\n"), @r"
    --- a/x.md
    +++ b/x.md
    @@ -1,2 +1,2 @@
     a
    -b
    \ No newline at end of file
    +b
    ");
    assert_snapshot!(diff("a\nb", "A\nb"), @r"
    --- a/x.md
    +++ b/x.md
    @@ -1,2 +1,2 @@
    -a
    +A
     b
    \ No newline at end of file
    ");
}

#[test]
fn carriage_returns_are_part_of_their_line() {
    assert_eq!(
        diff("a\r\nb\r\n", "a\r\nB\r\n"),
        "--- a/x.md\n+++ b/x.md\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+B\r\n"
    );
    assert_eq!(
        diff("a\n", "a\r\n"),
        "--- a/x.md\n+++ b/x.md\n@@ -1 +1 @@\n-a\n+a\r\n"
    );
}

fn round_trip(before: &str, after: &str) -> Result<(), TestCaseError> {
    let diff = diff(before, after);
    if before == after {
        prop_assert_eq!(diff, "");
        return Ok(());
    }
    let patch = parse_patch(&diff).unwrap();
    prop_assert_eq!(patch.before_path.as_deref(), Some("x.md"));
    prop_assert_eq!(patch.after_path.as_deref(), Some("x.md"));
    prop_assert_eq!(patch.apply(before).unwrap(), after);
    Ok(())
}

proptest! {
    #[test]
    fn applying_the_diff_produces_the_new_text((before, after) in samples::edited()) {
        round_trip(&before, &after)?;
    }

    #[test]
    fn the_diff_of_unrelated_texts_applies_too(before in samples::text(), after in samples::text()) {
        round_trip(&before, &after)?;
    }
}
