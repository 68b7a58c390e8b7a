//! Every file format of an agent-configuration pack, and the words they share.
//!
//! Pure: text in, values out, and back. Reads no file, no clock and no environment. The other
//! `windlass-pack-*` crates load, render, deploy and undo in terms of these types.

pub mod content;
pub mod desired;
pub mod edit;
pub mod events;
pub mod fault;
pub mod frontmatter;
pub mod home;
mod json;
pub mod layer;
pub mod lockfile;
pub mod machine;
pub mod managed;
pub mod manifest;
pub mod mode;
pub mod module_id;
pub mod next_actions;
pub mod org;
pub mod overlay;
pub mod parse;
pub mod path;
pub mod project;
mod reader;
pub mod selection;
pub mod snapshot;
pub mod source;
pub mod suggest;
pub mod target;

pub use content::{Body, Content, HashCache, NoHashCache, Tree};
pub use desired::{Desired, DesiredFile, DesiredKey, Form, KeyFormat, Origin};
pub use frontmatter::{Frontmatter, FrontmatterError};
pub use home::PackHome;
pub use layer::Layer;
pub use lockfile::{
    FileRecord, LockedModule, Lockfile, ResolvedGit, ResolvedLocalPath, ResolvedSource,
};
pub use managed::{ManagedFile, ManagedKey, ManagedManifest, ManagedRead};
pub use manifest::{
    ConfigScope, GitSource, GitignoreMode, Manifest, Module, ModuleType, Profile, Source,
    TargetConfig, TargetMode,
};
pub use mode::FileMode;
pub use overlay::{Baseline, OverlayConfig, OverlayKind, Upstream};
pub use parse::{ParsedManifest, parse_manifest};
pub use path::RelPath;
pub use project::Project;
pub use reader::{FileWarning, WarningKind};
pub use snapshot::{
    Snapshot, SnapshotChange, SnapshotFile, SnapshotKind, SnapshotOp, SnapshotRoot,
};
pub use target::{RootScope, Target, TargetRoot};
