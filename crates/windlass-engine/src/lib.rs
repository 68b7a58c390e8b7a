//! The durable run engine and the operation catalogue.
//!
//! Holds how work survives (runs, journal, driver, recovery), who may start it (confirm
//! tokens, approvals, keys, limits), what is recorded (audit, artifacts, outbox) and what can
//! be asked for (operations and their contracts). Knows no SQLite, no HTTP, no JSON-RPC and
//! no domain: adapters stand behind ports, domains plug in as `Domain`s, surfaces call the
//! catalogue and read events.

pub mod access;
mod anchors;
pub mod audit;
pub mod confirm;
pub mod contract;
mod damage;
pub mod driver;
mod engine;
mod filing;
mod health;
mod loss;
mod notices;
pub mod operation;
pub mod outbox;
mod retention;
pub mod run;
mod store_retry;

pub use anchors::AnchorOptions;
pub use driver::{Driver, StepProbe};
pub use engine::{Domain, Engine, EngineParts, WeakEngine};
pub use health::{ClockState, DiskState, Finding};
pub use retention::RetentionOptions;
