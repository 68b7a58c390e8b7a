//! What several commands do: plan → confirm → apply, drive, follow, find a run by its beginning.
//!
//! Not here: arguments and help (commands) and how lines look (output).

mod ask;
mod asked;
mod change;
mod conclude;
mod consent;
mod drive;
mod event_lines;
mod follow;
mod journal;
mod render;
mod run_ref;
mod settle;
mod steer;

pub(crate) use ask::{can_ask, confirm, read_line};
pub(crate) use asked::{
    Asked, addressed, addressed_problem, approval_wanted, question, says_it_waits,
};
pub(crate) use change::{
    Applied, ApplyArgs, ChangeOperations, apply, apply_change, detached, plan, stalled,
};
pub(crate) use conclude::{Wanted, conclude, shortfall, standing};
pub(crate) use consent::{Consent, ConsentView, Question, refused, table_lines};
pub(crate) use drive::{Call, Driving, keep_driving};
pub(crate) use event_lines::{EventLines, Line, LineKind, percent_of};
pub(crate) use follow::{Channel, Follow};
pub(crate) use journal::shown_events;
pub(crate) use run_ref::{RunArg, find_run};
pub(crate) use settle::{Rest, asks_a_person, wait_for_rest};
pub(crate) use steer::{SteerArgs, steer};

#[cfg(test)]
mod flow_tests;
