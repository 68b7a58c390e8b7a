//! Trust: whether programs that a directory brings may run.
//!
//! A repository or project can name programs: hooks and filters of git, configs that are code,
//! bundlers, build scripts. None of them runs before the user has trusted the directory, and
//! a decision holds only for the content it was made for. Asked here, right before such a program
//! would run; decided by `windlass trust` (windlass-admin), kept by windlass-trust.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use windlass_types::{Digest, Problem, Timestamp, code};

/// How many names a message lists.
const MOST_NAMES: usize = 5;

/// What a directory could run: every file that decides what runs, with its content's digest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Executables {
    /// The directory, as the disk knows it.
    pub directory: PathBuf,
    /// Files by their path, relative to the directory where they are in it.
    pub files: BTreeMap<String, Digest>,
}

impl Executables {
    /// The digest over all files and their names.
    pub fn digest(&self) -> Digest {
        let parts: Vec<&[u8]> = self
            .files
            .iter()
            .flat_map(|(path, digest)| [path.as_bytes(), digest.as_bytes().as_slice()])
            .collect();
        Digest::of_parts(&parts)
    }

    /// The files that differ from those of an earlier time, with how.
    pub fn changes_since(&self, earlier: &BTreeMap<String, Digest>) -> Vec<String> {
        let gone = earlier
            .keys()
            .filter(|path| !self.files.contains_key(*path));
        let gone = gone.map(|path| format!("{path} (removed)"));
        let changed = self
            .files
            .iter()
            .filter_map(|(path, digest)| match earlier.get(path) {
                Some(before) if before == digest => None,
                Some(_) => Some(format!("{path} (changed)")),
                None => Some(format!("{path} (new)")),
            });
        changed.chain(gone).collect()
    }
}

/// A decision of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustDecision {
    /// The directory and the content that was trusted.
    pub executables: Executables,
    /// Who decided.
    pub granted_by: String,
    /// When.
    pub granted_at: Timestamp,
}

/// Where a directory stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Its programs may run.
    Trusted,
    /// Nobody has decided.
    Undecided,
    /// It was trusted with other content; these files differ.
    Changed(Vec<String>),
}

/// The user's decisions.
pub trait Trust: Send + Sync {
    /// Where a directory stands now. Decisions cover one directory, not those below it. What cannot
    /// be read is not trusted.
    fn standing(&self, directory: &Path) -> Standing;

    /// What a directory could run.
    fn inspect(&self, directory: &Path) -> Result<Executables, Problem>;

    /// Keeps a decision, in place of an earlier one about the same directory.
    fn grant(&self, decision: TrustDecision) -> Result<(), Problem>;

    /// Forgets the decision about a directory; whether there was one.
    fn revoke(&self, directory: &Path) -> Result<bool, Problem>;

    /// Every decision, by directory.
    fn decisions(&self) -> Result<Vec<TrustDecision>, Problem>;
}

/// Refuses to run `what` unless its directory is trusted.
pub fn require(trust: &dyn Trust, directory: &Path, what: &str) -> Result<(), Problem> {
    let place = directory.display();
    let (message, changes) = match trust.standing(directory) {
        Standing::Trusted => return Ok(()),
        Standing::Undecided => (
            format!("{what} is code of {place}, which is not trusted; it was not run"),
            Vec::new(),
        ),
        Standing::Changed(changes) => (
            format!(
                "{what} is code of {place}, which changed since it was trusted ({}); it was not run",
                listed(&changes)
            ),
            changes,
        ),
    };
    let mut problem = Problem::new(&code::NOT_TRUSTED, message)
        .with("reason", "not_trusted")
        .with("directory", place.to_string())
        .next(format!(
            "review the project, then type in a terminal: windlass trust {}",
            quoted(directory)
        ));
    if !changes.is_empty() {
        problem = problem.with("changed", changes);
    }
    Err(problem)
}

/// Whether a problem is a refusal of [`require`].
pub fn is_refusal(problem: &Problem) -> bool {
    problem.code().name == code::NOT_TRUSTED.name
}

fn listed(names: &[String]) -> String {
    let mut text = names
        .iter()
        .take(MOST_NAMES)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > MOST_NAMES {
        text.push_str(&format!(" and {} more", names.len() - MOST_NAMES));
    }
    text
}

/// A path as it is typed in a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+@%:".contains(letter);
    if text.chars().all(is_plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Trusts nothing: for questions that must run nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrustNothing;

impl Trust for TrustNothing {
    fn standing(&self, _: &Path) -> Standing {
        Standing::Undecided
    }

    fn inspect(&self, directory: &Path) -> Result<Executables, Problem> {
        Ok(Executables {
            directory: directory.to_owned(),
            ..Executables::default()
        })
    }

    fn grant(&self, _: TrustDecision) -> Result<(), Problem> {
        Err(Problem::new(
            &code::FORBIDDEN,
            "nothing can be trusted here",
        ))
    }

    fn revoke(&self, _: &Path) -> Result<bool, Problem> {
        Ok(false)
    }

    fn decisions(&self) -> Result<Vec<TrustDecision>, Problem> {
        Ok(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Stands(Standing);

    impl Trust for Stands {
        fn standing(&self, _: &Path) -> Standing {
            self.0.clone()
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
    fn a_refusal_names_the_command_to_type_and_what_changed() {
        let place = Path::new("/home/ada/it's here");
        require(&Stands(Standing::Trusted), place, "stacktape.ts").unwrap();
        let refused = require(&TrustNothing, place, "stacktape.ts").unwrap_err();
        assert_eq!(
            refused.message(),
            "stacktape.ts is code of /home/ada/it's here, which is not trusted; it was not run"
        );
        assert_eq!(
            refused.next_actions(),
            [
                r"review the project, then type in a terminal: windlass trust '/home/ada/it'\''s here'"
            ]
        );
        assert!(is_refusal(&refused));
        let changes: Vec<String> = (1..8).map(|number| format!("f{number} (new)")).collect();
        let refused = require(&Stands(Standing::Changed(changes)), place, "x").unwrap_err();
        assert!(
            refused.message().contains("f5 (new) and 2 more"),
            "{refused}"
        );
    }

    #[test]
    fn every_difference_is_named() {
        let files = |names: &[(&str, &str)]| -> BTreeMap<String, Digest> {
            let files = names.iter();
            files
                .map(|(name, text)| ((*name).to_owned(), Digest::of(text.as_bytes())))
                .collect()
        };
        let now = Executables {
            directory: PathBuf::new(),
            files: files(&[("a", "1"), ("b", "2"), ("c", "3")]),
        };
        let before = files(&[("a", "1"), ("b", "x"), ("d", "4")]);
        assert_eq!(
            now.changes_since(&before),
            ["b (changed)", "c (new)", "d (removed)"]
        );
        assert_eq!(now.changes_since(&now.files), Vec::<String>::new());
    }
}
