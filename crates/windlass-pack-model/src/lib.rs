//! Every file format of an agent-configuration pack, and the words they share.
//!
//! Pure: text in, values out, and back. Reads no file, no clock and no environment. The other
//! `windlass-pack-*` crates load, render, deploy and undo in terms of these types.

pub mod content;
pub mod desired;
pub mod fault;
pub mod layer;
pub mod path;
pub mod target;

pub use content::{Body, Content, Tree};
pub use desired::{Desired, DesiredFile, DesiredKey, Form, KeyFormat, Origin};
pub use layer::Layer;
pub use path::RelPath;
pub use target::{RootScope, Target, TargetRoot};
