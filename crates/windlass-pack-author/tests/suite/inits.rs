//! `init`: only what is absent, git, guided answers.

use std::collections::BTreeSet;

use windlass_pack_author::{GuidedAnswers, InitRequest, init, start_git};
use windlass_pack_model::{ConfigScope, Target, parse_manifest};

use super::world::{World, code_and_next_steps};

fn request(repo: &std::path::Path) -> InitRequest<'_> {
    InitRequest {
        repo,
        program: "windlass pack",
        git: false,
        guided: None,
    }
}

#[test]
fn a_repository_is_created_if_missing() {
    let world = World::new();
    let repo = world.path("new/deep/repo");
    let data = world.apply(init(&request(&repo)).unwrap());
    assert_eq!(data.repo, repo.display().to_string());
    let files = world.files("new/deep/repo");
    let names: Vec<&String> = files.keys().collect();
    assert_eq!(
        names,
        [
            "agentpack.yaml",
            "modules/claude-commands/ap-plan.md",
            "modules/instructions/base/AGENTS.md",
            "modules/prompts/draftpr.md",
        ]
    );
    assert_eq!(
        parse_manifest(&files["agentpack.yaml"]).unwrap().warnings,
        []
    );
    assert!(files["modules/claude-commands/ap-plan.md"].contains("`windlass pack plan --json`"));
    let value = serde_json::to_value(&data).unwrap();
    let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["repo", "repo_posix"]);
}

#[test]
fn what_is_there_stays_as_it_is() {
    let world = World::with_manifest("mine");
    world.write("repo/modules/prompts/draftpr.md", "mine too");
    let outcome = init(&request(&world.repo())).unwrap();
    assert_eq!(outcome.writes.len(), 2);
    world.apply(outcome);
    assert_eq!(world.read("repo/agentpack.yaml"), "mine");
    assert_eq!(world.read("repo/modules/prompts/draftpr.md"), "mine too");
    assert!(init(&request(&world.repo())).unwrap().writes.is_empty());
}

#[test]
fn git_gets_a_repository_and_the_two_lines_once() {
    let world = World::new();
    world.write("repo/.gitignore", "*.log");
    let repo = world.repo();
    let with_git = InitRequest {
        git: true,
        ..request(&repo)
    };
    let data = world.apply(init(&with_git).unwrap());
    start_git(&world.git, &repo).unwrap();
    assert!(repo.join(".git/HEAD").exists());
    assert_eq!(
        world.read("repo/.gitignore"),
        "*.log\n.agentpack.manifest*.json\n.DS_Store\n"
    );
    let git = data.git.unwrap();
    assert!(git.initialized && git.gitignore_updated);
    let again = init(&with_git).unwrap();
    assert!(!again.data.git.unwrap().gitignore_updated);
    assert!(again.writes.is_empty());
    start_git(&world.git, &repo).unwrap();
}

#[test]
fn answers_create_the_manifest_unless_there_is_one() {
    let world = World::new();
    let answers = GuidedAnswers {
        targets: BTreeSet::from([Target::Codex, Target::Cursor]),
        scope: ConfigScope::User,
        ..GuidedAnswers::suggested()
    };
    let repo = world.repo();
    let guided = InitRequest {
        guided: Some(&answers),
        ..request(&repo)
    };
    let outcome = init(&guided).unwrap();
    assert_eq!(outcome.warnings.len(), 1);
    let data = serde_json::to_value(world.apply(outcome)).unwrap();
    assert_eq!(data["guided"], true);
    assert_eq!(data["targets"], serde_json::json!(["codex", "cursor"]));
    assert_eq!(data["scope"], "user");
    let manifest = parse_manifest(&world.read("repo/agentpack.yaml"))
        .unwrap()
        .manifest;
    assert_eq!(
        manifest.targets[&Target::Cursor].scope,
        ConfigScope::Project
    );

    let problem = init(&guided).unwrap_err();
    insta::assert_snapshot!(code_and_next_steps(&problem), @"E_CONFIG_INVALID config_invalid fix_config,retry_command");
    assert!(
        problem.details()["path"]
            .as_str()
            .unwrap()
            .ends_with("agentpack.yaml")
    );
}
