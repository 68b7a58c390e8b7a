//! Local ways in: HTTP APIs and load balancers, each on a port of loopback.

mod answer;
mod balancer;
mod cors;
mod event;
mod forward;
mod matching;
mod request;
mod serve;

pub(crate) use balancer::Listener;
pub(crate) use forward::Targets;
pub(crate) use serve::{Behind, HttpApi, serve_api, serve_listener};
