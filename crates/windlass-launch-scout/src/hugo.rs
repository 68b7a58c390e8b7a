//! Hugo's configuration: which files it is made of, and what they say together.
//!
//! Follows Hugo's own lookup: `hugo.*` or `config.*` in the root, below them the configuration
//! folder's `_default`. Keys are compared in lower case, as Hugo does. Environments other than
//! the default, and what themes and modules bring, are not read.

use serde_json::{Map, Value};
use windlass_launch_model::inventory::{ConfigFile, HugoContext};

use crate::{
    frontmatter::{toml_map, yaml_map},
    kind::{extension, folder, is_below, name},
    tree::Tree,
};

const ENDINGS: &[&str] = &["toml", "yaml", "yml", "json"];

/// Keys one of which makes a `config.*` Hugo's and not somebody else's.
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

/// What the configuration says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HugoConfig {
    pub context: HugoContext,
    /// Everything, merged; the keys in lower case.
    pub settings: Map<String, Value>,
    /// Files that cannot be read.
    pub broken: Vec<String>,
}

/// Looks for Hugo's configuration; `None` if there is none.
pub(crate) fn find(tree: &Tree, config_dir: Option<&str>) -> Option<HugoConfig> {
    let folder_name = config_dir
        .unwrap_or("config")
        .trim_start_matches("./")
        .trim_end_matches('/');
    let mut found = HugoConfig::default();
    let mut files: Vec<String> = Vec::new();
    let root_file = root_file(tree, "").or_else(|| {
        // A named folder may hold the one file, too.
        config_dir.and_then(|_| root_file(tree, folder_name))
    });
    let default_folder = format!("{folder_name}/_default");
    files.extend(root_file);
    files.extend(
        tree.files
            .keys()
            .filter(|path| {
                is_below(path, &default_folder) && ENDINGS.contains(&extension(path).as_str())
            })
            .cloned(),
    );
    if files.is_empty() {
        return None;
    }
    for path in &files {
        let Some(text) = tree.text(path) else {
            found.broken.push(path.clone());
            continue;
        };
        match read(path, text) {
            Ok(settings) => {
                let nested = nest(path, &default_folder, settings);
                merge(&mut found.settings, nested);
            }
            Err(_) => found.broken.push(path.clone()),
        }
    }
    files.sort();
    found.context = HugoContext {
        config_root: if files.iter().any(|path| is_below(path, &default_folder)) {
            folder_name.to_owned()
        } else {
            files.first().map_or("", |path| folder(path)).to_owned()
        },
        config_files: files
            .iter()
            .filter_map(|path| {
                let file = tree.files.get(path)?;
                Some(ConfigFile {
                    path: path.clone(),
                    sha256: tree.content_digest(path)?.to_string(),
                    bytes: file.size,
                })
            })
            .collect(),
        build_matrix: Vec::new(),
    };
    Some(found)
}

/// The one configuration file of a folder. `hugo.*` goes before `config.*`, as in Hugo.
fn root_file(tree: &Tree, folder: &str) -> Option<String> {
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
        .find(|path| tree.files.contains_key(path));
    named.or_else(|| {
        ENDINGS
            .iter()
            .map(|ending| path("config", ending))
            .find(|path| {
                tree.text(path)
                    .and_then(|text| read(path, text).ok())
                    .is_some_and(|keys| OWN_KEYS.iter().any(|key| keys.contains_key(*key)))
            })
    })
}

fn read(path: &str, text: &str) -> Result<Map<String, Value>, String> {
    let map = match extension(path).as_str() {
        "toml" => toml_map(text),
        "json" => serde_json::from_str(text).map_err(|error| error.to_string()),
        _ => yaml_map(text),
    }?;
    Ok(lower(map))
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
