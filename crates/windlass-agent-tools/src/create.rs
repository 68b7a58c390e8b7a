//! `create`: a new file, with the directories above it.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use windlass_files::Access;
use windlass_ports::{BoxFuture, ToolSpec};
use windlass_types::Digest;

use crate::{
    Code, Context, Failure, FileChange, FileState, Look, Outcome, Places, Ran, Tool,
    arguments::read,
    files,
    schema::{filled, login, spec, text},
    view::remote,
};

pub(crate) struct Create(ToolSpec);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    file_text: String,
    password: Option<String>,
    private_key_path: Option<String>,
}

impl Default for Create {
    fn default() -> Self {
        let mut fields = vec![
            (
                "path!",
                filled("Path of the new file, relative to the work tree or absolute."),
            ),
            ("file_text!", text("The whole content.")),
        ];
        fields.extend(login());
        Self(spec(
            "create",
            "Create a new file with the given content. Missing parent directories are created. \
             Fails with FILE_EXISTS if something has that path already; use str_replace to change \
             a file.",
            &fields,
        ))
    }
}

impl Tool for Create {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn look(&self, input: &Value, places: &Places) -> Result<Look, Failure> {
        Look::at_file(&checked(input)?.path, places)
    }

    fn run<'a>(&'a self, input: Value, context: &'a Context) -> BoxFuture<'a, Ran> {
        let places = context.places.clone();
        Box::pin(async move {
            let work = move || create(&places, &checked(&input)?);
            Ran::Done(files::blocking(work).await.into())
        })
    }
}

/// The arguments, of a path of this machine.
fn checked(input: &Value) -> Result<Input, Failure> {
    let input: Input = read(input)?;
    remote::refuse(&input.path, &input.password, &input.private_key_path)?;
    Ok(input)
}

fn create(places: &Places, input: &Input) -> Result<Outcome, Failure> {
    let located = places.locate_to_write(&input.path)?;
    let shown = located.absolute.display();
    let Some((root, below)) = located.below() else {
        return Err(Failure::new(
            Code::InvalidPath,
            format!("{shown} is outside."),
        ));
    };
    let failed = |error| Failure::of_file(error, Code::CreateError);
    let above = below.parent().filter(|above| !above.as_os_str().is_empty());
    let missing = match above {
        Some(above) => missing(root, above).map_err(failed)?,
        None => Vec::new(),
    };
    let parent = root
        .make_directory(above.unwrap_or(Path::new(".")), Access::Usual)
        .map_err(failed)?;
    let name = below.file_name().map(PathBuf::from).unwrap_or_default();
    let made =
        match parent.kind(&name) {
            Ok(Some(_)) => Err(exists(&shown.to_string())),
            Ok(None) => files::write_new(&parent, &name, input.file_text.as_bytes(), None).map_err(
                |error| match error.io_kind() {
                    Some(std::io::ErrorKind::AlreadyExists) => exists(&shown.to_string()),
                    _ => failed(error),
                },
            ),
            Err(error) => Err(failed(error)),
        };
    let mode = match made {
        Ok(mode) => mode,
        Err(failure) => {
            for directory in missing.iter().rev() {
                // Only what was made for nothing; one that is in use by now stays.
                let _ = root.remove_directory(directory);
            }
            return Err(failure);
        }
    };
    let change = |path: PathBuf, after| FileChange {
        path: path.display().to_string(),
        before: FileState::Absent,
        after,
    };
    let mut outcome = Outcome::text(format!(
        "Created {shown} ({} lines, {} bytes).",
        input.file_text.lines().count(),
        input.file_text.len()
    ));
    let directories = missing
        .iter()
        .map(|path| change(root.path().join(path), FileState::Directory { mode: 0o777 }));
    outcome.changes = directories.collect();
    outcome.changes.push(change(
        located.absolute.clone(),
        FileState::File {
            digest: Digest::of(input.file_text.as_bytes()),
            mode,
        },
    ));
    Ok(outcome)
}

fn exists(shown: &str) -> Failure {
    Failure::new(
        Code::FileExists,
        format!("{shown} exists already. Use str_replace to change it, or another path."),
    )
}

/// The directories that are not there yet, outermost first.
fn missing(
    root: &windlass_files::Directory,
    above: &Path,
) -> Result<Vec<PathBuf>, windlass_files::FileError> {
    let mut missing = Vec::new();
    let mut path = PathBuf::new();
    for part in above.components() {
        path.push(part);
        // Below a directory that is missing everything is.
        if !missing.is_empty() || root.kind(&path)?.is_none() {
            missing.push(path.clone());
        }
    }
    Ok(missing)
}

#[cfg(test)]
#[path = "create_tests.rs"]
mod tests;
