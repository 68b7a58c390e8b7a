//! Init, remotes, branches and commits.

use std::path::Path;
use std::sync::Arc;

use windlass_git::GitProgram;
use windlass_ports::git::{Git as _, GitError, SwitchTo};
use windlass_testkit::TrustEverything;

use super::support::{Home, author};

fn write(repo: &Path, path: &str, text: &str) {
    let path = repo.join(path);
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, text).unwrap();
}

#[test]
fn a_directory_becomes_a_repository_once() {
    let home = Home::new();
    let git = home.git();
    let repo = home.path().join("new/repo");
    for _ in 0..2 {
        git.init(&repo).unwrap();
        assert_eq!(git.toplevel(&repo).unwrap(), Some(repo.clone()));
    }
}

#[test]
fn a_remote_is_added_and_then_changed() {
    let home = Home::new();
    let git = home.git();
    let repo = home.repository("repo");
    assert_eq!(git.remote_url(&repo, "origin").unwrap(), None);
    for url in ["https://example.com/a", "git@example.com:a"] {
        git.set_remote(&repo, "origin", url).unwrap();
        assert_eq!(
            git.remote_url(&repo, "origin").unwrap().as_deref(),
            Some(url)
        );
    }
    for (remote, url) in [
        ("origin", "/srv/a"),
        ("origin", "--upload-pack=x"),
        ("--all", "https://example.com/a"),
    ] {
        let error = git.set_remote(&repo, remote, url).unwrap_err();
        assert!(matches!(error, GitError::Refused(_)), "{remote} {url}");
    }
}

#[test]
fn a_proposal_on_a_branch_leaves_the_original_branch_as_it_was() {
    let home = Home::new();
    let git = home.git();
    let repo = home.repository("repo");
    let before = git.head(&repo).unwrap();

    git.create_branch(&repo, "evolve/x", None).unwrap();
    assert_eq!(git.head(&repo).unwrap(), before);
    git.switch(&repo, &SwitchTo::Branch("evolve/x".into()))
        .unwrap();
    write(&repo, "sub/new file", "x\n");
    write(&repo, "other", "not for the commit\n");
    fs_err::remove_file(repo.join("file")).unwrap();
    let paths = ["sub", "file"].map(Path::new);
    let commit = git
        .commit_paths(&repo, &paths, "Take edits over\n\n# kept", Some(&author()))
        .unwrap()
        .unwrap();

    let head = git.head(&repo).unwrap();
    assert_eq!(head.branch.as_deref(), Some("evolve/x"));
    assert_eq!(head.commit.as_deref(), Some(commit.as_str()));
    assert_eq!(
        home.run(&repo, &["log", "-1", "--format=%an <%ae>|%cn|%B"]),
        "Windlass <windlass@example.com>|Windlass|Take edits over\n\n# kept"
    );
    let mut names = git.diff_names(&repo, "HEAD~1", Some("HEAD")).unwrap();
    names.sort();
    assert_eq!(names, [Path::new("file"), Path::new("sub/new file")]);
    assert_eq!(git.changed_paths(&repo).unwrap(), [Path::new("other")]);

    git.switch(&repo, &SwitchTo::Branch("main".into())).unwrap();
    assert_eq!(git.head(&repo).unwrap(), before);
    assert!(repo.join("file").exists());
    git.delete_branch(&repo, "evolve/x").unwrap();
    assert_eq!(
        home.run(&repo, &["branch", "--format=%(refname:short)"]),
        "main"
    );
}

#[test]
fn what_was_staged_before_is_not_committed() {
    let home = Home::new();
    let git = home.git();
    let repo = home.repository("repo");
    write(&repo, "staged", "x\n");
    home.run(&repo, &["add", "staged"]);
    write(&repo, "mine", "y\n");
    git.commit_paths(&repo, &[Path::new("mine")], "Mine", None)
        .unwrap()
        .unwrap();
    let names = git.diff_names(&repo, "HEAD~1", Some("HEAD")).unwrap();
    assert_eq!(names, [Path::new("mine")]);
    assert_eq!(home.run(&repo, &["log", "-1", "--format=%an"]), "Ann");
}

#[test]
fn nothing_to_commit_is_not_a_failure() {
    let home = Home::new();
    let git = home.git();
    let repo = home.repository("repo");
    let before = git.head(&repo).unwrap();
    let commit = git.commit_paths(&repo, &[Path::new("file")], "Nothing", None);
    assert_eq!(commit.unwrap(), None);
    assert_eq!(git.commit_paths(&repo, &[], "Nothing", None).unwrap(), None);
    assert_eq!(git.head(&repo).unwrap(), before);
}

#[test]
fn the_first_commit_and_paths_with_stars() {
    let home = Home::new();
    let git = home.git();
    let repo = home.path().join("repo");
    git.init(&repo).unwrap();
    git.switch(&repo, &SwitchTo::NewBranch("start".into()))
        .unwrap();
    write(&repo, "*", "star\n");
    write(&repo, "other", "x\n");
    write(&repo, ":(top)odd", "x\n");
    let paths = ["*", ":(top)odd"].map(Path::new);
    let commit = git.commit_paths(&repo, &paths, "First", None).unwrap();
    assert!(commit.is_some());
    assert_eq!(git.head(&repo).unwrap().branch.as_deref(), Some("start"));
    assert_eq!(git.changed_paths(&repo).unwrap(), [Path::new("other")]);
}

#[test]
fn a_hook_of_a_trusted_repository_runs_and_may_refuse() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = Home::new();
    let git = home.git().with_trust(Arc::new(TrustEverything));
    let repo = home.repository("repo");
    let hook = repo.join(".git/hooks/pre-commit");
    write(
        &repo,
        ".git/hooks/pre-commit",
        "#!/bin/sh\necho not today >&2\nexit 1\n",
    );
    fs_err::set_permissions(hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    write(&repo, "mine", "y\n");
    let error = git
        .commit_paths(&repo, &[Path::new("mine")], "Mine", None)
        .unwrap_err();
    let GitError::Failed { stderr, code, .. } = error else {
        panic!("{error:?}");
    };
    assert_eq!((stderr.as_str(), code), ("not today\n", Some(1)));
    // The file is there, but not in the way of a switch.
    assert_eq!(home.run(&repo, &["status", "--porcelain"]), "?? mine");
}

#[test]
fn an_ignored_path_is_not_committed() {
    let home = Home::new();
    let git = home.git();
    let repo = home.repository("repo");
    write(&repo, ".gitignore", "*.log\n");
    write(&repo, "a.log", "x\n");
    let paths = [".gitignore", "a.log"].map(Path::new);
    let error = git.commit_paths(&repo, &paths, "Log", None).unwrap_err();
    assert!(error.to_string().contains("a.log"), "{error}");
    assert_eq!(home.run(&repo, &["status", "--porcelain"]), "?? .gitignore");
}

#[test]
fn a_switch_that_would_lose_changes_fails() {
    let home = Home::new();
    let git = home.git();
    let repo = home.repository("repo");
    git.switch(&repo, &SwitchTo::NewBranch("other".into()))
        .unwrap();
    write(&repo, "file", "two\n");
    git.commit_paths(&repo, &[Path::new("file")], "Two", None)
        .unwrap();
    write(&repo, "file", "three\n");
    let error = git
        .switch(&repo, &SwitchTo::Branch("main".into()))
        .unwrap_err();
    assert!(matches!(error, GitError::Failed { .. }));
    assert_eq!(
        fs_err::read_to_string(repo.join("file")).unwrap(),
        "three\n"
    );

    home.run(&repo, &["restore", "file"]);
    let first = home.run(&repo, &["rev-parse", "main"]);
    git.switch(&repo, &SwitchTo::Commit(first.clone())).unwrap();
    let head = git.head(&repo).unwrap();
    assert_eq!((head.branch, head.commit), (None, Some(first)));
}

#[test]
fn a_branch_at_a_revision_and_names_that_are_refused() {
    let home = Home::new();
    let git = home.git();
    let repo = home.repository("repo");
    let first = git.head(&repo).unwrap().commit.unwrap();
    write(&repo, "file", "two\n");
    git.commit_paths(&repo, &[Path::new("file")], "Two", None)
        .unwrap();
    git.create_branch(&repo, "old", Some("HEAD~1")).unwrap();
    assert_eq!(home.run(&repo, &["rev-parse", "old"]), first);

    for name in ["-D", "--force", "HEAD", "refs/heads/x", "a..b", "a b", ""] {
        for result in [
            git.create_branch(&repo, name, None),
            git.delete_branch(&repo, name),
            git.switch(&repo, &SwitchTo::Branch(name.into())),
            git.switch(&repo, &SwitchTo::NewBranch(name.into())),
        ] {
            assert!(matches!(result, Err(GitError::Refused(_))), "{name:?}");
        }
    }
    let result = git.switch(&repo, &SwitchTo::Commit("--orphan=x".into()));
    assert!(matches!(result, Err(GitError::Refused(_))));
    let result = git.create_branch(&repo, "x", Some("--list"));
    assert!(matches!(result, Err(GitError::Refused(_))));
}

#[test]
fn a_change_applies_to_the_given_repository_even_inside_a_hook() {
    let home = Home::new();
    let repo = home.repository("repo");
    let other = home.repository("other");
    // What git sets for a hook of the other repository.
    let (git_dir, index) = (other.join(".git"), other.join(".git/index"));
    let git = GitProgram::new(home.variables(&[
        ("GIT_DIR", &git_dir),
        ("GIT_WORK_TREE", &other),
        ("GIT_INDEX_FILE", &index),
    ]));
    let before = home.git().head(&other).unwrap();
    write(&repo, "mine", "y\n");
    let commit = git
        .commit_paths(&repo, &[Path::new("mine")], "Mine", None)
        .unwrap();
    assert_eq!(git.head(&repo).unwrap().commit, commit);
    assert_eq!(home.git().head(&other).unwrap(), before);
    assert!(home.git().is_clean(&other).unwrap());
}
