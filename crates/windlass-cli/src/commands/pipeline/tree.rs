//! Writes what was made: a project's files below one directory, and through no link in it.

use std::path::Path;

use windlass_files::{Access, Directory, FileError};
use windlass_types::{Problem, code};

/// Writes files below a directory, which must be empty or not there unless `force`. A path that
/// leaves it or runs through a link is refused before anything is written. Returns how many.
pub(super) fn write<'a>(
    files: impl IntoIterator<Item = (&'a str, &'a str)>,
    directory: &Path,
    force: bool,
) -> Result<usize, Problem> {
    let files: Vec<(&Path, &str)> = files
        .into_iter()
        .map(|(path, content)| (Path::new(path), content))
        .collect();
    let root = Directory::create(directory, Access::Usual).map_err(failed)?;
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
    for (path, _) in &files {
        root.check(path).map_err(failed)?;
    }
    for (path, content) in &files {
        root.write(path, content.as_bytes(), Access::Usual)
            .map_err(failed)?;
    }
    Ok(files.len())
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
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn files_stay_below_the_directory() {
        let base = tempfile::tempdir().unwrap();
        let directory = base.path().join("project");
        for path in ["../out.txt", "/etc/out.txt", "a/../../out.txt", ""] {
            let problem = write([("first", "1"), (path, "x")], &directory, true).unwrap_err();
            assert_eq!(problem.code().name, "PATH_ESCAPE", "{path}");
            assert!(!directory.join("first").exists(), "{path}");
        }
        let files = [("src/a.ts", "a\n")];
        assert_eq!(write(files, &directory, false).unwrap(), 1);
        let again = write(files, &directory, false).unwrap_err();
        assert_eq!(again.details()["constraint"], "empty");
        write(files, &directory, true).unwrap();
        assert!(!base.path().join("out.txt").exists());
    }

    #[test]
    fn a_link_is_named_and_nothing_is_written() {
        let base = tempfile::tempdir().unwrap();
        let (directory, theirs) = (base.path().join("project"), base.path().join("theirs"));
        fs_err::create_dir_all(&directory).unwrap();
        fs_err::create_dir(&theirs).unwrap();
        symlink(&theirs, directory.join("src")).unwrap();
        let files = [("README.md", "1"), ("src/a.ts", "2")];
        let problem = write(files, &directory, true).unwrap_err();
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
        assert_eq!(write(files, &named, false).unwrap(), 2);
    }
}
