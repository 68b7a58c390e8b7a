//! No git, a git that never ends, a git that would ask, and what messages hide.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use windlass_git::GitProgram;
use windlass_ports::git::{Git as _, GitError, PullMode};

use super::support::Home;

/// A `git` that is a script, and the environment in which it is found.
fn scripted(home: &Home, script: &str) -> Vec<(OsString, OsString)> {
    // The question for settings comes before others.
    let settings = "[ \"$1\" = config ] && exit 0";
    let program = home.write("bin/git", &format!("#!/bin/sh\n{settings}\n{script}\n"));
    fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut path = program.parent().unwrap().as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    vec![("HOME".into(), home.path().into()), ("PATH".into(), path)]
}

#[test]
fn without_git_every_call_reports_it() {
    let home = Home::new();
    let empty = home.path().join("empty");
    fs_err::create_dir_all(&empty).unwrap();
    let repo = home.repository("repo");
    // A relative entry is no place to find programs in: the repository could bring its own.
    let mut path = empty.into_os_string();
    path.push(":bin:.:");
    let git = GitProgram::new([("PATH".into(), path), ("HOME".into(), home.path().into())]);
    for result in [
        git.toplevel(&repo).map(drop),
        git.remote_url(&repo, "origin").map(drop),
        git.head(&repo).map(drop),
        git.is_clean(&repo).map(drop),
        git.init(&home.path().join("new")),
    ] {
        let error = result.unwrap_err();
        assert!(matches!(error, GitError::NotInstalled), "{error:?}");
        assert_eq!(error.to_string(), "git is not installed or not on the PATH");
    }
    assert!(!home.path().join("new").exists());
    let none = GitProgram::new([]);
    assert!(matches!(none.toplevel(&repo), Err(GitError::NotInstalled)));
}

#[test]
fn a_call_that_does_not_end_is_stopped() {
    let home = Home::new();
    let repo = home.repository("repo");
    let git = GitProgram::new(scripted(&home, "sleep 600 & wait"))
        .with_timeout(Duration::from_millis(50));
    let error = git
        .pull(&repo, "origin", "main", PullMode::FastForward)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "`git -c core.hooksPath=/dev/null pull --quiet --ff-only --upload-pack=git-upload-pack -- origin main` in {} did not end within 0 s and was stopped",
            repo.display()
        )
    );
}

#[test]
fn git_cannot_prompt() {
    let home = Home::new();
    let repo = home.repository("repo");
    let seen = home.path().join("seen");
    let script = format!(
        "{{ env | grep -E '^(GIT_|SSH_|LC_ALL)' | grep -v GIT_CONFIG_ | sort; cat; }} > {}; exit 1",
        seen.display()
    );
    let mut variables = scripted(&home, &script);
    variables.push(("GIT_EDITOR".into(), "vi".into()));
    variables.push(("GIT_DIR".into(), "/elsewhere".into()));
    let git = GitProgram::new(variables);
    git.push(&repo, "origin", "main").unwrap_err();
    assert_eq!(
        fs_err::read_to_string(&seen).unwrap(),
        "GIT_ALLOW_PROTOCOL=file:git:http:https:ssh\nGIT_EDITOR=:\nGIT_MERGE_AUTOEDIT=no\n\
         GIT_NO_LAZY_FETCH=1\nGIT_PAGER=cat\nGIT_PROXY_COMMAND=\nGIT_SEQUENCE_EDITOR=:\n\
         GIT_TERMINAL_PROMPT=0\nSSH_ASKPASS=false\nSSH_ASKPASS_REQUIRE=force\n"
    );
}

#[test]
fn credentials_do_not_appear_in_messages() {
    let home = Home::new();
    let script = "echo \"fatal: unable to access '$4'\" >&2; exit 128";
    let git = GitProgram::new(scripted(&home, script));
    let error = git
        .resolve("https://ann:secret@example.com/a.git", "main")
        .unwrap_err();
    let message = format!("{error} {error:?}");
    assert!(
        message.contains("https://***@example.com/a.git"),
        "{message}"
    );
    assert!(!message.contains("secret"), "{message}");
}

#[test]
fn a_directory_that_is_not_there_is_named() {
    let home = Home::new();
    let absent = home.path().join("absent");
    let error = home.git().is_clean(&absent).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("cannot run git in {}", absent.display())
    );
    assert!(home.git().toplevel(Path::new("/")).unwrap().is_none());
}
