//! Symbolic links at and above destinations (musts 4 and 14 of the reference).

use std::{os::unix::fs::symlink, path::PathBuf};

use super::world::{World, create, delete, put, read, reason, update};

#[test]
fn must_14_a_linked_destination_is_written_through() {
    let world = World::new();
    let target = world.user().join("dotfiles/AGENTS.md");
    put(&target, "old");
    fs_err::create_dir(world.codex()).unwrap();
    let link = world.codex().join("AGENTS.md");
    symlink("../dotfiles/AGENTS.md", &link).unwrap();
    world
        .commit(world.transaction("1", vec![update(link.clone(), "old", "new")]))
        .unwrap();
    assert_eq!(read(&target), "new");
    assert!(link.is_symlink());
    // The staged file was next to the real file, on its file system.
    world.assert_tidy("written through");
}

#[test]
fn must_14_a_link_to_nothing_is_filled() {
    let world = World::new();
    fs_err::create_dir_all(world.user().join("dotfiles")).unwrap();
    fs_err::create_dir(world.codex()).unwrap();
    let link = world.codex().join("AGENTS.md");
    symlink(world.user().join("dotfiles/AGENTS.md"), &link).unwrap();
    world
        .commit(world.transaction("1", vec![create(link.clone(), "new")]))
        .unwrap();
    assert!(link.is_symlink());
    assert_eq!(read(&world.user().join("dotfiles/AGENTS.md")), "new");
}

#[test]
fn must_14_a_link_that_leaves_home_and_project_is_refused() {
    let world = World::new();
    let target = world.outside("elsewhere.md");
    put(&target, "theirs");
    fs_err::create_dir(world.codex()).unwrap();
    let link = world.codex().join("AGENTS.md");
    symlink(&target, &link).unwrap();
    let problem = world
        .commit(world.transaction("1", vec![update(link.clone(), "theirs", "new")]))
        .unwrap_err();
    assert_eq!(problem.code().name, "E_IO_INVALID_PATH");
    assert!(problem.message().contains("elsewhere.md"));
    assert_eq!(read(&target), "theirs");
    assert!(link.is_symlink());

    // The project is as good as the home.
    let mut transaction = world.transaction("1", vec![update(link, "theirs", "new")]);
    transaction.write_through.push(world.outside("."));
    world.commit(transaction).unwrap();
    assert_eq!(read(&target), "new");
}

#[test]
fn must_14_removing_a_linked_destination_removes_only_the_link() {
    let world = World::new();
    let target = world.user().join("dotfiles/AGENTS.md");
    put(&target, "text");
    fs_err::create_dir(world.codex()).unwrap();
    let link = world.codex().join("AGENTS.md");
    symlink(&target, &link).unwrap();
    world
        .commit(world.transaction("1", vec![delete(link.clone(), "text")]))
        .unwrap();
    assert!(!link.is_symlink());
    assert_eq!(read(&target), "text");
}

#[test]
fn must_4_a_linked_directory_that_leaves_its_root_is_refused() {
    let world = World::new();
    let elsewhere = world.user().join("elsewhere");
    fs_err::create_dir_all(&elsewhere).unwrap();
    fs_err::create_dir(world.codex()).unwrap();
    symlink(&elsewhere, world.codex().join("skills")).unwrap();
    let inside = create(world.codex().join("skills/demo/SKILL.md"), "x");
    let problem = world
        .commit(world.transaction("1", vec![inside]))
        .unwrap_err();
    assert_eq!(problem.code().name, "E_CONFIG_INVALID");
    assert!(problem.message().contains("skills"));
    assert_eq!(fs_err::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn a_linked_directory_inside_its_root_is_followed() {
    let world = World::new();
    fs_err::create_dir_all(world.codex().join("real")).unwrap();
    symlink("real", world.codex().join("alias")).unwrap();
    let inside = create(world.codex().join("alias/new/a.md"), "x");
    world.commit(world.transaction("1", vec![inside])).unwrap();
    assert_eq!(read(&world.codex().join("real/new/a.md")), "x");
    let gone = delete(world.codex().join("alias/new/a.md"), "x");
    world.commit(world.transaction("2", vec![gone])).unwrap();
    assert!(!world.codex().join("real/new").exists());
}

#[test]
fn a_root_may_be_a_link() {
    let world = World::new();
    let real = world.outside("data");
    fs_err::create_dir(&real).unwrap();
    symlink(&real, world.codex()).unwrap();
    let files = vec![create(world.codex().join("skills/a.md"), "x")];
    world.commit(world.transaction("1", files)).unwrap();
    assert_eq!(read(&real.join("skills/a.md")), "x");
    assert!(world.codex().is_symlink());
}

#[test]
fn must_4_paths_outside_the_locked_roots_are_refused() {
    let world = World::new();
    for path in [
        world.user().join("other.md"),
        world.codex().join("../other.md"),
        world.codex().join("a/../../other.md"),
        world.codex().join("a/.."),
        world.codex(),
        PathBuf::from("relative.md"),
        PathBuf::from("/"),
    ] {
        let transaction = world.transaction("1", vec![create(path.clone(), "x")]);
        let problem = world.commit(transaction).unwrap_err();
        assert_eq!(
            problem.code().name,
            "E_CONFIG_INVALID",
            "{}",
            path.display()
        );
        assert_eq!(world.picture().len(), 0, "{}", path.display());
    }
}

#[test]
fn a_file_where_a_directory_must_be_is_named() {
    let world = World::new();
    put(&world.codex().join("skills"), "a file of the user");
    let inside = create(world.codex().join("skills/demo/SKILL.md"), "x");
    let problem = world
        .commit(world.transaction("1", vec![inside]))
        .unwrap_err();
    assert_eq!(reason(&problem), "io_error");
    assert!(problem.message().contains("skills is not a directory"));
}
