//! From the text of a product spec to its reviewed architecture and UX, by rules.
//!
//! [`spec`] reads what the text says, [`architecture()`] and [`ux()`] work out the design from
//! that, [`quality`] follows traces through the outputs and blocks a wrong one. All of them are
//! expressed in the values of [`model`], which are the shapes of contract 001. Every other module
//! is part of the design. Pure and deterministic: the same text produces the same bytes. Nothing is
//! invented: every item names the requirement, the place in the spec or the default it comes from.
//! Not here: project files (windlass-pipeline-code), jobs and language models (windlass-pipeline).

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
pub mod model;
mod pages;
mod placement;
mod policies;
pub mod quality;
mod relate;
mod rights;
mod scope;
pub mod spec;
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
pub use document::{
    architecture_markdown, quality_markdown, ux_markdown, verdict_name, works_line,
};
pub use ux::ux;
