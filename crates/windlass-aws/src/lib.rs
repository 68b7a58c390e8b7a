//! AWS behind the `aws` ports: stacks, objects, the caller, and signed calls to the rest.
//!
//! CloudFormation, S3 and STS go through typed clients of the AWS SDK; every other service is
//! called by a request built from the action's facts, signed here. Credentials, region and
//! endpoints come from the SDK's standard chain over an environment that is passed in, so both
//! ways agree on them. Futures are boxed at this edge: no crate above compiles SDK code.
//!
//! Not here: which actions may be called (`guard` of windlass-stack-diagnose), waiting for stacks
//! and what is said about failures (windlass-stack).

mod answer;
mod calls;
mod client;
mod cloudformation;
mod credentials;
mod endpoint;
mod error_body;
mod form;
mod identity;
mod objects;
mod pace;
mod request;
mod sdk_failure;
mod session;
mod sign;
mod stack_answers;
mod stack_inputs;
mod typed;
mod xml;

pub use client::Aws;
