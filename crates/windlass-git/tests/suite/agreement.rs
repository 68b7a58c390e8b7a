//! Toplevel, origin and HEAD compared with git itself, over repositories of every kind.

use std::path::{Path, PathBuf};

use windlass_git::GitProgram;
use windlass_ports::git::{Git as _, Head};

use super::support::{Home, plain_git};

/// Asks both for the three answers and compares them.
fn check(name: &str, home: &Home, directory: &Path, more: &[(&str, &Path)]) -> Answers {
    let variables = home.variables(more);
    let git = GitProgram::new(variables.clone());
    let ask = |args: &[&str]| {
        let output = plain_git(&variables, directory, args);
        let text = String::from_utf8(output.stdout).unwrap();
        let text = text.strip_suffix('\n').map(str::to_owned);
        text.filter(|_| output.status.success())
    };
    let expected = Answers {
        toplevel: ask(&["rev-parse", "--show-toplevel"]).map(PathBuf::from),
        origin: ask(&["remote", "get-url", "origin"]),
    };
    let actual = Answers {
        toplevel: git.toplevel(directory).unwrap(),
        origin: git.remote_url(directory, "origin").unwrap(),
    };
    assert_eq!(actual, expected, "{name}");

    // The position is always that of the directory's own repository.
    if more.is_empty() && expected.toplevel.is_some() {
        let head = Head {
            branch: ask(&["symbolic-ref", "--quiet", "--short", "HEAD"]),
            commit: ask(&["rev-parse", "--verify", "--quiet", "HEAD"]),
        };
        assert_eq!(git.head(directory).unwrap(), head, "{name}");
    }
    actual
}

#[derive(Debug, PartialEq)]
struct Answers {
    toplevel: Option<PathBuf>,
    origin: Option<String>,
}

const URL: &str = "https://example.com/team/a.git";

fn with_origin(home: &Home, name: &str) -> PathBuf {
    let repo = home.repository(name);
    home.run(&repo, &["remote", "add", "origin", URL]);
    repo
}

#[test]
fn plain_repositories() {
    let home = Home::new();
    let repo = with_origin(&home, "a repo with blanks");
    let inside = repo.join("deep/er");
    fs_err::create_dir_all(&inside).unwrap();
    for (name, directory) in [("top", &repo), ("inside", &inside)] {
        let answers = check(name, &home, directory, &[]);
        assert_eq!(answers.toplevel.as_ref(), Some(&repo));
        assert_eq!(answers.origin.as_deref(), Some(URL));
    }

    let link = home.path().join("link");
    std::os::unix::fs::symlink(&inside, &link).unwrap();
    assert_eq!(
        check("link", &home, &link, &[]).toplevel,
        Some(repo.clone())
    );

    home.run(&repo, &["pack-refs", "--all"]);
    check("packed references", &home, &repo, &[]);
    home.run(&repo, &["switch", "--quiet", "-c", "feature/x"]);
    check("branch with a slash", &home, &repo, &[]);
    home.run(&repo, &["switch", "--quiet", "--detach"]);
    check("detached", &home, &repo, &[]);
    home.run(&repo, &["switch", "--quiet", "--orphan", "empty"]);
    check("unborn", &home, &repo, &[]);
}

#[test]
fn repositories_without_origin_and_no_repository() {
    let home = Home::new();
    let repo = home.repository("none");
    assert_eq!(check("no remote", &home, &repo, &[]).origin, None);
    home.run(&repo, &["remote", "add", "upstream", URL]);
    assert_eq!(check("another remote", &home, &repo, &[]).origin, None);

    let outside = home.path().join("outside");
    fs_err::create_dir_all(&outside).unwrap();
    let answers = check("outside", &home, &outside, &[]);
    assert_eq!((answers.toplevel, answers.origin), (None, None));

    let broken = home.path().join("outside/.git");
    fs_err::create_dir_all(&broken).unwrap();
    check("an empty .git directory", &home, &outside, &[]);

    // The old forms of remotes.
    let old = repo.join(".git/remotes");
    fs_err::create_dir_all(&old).unwrap();
    fs_err::write(old.join("origin"), format!("URL: {URL}\n")).unwrap();
    check("a remotes file", &home, &repo, &[]);
}

#[test]
fn a_repository_inside_another() {
    let home = Home::new();
    let outer = with_origin(&home, "outer");
    let inner = home.repository("outer/inner");
    assert_eq!(check("inner", &home, &inner, &[]).origin, None);
    check("outer", &home, &outer, &[]);
    check("inside .git", &home, &outer.join(".git"), &[]);
    check("deep inside .git", &home, &outer.join(".git/hooks"), &[]);
}

#[test]
fn worktrees_submodules_git_files_and_links() {
    let home = Home::new();
    let repo = with_origin(&home, "repo");

    let tree = home.path().join("tree");
    home.run(
        &repo,
        &["worktree", "add", "--quiet", tree.to_str().unwrap()],
    );
    let answers = check("worktree", &home, &tree, &[]);
    assert_eq!(answers.toplevel.as_ref(), Some(&tree));
    assert_eq!(answers.origin.as_deref(), Some(URL));
    check("the main tree beside it", &home, &repo, &[]);

    let other = home.repository("other");
    let address = format!("file://{}", other.display());
    home.run(&repo, &["submodule", "--quiet", "add", &address, "sub"]);
    let answers = check("submodule", &home, &repo.join("sub"), &[]);
    assert_eq!(answers.toplevel, Some(repo.join("sub")));
    assert_eq!(answers.origin, Some(address));

    let elsewhere = home.path().join("elsewhere");
    home.run(
        &home.path(),
        &[
            "clone",
            "--quiet",
            "--separate-git-dir",
            "elsewhere.git",
            "repo",
            "elsewhere",
        ],
    );
    check("a .git file", &home, &elsewhere, &[]);

    let linked = home.path().join("linked");
    fs_err::create_dir_all(&linked).unwrap();
    std::os::unix::fs::symlink(repo.join(".git"), linked.join(".git")).unwrap();
    check("a .git link", &home, &linked, &[]);
}

#[test]
fn bare_repositories() {
    let home = Home::new();
    let (bare, _) = home.bare("bare.git");
    home.run(&bare, &["remote", "add", "origin", URL]);
    let answers = check("bare", &home, &bare, &[]);
    assert_eq!(answers.toplevel, None);
    assert_eq!(answers.origin.as_deref(), Some(URL));
    check("inside a bare one", &home, &bare.join("objects"), &[]);
}

#[test]
fn configuration_of_the_repository() {
    let home = Home::new();
    let elsewhere = home.path().join("work");
    fs_err::create_dir_all(&elsewhere).unwrap();
    home.write("extra", "[remote \"origin\"]\n\turl = https://included/\n");
    for (name, text) in [
        (
            "insteadOf",
            "[url \"ssh://mirror/\"]\n\tinsteadOf = https://example.com/\n",
        ),
        (
            "pushInsteadOf",
            "[url \"ssh://mirror/\"]\n\tpushInsteadOf = https://example.com/\n",
        ),
        ("include", "[include]\n\tpath = ../../extra\n"),
        (
            "includeIf",
            "[includeIf \"onbranch:main\"]\n\tpath = ../../extra\n",
        ),
        (
            "includeIf of another branch",
            "[includeIf \"onbranch:x\"]\n\tpath = ../../extra\n",
        ),
        (
            "a second url",
            "[remote \"origin\"]\n\turl = https://second/\n",
        ),
        ("an empty url", "[remote \"origin\"]\n\turl =\n"),
        (
            "a push url",
            "[remote \"origin\"]\n\tpushurl = https://push/\n",
        ),
        (
            "names in capitals",
            "[REMOTE \"origin\"]\n\tURL = https://second/\n",
        ),
        (
            "another subsection by case",
            "[remote \"Origin\"]\n\turl = https://second/\n",
        ),
        (
            "the dotted form",
            "[remote.origin]\n\turl = https://dotted/\n",
        ),
        ("one line", "[remote \"origin\"] url = https://second/\n"),
        ("windows line ends", "[a]\r\n\tb = c\r\n"),
        (
            "a continued line",
            "[remote \"origin\"]\n\turl = https://se\\\ncond/\n",
        ),
        ("core.worktree", "[core]\n\tworktree = ../../work\n"),
        ("core.bare", "[core]\n\tbare = true\n"),
        (
            "an extension",
            "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n",
        ),
        (
            "harmless settings",
            "[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[alias]\n\tx = \"!true\"\n",
        ),
    ] {
        let repo = with_origin(&home, "repo");
        let config = repo.join(".git/config");
        let before = fs_err::read_to_string(&config).unwrap();
        fs_err::write(&config, format!("{before}{text}")).unwrap();
        check(name, &home, &repo, &[]);
        // Before the section that it repeats, too.
        fs_err::write(&config, format!("{text}{before}")).unwrap();
        check(name, &home, &repo, &[]);
        fs_err::remove_dir_all(&repo).unwrap();
    }
}

#[test]
fn spellings_of_the_address() {
    let home = Home::new();
    let repo = with_origin(&home, "repo");
    let config = repo.join(".git/config");
    let before = fs_err::read_to_string(&config).unwrap();
    for spelled in [
        "\"https://quoted/\"",
        "https://half\"/ed\"",
        "https://comment/ # no",
        "https://comment/;no",
        "/path with blanks/a.git",
        "/path  with   more/a.git",
        "/path\twith tab",
        "https://end/   ",
        "https://ä/ö",
        "git@example.com:a.git",
        "../relative",
    ] {
        fs_err::write(&config, before.replace(URL, spelled)).unwrap();
        check(spelled, &home, &repo, &[]);
    }
}

#[test]
fn configuration_of_the_user() {
    let instead = "[url \"ssh://mirror/\"]\n\tinsteadOf = https://example.com/\n";
    for (name, file, text, origin) in [
        (
            "insteadOf",
            ".gitconfig",
            instead,
            "ssh://mirror/team/a.git",
        ),
        (
            "insteadOf in XDG",
            ".config/git/config",
            instead,
            "ssh://mirror/team/a.git",
        ),
        (
            "include",
            ".gitconfig",
            "[include]\n\tpath = more\n",
            "ssh://mirror/team/a.git",
        ),
        (
            "includeIf",
            ".gitconfig",
            "[includeIf \"gitdir:~/repo/\"]\n\tpath = more\n",
            "ssh://mirror/team/a.git",
        ),
        (
            "a remote",
            ".gitconfig",
            "[remote \"origin\"]\n\turl = https://user/\n",
            "https://user/",
        ),
    ] {
        let home = Home::new();
        let repo = with_origin(&home, "repo");
        home.write("more", instead);
        home.write(file, text);
        let answers = check(name, &home, &repo, &[]);
        assert_eq!(answers.origin.as_deref(), Some(origin), "{name}");
    }

    let home = Home::new();
    let repo = with_origin(&home, "repo");
    home.write("other/git/config", instead);
    let xdg = home.path().join("other");
    let answers = check(
        "XDG_CONFIG_HOME",
        &home,
        &repo,
        &[("XDG_CONFIG_HOME", &xdg)],
    );
    assert_eq!(answers.origin.as_deref(), Some("ssh://mirror/team/a.git"));
}

#[test]
fn variables() {
    let home = Home::new();
    let repo = with_origin(&home, "repo");
    let other = home.repository("other");
    home.run(&other, &["remote", "add", "origin", "https://other/"]);
    let instead = home.write(
        "instead",
        "[url \"ssh://mirror/\"]\n\tinsteadOf = https://example.com/\n",
    );
    let git_dir = other.join(".git");
    let inside = repo.join("inside");
    fs_err::create_dir_all(&inside).unwrap();

    let answers = check("GIT_DIR", &home, &repo, &[("GIT_DIR", &git_dir)]);
    assert_eq!(answers.origin.as_deref(), Some("https://other/"));
    let both: [(&str, &Path); 2] = [("GIT_DIR", &git_dir), ("GIT_WORK_TREE", &other)];
    let answers = check("GIT_DIR and GIT_WORK_TREE", &home, &repo, &both);
    assert_eq!(answers.toplevel, Some(other.clone()));
    let answers = check(
        "GIT_CEILING_DIRECTORIES",
        &home,
        &inside,
        &[("GIT_CEILING_DIRECTORIES", &repo)],
    );
    assert_eq!(answers.toplevel, None);
    for name in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"] {
        let answers = check(name, &home, &repo, &[(name, &instead)]);
        assert_eq!(answers.origin.as_deref(), Some("ssh://mirror/team/a.git"));
    }
    let count: [(&str, &Path); 3] = [
        ("GIT_CONFIG_COUNT", Path::new("1")),
        ("GIT_CONFIG_KEY_0", Path::new("url.ssh://mirror/.insteadOf")),
        ("GIT_CONFIG_VALUE_0", Path::new("https://example.com/")),
    ];
    let answers = check("GIT_CONFIG_COUNT", &home, &repo, &count);
    assert_eq!(answers.origin.as_deref(), Some("ssh://mirror/team/a.git"));
    check(
        "harmless",
        &home,
        &repo,
        &[("GIT_AUTHOR_NAME", Path::new("x"))],
    );
}

#[test]
fn a_repository_of_another_user_is_left_to_git() {
    let home = Home::new();
    let repo = with_origin(&home, "repo");
    // Only root may give files away; for everyone else there is nothing to see.
    if std::os::unix::fs::chown(&repo, Some(12345), None).is_err() {
        return;
    }
    let error = home.git().toplevel(&repo).unwrap_err();
    assert!(error.to_string().contains("dubious ownership"), "{error}");
    home.run(&repo, &["config", "--global", "safe.directory", "*"]);
    assert_eq!(
        check("safe", &home, &repo, &[]).toplevel,
        Some(repo.clone())
    );
}
