//! Content-addressed bytes: what is written under a digest is what is read under it.

use futures::future::BoxFuture;
use windlass_types::Digest;

/// Why bytes could not be kept or had.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// Nothing is stored under the digest (never was, or expired and pruned).
    #[error("no content is stored under {0}")]
    Missing(Digest),
    /// What is stored does not have the digest; it is never returned.
    #[error("content stored under {0} was altered")]
    Altered(Digest),
    /// The disk is full.
    #[error("no space left for content")]
    Full,
    /// The disk or the store failed.
    #[error("content store failed: {0}")]
    Io(String),
}

/// A content-addressed store. Writing twice is writing once.
pub trait BlobStore: Send + Sync + 'static {
    /// Keeps the bytes durably and returns their digest.
    fn put(&self, bytes: Vec<u8>) -> BoxFuture<'_, Result<Digest, BlobError>>;

    /// The bytes, after checking that they still have the digest.
    fn get(&self, digest: Digest) -> BoxFuture<'_, Result<Vec<u8>, BlobError>>;
}
