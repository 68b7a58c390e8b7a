//! A repository that names programs wherever git lets it: none runs until the user trusts it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_git::GitProgram;
use windlass_ports::git::{Git as _, GitError, PullMode, SwitchTo};
use windlass_ports::{Executables, Runs, Standing, Trust, TrustDecision, TrustNothing};
use windlass_testkit::TrustEverything;
use windlass_types::Problem;

use super::support::Home;

/// A repository whose every program leaves a file of its name, and where those files are.
struct Hostile {
    home: Home,
    repo: PathBuf,
    marks: PathBuf,
    upstream: PathBuf,
}

const HOOKS: [&str; 12] = [
    "pre-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "post-checkout",
    "post-merge",
    "post-rewrite",
    "pre-push",
    "pre-rebase",
    "reference-transaction",
    "post-index-change",
    "pre-auto-gc",
];

impl Hostile {
    fn new() -> Self {
        let home = Home::new();
        let (upstream, url) = home.bare("upstream.git");
        let repo = home.repository("repo");
        let marks = home.path().join("marks");
        fs_err::create_dir(&marks).unwrap();
        home.run(&repo, &["remote", "add", "origin", &url]);
        home.run(&repo, &["push", "--quiet", "origin", "main"]);
        let hostile = Self {
            home,
            repo,
            marks,
            upstream,
        };
        hostile.arm();
        hostile
    }

    /// The path of a program that leaves a mark and passes its input on.
    fn program(&self, name: &str) -> String {
        let mark = self.marks.join(name).display().to_string();
        let text = format!("#!/bin/sh\n: > '{mark}'\ncat\n");
        let path = self.home.write(&format!("programs/{name}"), &text);
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    }

    fn arm(&self) {
        let repo = &self.repo;
        fs_err::write(
            repo.join(".gitattributes"),
            "*.txt filter=plain diff=d merge=m\n*.bin filter=long\n*.md filter=inc\n",
        )
        .unwrap();
        for name in ["a.txt", "b.bin", "c.md"] {
            fs_err::write(repo.join(name), "one\n").unwrap();
        }
        self.home.run(repo, &["add", "."]);
        self.home.run(repo, &["commit", "--quiet", "-m", "files"]);
        self.home.run(repo, &["push", "--quiet", "origin", "main"]);
        self.home.run(repo, &["branch", "other"]);
        // Settings that come with the repository, one of them included from another file.
        let included = self.home.write(
            "included",
            &format!(
                "[filter \"inc\"]\n\tclean = {}\n\tsmudge = {}\n",
                self.program("inc-clean"),
                self.program("inc-smudge")
            ),
        );
        for (key, name) in [
            ("core.fsmonitor", "fsmonitor"),
            ("core.sshCommand", "ssh"),
            ("core.gitProxy", "proxy"),
            ("core.askPass", "askpass"),
            ("core.editor", "editor"),
            ("core.pager", "pager"),
            ("core.alternateRefsCommand", "alternates"),
            ("filter.plain.clean", "clean"),
            ("filter.plain.smudge", "smudge"),
            ("filter.long.process", "process"),
            ("diff.external", "external"),
            ("diff.d.command", "command"),
            ("diff.d.textconv", "textconv"),
            ("merge.m.driver", "driver"),
            ("gpg.program", "gpg"),
            ("credential.helper", "helper"),
            ("credential.https://127.0.0.1:1.helper", "helper"),
            ("remote.origin.uploadpack", "uploadpack"),
            ("remote.origin.receivepack", "receivepack"),
            ("remote.ssh.url", "url"),
            ("uploadpack.packObjectsHook", "packobjects"),
            ("sequence.editor", "sequence"),
            ("gc.recentObjectsHook", "recent"),
            ("hook.x.command", "configured-hook"),
        ] {
            self.home
                .run(repo, &["config", "--add", key, &self.program(name)]);
        }
        self.home
            .run(repo, &["config", "hook.x.event", "pre-commit"]);
        self.home.run(repo, &["config", "commit.gpgSign", "true"]);
        self.home
            .run(repo, &["config", "log.showSignature", "true"]);
        self.home.run(repo, &["config", "core.hooksPath", ".evil"]);
        let included = included.display().to_string();
        self.home.run(repo, &["config", "include.path", &included]);
        for directory in [".git/hooks", ".evil"] {
            for hook in HOOKS {
                let place = repo.join(directory).join(hook);
                fs_err::create_dir_all(place.parent().unwrap()).unwrap();
                fs_err::copy(self.program(hook), place).unwrap();
            }
        }
        // Not as the index knows them, so that git has to look into the files.
        for name in ["a.txt", "b.bin", "c.md", "file"] {
            age(&repo.join(name));
        }
        fs_err::remove_dir_all(&self.marks).unwrap();
        fs_err::create_dir(&self.marks).unwrap();
    }

    fn fired(&self) -> Vec<String> {
        let entries = fs_err::read_dir(&self.marks).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Asks every question of the port.
    fn ask_everything(&self, git: &GitProgram) {
        let repo = &self.repo;
        git.toplevel(repo).unwrap();
        git.remote_url(repo, "origin").unwrap();
        git.user_name(repo).unwrap();
        git.head(repo).unwrap();
        let commit = git.commit_of(repo, "HEAD").unwrap().unwrap();
        git.commit_time(repo, &commit).unwrap();
        let _ = git.changed_paths(repo).unwrap();
        git.blobs(repo, "HEAD", &[Path::new("a.txt"), Path::new("b.bin")])
            .unwrap();
        git.files_at(repo, "HEAD").unwrap();
        git.diff_names(repo, "HEAD", None).unwrap();
        git.diff_names(repo, "HEAD~1", Some("HEAD")).unwrap();
        git.is_ignored(repo, &[Path::new("a.txt")]).unwrap();
        git.branch_commit(repo, "other").unwrap();
        let url = format!("file://{}", self.upstream.display());
        git.resolve(&url, "main").unwrap();
        git.head_of(&url).unwrap();
        git.latest_release_tag(&url).unwrap();
    }
}

fn age(file: &Path) {
    let file = std::fs::File::options().append(true).open(file).unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
}

#[test]
fn questions_about_a_hostile_repository_run_nothing() {
    let hostile = Hostile::new();
    hostile.ask_everything(&hostile.home.git());
    assert_eq!(hostile.fired(), Vec::<String>::new());
}

#[test]
fn a_trusted_repository_runs_its_programs() {
    let hostile = Hostile::new();
    let git = hostile.home.git().with_trust(Arc::new(TrustEverything));
    let _ = git.changed_paths(&hostile.repo);
    let _ = git.diff_names(&hostile.repo, "HEAD", None);
    let fired = hostile.fired();
    for name in ["fsmonitor", "clean", "inc-clean"] {
        assert!(fired.contains(&name.to_owned()), "{name}: {fired:?}");
    }
}

#[test]
fn changes_run_nothing_and_commit_no_unfiltered_content() {
    let hostile = Hostile::new();
    let (git, repo) = (hostile.home.git(), hostile.repo.as_path());
    // Signing is the user's program again; here there is no key.
    hostile
        .home
        .run(repo, &["config", "commit.gpgSign", "false"]);
    fs_err::write(repo.join("file"), "two\n").unwrap();
    git.commit_paths(repo, &[Path::new("file")], "two", None)
        .unwrap()
        .unwrap();
    fs_err::write(repo.join("a.txt"), "two\n").unwrap();
    let refused = git
        .commit_paths(repo, &[Path::new("a.txt")], "filtered", None)
        .unwrap_err();
    let GitError::NotTrusted { repository, filter } = &refused else {
        panic!("{refused}");
    };
    assert_eq!((repository.as_path(), filter.as_str()), (repo, "plain"));
    // What is off is known by name; nothing is where the repository is trusted.
    let skipped = git.skipped(repo).unwrap();
    for program in [
        "core.fsmonitor",
        "filter inc",
        "filter long",
        "hook pre-commit",
    ] {
        assert!(
            skipped.iter().any(|it| it == program),
            "{program}: {skipped:?}"
        );
    }
    let trusting = hostile.home.git().with_trust(Arc::new(TrustEverything));
    assert_eq!(trusting.skipped(repo).unwrap(), Vec::<String>::new());
    fs_err::write(repo.join("a.txt"), "one\n").unwrap();
    age(&repo.join("a.txt"));
    // As the index knows them again: a switch need not look into them.
    let settings = [
        "filter.plain.clean=",
        "filter.long.process=",
        "filter.inc.clean=",
        "core.fsmonitor=false",
        "core.hooksPath=/dev/null",
    ];
    let settings = settings.iter().flat_map(|setting| ["-c", setting]);
    let refresh: Vec<&str> = settings.chain(["update-index", "--refresh"]).collect();
    hostile.home.run(repo, &refresh);
    assert_eq!(hostile.fired(), Vec::<String>::new());
    git.push(repo, "origin", "main").unwrap();
    git.create_branch(repo, "third", None).unwrap();
    git.switch(repo, &SwitchTo::Branch("third".to_owned()))
        .unwrap();
    git.switch(repo, &SwitchTo::Branch("main".to_owned()))
        .unwrap();
    git.delete_branch(repo, "third").unwrap();
    git.pull(repo, "origin", "main", PullMode::FastForward)
        .unwrap();
    git.set_remote(repo, "more", "https://example.com/x")
        .unwrap();
    git.init(repo).unwrap();
    assert_eq!(hostile.fired(), Vec::<String>::new());
}

/// The content that was trusted is not the content that a pull brings.
#[test]
fn a_pull_into_a_trusted_repository_runs_no_hook_that_it_brings() {
    let home = Home::new();
    let (_, url) = home.bare("upstream.git");
    let repo = home.repository("repo");
    home.run(&repo, &["config", "core.hooksPath", ".hooks"]);
    home.run(&repo, &["remote", "add", "origin", &url]);
    home.run(&repo, &["push", "--quiet", "origin", "main"]);
    home.run(
        &home.path(),
        &["clone", "--quiet", &url, "other", "--branch", "main"],
    );
    let (other, mark) = (home.path().join("other"), home.path().join("mark"));
    for hook in ["post-merge", "post-checkout", "post-rewrite"] {
        let text = format!("#!/bin/sh\n: > '{}'\n", mark.display());
        let file = home.write(&format!("other/.hooks/{hook}"), &text);
        fs_err::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    home.run(&other, &["add", "."]);
    home.run(&other, &["commit", "--quiet", "-m", "hooks"]);
    home.run(&other, &["push", "--quiet", "origin", "main"]);
    let git = home.git().with_trust(Arc::new(TrustEverything));
    git.pull(&repo, "origin", "main", PullMode::FastForward)
        .unwrap();
    assert!(repo.join(".hooks/post-merge").exists());
    assert!(!mark.exists());
}

#[test]
fn transfers_use_the_users_programs_only() {
    let hostile = Hostile::new();
    let (git, repo) = (hostile.home.git(), hostile.repo.as_path());
    for (name, url) in [
        ("https", "https://127.0.0.1:1/x"),
        ("git", "git://127.0.0.1:1/x"),
        ("ssh", "ssh://127.0.0.1:1/x"),
        ("ext", "ext::sh -c exit"),
    ] {
        hostile
            .home
            .run(repo, &["config", &format!("remote.{name}.url"), url]);
        git.pull(repo, name, "main", PullMode::FastForward)
            .unwrap_err();
        git.push(repo, name, "main").unwrap_err();
    }
    assert_eq!(hostile.fired(), Vec::<String>::new());
}

#[test]
fn a_credential_helper_of_the_repository_is_not_asked_and_the_users_is() {
    let hostile = Hostile::new();
    let helper = hostile.program("own-helper");
    let settings = fs_err::read_to_string(hostile.home.path().join(".gitconfig")).unwrap();
    let settings = format!("{settings}[credential]\n\thelper = {helper}\n");
    hostile.home.write(".gitconfig", &settings);
    // A server that asks who is there.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let _ = stream.read(&mut [0; 4096]);
            let answer = "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    let url = format!("http://127.0.0.1:{port}/x");
    hostile
        .home
        .run(&hostile.repo, &["config", "remote.asks.url", &url]);
    let key = format!("credential.http://127.0.0.1:{port}.helper");
    let evil = hostile.program("url-helper");
    hostile.home.run(&hostile.repo, &["config", &key, &evil]);
    let git = hostile.home.git();
    git.pull(&hostile.repo, "asks", "main", PullMode::FastForward)
        .unwrap_err();
    assert_eq!(hostile.fired(), ["own-helper"]);
}

#[test]
fn programs_of_submodules_do_not_run() {
    let hostile = Hostile::new();
    let inner = hostile.home.repository("repo/inner");
    let repo = hostile.repo.as_path();
    fs_err::write(inner.join(".gitattributes"), "* filter=deep\n").unwrap();
    hostile.home.run(&inner, &["add", "."]);
    hostile
        .home
        .run(&inner, &["commit", "--quiet", "-m", "attributes"]);
    let quiet = [
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.hooksPath=/dev/null",
    ];
    let modules = "[submodule \"in.ner\"]\n\tpath = inner\n\turl = ./inner\n\tignore = none\n";
    fs_err::write(repo.join(".gitmodules"), modules).unwrap();
    let add = ["add", "inner", ".gitmodules"];
    hostile.home.run(repo, &[quiet.as_slice(), &add].concat());
    for (key, name) in [
        ("core.fsmonitor", "inner-fsmonitor"),
        ("filter.deep.clean", "inner-clean"),
    ] {
        hostile
            .home
            .run(&inner, &["config", key, &hostile.program(name)]);
    }
    fs_err::write(inner.join("file"), "two\n").unwrap();
    hostile
        .home
        .run(repo, &["config", "commit.gpgSign", "false"]);
    fs_err::remove_dir_all(&hostile.marks).unwrap();
    fs_err::create_dir(&hostile.marks).unwrap();
    let git = hostile.home.git();
    hostile.ask_everything(&git);
    fs_err::write(repo.join("file"), "two\n").unwrap();
    git.commit_paths(repo, &[Path::new("file")], "two", None)
        .unwrap()
        .unwrap();
    git.switch(repo, &SwitchTo::NewBranch("new".to_owned()))
        .unwrap();
    assert_eq!(hostile.fired(), Vec::<String>::new());
}

#[test]
fn a_filter_whose_name_is_not_text_is_refused() {
    let hostile = Hostile::new();
    let repo = hostile.repo.as_path();
    let mut attributes = b"* filter=x".to_vec();
    attributes.extend(b"\xff\n");
    fs_err::write(repo.join(".gitattributes"), attributes).unwrap();
    let config = repo.join(".git/config");
    let mut text = fs_err::read(&config).unwrap();
    text.extend(b"[filter \"x\xff\"]\n\tclean = ");
    text.extend(hostile.program("strange").as_bytes());
    fs_err::write(&config, text).unwrap();
    age(&repo.join("file"));
    let refused = hostile.home.git().changed_paths(repo).unwrap_err();
    assert!(refused.to_string().contains("not UTF-8"), "{refused}");
    assert_eq!(hostile.fired(), Vec::<String>::new());
}

#[test]
fn hooks_of_a_repository_on_this_machine_do_not_run_when_it_is_pushed_to() {
    let hostile = Hostile::new();
    for hook in ["pre-receive", "update", "post-receive", "post-update"] {
        let place = hostile.upstream.join("hooks").join(hook);
        fs_err::copy(hostile.program(hook), &place).unwrap();
    }
    let git = hostile.home.git();
    let plain = hostile.upstream.display().to_string();
    for (name, url) in [("path", plain.clone()), ("file", format!("file://{plain}"))] {
        let key = format!("remote.{name}.url");
        hostile.home.run(&hostile.repo, &["config", &key, &url]);
        hostile.home.run(
            &hostile.repo,
            &["-c", "core.hooksPath=/dev/null", "branch", name],
        );
        git.push(&hostile.repo, name, name).unwrap();
    }
    assert_eq!(hostile.fired(), Vec::<String>::new());
    let both = ["config", "--add", "remote.path.url", "https://h/x"];
    hostile.home.run(&hostile.repo, &both);
    git.push(&hostile.repo, "path", "main").unwrap_err();
}

/// Trusts one directory by its real path.
struct TrustOne(PathBuf);

impl Trust for TrustOne {
    fn standing(&self, directory: &Path, _: Runs) -> Standing {
        match directory == self.0 {
            true => Standing::Trusted,
            false => Standing::Undecided,
        }
    }

    fn inspect(&self, directory: &Path) -> Result<Executables, Problem> {
        TrustNothing.inspect(directory)
    }

    fn grant(&self, decision: TrustDecision) -> Result<(), Problem> {
        TrustNothing.grant(decision)
    }

    fn revoke(&self, directory: &Path) -> Result<bool, Problem> {
        TrustNothing.revoke(directory)
    }

    fn decisions(&self) -> Result<Vec<TrustDecision>, Problem> {
        TrustNothing.decisions()
    }
}

#[test]
fn a_repository_inside_a_trusted_one_is_not_trusted() {
    let hostile = Hostile::new();
    let trusted = hostile.home.repository("trusted");
    let fsmonitor = hostile.program("nested");
    // A layout that git takes for a bare repository although its HEAD leads nowhere.
    let nested = trusted.join("app");
    for directory in ["objects", "refs"] {
        fs_err::create_dir_all(nested.join(directory)).unwrap();
    }
    std::os::unix::fs::symlink("refs/heads/main", nested.join("HEAD")).unwrap();
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = {}\n\tfsmonitor = {fsmonitor}\n",
        nested.display()
    );
    fs_err::write(nested.join("config"), config).unwrap();
    // A link of the trusted one that leads to another.
    let link = trusted.join("link");
    std::os::unix::fs::symlink(&hostile.repo, &link).unwrap();
    let git = hostile.home.git();
    let git = git.with_trust(Arc::new(TrustOne(trusted.canonicalize().unwrap())));
    let _ = git.changed_paths(&nested);
    let _ = git.changed_paths(&link);
    assert_eq!(hostile.fired(), Vec::<String>::new());
}
