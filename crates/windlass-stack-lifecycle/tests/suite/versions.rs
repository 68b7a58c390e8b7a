//! Versions in the asset store: written once, deployed again, pruned.

use std::collections::BTreeMap;

use serde_json::json;
use windlass_ports::aws::ObjectBody;
use windlass_stack_lifecycle::assets::{AssetStore, StoreState};
use windlass_stack_lifecycle::prune;
use windlass_stack_lifecycle::versions::{self, Artifact, Version, VersionRecord};
use windlass_types::{Digest, Timestamp};

use super::world::{STACK, World};

fn record(run: &str, keys: &[&str]) -> VersionRecord {
    VersionRecord {
        version: Version(1),
        template: json!({ "Resources": {} }),
        parameters: BTreeMap::new(),
        tags: BTreeMap::new(),
        capabilities: Vec::new(),
        artifacts: keys
            .iter()
            .map(|key| {
                (
                    (*key).to_owned(),
                    Artifact::Object {
                        key: (*key).to_owned(),
                    },
                )
            })
            .collect(),
        names: BTreeMap::new(),
        output_names: BTreeMap::new(),
        bucket_sync: json!(null),
        plan_digest: Digest::of(b"plan"),
        run_id: run.to_owned(),
        created_at: Timestamp::EPOCH,
        not_restored: Vec::new(),
    }
}

#[tokio::test]
async fn a_version_is_written_once_per_run_and_pruned_with_what_only_it_needs() {
    let world = World::start().await;
    let (access, store) = (&world.access, &world.store);
    assert_eq!(AssetStore::of_caller(access).await.unwrap(), *store);
    assert_eq!(store.state(access).await.unwrap(), StoreState::Absent);
    assert_eq!(versions::list(access, store, STACK).await.unwrap(), []);
    store.ensure_bucket(access).await.unwrap();
    store.ensure_bucket(access).await.unwrap();
    assert_eq!(store.state(access).await.unwrap(), StoreState::Ready);
    for key in ["zips/a.zip", "zips/b.zip", "zips/c.zip"] {
        let body = || ObjectBody::Bytes(key.as_bytes().to_vec());
        assert!(store.put_once(access, key, body(), None).await.unwrap());
        assert!(!store.put_once(access, key, body(), None).await.unwrap());
    }
    let write = |stack: &'static str, run: &'static str, keys: &'static [&'static str]| {
        versions::write(access, store, stack, record(run, keys))
    };
    assert_eq!(
        write(STACK, "run_1", &["zips/a.zip", "zips/b.zip"])
            .await
            .unwrap(),
        Version(1)
    );
    assert_eq!(
        write(STACK, "run_1", &["zips/a.zip", "zips/b.zip"])
            .await
            .unwrap(),
        Version(1)
    );
    assert_eq!(
        write(STACK, "run_2", &["zips/b.zip"]).await.unwrap(),
        Version(2)
    );
    assert_eq!(
        write(STACK, "run_3", &["zips/c.zip"]).await.unwrap(),
        Version(3)
    );
    assert_eq!(
        write("other-dev", "run_4", &["zips/b.zip"]).await.unwrap(),
        Version(1)
    );

    let first = versions::read(access, store, STACK, Version(1))
        .await
        .unwrap();
    versions::require_artifacts(access, store, &first)
        .await
        .unwrap();
    let pruned = prune::prune(access, store, STACK, 1, &[Version(3)])
        .await
        .unwrap();
    assert_eq!(pruned.versions, [Version(1), Version(2)]);
    // Another stack still needs b.
    assert_eq!(
        pruned.artifacts,
        [Artifact::Object {
            key: "zips/a.zip".to_owned()
        }]
    );
    assert_eq!(
        versions::list(access, store, STACK).await.unwrap(),
        [Version(3)]
    );
    let fault = versions::require_artifacts(access, store, &first)
        .await
        .unwrap_err();
    assert_eq!(fault.reason, "artifacts_missing");
    assert_eq!(fault.data["missing"], json!(["zips/a.zip (zips/a.zip)"]));
    let fault = versions::read(access, store, STACK, Version(1))
        .await
        .unwrap_err();
    assert_eq!(fault.reason, "version_not_found");
}
