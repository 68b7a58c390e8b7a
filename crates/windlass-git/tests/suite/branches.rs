//! Branches moved by comparing first.

use windlass_ports::git::{Git as _, GitError};

use super::support::Home;

#[test]
fn a_branch_moves_only_from_where_it_is_expected() {
    let home = Home::new();
    let git = home.git();
    let repo = home.repository("site");
    let first = home.run(&repo, &["rev-parse", "HEAD"]);
    home.run(
        &repo,
        &["commit", "--quiet", "--allow-empty", "-m", "second"],
    );
    let second = home.run(&repo, &["rev-parse", "HEAD"]);
    let name = "launch/r_1/site";
    let at = || git.branch_commit(&repo, name).unwrap();
    let moved = |result: Result<(), GitError>| match result {
        Err(GitError::Moved { found, .. }) => found,
        other => panic!("{other:?}"),
    };

    assert_eq!(at(), None);
    assert_eq!(
        moved(git.set_branch(&repo, name, &first, Some(&second))),
        None
    );
    git.set_branch(&repo, name, &first, None).unwrap();
    assert_eq!(at().as_ref(), Some(&first));
    assert_eq!(
        moved(git.set_branch(&repo, name, &second, None)).as_ref(),
        Some(&first)
    );
    git.set_branch(&repo, name, &second, Some(&first)).unwrap();
    assert_eq!(
        moved(git.remove_branch(&repo, name, &first)).as_ref(),
        Some(&second)
    );
    assert_eq!(at().as_ref(), Some(&second));
    git.remove_branch(&repo, name, &second).unwrap();
    git.remove_branch(&repo, name, &second).unwrap();
    assert_eq!(at(), None);

    let error = git
        .set_branch(&repo, name, &"1".repeat(40), None)
        .unwrap_err();
    assert!(matches!(error, GitError::Failed { .. }), "{error}");
    for bad in ["refs/heads/x", "HEAD", "-d", "a..b"] {
        let error = git.set_branch(&repo, bad, &first, None).unwrap_err();
        assert!(matches!(error, GitError::Refused(_)), "{error}");
    }
}

#[test]
fn a_branch_that_is_checked_out_is_not_touched() {
    let home = Home::new();
    let git = home.git();
    let repo = home.repository("site");
    let first = home.run(&repo, &["rev-parse", "HEAD"]);
    home.run(&repo, &["branch", "launch/other"]);
    home.run(
        &repo,
        &["worktree", "add", "--quiet", "../tree", "launch/other"],
    );
    for branch in ["main", "launch/other"] {
        for result in [
            git.set_branch(&repo, branch, &first, Some(&first)),
            git.remove_branch(&repo, branch, &first),
        ] {
            let error = result.unwrap_err();
            assert!(error.to_string().contains("checked out"), "{error}");
        }
        assert_eq!(
            git.branch_commit(&repo, branch).unwrap().as_ref(),
            Some(&first)
        );
    }
    // In a bare repository HEAD names a branch that is not checked out.
    let (bare, _) = home.bare("bare");
    home.run(&bare, &["fetch", "--quiet", "../site", "main:main"]);
    home.run(
        &bare,
        &["config", "--global", "safe.bareRepository", "explicit"],
    );
    git.set_branch(&bare, "launch/x", &first, None).unwrap();
    assert_eq!(git.branch_commit(&bare, "launch/x").unwrap(), Some(first));
}
