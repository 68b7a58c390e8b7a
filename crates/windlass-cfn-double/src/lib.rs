//! A CloudFormation that runs in this process, with the few other services a deployment needs.
//!
//! Stacks, change sets, failures, rollbacks, replacement and drift happen on a virtual clock, so a
//! deployment that takes an hour takes no time and goes the same way every time. One address serves
//! CloudFormation, S3, STS, Secrets Manager and SSM parameters to any AWS client; signatures must
//! be there and are not verified. Used by tests and by the tour.
//!
//! The state machine (`world`, `stack`, `template`, `types`, `services`) does no input or output;
//! `server` and `control` are its edge. Not here: any real resource. Templates are JSON without
//! transforms and nested stacks.

mod actions;
mod clock;
mod command;
mod control;
mod env;
mod error;
mod faults;
mod ids;
mod params;
mod server;
mod services;
mod stack;
mod template;
mod types;
mod wire;
mod world;
mod xml;

#[cfg(test)]
mod change_set_tests;
#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod guard_tests;
#[cfg(test)]
mod lifecycle_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod service_tests;
#[cfg(test)]
mod shape_tests;
#[cfg(test)]
mod testing;

pub use command::Command;
pub use control::{Control, Pace};
pub use faults::{CallEffect, CallFault, Durations, Moment, ResourceEffect, ResourceFault};
pub use server::{Double, Handle, Options};
pub use world::CallRecord;
