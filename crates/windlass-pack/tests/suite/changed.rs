//! What changes between the plan and the run is not written over.

use windlass_types::RunState;

use super::scene::{MCP_FILE, Scene, deploy, run};

/// Something changes between plan and run.
type Edit = fn(&Scene);

#[test]
fn a_destination_that_changed_since_the_plan_stops_the_run_and_nothing_is_written() {
    let edits: [(&str, Edit); 6] = [
        ("to be updated", |scene| {
            scene.put("project/AGENTS.md", "edited\n");
        }),
        ("to be created", |scene| {
            scene.put("user/.codex/skills/new/SKILL.md", "mine\n");
        }),
        ("to be deleted", |scene| {
            scene.put("user/.codex/skills/old/notes/a.md", "more notes\n");
        }),
        ("to be taken over", |scene| {
            scene.put("user/.codex/prompts/mine.md", "even more mine\n");
        }),
        ("to get a key", |scene| {
            let edited = MCP_FILE.replace("\"x\"", "\"y\"");
            scene.put("project/.mcp.json", &edited);
        }),
        ("a manifest", |scene| {
            let path = "project/.agentpack.manifest.codex.json";
            let text = scene.text(path).unwrap();
            scene.put(path, &format!("{text}\n"));
        }),
    ];
    for (what, edit) in edits {
        let scene = Scene::new();
        let (operation, input) = deploy();
        scene.happened(1, operation, input.clone());
        scene.change();
        let planned = scene.planned(2, operation, input);
        edit(&scene);
        let (picture, diary) = (scene.picture(), scene.diary());
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
        assert_eq!(scene.picture(), picture, "{what}");
        assert_eq!(scene.diary(), diary, "{what}");
    }
}

#[test]
fn a_source_that_changed_since_the_plan_stops_the_run_and_nothing_is_written() {
    let scene = Scene::new();
    scene.change();
    let (operation, input) = deploy();
    let planned = scene.planned(1, operation, input);
    scene.module("skills/new/scripts/run.sh", "#!/bin/sh\nrm -rf /\n");
    let picture = scene.picture();
    let world = scene.past(2);
    let record = world.life(world.disk.open_again(), |mut process| async move {
        process.drive().await;
        let record = run(&process, &planned).await;
        process.stop().await;
        record
    });
    let record = record.unwrap();
    assert_eq!(record.state, RunState::Failed);
    let problem = record.problem.unwrap();
    assert!(problem.message().contains("run.sh"), "{problem:?}");
    assert_eq!(scene.picture(), picture);
}
