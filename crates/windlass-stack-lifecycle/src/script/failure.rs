//! Faults of stacks as problems, and the problems scripts have in common.

use windlass_ports::aws::AwsFailure;
use windlass_types::{Problem, code};

use crate::Fault;

/// What AWS did not do, as the public error.
pub(crate) fn aws(failure: AwsFailure) -> Problem {
    Fault::from(failure).into_problem()
}

/// Input or state that does not allow it.
pub(crate) fn refused(reason: &str, message: impl Into<String>) -> Problem {
    Problem::new(&code::INVALID_INPUT, message).with("reason", reason)
}

/// Something of a name that does not exist, with the names nearest to it.
pub(crate) fn not_found<'a>(
    kind: &str,
    name: &str,
    message: impl Into<String>,
    known: impl IntoIterator<Item = &'a str>,
) -> Problem {
    let mut ranked: Vec<(usize, &str)> = known
        .into_iter()
        .map(|known| (strsim::damerau_levenshtein(name, known), known))
        .collect();
    ranked.sort();
    let closest: Vec<&str> = ranked.into_iter().take(5).map(|(_, known)| known).collect();
    Problem::new(&code::NOT_FOUND, message)
        .with("reason", "not_found")
        .with("kind", kind)
        .with("name", name)
        .with("closest", closest)
}
