//! Patches from git, diff, mails and hands; and texts that are none.

use proptest::prelude::*;

use super::*;
use crate::samples;

const HEADER: &str = "--- a/x.md\n+++ b/x.md\n";

fn lines(patch: &Patch) -> Vec<String> {
    patch
        .hunks
        .iter()
        .flat_map(|hunk| &hunk.lines)
        .map(|line| match line {
            HunkLine::Context(text) => format!(" {text}"),
            HunkLine::Removed(text) => format!("-{text}"),
            HunkLine::Added(text) => format!("+{text}"),
        })
        .collect()
}

#[test]
fn a_patch_by_git_is_read() {
    let patch = parse_patch(
        "diff --git a/SKILL.md b/SKILL.md\nindex 83db48f..bf269f4 100644\n--- a/SKILL.md\n\
         +++ b/SKILL.md\n@@ -1,2 +1,2 @@ fn heading()\n a\n-b\n+c\n@@ -10 +10,2 @@\n x\n+y\n",
    )
    .unwrap();
    assert_eq!(patch.before_path.as_deref(), Some("SKILL.md"));
    assert_eq!(patch.after_path.as_deref(), Some("SKILL.md"));
    assert_eq!(
        patch
            .hunks
            .iter()
            .map(|hunk| (hunk.patch_line, hunk.header.as_str(), hunk.before_start))
            .collect::<Vec<_>>(),
        [(5, "@@ -1,2 +1,2 @@", 1), (9, "@@ -10 +10,2 @@", 10)]
    );
    assert_eq!(lines(&patch), [" a\n", "-b\n", "+c\n", " x\n", "+y\n"]);
}

#[test]
fn must_19_a_removed_line_that_starts_with_two_dashes_is_not_a_header() {
    // The pair looks exactly like a file header, and so do the lines after it.
    let patch = parse_patch(&format!(
        "{HEADER}@@ -1,4 +1,4 @@\n a\n--- a/other.md\n+++ b/other.md\n-@@ -1 +1 @@\n+diff --git a/y b/y\n c\n"
    ))
    .unwrap();
    assert_eq!(patch.before_path.as_deref(), Some("x.md"));
    assert_eq!(
        lines(&patch),
        [
            " a\n",
            "--- a/other.md\n",
            "+++ b/other.md\n",
            "-@@ -1 +1 @@\n",
            "+diff --git a/y b/y\n",
            " c\n"
        ]
    );
    assert_eq!(
        patch.apply("a\n-- a/other.md\n@@ -1 +1 @@\nc\n").unwrap(),
        "a\n++ b/other.md\ndiff --git a/y b/y\nc\n"
    );
}

#[test]
fn a_binary_marker_inside_a_hunk_is_text() {
    let patch = parse_patch(&format!(
        "{HEADER}@@ -1 +1,2 @@\n GIT binary patch\n+Binary files a and b differ\n"
    ));
    assert!(patch.is_ok());
}

#[test]
fn ends_of_line_and_of_file_are_kept() {
    for (hunk, expected) in [
        ("@@ -1 +1 @@\n-a\r\n+b\r\n", vec!["-a\r\n", "+b\r\n"]),
        (
            "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n",
            vec!["-a", "+b\n"],
        ),
        (
            "@@ -1 +1 @@\n-a\n+b\r\n\\ Kein Zeilenumbruch am Dateiende.\n",
            vec!["-a\n", "+b\r"],
        ),
        // The patch's own last newline is missing.
        ("@@ -1 +1 @@\n-a\n+b", vec!["-a\n", "+b\n"]),
        // An editor cut the blank of an empty context line.
        ("@@ -1,2 +1,3 @@\n a\n\n+b\n", vec![" a\n", " \n", "+b\n"]),
    ] {
        let patch = parse_patch(&format!("{HEADER}{hunk}")).unwrap();
        assert_eq!(lines(&patch), expected, "{hunk:?}");
    }
}

#[test]
fn creating_and_deleting_patches_have_one_path() {
    let created = parse_patch("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n").unwrap();
    assert_eq!(
        (created.before_path, created.after_path),
        (None, Some("x".to_owned()))
    );
    let deleted = parse_patch("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n").unwrap();
    assert_eq!(
        (deleted.before_path, deleted.after_path),
        (Some("x".to_owned()), None)
    );
}

#[test]
fn mails_blank_ends_and_crlf_headers_are_fine() {
    for text in [
        "From: a\nSubject: b\n\n---\n x | 2 +-\n\n--- a/x.md\n+++ b/x.md\n@@ -1 +1 @@\n-a\n+b\n-- \n2.47.3\n\n",
        "--- a/x.md\r\n+++ b/x.md\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n\r\n",
        "--- x.md\t2024-01-01 10:00:00 +0100\n+++ x.md\t2024-01-01 10:00:01 +0100\n@@ -1 +1 @@\n-a\n+b\n\n\n",
    ] {
        let patch = parse_patch(text).unwrap();
        assert_eq!(patch.before_path.as_deref(), Some("x.md"));
        assert_eq!(patch.hunks.len(), 1);
    }
}

#[test]
fn what_is_not_a_patch_of_one_file_is_refused_with_its_line() {
    let hunk = "@@ -1 +1 @@\n-a\n+b\n";
    for (text, expected) in [
        (
            String::new(),
            "the patch has no file header: a `--- a/<path>` line followed by `+++ b/<path>`",
        ),
        (
            hunk.to_owned(),
            "the patch has no file header: a `--- a/<path>` line followed by `+++ b/<path>`",
        ),
        (
            format!("--- a/x\n{hunk}"),
            "the patch has no file header: a `--- a/<path>` line followed by `+++ b/<path>`",
        ),
        (HEADER.to_owned(), "line 3: no hunk follows the file header"),
        ("--- \n+++ b/x\n".to_owned(), "line 1: `` names no path"),
        (
            "--- a/x\n+++ \"b/x\n".to_owned(),
            "line 2: `\"b/x` names no path",
        ),
        (
            format!("{HEADER}nothing\n"),
            "line 3: `nothing` is not a hunk header like `@@ -1,3 +1,4 @@`",
        ),
        (
            format!("{HEADER}@@ -1,x +1 @@\n"),
            "line 3: `@@ -1,x +1 @@` is not a hunk header like `@@ -1,3 +1,4 @@`",
        ),
        (
            format!("{HEADER}@@ -0 +1 @@\n"),
            "line 3: `@@ -0 +1 @@` is not a hunk header like `@@ -1,3 +1,4 @@`",
        ),
        (
            format!("{HEADER}@@ -0,0 +0,0 @@\n"),
            "line 3: `@@ -0,0 +0,0 @@` is not a hunk header like `@@ -1,3 +1,4 @@`",
        ),
        (
            format!("{HEADER}@@ -4294967296 +1 @@\n"),
            "line 3: `@@ -4294967296 +1 @@` is not a hunk header like `@@ -1,3 +1,4 @@`",
        ),
        (
            format!("{HEADER}@@ -1,2 +1,3 @@\n a\n"),
            "line 4: the patch ends inside the hunk `@@ -1,2 +1,3 @@`; lines missing of the file before: 1, after: 2",
        ),
        (
            format!("{HEADER}@@ -1,2 +1,2 @@\n-a\n*b\n"),
            "line 5: `*b` does not fit into the hunk `@@ -1,2 +1,2 @@`",
        ),
        (
            format!("{HEADER}@@ -1 +1 @@\n-a\n-b\n"),
            "line 5: `-b` does not fit into the hunk `@@ -1 +1 @@`",
        ),
        (
            format!("{HEADER}{hunk}+c\n"),
            "line 6: `+c` follows the hunk `@@ -1 +1 @@`, which is complete by its header",
        ),
        (
            format!("{HEADER}{hunk}\n+c\n"),
            "line 7: `+c` follows the hunk `@@ -1 +1 @@`, which is complete by its header",
        ),
        (
            format!("{HEADER}{hunk}--- a/y\n+++ b/y\n{hunk}"),
            "line 6: the patch changes more than one file",
        ),
        (
            format!("{HEADER}{hunk}diff --git a/y b/y\n"),
            "line 6: the patch changes more than one file",
        ),
        (
            format!("diff --git a/y b/y\nnew file mode 100644\ndiff --git a/x b/x\n{HEADER}{hunk}"),
            "line 3: the patch changes more than one file",
        ),
        (
            "diff --git a/x b/x\nGIT binary patch\nliteral 3\n".to_owned(),
            "line 2: the patch is of a binary file",
        ),
        (
            "Binary files a/x and b/x differ\n".to_owned(),
            "line 1: the patch is of a binary file",
        ),
        (
            format!("{HEADER}@@ -1 +1 @@\n\\ No newline at end of file\n-a\n+b\n"),
            "line 4: `\\ No newline` where the file does not end",
        ),
        (
            format!("{HEADER}@@ -1,2 +1 @@\n-a\n\\ No newline at end of file\n-c\n+b\n"),
            "line 5: `\\ No newline` where the file does not end",
        ),
        (
            format!(
                "{HEADER}@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n@@ -9 +9 @@\n-a\n+b\n"
            ),
            "line 6: `\\ No newline` where the file does not end",
        ),
    ] {
        assert_eq!(
            parse_patch(&text).unwrap_err().to_string(),
            expected,
            "{text:?}"
        );
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_but_never_breaks(text in samples::text()) {
        let _ = parse_patch(&text);
        let _ = parse_patch(&format!("{HEADER}@@ -1,3 +1,3 @@\n{text}"));
    }
}
