//! Search over Windlass's own documentation: the pages are in the binary, the index is made in
//! memory by the first question.
//!
//! Answers are made of sentences of the pages and say where each stands; with nothing that fits they
//! say so. `domain` offers them as the documentation tool of contract 000. Not here: the command that
//! asks, and where generated pages are written.

mod abstain;
mod answer;
mod asked;
mod bm25;
mod chunk;
mod concepts;
mod config_ref;
mod contract;
mod corpus;
mod docs;
mod errors;
mod examples;
mod finder;
mod focus;
mod index;
mod markdown;
mod operation;
mod page;
mod query;
mod rank;
mod synonyms;
mod unsupported;
mod words;

pub use config_ref::config_reference;
pub use contract::DocsContract;
pub use docs::Docs;
pub use finder::{FinderEntry, find};
pub use operation::domain;
pub use page::DocType;
pub use query::{Answer, Mode, Query, Reference, Snippet};
