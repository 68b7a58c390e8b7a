//! Other repositories: what they hold, checkouts of them, pull and push.

use std::io::ErrorKind;
use std::path::Path;

use windlass_ports::git::{
    Checkout, GitError, PullMode, Refused, check_reference, check_url, hide_credentials,
    is_commit_id,
};

use crate::environment::Scope;
use crate::guard::{RECEIVE_PACK, RECEIVE_PACK_HERE, UPLOAD_PACK};
use crate::program::{Call, GitProgram};

/// Settings for a checkout: its bytes are the same on every machine.
const FOREIGN: [&str; 6] = [
    "-c",
    "core.autocrlf=false",
    "-c",
    "advice.detachedHead=false",
    "-c",
    "init.defaultBranch=main",
];

impl GitProgram {
    pub(crate) fn ask_remote_commit(&self, url: &str, reference: &str) -> Result<String, GitError> {
        check_url(url)?;
        if is_commit_id(reference) {
            return Ok(reference.to_ascii_lowercase());
        }
        check_reference(reference)?;
        let names = if reference == "HEAD" || reference.starts_with("refs/") {
            vec![format!("{reference}^{{}}"), reference.to_owned()]
        } else {
            vec![
                format!("refs/tags/{reference}^{{}}"),
                format!("refs/heads/{reference}"),
                format!("refs/tags/{reference}"),
            ]
        };
        // In no repository, so that the answer is the same wherever the call comes from.
        let output = self
            .ask(Path::new("/"), Scope::Directory)
            .transfer()
            .args(["ls-remote", "--quiet", "--", url])
            .args(&names)
            .output()?;
        let output = String::from_utf8_lossy(&output);
        let listed: Vec<(&str, &str)> = output
            .lines()
            .filter_map(|line| line.split_once('\t'))
            .collect();
        // The patterns also match the ends of longer names, hence the comparison.
        let commit_of = |name: &String| {
            let found = listed.iter().find(|(_, listed)| listed == name);
            found.map(|(commit, _)| (*commit).to_owned())
        };
        names
            .iter()
            .find_map(commit_of)
            .ok_or_else(|| GitError::Missing {
                what: "branch or tag",
                name: reference.to_owned(),
                place: hide_credentials(url),
            })
    }

    pub(crate) fn do_checkout(&self, checkout: &Checkout<'_>) -> Result<(), GitError> {
        check_url(checkout.url)?;
        if !is_commit_id(checkout.commit) {
            return Err(GitError::Refused(Refused {
                what: "commit",
                value: checkout.commit.to_owned(),
                rule: "it is not 40 hexadecimal digits",
            }));
        }
        if checkout.directory.is_dir() {
            return Ok(());
        }
        self.program()?;
        let io = |source| GitError::Io {
            action: format!("create the checkout {}", checkout.directory.display()),
            source,
        };
        let parent = checkout.directory.parent().unwrap_or(Path::new("/"));
        fs_err::create_dir_all(parent).map_err(io)?;
        // Next to its destination, so that the last step is one rename; removed on any failure.
        let temporary = tempfile::Builder::new()
            .prefix(".checkout-")
            .tempdir_in(parent)
            .map_err(io)?;
        self.fill(temporary.path(), checkout)?;
        match fs_err::rename(temporary.path(), checkout.directory) {
            Ok(()) => {
                // Nothing is left at the temporary path.
                let _ = temporary.keep();
                Ok(())
            }
            // Another process was faster; a commit has only one content.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists
                ) =>
            {
                Ok(())
            }
            Err(source) => Err(io(source)),
        }
    }

    fn fill(&self, directory: &Path, checkout: &Checkout<'_>) -> Result<(), GitError> {
        let foreign = || {
            let call = self.change(directory).unfiltered().isolated();
            call.transfer().args(FOREIGN)
        };
        foreign()
            .args(["init", "--quiet", "--template="])
            .success()?;
        foreign()
            .args(["remote", "add", "--", "origin", checkout.url])
            .success()?;
        fetch(&foreign, checkout)?;
        foreign()
            .args(["checkout", "--quiet", "--detach", checkout.commit, "--"])
            .success()
    }

    pub(crate) fn do_pull(
        &self,
        repo: &Path,
        remote: &str,
        branch: &str,
        mode: PullMode,
    ) -> Result<(), GitError> {
        check_remote(remote)?;
        check_reference(branch)?;
        let mode = match mode {
            PullMode::Configured => None,
            PullMode::Rebase => Some("--rebase"),
            PullMode::FastForward => Some("--ff-only"),
        };
        // A hook in the work tree would be the one that the pull has just brought, which nobody has
        // looked at, also where the repository was trusted before.
        self.change(repo)
            .transfer()
            .args(["-c", "core.hooksPath=/dev/null", "pull", "--quiet"])
            .args(mode)
            .args(self.unless_trusted(repo, UPLOAD_PACK))
            .args(["--", remote, branch])
            .success()
    }

    pub(crate) fn do_push(&self, repo: &Path, remote: &str, refspec: &str) -> Result<(), GitError> {
        check_remote(remote)?;
        check_refspec(refspec)?;
        let push = self.change(repo).args(["push", "--quiet"]);
        let push = match self.pushes_to_this_machine(repo, remote)? {
            // No helper asks for credentials, and the program that receives runs here.
            true => push.args(self.unless_trusted(repo, RECEIVE_PACK_HERE)),
            false => push
                .transfer()
                .args(self.unless_trusted(repo, RECEIVE_PACK)),
        };
        push.args(["--", remote, refspec]).success()
    }

    /// Whether the remote is a directory of this machine, whose hooks would run in our name. One
    /// with addresses of both kinds is refused: the options of a push hold for all of them.
    fn pushes_to_this_machine(&self, repo: &Path, remote: &str) -> Result<bool, GitError> {
        let urls = self
            .ask_objects(repo, Scope::Directory)
            .args(["remote", "get-url", "--push", "--all", "--", remote])
            .answer()?;
        let urls = match urls.code {
            Some(0) => String::from_utf8_lossy(&urls.stdout).into_owned(),
            _ => remote.to_owned(),
        };
        let here = urls.lines().filter(|url| is_of_this_machine(url)).count();
        match urls.lines().count() - here {
            0 => Ok(here > 0),
            _ if here == 0 => Ok(false),
            _ => Err(GitError::Refused(Refused {
                what: "remote",
                value: remote.to_owned(),
                rule: "it pushes to this machine and to another one",
            })),
        }
    }
}

/// Brings the commit in: alone if that is wanted and the other side allows it, else with all
/// branches and tags, else by its id.
fn fetch<'a>(foreign: &dyn Fn() -> Call<'a>, checkout: &Checkout<'_>) -> Result<(), GitError> {
    let by_id = |depth: Option<&str>| {
        foreign()
            .args(["fetch", "--quiet", "--no-tags"])
            .args(depth)
            .args(["--", "origin", checkout.commit])
            .success()
    };
    if checkout.shallow {
        match by_id(Some("--depth=1")) {
            // Servers may refuse single commits; everything else fails below just the same.
            Err(GitError::Failed { .. }) => {}
            done => return done,
        }
    }
    foreign()
        .args(["fetch", "--quiet", "--tags", "--", "origin"])
        .args(["+refs/heads/*:refs/remotes/origin/*"])
        .success()?;
    let present = foreign()
        .args(["cat-file", "-e"])
        .args([format!("{}^{{commit}}", checkout.commit)])
        .answer()?;
    if present.code == Some(0) {
        return Ok(());
    }
    match by_id(None) {
        Err(GitError::Failed { .. }) => Err(GitError::Missing {
            what: "commit",
            name: checkout.commit.to_owned(),
            place: hide_credentials(checkout.url),
        }),
        done => done,
    }
}

/// Whether git takes the address for a path: it has no scheme but `file`, and no host.
fn is_of_this_machine(url: &str) -> bool {
    match url.split_once("://") {
        Some((scheme, _)) => scheme.eq_ignore_ascii_case("file"),
        None => url
            .split_once(':')
            .is_none_or(|(host, _)| host.contains('/')),
    }
}

/// A remote's name, or an address.
fn check_remote(remote: &str) -> Result<(), Refused> {
    if remote.contains(':') || remote.starts_with('/') {
        check_url(remote)
    } else {
        check_reference(remote)
    }
}

/// `<from>[:<to>]`, never forced and never a deletion.
fn check_refspec(refspec: &str) -> Result<(), Refused> {
    if refspec.starts_with('+') || refspec.starts_with(':') {
        return Err(Refused {
            what: "refspec",
            value: refspec.to_owned(),
            rule: "forced pushes and deletions are not done",
        });
    }
    match refspec.split_once(':') {
        None => check_reference(refspec),
        Some((from, to)) => check_reference(from).and_then(|()| check_reference(to)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_without_a_host_are_of_this_machine() {
        for (url, expected) in [
            ("/srv/o.git", true),
            ("../o.git", true),
            ("./a:b", true),
            ("o.git", true),
            ("file:///srv/o.git", true),
            ("FILE:///srv/o.git", true),
            ("host:o.git", false),
            ("git@host:o.git", false),
            ("https://host/o.git", false),
            ("ssh://host/o.git", false),
        ] {
            assert_eq!(is_of_this_machine(url), expected, "{url}");
        }
    }
}
