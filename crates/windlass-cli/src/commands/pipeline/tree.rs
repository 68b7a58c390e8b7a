//! Writes what was made: a project's files below one directory, and through no link in it. A file
//! that may hold a secret is its owner's alone.

use std::path::Path;

use windlass_files::{Access, Directory, FileError, create_named};
use windlass_secrets::Redactor;
use windlass_types::{Problem, code};

use crate::output::counted;

/// How many private files are named.
const MOST_NAMES: usize = 5;

/// What was written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) files: usize,
    /// Files that may hold secrets.
    pub(super) private: Vec<String>,
}

impl Written {
    /// `12 files in app; 1 may hold secrets, so only you can read it (mode 0600): .env`.
    pub(super) fn message(&self, directory: &Path) -> String {
        let mut text = format!("{} in {}", counted(self.files, "file"), directory.display());
        let count = self.private.len();
        if count > 0 {
            let named = self.private.iter().take(MOST_NAMES).cloned();
            let named: Vec<String> = named.collect();
            let it = if count == 1 { "it" } else { "them" };
            let more = match count.saturating_sub(MOST_NAMES) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            text.push_str(&format!(
                "; {count} may hold secrets, so only you can read {it} (mode 0600): {}{more}",
                named.join(", ")
            ));
        }
        text
    }

    /// Names the private files in a document, too.
    pub(super) fn note(&self, output: &mut serde_json::Value) {
        if let (false, serde_json::Value::Object(fields)) = (self.private.is_empty(), output) {
            fields.insert("private_files".to_owned(), self.private.clone().into());
        }
    }
}

/// Whether files can be written to a directory: asked before any work is done for them. Makes it.
pub(super) fn ready(directory: &Path, force: bool) -> Result<Directory, Problem> {
    let root = create_named(directory, Access::Usual).map_err(failed)?;
    if !force && !root.names().map_err(failed)?.is_empty() {
        return Err(Problem::new(
            &code::INVALID_INPUT,
            format!(
                "{} is not empty; choose another directory, or overwrite it with --force",
                directory.display()
            ),
        )
        .with("field", "out")
        .with("constraint", "empty"));
    }
    Ok(root)
}

/// Writes files below a directory, which must be empty or not there unless `force`. A path that
/// leaves it or runs through a link is refused before anything is written.
pub(super) fn write<'a>(
    redactor: &Redactor,
    files: impl IntoIterator<Item = (&'a str, &'a str)>,
    directory: &Path,
    force: bool,
) -> Result<Written, Problem> {
    let files: Vec<(&Path, &str)> = files
        .into_iter()
        .map(|(path, content)| (Path::new(path), content))
        .collect();
    let root = ready(directory, force)?;
    for (path, _) in &files {
        root.check(path).map_err(failed)?;
    }
    let mut written = Written::default();
    for (path, content) in &files {
        let access = match redactor.finds_in(content.as_bytes()) {
            true => Access::Private,
            false => Access::Usual,
        };
        root.write(path, content.as_bytes(), access)
            .map_err(failed)?;
        written.files += 1;
        if access == Access::Private {
            written.private.push(path.display().to_string());
        }
    }
    Ok(written)
}

fn failed(error: FileError) -> Problem {
    error.into_problem(|error| {
        Problem::new(
            &code::STORE_UNAVAILABLE,
            format!("the project cannot be written: {error}"),
        )
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn put<'a>(
        files: impl IntoIterator<Item = (&'a str, &'a str)>,
        directory: &Path,
        force: bool,
    ) -> Result<usize, Problem> {
        write(&Redactor::new(), files, directory, force).map(|written| written.files)
    }

    #[test]
    fn a_file_with_a_secret_is_its_owners_alone() {
        let base = tempfile::tempdir().unwrap();
        let directory = base.path().join("project");
        let files = [
            ("src/a.ts", "export const a = 1;\n"),
            (
                ".env",
                "DATABASE_URL=postgres://app:Xk29dLq8vTz4@db.internal/app\n",
            ),
        ];
        let written = write(&Redactor::new(), files, &directory, false).unwrap();
        assert_eq!(written.private, [".env"]);
        let mode = |path: &str| {
            let metadata = fs_err::metadata(directory.join(path)).unwrap();
            metadata.permissions().mode() & 0o777
        };
        assert_eq!(mode(".env"), 0o600);
        assert_ne!(mode("src/a.ts") & 0o044, 0);
        assert_eq!(
            written.message(Path::new("app")),
            "2 files in app; 1 may hold secrets, so only you can read it (mode 0600): .env"
        );
        let mut output = serde_json::json!({ "files": [] });
        written.note(&mut output);
        assert_eq!(output["private_files"][0], ".env");
    }

    #[test]
    fn files_stay_below_the_directory() {
        let base = tempfile::tempdir().unwrap();
        let directory = base.path().join("project");
        for path in ["../out.txt", "/etc/out.txt", "a/../../out.txt", ""] {
            let problem = put([("first", "1"), (path, "x")], &directory, true).unwrap_err();
            assert_eq!(problem.code().name, "PATH_ESCAPE", "{path}");
            assert!(!directory.join("first").exists(), "{path}");
        }
        let files = [("src/a.ts", "a\n")];
        assert_eq!(put(files, &directory, false).unwrap(), 1);
        let again = put(files, &directory, false).unwrap_err();
        assert_eq!(again.details()["constraint"], "empty");
        put(files, &directory, true).unwrap();
        assert!(!base.path().join("out.txt").exists());
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_found_before_the_work() {
        let base = tempfile::tempdir().unwrap();
        let file = base.path().join("file");
        fs_err::write(&file, "").unwrap();
        assert!(ready(&file, true).is_err());
        assert!(ready(&file.join("below"), true).is_err());
        let problem = ready(base.path(), false).err().unwrap();
        assert_eq!(problem.details()["constraint"], "empty");
        assert!(ready(base.path(), true).is_ok());
        assert!(ready(&base.path().join("new/project"), false).is_ok());
    }

    #[test]
    fn a_link_is_named_and_nothing_is_written() {
        let base = tempfile::tempdir().unwrap();
        let (directory, theirs) = (base.path().join("project"), base.path().join("theirs"));
        fs_err::create_dir_all(&directory).unwrap();
        fs_err::create_dir(&theirs).unwrap();
        symlink(&theirs, directory.join("src")).unwrap();
        let files = [("README.md", "1"), ("src/a.ts", "2")];
        let problem = put(files, &directory, true).unwrap_err();
        assert_eq!(problem.code().name, "PATH_ESCAPE");
        assert_eq!(
            problem.details()["link_target"],
            theirs.canonicalize().unwrap().display().to_string()
        );
        assert_eq!(fs_err::read_dir(&theirs).unwrap().count(), 0);
        assert!(!directory.join("README.md").exists());
        // The directory itself is the user's choice.
        let named = base.path().join("named");
        symlink(&theirs, &named).unwrap();
        assert_eq!(put(files, &named, false).unwrap(), 2);
    }
}
