//! Where hunks land, where they refuse to, and what the refusal says.

use crate::{ApplyReason, parse_patch, unified};

fn apply(hunks: &str, before: &str) -> Result<String, String> {
    parse_patch(&format!("--- a/x\n+++ b/x\n{hunks}"))
        .unwrap()
        .apply(before)
        .map_err(|error| error.to_string())
}

fn numbers(range: std::ops::RangeInclusive<u32>) -> String {
    range.map(|n| format!("{n}\n")).collect()
}

#[test]
fn a_hunk_moves_with_its_lines() {
    let before = numbers(1..=40);
    let after = before.replace("20\n", "twenty\n").replace("30\n", "");
    let patch = parse_patch(&unified(&before, &after, "a/x", "b/x")).unwrap();
    for (moved, expected) in [
        (format!("new\nnew\n{before}"), format!("new\nnew\n{after}")),
        (
            before.replace("1\n2\n3\n", ""),
            after.replace("1\n2\n3\n", ""),
        ),
        // Lines between the hunks move the second one only.
        (
            before.replace("25\n", "25\nnew\n"),
            after.replace("25\n", "25\nnew\n"),
        ),
        (format!("{before}tail\n"), format!("{after}tail\n")),
    ] {
        assert_eq!(patch.apply(&moved).unwrap(), expected);
    }
}

#[test]
fn of_two_places_the_nearest_is_used() {
    let block = "a\nb\nc\nold\nd\ne\nf\n";
    let filler = numbers(1..=10);
    let before = format!("{block}{filler}{block}{filler}");
    // The second block starts at line 18; the hunk says 16.
    let hunk = "@@ -16,7 +16,7 @@\n a\n b\n c\n-old\n+new\n d\n e\n f\n";
    let changed = block.replace("old", "new");
    assert_eq!(
        apply(hunk, &before).unwrap(),
        format!("{block}{filler}{changed}{filler}")
    );
}

#[test]
fn a_hunk_of_the_start_or_the_end_stays_there() {
    let top = "@@ -1,2 +1,3 @@\n+first\n a\n b\n";
    assert_eq!(apply(top, "a\nb\nc\n").unwrap(), "first\na\nb\nc\n");
    assert_eq!(
        apply(top, "new\na\nb\nc\n").unwrap_err(),
        "hunk 1 (`@@ -1,2 +1,3 @@`, patch line 3) does not apply: its lines are at line 2, but by its context it belongs to the start of the file"
    );
    let bottom = "@@ -2,2 +2,3 @@\n b\n c\n+last\n";
    assert_eq!(apply(bottom, "a\nb\nc\n").unwrap(), "a\nb\nc\nlast\n");
    assert_eq!(apply(bottom, "a\na\nb\nc\n").unwrap(), "a\na\nb\nc\nlast\n");
    assert_eq!(
        apply(bottom, "a\nb\nc\nd\n").unwrap_err(),
        "hunk 1 (`@@ -2,2 +2,3 @@`, patch line 3) does not apply: its lines are at line 2, but by its context it belongs to the end of the file"
    );
    // The same lines twice: the end is meant.
    assert_eq!(
        apply(bottom, "a\nb\nc\nx\nb\nc\n").unwrap(),
        "a\nb\nc\nx\nb\nc\nlast\n"
    );
}

#[test]
fn three_lines_of_context_place_a_hunk_without_the_start_of_the_file() {
    let hunk = "@@ -1,6 +1,6 @@\n a\n b\n c\n-d\n+D\n e\n f\n";
    assert_eq!(
        apply(hunk, "new\na\nb\nc\nd\ne\nf\n").unwrap(),
        "new\na\nb\nc\nD\ne\nf\n"
    );
}

#[test]
fn an_addition_without_context_applies_only_at_the_end_it_names() {
    assert_eq!(apply("@@ -0,0 +1,2 @@\n+a\n+b\n", "").unwrap(), "a\nb\n");
    assert_eq!(apply("@@ -2,0 +3 @@\n+c\n", "a\nb\n").unwrap(), "a\nb\nc\n");
    for before in ["a\nb\nc\n", "a\n", "a\nb"] {
        assert_eq!(
            apply("@@ -2,0 +3 @@\n+c\n", before).unwrap_err(),
            "hunk 1 (`@@ -2,0 +3 @@`, patch line 3) does not apply: it only adds lines and has no context that says where"
        );
    }
}

#[test]
fn a_refusal_names_the_first_difference() {
    let before = numbers(1..=20);
    let second =
        "@@ -2,3 +2,3 @@\n 2\n-3\n+three\n 4\n@@ -10,3 +10,3 @@\n 10\n-eleven\n+11!\n 12\n";
    assert_eq!(
        apply(second, &before).unwrap_err(),
        "hunk 2 (`@@ -10,3 +10,3 @@`, patch line 8) does not apply: line 11 is \"11\" where the patch expects \"eleven\""
    );
    assert_eq!(
        apply("@@ -20,2 +20,3 @@\n 20\n 21\n+22\n", &before).unwrap_err(),
        "hunk 1 (`@@ -20,2 +20,3 @@`, patch line 3) does not apply: the file ends before line 21, where the patch expects \"21\""
    );
    assert_eq!(
        apply(
            "@@ -2,3 +2,3 @@\n 2\n-3\n+three\n 4\n",
            "1\r\n2\r\n3\r\n4\r\n"
        )
        .unwrap_err(),
        "hunk 1 (`@@ -2,3 +2,3 @@`, patch line 3) does not apply: line 2 differs only in its end of line (CRLF, LF or none)"
    );
    assert_eq!(
        apply("@@ -1 +1 @@\n-a\n+b\n", "").unwrap_err(),
        "hunk 1 (`@@ -1 +1 @@`, patch line 3) does not apply: the file ends before line 1, where the patch expects \"a\""
    );
}

#[test]
fn a_hunk_never_lands_before_the_one_that_precedes_it() {
    let hunks = "@@ -4,3 +4,3 @@\n a\n-b\n+B\n c\n@@ -10,3 +10,3 @@\n a\n-b\n+B\n c\n";
    let error = parse_patch(&format!("--- a/x\n+++ b/x\n{hunks}"))
        .unwrap()
        .apply("0\n0\n0\na\nb\nc\n0\n")
        .unwrap_err();
    assert_eq!(error.hunk, 2);
    assert!(matches!(error.reason, ApplyReason::Differs { .. }));
}

#[test]
fn ends_of_line_and_of_file_survive() {
    for (before, after) in [
        ("a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\n"),
        ("a\r\nb\nc\r\n", "a\r\nB\r\nc\n"),
        ("a\nb", "a\nB"),
        ("a\nb", "a\nb\n"),
        ("a\nb\n", "a\nb"),
        ("a\r\nb", "a\r\nb\r\nc"),
        ("", "a"),
        ("a", ""),
        ("a\r", "a\n"),
    ] {
        let patch = parse_patch(&unified(before, after, "a/x", "b/x")).unwrap();
        assert_eq!(patch.apply(before).unwrap(), after, "{before:?}");
    }
}

#[test]
fn a_line_number_far_outside_the_file_is_no_problem() {
    let hunk = "@@ -4294967295,3 +1,3 @@\n a\n-b\n+B\n c\n";
    assert_eq!(apply(hunk, "a\nb\nc\n").unwrap(), "a\nB\nc\n");
    assert!(
        apply(hunk, "a\n")
            .unwrap_err()
            .contains("the file ends before line 4294967295")
    );
}
