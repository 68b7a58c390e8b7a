//! Writes what was made: a project's files below one directory, and never outside of it.

use std::path::{Component, Path};

use windlass_types::{Problem, code};

use super::view::Files;

/// Writes the files of a code output. The directory must be empty or not there, unless `force`.
pub(super) fn write(output: &Files, directory: &Path, force: bool) -> Result<(), Problem> {
    if !force && directory.is_dir() {
        let mut entries = fs_err::read_dir(directory).map_err(failed)?;
        if entries.next().is_some() {
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
    }
    for file in &output.files {
        write_one(directory, &file.path, &file.content)?;
    }
    Ok(())
}

/// Writes one file below a directory.
pub(super) fn write_one(directory: &Path, path: &str, content: &str) -> Result<(), Problem> {
    let relative = Path::new(path);
    let stays = !path.is_empty()
        && relative
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
    if !stays {
        return Err(Problem::new(
            &code::PATH_ESCAPE,
            format!("{path:?} would leave the directory; nothing more is written"),
        ));
    }
    let target = directory.join(relative);
    if let Some(parent) = target.parent() {
        fs_err::create_dir_all(parent).map_err(failed)?;
    }
    fs_err::write(target, content).map_err(failed)
}

fn failed(error: std::io::Error) -> Problem {
    Problem::new(
        &code::STORE_UNAVAILABLE,
        format!("the project cannot be written: {error}"),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_stay_below_the_directory() {
        let base = tempfile::tempdir().unwrap();
        let directory = base.path().join("project");
        for path in ["../out.txt", "/etc/out.txt", "a/../../out.txt", ""] {
            let problem = write_one(&directory, path, "x").unwrap_err();
            assert_eq!(problem.code().name, "PATH_ESCAPE", "{path}");
        }
        let output = json!({ "files": [{ "path": "src/a.ts", "content": "a\n", "language": "typescript" }] });
        let output: Files = serde_json::from_value(output).unwrap();
        write(&output, &directory, false).unwrap();
        let again = write(&output, &directory, false).unwrap_err();
        assert_eq!(again.details()["constraint"], "empty");
        write(&output, &directory, true).unwrap();
        assert!(!base.path().join("out.txt").exists());
    }
}
