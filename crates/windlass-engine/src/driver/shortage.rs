//! Work that meets a machine which has run out of something waits and is done again.
//!
//! The pauses grow to a minute and end after about an hour: a step then fails and an undo leaves
//! residue, which a rollback of the run takes up again. What is waited for is in the journal as a
//! wait for time with a reason, so that everyone who looks at the run sees it.

use std::time::Duration;

use windlass_types::{
    ApprovalTerms, Body, Problem, Shortage, Timestamp,
    journal::{WaitCompleted, WaitStarted},
    retry::Backoff,
};

use super::{journal_context::JournalContext, lock};

const BACKOFF: Backoff = Backoff {
    first: Duration::from_secs(1),
    longest: Duration::from_secs(60),
};
/// About an hour of pauses.
const MOST_TRIES: u32 = 65;

/// A pause that the run takes because of a shortage.
pub(super) struct Pause {
    pub(super) until: Timestamp,
    key: String,
    reason: &'static str,
}

impl Pause {
    /// The pause after the `attempt`-th try of something failed, if it failed for lack of
    /// something and was not tried for too long.
    pub(super) fn after(
        context: &JournalContext,
        key: &str,
        problem: &Problem,
        attempt: u32,
    ) -> Option<Self> {
        let shortage = Shortage::of(problem).filter(|_| attempt < MOST_TRIES)?;
        Some(Self {
            until: context.engine.steady().after(BACKOFF.pause(attempt)),
            key: wait_key(key),
            reason: shortage.reason(),
        })
    }

    /// The event it begins with.
    pub(super) fn started(self) -> Body {
        tracing::warn!(key = %self.key, until = %self.until, "{}", self.reason);
        WaitStarted {
            key: self.key,
            // Nobody is asked anything: it waits for time, with a reason.
            signal: "timer".to_owned(),
            also: None,
            question: None,
            prompt: Some(self.reason.to_owned()),
            plan_digest: None,
            terms: ApprovalTerms::default(),
            lines: Vec::new(),
            deadline: Some(self.until),
        }
        .into()
    }
}

/// The event that a pause ends with, if the journal has one that has not ended.
pub(super) fn ended(context: &JournalContext, key: &str) -> Option<Body> {
    let key = wait_key(key);
    let mut memo = lock(&context.memo);
    let wait = memo.waits.get_mut(&key)?;
    if wait.completed.is_some() {
        return None;
    }
    wait.completed = Some(None);
    let signal_seq = None;
    Some(WaitCompleted { key, signal_seq }.into())
}

/// Notes a pause that was journaled, so that its end is, too.
pub(super) fn note(context: &JournalContext, key: &str, until: Timestamp) {
    lock(&context.memo).begin_wait(&wait_key(key), Some(until));
}

fn wait_key(key: &str) -> String {
    format!("{key}/shortage")
}
