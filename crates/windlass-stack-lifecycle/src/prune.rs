//! Old versions removed, and what only they needed.
//!
//! Artifacts are named by their digest and shared by all stacks of the account and region, so one
//! goes only when no record that stays, of any stack, names it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_ports::aws::{ActionShape, ListObjects, ObjectId, SignedCall, services};

use crate::access::Access;
use crate::assets::{AssetStore, REPOSITORY};
use crate::fault::{Fault, FaultKind};
use crate::versions::{self, Artifact, Version, VersionRecord};

const DELETE_IMAGES: ActionShape = ActionShape::new(&services::ECR, "BatchDeleteImage");

/// Versions that go, oldest first: all but the newest `keep`, and never one that runs or was the
/// last good one.
pub fn doomed(versions: &[Version], keep: usize, protected: &[Version]) -> Vec<Version> {
    let mut versions = versions.to_vec();
    versions.sort();
    versions.dedup();
    let surplus = versions.len().saturating_sub(keep.max(1));
    versions
        .into_iter()
        .take(surplus)
        .filter(|version| !protected.contains(version))
        .collect()
}

/// What only the records that go need.
pub fn unreferenced(gone: &[VersionRecord], stay: &[VersionRecord]) -> BTreeSet<Artifact> {
    let needed: BTreeSet<&Artifact> = stay
        .iter()
        .flat_map(|record| record.artifacts.values())
        .collect();
    gone.iter()
        .flat_map(|record| record.artifacts.values())
        .filter(|artifact| !needed.contains(artifact))
        .cloned()
        .collect()
}

/// What was removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pruned {
    /// Versions.
    pub versions: Vec<Version>,
    /// What only they needed.
    pub artifacts: Vec<Artifact>,
}

/// Removes old versions of a stack. Artifacts go before the records that name them, so that a
/// crash in between leaves something the next pruning finds.
pub async fn prune(
    access: &Access,
    store: &AssetStore,
    stack: &str,
    keep: usize,
    protected: &[Version],
) -> Result<Pruned, Fault> {
    let versions = versions::list(access, store, stack).await?;
    let doomed = doomed(&versions, keep, protected);
    if doomed.is_empty() {
        return Ok(Pruned::default());
    }
    let request = ListObjects {
        bucket: store.bucket.clone(),
        prefix: "stacks/".to_owned(),
        limit: None,
    };
    let entries = access.cloud.list_objects(&access.target, request).await?;
    let (mut gone, mut stay) = (Vec::new(), Vec::new());
    for (owner, version) in entries
        .iter()
        .filter_map(|entry| versions::read_key(&entry.key))
    {
        let record = versions::read(access, store, owner, version).await?;
        if owner == stack && doomed.contains(&version) {
            gone.push(record);
        } else {
            stay.push(record);
        }
    }
    let artifacts: Vec<Artifact> = unreferenced(&gone, &stay).into_iter().collect();
    remove_images(access, &artifacts).await?;
    let keys = artifacts
        .iter()
        .filter_map(|artifact| match artifact {
            Artifact::Object { key } => Some(key.clone()),
            Artifact::Image { .. } => None,
        })
        .collect();
    remove_objects(access, store, keys).await?;
    let records = doomed
        .iter()
        .map(|version| versions::key(stack, *version))
        .collect();
    remove_objects(access, store, records).await?;
    Ok(Pruned {
        versions: doomed,
        artifacts,
    })
}

async fn remove_objects(
    access: &Access,
    store: &AssetStore,
    keys: Vec<String>,
) -> Result<(), Fault> {
    if keys.is_empty() {
        return Ok(());
    }
    let objects = keys
        .into_iter()
        .map(|key| ObjectId {
            key,
            version_id: None,
        })
        .collect();
    let deleted = access
        .cloud
        .delete_objects(&access.target, &store.bucket, objects)
        .await?;
    match deleted.kept.first() {
        None => Ok(()),
        Some(kept) => Err(Fault::new(
            FaultKind::Internal,
            "prune_failed",
            format!(
                "{} in {} cannot be removed ({}: {})",
                kept.id.key, store.bucket, kept.code, kept.message
            ),
        )),
    }
}

async fn remove_images(access: &Access, artifacts: &[Artifact]) -> Result<(), Fault> {
    let tags: Vec<&String> = artifacts
        .iter()
        .filter_map(|artifact| match artifact {
            Artifact::Image { tag } => Some(tag),
            Artifact::Object { .. } => None,
        })
        .collect();
    for batch in tags.chunks(100) {
        let ids: Vec<_> = batch.iter().map(|tag| json!({ "imageTag": tag })).collect();
        let input = json!({ "repositoryName": REPOSITORY, "imageIds": ids });
        let call = SignedCall::new(DELETE_IMAGES, input);
        match access.cloud.call(&access.target, call).await {
            Ok(_) => {}
            Err(failure) if failure.is_not_found() => {}
            Err(failure) => return Err(failure.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_newest_stay_and_the_protected() {
        let all: Vec<Version> = (1..=5).map(Version).collect();
        let doomed = |keep, protected: &[u32]| {
            let protected: Vec<Version> = protected.iter().copied().map(Version).collect();
            super::doomed(&all, keep, &protected)
                .iter()
                .map(|version| version.0)
                .collect::<Vec<_>>()
        };
        assert_eq!(doomed(3, &[]), [1, 2]);
        assert_eq!(doomed(2, &[2]), [1, 3]);
        assert_eq!(doomed(0, &[]), [1, 2, 3, 4]);
        assert_eq!(doomed(9, &[]), [] as [u32; 0]);
    }

    proptest! {
        #[test]
        fn enough_are_kept_and_nothing_protected_is_removed(
            numbers in prop::collection::btree_set(1_u32..60, 0..30),
            keep in 0_usize..12,
            protected in prop::collection::vec(1_u32..60, 0..4),
        ) {
            let versions: Vec<Version> = numbers.iter().copied().map(Version).collect();
            let protected: Vec<Version> = protected.into_iter().map(Version).collect();
            let gone = doomed(&versions, keep, &protected);
            prop_assert!(versions.len() - gone.len() >= keep.max(1).min(versions.len()));
            prop_assert!(gone.iter().all(|version| !protected.contains(version)));
            if let Some(newest) = versions.last() {
                prop_assert!(!gone.contains(newest));
            }
        }
    }
}
