//! The variables that git gets, and which of them change its answers.
//!
//! Values are given at construction; nothing here reads the process's environment.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// Variables that say which repository is meant. They are there when Windlass is started by a
/// git hook, and would send a change into the wrong repository.
const LOCATING: [&str; 12] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Prefixes of names that only concern transfers.
const HARMLESS_FAMILIES: [&str; 3] = ["GIT_SSL_", "GIT_HTTP_", "GIT_PROXY_"];

/// Variables that cannot change where a repository is, what its remotes are or where it stands.
const HARMLESS: [&str; 15] = [
    "GIT_ASKPASS",
    "GIT_AUTHOR_DATE",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_DATE",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_EDITOR",
    "GIT_MERGE_AUTOEDIT",
    "GIT_PAGER",
    "GIT_PS1_SHOWDIRTYSTATE",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_TERMINAL_PROMPT",
];

/// The environment given at construction.
#[derive(Clone, Debug)]
pub struct Environment(Vec<(OsString, OsString)>);

/// Which repository a call is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Whatever git would take the directory for, `GIT_DIR` and the like included.
    AsGitSeesIt,
    /// The repository in the directory and no other.
    Directory,
}

impl Environment {
    pub fn new(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self(variables.into_iter().collect())
    }

    pub fn get(&self, name: &str) -> Option<&OsStr> {
        let found = self.0.iter().rev().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_os_str())
    }

    /// An absolute path in a variable; an empty variable counts as unset, as git has it.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        let path = PathBuf::from(self.get(name).filter(|value| !value.is_empty())?);
        path.is_absolute().then_some(path)
    }

    /// Whether no variable can make git answer differently than the files do.
    pub fn is_plain(&self, scope: Scope) -> bool {
        self.seen_by_git(scope).all(|(key, _)| {
            let key = key.to_string_lossy();
            !key.starts_with("GIT_")
                || HARMLESS.contains(&&*key)
                || HARMLESS_FAMILIES
                    .iter()
                    .any(|family| key.starts_with(family))
        })
    }

    /// What git inherits.
    pub fn seen_by_git(&self, scope: Scope) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        let hidden = move |key: &OsStr| {
            scope == Scope::Directory && LOCATING.iter().any(|locating| key == *locating)
        };
        self.0
            .iter()
            .map(|(key, value)| (key.as_os_str(), value.as_os_str()))
            .filter(move |(key, _)| !hidden(key))
    }

    /// What git gets where the repository is not trusted: only transports that start no program of
    /// the repository's choice, and no objects fetched on the way.
    pub fn guarding(&self) -> Vec<(OsString, OsString)> {
        let guarding = [
            ("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh"),
            ("GIT_PROXY_COMMAND", ""),
            ("GIT_NO_LAZY_FETCH", "1"),
        ];
        guarding
            .into_iter()
            .filter(|(name, _)| self.get(name).is_none())
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    }

    /// Settings for one call, after those that the environment has already.
    pub fn with_settings(&self, settings: &[(String, String)]) -> Vec<(OsString, OsString)> {
        let count = self.get("GIT_CONFIG_COUNT").and_then(OsStr::to_str);
        let first: usize = count.and_then(|it| it.parse().ok()).unwrap_or(0);
        let mut variables: Vec<(OsString, OsString)> = Vec::new();
        for (number, (key, value)) in (first..).zip(settings) {
            variables.push((format!("GIT_CONFIG_KEY_{number}").into(), key.into()));
            variables.push((format!("GIT_CONFIG_VALUE_{number}").into(), value.into()));
        }
        let count = (first + settings.len()).to_string();
        variables.push(("GIT_CONFIG_COUNT".into(), count.into()));
        variables
    }

    /// What git gets on top: no prompt, no editor, no question on the terminal.
    pub fn hardening(&self) -> Vec<(&'static str, &OsStr)> {
        let mut hardening = vec![
            ("GIT_TERMINAL_PROMPT", OsStr::new("0")),
            ("GIT_EDITOR", OsStr::new(":")),
            ("GIT_SEQUENCE_EDITOR", OsStr::new(":")),
            ("GIT_MERGE_AUTOEDIT", OsStr::new("no")),
            ("GIT_PAGER", OsStr::new("cat")),
            // ssh asks on the terminal unless it must use a program. The user's own (a window)
            // may ask; without one the answer is no.
            ("SSH_ASKPASS_REQUIRE", OsStr::new("force")),
        ];
        if self.get("SSH_ASKPASS").is_none() {
            hardening.push(("SSH_ASKPASS", OsStr::new("false")));
        }
        hardening
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(names: &[&str]) -> Environment {
        Environment::new(names.iter().map(|name| ((*name).into(), "x".into())))
    }

    #[test]
    fn variables_that_could_change_an_answer_are_not_plain() {
        for (names, as_seen, directory) in [
            (&["PATH", "HOME"][..], true, true),
            (
                &["GIT_AUTHOR_NAME", "GIT_SSH_COMMAND", "GIT_ASKPASS"],
                true,
                true,
            ),
            (&["GIT_DIR"], false, true),
            (&["GIT_WORK_TREE"], false, true),
            (&["GIT_CONFIG_COUNT"], false, false),
            (&["GIT_CONFIG_GLOBAL"], false, false),
            (&["GIT_CEILING_DIRECTORIES"], false, false),
            (&["GIT_SOMETHING_NEW"], false, false),
        ] {
            let environment = with(names);
            assert_eq!(
                environment.is_plain(Scope::AsGitSeesIt),
                as_seen,
                "{names:?}"
            );
            assert_eq!(
                environment.is_plain(Scope::Directory),
                directory,
                "{names:?}"
            );
        }
    }

    #[test]
    fn an_askpass_of_the_user_stays() {
        let names = |environment: &Environment| -> Vec<&str> {
            environment
                .hardening()
                .into_iter()
                .map(|(name, _)| name)
                .collect()
        };
        assert!(names(&with(&[])).contains(&"SSH_ASKPASS"));
        assert!(!names(&with(&["SSH_ASKPASS"])).contains(&"SSH_ASKPASS"));
    }
}
