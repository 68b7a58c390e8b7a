//! Texts compared and combined: unified diffs, patches, three-way merges; terminal escapes removed;
//! the word that was meant, words quoted for a shell; YAML with places.
//!
//! Pure functions over strings, no IO, no git. Domains use it wherever a person is shown a
//! difference or two edits meet. A line ends at `\n` and at nothing else: `\r` is part of its
//! line, so CRLF files stay CRLF, and a last line without `\n` stays without.

mod apply;
mod escapes;
mod lines;
mod merge;
mod parse;
mod patch;
mod path;
mod shell;
pub mod suggest;
mod unified;
mod visible;
pub mod yaml;

pub use apply::{ApplyError, ApplyReason};
pub use escapes::without_escapes;
pub use merge::{Merge, MergeLabels, merge3};
pub use parse::{PatchError, parse_patch};
pub use patch::{Hunk, HunkLine, Patch};
pub use shell::shell_word;
pub use unified::unified;
pub use visible::{is_hidden, visible};

#[cfg(test)]
mod samples;
