//! The names of proposal branches.

use windlass_pack_model::{fault, module_id::sanitise};
use windlass_ports::git::check_reference;
use windlass_types::Problem;

use crate::evolve::scope::Scope;

/// A branch is a file below `.git`; a longer module id would not fit into its name.
const MODULE_LENGTH: usize = 100;

/// Refuses what cannot be a branch's name, before anything is done.
pub fn check_branch(branch: &str) -> Result<(), Problem> {
    let rule = match check_reference(branch) {
        Err(refused) => refused.rule,
        Ok(()) if branch == "HEAD" || branch.starts_with("refs/") => {
            "a branch is not called `HEAD` and its name does not start with `refs/`"
        }
        Ok(()) => return Ok(()),
    };
    Err(fault::config_invalid(format!(
        "the branch name {branch:?} is refused: {rule}; choose another with --branch, or leave it out"
    ))
    .with("branch", branch)
    .with("field", "branch")
    .with("hint", rule))
}

/// The name when none is given: scope, module and time.
pub(crate) fn default_name<'a>(
    scope: Scope,
    modules: impl IntoIterator<Item = &'a str>,
    now: &str,
) -> String {
    let mut modules = modules.into_iter();
    let module = match (modules.next(), modules.next()) {
        (Some(only), None) => {
            let mut name = sanitise(only);
            name.truncate(MODULE_LENGTH);
            name
        }
        _ => "multi".to_owned(),
    };
    format!("evolve/propose-{scope}-{module}-{}", stamp(now))
}

/// `2026-01-02T03:04:05.6Z` as `20260102T030405Z-600000000`.
fn stamp(now: &str) -> String {
    let (seconds, fraction) = now
        .trim_end_matches('Z')
        .split_once('.')
        .unwrap_or((now.trim_end_matches('Z'), ""));
    let alphanumeric =
        |text: &str| -> String { text.chars().filter(char::is_ascii_alphanumeric).collect() };
    let fraction: String = alphanumeric(fraction).chars().take(9).collect();
    format!("{}Z-{fraction:0<9}", alphanumeric(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_scope_module_and_time() {
        let now = "2026-01-02T03:04:05.000006789Z";
        for (modules, expected) in [
            (
                vec!["skill:demo"],
                "evolve/propose-machine-skill_demo-20260102T030405Z-000006789",
            ),
            (
                vec!["a", "b"],
                "evolve/propose-machine-multi-20260102T030405Z-000006789",
            ),
        ] {
            let name = default_name(Scope::Machine, modules, now);
            assert_eq!(name, expected);
            check_branch(&name).unwrap();
        }
        let long = "é".repeat(300);
        let name = default_name(Scope::Global, [long.as_str()], "2026-01-02T03:04:05Z");
        assert!(name.len() < 200, "{name}");
        assert!(name.ends_with("-20260102T030405Z-000000000"), "{name}");
        check_branch(&name).unwrap();
    }

    #[test]
    fn must_4_and_25_branches_cannot_be_options_or_leave_their_directory() {
        for branch in [
            "",
            "-d",
            "--force",
            "..",
            "a/../../hooks",
            "/abs",
            "a\0b",
            "a b",
            "x.lock",
            "HEAD",
            "refs/heads/x",
            "@",
            "a~1",
        ] {
            let problem = check_branch(branch).unwrap_err();
            assert_eq!(problem.code().name, "E_CONFIG_INVALID", "{branch:?}");
            assert_eq!(problem.details()["branch"], branch);
        }
        for branch in ["mine", "feature/x-1", "evolve/propose"] {
            check_branch(branch).unwrap();
        }
    }
}
