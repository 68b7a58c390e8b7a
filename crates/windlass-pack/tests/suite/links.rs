//! Links of a project: a plan names them, and no deploy writes through one that leaves.

use std::{
    collections::BTreeMap,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use windlass_types::{Problem, RunState};

use super::scene::{Scene, deploy, run};

/// Every file below a directory, links as what they say.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let content = match fs_err::read_link(&path) {
                Ok(text) => text.into_os_string().into_encoded_bytes(),
                Err(_) if path.is_dir() => {
                    open.push(path.clone());
                    Vec::new()
                }
                Err(_) => fs_err::read(&path).unwrap(),
            };
            found.insert(path.strip_prefix(root).unwrap().to_owned(), content);
        }
    }
    found
}

fn copy(from: &Path, to: &Path) {
    for (path, content) in files(from) {
        match from.join(&path).is_dir() {
            true => fs_err::create_dir_all(to.join(path)).unwrap(),
            false => {
                fs_err::create_dir_all(to.join(&path).parent().unwrap()).unwrap();
                fs_err::write(to.join(path), content).unwrap();
            }
        }
    }
}

/// A scene with a directory that is nobody's business.
fn scene() -> Scene {
    let scene = Scene::new();
    scene.put("outside/precious.md", "precious\n");
    scene.put("project/.git/hooks/pre-commit", "theirs\n");
    scene
}

fn called(scene: &Scene, operation: &str, input: Value) -> Result<Value, Problem> {
    let world = scene.past(1);
    let answer = world.life(world.disk.open_again(), |mut process| async move {
        process.drive().await;
        let answer = scene.call(&process, operation, input).await;
        process.stop().await;
        answer
    });
    answer.unwrap()
}

/// What a deploy writes in the project.
fn written() -> Vec<PathBuf> {
    let scene = scene();
    let before = files(&scene.project());
    let (operation, input) = deploy();
    called(&scene, operation, input).unwrap();
    let after = files(&scene.project());
    after
        .into_keys()
        .filter(|path| !before.contains_key(path))
        .collect()
}

/// Where links lead that must not be followed: the name of the case and the text of the link.
fn texts(scene: &Scene, link: &Path) -> Vec<(&'static str, PathBuf)> {
    let depth = link
        .strip_prefix(scene.project())
        .unwrap()
        .components()
        .count();
    let outside = scene.path("outside");
    vec![
        ("absolute", outside.clone()),
        ("relative", Path::new(&"../".repeat(depth)).join("outside")),
        ("a file", outside.join("precious.md")),
        ("dangling", outside.join("new/below")),
        ("itself", link.file_name().unwrap().into()),
        ("the hooks", scene.project().join(".git/hooks")),
        ("the home", scene.user().join("somewhere")),
    ]
}

#[test]
fn no_deploy_writes_through_a_link_that_leaves_the_project() {
    let written = written();
    assert!(
        written.iter().any(|path| path.components().count() >= 3),
        "{written:?}"
    );
    let mut cases = 0;
    for below in &written {
        for number in 0..7 {
            let scene = scene();
            let link = scene.project().join(below);
            let (kind, text) = texts(&scene, &link).swap_remove(number);
            fs_err::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(&text, &link).unwrap();
            let case = format!("{kind}: {} -> {}", below.display(), text.display());
            let (outside, hooks) = (scene.path("outside"), scene.project().join(".git"));
            let before = (
                files(&outside),
                files(&hooks),
                files(&scene.user().join(".codex")),
            );

            let planned = called(&scene, "pack.plan", json!({}));
            if let Ok(planned) = &planned {
                let named = &planned["links"][0];
                assert_eq!(named["path"], json!(link), "{case}: {planned}");
                assert_eq!(named["allowed"], false, "{case}");
            }
            let (operation, input) = deploy();
            let refused = called(&scene, operation, input).unwrap_err();
            assert!(
                refused
                    .message()
                    .contains(&*link.file_name().unwrap().to_string_lossy()),
                "{case}: {refused:?}"
            );
            assert!(link.is_symlink(), "{case}");
            let after = (
                files(&outside),
                files(&hooks),
                files(&scene.user().join(".codex")),
            );
            assert_eq!(after, before, "{case}");
            assert!(!scene.user().join("somewhere").exists(), "{case}");
            cases += 1;
        }
    }
    assert!(cases >= 18, "{cases}");
}

#[test]
fn a_link_that_stays_in_the_project_is_named_and_written_through() {
    let scene = scene();
    fs_err::create_dir_all(scene.path("project/tools/codex")).unwrap();
    symlink("tools/codex", scene.path("project/.codex")).unwrap();
    let planned = called(&scene, "pack.plan", json!({})).unwrap();
    let to = scene.project().canonicalize().unwrap().join("tools/codex");
    assert_eq!(
        planned["links"],
        json!([{ "path": scene.path("project/.codex"), "leads_to": to, "allowed": true }])
    );
    let (operation, input) = deploy();
    called(&scene, operation, input).unwrap();
    assert!(scene.path("project/.codex").is_symlink());
    assert!(!files(&scene.path("project/tools/codex")).is_empty());
}

#[test]
fn directories_that_were_swapped_after_the_plan_stop_the_run() {
    type Swap = fn(&Scene);
    let swaps: [(&str, Swap); 2] = [
        ("a link to the same content", |scene| {
            copy(&scene.path("project/.codex"), &scene.path("outside/codex"));
            fs_err::rename(scene.path("project/.codex"), scene.path("old")).unwrap();
            symlink(scene.path("outside/codex"), scene.path("project/.codex")).unwrap();
        }),
        ("another directory with the same content", |scene| {
            fs_err::rename(scene.path("project/.codex"), scene.path("old")).unwrap();
            copy(&scene.path("old"), &scene.path("project/.codex"));
        }),
    ];
    for (what, swap) in swaps {
        let scene = scene();
        let (operation, input) = deploy();
        scene.happened(1, operation, input.clone());
        scene.change();
        let planned = scene.planned(2, operation, input);
        swap(&scene);
        let before = (files(&scene.project()), files(&scene.path("outside")));
        let world = scene.past(3);
        let record = world.life(world.disk.open_again(), |mut process| async move {
            process.drive().await;
            let record = run(&process, &planned).await;
            process.stop().await;
            record
        });
        let record = record.unwrap();
        assert_eq!(record.state, RunState::Failed, "{what}");
        let problem = record.problem.unwrap();
        assert_eq!(
            problem.details()["reason_code"],
            "destination_changed",
            "{what}: {problem:?}"
        );
        let after = (files(&scene.project()), files(&scene.path("outside")));
        assert_eq!(after, before, "{what}");
    }
}
