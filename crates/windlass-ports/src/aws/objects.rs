//! Buckets and objects (S3).

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use windlass_types::Timestamp;

use super::{AwsFuture, Target};

/// What a bucket name stands for, seen from the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BucketState {
    /// No one has it, as far as the caller can see.
    Absent,
    /// It is there and the caller may use it.
    Usable,
    /// It exists and the caller may not use it: another account's, or not permitted.
    Refused,
    /// It is in another region, named where AWS says which.
    OtherRegion(Option<String>),
}

/// Whether old contents are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Versioning {
    /// They are.
    On,
    /// They are not.
    Off,
}

/// How contents are encrypted at rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Encryption {
    /// With S3's own keys.
    S3Managed,
    /// With a KMS key, or the account's default one for S3.
    Kms(Option<String>),
}

/// A bucket that is asked for. Public access is always blocked.
#[derive(Clone, Debug)]
pub struct CreateBucket {
    /// Its name.
    pub bucket: String,
    /// Whether old contents are kept.
    pub versioning: Versioning,
    /// How contents are encrypted.
    pub encryption: Encryption,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
}

/// What is put.
#[derive(Clone)]
pub enum ObjectBody {
    /// Bytes in memory.
    Bytes(Vec<u8>),
    /// A file, read while it is sent.
    File(PathBuf),
}

impl fmt::Debug for ObjectBody {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(formatter, "{} bytes", bytes.len()),
            Self::File(path) => write!(formatter, "file {}", path.display()),
        }
    }
}

/// An object that is put.
#[derive(Clone, Debug)]
pub struct PutObject {
    /// The bucket.
    pub bucket: String,
    /// The key.
    pub key: String,
    /// The contents.
    pub body: ObjectBody,
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// `Cache-Control`.
    pub cache_control: Option<String>,
    /// `Content-Encoding`.
    pub content_encoding: Option<String>,
    /// `Content-Disposition`.
    pub content_disposition: Option<String>,
    /// `x-amz-meta-…`.
    pub metadata: BTreeMap<String, String>,
    /// Tags.
    pub tags: BTreeMap<String, String>,
}

impl PutObject {
    /// An object without headers of its own.
    pub fn new(bucket: impl Into<String>, key: impl Into<String>, body: ObjectBody) -> Self {
        Self {
            bucket: bucket.into(),
            key: key.into(),
            body,
            content_type: None,
            cache_control: None,
            content_encoding: None,
            content_disposition: None,
            metadata: BTreeMap::new(),
            tags: BTreeMap::new(),
        }
    }
}

/// What is known of an object without reading it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ObjectHead {
    /// Its length in bytes.
    pub content_length: u64,
    /// Its entity tag, with the quotes AWS gives.
    pub e_tag: Option<String>,
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// `Cache-Control`.
    pub cache_control: Option<String>,
    /// `Content-Encoding`.
    pub content_encoding: Option<String>,
    /// Its version, in a bucket with versions.
    pub version_id: Option<String>,
    /// When it was written.
    pub last_modified: Option<Timestamp>,
    /// `x-amz-meta-…`.
    pub metadata: BTreeMap<String, String>,
}

/// An object and its contents.
#[derive(Clone, Debug)]
pub struct ObjectContent {
    /// What is known of it.
    pub head: ObjectHead,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// An object, or one version of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectId {
    /// The key.
    pub key: String,
    /// The version; absent: the newest.
    pub version_id: Option<String>,
}

/// An object of a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ObjectEntry {
    /// The key.
    pub key: String,
    /// Its length in bytes.
    pub size: u64,
    /// Its entity tag.
    pub e_tag: Option<String>,
    /// When it was written.
    pub last_modified: Option<Timestamp>,
}

/// A version of a listing, or a delete marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectVersion {
    /// Which.
    pub id: ObjectId,
    /// Whether it is what a read without a version sees.
    pub is_latest: bool,
    /// Whether it only says that the object was deleted.
    pub is_delete_marker: bool,
}

/// A listing.
#[derive(Clone, Debug, Default)]
pub struct ListObjects {
    /// The bucket.
    pub bucket: String,
    /// Keys begin with it.
    pub prefix: String,
    /// How many at most; absent: all.
    pub limit: Option<usize>,
}

/// An object that was not deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptObject {
    /// Which.
    pub id: ObjectId,
    /// AWS's code.
    pub code: String,
    /// AWS's reason.
    pub message: String,
}

/// The result of deleting many objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeletedObjects {
    /// How many were deleted.
    pub deleted: u64,
    /// Which were not, and why.
    pub kept: Vec<KeptObject>,
}

/// Buckets and objects.
pub trait ObjectStore: Send + Sync {
    /// What a bucket name stands for.
    fn bucket_state<'a>(
        &'a self,
        target: &'a Target,
        bucket: &'a str,
    ) -> AwsFuture<'a, BucketState>;

    /// Makes a bucket with everything asked for, public access blocked. One that the caller
    /// owns already is brought to the same settings, so that a broken attempt is repaired.
    fn create_bucket<'a>(&'a self, target: &'a Target, request: CreateBucket) -> AwsFuture<'a, ()>;

    /// Deletes an empty bucket.
    fn delete_bucket<'a>(&'a self, target: &'a Target, bucket: &'a str) -> AwsFuture<'a, ()>;

    /// What is known of an object; `None` when it does not exist.
    fn head_object<'a>(
        &'a self,
        target: &'a Target,
        bucket: &'a str,
        key: &'a str,
    ) -> AwsFuture<'a, Option<ObjectHead>>;

    /// Writes an object; returns its entity tag.
    fn put_object<'a>(&'a self, target: &'a Target, request: PutObject) -> AwsFuture<'a, String>;

    /// Reads an object; one longer than `max_bytes` is a failure, not a part.
    fn get_object<'a>(
        &'a self,
        target: &'a Target,
        bucket: &'a str,
        key: &'a str,
        max_bytes: u64,
    ) -> AwsFuture<'a, ObjectContent>;

    /// Deletes objects, in as many calls as it takes. What is not there counts as deleted.
    fn delete_objects<'a>(
        &'a self,
        target: &'a Target,
        bucket: &'a str,
        objects: Vec<ObjectId>,
    ) -> AwsFuture<'a, DeletedObjects>;

    /// Lists objects, all pages, in key order.
    fn list_objects<'a>(
        &'a self,
        target: &'a Target,
        request: ListObjects,
    ) -> AwsFuture<'a, Vec<ObjectEntry>>;

    /// Lists versions and delete markers, all pages.
    fn list_versions<'a>(
        &'a self,
        target: &'a Target,
        request: ListObjects,
    ) -> AwsFuture<'a, Vec<ObjectVersion>>;

    /// Deletes every object, version and delete marker whose key begins with `prefix`; empty:
    /// all. Page by page, so a bucket of any size takes bounded memory. A bucket that does not
    /// exist is empty.
    fn empty_bucket<'a>(
        &'a self,
        target: &'a Target,
        bucket: &'a str,
        prefix: &'a str,
    ) -> AwsFuture<'a, DeletedObjects>;
}
