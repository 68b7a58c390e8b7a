//! Buckets and objects with versions. Not here: the HTTP of S3 (`s3_calls`).

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

#[derive(Clone, Debug, Default)]
pub struct Buckets(BTreeMap<String, Bucket>);

#[derive(Clone, Debug)]
pub struct Bucket {
    pub region: String,
    pub created: u64,
    pub is_versioned: bool,
    /// Key → versions, oldest first.
    pub objects: BTreeMap<String, Vec<Version>>,
    /// Settings by sub-resource name, as they were put.
    pub settings: BTreeMap<String, Vec<u8>>,
    serial: u64,
}

#[derive(Clone, Debug)]
pub struct Version {
    /// `null` in a bucket without versioning.
    pub id: String,
    pub is_marker: bool,
    pub body: Vec<u8>,
    pub etag: String,
    pub modified: u64,
    /// Content type, cache control and user metadata.
    pub headers: BTreeMap<String, String>,
}

impl Buckets {
    pub fn get(&self, name: &str) -> Option<&Bucket> {
        self.0.get(name)
    }

    pub fn get_mut(&mut self, name: &str) -> Option<&mut Bucket> {
        self.0.get_mut(name)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&String, &Bucket)> {
        self.0.iter()
    }

    pub fn exists(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub fn create(&mut self, name: &str, region: &str, is_versioned: bool, now: u64) {
        self.0.entry(name.to_owned()).or_insert(Bucket {
            region: region.to_owned(),
            created: now,
            is_versioned,
            objects: BTreeMap::new(),
            settings: BTreeMap::new(),
            serial: 0,
        });
    }

    pub fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// Any version or delete marker counts.
    pub fn has_objects(&self, name: &str) -> bool {
        self.get(name)
            .is_some_and(|bucket| !bucket.objects.is_empty())
    }

    pub fn has_object(&self, bucket: &str, key: &str) -> bool {
        self.object(bucket, key).is_some()
    }

    pub fn object(&self, bucket: &str, key: &str) -> Option<&Version> {
        self.get(bucket)?.current(key)
    }
}

impl Bucket {
    /// The newest version, unless it is a delete marker.
    pub fn current(&self, key: &str) -> Option<&Version> {
        self.objects
            .get(key)?
            .last()
            .filter(|version| !version.is_marker)
    }

    pub fn version(&self, key: &str, id: &str) -> Option<&Version> {
        self.objects
            .get(key)?
            .iter()
            .find(|version| version.id == id)
    }

    pub fn put(
        &mut self,
        key: &str,
        body: Vec<u8>,
        headers: BTreeMap<String, String>,
        now: u64,
    ) -> &Version {
        let etag = hex::encode(&Sha256::digest(&body)[..16]);
        let version = Version {
            id: self.next_id(),
            is_marker: false,
            body,
            etag,
            modified: now,
            headers,
        };
        self.push(key, version)
    }

    /// Deletes one version for good, or the object as its bucket's versioning says.
    /// Answers the version id concerned and whether it is a delete marker.
    pub fn delete(&mut self, key: &str, id: Option<&str>, now: u64) -> Option<(String, bool)> {
        if let Some(id) = id {
            let versions = self.objects.get_mut(key)?;
            let index = versions.iter().position(|version| version.id == id)?;
            let removed = versions.remove(index);
            if versions.is_empty() {
                self.objects.remove(key);
            }
            return Some((removed.id, removed.is_marker));
        }
        if !self.is_versioned {
            self.objects.remove(key);
            return None;
        }
        let marker = Version {
            id: self.next_id(),
            is_marker: true,
            body: Vec::new(),
            etag: String::new(),
            modified: now,
            headers: BTreeMap::new(),
        };
        let marker = self.push(key, marker);
        Some((marker.id.clone(), true))
    }

    fn next_id(&mut self) -> String {
        if !self.is_versioned {
            return "null".to_owned();
        }
        self.serial += 1;
        format!("v{:08}", self.serial)
    }

    fn push(&mut self, key: &str, version: Version) -> &Version {
        let versions = self.objects.entry(key.to_owned()).or_default();
        versions.retain(|old| old.id != version.id);
        let last = versions.len();
        versions.push(version);
        &versions[last]
    }
}
