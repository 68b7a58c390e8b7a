//! One file per service; `server` and `support` hold what they share.

mod github;
mod gitlab;
mod http_service;
mod local;
mod server;
mod support;
