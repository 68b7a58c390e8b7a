//! What several commands do: plan → confirm → apply, drive, follow, find a run by its beginning.
//!
//! Not here: arguments and help (commands) and how lines look (output).

mod ask;
mod change;
mod conclude;
mod drive;
mod follow;
mod narrate;
mod render;
mod run_ref;
mod settle;
mod steer;

pub(crate) use ask::{confirm, type_exactly};
pub(crate) use change::{Applied, ApplyArgs, ChangeOperations, apply, apply_change, plan};
pub(crate) use conclude::{Wanted, conclude, shortfall};
pub(crate) use drive::{Driving, keep_driving};
pub(crate) use follow::{Channel, Follow, Followed, Telling};
pub(crate) use narrate::{Line, Tell, Weight};
pub(crate) use render::Renderer;
pub(crate) use run_ref::{RunArg, find_run};
pub(crate) use settle::is_settled;
pub(crate) use steer::{SteerArgs, steer};

#[cfg(test)]
mod flow_tests;
