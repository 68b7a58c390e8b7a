//! A transaction that fails or is killed anywhere leaves the state before it or after it, never
//! one between (must 7 of the reference: no half state after a failure in mid-apply).

use windlass_pack_deploy::state::{
    Outcome, PackState, Step, Transaction, pending, recover, recover_with,
};
use windlass_pack_model::{PackHome, Target};

use super::world::{
    At, Counter, Fault, Picture, World, action, chmod, containers, create, delete, manifest, put,
    reason, update,
};

/// So many more files make an event large: what it writes is stored in a container, what it
/// replaces and its manifests in files of their own.
const LARGE: usize = 7;

/// A world with files to update, delete, make executable and replace by a directory, a link to
/// write through and a link to remove, and the transaction that does all that. `more` files are
/// created besides.
fn scene(more: usize) -> (World, Transaction) {
    let world = World::new();
    let (codex, claude, user) = (world.codex(), world.claude(), world.user());
    for (path, text) in [
        ("update.md", "old"),
        ("sub/delete.md", "doomed"),
        ("tool.sh", "#!/bin/sh"),
        ("lib", "a file"),
        ("swap/inner/one.md", "one"),
        (".agentpack.manifest.codex.json", "{}"),
    ] {
        put(&codex.join(path), text);
    }
    chmod(&codex.join("update.md"), 0o640);
    put(&user.join("dotfiles/linked.md"), "linked");
    put(&user.join("dotfiles/gone.md"), "stays");
    let link = |name: &str| {
        let to = format!("../dotfiles/{name}");
        std::os::unix::fs::symlink(to, codex.join(name)).unwrap();
    };
    link("linked.md");
    link("gone.md");
    let more = (0..more).map(|n| create(codex.join(format!("more/{n}.md")), &n.to_string()));
    let mut actions: Vec<_> = more.collect();
    actions.extend([
        create(codex.join("new/deep/created.md"), "created"),
        create(claude.join("commands/created.md"), "created"),
        update(codex.join("update.md"), "old", "new"),
        update(codex.join("linked.md"), "linked", "through"),
        action(
            codex.join("tool.sh"),
            Some("#!/bin/sh"),
            Some(("#!/bin/sh", true)),
        ),
        delete(codex.join("sub/delete.md"), "doomed"),
        delete(codex.join("gone.md"), "stays"),
        delete(codex.join("lib"), "a file"),
        create(codex.join("lib/inside.md"), "inside"),
        delete(codex.join("swap/inner/one.md"), "one"),
        create(codex.join("swap"), "a file now"),
    ]);
    let mut transaction = world.transaction("1000", actions);
    transaction.manifests = vec![
        manifest(
            Target::Codex,
            codex.join(".agentpack.manifest.codex.json"),
            Some("{}"),
            Some("{\"new\":1}"),
        ),
        manifest(
            Target::ClaudeCode,
            claude.join("commands/.agentpack.manifest.claude_code.json"),
            None,
            Some("{\"new\":2}"),
        ),
    ];
    (world, transaction)
}

/// How many steps the transaction has, and how the world looks before and after it.
fn undisturbed(more: usize) -> (usize, Picture, Picture) {
    let (world, transaction) = scene(more);
    let before = world.picture();
    let counter = Counter::default();
    let committed = world.commit_with(transaction, &counter).unwrap();
    assert_eq!(committed.warnings, Vec::<String>::new());
    assert_eq!(committed.snapshot_id.as_deref(), Some("1000"));
    world.assert_tidy("undisturbed");
    for step in [
        Step::WriteBlob,
        Step::PublishJournal,
        Step::CreateDirectory,
        Step::WriteTemp,
        Step::Replace,
        Step::Remove,
        Step::RemoveDirectory,
        Step::PublishSnapshot,
        Step::WriteRemembered,
        Step::DropJournal,
    ] {
        assert!(counter.of(step) > 0, "the scene has no {step:?}");
    }
    assert_eq!(counter.of(Step::FlushContainer), usize::from(more > 0));
    let after = world.picture();
    assert_ne!(before, after);
    (counter.count(), before, after)
}

#[test]
fn the_scene_ends_as_planned() {
    let (_, _, after) = undisturbed(0);
    let shown: Vec<String> = after
        .iter()
        .filter(|(path, _)| !path.ends_with('/'))
        .map(|(path, what)| format!("{path}: {what}"))
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    .claude/commands/.agentpack.manifest.claude_code.json: 0644 {"new":2}
    .claude/commands/created.md: 0644 created
    .codex/.agentpack.manifest.codex.json: 0644 {"new":1}
    .codex/lib/inside.md: 0644 inside
    .codex/linked.md: -> ../dotfiles/linked.md
    .codex/new/deep/created.md: 0644 created
    .codex/swap: 0644 a file now
    .codex/tool.sh: 0755 #!/bin/sh
    .codex/update.md: 0640 new
    dotfiles/gone.md: 0644 stays
    dotfiles/linked.md: 0644 through
    "#);
}

#[test]
fn must_7_a_failure_at_any_step_leaves_no_half_state() {
    let (steps, before, after) = undisturbed(LARGE);
    for step in 0..steps {
        let when = format!("failure at step {step} of {steps}");
        let (world, transaction) = scene(LARGE);
        let done = world.commit_with(transaction.clone(), &At::new(Fault::Fail, step));
        match done {
            Err(problem) => {
                assert_eq!(reason(&problem), "disk_full", "{when}");
                assert_eq!(world.picture(), before, "{when}");
                assert_eq!(world.snapshots(), Vec::<String>::new(), "{when}");
                world.assert_tidy(&when);
                // Nothing prevents another attempt.
                world.commit(transaction).unwrap();
            }
            // It held already; only tidying up failed, and the next command does that.
            Ok(committed) => {
                assert_eq!(committed.warnings.len(), 1, "{when}");
                assert_eq!(recover(&world.state).unwrap()[0].outcome, Outcome::Settled);
            }
        }
        assert_eq!(world.picture(), after, "{when}");
        assert_eq!(world.snapshots(), ["1000"], "{when}");
        world.assert_tidy(&when);
    }
}

#[test]
fn must_7_a_full_disk_is_undone_and_stays_undone() {
    let (steps, before, after) = undisturbed(LARGE);
    for step in 0..steps {
        let when = format!("full disk from step {step} of {steps}");
        let (world, transaction) = scene(LARGE);
        let done = world.commit_with(transaction, &At::new(Fault::FullDisk, step));
        let expected = match done {
            // What was reported as failed is never completed later, even if undoing had to wait.
            Err(_) => &before,
            Ok(_) => &after,
        };
        recover(&world.state).unwrap();
        assert_eq!(&world.picture(), expected, "{when}");
        world.assert_tidy(&when);
    }
}

#[test]
fn must_7_a_crash_at_any_step_is_completed_or_undone_by_the_next_command() {
    let (steps, before, after) = undisturbed(LARGE);
    let mut outcomes = Vec::new();
    for step in 0..steps {
        let when = format!("crash at step {step} of {steps}");
        let (world, transaction) = scene(LARGE);
        world
            .commit_with(transaction.clone(), &At::new(Fault::Crash, step))
            .unwrap_err();
        let recovered = recover(&world.state).unwrap();
        let picture = world.picture();
        match recovered.as_slice() {
            [] => {
                assert_eq!(picture, before, "{when}");
                assert_eq!(world.snapshots(), Vec::<String>::new(), "{when}");
            }
            [run] => {
                assert_eq!(picture, after, "{when}");
                assert_eq!(run.warnings, Vec::<String>::new(), "{when}");
                assert_eq!(run.snapshot_id.as_deref(), Some("1000"), "{when}");
                assert_eq!(world.snapshots(), ["1000"], "{when}");
                world.assert_tidy(&when);
            }
            more => panic!("{when}: {more:?}"),
        }
        outcomes.push(recovered.first().map(|run| run.outcome));
        assert_eq!(recover(&world.state).unwrap(), [], "{when}: twice");
        assert_eq!(world.picture(), picture, "{when}: twice");
    }
    for outcome in [None, Some(Outcome::Completed), Some(Outcome::Settled)] {
        assert!(outcomes.contains(&outcome), "{outcome:?} never happened");
    }
}

#[test]
fn a_recovery_that_crashes_repeatedly_still_succeeds() {
    let (steps, before, after) = undisturbed(LARGE);
    for step in (0..steps).step_by(3) {
        let when = format!("crash at step {step} of {steps}");
        let (world, transaction) = scene(LARGE);
        world
            .commit_with(transaction, &At::new(Fault::Crash, step))
            .unwrap_err();
        let started = pending(&world.state).unwrap().len();
        let mut survived = 0;
        while recover_with(&world.state, &At::new(Fault::Crash, survived)).is_err() {
            survived += 1;
        }
        let expected = if started == 0 { &before } else { &after };
        assert_eq!(&world.picture(), expected, "{when}");
    }
}

#[test]
fn a_foreign_edit_during_the_crash_is_left_alone() {
    let (steps, before, after) = undisturbed(LARGE);
    let edited = ".codex/update.md".to_owned();
    let mut undone = 0;
    for step in 0..steps {
        let when = format!("crash at step {step} of {steps}");
        let (world, transaction) = scene(LARGE);
        world
            .commit_with(transaction, &At::new(Fault::Crash, step))
            .unwrap_err();
        put(&world.codex().join("update.md"), "mine");
        let recovered = recover(&world.state).unwrap();
        let mut picture = world.picture();
        let found = picture.remove(&edited).unwrap();
        assert!(found.ends_with(" mine"), "{when}: {found}");
        let mut expected = match recovered.first() {
            None => before.clone(),
            Some(run) if run.outcome == Outcome::Undone => {
                assert_eq!(run.warnings.len(), 1, "{when}");
                assert!(run.warnings[0].contains("update.md"), "{when}");
                assert_eq!(run.snapshot_id, None);
                undone += 1;
                before.clone()
            }
            Some(run) => {
                assert_eq!(run.outcome, Outcome::Settled, "{when}");
                after.clone()
            }
        };
        expected.remove(&edited);
        assert_eq!(picture, expected, "{when}");
    }
    assert!(undone > 10, "{undone}");
}

#[test]
fn an_edit_after_the_plan_stops_and_undoes_the_transaction() {
    let (world, transaction) = scene(0);
    let before = {
        put(&world.codex().join("update.md"), "mine");
        world.picture()
    };
    let problem = world.commit(transaction).unwrap_err();
    assert_eq!(reason(&problem), "destination_changed");
    assert!(problem.message().contains("update.md"));
    assert_eq!(world.picture(), before);
    world.assert_tidy("destination changed");
}

/// Edits a destination when another one is about to change.
struct EditAt<'a>(&'a World);

impl windlass_pack_deploy::state::FaultProbe for EditAt<'_> {
    fn at(
        &self,
        step: Step,
        path: &std::path::Path,
    ) -> Result<(), windlass_pack_deploy::state::Injected> {
        if step == Step::Replace && path.ends_with(".codex/new") {
            put(&self.0.codex().join("update.md"), "just now");
        }
        Ok(())
    }
}

#[test]
fn an_edit_in_mid_apply_is_seen_at_the_last_moment() {
    let (world, transaction) = scene(0);
    let mut before = world.picture();
    let problem = world.commit_with(transaction, &EditAt(&world)).unwrap_err();
    assert_eq!(reason(&problem), "destination_changed");
    before.insert(".codex/update.md".to_owned(), "0640 just now".to_owned());
    assert_eq!(world.picture(), before);
    world.assert_tidy("edit in mid-apply");
}

#[test]
fn a_container_that_a_power_failure_cut_is_never_replayed() {
    let (steps, before, after) = undisturbed(LARGE);
    let mut undone = 0;
    for step in 0..steps {
        let when = format!("crash at step {step} of {steps}");
        let (world, transaction) = scene(LARGE);
        world
            .commit_with(transaction, &At::new(Fault::Crash, step))
            .unwrap_err();
        for container in containers(&world) {
            let file = fs_err::OpenOptions::new().write(true).open(&container);
            file.unwrap().set_len(60).unwrap();
        }
        let home = PackHome::at(world.state.home().root());
        let recovered = recover(&PackState::open(home)).unwrap();
        let picture = world.picture();
        match recovered.first() {
            None => assert_eq!(picture, before, "{when}"),
            Some(run) if run.outcome == Outcome::Undone => {
                assert_eq!(picture, before, "{when}");
                let [warning] = run.warnings.as_slice() else {
                    panic!("{when}: {:?}", run.warnings);
                };
                assert!(warning.contains("is damaged"), "{when}: {warning}");
                assert_eq!(world.snapshots(), Vec::<String>::new(), "{when}");
                undone += 1;
            }
            // Every file had been written.
            Some(_) => assert_eq!(picture, after, "{when}"),
        }
        if !recovered.is_empty() {
            world.assert_tidy(&when);
        }
    }
    assert!(undone > 10, "{undone}");
}
