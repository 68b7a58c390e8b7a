//! The way in: everything pack remembers below one home.

use windlass_pack_model::PackHome;

use crate::state::blob::Blobs;

/// What pack remembers in one home. Opening it touches nothing; directories appear with the
/// first write.
#[derive(Clone, Debug)]
pub struct PackState {
    home: PackHome,
    blobs: Blobs,
}

impl PackState {
    /// The state of a home.
    pub fn open(home: PackHome) -> Self {
        let blobs = Blobs::at(home.blobs());
        Self { home, blobs }
    }

    /// The home.
    pub fn home(&self) -> &PackHome {
        &self.home
    }

    /// The contents by digest.
    pub fn blobs(&self) -> Blobs {
        self.blobs.clone()
    }
}
