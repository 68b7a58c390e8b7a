//! The layers a module is composed of, lowest first.

use std::fmt;

/// A layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// The module's own source.
    Upstream,
    /// `overlays/<key>/`.
    Global,
    /// `overlays/machines/<machine>/<key>/`.
    Machine,
    /// `projects/<project>/overlays/<key>/`.
    Project,
}

impl Layer {
    /// The overlay layers, lowest first.
    pub const OVERLAYS: [Self; 3] = [Self::Global, Self::Machine, Self::Project];

    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Upstream => "upstream",
            Self::Global => "global",
            Self::Machine => "machine",
            Self::Project => "project",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
