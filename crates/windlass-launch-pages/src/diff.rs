//! What a launch changes, for people to read and to undo: `diff_report.md`, `pr_plan.json`.

use std::fmt::Write as _;

use windlass_launch_model::{ARTIFACT_VERSION, PrPlan};

use crate::markup;

/// One file before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file, relative to the site.
    pub path: String,
    /// Its text before; none for a new file.
    pub before: Option<String>,
    /// Its text after; none for a removed file.
    pub after: Option<String>,
}

impl Change {
    fn word(&self) -> &'static str {
        match (&self.before, &self.after) {
            (None, _) => "created",
            (_, None) => "removed",
            _ => "changed",
        }
    }

    fn diff(&self) -> String {
        let label = |side: &str, text: &Option<String>| match text {
            Some(_) => format!("{side}/{}", self.path),
            None => "/dev/null".to_owned(),
        };
        windlass_text::unified(
            self.before.as_deref().unwrap_or_default(),
            self.after.as_deref().unwrap_or_default(),
            &label("a", &self.before),
            &label("b", &self.after),
        )
    }
}

/// `diff_report.md`: a table of the files, then the difference of each.
pub fn diff_report(changes: &[Change]) -> String {
    let mut report = "# Changes\n\n".to_owned();
    if changes.is_empty() {
        report.push_str("Nothing changes.\n");
        return report;
    }
    report.push_str("| file | change | lines added | lines removed |\n| --- | --- | --- | --- |\n");
    let diffs: Vec<String> = changes.iter().map(Change::diff).collect();
    for (change, diff) in changes.iter().zip(&diffs) {
        // The first two lines of a difference are its labels.
        let count = |sign| {
            diff.lines()
                .skip(2)
                .filter(|line| line.starts_with(sign))
                .count()
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            report,
            "| {} | {} | {} | {} |",
            markup::code_span(&change.path).replace('|', "\\|"),
            change.word(),
            count('+'),
            count('-')
        );
    }
    for (change, diff) in changes.iter().zip(&diffs) {
        let fence = markup::fence(diff);
        let name = markup::code_span(&change.path);
        let _ = write!(report, "\n## {name}\n\n{fence}diff\n{diff}{fence}\n");
    }
    report
}

/// `pr_plan.json`: what is touched, and the commands that undo it once it is merged.
pub fn pr_plan(base_ref: &str, product_slug: &str, changes: &[Change]) -> PrPlan {
    let mut affected_paths: Vec<String> =
        changes.iter().map(|change| change.path.clone()).collect();
    affected_paths.sort();
    let paths = |of: &dyn Fn(&Change) -> bool| -> Vec<String> {
        let mut paths: Vec<String> = changes
            .iter()
            .filter(|change| of(change))
            .map(|change| quoted(&change.path))
            .collect();
        paths.sort();
        paths
    };
    let created = paths(&|change| change.before.is_none());
    let restored = paths(&|change| change.before.is_some());
    let mut rollback_steps = Vec::new();
    if !restored.is_empty() {
        rollback_steps.push(format!("git checkout {base_ref} -- {}", restored.join(" ")));
    }
    if !created.is_empty() {
        rollback_steps.push(format!("git rm -- {}", created.join(" ")));
    }
    if !rollback_steps.is_empty() {
        rollback_steps.push(format!(
            "git commit -m 'Roll back the launch of {product_slug}'"
        ));
    }
    PrPlan {
        schema_version: ARTIFACT_VERSION.to_owned(),
        base_ref: base_ref.to_owned(),
        rollback_steps,
        affected_paths,
    }
}

/// A path as one word of a shell.
fn quoted(path: &str) -> String {
    let plain = path
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-'));
    if plain {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes() -> Vec<Change> {
        let change = |path: &str, before: Option<&str>, after: Option<&str>| Change {
            path: path.to_owned(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        };
        vec![
            change("docs/a b.md", Some("one\n"), Some("two\n")),
            change("docs/new.md", None, Some("```py\nx\n```\n")),
        ]
    }

    #[test]
    fn the_report_shows_every_difference() {
        insta::assert_snapshot!(diff_report(&changes()), @"
        # Changes

        | file | change | lines added | lines removed |
        | --- | --- | --- | --- |
        | `docs/a b.md` | changed | 1 | 1 |
        | `docs/new.md` | created | 3 | 0 |

        ## `docs/a b.md`

        ```diff
        --- a/docs/a b.md	
        +++ b/docs/a b.md	
        @@ -1 +1 @@
        -one
        +two
        ```

        ## `docs/new.md`

        ````diff
        --- /dev/null
        +++ b/docs/new.md
        @@ -0,0 +1,3 @@
        +```py
        +x
        +```
        ````
        ");
    }

    #[test]
    fn the_plan_undoes_what_was_done() {
        let plan = pr_plan("abc123", "acme", &changes());
        assert_eq!(plan.affected_paths, ["docs/a b.md", "docs/new.md"]);
        assert_eq!(
            plan.rollback_steps,
            [
                "git checkout abc123 -- 'docs/a b.md'",
                "git rm -- docs/new.md",
                "git commit -m 'Roll back the launch of acme'",
            ]
        );
    }
}
