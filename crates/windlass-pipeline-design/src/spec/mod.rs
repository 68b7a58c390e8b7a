//! What a product spec says, read by rules: no model, no network, no chance.
//!
//! The text is cut into pieces (`segment`), each piece into clauses (`clause`), each clause is
//! classed and read as a behaviour, a quality, a bound or data. Words the rules know are tables in
//! `lexicon`. Same text, same result. Nothing is made up: whatever is found has the spans it is
//! from, and a span that leads to nothing says why.

mod acceptance;
mod analyse;
mod bounds;
mod classify;
mod clause;
pub mod colour;
mod context;
mod css_names;
mod find;
mod given;
mod lexicon;
mod people;
mod phrase;
mod priority;
mod product;
mod reading;
mod requirements;
mod section;
mod segment;
mod settle;
mod sign_in;
mod statements;
mod strategy;
mod table;
mod token;

pub use analyse::analyse;
pub use context::SpecContext;
pub(crate) use find::fields;
pub use given::{from_requirements, read_requirements, requirements_as_spec};
pub use product::{names_a_product, says_nothing};
pub use requirements::requirements;
pub use strategy::{StrategyParts, strategy};
