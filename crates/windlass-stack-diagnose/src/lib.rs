//! A deployed stack asked what it is and does: its status, logs, metrics, alarms and data, AWS
//! actions that read, a command in a container, and the secrets of the account.
//!
//! Thirteen questions and three operations on secrets, each in a file of its own, over AWS and
//! databases as ports ([`access`], with failures as [`fault`]). [`guard`] holds what only reads to
//! reading, and so do the databases themselves. [`session`] reaches machines and databases inside
//! the stack's network. Answers are plain data with known secrets and secret patterns taken out.
//! Not here: changes to stacks (windlass-stack-lifecycle), policy, runs, envelopes, artifacts and
//! bounds of a surface (windlass-stack).

pub mod access;
mod alarms;
mod answer;
mod arguments;
mod aws_sdk;
mod call;
mod container_exec;
mod credentials;
mod dynamodb;
mod ecs;
mod failure;
pub mod fault;
pub mod guard;
mod info_operations;
mod info_stack;
mod info_stacks;
mod info_whoami;
mod logs;
mod metrics;
mod names;
mod opensearch;
mod operation;
mod outside;
mod redis;
mod secret_create;
mod secret_delete;
mod secret_get;
mod secrets;
pub mod session;
mod shapes;
mod sql;
mod through;
mod times;

pub use answer::{Answer, answer, check};
pub use failure::{aws_problem, database_problem, refused};
pub use operation::{Effect, Operation};
pub use outside::{JournalAsk, JournalRecord, OperationJournal, Outside, ProjectNames, Settings};
pub use secrets::{
    SecretState, require_secret_consent, secret_deleted, secret_region, secret_restored,
    secret_state, secret_written,
};
