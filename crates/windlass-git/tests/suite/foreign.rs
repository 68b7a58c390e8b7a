//! Commits of repositories that are not trusted: fetched, and nothing of them is run.

use std::path::{Path, PathBuf};

use windlass_ports::git::{Git as _, GitError, RemoteHead};

use super::support::Home;

/// A repository with two commits, its address and their ids.
fn source(home: &Home) -> (PathBuf, String, [String; 2]) {
    let repo = home.repository("source repo");
    let first = home.run(&repo, &["rev-parse", "HEAD"]);
    fs_err::write(repo.join("file"), "two\n").unwrap();
    home.run(&repo, &["commit", "--quiet", "--all", "-m", "second"]);
    let second = home.run(&repo, &["rev-parse", "HEAD"]);
    let url = format!("file://{}", repo.display());
    (repo, url, [first, second])
}

fn commits_of(home: &Home, bare: &Path, commit: &str) -> String {
    home.run(bare, &["rev-list", "--count", commit])
}

#[test]
fn a_commit_is_fetched_alone_and_once() {
    let home = Home::new();
    let git = home.git();
    let (repo, url, [first, second]) = source(&home);
    let bare = home.path().join("data/product.git");
    git.fetch_commit(&bare, &url, &second).unwrap();
    assert_eq!(commits_of(&home, &bare, &second), "1");
    git.fetch_commit(&bare, &url, &first.to_uppercase())
        .unwrap();
    assert_eq!(
        git.blob(&bare, &first, Path::new("file")).unwrap().unwrap(),
        b"one\n"
    );
    // What is here is not asked for again.
    fs_err::remove_dir_all(&repo).unwrap();
    git.fetch_commit(&bare, &url, &second).unwrap();
    assert!(git.fetch_commit(&bare, &url, &"1".repeat(40)).is_err());
    // Nothing of the address stays behind.
    let config = fs_err::read_to_string(bare.join("config")).unwrap();
    assert!(!config.contains("source"), "{config}");
    assert!(!bare.join("hooks").exists() && !bare.join("FETCH_HEAD").exists());
}

#[test]
fn a_server_that_refuses_single_commits_sends_all_of_them() {
    let home = Home::new();
    let (_, url, [first, _]) = source(&home);
    let settings = "[protocol]\n\tversion = 0\n[protocol \"file\"]\n\tallow = always\n";
    home.write(".gitconfig", settings);
    let git = home.git();
    let bare = home.path().join("bare");
    git.fetch_commit(&bare, &url, &first).unwrap();
    assert_eq!(commits_of(&home, &bare, &first), "1");
    git.fetch_commit(&bare, &url, &first).unwrap();
}

#[test]
fn what_is_no_commit_of_the_other_side_is_missing() {
    let home = Home::new();
    let git = home.git();
    let (repo, url, [first, second]) = source(&home);
    let tree = home.run(&repo, &["rev-parse", "HEAD^{tree}"]);
    home.run(&repo, &["tag", "-a", "-m", "x", "v1"]);
    let tag = home.run(&repo, &["rev-parse", "v1"]);
    let bare = home.path().join("bare");
    for id in ["1".repeat(40), tree, tag] {
        for _ in 0..2 {
            let error = git.fetch_commit(&bare, &url, &id).unwrap_err();
            assert!(matches!(error, GitError::Missing { .. }), "{error}");
        }
    }
    for id in [&first[..39], "main", "--help", ""] {
        let error = git.fetch_commit(&bare, &url, id).unwrap_err();
        assert!(matches!(error, GitError::Refused(_)), "{error}");
    }
    let absent = format!("file://{}/absent", home.path().display());
    let error = git.fetch_commit(&bare, &absent, &second).unwrap_err();
    assert!(matches!(error, GitError::Failed { .. }), "{error}");
}

#[test]
fn long_ids_work_as_well() {
    let home = Home::new();
    let git = home.git();
    let repo = home.path().join("long");
    fs_err::create_dir(&repo).unwrap();
    home.run(&repo, &["init", "--quiet", "--object-format=sha256"]);
    fs_err::write(repo.join("file"), "long\n").unwrap();
    home.run(&repo, &["add", "."]);
    home.run(&repo, &["commit", "--quiet", "-m", "first"]);
    let id = home.run(&repo, &["rev-parse", "HEAD"]);
    let bare = home.path().join("bare");
    git.fetch_commit(&bare, &format!("file://{}", repo.display()), &id)
        .unwrap();
    let files = home.path().join("files");
    git.export(&bare, &id, &files).unwrap();
    assert_eq!(
        fs_err::read_to_string(files.join("file")).unwrap(),
        "long\n"
    );
}

#[test]
fn nothing_of_a_hostile_source_is_run() {
    let home = Home::new();
    let git = home.git();
    let (repo, url, [_, second]) = source(&home);
    let mark = home.path().join("mark");
    let program = home.write(
        "evil",
        &format!("#!/bin/sh\ntouch '{}'\nexit 1\n", mark.display()),
    );
    home.run(&repo, &["config", "core.fileMode", "false"]);
    let mut permissions = fs_err::metadata(&program).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    fs_err::set_permissions(&program, permissions).unwrap();
    let program = program.display().to_string();
    for key in [
        "uploadpack.packObjectsHook",
        "core.fsmonitor",
        "core.sshCommand",
        "core.alternateRefsCommand",
        "credential.helper",
        "filter.x.smudge",
        "gpg.program",
        "core.pager",
    ] {
        home.run(&repo, &["config", key, &program]);
    }
    for hook in [
        "post-checkout",
        "reference-transaction",
        "post-update",
        "pre-auto-gc",
    ] {
        let place = repo.join(".git/hooks").join(hook);
        fs_err::create_dir_all(place.parent().unwrap()).unwrap();
        fs_err::copy(&program, place).unwrap();
    }
    let bare = home.path().join("bare");
    let files = home.path().join("files");
    git.fetch_commit(&bare, &url, &second).unwrap();
    git.export(&bare, &second, &files).unwrap();
    git.head_of(&url).unwrap();
    git.latest_release_tag(&url).unwrap();
    assert!(!mark.exists());
}

#[test]
fn a_remote_reports_its_default_branch() {
    let home = Home::new();
    let git = home.git();
    let (repo, url, [first, second]) = source(&home);
    home.run(&repo, &["update-ref", "refs/remotes/origin/HEAD", &first]);
    let on = |branch: Option<&str>| RemoteHead {
        branch: branch.map(str::to_owned),
        commit: second.clone(),
    };
    assert_eq!(git.head_of(&url).unwrap(), on(Some("main")));
    home.run(&repo, &["switch", "--quiet", "-c", "team/next"]);
    assert_eq!(git.head_of(&url).unwrap(), on(Some("team/next")));
    home.run(&repo, &["switch", "--quiet", "--detach"]);
    assert_eq!(git.head_of(&url).unwrap(), on(None));
    let (_, empty) = home.bare("empty");
    let error = git.head_of(&empty).unwrap_err();
    assert!(matches!(error, GitError::Missing { .. }), "{error}");
}

#[test]
fn the_latest_release_is_the_highest_version() {
    let home = Home::new();
    let git = home.git();
    let (repo, url, [first, _]) = source(&home);
    assert_eq!(git.latest_release_tag(&url).unwrap(), None);
    for tag in ["v1.9.0", "v2.0.0-rc.1", "nightly", "deep/v9.0"] {
        home.run(&repo, &["tag", tag, &first]);
    }
    home.run(&repo, &["tag", "-a", "-m", "x", "v1.10.0", &first]);
    assert_eq!(
        git.latest_release_tag(&url).unwrap().as_deref(),
        Some("v1.10.0")
    );
}
