//! Uploads: only what the store lacks, each once.

use std::collections::BTreeMap;
use std::sync::Mutex;

use futures::FutureExt as _;
use serde_json::json;
use windlass_ports::aws::*;
use windlass_stack_lifecycle::package::{Zip, asset_bucket, plan_upload, upload, zip_key};

use super::fixture::Project;

/// A store in memory that counts what it is sent.
#[derive(Default)]
struct Memory {
    objects: Mutex<BTreeMap<String, u64>>,
    puts: Mutex<Vec<String>>,
}

impl ObjectStore for Memory {
    fn head_object<'a>(
        &'a self,
        _: &'a Target,
        _: &'a str,
        key: &'a str,
    ) -> AwsFuture<'a, Option<ObjectHead>> {
        let found = self.objects.lock().unwrap().get(key).copied();
        let head = found.map(|content_length| ObjectHead {
            content_length,
            ..Default::default()
        });
        async move { Ok(head) }.boxed()
    }

    fn put_object<'a>(&'a self, _: &'a Target, request: PutObject) -> AwsFuture<'a, String> {
        let ObjectBody::File(path) = request.body else {
            panic!("a file is sent")
        };
        let length = fs_err::metadata(path).unwrap().len();
        self.objects
            .lock()
            .unwrap()
            .insert(request.key.clone(), length);
        self.puts.lock().unwrap().push(request.key);
        async { Ok(String::new()) }.boxed()
    }

    fn bucket_state<'a>(&'a self, _: &'a Target, _: &'a str) -> AwsFuture<'a, BucketState> {
        panic!("not asked")
    }
    fn create_bucket<'a>(&'a self, _: &'a Target, _: CreateBucket) -> AwsFuture<'a, ()> {
        panic!("not asked")
    }
    fn delete_bucket<'a>(&'a self, _: &'a Target, _: &'a str) -> AwsFuture<'a, ()> {
        panic!("not asked")
    }
    fn get_object<'a>(
        &'a self,
        _: &'a Target,
        _: &'a str,
        _: &'a str,
        _: u64,
    ) -> AwsFuture<'a, ObjectContent> {
        panic!("not asked")
    }
    fn delete_objects<'a>(
        &'a self,
        _: &'a Target,
        _: &'a str,
        _: Vec<ObjectId>,
    ) -> AwsFuture<'a, DeletedObjects> {
        panic!("not asked")
    }
    fn list_objects<'a>(
        &'a self,
        _: &'a Target,
        _: ListObjects,
    ) -> AwsFuture<'a, Vec<ObjectEntry>> {
        panic!("not asked")
    }
    fn list_versions<'a>(
        &'a self,
        _: &'a Target,
        _: ListObjects,
    ) -> AwsFuture<'a, Vec<ObjectVersion>> {
        panic!("not asked")
    }
    fn empty_bucket<'a>(
        &'a self,
        _: &'a Target,
        _: &'a str,
        _: &'a str,
    ) -> AwsFuture<'a, DeletedObjects> {
        panic!("not asked")
    }
}

#[tokio::test]
async fn only_what_is_missing_is_sent_and_once() {
    let project = Project::new(&[("a.js", "1"), ("b.js", "2"), ("c.js", "3")]);
    let zip = |path: &str| {
        project
            .zip("custom-artifact", json!({"packagePath": path}))
            .unwrap()
    };
    let zips: Vec<Zip> = [zip("a.js"), zip("b.js"), zip("c.js"), zip("a.js")].into();
    let store = Memory::default();
    // One is there, one is there with a wrong size.
    store
        .objects
        .lock()
        .unwrap()
        .insert(zip_key(&zips[1].digest), zips[1].bytes);
    store
        .objects
        .lock()
        .unwrap()
        .insert(zip_key(&zips[2].digest), 1);
    let (target, bucket) = (Target::default(), asset_bucket("123456789012", "eu-west-1"));
    assert_eq!(bucket, "windlass-assets-123456789012-eu-west-1");

    let plan = plan_upload(&store, &target, &bucket, &zips).await.unwrap();
    assert!(
        store.puts.lock().unwrap().is_empty(),
        "planning sends nothing"
    );
    assert_eq!((plan.missing.len(), plan.present.len()), (2, 1));
    let heard = Mutex::new(0);
    upload(&store, &target, &bucket, &plan, &|_| {
        *heard.lock().unwrap() += 1
    })
    .await
    .unwrap();
    let mut expected = vec![zip_key(&zips[0].digest), zip_key(&zips[2].digest)];
    expected.sort();
    assert_eq!(*store.puts.lock().unwrap(), expected);
    assert_eq!(*heard.lock().unwrap(), 2);
    let again = plan_upload(&store, &target, &bucket, &zips).await.unwrap();
    assert!(again.missing.is_empty());
}
