//! Stacks against the CloudFormation double; the parts with a world of their own in folders.

mod deploy;
mod package;
mod preview;
mod remove;
mod script;
mod sync;
mod versions;
mod world;
