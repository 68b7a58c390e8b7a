//! The shortcut is taken where it should be. That it agrees with git is shown by the suite.

use std::ffi::OsString;
use std::process::Command;

use super::*;

fn environment(home: &Path) -> Environment {
    Environment::new([
        (OsString::from("HOME"), home.as_os_str().to_owned()),
        ("PATH".into(), "/usr/bin:/bin".into()),
    ])
}

fn git(directory: &Path, args: &[&str]) {
    let status = Command::new("git")
        .current_dir(directory)
        .args(["-c", "user.name=a", "-c", "user.email=a@b"])
        .args(args)
        .status()
        .unwrap();
    assert!(status.success(), "{args:?}");
}

#[test]
fn a_plain_repository_needs_no_process() {
    let home = tempfile::tempdir().unwrap();
    let repo = home.path().canonicalize().unwrap().join("a repo");
    let inside = repo.join("x/y");
    fs_err::create_dir_all(&inside).unwrap();
    git(&repo, &["init", "--quiet", "--initial-branch=main"]);
    git(&repo, &["remote", "add", "origin", "https://h/a.git"]);
    let environment = environment(home.path());
    let scope = Scope::AsGitSeesIt;

    assert_eq!(
        toplevel(&environment, scope, &inside),
        Certainty::Certain(Some(repo.clone()))
    );
    let unborn = Head {
        branch: Some("main".to_owned()),
        commit: None,
    };
    assert_eq!(
        head(&environment, scope, &inside),
        Certainty::Certain(unborn)
    );
    let outside = toplevel(&environment, scope, home.path());
    assert_eq!(outside, Certainty::Certain(None));

    git(&repo, &["commit", "--quiet", "--allow-empty", "-m", "one"]);
    let loose = head(&environment, scope, &inside);
    git(&repo, &["pack-refs", "--all"]);
    assert_eq!(head(&environment, scope, &inside), loose);
    assert!(matches!(
        loose,
        Certainty::Certain(Head {
            commit: Some(_),
            ..
        })
    ));

    // Where git has its own file is known in these places only, and that file may have a say.
    let known = ["/usr/bin/git", "/usr/local/bin/git"].map(Path::new);
    for program in known {
        if !config::others_are_silent(&environment, program) {
            continue;
        }
        let url = |remote| remote_url(&environment, scope, program, &inside, remote);
        let origin = "https://h/a.git".to_owned();
        assert_eq!(url("origin"), Certainty::Certain(Some(origin)));
        assert_eq!(url("absent"), Certainty::Certain(None));
    }
}
