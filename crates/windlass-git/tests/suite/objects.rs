//! Commits built from contents, in repositories with work in progress.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use windlass_ports::git::{Author, FileChange, Git as _, GitError, NewCommit};
use windlass_types::Timestamp;

use super::support::{Home, author};

fn write(path: &str, content: &str) -> FileChange {
    FileChange {
        path: path.to_owned(),
        content: Some(content.as_bytes().to_owned()),
    }
}

fn remove(path: &str) -> FileChange {
    FileChange {
        path: path.to_owned(),
        content: None,
    }
}

/// So that looking runs nothing.
const QUIET: [&str; 8] = [
    "-c",
    "i18n.logOutputEncoding=UTF-8",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "filter.evil.clean=cat",
];

/// Everything in a directory that a commit of ours must leave alone.
fn state(home: &Home, repo: &Path) -> (String, String, Vec<u8>, Vec<PathBuf>) {
    let mut own: Vec<PathBuf> = fs_err::read_dir(repo.join(".git"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    own.sort();
    (
        home.run(
            repo,
            &[
                &QUIET[..],
                &[
                    "--no-optional-locks",
                    "status",
                    "--porcelain=v2",
                    "--branch",
                ],
            ]
            .concat(),
        ),
        home.run(repo, &["for-each-ref"]),
        fs_err::read(repo.join(".git/index")).unwrap(),
        own,
    )
}

#[test]
fn a_commit_is_created_and_nothing_else_is_touched() {
    let home = Home::new();
    let git = home.git();
    let repo = home.repository("site");
    fs_err::write(repo.join("gone"), "x").unwrap();
    fs_err::write(repo.join("tool"), "x").unwrap();
    fs_err::set_permissions(repo.join("tool"), PermissionsExt::from_mode(0o755)).unwrap();
    fs_err::write(repo.join(".gitattributes"), "* text eol=lf filter=evil\n").unwrap();
    home.run(&repo, &["add", "."]);
    home.run(&repo, &["commit", "--quiet", "-m", "base"]);
    let base = home.run(&repo, &["rev-parse", "HEAD"]);
    // Uncommitted edits, staged and not.
    fs_err::write(repo.join("file"), "edited\n").unwrap();
    fs_err::write(repo.join("staged"), "staged\n").unwrap();
    home.run(&repo, &["add", "staged"]);
    // Everything that could run, and settings that would change what is written.
    let mark = home.path().join("mark");
    let evil = format!("touch '{}'; false", mark.display());
    for (key, value) in [
        ("filter.evil.clean", evil.as_str()),
        ("filter.evil.required", "true"),
        ("core.fsmonitor", &evil),
        ("commit.gpgSign", "true"),
        ("gpg.program", &evil),
        ("core.splitIndex", "true"),
        ("core.autocrlf", "true"),
        ("i18n.commitEncoding", "latin1"),
        ("core.sparseCheckout", "true"),
    ] {
        home.run(&repo, &["config", key, value]);
    }
    for hook in ["reference-transaction", "post-index-change", "pre-commit"] {
        let place = home.write(
            &format!("site/.git/hooks/{hook}"),
            &format!("#!/bin/sh\n{evil}\n"),
        );
        fs_err::set_permissions(place, PermissionsExt::from_mode(0o755)).unwrap();
    }
    let state = || state(&home, &repo);
    let before = state();

    let files = [
        write("content/new page.md", "# Naïve\r\n"),
        write("file", "two\n"),
        write("tool", "y"),
        remove("gone"),
    ];
    let request = NewCommit {
        base: &base,
        files: &files,
        message: "Subject\n\nBody: é\n",
        author: &author(),
        time: Timestamp::from_millis(1_700_000_000_123),
    };
    let commit = git.commit_files(&repo, &request).unwrap();
    git.set_branch(&repo, "launch/r/one", &commit, None)
        .unwrap();
    git.remove_branch(&repo, "launch/r/one", &commit).unwrap();
    assert!(!mark.exists());
    assert_eq!(state(), before);

    let show = |args: &[&str]| home.run(&repo, &[&QUIET[..], args].concat());
    assert_eq!(
        show(&[
            "show",
            "--quiet",
            "--format=%an <%ae> %at %cn <%ce> %ct|%B|%e|%G?|%P",
            &commit
        ]),
        format!(
            "Windlass <windlass@example.com> 1700000000 Windlass <windlass@example.com> \
             1700000000|Subject\n\nBody: é\n||N|{base}"
        )
    );
    assert_eq!(
        show(&[
            "diff",
            "--raw",
            "--abbrev=1",
            "--no-renames",
            "--name-status",
            &base,
            &commit
        ]),
        "A\tcontent/new page.md\nM\tfile\nD\tgone\nM\ttool"
    );
    let blob = |path: &str| git.blob(&repo, &commit, Path::new(path)).unwrap();
    assert_eq!(
        blob("content/new page.md").unwrap(),
        "# Naïve\r\n".as_bytes()
    );
    assert!(show(&["ls-tree", &commit, "tool"]).starts_with("100755"));

    // The same again is the same; a bare repository gives the same.
    assert_eq!(git.commit_files(&repo, &request).unwrap(), commit);
    let bare = home.path().join("bare");
    git.fetch_commit(&bare, &format!("file://{}", repo.display()), &base)
        .unwrap();
    assert_eq!(git.commit_files(&bare, &request).unwrap(), commit);
}

#[test]
fn requests_that_cannot_be_met_are_refused() {
    let home = Home::new();
    let git = home.git();
    let repo = home.repository("site");
    let base = home.run(&repo, &["rev-parse", "HEAD"]);
    let good = [write("a", "x")];
    let by = author();
    let request = |files| NewCommit {
        base: &base,
        files,
        message: "m",
        author: &by,
        time: Timestamp::EPOCH,
    };
    git.commit_files(&repo, &request(&good)).unwrap();
    let bad = [
        [write("../x", "")],
        [write(".git/config", "")],
        [write("file/below", "")],
        [remove("absent")],
    ];
    for files in &bad {
        let result = git.commit_files(&repo, &request(files));
        assert!(
            matches!(result, Err(GitError::Refused(_) | GitError::Missing { .. })),
            "{result:?}"
        );
    }
    let nobody = Author {
        name: "A <b>\nc".to_owned(),
        email: String::new(),
    };
    for request in [
        NewCommit {
            base: "HEAD",
            ..request(&good)
        },
        NewCommit {
            message: " ",
            ..request(&good)
        },
        NewCommit {
            author: &nobody,
            ..request(&good)
        },
    ] {
        let result = git.commit_files(&repo, &request);
        assert!(matches!(result, Err(GitError::Refused(_))), "{result:?}");
    }
    let absent = "1".repeat(40);
    let result = git.commit_files(
        &repo,
        &NewCommit {
            base: &absent,
            ..request(&good)
        },
    );
    assert!(
        matches!(result, Err(GitError::Missing { .. })),
        "{result:?}"
    );
}
