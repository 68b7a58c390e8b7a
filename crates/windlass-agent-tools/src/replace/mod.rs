//! `str_replace`: one text in a file by another.

mod edit;
mod typography;

use serde::Deserialize;
use serde_json::Value;
use windlass_ports::{BoxFuture, ToolSpec};

use crate::{
    Code, Context, Failure, FileChange, Look, Outcome, Places, Ran, Tool,
    arguments::read,
    files::{self, Content, MOST_BYTES},
    places::Held,
    schema::{filled, flag, login, spec, text},
    view::remote,
};

/// A longer difference is cut: the model wrote it.
const MOST_DIFF: usize = 16 * 1024;

pub(crate) struct StrReplace(ToolSpec);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    old_str: String,
    new_str: String,
    #[serde(default)]
    replace_all: bool,
    password: Option<String>,
    private_key_path: Option<String>,
}

impl Default for StrReplace {
    fn default() -> Self {
        let mut fields = vec![
            ("path!", filled("Path of the file.")),
            (
                "old_str!",
                filled("The text to replace, exactly as it is in the file, without line numbers."),
            ),
            ("new_str!", text("The text that takes its place.")),
            (
                "replace_all",
                flag("Replace every occurrence. Without it, old_str must occur exactly once."),
            ),
        ];
        fields.extend(login());
        Self(spec(
            "str_replace",
            "Replace text in a file. Fails with STRING_NOT_UNIQUE and line numbers if old_str \
             occurs more than once and replace_all is not set; include more lines around it then. \
             Returns the difference.",
            &fields,
        ))
    }
}

impl Tool for StrReplace {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn look(&self, input: &Value, places: &Places) -> Result<Look, Failure> {
        Look::at_file(&checked(input)?.path, places)
    }

    fn run<'a>(&'a self, input: Value, context: &'a Context) -> BoxFuture<'a, Ran> {
        Box::pin(async move { Ran::Done(replace(input, context).await.into()) })
    }
}

/// The arguments, of a path of this machine.
fn checked(input: &Value) -> Result<Input, Failure> {
    let input: Input = read(input)?;
    remote::refuse(&input.path, &input.password, &input.private_key_path)?;
    Ok(input)
}

struct Edited {
    held: Held,
    seen: Content,
    bytes: Vec<u8>,
    told: String,
}

async fn replace(input: Value, context: &Context) -> Result<Outcome, Failure> {
    let input = checked(&input)?;
    let places = context.places.clone();
    let edited = files::blocking(move || prepare(&places, &input)).await?;
    let copy = context.blobs.put(edited.seen.bytes.clone()).await;
    copy.map_err(|error| Failure::new(Code::BackupError, error.to_string()))?;
    files::blocking(move || {
        let Edited {
            held,
            seen,
            bytes,
            told,
        } = edited;
        files::replace(&held.parent, &held.name, &seen, &bytes)?;
        let after = Content {
            mode: seen.mode & 0o777,
            bytes,
        };
        let mut outcome = Outcome::text(told);
        outcome.changes.push(FileChange {
            path: held.absolute.display().to_string(),
            before: seen.state(),
            after: after.state(),
        });
        Ok(outcome)
    })
    .await
}

/// Reads the file and makes the new content; writes nothing.
fn prepare(places: &Places, input: &Input) -> Result<Edited, Failure> {
    let located = places.locate_to_write(&input.path)?;
    let shown = located.absolute.display().to_string();
    let held = located.hold(false)?;
    let seen = files::read(&held.parent, &held.name, MOST_BYTES)
        .map_err(|error| Failure::of_file(error, Code::ReadError))?;
    let seen =
        seen.ok_or_else(|| Failure::new(Code::FileNotFound, format!("{shown} does not exist.")))?;
    let Ok(text) = std::str::from_utf8(&seen.bytes) else {
        return Err(Failure::new(
            Code::ReadError,
            format!("{shown} is not UTF-8 text, so it is not edited."),
        ));
    };
    let edit = edit::edit(text, &input.old_str, &input.new_str, input.replace_all)
        .map_err(|failure| Failure::new(failure.code, format!("{shown}: {}", failure.message)))?;
    let label = located
        .below()
        .map_or(shown.clone(), |(_, below)| below.display().to_string());
    let mut diff = windlass_text::unified(
        text,
        &edit.text,
        &format!("a/{label}"),
        &format!("b/{label}"),
    );
    if diff.len() > MOST_DIFF {
        diff.truncate(diff.floor_char_boundary(MOST_DIFF));
        diff.push_str("\n[the rest of the difference is left out]\n");
    }
    let how = match edit.is_exact {
        true => "",
        false => " The text differed only in quotes, dashes, blanks or line ends.",
    };
    let places = match edit.count {
        1 => "1 place".to_owned(),
        count => format!("{count} places"),
    };
    Ok(Edited {
        told: format!("Replaced {places} in {shown}.{how}\n{diff}"),
        bytes: edit.text.into_bytes(),
        held,
        seen,
    })
}

#[cfg(test)]
#[path = "../replace_tests.rs"]
mod tests;
