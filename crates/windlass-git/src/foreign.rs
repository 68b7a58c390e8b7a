//! Repositories that are not trusted: how git is called about them, and how commits of theirs
//! are brought here.
//!
//! A repository may come with hooks, filters and settings that name programs. None of them is
//! run: everything that could start one is switched off for the call, whatever the
//! repository's own configuration says.

use std::path::Path;

use windlass_ports::git::{
    GitError, Refused, RemoteHead, check_revision, check_url, hide_credentials, is_object_id,
};
use windlass_types::Timestamp;

use crate::environment::Scope;
use crate::program::{Call, GitProgram};
use crate::release;

/// Settings beside those of every repository that is not trusted. No file of the user's (split
/// index, reflog of HEAD) is written, and what is written is the same on every machine and on disk
/// when the call returns.
const SETTINGS: [&str; 20] = [
    "-c",
    "core.autocrlf=false",
    "-c",
    "core.splitIndex=false",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "core.sparseCheckout=false",
    "-c",
    "index.sparse=false",
    "-c",
    "core.fsync=committed",
    "-c",
    "commit.gpgSign=false",
    "-c",
    "i18n.commitEncoding=UTF-8",
    "-c",
    "fetch.writeCommitGraph=false",
    "-c",
    "init.defaultBranch=main",
];

/// A first fetch of a large repository takes longer than any other call.
const FETCH_TIME_FACTOR: u32 = 5;

impl GitProgram {
    /// A call about a repository that is not trusted, bare or not.
    pub(crate) fn isolated<'a>(&'a self, repo: &'a Path) -> Call<'a> {
        self.ask(repo, Scope::Directory)
            .isolated()
            .args(SETTINGS)
            .env("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
    }

    /// The same in no repository, for questions about an address.
    fn isolated_nowhere(&self) -> Call<'_> {
        self.isolated(Path::new("/")).transfer()
    }

    pub(crate) fn ask_commit_time(&self, repo: &Path, commit: &str) -> Result<Timestamp, GitError> {
        check_revision(commit)?;
        let answer = self
            .isolated(repo)
            .args([
                "log",
                "-1",
                "--no-show-signature",
                "--format=%ct",
                commit,
                "--",
            ])
            .answer()?;
        if answer.code != Some(0) {
            return Err(answer.failed());
        }
        let seconds = String::from_utf8_lossy(&answer.stdout)
            .trim()
            .parse::<i64>();
        let seconds = seconds.map_err(|_| answer.failed())?;
        Ok(Timestamp::from_millis(seconds.saturating_mul(1000)))
    }

    pub(crate) fn do_fetch_commit(
        &self,
        bare: &Path,
        url: &str,
        commit: &str,
    ) -> Result<(), GitError> {
        check_url(url)?;
        check_object_id(commit)?;
        self.program()?;
        let commit = commit.to_ascii_lowercase();
        self.make_bare(bare, &commit)?;
        // The reference says that everything of the commit is here, and keeps it here.
        let kept = format!("refs/windlass/{commit}");
        if self.ask_reference(bare, &kept)?.is_some() {
            return Ok(());
        }
        self.bring(bare, url, &commit, &kept)?;
        if self.is_commit(bare, &commit)? {
            return Ok(());
        }
        // Something of that id is there, and is no commit.
        self.isolated(bare)
            .args(["update-ref", "-d", kept.as_str()])
            .success()?;
        Err(missing_commit(&commit, url))
    }

    /// Our own repository; harmless where it is made already.
    fn make_bare(&self, bare: &Path, commit: &str) -> Result<(), GitError> {
        fs_err::create_dir_all(bare).map_err(|source| GitError::Io {
            action: "create a directory for the repository".to_owned(),
            source,
        })?;
        let format = if commit.len() == 64 { "sha256" } else { "sha1" };
        self.isolated(bare)
            .args(["init", "--quiet", "--bare", "--template="])
            .args([format!("--object-format={format}")])
            .args(["--", "."])
            .success()
    }

    /// Alone if the other side allows it, else with all branches and tags, else by its id.
    fn bring(&self, bare: &Path, url: &str, commit: &str, kept: &str) -> Result<(), GitError> {
        // The address goes with each call and is not stored: it may hold credentials.
        let fetch = || {
            self.isolated(bare)
                .transfer()
                .with_time_factor(FETCH_TIME_FACTOR)
                .args(["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"])
                .args(["--no-recurse-submodules", "--update-shallow"])
        };
        let by_id = format!("+{commit}:{kept}");
        let shallow = fetch()
            .args(["--depth=1", "--", url, by_id.as_str()])
            .success();
        match shallow {
            // Servers may refuse single commits; everything else fails below just the same.
            Err(GitError::Failed { .. }) => {}
            done => return done,
        }
        fetch()
            .args(["--", url])
            .args(["+refs/heads/*:refs/windlass/remote/heads/*"])
            .args(["+refs/tags/*:refs/windlass/remote/tags/*"])
            .success()?;
        if self.is_commit(bare, commit)? {
            return self
                .isolated(bare)
                .args(["update-ref", kept, commit])
                .success();
        }
        match fetch().args(["--", url, by_id.as_str()]).success() {
            Err(GitError::Failed { .. }) => Err(missing_commit(commit, url)),
            done => done,
        }
    }

    /// Whether the id is that of a commit, and not of anything else, in the repository.
    pub(crate) fn is_commit(&self, repo: &Path, commit: &str) -> Result<bool, GitError> {
        let answer = self
            .isolated(repo)
            .args(["cat-file", "--batch-check"])
            .input(format!("{commit}\n").into_bytes())
            .output()?;
        // `<id> <type> <size>`, or `<id> missing`.
        Ok(answer.split(|byte| *byte == b' ').nth(1) == Some(b"commit"))
    }

    pub(crate) fn ask_head_of(&self, url: &str) -> Result<RemoteHead, GitError> {
        check_url(url)?;
        let output = self
            .isolated_nowhere()
            .args(["ls-remote", "--quiet", "--symref", "--", url, "HEAD"])
            .output()?;
        let output = String::from_utf8_lossy(&output);
        let mut branch = None;
        let mut commit = None;
        // `ref: refs/heads/main` or an id, tab, name. Longer names ending in HEAD also match.
        for (value, name) in output.lines().filter_map(|line| line.split_once('\t')) {
            match value.strip_prefix("ref: ") {
                _ if name != "HEAD" => {}
                Some(target) => branch = target.strip_prefix("refs/heads/").map(str::to_owned),
                None => commit = Some(value.to_owned()),
            }
        }
        let commit = commit.ok_or_else(|| GitError::Missing {
            what: "branch",
            name: branch.clone().unwrap_or_else(|| "HEAD".to_owned()),
            place: hide_credentials(url),
        })?;
        Ok(RemoteHead { branch, commit })
    }

    pub(crate) fn ask_latest_release_tag(&self, url: &str) -> Result<Option<String>, GitError> {
        check_url(url)?;
        let output = self
            .isolated_nowhere()
            .args(["ls-remote", "--quiet", "--tags", "--refs", "--", url])
            .output()?;
        let output = String::from_utf8_lossy(&output);
        let tags = output
            .lines()
            .filter_map(|line| line.split_once("\trefs/tags/"))
            .map(|(_, tag)| tag);
        Ok(release::latest(tags).map(str::to_owned))
    }
}

pub(crate) fn check_object_id(commit: &str) -> Result<(), Refused> {
    if is_object_id(commit) {
        return Ok(());
    }
    Err(Refused {
        what: "commit",
        value: commit.to_owned(),
        rule: "it is not 40 or 64 hexadecimal digits",
    })
}

fn missing_commit(commit: &str, url: &str) -> GitError {
    GitError::Missing {
        what: "commit",
        name: commit.to_owned(),
        place: hide_credentials(url),
    }
}
