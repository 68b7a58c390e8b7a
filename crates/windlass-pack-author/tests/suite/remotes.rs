//! `remote set` and `sync` against real repositories.

use windlass_pack_author::{SyncRequest, set_remote, sync};

use super::world::{World, code_and_next_steps};

fn request(repo: &std::path::Path, rebase: bool) -> SyncRequest<'_> {
    SyncRequest {
        repo,
        remote: "origin",
        rebase,
        dry_run: false,
    }
}

fn bare(world: &World) -> String {
    let path = world.path("shared.git");
    fs_err::create_dir(&path).unwrap();
    world.run(&path, &["init", "--quiet", "--bare"]);
    world.url("shared.git")
}

#[test]
fn a_remote_is_set_and_changed() {
    let world = World::new();
    let repo = world.repo();
    let dry = set_remote(&world.git, &repo, "origin", "https://h/x", true).unwrap();
    assert_eq!(dry.url, "https://h/x");
    assert!(!repo.join(".git").exists());
    set_remote(&world.git, &repo, "origin", "https://h/x", false).unwrap();
    let secret = "https://ann:secret@h/y";
    let data = set_remote(&world.git, &repo, "origin", secret, false).unwrap();
    assert_eq!(data.url, "https://***@h/y");
    assert_eq!(world.run(&repo, &["remote", "get-url", "origin"]), secret);
    for (name, url) in [
        ("origin", "--x"),
        ("-x", "https://h/x"),
        ("origin", "/srv/x"),
    ] {
        let problem = set_remote(&world.git, &repo, name, url, false).unwrap_err();
        assert_eq!(
            problem.details()["reason_code"],
            "invalid_arguments",
            "{name} {url}"
        );
    }
}

#[test]
fn two_machines_meet_at_the_remote() {
    let world = World::with_manifest("one");
    let url = bare(&world);
    world.commit("repo", "first");
    set_remote(&world.git, &world.repo(), "origin", &url, false).unwrap();
    let repo = world.repo();
    let dry = SyncRequest {
        dry_run: true,
        ..request(&repo, true)
    };
    assert_eq!(
        sync(&world.git, &dry).unwrap().commands,
        ["git pull --rebase origin main", "git push origin main"]
    );
    // The first time the remote has no branch yet.
    let data = sync(&world.git, &request(&world.repo(), true)).unwrap();
    assert_eq!(data.commands, ["git push origin main"]);

    world.run(&world.path(""), &["clone", "--quiet", &url, "other"]);
    world.write("other/new.md", "x");
    world.commit("other", "theirs");
    sync(&world.git, &request(&world.path("other"), false)).unwrap();
    world.write("repo/own.md", "y");
    world.commit("repo", "ours");
    let data = sync(&world.git, &request(&world.repo(), true)).unwrap();
    assert_eq!(
        data.commands,
        ["git pull --rebase origin main", "git push origin main"]
    );
    assert_eq!((data.branch.as_str(), data.rebase), ("main", true));
    assert_eq!(world.read("repo/new.md"), "x");
    assert_eq!(
        world.run(&world.path("shared.git"), &["log", "--format=%s", "main"]),
        "ours\ntheirs\nfirst"
    );
}

#[test]
fn missing_preconditions_are_reported_by_code() {
    let world = World::with_manifest("one");
    let repo = world.repo();
    let mut problems = Vec::new();
    let mut refused = |world: &World| {
        let problem = sync(&world.git, &request(&repo, false)).unwrap_err();
        assert_eq!(problem.details()["command"], "sync");
        assert_eq!(problem.details()["repo"], repo.display().to_string());
        assert!(problem.details().contains_key("hint"));
        problems.push(code_and_next_steps(&problem));
    };
    refused(&world);
    let first = world.commit("repo", "first");
    refused(&world);
    world.write("repo/dirty", "");
    refused(&world);
    fs_err::remove_file(repo.join("dirty")).unwrap();
    world.run(&repo, &["checkout", "--quiet", "--detach", &first]);
    refused(&world);
    insta::assert_snapshot!(problems.join("\n"), @"
    E_GIT_REPO_REQUIRED git_repo_required init_git_repo,retry_command
    E_GIT_REMOTE_MISSING git_remote_missing set_git_remote,retry_command
    E_GIT_WORKTREE_DIRTY git_worktree_dirty commit_or_stash,retry_command
    E_GIT_DETACHED_HEAD git_detached_head checkout_branch,retry_command
    ");
}

#[test]
fn a_conflict_is_reported_with_the_output_of_git() {
    let world = World::with_manifest("one\n");
    let url = bare(&world);
    world.commit("repo", "first");
    set_remote(&world.git, &world.repo(), "origin", &url, false).unwrap();
    sync(&world.git, &request(&world.repo(), true)).unwrap();
    world.run(&world.path(""), &["clone", "--quiet", &url, "other"]);
    world.write("other/agentpack.yaml", "theirs\n");
    world.commit("other", "theirs");
    sync(&world.git, &request(&world.path("other"), true)).unwrap();
    world.write("repo/agentpack.yaml", "ours\n");
    world.commit("repo", "ours");
    let problem = sync(&world.git, &request(&world.repo(), true)).unwrap_err();
    assert_eq!(problem.details()["reason_code"], "git_command_failed");
    assert!(
        problem.details()["stderr"]
            .as_str()
            .unwrap()
            .contains("could not apply")
    );
    assert!(
        problem.details()["hint"]
            .as_str()
            .unwrap()
            .contains("git status")
    );
}
