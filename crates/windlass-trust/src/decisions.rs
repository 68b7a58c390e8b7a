//! The file of decisions: `trust.json` in the home, readable and writable by its owner alone.

use std::collections::{BTreeMap, HashMap};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use windlass_files::{Access, Directory, FileError};
use windlass_ports::{Executables, Runs, Standing, Trust, TrustDecision, trust};
use windlass_types::{Digest, Problem, Timestamp, code};

use crate::executables::{self, Cache};

/// The user's decisions, in a file.
#[derive(Clone, Debug)]
pub struct TrustFile {
    path: PathBuf,
    cache: Arc<Cache>,
    /// What trusted code of a directory left there, in this process.
    left: Arc<Mutex<HashMap<PathBuf, BTreeMap<String, Digest>>>>,
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
        Self {
            path,
            cache: Arc::default(),
            left: Arc::default(),
        }
    }

    fn read(&self) -> Result<FileV1, Problem> {
        let bytes = match fs_err::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(FileV1::default()),
            Err(error) => return Err(self.unusable(error)),
        };
        let metadata = fs_err::metadata(&self.path).map_err(|error| self.unusable(error))?;
        if metadata.mode() & 0o022 != 0 {
            return Err(self.unusable("others may write it"));
        }
        let file: FileV1 = serde_json::from_slice(&bytes).map_err(|error| self.unusable(error))?;
        match file.version {
            1 => Ok(file),
            other => Err(self.unusable(format!("it has version {other}, which is not known"))),
        }
    }

    /// Changes the decisions, one process at a time; the file is whole at every moment.
    fn change<T>(&self, change: impl FnOnce(&mut Vec<DecisionV1>) -> T) -> Result<T, Problem> {
        let failed = |error: FileError| self.unusable(error);
        let home = self.path.parent().unwrap_or(Path::new("/"));
        let home = Directory::create(home, Access::Private).map_err(failed)?;
        let name = Path::new(self.path.file_name().unwrap_or_default());
        let lock = home
            .append_file(&name.with_extension("lock"), Access::Private)
            .map_err(failed)?;
        lock.lock().map_err(|error| self.unusable(error))?;
        let mut file = self.read()?;
        file.version = 1;
        let answer = change(&mut file.decisions);
        file.decisions.sort_by(|a, b| a.directory.cmp(&b.directory));
        let text = serde_json::to_vec_pretty(&file).map_err(|error| self.unusable(error))?;
        home.write(name, &text, Access::Private).map_err(failed)?;
        Ok(answer)
    }

    fn left(&self) -> MutexGuard<'_, HashMap<PathBuf, BTreeMap<String, Digest>>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unusable(&self, cause: impl std::fmt::Display) -> Problem {
        let path = self.path.display();
        Problem::new(
            &code::STORE_UNAVAILABLE,
            format!("the trust decisions in {path} cannot be used: {cause}"),
        )
        .next(format!(
            "delete {} and trust your projects again; windlass trust DIR",
            trust::quoted(&self.path)
        ))
    }
}

impl Trust for TrustFile {
    fn standing(&self, directory: &Path, runs: Runs) -> Standing {
        let Ok(directory) = fs_err::canonicalize(directory) else {
            return Standing::Undecided;
        };
        let file = match self.read() {
            Ok(file) => file,
            Err(problem) => return Standing::Unusable(Box::new(problem)),
        };
        let mut decisions = file.decisions.into_iter();
        let Some(decision) = decisions.find(|it| it.directory == directory) else {
            return Standing::Undecided;
        };
        let changes = match runs {
            Runs::Code => executables::find(&directory, &self.cache).map(|now| {
                let left = self.left();
                match left.get(&directory) {
                    Some(left) if now.changes_since(left).is_empty() => Vec::new(),
                    _ => now.changes_since(&decision.files),
                }
            }),
            Runs::Installed => executables::find_installed(&directory, &self.cache)
                .map(|now| now.unlike(&decision.files)),
            Runs::Git => executables::find_git(&directory, &self.cache)
                .map(|now| now.unlike(&decision.files)),
        };
        let changes = match changes {
            Ok(changes) => changes,
            Err(problem) => vec![problem.message().to_owned()],
        };
        if changes.is_empty() {
            Standing::Trusted
        } else {
            Standing::Changed(changes)
        }
    }

    fn ran(&self, directory: &Path) {
        if let Ok(Executables { directory, files }) = executables::find(directory, &self.cache) {
            self.left().insert(directory, files);
        }
    }

    fn inspect(&self, directory: &Path) -> Result<Executables, Problem> {
        executables::find(directory, &self.cache)
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

    fn stands(trust: &TrustFile, directory: &Path) -> Standing {
        trust.standing(directory, Runs::Code)
    }

    fn is_unusable(trust: &TrustFile, directory: &Path) -> bool {
        matches!(stands(trust, directory), Standing::Unusable(problem)
            if problem.next_actions()[0].contains("delete "))
    }

    #[test]
    fn a_decision_holds_for_one_directory_until_its_content_changes() {
        let folder = tempfile::tempdir().unwrap();
        let trust = TrustFile::at(folder.path().join("home/trust.json"));
        let project = folder.path().join("project");
        fs_err::create_dir_all(project.join("below")).unwrap();
        fs_err::write(project.join("stacktape.ts"), "1").unwrap();
        assert_eq!(stands(&trust, &project), Standing::Undecided);
        decide(&trust, &project);
        assert_eq!(stands(&trust, &project), Standing::Trusted);
        assert_eq!(stands(&trust, &project.join("below")), Standing::Undecided);
        assert_eq!(stands(&trust, &project.join("below/..")), Standing::Trusted);
        fs_err::write(project.join("stacktape.ts"), "2").unwrap();
        fs_err::write(project.join("setup.py"), "").unwrap();
        assert_eq!(
            stands(&trust, &project),
            Standing::Changed(vec![
                "setup.py (new)".to_owned(),
                "stacktape.ts (changed)".to_owned()
            ])
        );
        decide(&trust, &project);
        assert_eq!(stands(&trust, &project), Standing::Trusted);
        assert_eq!(trust.decisions().unwrap().len(), 1);
        assert!(trust.revoke(&project).unwrap());
        assert!(!trust.revoke(&project).unwrap());
        assert_eq!(stands(&trust, &project), Standing::Undecided);
    }

    #[test]
    fn sources_are_input_of_installed_programs_and_not_their_code() {
        let folder = tempfile::tempdir().unwrap();
        let trust = TrustFile::at(folder.path().join("home/trust.json"));
        let project = folder.path().join("project");
        fs_err::create_dir_all(project.join("node_modules/.bin")).unwrap();
        fs_err::write(project.join("node_modules/.bin/esbuild"), "1").unwrap();
        fs_err::write(project.join("f.ts"), "1").unwrap();
        fs_err::write(project.join("yarn.lock"), "1").unwrap();
        let stands = |runs| trust.standing(&project, runs);
        assert_eq!(stands(Runs::Installed), Standing::Undecided);
        decide(&trust, &project);
        fs_err::write(project.join("f.ts"), "2").unwrap();
        let changed =
            |names: &[&str]| Standing::Changed(names.iter().map(|it| (*it).to_owned()).collect());
        assert_eq!(stands(Runs::Installed), Standing::Trusted);
        assert_eq!(stands(Runs::Code), changed(&["f.ts (changed)"]));
        decide(&trust, &project);
        fs_err::write(project.join("node_modules/.bin/esbuild"), "2").unwrap();
        fs_err::write(project.join("yarn.lock"), "2").unwrap();
        let wanted = changed(&["node_modules/.bin/esbuild (changed)", "yarn.lock (changed)"]);
        assert_eq!(stands(Runs::Installed), wanted);
        assert_eq!(stands(Runs::Code), wanted);
    }

    #[test]
    fn what_trusted_code_writes_does_not_end_its_own_work() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("home/trust.json");
        let trust = TrustFile::at(path.clone());
        let project = folder.path().join("project");
        fs_err::create_dir(&project).unwrap();
        fs_err::write(project.join("hook.sh"), "1").unwrap();
        decide(&trust, &project);
        fs_err::write(project.join("generated.json"), "{}").unwrap();
        assert_ne!(stands(&trust, &project), Standing::Trusted);
        trust.ran(&project);
        assert_eq!(stands(&trust, &project), Standing::Trusted);
        // Only in this process, only this content, only while it is trusted.
        assert_ne!(stands(&TrustFile::at(path), &project), Standing::Trusted);
        fs_err::write(project.join("hook.sh"), "2").unwrap();
        assert_ne!(stands(&trust, &project), Standing::Trusted);
        fs_err::write(project.join("hook.sh"), "1").unwrap();
        assert!(trust.revoke(&project).unwrap());
        assert_eq!(stands(&trust, &project), Standing::Undecided);
    }

    #[test]
    fn the_file_is_its_owners_alone_and_damage_trusts_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trust.json");
        let trust = TrustFile::at(path.clone());
        let folder = tempfile::tempdir().unwrap();
        decide(&trust, folder.path());
        let mode = |path: &Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(stands(&trust, folder.path()), Standing::Trusted);
        fs_err::set_permissions(&path, PermissionsExt::from_mode(0o666)).unwrap();
        assert!(is_unusable(&trust, folder.path()));
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
            assert!(is_unusable(&trust, folder.path()), "{damage}");
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
