//! Files of a stack's buckets, sent after CloudFormation is through, or brought back.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use windlass_stack_compile::SyncedBucket;
use windlass_stack_lifecycle::Access;
use windlass_stack_lifecycle::assets::AssetStore;
use windlass_stack_lifecycle::sync::{
    Manifest, Manifests, Setting, SyncDone, SyncSource, apply, build, invalidate, place, plan,
    sources,
};
use windlass_stack_lifecycle::versions::{self, Artifact, VersionRecord};
use windlass_types::{Problem, code};

use crate::desk::{Desk, blocking};
use crate::fault;
use crate::prepare::Prepared;
use crate::project::Project;
use crate::run::Job;
use crate::scripts::{facts, require_build};

/// How long the build of a website may take.
const BUILD_TIME: Duration = Duration::from_secs(1800);

/// A bucket that was filled.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Filled {
    pub resource: String,
    pub bucket: String,
    pub uploaded: usize,
    pub deleted: usize,
    pub unchanged: usize,
    /// What is in it now, for the version.
    pub manifest: Manifest,
}

impl Filled {
    /// Counted against the version before: an attempt that was cut off may have put files that
    /// this one found in place, and they are reported nevertheless.
    fn new(resource: &str, bucket: String, done: SyncDone, before: Option<&Manifest>) -> Self {
        let had = |key: &String| before.and_then(|before| before.files.get(key));
        let files = &done.manifest.files;
        let put = files
            .iter()
            .filter(|(key, file)| had(key).is_none_or(|had| had.mark() != file.mark()))
            .count();
        let gone = before.map_or(0, |before| {
            let keys = before.files.keys();
            keys.filter(|key| !files.contains_key(*key)).count()
        });
        let uploaded = done.uploaded.max(put);
        Self {
            resource: resource.to_owned(),
            bucket,
            uploaded,
            deleted: done.deleted.max(gone),
            unchanged: files.len().saturating_sub(uploaded),
            manifest: done.manifest,
        }
    }

    /// Whether visitors see something else than before.
    pub fn is_news(&self) -> bool {
        self.uploaded + self.deleted > 0
    }

    /// What answers say of it.
    pub fn summary(&self) -> Value {
        serde_json::json!({
            "resourceName": self.resource,
            "bucket": self.bucket,
            "uploaded": self.uploaded,
            "deleted": self.deleted,
            "unchanged": self.unchanged,
        })
    }
}

/// Undoing what was sent: files stay, and anyone who is told so can bring the earlier ones back.
pub(crate) fn take_back(filled: &[Filled]) -> Result<(), Problem> {
    let changed: Vec<&str> = filled
        .iter()
        .filter(|bucket| bucket.is_news())
        .map(|bucket| bucket.bucket.as_str())
        .collect();
    if changed.is_empty() {
        return Ok(());
    }
    let buckets = changed.join(", ");
    Err(Problem::new(
        &code::ILLEGAL_STATE,
        format!("the files that were sent to {buckets} stay"),
    )
    .with("buckets", changed)
    .next("windlass stack rollback brings the files of an earlier version back"))
}

/// What a version keeps of its buckets.
pub(crate) fn manifests(filled: &[Filled]) -> Value {
    let all: Manifests = filled
        .iter()
        .map(|bucket| (bucket.resource.clone(), bucket.manifest.clone()))
        .collect();
    serde_json::to_value(all).unwrap_or_default()
}

/// What a version needs in the asset store for its buckets.
pub(crate) fn artifacts(filled: &[Filled]) -> BTreeMap<String, Artifact> {
    filled
        .iter()
        .flat_map(|bucket| bucket.manifest.artifacts())
        .collect()
}

/// The manifests of a version. One that is not understood is as good as none: everything is sent.
pub(crate) fn manifests_of(record: &VersionRecord) -> Manifests {
    serde_json::from_value(record.bucket_sync.clone()).unwrap_or_default()
}

/// Builds websites and sends the files of every bucket.
pub(crate) async fn fill(
    desk: &Desk,
    job: &Job,
    prepared: &Prepared,
    store: &AssetStore,
    run_id: &str,
) -> Result<Vec<Filled>, Problem> {
    let access = desk.access(job.place.target());
    let project = Project::load(desk, &job.place, &job.arguments, "deploy").await?;
    let previous = newest(&access, store, prepared.stack_name()).await?;
    let buckets: Vec<SyncedBucket> = prepared
        .buckets
        .iter()
        .map(|bucket| SyncedBucket {
            resource: bucket.resource.clone(),
            logical_id: bucket.logical_id.clone(),
            bucket: bucket.bucket.clone(),
            invalidates: bucket.invalidates.clone(),
        })
        .collect();
    let mut filled = Vec::new();
    for source in sources(&project.config, &buckets, &project.config_directory)? {
        let injected = built(desk, &access, &project, &source).await?;
        let (source, planned) = blocking(move || {
            let planned = plan(&source, &injected)?;
            Ok((source, planned))
        })
        .await?;
        let stack = prepared.stack_name();
        let at = place(&access, stack, &source.resource, &planned.manifest).await?;
        let before = previous.get(&source.resource);
        let done = apply(&access, store, &at, &planned, before, &|_, _| {}).await?;
        let bucket = Filled::new(&source.resource, at.bucket, done, before);
        if let Some(distribution) = at.distribution.filter(|_| bucket.is_news()) {
            let reference = format!("{run_id}-{}", source.resource);
            invalidate(&access, &distribution, &reference).await?;
        }
        filled.push(bucket);
    }
    Ok(filled)
}

async fn built(
    desk: &Desk,
    access: &Access,
    project: &Project,
    source: &SyncSource,
) -> Result<BTreeMap<String, String>, Problem> {
    if source.build.is_some() {
        require_build(desk, project, &source.resource)?;
    }
    let facts = facts(project);
    // Builds run code of the project's packages; they see no credentials.
    let environment: BTreeMap<String, String> = desk
        .outside
        .environment
        .iter()
        .filter(|(name, _)| !name.starts_with("AWS_"))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let setting = Setting {
        config: &project.config,
        facts: &facts,
        access,
        redactor: &desk.engine.redactor,
        environment: &environment,
    };
    let deadline = desk.engine.now().after(BUILD_TIME);
    let built = build(source, &setting, &|_, _: &str| {}, deadline).await;
    if source.build.is_some() {
        desk.outside.trust.ran(&project.config_directory);
    }
    Ok(built?.injected)
}

/// What the newest version put into the buckets.
async fn newest(access: &Access, store: &AssetStore, stack: &str) -> Result<Manifests, Problem> {
    let all = versions::list(access, store, stack)
        .await
        .map_err(fault::problem)?;
    let Some(version) = all.last() else {
        return Ok(Manifests::default());
    };
    let record = versions::read(access, store, stack, *version)
        .await
        .map_err(fault::problem)?;
    Ok(manifests_of(&record))
}

/// Brings the files of a version back.
pub(crate) async fn restore(
    desk: &Desk,
    job: &Job,
    prepared: &Prepared,
    store: &AssetStore,
    record: &VersionRecord,
    run_id: &str,
) -> Result<Vec<Filled>, Problem> {
    let access = desk.access(job.place.target());
    let previous = newest(&access, store, prepared.stack_name()).await?;
    let mut filled = Vec::new();
    for (resource, manifest) in manifests_of(record) {
        let at = place(&access, prepared.stack_name(), &resource, &manifest).await?;
        let before = previous.get(&resource);
        let done = windlass_stack_lifecycle::sync::restore(
            &access,
            store,
            &at,
            &manifest,
            before,
            &|_, _| {},
        )
        .await?;
        let bucket = Filled::new(&resource, at.bucket, done, before);
        if let Some(distribution) = at.distribution.filter(|_| bucket.is_news()) {
            invalidate(&access, &distribution, &format!("{run_id}-{resource}")).await?;
        }
        filled.push(bucket);
    }
    Ok(filled)
}
