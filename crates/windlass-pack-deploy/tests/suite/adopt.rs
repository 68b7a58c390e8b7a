//! Files that are not pack's.

use windlass_pack_deploy::{Adoption, PathPattern};
use windlass_pack_model::Target::Codex;
use windlass_types::Digest;

use super::world::{World, lines, want};

fn two_foreign_files(world: &World) -> windlass_pack_model::Desired {
    world.write("a/one.md", "theirs one");
    world.write("a/two.md", "theirs two");
    world.desired(
        &[(Codex, "a")],
        &[
            want(Codex, "a/one.md", "ours one"),
            want(Codex, "a/two.md", "ours two"),
            want(Codex, "a/new.md", "new"),
        ],
    )
}

#[test]
fn overwriting_needs_the_users_consent() {
    let world = World::new();
    let desired = two_foreign_files(&world);
    let plan = world.plan(&desired);
    insta::assert_debug_snapshot!(lines(&world, &plan.changes), @r#"
    [
        "create a/new.md: file missing",
        "update a/one.md adopt_update: would overwrite unmanaged existing file",
        "update a/two.md adopt_update: would overwrite unmanaged existing file",
    ]
    "#);
    let refused = plan.approve(&Adoption::none()).unwrap_err();
    assert_eq!(refused.code().name, "E_ADOPT_CONFIRM_REQUIRED");
    let details = refused.details();
    assert_eq!(details["flag"], "--adopt");
    assert_eq!(details["adopt_updates"], 2);
    assert_eq!(details["sample_paths"].as_array().unwrap().len(), 2);
    world.deploy_with(&desired, &Adoption::all());
    assert_eq!(world.read("a/one.md").unwrap(), "ours one");
    assert!(world.plan(&desired).is_empty());
}

#[test]
fn the_plan_does_not_depend_on_adopting() {
    // A token for the plan stays good when only the user's word comes later.
    let world = World::new();
    let desired = two_foreign_files(&world);
    let binding = windlass_pack_deploy::Binding::default();
    let before = world.plan(&desired).hash(&binding, "default", &[Codex]);
    let plan = world.plan(&desired);
    assert!(plan.approve(&Adoption::none()).is_err());
    assert_eq!(plan.hash(&binding, "default", &[Codex]), before);
    assert!(plan.approve(&Adoption::all()).is_ok());
}

#[test]
fn some_paths_can_be_adopted_and_the_others_left_out() {
    let world = World::new();
    let desired = two_foreign_files(&world);
    let mut adoption = Adoption {
        paths: vec![PathPattern::new(&format!(
            "{}/a/o*.md",
            world.temp.path().display()
        ))],
        ..Adoption::none()
    };
    let plan = world.plan(&desired);
    assert!(plan.approve(&adoption).is_err(), "two.md is not covered");
    adoption.skip_others = true;
    let approved = plan.approve(&adoption).unwrap();
    assert_eq!(approved.left_out, [(Codex, world.path("a/two.md"))]);
    assert_eq!(approved.summary.update, 1);
    world.apply(&approved);
    assert_eq!(world.read("a/one.md").unwrap(), "ours one");
    assert_eq!(world.read("a/two.md").unwrap(), "theirs two");
    assert_eq!(world.read("a/new.md").unwrap(), "new");
    // What was left out is still not ours.
    let gone = world.desired(&[(Codex, "a")], &[]);
    world.deploy(&gone);
    assert_eq!(world.tree("a").into_keys().collect::<Vec<_>>(), ["two.md"]);
}

#[test]
fn must_3_an_identical_file_is_not_taken_over() {
    let world = World::new();
    world.write("a/AGENTS.md", "same");
    let desired = world.desired(
        &[(Codex, "a")],
        &[
            want(Codex, "a/AGENTS.md", "same"),
            want(Codex, "a/b.md", "b"),
        ],
    );
    let plan = world.plan(&desired);
    assert_eq!(plan.changes.len(), 1);
    assert_eq!(
        plan.identical_unmanaged(),
        [(Codex, world.path("a/AGENTS.md"))]
    );
    world.deploy(&desired);
    assert!(world.status(&desired).summary.is_clean());
    world.deploy(&world.desired(&[(Codex, "a")], &[]));
    assert_eq!(world.read("a/AGENTS.md").unwrap(), "same", "never deleted");
}

#[test]
fn an_identical_file_can_be_taken_over_on_request() {
    let world = World::new();
    world.write("a/AGENTS.md", "same");
    let desired = world.desired(&[(Codex, "a")], &[want(Codex, "a/AGENTS.md", "same")]);
    let plan = world.plan(&desired);
    assert!(plan.is_empty());
    let approved = plan.approve(&Adoption::all()).unwrap();
    assert!(!approved.is_noop());
    let id = world.apply(&approved);
    assert!(
        world
            .plan(&desired)
            .approve(&Adoption::all())
            .unwrap()
            .is_noop()
    );
    let none = world.desired(&[(Codex, "a")], &[]);
    assert_eq!(world.plan(&none).summary.delete, 1, "it is ours now");
    world.undo(&id);
    assert!(world.plan(&none).is_empty(), "and theirs again");
    assert_eq!(world.read("a/AGENTS.md").unwrap(), "same");
}

#[test]
fn what_an_import_took_is_owned_while_it_is_unchanged() {
    let world = World::new();
    world.write("a/AGENTS.md", "same");
    world.write("a/b.md", "changed since");
    world
        .state
        .remember(|all| {
            all.imported
                .insert(world.path("a/AGENTS.md"), Digest::of(b"same"));
            all.imported
                .insert(world.path("a/b.md"), Digest::of(b"as imported"));
        })
        .unwrap();
    let desired = world.desired(
        &[(Codex, "a")],
        &[
            want(Codex, "a/AGENTS.md", "same"),
            want(Codex, "a/b.md", "changed since"),
        ],
    );
    world.deploy(&desired);
    let none = world.desired(&[(Codex, "a")], &[]);
    insta::assert_debug_snapshot!(lines(&world, &world.plan(&none).changes), @r#"
    [
        "delete a/AGENTS.md: no longer managed",
    ]
    "#);
}

#[test]
fn must_5_what_an_adopt_replaced_can_be_restored() {
    let desired = |world: &World, text: &str| {
        world.desired(&[(Codex, "a")], &[want(Codex, "a/AGENTS.md", text)])
    };
    // By undo.
    let world = World::new();
    world.write("a/AGENTS.md", "theirs");
    let id = world.deploy_with(&desired(&world, "ours"), &Adoption::all());
    world.undo(&id);
    assert_eq!(world.read("a/AGENTS.md").unwrap(), "theirs");
    assert_eq!(
        world.plan(&desired(&world, "ours")).adopt_updates().count(),
        1
    );

    // By uninstall, after more deploys.
    let world = World::new();
    world.write("a/AGENTS.md", "theirs");
    world.chmod("a/AGENTS.md", 0o600);
    world.deploy_with(&desired(&world, "ours"), &Adoption::all());
    world.deploy(&desired(&world, "newer"));
    world.deploy(&desired(&world, "newest"));
    world.uninstall(&desired(&world, "newest"), true);
    assert_eq!(
        world.tree("a").into_iter().collect::<Vec<_>>(),
        [("AGENTS.md".to_owned(), "theirs".to_owned())]
    );
    assert_eq!(world.read("a/.agentpack.manifest.codex.json"), None);

    // Without originals everything managed goes.
    let world = World::new();
    world.write("a/AGENTS.md", "theirs");
    world.deploy_with(&desired(&world, "ours"), &Adoption::all());
    let id = world.uninstall(&desired(&world, "ours"), false);
    assert!(world.tree("a").is_empty());
    world.undo(&id);
    assert_eq!(world.read("a/AGENTS.md").unwrap(), "ours");
    assert!(world.plan(&desired(&world, "ours")).is_empty());
}

#[test]
fn a_file_pack_created_has_no_original_even_if_an_older_one_did() {
    let world = World::new();
    world.write("a/AGENTS.md", "theirs");
    let roots = [(Codex, "a")];
    let on = world.desired(&roots, &[want(Codex, "a/AGENTS.md", "ours")]);
    world.deploy_with(&on, &Adoption::all());
    world.deploy(&world.desired(&roots, &[]));
    world.deploy(&on);
    world.uninstall(&on, true);
    assert!(
        world.tree("a").is_empty(),
        "the second life began with nothing there"
    );
}

#[test]
fn without_its_manifest_a_root_owns_only_what_is_still_as_deployed() {
    let world = World::new();
    let wants = |text: &str| {
        ["edited", "kept", "gone", "dropped"]
            .map(|name| want(Codex, &format!("a/{name}.md"), &format!("{text} {name}")))
    };
    let first = world.desired(&[(Codex, "a")], &wants("one"));
    world.deploy(&first);
    // `git clean -fdX` takes the manifest, and work goes on without pack.
    fs_err::remove_file(world.path("a/.agentpack.manifest.codex.json")).unwrap();
    fs_err::remove_file(world.path("a/gone.md")).unwrap();
    world.write("a/edited.md", "the user's");
    world.write("a/dropped.md", "the user's too");

    let second = world.desired(&[(Codex, "a")], &wants("two")[..3]);
    let plan = world.plan(&second);
    insta::assert_snapshot!(lines(&world, &plan.changes).join("\n"), @"
    update a/edited.md adopt_update: would overwrite unmanaged existing file
    create a/gone.md: file missing
    update a/kept.md managed_update: content differs
    ");
    let refused = plan.approve(&Adoption::none()).unwrap_err();
    assert_eq!(refused.code().name, "E_ADOPT_CONFIRM_REQUIRED");
    assert_eq!(refused.details()["adopt_updates"], 1);
    // Neither uninstalling nor going back takes the user's files away.
    world.uninstall(&first, false);
    assert_eq!(world.read("a/edited.md").unwrap(), "the user's");
    assert_eq!(world.read("a/dropped.md").unwrap(), "the user's too");
    assert_eq!(world.read("a/kept.md"), None);
}

#[test]
fn going_back_keeps_what_it_finds_where_the_manifest_is_gone() {
    let world = World::new();
    let wants = [
        want(Codex, "a/one.md", "one"),
        want(Codex, "a/two.md", "two"),
    ];
    let id = world.deploy(&world.desired(&[(Codex, "a")], &wants[..1]));
    world.deploy(&world.desired(&[(Codex, "a")], &wants));
    fs_err::remove_file(world.path("a/.agentpack.manifest.codex.json")).unwrap();
    world.write("a/two.md", "the user's");
    world.rollback(&id);
    assert_eq!(world.read("a/two.md").unwrap(), "the user's");
}

#[test]
fn a_link_to_another_file_that_is_written_is_refused_unless_both_are_alike() {
    let world = World::new();
    world.write("a/AGENTS.md", "rules");
    std::os::unix::fs::symlink("./AGENTS.md", world.path("a/CLAUDE.md")).unwrap();
    for (text, code) in [
        ("@AGENTS.md", Some("E_DESIRED_STATE_CONFLICT")),
        ("rules", None),
    ] {
        let desired = world.desired(
            &[(Codex, "a")],
            &[
                want(Codex, "a/AGENTS.md", "rules"),
                want(Codex, "a/CLAUDE.md", text),
            ],
        );
        let planned = world.try_plan(&desired, windlass_pack_deploy::Purpose::Deploy, None);
        assert_eq!(planned.err().map(|problem| problem.code().name), code);
    }
}
