//! A project with a website and a bucket, and the cloud its files go to.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use windlass_ports::aws::{Cloud, Target};
use windlass_stack_compile::SyncedBucket;
use windlass_stack_config::Config;
use windlass_stack_lifecycle::Access;
use windlass_stack_lifecycle::assets::AssetStore;
use windlass_stack_lifecycle::sync::{
    Manifest, Place, Plan, SyncDone, SyncSource, apply, plan, restore, sources,
};
use windlass_system::SystemClock;
use windlass_testkit::SeededEntropy;
use windlass_types::Problem;

pub const BUCKET: &str = "shop-dev-site";

pub struct World {
    pub folder: tempfile::TempDir,
    pub access: Access,
    pub store: AssetStore,
    pub place: Place,
    pub config: Config,
}

impl World {
    pub fn new(cloud: Arc<dyn Cloud>, resource: Value) -> Self {
        let config = serde_json::from_value(json!({ "resources": { "site": resource } })).unwrap();
        Self {
            folder: tempfile::tempdir().unwrap(),
            access: Access {
                cloud,
                clock: Arc::new(SystemClock),
                entropy: Arc::new(SeededEntropy::new(1)),
                target: Target::in_region("eu-west-1"),
            },
            store: AssetStore::new("123456789012", "eu-west-1"),
            place: Place {
                bucket: BUCKET.to_owned(),
                distribution: None,
            },
            config,
        }
    }

    /// Makes the site these files and nothing else.
    pub fn files(&self, files: &[(&str, &str)]) -> &Self {
        let site = self.folder.path().join("dist");
        let _ = fs_err::remove_dir_all(&site);
        for (path, text) in files {
            let place = site.join(path);
            fs_err::create_dir_all(place.parent().unwrap()).unwrap();
            fs_err::write(place, text).unwrap();
        }
        self
    }

    pub fn source(&self) -> SyncSource {
        let synced = SyncedBucket {
            resource: "site".to_owned(),
            logical_id: "SiteBucket".to_owned(),
            bucket: BUCKET.to_owned(),
            invalidates: Some("SiteCdnDistribution0".to_owned()),
        };
        let mut found = sources(&self.config, &[synced], self.folder.path()).unwrap();
        found.remove(0)
    }

    pub fn plan(&self) -> Plan {
        plan(&self.source(), &BTreeMap::new()).unwrap()
    }

    pub async fn apply(&self, previous: Option<&Manifest>) -> Result<SyncDone, Problem> {
        let plan = self.plan();
        let progress = |done: usize, total: usize| assert!(done <= total && done > 0);
        let work = apply(
            &self.access,
            &self.store,
            &self.place,
            &plan,
            previous,
            &progress,
        );
        is_send(&work);
        work.await
    }

    pub async fn restore(
        &self,
        to: &Manifest,
        from: Option<&Manifest>,
    ) -> Result<SyncDone, Problem> {
        let work = restore(&self.access, &self.store, &self.place, to, from, &|_, _| {});
        is_send(&work);
        work.await
    }
}

/// Steps of a run move between threads.
fn is_send<T: Send>(_: &T) {}

pub fn website() -> Value {
    json!({ "type": "hosting-bucket", "properties": { "uploadDirectoryPath": "dist" } })
}

pub fn bucket() -> Value {
    json!({ "type": "bucket", "properties": { "directoryUpload": { "directoryPath": "dist" } } })
}

pub fn counts(done: &SyncDone) -> (usize, usize, usize) {
    (done.uploaded, done.deleted, done.unchanged)
}
