//! Puts what differs into a bucket and removes what is gone; puts an earlier manifest back.
//!
//! Repeating either does no harm: what was put is recognised by its metadata.

use std::collections::{BTreeMap, BTreeSet};

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use serde::{Deserialize, Serialize};
use windlass_ports::BoxFuture;
use windlass_ports::aws::{ListObjects, ObjectBody, ObjectEntry, ObjectId};
use windlass_types::{Digest, Problem, code};

use crate::assets::AssetStore;
use crate::sync::difference::{Verdict, gone, judge, wave};
use crate::sync::manifest::{Entry, MARK, Manifest};
use crate::sync::place::Place;
use crate::sync::plan::Plan;
use crate::{Access, Fault};

/// How many exchanges at a time.
const AT_ONCE: usize = 8;
/// How many names are listed in a failure.
const SHOWN: usize = 20;

/// Receives how many of how many files are uploaded.
pub type Progress<'a> = dyn Fn(usize, usize) + Send + Sync + 'a;

/// The result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SyncDone {
    /// How many files were put into the bucket.
    pub uploaded: usize,
    /// How many were removed from it.
    pub deleted: usize,
    /// How many were there as they should be.
    pub unchanged: usize,
    /// The manifest as it is in the bucket now; for the version's record.
    pub manifest: Manifest,
}

impl SyncDone {
    /// Whether visitors see something else than before.
    pub fn is_changed(&self) -> bool {
        self.uploaded > 0 || self.deleted > 0
    }
}

/// Makes a bucket what the plan says. Contents go to the asset store first, so that whatever is
/// in the bucket can be restored.
pub async fn apply(
    access: &Access,
    store: &AssetStore,
    place: &Place,
    plan: &Plan,
    previous: Option<&Manifest>,
    progress: &Progress<'_>,
) -> Result<SyncDone, Problem> {
    let bucket = Bucket { access, place };
    let state = bucket.compare(&plan.manifest, previous).await?;
    let stored: BTreeSet<Digest> = previous
        .into_iter()
        .flat_map(|previous| previous.files.values().map(|entry| entry.sha256))
        .collect();
    let mut new: BTreeMap<Digest, &str> = BTreeMap::new();
    for (path, entry) in &plan.manifest.files {
        if !stored.contains(&entry.sha256) {
            new.insert(entry.sha256, path);
        }
    }
    let mut work: Vec<Part<'_, ()>> = Vec::new();
    for path in new.into_values() {
        work.push(Box::pin(keep(access, store, plan, path)));
    }
    at_once(work).await?;
    let source = Source::Plan(plan);
    bucket
        .bring(&plan.manifest, previous, state, &source, progress)
        .await
}

/// Makes a bucket what an earlier manifest says, from the asset store. Nothing is changed when
/// contents are missing there.
pub async fn restore(
    access: &Access,
    store: &AssetStore,
    place: &Place,
    manifest: &Manifest,
    previous: Option<&Manifest>,
    progress: &Progress<'_>,
) -> Result<SyncDone, Problem> {
    let bucket = Bucket { access, place };
    let state = bucket.compare(manifest, previous).await?;
    let needed: BTreeMap<Digest, &Entry> = state
        .differing
        .iter()
        .filter_map(|path| manifest.files.get(path))
        .map(|entry| (entry.sha256, entry))
        .collect();
    let mut looks: Vec<Part<'_, Option<String>>> = Vec::new();
    for entry in needed.into_values() {
        looks.push(Box::pin(is_missing(access, store, entry)));
    }
    let missing: Vec<String> = at_once(looks).await?.into_iter().flatten().collect();
    if !missing.is_empty() {
        let message = format!(
            "{} files of the version are no longer in {}; nothing was changed",
            missing.len(),
            store.bucket
        );
        let shown: Vec<String> = missing.into_iter().take(SHOWN).collect();
        return Err(Problem::new(&code::ROLLBACK_FAILED, message)
            .with("reason", "artifacts_missing")
            .with("missing", shown)
            .next("deploy the version's sources again"));
    }
    let source = Source::Store(store);
    bucket
        .bring(manifest, previous, state, &source, progress)
        .await
}

async fn keep(access: &Access, store: &AssetStore, plan: &Plan, path: &str) -> Result<(), Problem> {
    let Some(entry) = plan.manifest.files.get(path) else {
        return Ok(());
    };
    let body = planned(plan, path, entry).await?;
    store
        .put_once(access, &entry.store_key(), body, None)
        .await
        .map_err(Fault::into_problem)?;
    Ok(())
}

async fn is_missing(
    access: &Access,
    store: &AssetStore,
    entry: &Entry,
) -> Result<Option<String>, Problem> {
    let key = entry.store_key();
    let head = access
        .cloud
        .head_object(&access.target, &store.bucket, &key)
        .await
        .map_err(Fault::problem)?;
    Ok(head.is_none().then_some(key))
}

async fn planned(plan: &Plan, path: &str, entry: &Entry) -> Result<ObjectBody, Problem> {
    let Some(content) = plan.contents.get(path).cloned() else {
        return Err(Problem::internal(
            "bucket sync",
            format!("{path} has no contents"),
        ));
    };
    let (path, entry) = (path.to_owned(), entry.clone());
    tokio::task::spawn_blocking(move || content.body(&path, &entry))
        .await
        .map_err(|error| Problem::internal("bucket sync", error))?
}

/// Where contents come from.
enum Source<'a> {
    Plan(&'a Plan),
    Store(&'a AssetStore),
}

/// What a bucket is compared to a manifest.
struct State {
    differing: Vec<String>,
    /// Entity tags of what is as it should be.
    same: BTreeMap<String, Option<String>>,
    listed: BTreeMap<String, ObjectEntry>,
}

struct Bucket<'a> {
    access: &'a Access,
    place: &'a Place,
}

impl Bucket<'_> {
    async fn compare(
        &self,
        manifest: &Manifest,
        previous: Option<&Manifest>,
    ) -> Result<State, Problem> {
        let request = ListObjects {
            bucket: self.place.bucket.clone(),
            ..ListObjects::default()
        };
        let cloud = &self.access.cloud;
        let listed = cloud.list_objects(&self.access.target, request).await;
        let listed: BTreeMap<String, ObjectEntry> = listed
            .map_err(Fault::problem)?
            .into_iter()
            .map(|object| (object.key.clone(), object))
            .collect();
        let mut state = State {
            differing: Vec::new(),
            same: BTreeMap::new(),
            listed,
        };
        let mut unknown: Vec<Part<'_, _>> = Vec::new();
        for (path, entry) in &manifest.files {
            let before = previous.and_then(|previous| previous.files.get(path));
            let object = state.listed.get(path);
            match judge(entry, before, object) {
                Verdict::Differs => state.differing.push(path.clone()),
                Verdict::Unknown => unknown.push(Box::pin(self.is_marked(path, entry))),
                Verdict::Same => {
                    let e_tag = object.and_then(|object| object.e_tag.clone());
                    state.same.insert(path.clone(), e_tag);
                }
            }
        }
        for (path, marked) in at_once(unknown).await? {
            match marked {
                Some(e_tag) => {
                    state.same.insert(path, e_tag);
                }
                None => state.differing.push(path),
            }
        }
        Ok(state)
    }

    /// The entity tag of an object that was made from this entry.
    async fn is_marked(
        &self,
        path: &str,
        entry: &Entry,
    ) -> Result<(String, Option<Option<String>>), Problem> {
        let cloud = &self.access.cloud;
        let head = cloud.head_object(&self.access.target, &self.place.bucket, path);
        let head = head.await.map_err(Fault::problem)?;
        let mark = entry.mark().to_string();
        let marked = head
            .filter(|head| head.metadata.get(MARK) == Some(&mark))
            .map(|head| head.e_tag);
        Ok((path.to_owned(), marked))
    }

    async fn bring(
        &self,
        manifest: &Manifest,
        previous: Option<&Manifest>,
        state: State,
        source: &Source<'_>,
        progress: &Progress<'_>,
    ) -> Result<SyncDone, Problem> {
        let total = state.differing.len();
        let mut tags = state.same;
        let unchanged = tags.len();
        let mut uploaded = 0;
        for number in 0..=2 {
            let mut due: Vec<Part<'_, _>> = Vec::new();
            for path in state.differing.iter().filter(|it| wave(it) == number) {
                if let Some(entry) = manifest.files.get(path) {
                    due.push(Box::pin(self.put(path, entry, source)));
                }
            }
            let mut puts = AtOnce::new(due);
            while let Some(put) = puts.next().await {
                let (path, e_tag) = put?;
                tags.insert(path, Some(e_tag));
                uploaded += 1;
                progress(uploaded, total);
            }
        }
        let gone = gone(manifest, previous, &state.listed);
        let deleted = self.delete(gone).await?;
        let mut manifest = manifest.clone();
        for (path, entry) in &mut manifest.files {
            entry.e_tag = tags.remove(path).flatten();
        }
        Ok(SyncDone {
            uploaded,
            deleted,
            unchanged,
            manifest,
        })
    }

    async fn put(
        &self,
        path: &str,
        entry: &Entry,
        source: &Source<'_>,
    ) -> Result<(String, String), Problem> {
        let (cloud, target) = (&self.access.cloud, &self.access.target);
        let body = match source {
            Source::Plan(plan) => planned(plan, path, entry).await?,
            Source::Store(store) => {
                let key = entry.store_key();
                let found = cloud.get_object(target, &store.bucket, &key, entry.size);
                let bytes = found.await.map_err(Fault::problem)?.bytes;
                if Digest::of(&bytes) != entry.sha256 {
                    let message = format!("{key} in {} is damaged", store.bucket);
                    return Err(Problem::new(&code::ROLLBACK_FAILED, message)
                        .with("reason", "artifacts_missing")
                        .with("missing", vec![key]));
                }
                ObjectBody::Bytes(bytes)
            }
        };
        let object = entry.object(&self.place.bucket, path, body);
        let e_tag = cloud
            .put_object(target, object)
            .await
            .map_err(Fault::problem)?;
        Ok((path.to_owned(), e_tag))
    }

    async fn delete(&self, keys: Vec<String>) -> Result<usize, Problem> {
        if keys.is_empty() {
            return Ok(0);
        }
        let count = keys.len();
        let objects = keys.into_iter().map(|key| ObjectId {
            key,
            version_id: None,
        });
        let bucket = &self.place.bucket;
        let cloud = &self.access.cloud;
        let deleted = cloud.delete_objects(&self.access.target, bucket, objects.collect());
        let deleted = deleted.await.map_err(Fault::problem)?;
        let Some(kept) = deleted.kept.first() else {
            return Ok(count);
        };
        let names: Vec<&str> = deleted
            .kept
            .iter()
            .map(|it| it.id.key.as_str())
            .take(SHOWN)
            .collect();
        let message = format!(
            "{} of {count} files could not be removed from {bucket}: {} ({})",
            deleted.kept.len(),
            kept.message,
            kept.code
        );
        Err(Problem::new(&code::UPSTREAM_ERROR, message)
            .with("reason", "files_not_removed")
            .with("kept", names))
    }
}

/// One part of the work.
type Part<'a, T> = BoxFuture<'a, Result<T, Problem>>;

/// Work of which a few parts run at a time.
struct AtOnce<'a, T> {
    waiting: std::vec::IntoIter<Part<'a, T>>,
    running: FuturesUnordered<Part<'a, T>>,
}

impl<'a, T> AtOnce<'a, T> {
    fn new(work: Vec<Part<'a, T>>) -> Self {
        Self {
            waiting: work.into_iter(),
            running: FuturesUnordered::new(),
        }
    }

    async fn next(&mut self) -> Option<Result<T, Problem>> {
        while self.running.len() < AT_ONCE
            && let Some(next) = self.waiting.next()
        {
            self.running.push(next);
        }
        self.running.next().await
    }
}

async fn at_once<T>(work: Vec<Part<'_, T>>) -> Result<Vec<T>, Problem> {
    let mut work = AtOnce::new(work);
    let mut done = Vec::new();
    while let Some(result) = work.next().await {
        done.push(result?);
    }
    Ok(done)
}
