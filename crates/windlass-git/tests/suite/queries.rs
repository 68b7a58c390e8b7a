//! Status, contents, names and ignore rules.

use std::path::{Path, PathBuf};

use windlass_ports::git::{Git as _, GitError, TreeKind};

use super::support::Home;

fn paths(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(PathBuf::from).collect()
}

#[test]
fn a_tree_is_clean_only_without_any_change() {
    let home = Home::new();
    let repo = home.repository("repo");
    let git = home.git();
    assert!(git.is_clean(&repo).unwrap());

    fs_err::write(repo.join("file"), "two\n").unwrap();
    fs_err::write(repo.join("new ä"), "").unwrap();
    // Whatever the user prefers to see.
    home.run(&repo, &["config", "status.showUntrackedFiles", "no"]);
    let mut changed = git.changed_paths(&repo).unwrap();
    changed.sort();
    assert_eq!(changed, paths(&["file", "new ä"]));
    assert!(!git.is_clean(&repo).unwrap());

    home.run(&repo, &["add", "."]);
    assert!(!git.is_clean(&repo).unwrap());
    home.run(&repo, &["mv", "file", "renamed"]);
    let mut changed = git.changed_paths(&repo).unwrap();
    changed.sort();
    assert_eq!(changed, paths(&["file", "new ä", "renamed"]));
}

#[test]
fn contents_at_a_revision_come_in_one_call() {
    let home = Home::new();
    let repo = home.repository("repo");
    let git = home.git();
    let binary: Vec<u8> = (0..=255).chain(*b"\n\nblob 3\nmissing\n").collect();
    fs_err::create_dir_all(repo.join("sub dir")).unwrap();
    fs_err::write(repo.join("sub dir/binary"), &binary).unwrap();
    fs_err::write(repo.join("empty"), "").unwrap();
    home.run(&repo, &["add", "."]);
    home.run(&repo, &["commit", "--quiet", "-m", "second"]);
    fs_err::write(repo.join("file"), "not committed\n").unwrap();

    let wanted = ["sub dir/binary", "absent", "empty", "sub dir", "file"].map(Path::new);
    let contents = git.blobs(&repo, "HEAD", &wanted).unwrap();
    assert_eq!(
        contents,
        [
            Some(binary.clone()),
            None,
            Some(Vec::new()),
            None,
            Some(b"one\n".to_vec())
        ]
    );
    // Relative to the directory asked about, which may lie below the top.
    let below = repo.join("sub dir");
    let content = git.blob(&below, "HEAD", Path::new("binary")).unwrap();
    assert_eq!(content, Some(binary));
    assert_eq!(git.blob(&repo, "HEAD~1", Path::new("empty")).unwrap(), None);

    let error = git.blob(&repo, "absent", Path::new("file")).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("revision `absent` does not exist in {}", repo.display())
    );
    for path in ["../other", "/etc/passwd", "a\nb", ""] {
        let error = git.blob(&repo, "HEAD", Path::new(path)).unwrap_err();
        assert!(matches!(error, GitError::Refused(_)), "{path:?}");
    }
}

#[test]
fn the_files_of_a_revision_have_their_kinds() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let home = Home::new();
    let repo = home.repository("repo");
    let git = home.git();
    fs_err::create_dir_all(repo.join("sub")).unwrap();
    fs_err::write(repo.join("sub/run"), "#!/bin/sh\n").unwrap();
    fs_err::set_permissions(repo.join("sub/run"), std::fs::Permissions::from_mode(0o755)).unwrap();
    symlink("../file", repo.join("sub/link\tä")).unwrap();
    home.run(&repo, &["add", "."]);
    home.run(&repo, &["commit", "--quiet", "-m", "second"]);

    let listed = |directory: &Path, revision: &str| -> Vec<(String, TreeKind)> {
        git.files_at(directory, revision)
            .unwrap()
            .into_iter()
            .inspect(|file| assert_eq!(file.id.len(), 40))
            .map(|file| (file.path.to_str().unwrap().to_owned(), file.kind))
            .collect()
    };
    assert_eq!(
        listed(&repo, "HEAD"),
        [
            ("file".to_owned(), TreeKind::Regular),
            ("sub/link\tä".to_owned(), TreeKind::Symlink),
            ("sub/run".to_owned(), TreeKind::Executable),
        ]
    );
    assert_eq!(
        listed(&repo, "HEAD~1"),
        [("file".to_owned(), TreeKind::Regular)]
    );
    assert_eq!(listed(&repo.join("sub"), "HEAD").len(), 2);
    assert!(matches!(
        git.files_at(&repo, "absent"),
        Err(GitError::Missing { .. })
    ));
}

#[test]
fn names_that_differ_between_revisions_or_in_the_work_tree() {
    let home = Home::new();
    let repo = home.repository("repo");
    let git = home.git();
    fs_err::create_dir_all(repo.join("sub")).unwrap();
    fs_err::write(repo.join("sub/new"), "x").unwrap();
    home.run(&repo, &["add", "."]);
    home.run(&repo, &["commit", "--quiet", "-m", "second"]);
    fs_err::write(repo.join("file"), "changed\n").unwrap();
    home.run(&repo, &["config", "diff.relative", "true"]);

    let below = repo.join("sub");
    for directory in [&repo, &below] {
        let between = git.diff_names(directory, "HEAD~1", Some("HEAD")).unwrap();
        assert_eq!(between, paths(&["sub/new"]));
        let in_tree = git.diff_names(directory, "HEAD", None).unwrap();
        assert_eq!(in_tree, paths(&["file"]));
    }
    // A file of that name does not make it a path.
    fs_err::write(repo.join("absent"), "").unwrap();
    assert!(matches!(
        git.diff_names(&repo, "absent", None),
        Err(GitError::Failed { .. })
    ));
}

#[test]
fn ignore_rules_apply_to_untracked_files_only() {
    let home = Home::new();
    let repo = home.repository("repo");
    let git = home.git();
    fs_err::write(repo.join(".gitignore"), "*.log\n/out/\nfile\n").unwrap();
    let asked = ["a.log", "out/x", "kept", "file", "sub/ä.log"].map(Path::new);
    assert_eq!(
        git.is_ignored(&repo, &asked).unwrap(),
        [true, true, false, false, true]
    );
    assert_eq!(
        git.is_ignored(&repo, &[Path::new("kept")]).unwrap(),
        [false]
    );
    assert!(git.is_ignored(&repo, &[]).unwrap().is_empty());
}
