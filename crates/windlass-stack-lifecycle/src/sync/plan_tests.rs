//! Directories and the manifests they become.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_stack_compile::SyncedBucket;
use windlass_stack_config::Config;

use super::*;
use crate::sync::source::sources;

fn source(folder: &Path, properties: Value) -> SyncSource {
    let mut all = json!({ "uploadDirectoryPath": "site" });
    for (key, value) in properties.as_object().unwrap() {
        all[key] = value.clone();
    }
    let config: Config = serde_json::from_value(json!({
        "resources": { "web": { "type": "hosting-bucket", "properties": all } },
    }))
    .unwrap();
    let synced = SyncedBucket {
        resource: "web".to_owned(),
        logical_id: "WebBucket".to_owned(),
        bucket: "web-1".to_owned(),
        invalidates: None,
    };
    sources(&config, &[synced], folder).unwrap().remove(0)
}

fn write(folder: &Path, path: &str, text: &str) {
    let place = folder.join("site").join(path);
    fs_err::create_dir_all(place.parent().unwrap()).unwrap();
    fs_err::write(place, text).unwrap();
}

fn reason(problem: &Problem) -> &str {
    problem.details()["reason"].as_str().unwrap()
}

#[test]
fn files_have_digests_headers_and_what_is_excluded_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("index.html", "<head></head>"),
        ("a/app.js", "app"),
        ("a/app.js.map", "map"),
        ("drafts/x.html", "draft"),
        (".well-known/security.txt", "mail"),
        (".git/config", "history"),
        ("a/.DS_Store", "x"),
    ] {
        write(folder.path(), path, text);
    }
    let properties = json!({ "excludeFilesPatterns": ["**/*.map", "drafts"] });
    let source = source(folder.path(), properties);
    let plan = plan(&source, &BTreeMap::new()).unwrap();
    let files: Vec<&str> = plan.manifest.files.keys().map(String::as_str).collect();
    assert_eq!(
        files,
        [".well-known/security.txt", "a/app.js", "index.html"]
    );
    let app = &plan.manifest.files["a/app.js"];
    assert_eq!((app.sha256, app.size), (Digest::of(b"app"), 3));
    assert_eq!(app.content_type, "text/javascript; charset=utf-8");
    assert_eq!(
        app.cache_control.as_deref(),
        Some("public, max-age=0, must-revalidate")
    );
    let left_out: BTreeSet<String> = plan.left_out.into_iter().collect();
    assert_eq!(
        left_out,
        BTreeSet::from([".git".to_owned(), "a/.DS_Store".to_owned()])
    );
    assert_eq!(plan.manifest.bucket_id, "WebBucket");
}

#[test]
fn pages_have_the_values_and_files_on_disk_stay_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "index.html", "<head></head>");
    write(folder.path(), "app.js", "app");
    let source = source(folder.path(), json!({}));
    let values = BTreeMap::from([("API".to_owned(), "https://x".to_owned())]);
    let plan = plan(&source, &values).unwrap();
    let made = b"<head><script>window.STP_INJECTED_ENV={\"API\":\"https://x\"};</script></head>";
    let page = &plan.manifest.files["index.html"];
    assert_eq!(
        (page.sha256, page.size),
        (Digest::of(made), made.len() as u64)
    );
    let ObjectBody::Bytes(body) = plan.contents["index.html"]
        .body("index.html", page)
        .unwrap()
    else {
        panic!("a page is small");
    };
    assert_eq!(body, made);
    assert_eq!(plan.manifest.files["app.js"].sha256, Digest::of(b"app"));
    let on_disk = fs_err::read_to_string(folder.path().join("site/index.html")).unwrap();
    assert_eq!(on_disk, "<head></head>");
}

#[test]
fn links_stay_inside() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.txt", "a");
    let link = |to: &Path, name: &str| {
        std::os::unix::fs::symlink(to, folder.path().join("site").join(name)).unwrap();
    };
    link(Path::new("a.txt"), "inside.txt");
    let source = source(
        folder.path(),
        json!({ "excludeFilesPatterns": ["left-out"] }),
    );
    fs_err::write(folder.path().join("secret"), "s").unwrap();
    link(Path::new("../secret"), "left-out");
    let good = plan(&source, &BTreeMap::new()).unwrap();
    assert_eq!(good.manifest.files["inside.txt"].sha256, Digest::of(b"a"));
    link(Path::new("../secret"), "escape");
    let problem = plan(&source, &BTreeMap::new()).unwrap_err();
    assert_eq!(reason(&problem), "directory_unusable");
    assert!(problem.message().contains("escape"), "{problem}");
}

#[test]
fn a_directory_that_is_missing_or_empty_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let built = source(
        folder.path(),
        json!({ "build": { "command": "npm run build" } }),
    );
    let problem = plan(&built, &BTreeMap::new()).unwrap_err();
    assert_eq!(reason(&problem), "directory_missing");
    assert_eq!(
        problem.next_actions(),
        ["make `npm run build` write its files there"]
    );
    fs_err::create_dir(folder.path().join("site")).unwrap();
    let problem = plan(&built, &BTreeMap::new()).unwrap_err();
    assert_eq!(reason(&problem), "directory_empty");
}

#[test]
fn contents_that_change_after_planning_are_not_sent() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.txt", "before");
    let source = source(folder.path(), json!({}));
    let plan = plan(&source, &BTreeMap::new()).unwrap();
    write(folder.path(), "a.txt", "after!");
    let entry = &plan.manifest.files["a.txt"];
    let problem = plan.contents["a.txt"].body("a.txt", entry).unwrap_err();
    assert_eq!(reason(&problem), "file_changed");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_file_is_planned_once_and_planning_is_stable(
        files in prop::collection::btree_map("[a-c]{1,2}/[a-z]{1,6}\\.(html|js|txt)", "[a-z]{0,12}", 1..12),
    ) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in &files {
            write(folder.path(), path, text);
        }
        let source = source(folder.path(), json!({}));
        let once = plan(&source, &BTreeMap::new()).unwrap().manifest;
        let digests: BTreeMap<String, Digest> = once.files.iter().map(|(path, it)| (path.clone(), it.sha256)).collect();
        let expected: BTreeMap<String, Digest> = files.iter().map(|(path, text)| (path.clone(), Digest::of(text.as_bytes()))).collect();
        prop_assert_eq!(digests, expected);
        prop_assert_eq!(plan(&source, &BTreeMap::new()).unwrap().manifest, once);
    }
}
