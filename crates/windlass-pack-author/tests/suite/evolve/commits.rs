//! The branch a proposal is committed on, and the way back from it.

use std::os::unix::fs::PermissionsExt as _;

use windlass_pack_author::evolve::{Proposal, Scope, commit_proposal};
use windlass_pack_model::fault;
use windlass_ports::git::Git as _;

use super::world::{World, module};

const OVERLAY: &str = "overlays/skill_demo--f2b4dd2c0d";

/// A repository with an edit to propose.
fn edited() -> (World, Proposal) {
    let world = World::new(&format!(
        "targets:\n  codex: {{mode: files, scope: user}}\nmodules:\n{}",
        module("skill:demo", "skill", "modules/demo")
    ));
    world.file(
        "modules/demo/SKILL.md",
        "---\nname: s\ndescription: d\n---\nbody\n",
    );
    world.committed().deployed();
    world.change("home/.codex/skills/demo/SKILL.md", "body", "edited");
    let proposal = world.propose(Scope::Global);
    (world, proposal)
}

/// Where the repository stands: branch or commit, branches, what is changed.
fn standing(world: &World) -> String {
    let git = |args: &[&str]| world.git_in("repo", args);
    format!(
        "{} [{}] {}",
        git(&["rev-parse", "--abbrev-ref", "HEAD"]),
        git(&["branch", "--format=%(refname:short)"]).replace('\n', " "),
        git(&["status", "--porcelain"])
    )
}

fn hook(world: &World, name: &str, script: &str) {
    let path = world.repo().join(".git/hooks").join(name);
    super::world::write(&path, script);
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_proposal_is_one_commit_on_its_branch() {
    let (world, proposal) = edited();
    let commit = world.commit_proposal(&proposal).unwrap();
    let branch = &proposal.branch;
    assert_eq!(standing(&world), format!("main [{branch} main] "));
    assert_eq!(world.git_in("repo", &["rev-parse", branch]), commit);
    assert_eq!(world.read(&format!("{OVERLAY}/SKILL.md")), "-");
    assert!(!world.repo().join("overlays").exists());
    insta::assert_snapshot!(
        world.git_in("repo", &["show", "--stat=120", "--format=%s", branch]),
        @"
    chore(evolve): propose overlay updates

     overlays/skill_demo--f2b4dd2c0d/.agentpack/baseline.json | 18 ++++++++++++++++++
     overlays/skill_demo--f2b4dd2c0d/.agentpack/module_id     |  1 +
     overlays/skill_demo--f2b4dd2c0d/.agentpack/overlay.json  |  3 +++
     overlays/skill_demo--f2b4dd2c0d/SKILL.md                 |  5 +++++
     4 files changed, 27 insertions(+)
    "
    );
    insta::assert_snapshot!(world.json(&proposal.created_data()), @r#"
    {
      "branch": "evolve/propose-global-skill_demo-20260102T030405Z-000006789",
      "committed": true,
      "created": true,
      "files": [
        "overlays/skill_demo--f2b4dd2c0d/.agentpack/baseline.json",
        "overlays/skill_demo--f2b4dd2c0d/.agentpack/module_id",
        "overlays/skill_demo--f2b4dd2c0d/.agentpack/overlay.json",
        "overlays/skill_demo--f2b4dd2c0d/SKILL.md"
      ],
      "files_posix": [
        "overlays/skill_demo--f2b4dd2c0d/.agentpack/baseline.json",
        "overlays/skill_demo--f2b4dd2c0d/.agentpack/module_id",
        "overlays/skill_demo--f2b4dd2c0d/.agentpack/overlay.json",
        "overlays/skill_demo--f2b4dd2c0d/SKILL.md"
      ],
      "scope": "global"
    }
    "#);
    // Merged and deployed, the edit is wanted.
    world.git_in("repo", &["merge", "--quiet", branch]);
    assert_eq!(world.propose(Scope::Global).nothing(), Some("no_drift"));
}

#[test]
fn a_detached_head_is_returned_to() {
    let (world, proposal) = edited();
    world.git_in("repo", &["switch", "--quiet", "--detach"]);
    let head = world.git_in("repo", &["rev-parse", "HEAD"]);
    world.commit_proposal(&proposal).unwrap();
    assert!(
        standing(&world).starts_with("HEAD ["),
        "{}",
        standing(&world)
    );
    assert_eq!(world.git_in("repo", &["rev-parse", "HEAD"]), head);
}

#[test]
fn repositories_that_are_not_ready_are_refused() {
    let (world, proposal) = edited();
    world.file("notes.txt", "mine\n");
    let problem = world.commit_proposal(&proposal).unwrap_err();
    insta::assert_snapshot!(world.show(&problem), @r#"
    E_GIT_WORKTREE_DIRTY: $ROOT/repo has changes that are not committed (notes.txt); commit or stash them first
    {
      "command": "evolve propose",
      "hint": "commit or stash the changes, then retry",
      "reason_code": "git_worktree_dirty",
      "repo": "$ROOT/repo",
      "repo_posix": "$ROOT/repo",
      "sample_paths": [
        "notes.txt"
      ]
    }
    "#);
    assert_eq!(standing(&world), "main [main] ?? notes.txt");

    fs_err::remove_dir_all(world.repo().join(".git")).unwrap();
    let problem = world.commit_proposal(&proposal).unwrap_err();
    insta::assert_snapshot!(world.show(&problem), @r#"
    E_GIT_REPO_REQUIRED: $ROOT/repo is not a git repository; evolve propose needs one for its branch
    {
      "command": "evolve propose",
      "hint": "run git init in the config repository and commit it, then retry",
      "reason_code": "git_repo_required",
      "repo": "$ROOT/repo",
      "repo_posix": "$ROOT/repo"
    }
    "#);

    // A repository around the config repository is not ours.
    world.git_in(".", &["init", "--quiet"]);
    let problem = world.commit_proposal(&proposal).unwrap_err();
    assert_eq!(problem.code().name, "E_GIT_REPO_REQUIRED");
}

#[test]
fn an_existing_branch_is_left_alone() {
    let (world, mut proposal) = edited();
    world.git_in("repo", &["branch", "taken"]);
    proposal.branch = "taken".into();
    let problem = world.commit_proposal(&proposal).unwrap_err();
    assert_eq!(problem.details()["reason_code"], "git_command_failed");
    assert_eq!(standing(&world), "main [main taken] ");
    // Nor is the one the repository is on.
    proposal.branch = "main".into();
    world.commit_proposal(&proposal).unwrap_err();
    assert_eq!(standing(&world), "main [main taken] ");
}

#[test]
fn a_commit_that_fails_leaves_nothing_behind() {
    let (world, _) = edited();
    // One file is new and one is changed.
    world.file(
        &format!("{OVERLAY}/SKILL.md"),
        "---\nname: s\ndescription: d\n---\nold\n",
    );
    world.committed();
    world.file("modules/demo/run.sh", "echo 1\n");
    world.committed().deployed();
    world.change("home/.codex/skills/demo/SKILL.md", "old", "edited");
    world.change("home/.codex/skills/demo/run.sh", "1", "2");
    let proposal = world.propose(Scope::Global);
    assert_eq!(proposal.files.len(), 2);
    hook(
        &world,
        "pre-commit",
        "#!/bin/sh\necho not today >&2\nexit 1\n",
    );
    let problem = world.commit_proposal(&proposal).unwrap_err();
    assert!(problem.message().contains("not today"), "{problem}");
    assert_eq!(problem.details()["reason_code"], "git_command_failed");
    assert_eq!(standing(&world), "main [main] ");
    assert!(world.read(&format!("{OVERLAY}/SKILL.md")).contains("old"));
    assert_eq!(world.read(&format!("{OVERLAY}/run.sh")), "-");
}

#[test]
fn a_write_that_fails_leaves_nothing_behind() {
    let (world, proposal) = edited();
    let problem = commit_proposal(
        &world.git(),
        &world.repo(),
        &proposal.branch,
        &proposal.writes,
        "message",
        |_| Err(fault::unexpected("disk_full", &[], "no room")),
    )
    .unwrap_err();
    assert_eq!(problem.message(), "no room");
    assert_eq!(standing(&world), "main [main] ");
}

#[test]
fn a_filter_of_a_repository_that_is_not_trusted_is_named_with_what_to_do() {
    let (world, proposal) = edited();
    world.file(".gitattributes", "overlays/** filter=secret\n");
    world.git_in("repo", &["add", "."]);
    world.git_in("repo", &["commit", "--quiet", "-m", "attributes"]);
    world.git_in("repo", &["config", "filter.secret.clean", "cat"]);
    hook(&world, "pre-commit", "#!/bin/sh\nexit 1\n");
    let git = world.wary_git();
    assert_eq!(
        git.skipped(&world.repo()).unwrap(),
        ["filter secret", "hook pre-commit"]
    );
    let problem = commit_proposal(
        &git,
        &world.repo(),
        &proposal.branch,
        &proposal.writes,
        "message",
        |actions| world.write(actions),
    )
    .unwrap_err();
    assert_eq!(problem.code().name, "NOT_TRUSTED", "{problem}");
    assert_eq!(problem.details()["reason_code"], "not_trusted");
    let next = problem.next_actions().first().unwrap();
    assert!(next.ends_with(&format!("windlass trust {}", world.repo().display())));
    assert_eq!(standing(&world), "main [main] ");
}

#[test]
fn a_hook_that_fails_after_switching_does_not_matter() {
    let (world, proposal) = edited();
    // Fails only on the way back: there the new branch is the previous one.
    hook(
        &world,
        "post-checkout",
        "#!/bin/sh\ntest \"$(git rev-parse --abbrev-ref HEAD)\" != main\n",
    );
    world.commit_proposal(&proposal).unwrap();
    assert!(
        standing(&world).starts_with("main ["),
        "{}",
        standing(&world)
    );

    // Failing on the way in, it is a failure, and the branch goes.
    let (world, proposal) = edited();
    hook(
        &world,
        "post-checkout",
        "#!/bin/sh\ntest \"$(git rev-parse --abbrev-ref HEAD)\" = main\n",
    );
    world.commit_proposal(&proposal).unwrap_err();
    assert_eq!(standing(&world), "main [main] ");
}

#[test]
fn ignored_overlays_are_refused_before_anything_is_written() {
    let (world, proposal) = edited();
    world.file(".gitignore", ".agentpack/\n");
    world.committed();
    let problem = world.commit_proposal(&proposal).unwrap_err();
    insta::assert_snapshot!(world.show(&problem), @r#"
    E_CONFIG_INVALID: git ignores overlays/skill_demo--f2b4dd2c0d/.agentpack/baseline.json, overlays/skill_demo--f2b4dd2c0d/.agentpack/module_id, overlays/skill_demo--f2b4dd2c0d/.agentpack/overlay.json in $ROOT/repo; overlays belong into the repository, so change the ignore rule
    {
      "ignored_paths": [
        "overlays/skill_demo--f2b4dd2c0d/.agentpack/baseline.json",
        "overlays/skill_demo--f2b4dd2c0d/.agentpack/module_id",
        "overlays/skill_demo--f2b4dd2c0d/.agentpack/overlay.json"
      ],
      "reason_code": "config_invalid",
      "repo": "$ROOT/repo",
      "repo_posix": "$ROOT/repo"
    }
    "#);
    assert_eq!(standing(&world), "main [main] ");
    assert!(!world.repo().join("overlays").exists());
}

#[test]
fn without_git_the_problem_says_so() {
    let (world, proposal) = edited();
    let nowhere = windlass_git::GitProgram::new([("PATH".into(), "/nonexistent".into())]);
    // A worktree file makes the cheap answer impossible.
    fs_err::rename(world.repo().join(".git"), world.root().join("elsewhere")).unwrap();
    fs_err::write(world.repo().join(".git"), "gitdir: ../elsewhere\n").unwrap();
    let problem = commit_proposal(
        &nowhere,
        &world.repo(),
        &proposal.branch,
        &proposal.writes,
        "message",
        |_| Ok(()),
    )
    .unwrap_err();
    assert_eq!(problem.code().name, "E_GIT_NOT_FOUND");
}

#[test]
fn a_hook_that_rewrites_the_files_and_fails_leaves_nothing_behind() {
    let (world, proposal) = edited();
    hook(
        &world,
        "pre-commit",
        "#!/bin/sh\nfor file in $(git diff --cached --name-only); do echo fixed >> \"$file\"; done\nexit 1\n",
    );
    world.commit_proposal(&proposal).unwrap_err();
    assert_eq!(standing(&world), "main [main] ");
    assert!(!world.repo().join("overlays").exists());
}

#[test]
fn a_way_back_that_is_blocked_is_described() {
    let (world, proposal) = edited();
    hook(&world, "pre-commit", "#!/bin/sh\nexit 1\n");
    let calls = std::cell::Cell::new(0);
    let problem = commit_proposal(
        &world.git(),
        &world.repo(),
        &proposal.branch,
        &proposal.writes,
        "message",
        |actions| {
            calls.set(calls.get() + 1);
            match calls.get() {
                1 => world.write(actions),
                _ => Err(fault::unexpected("disk_full", &[], "no room")),
            }
        },
    )
    .unwrap_err();
    assert_eq!(problem.details()["recovery_error"], "no room");
    assert_eq!(problem.details()["reason_code"], "git_command_failed");
    assert!(problem.message().contains("back to main"), "{problem}");
}
