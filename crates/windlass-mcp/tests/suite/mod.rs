//! Whole servers over both transports.

mod eras;
#[cfg(feature = "conformance-fixtures")]
mod fixtures;
mod http;
mod malformed;
mod product_approvals;
mod product_lean;
mod product_resources;
mod product_tasks;
mod product_tools;
mod stdio;
mod support;
mod workshop;
