//! Architecture and UX of a product, worked out from what its spec says.
//!
//! Pure and deterministic: the same analysis gives the same bytes. Nothing is invented: every item
//! names the requirement, the place in the spec or the default it comes from. Reading specs, writing
//! project files and judging the result are other crates' work.

mod access;
mod actor;
mod agree;
mod architecture;
mod auth;
mod components;
mod condition;
pub mod contrast;
mod data;
mod document;
mod endpoints;
mod flows;
mod grant;
mod pages;
mod placement;
mod policies;
mod relate;
mod scope;
pub mod sql;
mod stack;
mod stated_pages;
pub mod style;
mod tagline;
mod tokens;
mod traces;
mod ux;
mod words;

#[cfg(test)]
mod architecture_tests;
#[cfg(test)]
mod example;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod ux_tests;

pub use architecture::{DesignOptions, architecture};
pub use document::{architecture_markdown, ux_markdown};
pub use ux::ux;
