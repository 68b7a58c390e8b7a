//! The transition table, written out a second time.

use super::*;

/// Row: from; column: to; both in the order of `ALL`. `x` = allowed.
const TABLE: &str = "
    CREATED         . x . . . . . . . . . . . x x
    CLONED_INPUTS   . . x . . . . . . . . . . x x
    INGESTED        . . . x . . . . . . . . . x x
    FACTS_READY     . . . . x . . . . . . . . x x
    PLAN_READY      . . . . . x . . . . . . . x x
    DRAFTING        . . . . . . x . . . . . . x x
    DRAFT_READY     . . . . . . . x . . . . . x x
    LINKING         . . . . . . . . x . . . . x x
    VALIDATING      . . . . . . . . . x x . . x x
    FIXING          . . . . . . . . x . . . . x x
    READY_FOR_PR    . . . . . . . . . . . x . x x
    PR_OPENED       . . . . . . . . . . . . x x x
    DONE            . . . . . . . . . . . . . . .
    FAILED          . . . . . . . . . . . . . . .
    CANCELLED       . . . . . . . . . . . . . . .
";

#[test]
fn every_pair_of_states() {
    let rows: Vec<Vec<&str>> = TABLE
        .lines()
        .map(|line| line.split_whitespace().collect())
        .filter(|row: &Vec<&str>| !row.is_empty())
        .collect();
    assert_eq!(rows.len(), 15);
    for (from, row) in LaunchState::ALL.into_iter().zip(&rows) {
        assert_eq!(row.len(), 16);
        assert_eq!(row[0], from.as_str());
        for (to, cell) in LaunchState::ALL.into_iter().zip(&row[1..]) {
            assert_eq!(from.may_become(to), *cell == "x", "{from:?} → {to:?}");
        }
    }
}

#[test]
fn names_are_read_back() {
    for state in LaunchState::ALL {
        assert_eq!(LaunchState::by_name(state.as_str()), Some(state));
        assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
    }
    for name in ["", "done", "NOPE", "DONE "] {
        assert_eq!(LaunchState::by_name(name), None);
    }
}

#[test]
fn only_final_states_have_no_successor() {
    for state in LaunchState::ALL {
        let goes_on = LaunchState::ALL
            .into_iter()
            .any(|next| state.may_become(next));
        assert_eq!(goes_on, !state.is_terminal(), "{state:?}");
        assert_eq!(
            state.can_reach(LaunchState::Done),
            !state.is_terminal(),
            "{state:?}"
        );
    }
}

#[test]
fn what_is_still_reachable() {
    use LaunchState as S;
    for (from, to, reachable) in [
        (S::Created, S::ReadyForPr, true),
        (S::Validating, S::Validating, true),
        (S::ReadyForPr, S::Validating, false),
        (S::ReadyForPr, S::ReadyForPr, false),
        (S::Drafting, S::PlanReady, false),
        (S::Failed, S::ReadyForPr, false),
        (S::PrOpened, S::Cancelled, true),
    ] {
        assert_eq!(from.can_reach(to), reachable, "{from:?} → {to:?}");
    }
}

#[test]
fn an_interrupted_run_returns_to_a_resting_state_or_stays() {
    use LaunchState as S;
    for state in LaunchState::ALL {
        let expected = match state {
            S::Drafting => S::PlanReady,
            S::Linking | S::Validating | S::Fixing => S::DraftReady,
            other => other,
        };
        assert_eq!(state.rewind(), expected);
        assert!(state.rewind() == state || state.rewind().is_stable());
    }
}

#[test]
fn how_far_a_run_has_come() {
    use LaunchState as S;
    for (state, far_enough) in [
        (S::DraftReady, false),
        (S::Linking, true),
        (S::Validating, true),
        (S::Done, true),
        (S::Failed, false),
        (S::Cancelled, false),
    ] {
        assert_eq!(state.has_reached(S::Linking), far_enough, "{state:?}");
    }
}
