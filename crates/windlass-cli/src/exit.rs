//! Exit codes: one mapping for every command, and the table its documentation page is made of.

use std::{collections::BTreeMap, process::ExitCode};

use windlass_types::{Code, Problem, code};

use crate::cli;

/// Arguments that are not understood.
pub(crate) const USAGE: u8 = 2;
/// What a command with `--check` looked for was found.
pub(crate) const FOUND: u8 = 3;
/// Checks ran and found open issues.
pub(crate) const UNSOUND: u8 = 8;
/// The reader of standard output went away: 128 + SIGPIPE, as from other programs.
pub(crate) const CLOSED_PIPE: u8 = 141;

/// The exit code of a failure.
pub(crate) fn of(problem: &Problem) -> ExitCode {
    ExitCode::from(problem.code().exit_code)
}

/// What each exit code means, in order.
pub fn meanings() -> Vec<(u8, String, Vec<&'static Code>)> {
    let mut meanings: BTreeMap<u8, String> = MEANINGS
        .into_iter()
        .map(|(exit, meaning)| (exit, meaning.to_owned()))
        .collect();
    for (exit, note) in cli::exit_notes() {
        let meaning = meanings.entry(exit).or_default();
        if !meaning.is_empty() {
            meaning.push(' ');
        }
        meaning.push_str(note);
    }
    meanings
        .into_iter()
        .map(|(exit, meaning)| {
            let leading = |code: &&'static Code| code.exit_code == exit;
            let codes = code::ALL.iter().copied().filter(leading).collect();
            (exit, meaning, codes)
        })
        .collect()
}

/// What exit codes mean for every command; groups of commands may add to it.
const MEANINGS: [(u8, &str); 11] = [
    (0, "It worked."),
    (
        1,
        "A run failed or was cancelled; its effects were undone or are listed.",
    ),
    (
        USAGE,
        "The arguments, the input or a settings file are invalid.",
    ),
    (FOUND, "Not found, or not visible to the caller."),
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
    (70, "A defect in Windlass."),
    (
        130,
        "Interrupted. A durable run that was started continues and can be followed again.",
    ),
    (CLOSED_PIPE, "The reader of the output closed it."),
];

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
