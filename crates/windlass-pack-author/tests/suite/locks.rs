//! `lock`, `fetch`, `update` and the checkouts behind them, against real git repositories.

use windlass_pack_author::{
    GitCheckouts, UpdateRequest, fetch, lock, read_lockfile, require_lockfile, update,
};
use windlass_pack_deploy::render::Checkouts as _;
use windlass_pack_model::{GitSource, Lockfile, PackHome};
use windlass_types::Digest;

use super::world::{World, code_and_next_steps, later, now};

/// A repository with a local module and two modules of one git repository.
fn world() -> (World, String) {
    let world = World::new();
    world.write("upstream/a/SKILL.md", "a1");
    world.write("upstream/b/SKILL.md", "b1");
    let commit = world.commit("upstream", "first");
    let url = world.url("upstream");
    world.write(
        "repo/agentpack.yaml",
        &format!(
            "version: 1
profiles:
  default: {{include_tags: [base]}}
targets:
  codex: {{mode: files, scope: both}}
modules:
  - {{id: skill:b, type: skill, source: {{git: {{url: \"{url}\", subdir: b}}}}}}
  - {{id: skill:a, type: skill, source: {{git: {{url: \"{url}\", subdir: a, shallow: false}}}}}}
  - {{id: prompt:p, type: prompt, source: {{local_path: {{path: p.md}}}}}}
  - {{id: skill:off, type: skill, enabled: false, source: {{local_path: {{path: gone}}}}}}
"
        ),
    );
    world.write("repo/p.md", "prompt");
    (world, commit)
}

fn locked(world: &World) -> Lockfile {
    let checkouts = GitCheckouts::new(&world.home, &world.git);
    let locked = world
        .with_sources(&checkouts, |sources| lock(sources, now()))
        .unwrap();
    world.apply(locked.outcome);
    require_lockfile(&world.repo()).unwrap()
}

#[test]
fn enabled_modules_are_settled_by_id() {
    let (world, commit) = world();
    let lockfile = locked(&world);
    let text = world.read("repo/agentpack.lock.json");
    assert!(text.contains("\"generated_at\": \"2023-11-14T22:13:20.123000000Z\""));
    assert!(text.ends_with("}\n"));
    let ids: Vec<&str> = lockfile
        .modules
        .iter()
        .map(|module| module.id.as_str())
        .collect();
    assert_eq!(ids, ["prompt:p", "skill:a", "skill:b"]);
    let prompt = &lockfile.modules[0];
    assert_eq!(prompt.resolved_version, "local");
    assert_eq!(
        prompt.resolved_source.local_path.as_ref().unwrap().path,
        "p.md"
    );
    let hash = format!("p.md\n{}\n6\n", Digest::of(b"prompt"));
    assert_eq!(prompt.sha256, Digest::of(hash.as_bytes()));
    let skill = &lockfile.modules[1];
    assert_eq!(skill.resolved_version, commit);
    assert_eq!(skill.file_manifest[0].path.as_str(), "SKILL.md");
    // One checkout for both modules, at the address's key.
    let place = world.home.checkout(&world.url("upstream"), &commit);
    assert!(place.join("a/SKILL.md").exists());
}

#[test]
fn must_23_locking_without_a_change_leaves_the_file_as_it_is() {
    let (world, _) = world();
    let first = locked(&world);
    let before = world.read("repo/agentpack.lock.json");
    let checkouts = GitCheckouts::new(&world.home, &world.git);
    let again = world
        .with_sources(&checkouts, |sources| lock(sources, later()))
        .unwrap();
    assert!(again.outcome.writes.is_empty());
    assert_eq!(again.outcome.data.modules, 3);
    assert_eq!(again.lockfile, first);

    world.write("upstream/a/SKILL.md", "a2");
    let second = world.commit("upstream", "second");
    let checkouts = GitCheckouts::new(&world.home, &world.git);
    let moved = world
        .with_sources(&checkouts, |sources| lock(sources, later()))
        .unwrap();
    world.apply(moved.outcome);
    let after = world.read("repo/agentpack.lock.json");
    assert_ne!(before, after);
    assert!(after.contains(&second) && after.contains("2027-01-15"));
}

#[test]
fn a_broken_lockfile_is_rewritten() {
    let (world, _) = world();
    world.write("repo/agentpack.lock.json", "{");
    assert_eq!(
        read_lockfile(&world.repo()).unwrap_err().code().name,
        "E_LOCKFILE_INVALID"
    );
    let checkouts = GitCheckouts::new(&world.home, &world.git);
    let done = world
        .with_sources(&checkouts, |sources| lock(sources, now()))
        .unwrap();
    assert!(done.outcome.warnings[0].contains("it is rewritten"));
    world.apply(done.outcome);
    assert_eq!(require_lockfile(&world.repo()).unwrap().modules.len(), 3);
}

#[test]
fn fetching_restores_commits_and_detects_tampering() {
    let (world, commit) = world();
    let lockfile = locked(&world);
    fs_err::remove_dir_all(world.home.checkouts()).unwrap();
    // The branch moves on; the lockfile still means the old commit.
    world.write("upstream/a/SKILL.md", "a2");
    world.commit("upstream", "second");
    let checkouts = GitCheckouts::new(&world.home, &world.git);
    let data = world
        .with_sources(&checkouts, |sources| fetch(sources, &lockfile))
        .unwrap();
    assert_eq!(data.git_modules_fetched, 2);
    assert_eq!(data.store, world.path("pack/cache").display().to_string());
    let place = world.home.checkout(&world.url("upstream"), &commit);
    assert_eq!(
        fs_err::read_to_string(place.join("a/SKILL.md")).unwrap(),
        "a1"
    );

    fs_err::write(place.join("a/SKILL.md"), "evil").unwrap();
    let problem = world
        .with_sources(&checkouts, |sources| fetch(sources, &lockfile))
        .unwrap_err();
    insta::assert_snapshot!(code_and_next_steps(&problem), @"E_UNEXPECTED store_hash_mismatch delete_checkout,retry_command");
    assert_eq!(problem.details()["module_id"], "skill:a");
    assert_eq!(problem.details()["path"], place.display().to_string());
}

#[test]
fn older_checkouts_are_renamed_into_place() {
    let (world, commit) = world();
    let lockfile = locked(&world);
    let url = world.url("upstream");
    let place = world.home.checkout(&url, &commit);
    for older in world.home.older_checkouts("skill:a", &commit) {
        fs_err::create_dir_all(older.parent().unwrap()).unwrap();
        fs_err::rename(&place, &older).unwrap();
        fs_err::remove_dir_all(world.path("upstream")).unwrap_or(());
        let checkouts = GitCheckouts::new(&world.home, &world.git);
        let source = lockfile.modules[1]
            .resolved_source
            .git
            .as_ref()
            .unwrap()
            .source(true);
        let found = checkouts
            .checkout("skill:a", &source, Some(&commit))
            .unwrap();
        assert_eq!(found, place);
        assert!(place.join("a/SKILL.md").exists() && !older.exists());
    }
}

#[test]
fn must_6_a_dry_run_leaves_the_cache_alone() {
    let (world, commit) = world();
    let temporary = world.path("tmp");
    fs_err::create_dir(&temporary).unwrap();
    let checkouts = GitCheckouts::passing(&world.home, &world.git, &temporary);
    let done = world
        .with_sources(&checkouts, |sources| lock(sources, now()))
        .unwrap();
    assert_eq!(done.lockfile.modules[1].resolved_version, commit);
    world
        .with_sources(&checkouts, |sources| fetch(sources, &done.lockfile))
        .unwrap();
    assert!(!world.path("pack").exists());
    assert!(!world.path("repo/agentpack.lock.json").exists());
    drop(checkouts);
    assert_eq!(fs_err::read_dir(&temporary).unwrap().count(), 0);
}

#[test]
fn must_25_addresses_and_references_that_git_could_misread_are_refused() {
    let world = World::new();
    let home = PackHome::at(world.path("pack"));
    let checkouts = GitCheckouts::new(&home, &world.git);
    let source = |url: &str, reference: &str| GitSource {
        url: url.to_owned(),
        reference: reference.to_owned(),
        subdir: String::new(),
        shallow: true,
    };
    for (url, reference) in [
        ("--upload-pack=touch x", "main"),
        ("ext::sh -c x", "main"),
        ("https://h/x", "--output=x"),
        ("https://h/x", "a..b"),
    ] {
        let problem = checkouts
            .checkout("skill:x", &source(url, reference), None)
            .unwrap_err();
        assert_eq!(problem.code().name, "E_CONFIG_INVALID", "{url} {reference}");
        assert_eq!(problem.details()["module_id"], "skill:x");
    }
    let commit = Some("../../x");
    assert!(
        checkouts
            .checkout("skill:x", &source("https://h/x", "main"), commit)
            .is_err()
    );
    assert!(!home.root().exists());
}

#[test]
fn must_30_causes_of_git_are_reported() {
    let (world, _) = world();
    let checkouts = GitCheckouts::new(&world.home, &world.git);
    let source = GitSource {
        url: world.url("upstream"),
        reference: "nope".to_owned(),
        subdir: String::new(),
        shallow: true,
    };
    let missing = checkouts.checkout("skill:x", &source, None).unwrap_err();
    assert_eq!(missing.details()["reason_code"], "git_command_failed");
    assert!(
        missing.message().contains("`nope` does not exist"),
        "{}",
        missing.message()
    );

    let nowhere = windlass_git::GitProgram::new([("PATH".into(), world.path("user").into())]);
    let checkouts = GitCheckouts::new(&world.home, &nowhere);
    let absent = checkouts.checkout("skill:x", &source, None).unwrap_err();
    insta::assert_snapshot!(code_and_next_steps(&absent), @"E_GIT_NOT_FOUND git_not_found install_git,retry_command");
    assert!(absent.details().contains_key("cwd") && absent.details().contains_key("args"));
}

#[test]
fn must_30_the_steps_of_an_update() {
    let (world, _) = world();
    let repo = world.repo();
    let request = |lock, no_lock, no_fetch| UpdateRequest {
        lock,
        no_lock,
        no_fetch,
    };
    let due = |request: UpdateRequest| request.due(&repo).map(|due| (due.lock, due.fetch));
    assert_eq!(due(UpdateRequest::default()).unwrap(), (true, true));
    assert_eq!(due(request(false, true, true)).unwrap(), (false, false));
    let problem = due(request(false, true, false)).unwrap_err();
    insta::assert_snapshot!(code_and_next_steps(&problem), @"E_LOCKFILE_MISSING lockfile_missing run_lock,run_update,retry_command");

    let checkouts = GitCheckouts::new(&world.home, &world.git);
    let all = UpdateRequest::default().due(&repo).unwrap();
    let outcome = world
        .with_sources(&checkouts, |sources| update(sources, all, now()))
        .unwrap();
    let data = world.apply(outcome);
    let steps: Vec<(&str, bool)> = data.steps.iter().map(|step| (step.name, step.ok)).collect();
    assert_eq!(steps, [("lock", true), ("fetch", true)]);
    assert_eq!(data.steps[0].detail["modules"], 3);
    assert_eq!(data.git_modules_fetched, 2);

    assert_eq!(due(UpdateRequest::default()).unwrap(), (false, true));
    assert_eq!(due(request(true, false, true)).unwrap(), (true, false));
    let only_fetch = UpdateRequest::default().due(&repo).unwrap();
    let outcome = world
        .with_sources(&checkouts, |sources| update(sources, only_fetch, later()))
        .unwrap();
    assert!(outcome.writes.is_empty());
    assert_eq!(outcome.data.steps.len(), 1);
}
