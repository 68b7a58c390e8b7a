//! The small website that the first two chapters change.

use std::{collections::BTreeMap, path::PathBuf};

use serde_json::Value;
use windlass_types::Problem;

use crate::stage::Stage;

/// Its directory, below the tour's.
pub(crate) const FOLDER: &str = "site";

/// A directory's files and their contents.
pub(crate) type Files = BTreeMap<String, String>;

fn directory(stage: &Stage<'_>) -> PathBuf {
    stage.path().join(FOLDER)
}

fn failed(error: std::io::Error) -> Problem {
    Problem::internal("tour: site", error)
}

/// Makes the site hold these files and no others.
pub(crate) fn prepare(stage: &Stage<'_>, files: &[(&str, &str)]) -> Result<(), Problem> {
    let site = directory(stage);
    if site.exists() {
        fs_err::remove_dir_all(&site).map_err(failed)?;
    }
    fs_err::create_dir(&site).map_err(failed)?;
    for (name, content) in files {
        fs_err::write(site.join(name), content).map_err(failed)?;
    }
    Ok(())
}

pub(crate) fn read(stage: &Stage<'_>) -> Result<Files, Problem> {
    let mut files = Files::new();
    for entry in fs_err::read_dir(directory(stage)).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let content = fs_err::read_to_string(entry.path()).map_err(failed)?;
        files.insert(entry.file_name().to_string_lossy().into_owned(), content);
    }
    Ok(files)
}

pub(crate) fn show(stage: &Stage<'_>, files: &Files) {
    let shown: Vec<String> = files
        .iter()
        .map(|(name, content)| match content.trim() {
            "" => name.clone(),
            content => format!("{name} ({content})"),
        })
        .collect();
    stage.show(&format!("{FOLDER}/ holds {}", shown.join(", ")));
}

/// The words of a command: what it does, the change, the rest.
pub(crate) fn command<'a>(verb: &[&'a str], change: &[&'a str], rest: &[&'a str]) -> Vec<&'a str> {
    [verb, change, rest].concat()
}

/// The id of the run that was started last.
pub(crate) fn newest_run(stage: &Stage<'_>) -> Result<String, Problem> {
    let shown = stage.ask(&["runs", "show", "latest"])?;
    text(&shown["run"], "run_id")
}

/// The beginning of an id is enough to name a run.
pub(crate) fn short(run_id: &str) -> &str {
    &run_id[..run_id.len().min(12)]
}

pub(crate) fn text(value: &Value, name: &str) -> Result<String, Problem> {
    value
        .get(name)
        .and_then(Value::as_str)
        .map(str::to_owned)
        .ok_or_else(|| Problem::internal("tour", format!("an answer has no {name}")))
}
