//! The vocabulary of Windlass: plain data that every other crate uses.
//!
//! Holds typed ids, digests, times, secrets, principals, effect classes, journal
//! events, run records and the registry of public error codes. Does no IO, reads
//! no clock and no environment. Everything else depends on it; it depends on nothing
//! of ours.

pub mod anchor;
pub mod approval;
pub mod artifact;
pub mod canonical;
pub mod code;
pub mod digest;
pub mod effect;
pub mod event;
pub mod id;
pub mod journal;
pub mod json;
pub mod passing;
pub mod plan;
pub mod principal;
pub mod problem;
pub mod retry;
pub mod run;
pub mod secret;
mod shortage;
pub mod time;

pub use anchor::Anchor;
pub use approval::ApprovalTerms;
pub use artifact::{ArtifactRef, NewArtifact, Visibility};
pub use code::{Code, Kind};
pub use digest::Digest;
pub use effect::EffectClass;
pub use event::{Event, NewEvent, SpanIds};
pub use id::{DeliveryId, KeyId, RunId, SpanId, TokenId, TraceId};
pub use journal::Body;
pub use json::Json;
pub use passing::{LogLevel, Passing, PassingNotice};
pub use plan::{Change, ChangeAction, Plan};
pub use principal::{Principal, PrincipalKind, Scope, Surface};
pub use problem::Problem;
pub use run::{ANSWERED_WAIT, APPROVAL, GATE_WAIT, RunRecord, RunState, WaitingOn};
pub use secret::Secret;
pub use shortage::Shortage;
pub use time::Timestamp;
