//! From a config repository to the files every target should hold.
//!
//! Resolve → layer → check → render, in memory and once. Reads the repository, writes nothing.
//! Comparing the result with the disk is [`crate::plan()`]'s work; cloning git sources is done by
//! the caller's [`Checkouts`]. The domain crate `windlass-pack` calls it for every
//! command that plans, and for overlays.

mod assemble;
mod baseline;
mod compose;
mod cursor_rule;
mod definition;
mod desired;
mod fence;
mod frontmatter;
mod hook;
mod input;
mod markers;
mod mcp;
mod output;
mod overlay;
mod patch;
mod read;
mod read_back;
mod shape;
mod source;
mod subagent;
mod target;
mod unmerged;
mod walk;

pub use assemble::{render, roots};
pub use compose::{Composed, compose_module};
pub use cursor_rule::{cursor_rule_id, unwrap_cursor_rule, wrap_cursor_rule};
pub use input::{Checkouts, Places, RenderInput};
pub use markers::{aggregate, split_aggregate};
pub use overlay::Overlays;
pub use read_back::{ServerFile, hook_definition, server_definition, subagent_markdown};
pub use shape::check as check_shape;
pub use source::{SourceTree, load_upstream};
pub use subagent::subagent_toml;
