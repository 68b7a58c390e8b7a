//! Plan, apply, plan again.

use windlass_pack_deploy::{
    Adoption, Disk, OPERATOR_MARK, OnDisk, Owned, PlanOptions, plan, plan_restore, preview,
    state::read_manifest,
};
use windlass_pack_model::{
    Target::{ClaudeCode, Codex},
    fault,
};

use super::world::{World, json, lines, want};

const SKILLS: &str = "home/.codex/skills";

#[test]
fn a_life_of_some_files() {
    let world = World::new();
    let roots = [(Codex, SKILLS), (Codex, "a")];
    let first = world.desired(
        &roots,
        &[
            want(Codex, "home/.codex/skills/demo/SKILL.md", "one"),
            want(Codex, "home/.codex/skills/demo/run.sh", "run"),
            want(Codex, "a/AGENTS.md", "agents"),
        ],
    );
    let plan = world.plan(&first);
    insta::assert_debug_snapshot!(lines(&world, &plan.changes), @r#"
    [
        "create a/AGENTS.md: file missing",
        "create home/.codex/skills/demo/SKILL.md: file missing",
        "create home/.codex/skills/demo/run.sh: file missing",
    ]
    "#);
    world.deploy(&first);
    assert_eq!(world.read("a/AGENTS.md").unwrap(), "agents");
    let again = world.plan(&first);
    assert!(again.is_empty() && again.approve(&Adoption::none()).unwrap().is_noop());

    let second = world.desired(
        &roots,
        &[
            want(Codex, "home/.codex/skills/demo/SKILL.md", "two"),
            want(Codex, "a/AGENTS.md", "agents"),
        ],
    );
    insta::assert_debug_snapshot!(lines(&world, &world.plan(&second).changes), @r#"
    [
        "update home/.codex/skills/demo/SKILL.md managed_update: content differs",
        "delete home/.codex/skills/demo/run.sh: no longer managed",
    ]
    "#);
    world.deploy(&second);
    assert_eq!(world.read("home/.codex/skills/demo/run.sh"), None);
    assert!(world.plan(&second).is_empty());
}

#[test]
fn only_roots_whose_list_changed_get_a_new_manifest() {
    let world = World::new();
    let roots = [(Codex, SKILLS), (Codex, "a")];
    let first = [
        want(Codex, "home/.codex/skills/demo/SKILL.md", "one"),
        want(Codex, "a/AGENTS.md", "agents"),
    ];
    world.deploy(&world.desired(&roots, &first));
    let untouched = world.read("a/.agentpack.manifest.codex.json").unwrap();
    let mut second = first.clone();
    second[0].text = "two".to_owned();
    let id = world.deploy(&world.desired(&roots, &second));
    assert_eq!(
        world.read("a/.agentpack.manifest.codex.json").unwrap(),
        untouched
    );
    let snapshot = world.state.snapshot(&id).unwrap();
    assert_eq!(
        snapshot.manifests.len(),
        2,
        "all manifests in force are recorded"
    );
    assert_eq!(snapshot.changes.len(), 2, "one file, one manifest");
    assert_eq!(snapshot.managed_files.len(), 2);
}

#[test]
fn a_missing_manifest_is_written_even_if_nothing_changes() {
    let world = World::new();
    let desired = world.desired(&[(Codex, "a")], &[want(Codex, "a/AGENTS.md", "x")]);
    world.deploy(&desired);
    fs_err::remove_file(world.path("a/.agentpack.manifest.codex.json")).unwrap();
    let plan = world.plan(&desired);
    assert!(plan.is_empty() && plan.needs_manifest());
    let approved = plan.approve(&Adoption::none()).unwrap();
    assert!(!approved.is_noop());
    world.apply(&approved);
    assert!(!world.plan(&desired).needs_manifest());
}

#[test]
fn must_2_bootstrap_and_deploy_share_one_manifest() {
    let roots = [(ClaudeCode, "home/.claude/commands")];
    for bootstrap_first in [true, false] {
        let world = World::new();
        let operator = world.desired(
            &roots,
            &[want(
                ClaudeCode,
                "home/.claude/commands/ap-plan.md",
                "operator",
            )],
        );
        let modules = world.desired(
            &roots,
            &[want(ClaudeCode, "home/.claude/commands/mine.md", "mine")],
        );
        if bootstrap_first {
            world.bootstrap(&operator);
            world.deploy(&modules);
        } else {
            world.deploy(&modules);
            world.bootstrap(&operator);
        }
        let found = read_manifest(&world.path("home/.claude/commands"), ClaudeCode).unwrap();
        let files = found.manifest.unwrap().managed_files;
        assert_eq!(files.len(), 2, "bootstrap first: {bootstrap_first}");
        assert!(files[0].module_ids.iter().any(|id| id == OPERATOR_MARK));
        assert!(world.plan(&modules).is_empty());
        assert!(world.status(&modules).summary.is_clean());
        // The module goes, its file goes, the operator asset stays.
        world.deploy(&world.desired(&roots, &[]));
        assert_eq!(world.read("home/.claude/commands/mine.md"), None);
        assert!(world.read("home/.claude/commands/ap-plan.md").is_some());
    }
}

#[test]
fn must_2_bootstrap_asks_before_it_overwrites() {
    let world = World::new();
    world.write("home/.claude/commands/ap-plan.md", "the user's own");
    let operator = world.desired(
        &[(ClaudeCode, "home/.claude/commands")],
        &[want(
            ClaudeCode,
            "home/.claude/commands/ap-plan.md",
            "operator",
        )],
    );
    let plan = world
        .try_plan(&operator, windlass_pack_deploy::Purpose::Bootstrap, None)
        .unwrap();
    let refused = plan.approve(&Adoption::none()).unwrap_err();
    assert_eq!(refused.code().name, "E_ADOPT_CONFIRM_REQUIRED");
}

#[test]
fn must_9_switching_a_root_off_plans_the_deletion_of_its_files() {
    let world = World::new();
    let wants = [
        want(Codex, "home/.codex/prompts/p.md", "prompt"),
        want(Codex, "home/.codex/skills/demo/SKILL.md", "skill"),
    ];
    let both = [(Codex, "home/.codex/prompts"), (Codex, SKILLS)];
    world.deploy(&world.desired(&both, &wants));
    world.write("home/.codex/prompts/own.md", "the user's own");
    let fewer = world.desired(&[(Codex, SKILLS)], &wants[1..]);
    let plan = world.plan(&fewer);
    insta::assert_debug_snapshot!(lines(&world, &plan.changes), @r#"
    [
        "delete home/.codex/prompts/p.md: no longer managed",
    ]
    "#);
    world.apply(&plan.approve(&Adoption::none()).unwrap());
    assert_eq!(world.tree("home/.codex/prompts").len(), 1);
    assert_eq!(
        world.read("home/.codex/prompts/.agentpack.manifest.codex.json"),
        None
    );
    let (remembered, _) = world.state.remembered().unwrap();
    assert_eq!(
        remembered.known_roots.len(),
        1,
        "the empty root is forgotten"
    );
    assert!(world.plan(&fewer).is_empty());
}

#[test]
fn must_9_roots_from_before_roots_were_remembered_are_found_by_their_manifests() {
    let world = World::new();
    let on = world.desired(
        &[(Codex, "home/.codex/prompts")],
        &[want(Codex, "home/.codex/prompts/p.md", "prompt")],
    );
    world.deploy(&on);
    world.state.remember(|all| all.known_roots.clear()).unwrap();
    let off = world.desired(&[(Codex, SKILLS)], &[]);
    let repo = world.path("repo");
    let look = |repo: &std::path::Path| {
        let scope = windlass_pack_deploy::OwnershipScope {
            repo,
            project_id: Some("a"),
            target: None,
            roots: &off.roots,
            possible: &on.roots,
        };
        windlass_pack_deploy::gather_owned(&world.state, &scope).unwrap()
    };
    assert_eq!(look(&repo).roots.len(), 2);
    assert_eq!(
        look(&world.path("other")).roots.len(),
        1,
        "another repository's stay its own"
    );
}

#[test]
fn must_13_execute_bits_are_kept_and_repaired() {
    let world = World::new();
    let mut script = want(Codex, "home/.codex/skills/demo/run.sh", "#!/bin/sh");
    script.executable = true;
    let desired = world.desired(&[(Codex, SKILLS)], &[script]);
    let plan = world.plan(&desired);
    assert_eq!(plan.changes[0].after_mode.unwrap().to_string(), "0755");
    world.deploy(&desired);
    let path = "home/.codex/skills/demo/run.sh";
    assert_eq!(world.mode(path) & 0o100, 0o100);
    assert!(world.plan(&desired).is_empty());
    world.chmod(path, 0o640);
    let plan = world.plan(&desired);
    insta::assert_snapshot!(json(&world, &plan.changes[0]), @r#"
    {
      "after_mode": "0750",
      "after_sha256": "3af71adb278ad4af33c144b78fa1ae708da03b773d98324ae991a7daedb53ca2",
      "before_mode": "0640",
      "before_sha256": "3af71adb278ad4af33c144b78fa1ae708da03b773d98324ae991a7daedb53ca2",
      "op": "update",
      "path": "…/home/.codex/skills/demo/run.sh",
      "path_posix": "…/home/.codex/skills/demo/run.sh",
      "reason": "mode differs",
      "target": "codex",
      "update_kind": "managed_update"
    }
    "#);
    world.deploy(&desired);
    assert_eq!(world.mode(path), 0o750, "the other bits stay");
}

#[test]
fn edited_files_are_named_before_they_are_overwritten() {
    let world = World::new();
    let roots = [(Codex, "a")];
    let first = [
        want(Codex, "a/AGENTS.md", "one"),
        want(Codex, "a/gone.md", "one"),
    ];
    world.deploy(&world.desired(&roots, &first));
    world.write("a/AGENTS.md", "edited");
    world.write("a/gone.md", "edited too");
    let plan = world.plan(&world.desired(&roots, &[want(Codex, "a/AGENTS.md", "two")]));
    assert_eq!(plan.local_edits.len(), 2);
    assert!(
        plan.warnings
            .iter()
            .any(|warning| warning.contains("2 managed files were edited"))
    );
    // The same content, put there by hand, is no edit that gets lost.
    world.write("a/AGENTS.md", "two");
    let plan = world.plan(&world.desired(&roots, &[want(Codex, "a/AGENTS.md", "two")]));
    assert_eq!(plan.local_edits.len(), 1);
}

#[test]
fn a_managed_directory_gives_way_to_a_file_and_no_other_does() {
    let world = World::new();
    let roots = [(Codex, SKILLS)];
    world.deploy(&world.desired(
        &roots,
        &[want(Codex, "home/.codex/skills/x/SKILL.md", "dir")],
    ));
    let as_file = world.desired(&roots, &[want(Codex, "home/.codex/skills/x", "file")]);
    world.deploy(&as_file);
    assert_eq!(world.read("home/.codex/skills/x").unwrap(), "file");
    world.deploy(&world.desired(
        &roots,
        &[want(Codex, "home/.codex/skills/x/SKILL.md", "dir")],
    ));
    assert_eq!(world.read("home/.codex/skills/x/SKILL.md").unwrap(), "dir");

    fs_err::create_dir_all(world.path("home/.codex/skills/theirs")).unwrap();
    let blocked = world.desired(&roots, &[want(Codex, "home/.codex/skills/theirs", "file")]);
    let problem = world
        .try_plan(&blocked, windlass_pack_deploy::Purpose::Deploy, None)
        .unwrap_err();
    assert!(problem.message().contains("theirs"), "{problem}");
}

#[test]
fn must_29_an_unreadable_destination_is_reported() {
    let world = World::new();
    let desired = world.desired(&[(Codex, "a")], &[want(Codex, "a/AGENTS.md", "x")]);
    let denied = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
    let path = world.path("a/AGENTS.md");
    let mut disk = Disk::default();
    let problem = fault::io("read", &path, &denied);
    disk.put(path, OnDisk::Unreadable(problem));
    let problem = plan(&desired, &Owned::default(), &disk, &PlanOptions::default()).unwrap_err();
    assert_eq!(problem.code().name, "E_IO_PERMISSION_DENIED");
    let restore = plan_restore(&desired, &Owned::default(), &disk, None).unwrap();
    assert_eq!(restore.summary.skipped_read_error, 1);
    assert!(restore.event.is_noop());
}

#[test]
fn must_4_an_output_outside_every_root_is_refused() {
    let world = World::new();
    for path in ["b/AGENTS.md", "a/../b/AGENTS.md", "a"] {
        let desired = world.desired(&[(Codex, "a")], &[want(Codex, path, "x")]);
        let problem = world
            .try_plan(&desired, windlass_pack_deploy::Purpose::Deploy, None)
            .unwrap_err();
        assert_eq!(problem.code().name, "E_CONFIG_INVALID", "{path}");
    }
}

#[test]
fn two_targets_may_share_a_file_but_not_disagree() {
    let world = World::new();
    let roots = [(Codex, "a"), (ClaudeCode, "a")];
    let same = world.desired(
        &roots,
        &[
            want(Codex, "a/AGENTS.md", "x"),
            want(ClaudeCode, "a/AGENTS.md", "x"),
        ],
    );
    world.deploy(&same);
    assert!(world.plan(&same).is_empty());
    let one = world.desired(&roots, &[want(Codex, "a/AGENTS.md", "x")]);
    assert!(
        world.plan(&one).is_empty(),
        "the other target still wants it"
    );
    let differing = world.desired(
        &roots,
        &[
            want(Codex, "a/AGENTS.md", "x"),
            want(ClaudeCode, "a/AGENTS.md", "y"),
        ],
    );
    let problem = world
        .try_plan(&differing, windlass_pack_deploy::Purpose::Deploy, None)
        .unwrap_err();
    assert_eq!(problem.code().name, "E_DESIRED_STATE_CONFLICT");
}

#[test]
fn previews_show_what_changes() {
    let world = World::new();
    let roots = [(Codex, "a")];
    let first = [
        want(Codex, "a/AGENTS.md", "one\ntwo\n"),
        want(Codex, "a/old.md", "old\n"),
    ];
    world.deploy(&world.desired(&roots, &first));
    world.write("a/big.md", "x");
    let big = "long line\n".repeat(20_000);
    let second = world.desired(
        &roots,
        &[
            want(Codex, "a/AGENTS.md", "one\nthree\n"),
            want(Codex, "a/big.md", &big),
        ],
    );
    let plan = world.plan(&second);
    let preview = preview(&plan, &second, &world.owned(&second, None));
    assert_eq!(preview.files.len(), 3);
    assert_eq!(preview.files[0].path, "AGENTS.md");
    assert!(
        preview.files[0]
            .before_hash
            .as_deref()
            .unwrap()
            .starts_with("sha256:")
    );
    insta::assert_snapshot!(preview.files[0].unified.as_deref().unwrap(), @r"
    --- a/AGENTS.md
    +++ b/AGENTS.md
    @@ -1,2 +1,2 @@
     one
    -two
    +three
    ");
    assert_eq!(preview.files[1].unified, None);
    assert_eq!(preview.files[2].unified, None, "a removal has no diff");
    insta::assert_debug_snapshot!(preview.warnings, @r#"
    [
        "preview diff omitted for codex big.md (over 102400 bytes)",
    ]
    "#);
}

#[test]
fn must_14_a_linked_destination_is_written_through_or_refused() {
    let world = World::new();
    world.write("home/dotfiles/AGENTS.md", "theirs");
    fs_err::create_dir_all(world.path("a")).unwrap();
    let link = world.path("a/AGENTS.md");
    std::os::unix::fs::symlink(world.path("home/dotfiles/AGENTS.md"), &link).unwrap();
    let desired = world.desired(&[(Codex, "a")], &[want(Codex, "a/AGENTS.md", "ours")]);
    let plan = world.plan(&desired);
    assert_eq!(plan.adopt_updates().count(), 1, "what it leads to counts");
    world.deploy_with(&desired, &Adoption::all());
    assert!(link.is_symlink());
    assert_eq!(world.read("home/dotfiles/AGENTS.md").unwrap(), "ours");
    assert!(world.plan(&desired).is_empty());

    let elsewhere = tempfile::tempdir().unwrap();
    fs_err::write(elsewhere.path().join("x"), "outside").unwrap();
    std::os::unix::fs::symlink(elsewhere.path().join("x"), world.path("a/out.md")).unwrap();
    let desired = world.desired(&[(Codex, "a")], &[want(Codex, "a/out.md", "ours")]);
    let approved = world.plan(&desired).approve(&Adoption::all()).unwrap();
    assert!(world.try_apply(&approved).is_err());
    assert_eq!(
        fs_err::read_to_string(elsewhere.path().join("x")).unwrap(),
        "outside"
    );
}

#[test]
fn a_file_that_changes_after_the_plan_stops_the_apply() {
    let world = World::new();
    let roots = [(Codex, "a")];
    world.deploy(&world.desired(&roots, &[want(Codex, "a/AGENTS.md", "one")]));
    let desired = world.desired(&roots, &[want(Codex, "a/AGENTS.md", "two")]);
    let approved = world.plan(&desired).approve(&Adoption::none()).unwrap();
    world.write("a/AGENTS.md", "another writer was quicker");
    let problem = world.try_apply(&approved).unwrap_err();
    assert_eq!(problem.details()["reason_code"], "destination_changed");
    assert_eq!(
        world.read("a/AGENTS.md").unwrap(),
        "another writer was quicker"
    );
}
