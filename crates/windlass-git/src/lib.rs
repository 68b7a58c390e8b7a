//! Git repositories behind the Git port.
//!
//! The only crate that starts the git program. Domains see the port and never a command line.
