//! Pushes that overwrite and commands that lose commits or work.

use super::{Found, Guard};
use crate::tools::Site;

pub(crate) fn find(site: &Site<'_>, found: &mut Found) {
    if site.name() != "git" {
        return;
    }
    let verbs = site.verbs();
    let (Some(verb), rest) = (verbs.first().copied(), verbs.get(1..).unwrap_or_default()) else {
        return;
    };
    let has = |long: &[&str], letters: &str| site.has_option(long, letters);
    let first = rest.first().copied().unwrap_or_default();
    match verb {
        "push" => {
            let forces = has(
                &[
                    "--force",
                    "--force-with-lease",
                    "--force-if-includes",
                    "--mirror",
                    "--delete",
                    "--prune",
                ],
                "fd",
            ) || rest.iter().any(|refspec| refspec.starts_with(['+', ':']));
            if forces {
                found.add(Guard::ForcePush, "it overwrites or deletes what was pushed");
            }
        }
        "filter-branch" | "filter-repo" | "rebase" | "replace" => {
            found.add(
                Guard::HistoryRewrite,
                format!("git {verb} rewrites commits"),
            );
        }
        "reset" if has(&["--hard", "--merge", "--keep"], "") => {
            found.add(Guard::HistoryRewrite, "git reset drops uncommitted work");
        }
        "commit" if has(&["--amend"], "") => {
            found.add(
                Guard::HistoryRewrite,
                "git commit --amend replaces a commit",
            );
        }
        "branch" | "tag" if has(&["--delete", "--force", "-D"], "dDfM") => {
            found.add(
                Guard::HistoryRewrite,
                format!("git {verb} removes or moves a name of commits"),
            );
        }
        "reflog" if matches!(first, "expire" | "delete") => {
            found.add(Guard::HistoryRewrite, "git reflog forgets commits");
        }
        "gc" if has(&["--prune"], "") => {
            found.add(Guard::HistoryRewrite, "git gc --prune forgets commits");
        }
        "prune" => found.add(Guard::HistoryRewrite, "git prune forgets commits"),
        "update-ref" if has(&["--stdin"], "d") => {
            found.add(
                Guard::HistoryRewrite,
                "git update-ref removes a name of commits",
            );
        }
        "stash" if matches!(first, "drop" | "clear") => {
            found.add(
                Guard::HistoryRewrite,
                format!("git stash {first} forgets work"),
            );
        }
        "checkout" | "switch"
            if has(&["--force", "--discard-changes", "--"], "f") || rest.contains(&".") =>
        {
            found.add(
                Guard::HistoryRewrite,
                format!("git {verb} drops uncommitted work"),
            );
        }
        "restore" if !has(&["--staged"], "S") => {
            found.add(Guard::HistoryRewrite, "git restore drops uncommitted work");
        }
        "worktree" if first == "remove" && has(&["--force"], "f") => {
            found.add(
                Guard::HistoryRewrite,
                "git worktree remove drops uncommitted work",
            );
        }
        _ => {}
    }
}
