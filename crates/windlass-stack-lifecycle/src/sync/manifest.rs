//! What a bucket's files are: paths, digests, headers, tags. Kept with the version they belong to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_ports::aws::{ObjectBody, PutObject};
use windlass_types::Digest;

use crate::versions::Artifact;

/// The metadata that says which entry an object was made from.
pub(crate) const MARK: &str = "windlass-entry";

/// The manifests of a stack, by the resource's name.
pub type Manifests = BTreeMap<String, Manifest>;

/// Whose files a bucket holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ownership {
    /// Everything in it comes from the directory: the rest is removed.
    Whole,
    /// Others may put files there: only what was put by an earlier deploy is removed.
    Shared,
}

/// The files of one bucket, by key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Manifest {
    /// The logical id of the bucket.
    pub bucket_id: String,
    /// The logical id of the distribution whose cached contents are dropped afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution_id: Option<String>,
    /// Whose files the bucket holds.
    pub ownership: Ownership,
    /// Key → file.
    pub files: BTreeMap<String, Entry>,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Entry {
    /// The digest of its contents.
    pub sha256: Digest,
    /// Their length in bytes.
    pub size: u64,
    /// `Content-Type`.
    pub content_type: String,
    /// `Cache-Control`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<String>,
    /// `Content-Encoding`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_encoding: Option<String>,
    /// `Content-Disposition`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_disposition: Option<String>,
    /// `x-amz-meta-…`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// Tags.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
    /// The entity tag it had in the bucket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub e_tag: Option<String>,
}

impl Entry {
    /// The key of its contents in the asset store.
    pub fn store_key(&self) -> String {
        format!("files/{}", self.sha256)
    }

    /// What it is, wherever it is: everything but the entity tag.
    pub fn mark(&self) -> Digest {
        let what = Self {
            e_tag: None,
            ..self.clone()
        };
        Digest::of_json(&json!(what))
    }

    /// The object it becomes.
    pub(crate) fn object(&self, bucket: &str, key: &str, body: ObjectBody) -> PutObject {
        let mut metadata = self.metadata.clone();
        metadata.insert(MARK.to_owned(), self.mark().to_string());
        PutObject {
            bucket: bucket.to_owned(),
            key: key.to_owned(),
            body,
            content_type: Some(self.content_type.clone()),
            cache_control: self.cache_control.clone(),
            content_encoding: self.content_encoding.clone(),
            content_disposition: self.content_disposition.clone(),
            metadata,
            tags: self.tags.clone(),
        }
    }
}

impl Manifest {
    /// What restoring it needs in the asset store, by a name that is its own; for the version's
    /// record, so that pruning keeps it.
    pub fn artifacts(&self) -> BTreeMap<String, Artifact> {
        let keys = self.files.values().map(Entry::store_key);
        keys.map(|key| (key.clone(), Artifact::Object { key }))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_reads_back_and_its_mark_is_what_the_file_is() {
        let entry = Entry {
            sha256: Digest::of(b"x"),
            size: 1,
            content_type: "text/plain".to_owned(),
            cache_control: Some("no-cache".to_owned()),
            content_encoding: None,
            content_disposition: None,
            metadata: BTreeMap::new(),
            tags: BTreeMap::from([("a".to_owned(), "b".to_owned())]),
            e_tag: Some("\"1\"".to_owned()),
        };
        let manifest = Manifest {
            bucket_id: "FilesBucket".to_owned(),
            distribution_id: None,
            ownership: Ownership::Shared,
            files: BTreeMap::from([("a/b.txt".to_owned(), entry.clone())]),
        };
        let text = serde_json::to_string(&manifest).unwrap();
        assert_eq!(serde_json::from_str::<Manifest>(&text).unwrap(), manifest);
        let key = format!("files/{}", Digest::of(b"x"));
        assert_eq!(
            manifest.artifacts(),
            BTreeMap::from([(key.clone(), Artifact::Object { key })])
        );
        let put_again = Entry {
            e_tag: None,
            ..entry.clone()
        };
        assert_eq!(entry.mark(), put_again.mark());
        let other_headers = Entry {
            cache_control: None,
            ..entry.clone()
        };
        assert_ne!(entry.mark(), other_headers.mark());
    }
}
