//! Exit codes: one mapping for every command, and the table its documentation page is made of.

use std::process::ExitCode;

use windlass_types::{Code, Problem, code};

/// Arguments that are not understood.
pub(crate) const USAGE: u8 = 2;
/// What `pack plan --check` and `pack status --check` looked for was found.
pub(crate) const FOUND: u8 = 3;
/// The gates of a launch found open issues.
pub(crate) const UNSOUND: u8 = 8;
/// The reader of standard output went away: 128 + SIGPIPE, as from other programs.
pub(crate) const CLOSED_PIPE: u8 = 141;

/// The exit code of a failure.
pub(crate) fn of(problem: &Problem) -> ExitCode {
    ExitCode::from(problem.code().exit_code)
}

/// The exit code of a failure of `windlass stack`: contract 000 has its own codes for programs, so
/// scripts need only distinguish success, usage and interruption.
pub(crate) fn of_stack(problem: &Problem) -> ExitCode {
    let is_usage = problem.details().get("constraint") == Some(&"usage".into());
    match problem.code() {
        code if code == &code::INTERRUPTED => of(problem),
        code if code == &code::INVALID_INPUT && is_usage => ExitCode::from(USAGE),
        _ => ExitCode::FAILURE,
    }
}

/// What each exit code means, in order.
pub fn meanings() -> Vec<(u8, &'static str, Vec<&'static Code>)> {
    let fixed: [(u8, &'static str); 12] = [
        (0, "It worked."),
        (
            1,
            "A run failed or was cancelled; its effects were undone or are listed. Every failure of \
             `windlass pack` and `windlass stack`.",
        ),
        (
            USAGE,
            "The arguments, the input or a settings file are invalid.",
        ),
        (
            FOUND,
            "Not found, or not visible to the caller. Of `windlass pack` \
             with `--check`: something would change or has drifted.",
        ),
        (4, "Refused: policy, scope, confirmation or approval."),
        (
            5,
            "Conflicts with the current state; check it, then decide.",
        ),
        (
            6,
            "Temporarily unavailable: busy, rate limited, or a service did not answer. Try again.",
        ),
        (
            7,
            "The store cannot be used: full, damaged or not accessible.",
        ),
        (
            UNSOUND,
            "Of `windlass launch`: the gates ran and found open issues. The run waits for a \
             decision.",
        ),
        (70, "A defect in Windlass."),
        (
            130,
            "Interrupted. A durable run that was started continues and can be followed again.",
        ),
        (CLOSED_PIPE, "The reader of the output closed it."),
    ];
    fixed
        .into_iter()
        .map(|(exit, meaning)| {
            (
                exit,
                meaning,
                code::ALL
                    .iter()
                    .copied()
                    .filter(|code| code.exit_code == exit)
                    .collect(),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_documented_exit_code() {
        let meanings = meanings();
        for code in code::ALL {
            let listed = meanings.iter().find(|(exit, _, _)| *exit == code.exit_code);
            assert!(
                listed.is_some_and(|(_, _, codes)| codes.contains(code)),
                "{}",
                code.name
            );
        }
        assert!(meanings.is_sorted_by_key(|(exit, _, _)| *exit));
    }

    #[test]
    fn a_stack_fails_with_one() {
        let cases = [
            (Problem::new(&code::DEPLOY_FAILED, "x"), 1),
            (Problem::new(&code::CONFIRM_REQUIRED, "x"), 1),
            (Problem::invalid("sql", "required", "x"), 1),
            (Problem::invalid("arguments", "usage", "x"), 2),
            (Problem::new(&code::INTERRUPTED, "x"), 130),
            (Problem::internal("x", "x"), 1),
        ];
        for (problem, expected) in cases {
            assert_eq!(of_stack(&problem), ExitCode::from(expected), "{problem}");
        }
    }

    #[test]
    fn problems_map_to_their_code() {
        let cases = [
            (&code::RUN_NOT_FOUND, 3),
            (&code::INTERRUPTED, 130),
            (&code::INTERNAL, 70),
        ];
        for (code, expected) in cases {
            assert_eq!(of(&Problem::new(code, "x")), ExitCode::from(expected));
        }
    }
}
