//! Chat completions, as OpenAI defined them and gateways and local servers copy them.

mod reply;
mod request;

pub(super) use reply::ChatReply;
pub(super) use request::body;
