//! The fifteen states of a run, and the one table of what may follow what.

use serde::{Deserialize, Serialize};

/// A state.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum LaunchState {
    /// Accepted.
    Created,
    /// Both repositories are here.
    ClonedInputs,
    /// The product repository was read.
    Ingested,
    /// Facts, evidence and snippets are known.
    FactsReady,
    /// The pages are planned.
    PlanReady,
    /// Sections are being written.
    Drafting,
    /// Every section is written.
    DraftReady,
    /// Drafts are being patched into the site.
    Linking,
    /// The gates run, or have found something.
    Validating,
    /// One issue is being fixed.
    Fixing,
    /// Every gate passed.
    ReadyForPr,
    /// The pull request is open.
    PrOpened,
    /// All done.
    Done,
    /// Given up.
    Failed,
    /// Cancelled by a caller.
    Cancelled,
}

impl LaunchState {
    /// All of them, in the order of a run.
    pub const ALL: [Self; 15] = [
        Self::Created,
        Self::ClonedInputs,
        Self::Ingested,
        Self::FactsReady,
        Self::PlanReady,
        Self::Drafting,
        Self::DraftReady,
        Self::Linking,
        Self::Validating,
        Self::Fixing,
        Self::ReadyForPr,
        Self::PrOpened,
        Self::Done,
        Self::Failed,
        Self::Cancelled,
    ];

    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "CREATED",
            Self::ClonedInputs => "CLONED_INPUTS",
            Self::Ingested => "INGESTED",
            Self::FactsReady => "FACTS_READY",
            Self::PlanReady => "PLAN_READY",
            Self::Drafting => "DRAFTING",
            Self::DraftReady => "DRAFT_READY",
            Self::Linking => "LINKING",
            Self::Validating => "VALIDATING",
            Self::Fixing => "FIXING",
            Self::ReadyForPr => "READY_FOR_PR",
            Self::PrOpened => "PR_OPENED",
            Self::Done => "DONE",
            Self::Failed => "FAILED",
            Self::Cancelled => "CANCELLED",
        }
    }

    /// The state of a name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }

    /// Whether nothing follows.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }

    /// Whether a run may go from here to there.
    pub fn may_become(self, next: Self) -> bool {
        use LaunchState as S;
        if self.is_terminal() {
            return false;
        }
        if matches!(next, S::Failed | S::Cancelled) {
            return true;
        }
        matches!(
            (self, next),
            (S::Created, S::ClonedInputs)
                | (S::ClonedInputs, S::Ingested)
                | (S::Ingested, S::FactsReady)
                | (S::FactsReady, S::PlanReady)
                | (S::PlanReady, S::Drafting)
                | (S::Drafting, S::DraftReady)
                | (S::DraftReady, S::Linking)
                | (S::Linking, S::Validating)
                | (S::Validating, S::ReadyForPr | S::Fixing)
                | (S::Fixing, S::Validating)
                | (S::ReadyForPr, S::PrOpened)
                | (S::PrOpened, S::Done)
        )
    }

    /// Whether one or more steps lead from here to there.
    pub fn can_reach(self, target: Self) -> bool {
        let mut seen = vec![self];
        let mut next = 0;
        while let Some(from) = seen.get(next).copied() {
            next += 1;
            for to in Self::ALL {
                if !from.may_become(to) {
                    continue;
                }
                if to == target {
                    return true;
                }
                if !seen.contains(&to) {
                    seen.push(to);
                }
            }
        }
        false
    }

    /// Whether a run here is as far as that state or farther; a run that failed or was cancelled
    /// is nowhere.
    pub fn has_reached(self, state: Self) -> bool {
        !matches!(self, Self::Failed | Self::Cancelled) && self >= state
    }

    /// Whether a run may stop here and be resumed without going back.
    pub const fn is_stable(self) -> bool {
        matches!(self, Self::PlanReady | Self::DraftReady | Self::ReadyForPr)
    }

    /// Where an interrupted run goes back to; itself where it continues in place.
    pub const fn rewind(self) -> Self {
        match self {
            Self::Drafting => Self::PlanReady,
            Self::Linking | Self::Validating | Self::Fixing => Self::DraftReady,
            other => other,
        }
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
