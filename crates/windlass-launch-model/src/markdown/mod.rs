//! Reads a Markdown page: front matter, structure, sentences and claim markers.
//!
//! The one reading that scout, drafts, patches, gates and fixers share, so that what one of them
//! writes another finds. [`frontmatter`] also changes keys in place. Judges nothing and knows
//! neither sites nor claims, only the marker that names one.

pub mod document;
mod filler;
pub mod frontmatter;
pub mod html;
pub mod likeness;
mod reader;
pub mod sentence;
mod split;

pub use document::{Code, Document, Heading, Link, Tag, anchor};
pub use filler::{filler, filler_in_sentence};
pub use sentence::{Marker, Place, Sentence, SentenceKind, marker_claim, sentence_digest};
