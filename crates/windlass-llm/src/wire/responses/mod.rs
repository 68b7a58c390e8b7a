//! OpenAI Responses, with nothing stored at the server.

mod reply;
mod request;

pub(super) use reply::ResponsesReply;
pub(super) use request::body;
