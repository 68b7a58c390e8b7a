//! Hugo's configuration: which files it is made of, and what they say together.
//!
//! Follows Hugo's own lookup: `hugo.*` or `config.*` in the root, below them the configuration
//! folder's `_default`. Keys are compared in lower case, as Hugo does. Environments other than
//! the default, and what themes and modules bring, are not read.

use serde_json::{Map, Value};
use windlass_launch_model::markdown::frontmatter::{Format, FrontMatterError, parse_inner};

use crate::kind::{extension, folder as folder_of, is_below, name};

const ENDINGS: &[&str] = &["toml", "yaml", "yml", "json"];

/// Keys one of which makes a `config.*` Hugo's and not another tool's.
const OWN_KEYS: &[&str] = &[
    "baseurl",
    "languagecode",
    "theme",
    "contentdir",
    "publishdir",
    "defaultcontentlanguage",
    "taxonomies",
    "markup",
    "permalinks",
    "archetypedir",
    "enablerobotstxt",
];

/// The files of a site.
pub struct Files<'a> {
    /// Every path, sorted.
    pub paths: &'a [&'a str],
    /// A file's text; none when there is no such file, or no text in it.
    pub text: &'a dyn Fn(&str) -> Option<&'a str>,
}

/// What Hugo's configuration says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HugoSettings {
    /// The folder it is in, relative to the site.
    pub root: String,
    /// The files it is made of, in the order in which later ones win.
    pub files: Vec<String>,
    /// Everything, merged; the keys in lower case.
    pub settings: Map<String, Value>,
    /// Those of the files that cannot be read.
    pub broken: Vec<String>,
}

/// Looks for Hugo's configuration; `None` if there is none.
pub fn hugo_settings(files: &Files<'_>, config_dir: Option<&str>) -> Option<HugoSettings> {
    let folder = config_dir
        .unwrap_or("config")
        .trim_start_matches("./")
        .trim_end_matches('/');
    let root_file = root_file(files, "").or_else(|| {
        // A named folder may hold the one file, too.
        config_dir.and_then(|_| root_file(files, folder))
    });
    let default_folder = format!("{folder}/_default");
    let in_folder = files.paths.iter().filter(|path| {
        is_below(path, &default_folder) && ENDINGS.contains(&extension(path).as_str())
    });
    let in_folder: Vec<String> = in_folder.map(|path| (*path).to_owned()).collect();
    let root = match (&root_file, in_folder.is_empty()) {
        (_, false) => folder.to_owned(),
        (Some(file), true) => folder_of(file).to_owned(),
        (None, true) => return None,
    };
    let mut found = HugoSettings {
        root,
        files: root_file.into_iter().chain(in_folder).collect(),
        ..HugoSettings::default()
    };
    for path in &found.files {
        match (files.text)(path).map(|text| read(path, text)) {
            Some(Ok(settings)) => {
                let nested = nest(path, &default_folder, settings);
                merge(&mut found.settings, nested);
            }
            Some(Err(_)) | None => found.broken.push(path.clone()),
        }
    }
    Some(found)
}

/// The one configuration file of a folder. `hugo.*` goes before `config.*`, as in Hugo.
fn root_file(files: &Files<'_>, folder: &str) -> Option<String> {
    let path = |stem: &str, ending: &str| {
        if folder.is_empty() {
            format!("{stem}.{ending}")
        } else {
            format!("{folder}/{stem}.{ending}")
        }
    };
    let named = ENDINGS
        .iter()
        .map(|ending| path("hugo", ending))
        .find(|path| files.paths.contains(&path.as_str()));
    named.or_else(|| {
        ENDINGS
            .iter()
            .map(|ending| path("config", ending))
            .find(|path| {
                (files.text)(path)
                    .and_then(|text| read(path, text).ok())
                    .is_some_and(|keys| OWN_KEYS.iter().any(|key| keys.contains_key(*key)))
            })
    })
}

fn read(path: &str, text: &str) -> Result<Map<String, Value>, FrontMatterError> {
    let format = Format::named(&extension(path));
    Ok(lower(parse_inner(format, text)?))
}

/// Keys in lower case, at every depth. Parsers bound the depth.
fn lower(map: Map<String, Value>) -> Map<String, Value> {
    map.into_iter()
        .map(|(key, value)| {
            let value = match value {
                Value::Object(inner) => Value::Object(lower(inner)),
                other => other,
            };
            (key.to_lowercase(), value)
        })
        .collect()
}

/// A file of the configuration folder stands for the table of its name: `params.toml` for
/// `params`, `languages.en.toml` for `languages.en`, `menus.de.toml` for `languages.de.menus`.
fn nest(path: &str, default_folder: &str, settings: Map<String, Value>) -> Map<String, Value> {
    if !is_below(path, default_folder) {
        return settings;
    }
    let file = name(path).to_lowercase();
    let stem = file.rsplit_once('.').map_or("", |(stem, _)| stem);
    let keys: Vec<&str> = match stem.split('.').collect::<Vec<_>>().as_slice() {
        ["hugo" | "config"] => return settings,
        ["languages", language] => vec!["languages", language],
        [table, language] => vec!["languages", language, table],
        [table] => vec![table],
        _ => return Map::new(),
    };
    // A file may repeat its own name as the table.
    let settings = match keys.as_slice() {
        [table] if settings.len() == 1 => match settings.get(*table) {
            Some(Value::Object(inner)) => inner.clone(),
            _ => settings,
        },
        _ => settings,
    };
    keys.iter().rev().fold(settings, |inner, key| {
        Map::from_iter([((*key).to_owned(), Value::Object(inner))])
    })
}

fn merge(into: &mut Map<String, Value>, from: Map<String, Value>) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(Value::Object(old)), Value::Object(new)) => merge(old, new),
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
#[path = "hugo_tests.rs"]
mod tests;
