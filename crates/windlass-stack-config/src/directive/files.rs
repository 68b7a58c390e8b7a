//! Files that `$File` and `$FileRaw` name: beneath the project's root, and what is in them.

use std::collections::BTreeMap;
use std::path::{Component, Path as FilePath, PathBuf};

use serde_json::{Map, Value};

use crate::fault::Fault;
use crate::tree::Node;
use crate::yaml;

/// A larger file is refused.
const MAX_BYTES: u64 = 1024 * 1024;

/// The text of a file named in a config. Messages never show contents.
pub(super) fn read(
    directory: &FilePath,
    root: &FilePath,
    name: &str,
    outside_allowed: bool,
) -> Result<String, String> {
    let path = beneath(directory, root, name, outside_allowed)?;
    let length = fs_err::metadata(&path)
        .map_err(|error| format!("{name} cannot be read: {}", cause(&error)))?;
    if length.is_dir() {
        return Err(format!("{name} is a directory"));
    }
    if !length.is_file() {
        return Err(format!("{name} is not a regular file"));
    }
    if length.len() > MAX_BYTES {
        return Err(format!(
            "{name} has {} bytes; {MAX_BYTES} are allowed",
            length.len()
        ));
    }
    let bytes =
        fs_err::read(&path).map_err(|error| format!("{name} cannot be read: {}", cause(&error)))?;
    String::from_utf8(bytes).map_err(|_| format!("{name} is not UTF-8"))
}

/// The file itself, links followed, when it lies inside the project.
pub(super) fn beneath(
    directory: &FilePath,
    root: &FilePath,
    name: &str,
    outside_allowed: bool,
) -> Result<PathBuf, String> {
    let given = FilePath::new(name);
    if outside_allowed {
        return Ok(directory.join(given));
    }
    let is_absolute = given
        .components()
        .any(|part| matches!(part, Component::RootDir | Component::Prefix(_)));
    if is_absolute {
        return Err(format!(
            "{name} is an absolute path; files stay inside the project"
        ));
    }
    // Nothing is said about what is or is not outside.
    let outside = || format!("{name} leads outside the project");
    if !lexical(&directory.join(given)).starts_with(lexical(root)) {
        return Err(outside());
    }
    let missing = |error: std::io::Error| format!("{name} cannot be read: {}", cause(&error));
    let root = fs_err::canonicalize(root).map_err(missing)?;
    let path = fs_err::canonicalize(directory.join(given)).map_err(missing)?;
    if path.starts_with(&root) {
        Ok(path)
    } else {
        Err(outside())
    }
}

/// A path without `.` and `..`, the file system not asked.
fn lexical(path: &FilePath) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

fn cause(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::NotFound => "it does not exist",
        std::io::ErrorKind::PermissionDenied => "permission denied",
        std::io::ErrorKind::NotADirectory => "a part of its path is not a directory",
        _ => "reading failed",
    }
}

/// The value of a file, by its extension.
pub(super) fn parse(name: &str, text: &str) -> Result<Node, String> {
    let file_name = name.rsplit('/').next().unwrap_or(name);
    let extension = file_name.rsplit('.').next().unwrap_or_default();
    match extension {
        "json" => serde_json::from_str::<Value>(text)
            .map(|value| Node::from_json(value, None))
            .map_err(|error| format!("{name}: {error}")),
        "yml" | "yaml" => {
            let mut faults = Vec::new();
            let said = |fault: &Fault| {
                format!(
                    "{name}:{}: {}",
                    fault.line.unwrap_or_default(),
                    fault.message
                )
            };
            let node = yaml::parse(text, &mut faults).map_err(|fault| said(&fault))?;
            match faults.first() {
                Some(fault) => Err(said(fault)),
                None => Ok(node),
            }
        }
        "ini" => ini(name, text).map(|value| Node::from_json(value, None)),
        _ if extension == "env" || file_name.starts_with(".env") => {
            let values = env_values(name, text)?;
            let values = values
                .into_iter()
                .map(|(key, value)| (key, Value::String(value)));
            Ok(Node::from_json(Value::Object(values.collect()), None))
        }
        _ => Err(format!(
            "{name} is not one of .env, .json, .yml, .yaml and .ini; use $FileRaw for its text"
        )),
    }
}

/// `KEY=value` lines, as `.env` files have them; a failure names the line.
pub fn env_values(name: &str, text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut values = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let Some((key, value)) = line.split_once('=') else {
            return Err(format!("{name}:{}: expected KEY=value", number + 1));
        };
        values.insert(key.trim().to_owned(), env_value(value));
    }
    Ok(values)
}

fn env_value(written: &str) -> String {
    let written = written.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = written.strip_prefix(quote)
            && let Some(end) = inner.find(quote)
        {
            let inner = &inner[..end];
            return if quote == '"' {
                inner.replace("\\n", "\n")
            } else {
                inner.to_owned()
            };
        }
    }
    match written.find(" #") {
        Some(comment) => written[..comment].trim_end().to_owned(),
        None => written.to_owned(),
    }
}

/// `[section]` and `key = value` lines.
fn ini(name: &str, text: &str) -> Result<Value, String> {
    let mut top = Map::new();
    let mut section: Option<String> = None;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with([';', '#']) {
            continue;
        }
        if let Some(title) = line
            .strip_prefix('[')
            .and_then(|line| line.strip_suffix(']'))
        {
            let title = title.trim().to_owned();
            top.entry(title.clone())
                .or_insert_with(|| Value::Object(Map::new()));
            section = Some(title);
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            return Err(format!("{name}:{}: expected key = value", number + 1));
        };
        let value = Value::String(value.trim().to_owned());
        let target = match &section {
            None => Some(&mut top),
            Some(title) => top.get_mut(title).and_then(Value::as_object_mut),
        };
        match target {
            Some(target) => {
                target.insert(key.trim().to_owned(), value);
            }
            None => {
                return Err(format!(
                    "{name}:{}: a section has the name of a key",
                    number + 1
                ));
            }
        }
    }
    Ok(Value::Object(top))
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
