//! Anthropic Messages.

mod reply;
mod request;

pub(super) use reply::MessagesReply;
pub(super) use request::{VERSION, body, endpoint};
