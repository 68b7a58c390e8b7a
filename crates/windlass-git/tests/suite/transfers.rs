//! Resolving, checkouts, pull and push between repositories on this machine.

use std::path::Path;

use windlass_ports::git::{Checkout, Git as _, GitError, PullMode};

use super::support::Home;

fn commit(home: &Home, repo: &Path, text: &str) -> String {
    fs_err::write(repo.join("file"), text).unwrap();
    home.run(repo, &["commit", "--quiet", "--all", "-m", text]);
    home.run(repo, &["rev-parse", "HEAD"])
}

/// A repository, its address and its first commit.
fn source(home: &Home) -> (std::path::PathBuf, String, String) {
    let repo = home.repository("source repo");
    let url = format!("file://{}", repo.display());
    let first = home.run(&repo, &["rev-parse", "HEAD"]);
    (repo, url, first)
}

#[test]
fn branches_and_tags_name_commits() {
    let home = Home::new();
    let git = home.git();
    let (repo, url, first) = source(&home);
    home.run(&repo, &["tag", "light"]);
    home.run(&repo, &["tag", "-a", "-m", "x", "v1"]);
    let second = commit(&home, &repo, "two\n");
    // A branch and an annotated tag of one name: the tag; a plain tag: the branch.
    home.run(&repo, &["branch", "v1"]);
    home.run(&repo, &["branch", "light"]);
    // Names that end like the one that is asked for.
    home.run(&repo, &["branch", "team/main", &first]);
    home.run(&repo, &["update-ref", "refs/x/refs/heads/main", &first]);

    for (reference, expected) in [
        ("main", &second),
        ("team/main", &first),
        ("v1", &first),
        ("light", &second),
        ("refs/heads/v1", &second),
        ("refs/tags/v1", &first),
        ("HEAD", &second),
        (first.to_uppercase().as_str(), &first),
    ] {
        assert_eq!(
            &git.resolve(&url, reference).unwrap(),
            expected,
            "{reference}"
        );
    }
    assert_eq!(
        git.resolve(&url, "absent").unwrap_err().to_string(),
        format!("branch or tag `absent` does not exist in {url}")
    );
}

#[test]
fn must_25_options_and_other_transports_never_reach_git() {
    let home = Home::new();
    let git = home.git();
    let (_, url, first) = source(&home);
    let directory = home.path().join("checkout");
    let mark = home.path().join("mark");
    let program = format!("ext::touch {}", mark.display());
    for url in [
        program.as_str(),
        "--upload-pack=touch mark",
        "/srv/a.git",
        "http://h/a",
    ] {
        assert!(matches!(
            git.resolve(url, "main"),
            Err(GitError::Refused(_))
        ));
        let checkout = Checkout {
            url,
            commit: &first,
            shallow: true,
            directory: &directory,
        };
        assert!(matches!(git.checkout(&checkout), Err(GitError::Refused(_))));
    }
    for reference in ["--exec=x", "a*", ""] {
        assert!(matches!(
            git.resolve(&url, reference),
            Err(GitError::Refused(_))
        ));
    }
    assert!(!mark.exists() && !directory.exists());
}

#[test]
fn a_checkout_is_of_its_commit_whether_tip_or_not() {
    let home = Home::new();
    let git = home.git();
    let (repo, url, first) = source(&home);
    let second = commit(&home, &repo, "two\n");
    for (name, id, shallow, text) in [
        ("tip", &second, true, "two\n"),
        ("older", &first, true, "one\n"),
        ("full", &first, false, "one\n"),
    ] {
        let directory = home.path().join("cache/url").join(name);
        let checkout = Checkout {
            url: &url,
            commit: id,
            shallow,
            directory: &directory,
        };
        git.checkout(&checkout).unwrap();
        assert_eq!(
            fs_err::read_to_string(directory.join("file")).unwrap(),
            text
        );
        let head = git.head(&directory).unwrap();
        assert_eq!((head.branch, head.commit.as_ref()), (None, Some(id)));
        assert_eq!(
            git.remote_url(&directory, "origin").unwrap().as_ref(),
            Some(&url)
        );
        assert!(git.is_clean(&directory).unwrap());
        let is_shallow = home.run(&directory, &["rev-parse", "--is-shallow-repository"]);
        assert_eq!(is_shallow, shallow.to_string());
        // A second time nothing is done.
        fs_err::write(directory.join("file"), "touched").unwrap();
        git.checkout(&checkout).unwrap();
        assert_eq!(
            fs_err::read_to_string(directory.join("file")).unwrap(),
            "touched"
        );
    }
    let left: Vec<_> = fs_err::read_dir(home.path().join("cache/url"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn a_server_without_single_commits_is_asked_for_everything() {
    let home = Home::new();
    let git = home.git();
    let (repo, url, first) = source(&home);
    commit(&home, &repo, "two\n");
    // The old protocol offers the ends of branches only.
    fs_err::write(
        home.path().join(".gitconfig"),
        "[protocol]\n\tversion = 0\n[user]\n\tname = a\n\temail = b\n",
    )
    .unwrap();
    let directory = home.path().join("older");
    let checkout = Checkout {
        url: &url,
        commit: &first,
        shallow: true,
        directory: &directory,
    };
    git.checkout(&checkout).unwrap();
    assert_eq!(
        fs_err::read_to_string(directory.join("file")).unwrap(),
        "one\n"
    );
}

#[test]
fn a_checkout_that_fails_leaves_nothing() {
    let home = Home::new();
    let git = home.git();
    let (_, url, _) = source(&home);
    let absent = "0123456789012345678901234567890123456789";
    let directory = home.path().join("cache/absent");
    let checkout = |url, commit| Checkout {
        url,
        commit,
        shallow: true,
        directory: &directory,
    };
    let error = git.checkout(&checkout(&url, absent)).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("commit `{absent}` does not exist in {url}")
    );
    let error = git
        .checkout(&checkout("file:///nowhere/at/all", absent))
        .unwrap_err();
    assert!(matches!(error, GitError::Failed { .. }), "{error:?}");
    let error = git.checkout(&checkout(&url, "main")).unwrap_err();
    assert!(matches!(error, GitError::Refused(_)), "{error:?}");
    let left = fs_err::read_dir(home.path().join("cache")).unwrap().count();
    assert_eq!(left, 0);
}

#[test]
fn nothing_of_a_foreign_repository_or_a_template_is_executed() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = Home::new();
    let git = home.git();
    let (_, url, first) = source(&home);
    let mark = home.path().join("mark");
    let hook = home.write(
        "template/hooks/post-checkout",
        &format!("#!/bin/sh\ntouch {}\n", mark.display()),
    );
    fs_err::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let hooks = hook.parent().unwrap().display().to_string();
    let template = home.path().join("template").display().to_string();
    home.write(
        ".gitconfig",
        &format!(
            "[init]\n\ttemplateDir = {template}\n[core]\n\thooksPath = {hooks}\n\tautocrlf = true\n"
        ),
    );
    let directory = home.path().join("checkout");
    git.checkout(&Checkout {
        url: &url,
        commit: &first,
        shallow: false,
        directory: &directory,
    })
    .unwrap();
    assert!(!mark.exists());
    // The same bytes on every machine, whatever the user's line ends are.
    assert_eq!(fs_err::read(directory.join("file")).unwrap(), b"one\n");
}

#[test]
fn two_clones_exchange_commits() {
    let home = Home::new();
    let git = home.git();
    let (bare, url) = home.bare("hub.git");
    let ours = home.repository("ours");
    git.set_remote(&ours, "origin", &url).unwrap();
    git.push(&ours, "origin", "main").unwrap();
    home.run(&home.path(), &["clone", "--quiet", &url, "theirs"]);
    let theirs = home.path().join("theirs");

    let their_commit = commit(&home, &theirs, "theirs\n");
    git.push(&theirs, "origin", "HEAD:refs/heads/main").unwrap();
    fs_err::write(ours.join("mine"), "mine\n").unwrap();
    git.commit_paths(&ours, &[Path::new("mine")], "Mine", None)
        .unwrap();

    let rejected = git.push(&ours, "origin", "main").unwrap_err();
    assert!(matches!(rejected, GitError::Failed { .. }));
    let diverged = git
        .pull(&ours, "origin", "main", PullMode::FastForward)
        .unwrap_err();
    assert!(matches!(diverged, GitError::Failed { .. }));
    git.pull(&ours, "origin", "main", PullMode::Rebase).unwrap();
    assert_eq!(home.run(&ours, &["rev-parse", "HEAD~1"]), their_commit);
    // By address as well as by name.
    git.push(&ours, &url, "main:refs/heads/main").unwrap();
    assert_eq!(
        home.run(&bare, &["rev-parse", "main"]),
        home.run(&ours, &["rev-parse", "HEAD"])
    );
    git.pull(&theirs, "origin", "main", PullMode::Configured)
        .unwrap();
    assert!(theirs.join("mine").exists());

    for refspec in ["+main", ":main", "--delete", "a b", "main:-x", "main:"] {
        let error = git.push(&ours, "origin", refspec).unwrap_err();
        assert!(matches!(error, GitError::Refused(_)), "{refspec}");
    }
    for remote in ["--mirror", "/srv/a", "ext::x", ""] {
        let error = git.push(&ours, remote, "main").unwrap_err();
        assert!(matches!(error, GitError::Refused(_)), "{remote}");
        let error = git
            .pull(&ours, remote, "main", PullMode::Rebase)
            .unwrap_err();
        assert!(matches!(error, GitError::Refused(_)), "{remote}");
    }
}
