//! A home of its own with repositories in it, and the git program to compare with.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use windlass_git::GitProgram;
use windlass_ports::git::Author;

/// A user's home directory that no other configuration reaches.
pub struct Home {
    directory: tempfile::TempDir,
    variables: Vec<(OsString, OsString)>,
}

impl Home {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().canonicalize().unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let variables = vec![("HOME".into(), home.into()), ("PATH".into(), path)];
        let home = Self {
            directory,
            variables,
        };
        home.write(
            ".gitconfig",
            "[user]\n\tname = Ann\n\temail = ann@example.com\n[init]\n\tdefaultBranch = main\n\
             [protocol \"file\"]\n\tallow = always\n",
        );
        home
    }

    pub fn path(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap()
    }

    /// The same home seen with more variables.
    pub fn variables(&self, more: &[(&str, &Path)]) -> Vec<(OsString, OsString)> {
        let more = more
            .iter()
            .map(|(name, value)| ((*name).into(), value.as_os_str().to_owned()));
        self.variables.iter().cloned().chain(more).collect()
    }

    pub fn git(&self) -> GitProgram {
        GitProgram::new(self.variables(&[]))
    }

    pub fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path().join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(&path, text).unwrap();
        path
    }

    /// A repository with one commit of one file.
    pub fn repository(&self, name: &str) -> PathBuf {
        let repo = self.path().join(name);
        fs_err::create_dir_all(&repo).unwrap();
        self.run(&repo, &["init", "--quiet"]);
        fs_err::write(repo.join("file"), "one\n").unwrap();
        self.run(&repo, &["add", "."]);
        self.run(&repo, &["commit", "--quiet", "-m", "first"]);
        repo
    }

    /// A bare repository and its address.
    pub fn bare(&self, name: &str) -> (PathBuf, String) {
        let repo = self.path().join(name);
        fs_err::create_dir_all(&repo).unwrap();
        self.run(&repo, &["init", "--quiet", "--bare"]);
        let url = format!("file://{}", repo.display());
        (repo, url)
    }

    /// Runs git itself; the trimmed output.
    pub fn run(&self, cwd: &Path, args: &[&str]) -> String {
        let output = plain_git(&self.variables, cwd, args);
        assert!(
            output.status.success(),
            "git {args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}

/// Runs git with exactly these variables.
pub fn plain_git(variables: &[(OsString, OsString)], cwd: &Path, args: &[&str]) -> Output {
    Command::new("git")
        .current_dir(cwd)
        .env_clear()
        .envs(variables.iter().cloned())
        .args(args)
        .output()
        .unwrap()
}

pub fn author() -> Author {
    Author {
        name: "Windlass".to_owned(),
        email: "windlass@example.com".to_owned(),
    }
}
