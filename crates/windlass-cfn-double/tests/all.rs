//! The double over HTTP.

// Marked as test code so that its helpers may unwrap as the tests themselves may.
#[cfg(test)]
#[path = "suite/http.rs"]
mod http;
