//! One file per resource type: the config's properties as parts of the template.

mod api;
mod auth;
mod bastion;
mod batch;
pub(crate) mod bucket;
mod capacity;
mod connection;
mod custom;
mod database;
mod dynamo;
mod event_bus;
mod function;
mod hosting;
mod kinesis;
pub(crate) mod load_balancer;
mod multi_container;
mod redis;
mod release;
mod search;
pub(crate) mod service;
mod sns;
mod sqs;
mod state_machine;
mod task;
