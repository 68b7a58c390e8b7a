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
/// How many files are listed one by one.
const MOST_LINES: usize = 30;

/// What a directory could run: every file that decides what runs, with its content's digest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Executables {
    /// The directory, as the disk knows it.
    pub directory: PathBuf,
    /// Files by their path, relative to the directory where they are in it.
    pub files: BTreeMap<String, Digest>,
}

impl Executables {
    /// The digest over the directory, all files and their names.
    pub fn digest(&self) -> Digest {
        let files = self
            .files
            .iter()
            .flat_map(|(path, digest)| [path.as_bytes(), digest.as_bytes().as_slice()]);
        let directory = self.directory.as_os_str().as_encoded_bytes();
        let parts: Vec<&[u8]> = std::iter::once(directory).chain(files).collect();
        Digest::of_parts(&parts)
    }

    /// The files that differ from those of an earlier time, with how.
    pub fn changes_since(&self, earlier: &BTreeMap<String, Digest>) -> Vec<String> {
        let gone = earlier
            .keys()
            .filter(|path| !self.files.contains_key(*path));
        let gone = gone.map(|path| format!("{path} (removed)"));
        self.unlike(earlier).into_iter().chain(gone).collect()
    }

    /// The files that an earlier time did not have, or had otherwise.
    pub fn unlike(&self, earlier: &BTreeMap<String, Digest>) -> Vec<String> {
        let unlike = |(path, digest): (&String, &Digest)| match earlier.get(path) {
            Some(before) if before == digest => None,
            Some(_) => Some(format!("{path} (changed)")),
            None => Some(format!("{path} (new)")),
        };
        self.files.iter().filter_map(unlike).collect()
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

/// What is about to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// Code of the directory. It can load any other file of it, so that all of them count.
    Code,
    /// A program that was installed for the directory, whose files are its input: manifests, lock
    /// files and the program itself count.
    Installed,
    /// Hooks, filters and other programs that a repository's settings name: these, the settings,
    /// and the files they name count. Work on the repository's other files does not end it.
    Git,
}

/// Where a directory stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// Its programs may run.
    Trusted,
    /// Nobody has decided.
    Undecided,
    /// It was trusted with other content; these files differ.
    Changed(Vec<String>),
    /// The decisions cannot be read.
    Unusable(Box<Problem>),
}

/// The user's decisions.
pub trait Trust: Send + Sync {
    /// Where a directory stands now. Decisions cover one directory, not those below it. What cannot
    /// be read is not trusted.
    fn standing(&self, directory: &Path, runs: Runs) -> Standing;

    /// Says that code of a trusted directory has run: files that it wrote there do not end the trust
    /// for as long as this process works, so that a deploy can go on after its own scripts.
    fn ran(&self, _directory: &Path) {}

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
pub fn require(trust: &dyn Trust, directory: &Path, runs: Runs, what: &str) -> Result<(), Problem> {
    let directory = &directory
        .canonicalize()
        .unwrap_or_else(|_| directory.to_owned());
    let place = directory.display();
    let (message, changes) = match trust.standing(directory, runs) {
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
        Standing::Unusable(problem) => {
            let message = format!(
                "{what} is code of {place} and was not run: {}",
                problem.message()
            );
            let refused = Problem::new(&code::NOT_TRUSTED, message)
                .with("reason", "not_trusted")
                .with("directory", place.to_string());
            let next = problem.next_actions().iter().cloned();
            return Err(next.fold(refused, |refused, next| refused.next(next)));
        }
    };
    let mut problem = Problem::new(&code::NOT_TRUSTED, message)
        .with("reason", "not_trusted")
        .with("directory", place.to_string())
        .next(review(directory));
    if !changes.is_empty() {
        problem = problem.with("changed", changes);
    }
    Err(problem)
}

/// What to do about a directory that is not trusted.
pub fn review(directory: &Path) -> String {
    let place = quoted(directory);
    format!("review the project, then type in a terminal: windlass trust {place}")
}

/// What is said where programs of a repository were not run; nothing where there are none.
pub fn skipped(repository: &Path, programs: &[String]) -> Option<String> {
    let programs = (!programs.is_empty()).then(|| listed(programs))?;
    let place = quoted(repository);
    Some(format!(
        "programs of {place} are off, because it is not trusted as it is now: {programs}; \
         windlass trust {place} lets them run"
    ))
}

/// Files for people: all of them where they are few, else folders with how many they have. What
/// git keeps is always named.
pub fn grouped(files: &[String]) -> Vec<String> {
    if files.len() <= MOST_LINES {
        return files.to_vec();
    }
    let mut groups: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for file in files {
        let of_git = file.starts_with(".git/") || file.starts_with('/');
        let name = match file.split_once('/') {
            Some((folder, _)) if !of_git => folder,
            _ => file,
        };
        groups.entry(name).or_insert((0, file)).0 += 1;
    }
    let shown = |(name, (count, file)): (&str, (usize, &str))| match (name == file, count) {
        (true, _) | (_, 1) => file.to_owned(),
        (false, count) => format!("{name}/ ({count} files)"),
    };
    groups.into_iter().map(shown).collect()
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
pub fn quoted(path: &Path) -> String {
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
    fn standing(&self, _: &Path, _: Runs) -> Standing {
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
        fn standing(&self, _: &Path, _: Runs) -> Standing {
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
        require(
            &Stands(Standing::Trusted),
            place,
            Runs::Code,
            "stacktape.ts",
        )
        .unwrap();
        let refused = require(&TrustNothing, place, Runs::Code, "stacktape.ts").unwrap_err();
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
        let changed = Stands(Standing::Changed(changes));
        let refused = require(&changed, place, Runs::Code, "x").unwrap_err();
        assert!(
            refused.message().contains("f5 (new) and 2 more"),
            "{refused}"
        );
        // Decisions that cannot be read are said to be, with what to do.
        let broken = Problem::new(&code::STORE_UNAVAILABLE, "trust.json is damaged");
        let broken = Stands(Standing::Unusable(Box::new(broken.next("delete it"))));
        let refused = require(&broken, place, Runs::Installed, "x").unwrap_err();
        assert!(is_refusal(&refused), "{refused}");
        assert!(refused.message().ends_with("trust.json is damaged"));
        assert_eq!(refused.next_actions(), ["delete it"]);
        // A directory is shown as the disk knows it.
        let place = std::env::temp_dir().join(".");
        let refused = require(&TrustNothing, &place.join("../tmp/.."), Runs::Code, "x");
        assert!(!refused.unwrap_err().message().contains(".."));
    }

    #[test]
    fn many_files_are_shown_by_folder() {
        let mut files: Vec<String> = (0..40).map(|number| format!("src/{number}.ts")).collect();
        assert_eq!(grouped(files.get(..30).unwrap_or_default()).len(), 30);
        for more in [
            ".git/hooks/a",
            ".git/config",
            "a.ts",
            "lib/b.ts",
            "/up/package.json",
        ] {
            files.push(more.to_owned());
        }
        assert_eq!(
            grouped(&files),
            [
                ".git/config",
                ".git/hooks/a",
                "/up/package.json",
                "a.ts",
                "lib/b.ts",
                "src/ (40 files)"
            ]
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
