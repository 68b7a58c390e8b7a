//! Rolling back runs through the engine, and undoing events: what was there is there again, and
//! no other files are touched.

use serde_json::{Value, json};
use windlass_testkit::Process;
use windlass_text::unified;
use windlass_types::{RunId, RunState};

use super::scene::{MCP_FILE, Scene, deploy, roll_back};

async fn deploy_in(scene: &Scene, process: &Process, project: &str) -> Value {
    let (operation, input) = deploy();
    let done = scene.call_in(process, scene.path(project), operation, input);
    done.await.unwrap()
}

fn run_of(data: &Value) -> RunId {
    serde_json::from_value(data["run_id"].clone()).unwrap()
}

#[test]
fn taking_a_completed_run_back_restores_the_files() {
    let scene = Scene::new();
    let (operation, input) = deploy();
    scene.happened(1, operation, input);
    scene.change();
    let before = scene.picture();
    let (known, _) = scene.state().remembered().unwrap();
    let world = scene.past(2);
    let scene = &scene;
    let done = world.life(world.disk.open_again(), |mut process| async move {
        process.drive().await;
        let deployed = deploy_in(scene, &process, "project").await;
        assert_eq!(scene.text("project/AGENTS.md").unwrap(), "two\n");
        assert_eq!(
            scene.text("user/.codex/prompts/mine.md").unwrap(),
            "theirs\n"
        );
        assert!(scene.text("project/.mcp.json").unwrap().contains("demo"));
        assert_eq!(scene.text("user/.codex/skills/old/SKILL.md"), None);
        let run_id = run_of(&deployed);
        let record = roll_back(&process, &run_id).await;
        assert_eq!(record.state, RunState::RolledBack, "{record:?}");
        assert_eq!(record.residue, Vec::<String>::new());
        let plan = scene.call(&process, "pack.plan", json!({})).await.unwrap();
        process.stop().await;
        (deployed, plan)
    });
    let (deployed, plan) = done.unwrap();
    let difference = unified(&before, &scene.picture(), "before", "after");
    assert!(difference.is_empty(), "{difference}");
    assert_eq!(scene.state().remembered().unwrap().0, known);
    assert_eq!(scene.text("project/.mcp.json").unwrap(), MCP_FILE);
    assert_eq!(
        plan["changes"], deployed["changes"],
        "the same is to be done again"
    );
    let diary = scene.diary();
    assert_eq!(diary.len(), 3, "{diary:#?}");
    assert!(diary[2].starts_with("Undo: "), "{diary:#?}");
}

#[test]
fn rolling_back_an_older_run_comes_last_in_history() {
    let scene = Scene::new();
    let scene = &scene;
    let world = scene.past(1);
    let done = world.life(world.disk.open_again(), |mut process| async move {
        process.drive().await;
        let first = deploy_in(scene, &process, "project").await;
        scene.module("instructions/base/AGENTS.md", "one and a half\n");
        let second = deploy_in(scene, &process, "project").await;
        let record = roll_back(&process, &run_of(&first)).await;
        assert_eq!(record.state, RunState::RolledBack, "{record:?}");
        process.stop().await;
        second
    });
    let second = done.unwrap();
    let state = scene.state();
    let ids = state.snapshot_ids().unwrap();
    assert_eq!(ids.len(), 3);
    assert_eq!(second["snapshot_id"], json!(ids[1]));
    let (deployed, undone) = (
        state.snapshot(&ids[1]).unwrap(),
        state.snapshot(&ids[2]).unwrap(),
    );
    assert_eq!(undone.kind, windlass_pack_model::SnapshotKind::Undo);
    assert!(undone.created_at >= deployed.created_at);
    assert_eq!(scene.text("project/AGENTS.md"), None);
}

#[test]
fn a_run_whose_snapshot_is_gone_cannot_be_rolled_back_and_says_so() {
    let scene = Scene::new();
    let scene = &scene;
    let world = scene.past(1);
    let record = world.life(world.disk.open_again(), |mut process| async move {
        process.drive().await;
        let deployed = deploy_in(scene, &process, "project").await;
        let id = deployed["snapshot_id"].as_str().unwrap();
        fs_err::remove_file(scene.state().home().snapshot_file(id)).unwrap();
        let record = roll_back(&process, &run_of(&deployed)).await;
        process.stop().await;
        record
    });
    let record = record.unwrap();
    assert_eq!(record.residue.len(), 1, "{record:?}");
    assert_eq!(scene.text("project/AGENTS.md").unwrap(), "one\n");
}

/// Roots of a project must not become the user's because of a rollback from elsewhere: the
/// next deploy in another project would clean them up.
#[test]
fn must_1_going_back_from_elsewhere_leaves_a_project_its_roots() {
    type Back = fn(Value) -> (&'static str, Value);
    let ways: [(&str, Option<Back>); 3] = [
        ("undo", Some(|_| ("pack.undo", json!({ "yes": true })))),
        (
            "rollback",
            Some(|to| ("pack.rollback", json!({ "to": to, "yes": true }))),
        ),
        ("the run", None),
    ];
    for (way, back) in ways {
        let scene = Scene::new();
        fs_err::create_dir_all(scene.path("other")).unwrap();
        let scene = &scene;
        let world = scene.past(1);
        let plan = world.life(world.disk.open_again(), |mut process| async move {
            process.drive().await;
            let first = deploy_in(scene, &process, "project").await;
            scene.module("instructions/base/AGENTS.md", "one and a half\n");
            let second = deploy_in(scene, &process, "project").await;
            match back {
                Some(back) => {
                    let (operation, input) = back(first["snapshot_id"].clone());
                    let other = scene.path("other");
                    scene
                        .call_in(&process, other, operation, input)
                        .await
                        .unwrap();
                }
                None => {
                    roll_back(&process, &run_of(&second)).await;
                }
            }
            assert_eq!(scene.text("project/AGENTS.md").unwrap(), "one\n", "{way}");
            let plan = scene.call_in(&process, scene.path("other"), "pack.plan", json!({}));
            let plan = plan.await.unwrap();
            process.stop().await;
            plan
        });
        let plan = plan.unwrap();
        for change in plan["changes"].as_array().unwrap() {
            let path = change["path"].as_str().unwrap();
            assert!(
                !path.starts_with(scene.project().to_str().unwrap()),
                "{way}: {change}"
            );
        }
    }
}

/// The same when nothing was known of the roots any more.
#[test]
fn must_1_rolling_back_an_uninstall_leaves_a_project_its_roots() {
    let scene = Scene::new();
    fs_err::create_dir_all(scene.path("other")).unwrap();
    let scene = &scene;
    let world = scene.past(1);
    let plan = world.life(world.disk.open_again(), |mut process| async move {
        process.drive().await;
        deploy_in(scene, &process, "project").await;
        let deployed = scene.picture();
        let gone = scene.call(&process, "pack.uninstall", json!({ "yes": true }));
        let gone = gone.await.unwrap();
        assert_eq!(scene.text("project/AGENTS.md"), None);
        roll_back(&process, &run_of(&gone)).await;
        assert_eq!(scene.text("project/AGENTS.md").unwrap(), "one\n");
        let difference = unified(&deployed, &scene.picture(), "before", "after");
        assert!(difference.is_empty(), "{difference}");
        let plan = scene.call_in(&process, scene.path("other"), "pack.plan", json!({}));
        let plan = plan.await.unwrap();
        process.stop().await;
        plan
    });
    for change in plan.unwrap()["changes"].as_array().unwrap() {
        let path = change["path"].as_str().unwrap();
        assert!(
            !path.starts_with(scene.project().to_str().unwrap()),
            "{change}"
        );
    }
}
