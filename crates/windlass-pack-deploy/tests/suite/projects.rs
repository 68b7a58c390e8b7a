//! Two projects, one home.

use windlass_pack_model::Target::{Codex, Cursor};

use super::world::{World, lines, want};

fn roots(project: &str) -> Vec<(windlass_pack_model::Target, String)> {
    vec![
        (Codex, "home/.codex/skills".to_owned()),
        (Codex, project.to_owned()),
        (Cursor, format!("{project}/.cursor/rules")),
    ]
}

fn desired(world: &World, project: &str, text: &str) -> windlass_pack_model::Desired {
    let roots = roots(project);
    let roots: Vec<_> = roots
        .iter()
        .map(|(target, path)| (*target, path.as_str()))
        .collect();
    world.desired(
        &roots,
        &[
            want(Codex, "home/.codex/skills/s/SKILL.md", "shared"),
            want(Codex, &format!("{project}/AGENTS.md"), text),
            want(Cursor, &format!("{project}/.cursor/rules/r.mdc"), text),
        ],
    )
}

fn empty(world: &World, project: &str) -> windlass_pack_model::Desired {
    let mut desired = desired(world, project, "");
    desired
        .files
        .retain(|file| file.path.starts_with(world.path("home")));
    desired
}

#[test]
fn must_1_a_deploy_in_one_project_never_touches_the_other() {
    for with_manifests in [true, false] {
        for nested in [true, false] {
            let mut world = World::new();
            let b = if nested { "a/b" } else { "b" };
            world.deploy(&desired(&world, "a", "for a"));
            world.project = b.to_owned();
            world.deploy(&desired(&world, b, "for b"));
            if !with_manifests {
                for root in ["a", "a/.cursor/rules", b] {
                    for target in ["codex", "cursor"] {
                        let path = format!("{root}/.agentpack.manifest.{target}.json");
                        let _ = fs_err::remove_file(world.path(&path));
                    }
                }
            }
            // Nothing is wanted in b any more: only b's files go.
            let plan = world.plan(&empty(&world, b));
            let changes = lines(&world, &plan.changes);
            assert_eq!(changes.len(), 2, "{changes:?}");
            assert!(
                changes
                    .iter()
                    .all(|line| line.starts_with(&format!("delete {b}/"))),
                "{changes:?}"
            );
            // And in a likewise.
            world.project = "a".to_owned();
            let changes = lines(&world, &world.plan(&empty(&world, "a")).changes);
            assert_eq!(
                changes,
                [
                    "delete a/AGENTS.md: no longer managed",
                    "delete a/.cursor/rules/r.mdc: no longer managed",
                ]
            );
        }
    }
}

#[test]
fn must_1_a_rollback_in_one_project_leaves_the_other() {
    let mut world = World::new();
    let first = world.deploy(&desired(&world, "a", "one"));
    world.project = "b".to_owned();
    world.deploy(&desired(&world, "b", "for b"));
    world.project = "a".to_owned();
    world.deploy(&desired(&world, "a", "two"));
    world.rollback(&first);
    assert_eq!(world.read("a/AGENTS.md").unwrap(), "one");
    assert_eq!(world.read("b/AGENTS.md").unwrap(), "for b");
    assert!(world.plan(&desired(&world, "a", "one")).is_empty());
    world.project = "b".to_owned();
    assert!(world.plan(&desired(&world, "b", "for b")).is_empty());
}

#[test]
fn must_10_a_filtered_deploy_makes_no_rollback_delete_elsewhere() {
    let world = World::new();
    world.deploy(&desired(&world, "a", "one"));
    // Only cursor.
    let mut filtered = desired(&world, "a", "two");
    filtered.roots.retain(|root| root.target == Cursor);
    filtered.files.retain(|file| file.target == Cursor);
    let plan = world
        .try_plan(
            &filtered,
            windlass_pack_deploy::Purpose::Deploy,
            Some(Cursor),
        )
        .unwrap();
    assert_eq!(plan.changes.len(), 1, "nothing of codex is planned");
    let filtered_id = world.apply(
        &plan
            .approve(&windlass_pack_deploy::Adoption::none())
            .unwrap(),
    );
    world.deploy(&desired(&world, "a", "three"));
    world.rollback(&filtered_id);
    assert_eq!(world.read("a/.cursor/rules/r.mdc").unwrap(), "two");
    assert_eq!(world.read("a/AGENTS.md").unwrap(), "three");
    assert!(world.read("home/.codex/skills/s/SKILL.md").is_some());
}

#[test]
fn must_11_a_rollback_honours_target_and_repository() {
    let world = World::new();
    let first = world.deploy(&desired(&world, "a", "one"));
    let second = world.deploy(&desired(&world, "a", "two"));
    let event = world.plan_rollback(&first, Some(Cursor)).unwrap();
    world.apply(&event);
    assert_eq!(world.read("a/.cursor/rules/r.mdc").unwrap(), "one");
    assert_eq!(world.read("a/AGENTS.md").unwrap(), "two");

    let to = world.state.snapshot(&second).unwrap();
    let other = world.path("other-repo");
    let request = windlass_pack_deploy::RollbackRequest {
        to: &to,
        repo: &other,
        target: None,
    };
    let problem = request.check().unwrap_err();
    assert!(
        problem.message().contains("belongs to the repository"),
        "{problem}"
    );
    assert_eq!(problem.details()["reason_code"], "snapshot_not_found");
}

#[test]
fn a_root_without_manifest_falls_back_to_its_own_files_only() {
    let world = World::new();
    let both = [(Codex, "a"), (Codex, "a/.codex/skills")];
    let wants = [
        want(Codex, "a/AGENTS.md", "x"),
        want(Codex, "a/.codex/skills/d/SKILL.md", "y"),
    ];
    world.deploy(&world.desired(&both, &wants));
    fs_err::remove_file(world.path("a/.agentpack.manifest.codex.json")).unwrap();
    world.state.remember(|all| all.known_roots.clear()).unwrap();
    let outer = world.desired(&both[..1], &[]);
    assert_eq!(
        lines(&world, &world.plan(&outer).changes),
        ["delete a/AGENTS.md: no longer managed"]
    );
}

#[test]
fn must_1_going_back_from_another_project_leaves_the_first_its_roots() {
    let undo: fn(&World, &str, &str) = |world, _, second| {
        world.undo(second);
    };
    let rollback: fn(&World, &str, &str) = |world, first, _| {
        world.rollback(first);
    };
    for back in [undo, rollback] {
        let mut world = World::new();
        world.project = "a".to_owned();
        let first = world.deploy(&desired(&world, "a", "one"));
        let second = world.deploy(&desired(&world, "a", "two"));
        let known = world.state.remembered().unwrap().0;
        world.project = "b".to_owned();
        back(&world, &first, &second);
        assert_eq!(world.read("a/AGENTS.md").unwrap(), "one");
        assert_eq!(world.state.remembered().unwrap().0, known);
        let changes = lines(&world, &world.plan(&empty(&world, "b")).changes);
        assert!(
            changes.iter().all(|line| !line.contains(" a/")),
            "{changes:?}"
        );
    }
}
