//! The overlay layers by the names users give them.

use std::fmt;

use serde::{Serialize, Serializer};
use windlass_pack_model::Layer;

/// For whom an overlay is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// All users of the repository.
    #[default]
    Global,
    /// One machine.
    Machine,
    /// One project.
    Project,
}

impl Scope {
    /// All of them, lowest first.
    pub const ALL: [Self; 3] = [Self::Global, Self::Machine, Self::Project];

    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        self.layer().as_str()
    }

    /// The scope of a name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == name)
    }

    /// The layer.
    pub const fn layer(self) -> Layer {
        match self {
            Self::Global => Layer::Global,
            Self::Machine => Layer::Machine,
            Self::Project => Layer::Project,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Serialize for Scope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for scope in Scope::ALL {
            assert_eq!(Scope::by_name(scope.as_str()), Some(scope));
        }
        assert_eq!(Scope::by_name("upstream"), None);
    }
}
