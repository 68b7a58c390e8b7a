//! How much a launch may change: files, lines, and how many of them only for their looks.
//!
//! Pure counting. What happens when a budget is spent is up to the run; how bad a change of
//! looks alone is, up to the gates.

use std::collections::BTreeSet;

use windlass_launch_model::config::Budgets;
use windlass_text::{HunkLine, parse_patch, unified};

use crate::diff::Change;

/// A budget that does not suffice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the budget {name} allows {limit} and {actual} were needed{}", .path.as_ref().map(|path| format!(" for {path}")).unwrap_or_default())]
pub struct Exceeded {
    /// The budget, as the configuration names it.
    pub name: &'static str,
    /// What it allows.
    pub limit: u64,
    /// What was needed.
    pub actual: u64,
    /// The file it is about, when it is about one.
    pub path: Option<String>,
}

impl Exceeded {
    /// The run's failure code, `BUDGET_EXCEEDED_<NAME>`.
    pub fn code(&self) -> String {
        format!("BUDGET_EXCEEDED_{}", self.name.to_ascii_uppercase())
    }
}

/// Whether these changes are within the budgets for files changed, files written and lines.
pub fn check_changes(changes: &[Change], budgets: &Budgets) -> Result<(), Exceeded> {
    let files: BTreeSet<&str> = changes.iter().map(|change| change.path.as_str()).collect();
    let files = files.len() as u64;
    within("max_files_changed", budgets.max_files_changed, files)?;
    check_file_writes(files, budgets)?;
    for change in changes {
        let text = change.after.as_deref().unwrap_or_default();
        check_lines(&change.path, text, budgets)?;
    }
    Ok(())
}

/// Whether a file is short enough to be written.
pub fn check_lines(path: &str, text: &str, budgets: &Budgets) -> Result<(), Exceeded> {
    let lines = text.lines().count() as u64;
    within("max_lines_per_file", budgets.max_lines_per_file, lines).map_err(|exceeded| Exceeded {
        path: Some(path.to_owned()),
        ..exceeded
    })
}

/// How many lines a page is given when it is written. One in twenty is left for what fixers add.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a page that long does not fit into memory either"
)]
pub(crate) const fn room(max_lines: u64) -> usize {
    (max_lines - max_lines / 20) as usize
}

/// Whether this many files may be written in a run.
pub fn check_file_writes(writes: u64, budgets: &Budgets) -> Result<(), Exceeded> {
    within("max_file_writes", budgets.max_file_writes, writes)
}

/// Whether this many patches may be tried in a run.
pub fn check_patch_attempts(attempts: u64, budgets: &Budgets) -> Result<(), Exceeded> {
    within("max_patch_attempts", budgets.max_patch_attempts, attempts)
}

fn within(name: &'static str, limit: u64, actual: u64) -> Result<(), Exceeded> {
    if actual <= limit {
        return Ok(());
    }
    Err(Exceeded {
        name,
        limit,
        actual,
        path: None,
    })
}

/// The lines of a change: all, and those that differ in their looks alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChangedLines {
    /// Lines added and lines removed.
    pub all: u64,
    /// Those of them whose words stay the same.
    pub formatting: u64,
}

impl ChangedLines {
    /// Whether more than four of five lines are changed for their looks alone.
    pub const fn is_mostly_formatting(self) -> bool {
        self.formatting * 100 > self.all * 80
    }
}

/// Counts what differs between two texts.
pub fn changed_lines(before: &str, after: &str) -> ChangedLines {
    let mut counted = ChangedLines::default();
    // A difference that was just made is well formed.
    let Ok(patch) = parse_patch(&unified(before, after, "a", "b")) else {
        return counted;
    };
    for hunk in &patch.hunks {
        // Blank lines stay wherever they happen to fit, so they part nothing.
        let parts =
            |line: &HunkLine| matches!(line, HunkLine::Context(text) if !text.trim().is_empty());
        for edit in hunk.lines.split(parts) {
            let (removed, added) = (said(edit, true), said(edit, false));
            counted.all += (removed.len() + added.len()) as u64;
            counted.formatting += formatting(removed, added);
        }
    }
    counted
}

/// What the removed or the added lines of an edit say.
fn said(edit: &[HunkLine], of_removed: bool) -> Vec<String> {
    edit.iter()
        .filter_map(|line| match line {
            HunkLine::Removed(text) if of_removed => Some(words(text)),
            HunkLine::Added(text) if !of_removed => Some(words(text)),
            _ => None,
        })
        .collect()
}

/// How many lines of an edit say what was said before.
fn formatting(mut removed: Vec<String>, mut added: Vec<String>) -> u64 {
    let all = removed.len() + added.len();
    // Words may have moved from line to line.
    if removed.concat() == added.concat() {
        return all as u64;
    }
    removed.retain(|line| !line.is_empty());
    added.retain(|line| !line.is_empty());
    let blank = all - removed.len() - added.len();
    let mut kept = 0;
    for line in &removed {
        if let Some(at) = added.iter().position(|other| other == line) {
            added.swap_remove(at);
            kept += 2;
        }
    }
    (blank + kept) as u64
}

/// What a line says: without white space, and without the marks of lists, headings, emphasis and
/// tables.
fn words(line: &str) -> String {
    let line = line.trim();
    let is_rule = line
        .chars()
        .all(|c| matches!(c, '|' | '-' | ':' | '=' | ' ' | '*' | '_'));
    if is_rule {
        return String::new();
    }
    let line = line.trim_start_matches(['#', '>', '-', '*', '+', ' ']);
    line.chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, '*' | '_' | '|'))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn change(path: &str, lines: usize) -> Change {
        Change {
            path: path.to_owned(),
            before: None,
            after: Some("x\n".repeat(lines)),
        }
    }

    #[test]
    fn budgets_allow_exactly_their_limit() {
        let budgets = Budgets {
            max_files_changed: 2,
            max_file_writes: 2,
            max_lines_per_file: 3,
            max_patch_attempts: 1,
            ..Budgets::default()
        };
        let small = [change("a.md", 3), change("b.md", 1)];
        assert_eq!(check_changes(&small, &budgets), Ok(()));
        assert_eq!(check_changes(&[], &budgets), Ok(()));

        let many = [change("a.md", 1), change("b.md", 1), change("c.md", 1)];
        let exceeded = check_changes(&many, &budgets).unwrap_err();
        assert_eq!(exceeded.code(), "BUDGET_EXCEEDED_MAX_FILES_CHANGED");
        assert_eq!((exceeded.limit, exceeded.actual), (2, 3));

        let long = check_changes(&[change("a.md", 4)], &budgets).unwrap_err();
        assert_eq!(long.code(), "BUDGET_EXCEEDED_MAX_LINES_PER_FILE");
        assert_eq!(
            long.to_string(),
            "the budget max_lines_per_file allows 3 and 4 were needed for a.md"
        );

        let roomy = Budgets {
            max_files_changed: 9,
            ..budgets.clone()
        };
        let writes = check_changes(&many, &roomy).unwrap_err();
        assert_eq!(writes.name, "max_file_writes");
        assert_eq!(check_patch_attempts(1, &budgets), Ok(()));
        assert_eq!(
            check_patch_attempts(2, &budgets).unwrap_err().code(),
            "BUDGET_EXCEEDED_MAX_PATCH_ATTEMPTS"
        );
    }

    #[test]
    fn styles_are_distinguished_from_words() {
        for (before, after, all, formatting) in [
            ("a b c\n", "a b c\n", 0, 0),
            ("a b c\n", "a  b c \n", 2, 2),
            ("a b\nc d\n", "a b c d\n", 3, 3),
            ("* a\n* b\n", "- a\n- b\n", 4, 4),
            ("**a** b\n", "__a__ b\n", 2, 2),
            ("| a | b |\n| - | - |\n", "|a|b|\n|---|---|\n", 4, 4),
            ("Title\n=====\n", "# Title\n", 3, 3),
            ("a\nb\n", "a\n\nb\n", 1, 1),
            ("x\n\na  b\n\ny\n", "x\n\n\na b\ny\n", 2, 2),
            ("a b\n", "a c\n", 2, 0),
            ("a\n* b\nc\n", "d\n- b\ne\n", 6, 2),
            ("see [x](/a/)\n", "see [x](/b/)\n", 2, 0),
        ] {
            let counted = changed_lines(before, after);
            assert_eq!(
                (counted.all, counted.formatting),
                (all, formatting),
                "{before:?} {after:?}"
            );
        }
    }

    #[test]
    fn four_of_five_is_not_more_than_four_of_five() {
        let lines = |formatting, all| ChangedLines { all, formatting };
        assert!(!lines(0, 0).is_mostly_formatting());
        assert!(!lines(4, 5).is_mostly_formatting());
        assert!(lines(5, 6).is_mostly_formatting());
    }

    proptest! {
        #[test]
        fn no_more_lines_are_formatting_than_changed(before in "[ab*\\- \n]{0,60}", after in "[ab*\\- \n]{0,60}") {
            let counted = changed_lines(&before, &after);
            prop_assert!(counted.formatting <= counted.all);
            prop_assert_eq!(counted.all == 0, before == after);
        }
    }
}
