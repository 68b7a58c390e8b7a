//! The outside world, as traits: what the engine needs and adapters provide.
//!
//! Request and reply types are plain data. Nothing here does IO; nothing here knows
//! SQLite, HTTP libraries or AWS. Traits that must be `dyn` return boxed futures.

pub mod blob;
pub mod clock;
pub mod entropy;
pub mod git;
pub mod lease;
pub mod outbound;
pub mod store;

pub use blob::{BlobError, BlobStore};
pub use clock::Clock;
pub use entropy::Entropy;
pub use futures::future::BoxFuture;
pub use git::{Git, GitError};
pub use lease::{DriverLease, Lease};
pub use outbound::{Outbound, OutboundError, OutboundRequest, OutboundResponse};
pub use store::{
    ApiKeyRecord, AttemptRecord, Commit, CommitError, Committed, DeliveryFilter, DeliveryRecord,
    DeliveryState, Expect, FeedEntry, FeedPage, JournalWrite, RunFilter, RunPage, RunStore,
    StoreError, StoreMaintenance,
};
