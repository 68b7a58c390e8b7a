//! The file of decisions: `trust.json` in the home, readable and writable by its owner alone.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use windlass_ports::{Executables, Standing, Trust, TrustDecision};
use windlass_types::{Digest, Problem, Timestamp, code};

use crate::executables;

/// The user's decisions, in a file.
#[derive(Clone, Debug)]
pub struct TrustFile {
    path: PathBuf,
}

#[derive(Default, Serialize, Deserialize)]
struct FileV1 {
    version: u32,
    decisions: Vec<DecisionV1>,
}

#[derive(Serialize, Deserialize)]
struct DecisionV1 {
    directory: PathBuf,
    granted_by: String,
    granted_at: Timestamp,
    files: BTreeMap<String, Digest>,
}

impl TrustFile {
    /// Decisions kept at a path. Nothing is read before it is asked for.
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    fn read(&self) -> Result<FileV1, Problem> {
        let bytes = match fs_err::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(FileV1::default()),
            Err(error) => return Err(self.unusable(error)),
        };
        let metadata = fs_err::metadata(&self.path).map_err(|error| self.unusable(error))?;
        if metadata.mode() & 0o022 != 0 {
            let problem = self.unusable("others may write it");
            return Err(problem.next(format!("chmod 600 {}", self.path.display())));
        }
        let file: FileV1 = serde_json::from_slice(&bytes).map_err(|error| self.unusable(error))?;
        match file.version {
            1 => Ok(file),
            other => Err(self.unusable(format!("it has version {other}, which is not known"))),
        }
    }

    /// Changes the decisions, one process at a time; the file is whole at every moment.
    fn change<T>(&self, change: impl FnOnce(&mut Vec<DecisionV1>) -> T) -> Result<T, Problem> {
        let failed = |error: std::io::Error| self.unusable(error);
        let home = self.path.parent().unwrap_or(Path::new("/"));
        let mut directories = std::fs::DirBuilder::new();
        directories.recursive(true).mode(0o700);
        directories.create(home).map_err(failed)?;
        let lock = File::create(self.path.with_extension("lock")).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let mut file = self.read()?;
        file.version = 1;
        let answer = change(&mut file.decisions);
        file.decisions.sort_by(|a, b| a.directory.cmp(&b.directory));
        let text = serde_json::to_vec_pretty(&file).map_err(|error| self.unusable(error))?;
        // A temporary file is its owner's alone.
        let mut aside = tempfile::NamedTempFile::new_in(home).map_err(failed)?;
        aside.write_all(&text).map_err(failed)?;
        aside.as_file().sync_all().map_err(failed)?;
        let renamed = aside.persist(&self.path);
        renamed.map_err(|error| self.unusable(error.error))?;
        Ok(answer)
    }

    fn unusable(&self, cause: impl std::fmt::Display) -> Problem {
        let path = self.path.display();
        Problem::new(
            &code::STORE_UNAVAILABLE,
            format!("the trust decisions in {path} cannot be used: {cause}"),
        )
    }
}

impl Trust for TrustFile {
    fn standing(&self, directory: &Path) -> Standing {
        let Ok(directory) = fs_err::canonicalize(directory) else {
            return Standing::Undecided;
        };
        let Ok(file) = self.read() else {
            return Standing::Undecided;
        };
        let mut decisions = file.decisions.into_iter();
        let Some(decision) = decisions.find(|it| it.directory == directory) else {
            return Standing::Undecided;
        };
        let changes = match executables::find(&directory) {
            Ok(now) => now.changes_since(&decision.files),
            Err(problem) => vec![problem.message().to_owned()],
        };
        if changes.is_empty() {
            Standing::Trusted
        } else {
            Standing::Changed(changes)
        }
    }

    fn inspect(&self, directory: &Path) -> Result<Executables, Problem> {
        executables::find(directory)
    }

    fn grant(&self, decision: TrustDecision) -> Result<(), Problem> {
        let Executables { directory, files } = decision.executables;
        self.change(|decisions| {
            decisions.retain(|it| it.directory != directory);
            decisions.push(DecisionV1 {
                directory,
                granted_by: decision.granted_by,
                granted_at: decision.granted_at,
                files,
            });
        })
    }

    fn revoke(&self, directory: &Path) -> Result<bool, Problem> {
        // A directory that is gone can be forgotten, too.
        let known = fs_err::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
        if !self
            .read()?
            .decisions
            .iter()
            .any(|it| it.directory == known)
        {
            return Ok(false);
        }
        self.change(|decisions| {
            let before = decisions.len();
            decisions.retain(|it| it.directory != known);
            decisions.len() < before
        })
    }

    fn decisions(&self) -> Result<Vec<TrustDecision>, Problem> {
        let decisions = self.read()?.decisions.into_iter();
        Ok(decisions
            .map(|it| TrustDecision {
                executables: Executables {
                    directory: it.directory,
                    files: it.files,
                },
                granted_by: it.granted_by,
                granted_at: it.granted_at,
            })
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn decide(trust: &TrustFile, directory: &Path) {
        trust
            .grant(TrustDecision {
                executables: trust.inspect(directory).unwrap(),
                granted_by: "local:ada".to_owned(),
                granted_at: Timestamp::EPOCH,
            })
            .unwrap();
    }

    #[test]
    fn a_decision_holds_for_one_directory_until_its_content_changes() {
        let folder = tempfile::tempdir().unwrap();
        let trust = TrustFile::at(folder.path().join("home/trust.json"));
        let project = folder.path().join("project");
        fs_err::create_dir_all(project.join("below")).unwrap();
        fs_err::write(project.join("stacktape.ts"), "1").unwrap();
        assert_eq!(trust.standing(&project), Standing::Undecided);
        decide(&trust, &project);
        assert_eq!(trust.standing(&project), Standing::Trusted);
        assert_eq!(trust.standing(&project.join("below")), Standing::Undecided);
        assert_eq!(trust.standing(&project.join("below/..")), Standing::Trusted);
        fs_err::write(project.join("stacktape.ts"), "2").unwrap();
        fs_err::write(project.join("setup.py"), "").unwrap();
        assert_eq!(
            trust.standing(&project),
            Standing::Changed(vec![
                "setup.py (new)".to_owned(),
                "stacktape.ts (changed)".to_owned()
            ])
        );
        decide(&trust, &project);
        assert_eq!(trust.standing(&project), Standing::Trusted);
        assert_eq!(trust.decisions().unwrap().len(), 1);
        assert!(trust.revoke(&project).unwrap());
        assert!(!trust.revoke(&project).unwrap());
        assert_eq!(trust.standing(&project), Standing::Undecided);
    }

    #[test]
    fn the_file_is_its_owners_alone_and_damage_trusts_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trust.json");
        let trust = TrustFile::at(path.clone());
        decide(&trust, folder.path());
        let mode = |path: &Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(trust.standing(folder.path()), Standing::Trusted);
        fs_err::set_permissions(&path, PermissionsExt::from_mode(0o666)).unwrap();
        assert_eq!(trust.standing(folder.path()), Standing::Undecided);
        assert!(
            trust
                .decisions()
                .unwrap_err()
                .message()
                .contains("others may write it")
        );
        fs_err::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        for damage in ["{", "{\"version\": 2, \"decisions\": []}", "[]"] {
            fs_err::write(&path, damage).unwrap();
            assert_eq!(
                trust.standing(folder.path()),
                Standing::Undecided,
                "{damage}"
            );
            trust.revoke(folder.path()).unwrap_err();
        }
    }

    #[test]
    fn decisions_made_at_once_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let trust = TrustFile::at(folder.path().join("home/trust.json"));
        std::thread::scope(|scope| {
            for number in 0..8 {
                let (trust, root) = (&trust, folder.path());
                scope.spawn(move || {
                    let directory = root.join(number.to_string());
                    fs_err::create_dir(&directory).unwrap();
                    decide(trust, &directory);
                });
            }
        });
        assert_eq!(trust.decisions().unwrap().len(), 8);
    }
}
