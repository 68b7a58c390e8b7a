//! The double over HTTP.

mod suite {
    mod http;
}
