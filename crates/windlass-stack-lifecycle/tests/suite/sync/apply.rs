//! What is put, in which order, what is removed, and what is put back.

use std::sync::Arc;

use serde_json::json;
use windlass_ports::aws::{ObjectBody, ObjectStore as _, PutObject, StackResource, Target};
use windlass_stack_lifecycle::sync::{Manifest, Place, invalidate, place};

use super::memory::Memory;
use super::world::{BUCKET, World, bucket, counts, website};

const FIRST: &[(&str, &str)] = &[
    ("index.html", "<head>one"),
    ("about/index.html", "about"),
    ("app.js", "one"),
    ("same.css", "same"),
];

fn world(resource: serde_json::Value) -> (Arc<Memory>, World) {
    let memory = Arc::new(Memory::default());
    let world = World::new(Arc::clone(&memory) as _, resource);
    (memory, world)
}

async fn foreign(memory: &Memory, key: &str, text: &str) {
    let body = ObjectBody::Bytes(text.as_bytes().to_vec());
    let request = PutObject::new(BUCKET, key, body);
    memory
        .put_object(&Target::default(), request)
        .await
        .unwrap();
}

#[tokio::test]
async fn pages_are_uploaded_last_after_their_contents() {
    let (memory, world) = world(website());
    let done = world.files(FIRST).apply(None).await.unwrap();
    assert_eq!(counts(&done), (4, 0, 0));
    let puts = memory.done("put");
    let (kept, put): (Vec<_>, Vec<_>) = puts.iter().partition(|it| it.contains(" files/"));
    assert_eq!((kept.len(), put.len()), (4, 4));
    assert!(
        puts[..4]
            .iter()
            .all(|it| it.starts_with(&world.store.bucket))
    );
    assert_eq!(
        put[2..],
        [
            &format!("{BUCKET} about/index.html"),
            &format!("{BUCKET} index.html")
        ]
    );
    let page = memory.object(BUCKET, "index.html").request;
    assert_eq!(
        page.content_type.as_deref(),
        Some("text/html; charset=utf-8")
    );
    assert!(page.cache_control.unwrap().contains("s-maxage"));
    assert!(
        done.manifest
            .files
            .values()
            .all(|entry| entry.e_tag.is_some())
    );
}

#[tokio::test]
async fn only_differences_are_uploaded_and_removals_come_last() {
    let (memory, world) = world(website());
    let first = world.files(FIRST).apply(None).await.unwrap();
    foreign(&memory, "stray.txt", "x").await;
    memory.log.lock().unwrap().clear();
    let second: &[_] = &[
        ("index.html", "<head>two"),
        ("app.js", "one"),
        ("new.js", "new"),
        ("same.css", "same"),
    ];
    let done = world
        .files(second)
        .apply(Some(&first.manifest))
        .await
        .unwrap();
    assert_eq!(counts(&done), (2, 2, 2));
    assert!(done.is_changed());
    let log = memory.log.lock().unwrap().clone();
    let order: Vec<&str> = log
        .iter()
        .filter_map(|line| {
            line.split_once(BUCKET)
                .map(|(verb, key)| (verb.trim(), key.trim()))
        })
        .filter(|(verb, _)| *verb != "head")
        .map(|(_, key)| key)
        .collect();
    assert_eq!(
        order,
        ["new.js", "index.html", "about/index.html", "stray.txt"]
    );
    assert_eq!(
        memory.keys(BUCKET),
        ["app.js", "index.html", "new.js", "same.css"]
    );
    // What did not change is known from the manifest and the listing alone.
    assert!(!log.contains(&format!("head {BUCKET} app.js")));

    let again = world.apply(Some(&done.manifest)).await.unwrap();
    assert_eq!((counts(&again), again.is_changed()), ((0, 0, 4), false));
    assert_eq!(again.manifest, done.manifest);
}

#[tokio::test]
async fn a_shared_bucket_loses_only_our_files() {
    let (memory, world) = world(bucket());
    let first = world.files(FIRST).apply(None).await.unwrap();
    foreign(&memory, "uploads/photo.jpg", "theirs").await;
    world.files(&FIRST[..3]);
    let done = world.apply(Some(&first.manifest)).await.unwrap();
    assert_eq!(counts(&done), (0, 1, 3));
    assert!(
        memory
            .keys(BUCKET)
            .contains(&"uploads/photo.jpg".to_owned())
    );
    assert!(!memory.keys(BUCKET).contains(&"same.css".to_owned()));
}

#[tokio::test]
async fn an_interrupted_sync_resumes() {
    for puts in 0..8 {
        let (memory, world) = world(website());
        world.files(FIRST);
        *memory.puts_left.lock().unwrap() = Some(puts);
        let problem = world.apply(None).await.unwrap_err();
        assert_eq!(problem.details()["reason"], "unreachable");
        *memory.puts_left.lock().unwrap() = None;
        let done = world.apply(None).await.unwrap();
        assert_eq!(done.uploaded + done.unchanged, 4, "after {puts}");
        assert_eq!(done.unchanged, puts.saturating_sub(4), "after {puts}");
        assert_eq!(
            memory.done("put").len(),
            8,
            "nothing is put twice after {puts}"
        );
        assert_eq!(memory.text(BUCKET, "index.html"), "<head>one");
    }
}

#[tokio::test]
async fn headers_and_foreign_changes_are_differences_too() {
    let (memory, mut world) = world(website());
    let first = world.files(FIRST).apply(None).await.unwrap();
    // Same size, other contents, put by another process.
    foreign(&memory, "app.js", "two").await;
    let repaired = world.apply(Some(&first.manifest)).await.unwrap();
    assert_eq!(counts(&repaired), (1, 0, 3));
    assert_eq!(memory.text(BUCKET, "app.js"), "one");

    let mut changed = website();
    changed["properties"]["fileOptions"] = json!([{
        "includePattern": "**/*.css",
        "headers": [{ "key": "Cache-Control", "value": "no-store" }],
        "tags": [{ "key": "team", "value": "web" }],
    }]);
    world.config = serde_json::from_value(json!({ "resources": { "site": changed } })).unwrap();
    let done = world.apply(Some(&repaired.manifest)).await.unwrap();
    assert_eq!(counts(&done), (1, 0, 3));
    let sheet = memory.object(BUCKET, "same.css").request;
    assert_eq!(sheet.cache_control.as_deref(), Some("no-store"));
    assert_eq!(sheet.tags["team"], "web");
}

#[tokio::test]
async fn an_earlier_manifest_is_restored() {
    let (memory, world) = world(website());
    let first = world.files(FIRST).apply(None).await.unwrap();
    world.files(&[("index.html", "<head>two"), ("new.js", "new")]);
    let second = world.apply(Some(&first.manifest)).await.unwrap();
    // Through the version's record.
    let recorded = serde_json::to_string(&first.manifest).unwrap();
    let recorded: Manifest = serde_json::from_str(&recorded).unwrap();
    let done = world
        .restore(&recorded, Some(&second.manifest))
        .await
        .unwrap();
    assert_eq!(counts(&done), (4, 1, 0));
    for (path, text) in FIRST {
        assert_eq!(memory.text(BUCKET, path), *text);
    }
    assert_eq!(memory.keys(BUCKET).len(), 4);
    let page = memory.object(BUCKET, "index.html").request;
    assert!(page.cache_control.unwrap().contains("s-maxage"));
    let again = world
        .restore(&recorded, Some(&done.manifest))
        .await
        .unwrap();
    assert_eq!(counts(&again), (0, 0, 4));
}

#[tokio::test]
async fn nothing_is_restored_when_something_is_missing() {
    let (memory, world) = world(website());
    let first = world.files(FIRST).apply(None).await.unwrap();
    world.files(&[("index.html", "<head>two")]);
    let second = world.apply(Some(&first.manifest)).await.unwrap();
    let key = first.manifest.files["app.js"].store_key();
    memory.forget(&world.store.bucket, &key);
    let problem = world
        .restore(&first.manifest, Some(&second.manifest))
        .await
        .unwrap_err();
    assert_eq!(problem.code().name, "ROLLBACK_FAILED");
    assert_eq!(problem.details()["reason"], "artifacts_missing");
    assert_eq!(problem.details()["missing"], json!([key]));
    assert_eq!(memory.keys(BUCKET), ["index.html"]);
    assert_eq!(memory.text(BUCKET, "index.html"), "<head>two");
}

#[tokio::test]
async fn places_come_from_the_stack() {
    let part = |id: &str, physical: &str| StackResource {
        logical_resource_id: id.to_owned(),
        physical_resource_id: Some(physical.to_owned()),
        ..StackResource::default()
    };
    let memory = Memory {
        resources: vec![
            part("SiteBucket", "b-1"),
            part("SiteCdnDistribution0", "E1"),
        ],
        answers: [(
            "cloudfront:CreateInvalidation".to_owned(),
            json!({ "Id": "I1" }),
        )]
        .into(),
        ..Memory::default()
    };
    let world = World::new(Arc::new(memory), website());
    let mut manifest = world.files(FIRST).plan().manifest;
    let found = place(&world.access, "shop-dev", "site", &manifest).await;
    let expected = Place {
        bucket: "b-1".to_owned(),
        distribution: Some("E1".to_owned()),
    };
    assert_eq!(found.unwrap(), expected);
    assert_eq!(
        invalidate(&world.access, "E1", "run_1").await.unwrap(),
        "I1"
    );
    manifest.bucket_id = "Gone".to_owned();
    let problem = place(&world.access, "shop-dev", "site", &manifest)
        .await
        .unwrap_err();
    assert_eq!(problem.code().name, "NOT_FOUND");
    assert_eq!(problem.details()["logicalId"], "Gone");
}
