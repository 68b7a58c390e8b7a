//! `view`: a file, a directory, or what is found in them.

mod file;
mod ignored;
mod lines;
pub(crate) mod remote;
mod search;
mod tree;

use std::path::Path;

use rustix::fs::FileType;
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_agent_model::{Source, SourceKind};
use windlass_policy::ToolClass;
use windlass_ports::{BoxFuture, ToolSpec};

use crate::{
    Code, Context, Failure, Look, Outcome, Places, Ran, Tool,
    arguments::read,
    files,
    schema::{filled, flag, login, spec},
};

/// As much text as one call tells.
const MOST_TEXT: usize = 64 * 1024;
/// Lines of a file, where none are asked for.
const LINES: u64 = 300;

pub(crate) struct View(ToolSpec);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    view_range: Option<(i64, i64)>,
    grep: Option<String>,
    glob: Option<String>,
    #[serde(default)]
    tree: bool,
    password: Option<String>,
    private_key_path: Option<String>,
}

impl Default for View {
    fn default() -> Self {
        let mut fields = vec![
            (
                "path!",
                filled("Path of a file or directory, relative to the work tree or absolute."),
            ),
            (
                "view_range",
                json!({
                    "type": "array",
                    "items": { "type": "integer" },
                    "minItems": 2,
                    "maxItems": 2,
                    "description": "First and last line, from 1; -1 as the last is the end.",
                }),
            ),
            (
                "grep",
                filled("A regular expression: lists the lines it matches."),
            ),
            (
                "glob",
                filled("Only files whose name or path fits, such as *.rs or src/**/*.toml."),
            ),
            (
                "tree",
                flag("List a directory three levels deep instead of one."),
            ),
        ];
        fields.extend(login());
        Self(spec(
            "view",
            "View a file with line numbers (300 lines unless view_range is given), an image, or a \
             directory. With grep or glob, search in it instead. What .gitignore leaves out is not \
             listed or searched, but can be viewed by its path.",
            &fields,
        ))
    }
}

impl Tool for View {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn look(&self, input: &Value, places: &Places) -> Result<Look, Failure> {
        let input = checked(input)?;
        let located = places.locate(&input.path)?;
        let class = match located.is_inside() {
            true => ToolClass::Read,
            false => ToolClass::ReadOutside,
        };
        Ok(Look::new(class).path(located.text()))
    }

    fn run<'a>(&'a self, input: Value, context: &'a Context) -> BoxFuture<'a, Ran> {
        let places = context.places.clone();
        let may_read_outside = context.may_read_outside;
        let cancel = context.cancel.child_token();
        Box::pin(async move {
            // A search that no one waits for any more ends.
            let _guard = cancel.clone().drop_guard();
            let work = move || {
                let input = checked(&input)?;
                view(&input, &places, may_read_outside, &|| cancel.is_cancelled())
            };
            Ran::Done(files::blocking(work).await.into())
        })
    }
}

fn checked(input: &Value) -> Result<Input, Failure> {
    let input: Input = read(input)?;
    remote::refuse(&input.path, &input.password, &input.private_key_path)?;
    if let Some((first, last)) = input.view_range
        && (first < 1 || (last != -1 && last < first))
    {
        return Err(Failure::new(
            Code::InvalidArguments,
            "view_range is [first, last]: lines from 1, the last not before the first, or -1.",
        ));
    }
    if input.view_range.is_some() && input.grep.is_some() {
        return Err(Failure::new(
            Code::InvalidArguments,
            "view_range and grep cannot be combined.",
        ));
    }
    Ok(input)
}

fn view(
    input: &Input,
    places: &Places,
    may_read_outside: bool,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Outcome, Failure> {
    let located = places.locate(&input.path)?;
    let held = located.hold(may_read_outside)?;
    let failed = |error| Failure::of_file(error, Code::ReadError);
    let is_root = held.name == Path::new(".");
    let kind = match is_root {
        true => Some(FileType::Directory),
        false => held.parent.kind(&held.name).map_err(failed)?,
    };
    let shown = located.absolute.display().to_string();
    let source = Source {
        kind: SourceKind::File,
        name: shown.clone(),
    };
    let outcome = match kind {
        None => Err(Failure::new(
            Code::PathNotFound,
            format!("{shown} does not exist."),
        )),
        Some(FileType::Directory) => {
            if input.view_range.is_some() {
                return Err(Failure::new(
                    Code::InvalidArguments,
                    format!("{shown} is a directory, so view_range means nothing."),
                ));
            }
            let open = match is_root {
                true => held.parent,
                false => held.parent.directory(&held.name).map_err(failed)?,
            };
            let rules = match located.below() {
                Some((root, below)) => ignored::Rules::down_to(root, below),
                None => {
                    let mut rules = ignored::Rules::default();
                    rules.enter(&open, &located.absolute);
                    rules
                }
            };
            let place = tree::Place {
                open: &open,
                path: &located.absolute,
                rules,
                is_cancelled,
            };
            match (&input.grep, &input.glob) {
                (None, None) => tree::list(&place, if input.tree { 3 } else { 1 }),
                (grep, glob) => search::search(&place, grep.as_deref(), glob.as_deref()),
            }
        }
        Some(FileType::RegularFile) => {
            let file = held.parent.open_file(&held.name).map_err(failed)?;
            let file = file.ok_or_else(|| {
                Failure::new(Code::FileNotFound, format!("{shown} does not exist."))
            })?;
            if input.glob.is_some() || input.tree {
                return Err(Failure::new(
                    Code::InvalidArguments,
                    format!("{shown} is a file; glob and tree are for directories."),
                ));
            }
            match &input.grep {
                Some(grep) => search::search_file(&file, &shown, grep),
                None => file::show(&file, &shown, input.view_range),
            }
        }
        Some(FileType::Symlink) => Err(held
            .parent
            .open_file(&held.name)
            .err()
            .map_or_else(|| Failure::new(Code::ReadError, "It changed."), failed)),
        Some(_) => Err(Failure::new(
            Code::InvalidPath,
            format!("{shown} is a pipe, a socket or a device, not a file."),
        )),
    };
    outcome.map(|outcome| outcome.told_by(source))
}

#[cfg(test)]
#[path = "../view_tests.rs"]
mod tests;
