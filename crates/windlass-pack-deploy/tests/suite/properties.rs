//! What holds for every sequence of deploys, edits and rollbacks.

use std::collections::BTreeMap;

use proptest::prelude::*;
use windlass_pack_deploy::{Adoption, Op, Purpose};
use windlass_pack_model::{
    Desired, Target,
    Target::{Codex, Cursor},
};

use super::world::{Want, World, want};

const TARGETS: [(Target, &str); 2] = [(Codex, "codex"), (Cursor, "cursor")];
const NAMES: [&str; 4] = ["one.md", "two.md", "sub/three.md", "sub/deep/four.md"];
const TEXTS: [&str; 3] = ["a", "b", "c"];

/// What is wanted of one target: per name a text or nothing.
type Wish = Vec<Option<(usize, bool)>>;

fn wish() -> impl Strategy<Value = Wish> {
    prop::collection::vec(
        prop::option::weighted(0.7, (0..TEXTS.len(), any::<bool>())),
        NAMES.len(),
    )
}

fn root(project: &str, directory: &str) -> String {
    format!("{project}/.{directory}")
}

fn wants(project: &str, target: usize, wish: &Wish) -> Vec<Want> {
    let (target, directory) = TARGETS[target];
    wish.iter()
        .zip(NAMES)
        .filter_map(|(text, name)| {
            let (text, executable) = (*text)?;
            let path = format!("{}/{name}", root(project, directory));
            Some(Want {
                executable,
                ..want(target, &path, TEXTS[text])
            })
        })
        .collect()
}

fn desired(world: &World, project: &str, wishes: &[Wish; 2], only: Option<usize>) -> Desired {
    let mut roots = Vec::new();
    let mut files = Vec::new();
    for (index, (target, directory)) in TARGETS.into_iter().enumerate() {
        if only.is_none_or(|only| only == index) {
            roots.push((target, root(project, directory)));
            files.extend(wants(project, index, &wishes[index]));
        }
    }
    let roots: Vec<_> = roots
        .iter()
        .map(|(target, path)| (*target, path.as_str()))
        .collect();
    world.desired(&roots, &files)
}

fn foreign(world: &World, project: &str, files: &BTreeMap<usize, usize>) -> Vec<(String, String)> {
    files
        .iter()
        .map(|(name, text)| {
            let path = format!("{}/{}", root(project, "codex"), NAMES[*name]);
            let text = format!("theirs {text}");
            world.write(&path, &text);
            (path, text)
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_plan_of_an_applied_plan_is_empty(
        steps in prop::collection::vec([wish(), wish()], 1..4),
        theirs in prop::collection::btree_map(0..NAMES.len(), 0..3usize, 0..3),
    ) {
        let world = World::new();
        foreign(&world, "a", &theirs);
        for wishes in &steps {
            let desired = desired(&world, "a", wishes, None);
            let approved = world.plan(&desired).approve(&Adoption::all()).unwrap();
            if !approved.is_noop() {
                world.apply(&approved);
            }
            let again = world.plan(&desired);
            prop_assert!(again.is_empty(), "{:?}", again.changes);
            prop_assert!(again.approve(&Adoption::all()).unwrap().is_noop());
            let drift = world.status(&desired).summary;
            prop_assert_eq!((drift.modified, drift.missing), (0, 0));
        }
    }

    #[test]
    fn an_unmanaged_path_is_never_deleted_or_overwritten_without_the_users_consent(
        steps in prop::collection::vec([wish(), wish()], 1..4),
        theirs in prop::collection::btree_map(0..NAMES.len(), 0..3usize, 1..4),
    ) {
        let world = World::new();
        let theirs = foreign(&world, "a", &theirs);
        for wishes in &steps {
            let desired = desired(&world, "a", wishes, None);
            let plan = world.plan(&desired);
            for change in &plan.changes {
                let is_theirs = theirs.iter().any(|(path, _)| world.path(path) == change.path);
                prop_assert!(!is_theirs || (change.is_adopt() && change.op == Op::Update));
            }
            let skip = Adoption { skip_others: true, ..Adoption::none() };
            let approved = plan.approve(&skip).unwrap();
            if !approved.is_noop() {
                world.apply(&approved);
            }
            for (path, text) in &theirs {
                let now = world.read(path);
                prop_assert_eq!(now.as_ref(), Some(text));
            }
        }
    }

    #[test]
    fn two_projects_never_touch_each_others_files(
        steps in prop::collection::vec((any::<bool>(), [wish(), wish()], any::<bool>()), 1..6),
        nested in any::<bool>(),
    ) {
        let mut world = World::new();
        let names = if nested { ["a", "a/.codex/sub/b"] } else { ["a", "b"] };
        for (second, wishes, back) in &steps {
            let (project, other) = if *second { (names[1], names[0]) } else { (names[0], names[1]) };
            world.project = project.to_owned();
            let of_other = |world: &World| {
                let mut tree = world.tree(other);
                let inside = project.strip_prefix(&format!("{other}/")).unwrap_or("\0").to_owned();
                tree.retain(|path, _| !path.starts_with(&inside));
                tree
            };
            let before = of_other(&world);
            let approved = world.plan(&desired(&world, project, wishes, None)).approve(&Adoption::none()).unwrap();
            if !approved.is_noop() {
                let id = world.apply(&approved);
                if *back {
                    world.undo(&id);
                }
            }
            prop_assert_eq!(of_other(&world), before);
        }
    }

    #[test]
    fn rolling_a_filtered_deploy_back_touches_only_its_targets(
        full in [wish(), wish()],
        filtered in [wish(), wish()],
        later in [wish(), wish()],
        only in 0..2usize,
    ) {
        let world = World::new();
        let all = desired(&world, "a", &full, None);
        world.deploy(&all);
        let some = desired(&world, "a", &filtered, Some(only));
        let plan = world.try_plan(&some, Purpose::Deploy, Some(TARGETS[only].0)).unwrap();
        let approved = plan.approve(&Adoption::none()).unwrap();
        let id = if approved.is_noop() { None } else { Some(world.apply(&approved)) };
        let wanted = world.tree(&root("a", TARGETS[only].1));
        let last = world.plan(&desired(&world, "a", &later, None)).approve(&Adoption::none()).unwrap();
        if !last.is_noop() {
            world.apply(&last);
        }
        let others = world.tree(&root("a", TARGETS[1 - only].1));
        if let Some(id) = id {
            let event = world.plan_rollback(&id, None).unwrap();
            prop_assert!(event.changes.iter().all(|change| change.target == TARGETS[only].0));
            if !event.is_noop() {
                world.apply(&event);
            }
            prop_assert_eq!(world.tree(&root("a", TARGETS[only].1)), wanted);
        }
        prop_assert_eq!(world.tree(&root("a", TARGETS[1 - only].1)), others);
    }

    #[test]
    fn undo_restores_the_tree(
        first in [wish(), wish()],
        second in [wish(), wish()],
        theirs in prop::collection::btree_map(0..NAMES.len(), 0..3usize, 0..3),
    ) {
        let world = World::new();
        foreign(&world, "a", &theirs);
        let one = world.plan(&desired(&world, "a", &first, None)).approve(&Adoption::all()).unwrap();
        if !one.is_noop() {
            world.apply(&one);
        }
        let before = world.tree("a");
        let owned = world.owned(&desired(&world, "a", &first, None), None);
        let two = world.plan(&desired(&world, "a", &second, None)).approve(&Adoption::all()).unwrap();
        if !two.is_noop() {
            let id = world.apply(&two);
            world.undo(&id);
        }
        prop_assert_eq!(world.tree("a"), before);
        let now = world.owned(&desired(&world, "a", &first, None), None);
        let lists = |owned: &windlass_pack_deploy::Owned| {
            owned.roots.iter().map(|root| root.files.clone()).collect::<Vec<_>>()
        };
        prop_assert_eq!(lists(&now), lists(&owned));
    }
}
