//! The config file: found, and read by its kind.

use std::path::{Path as FilePath, PathBuf};

use windlass_types::{Problem, code};

use crate::directive::Context;
use crate::evaluate::Interpreters;
use crate::load::{ConfigText, Loaded, load, load_value};

/// The names a config has, in the order they are looked for.
pub const CONFIG_NAMES: [&str; 4] = [
    "stacktape.ts",
    "stacktape.yml",
    "stacktape.yaml",
    "stacktape.js",
];

/// The config of a directory, or the one that is named.
pub fn find_config(directory: &FilePath, named: Option<&str>) -> Result<PathBuf, Problem> {
    if let Some(named) = named {
        let path = directory.join(named);
        if path.is_file() {
            return Ok(path);
        }
        return Err(missing(format!("there is no config {named}")).with("file", named));
    }
    CONFIG_NAMES
        .iter()
        .map(|name| directory.join(name))
        .find(|path| path.is_file())
        .ok_or_else(|| {
            missing(format!(
                "there is no config here; looked for {}",
                CONFIG_NAMES.join(", ")
            ))
            .next("windlass stack init")
        })
}

fn missing(message: String) -> Problem {
    Problem::new(&code::INVALID_INPUT, message)
        .with("reason", "config_missing")
        .with("field", "configPath")
}

/// A config that was read, and how.
#[derive(Clone, Debug)]
pub struct LoadedFile {
    /// What was read.
    pub loaded: Loaded,
    /// The template has to go through [`Interpreters::transform`].
    pub has_transforms: bool,
}

/// Reads a config of any kind. Programs and lookups may block.
pub fn load_file(
    file: &FilePath,
    context: &Context<'_>,
    interpreters: &Interpreters,
    command: &str,
) -> Result<LoadedFile, Problem> {
    let shown = file
        .strip_prefix(&context.project_root)
        .unwrap_or(file)
        .to_string_lossy();
    let is_program = file
        .extension()
        .and_then(|extension| extension.to_str())
        .is_some_and(|extension| matches!(extension, "ts" | "mts" | "cts" | "js" | "mjs" | "cjs"));
    if is_program {
        context.require_code(&shown)?;
        let made = interpreters.config(file, context, command)?;
        let loaded = load_value(&shown, made.config, context);
        return Ok(LoadedFile {
            loaded: loaded.map_err(|failure| failure.into_problem())?,
            has_transforms: made.has_transforms,
        });
    }
    let bytes = fs_err::read(file).map_err(|error| missing(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Problem::new(&code::INVALID_INPUT, format!("{shown} is not UTF-8"))
            .with("reason", "config_invalid")
    })?;
    // An editor may have left a byte order mark.
    let source = ConfigText {
        file: &shown,
        text: text.strip_prefix('\u{feff}').unwrap_or(&text),
    };
    Ok(LoadedFile {
        loaded: load(&source, context).map_err(|failure| failure.into_problem())?,
        has_transforms: false,
    })
}
