//! The tools a site is checked with: Hugo on a fenced copy of the site, and a link prober.
//!
//! A site comes from a repository and is not trusted: no program it names is started, nothing
//! outside of it is read, nothing is fetched, and whatever was started ends. Not here: what a
//! failed build or a dead link means for a launch (the gates of `windlass-launch-pages`).

mod copy;
mod environment;
mod fence;
mod hugo;
mod log;
mod mounts;
mod probe;
mod version;

pub use hugo::{HugoPlaces, HugoProgram};
pub use probe::{AllowedHosts, HttpLinkProbe};
