//! `site_context.json` and `hugo_facts.json`: what kind of site it is, where content goes, and
//! which languages it has.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use windlass_launch_model::{
    HugoFacts, Section, SiteContext, SiteKind,
    config::SiteKindChoice,
    inventory::{BuildTarget, ConfigFile, HugoContext},
};

use crate::{
    SCHEMA_VERSION,
    hugo::{Files, HugoSettings, hugo_settings},
    input::ScoutInput,
    kind::{folder, is_below, is_markdown},
    tree::Tree,
};

/// What was found out about the site.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Site {
    pub context: SiteContext,
    pub hugo: Option<HugoFacts>,
    /// Sections whose pages lie in language folders.
    pub with_language_folders: BTreeSet<Section>,
    /// Hugo's content folder, where its configuration names one.
    pub hugo_content_dir: Option<String>,
    /// Configuration files that cannot be read.
    pub broken: Vec<String>,
}

/// Looks at a site.
pub(crate) fn site(tree: &Tree, input: &ScoutInput) -> Site {
    let choice = input.config.site_kind;
    let config = match choice {
        SiteKindChoice::Markdown => None,
        _ => find(tree, input.config.hugo.config_dir.as_deref()),
    };
    let site_kind = match choice {
        SiteKindChoice::Hugo => SiteKind::Hugo,
        SiteKindChoice::Auto if config.is_some() => SiteKind::Hugo,
        _ => SiteKind::Markdown,
    };
    let hugo_content_dir = config
        .as_ref()
        .and_then(|config| content_dir(config, input.config.main_locale()));
    let layout = &input.config.site_layout;
    let content_root = match (&layout.content_root, site_kind) {
        (Some(root), _) => tidy(root),
        (None, SiteKind::Hugo) => tidy(hugo_content_dir.as_deref().unwrap_or("content")),
        (None, SiteKind::Markdown) => ".".to_owned(),
    };
    let section_roots: BTreeMap<Section, String> = Section::ALL
        .into_iter()
        .map(|section| (section, input.config.section_root(section, &content_root)))
        .collect();
    let with_language_folders = section_roots
        .iter()
        .filter(|(_, root)| has_language_folders(tree, root, input))
        .map(|(section, _)| *section)
        .collect();
    let hugo = match site_kind {
        SiteKind::Hugo => Some(facts(config.as_ref(), &content_root)),
        SiteKind::Markdown => None,
    };
    let mut broken = Vec::new();
    let context = config.map(|config| {
        broken = config.broken;
        HugoContext {
            build_matrix: hugo
                .iter()
                .flat_map(|facts| &facts.languages)
                .map(|language| BuildTarget {
                    environment: "production".to_owned(),
                    language: language.clone(),
                })
                .collect(),
            config_files: config_files(tree, &config.files),
            config_root: config.root,
        }
    });
    Site {
        context: SiteContext {
            schema_version: SCHEMA_VERSION.to_owned(),
            site: input.site(),
            workflows: input.workflows(),
            site_kind,
            content_root,
            section_roots,
            hugo: context,
        },
        hugo,
        with_language_folders,
        hugo_content_dir: hugo_content_dir.map(|folder| tidy(&folder)),
        broken,
    }
}

fn find(tree: &Tree, config_dir: Option<&str>) -> Option<HugoSettings> {
    let paths: Vec<&str> = tree.files.keys().map(String::as_str).collect();
    let files = Files {
        paths: &paths,
        text: &|path| tree.text(path),
    };
    hugo_settings(&files, config_dir)
}

/// The files of the configuration, sorted.
fn config_files(tree: &Tree, paths: &[String]) -> Vec<ConfigFile> {
    let mut paths: Vec<&String> = paths.iter().collect();
    paths.sort();
    let file = |path: &String| {
        Some(ConfigFile {
            path: path.clone(),
            sha256: tree.content_digest(path)?.to_string(),
            bytes: tree.files.get(path)?.size,
        })
    };
    paths.into_iter().filter_map(file).collect()
}

/// A folder without `./` before it and `/` behind it; the root is `.`.
fn tidy(path: &str) -> String {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    if path.is_empty() { "." } else { path }.to_owned()
}

/// Where a language's content is: its own `contentDir`, or the site's.
fn content_dir(config: &HugoSettings, locale: &str) -> Option<String> {
    let settings = &config.settings;
    let of_language = settings
        .get("languages")
        .and_then(|languages| languages.get(locale.to_lowercase())?.get("contentdir"));
    of_language
        .or_else(|| settings.get("contentdir"))?
        .as_str()
        .map(str::to_owned)
}

fn facts(config: Option<&HugoSettings>, content_root: &str) -> HugoFacts {
    let none = Map::new();
    let settings = config.map_or(&none, |config| &config.settings);
    let text = |key: &str| settings.get(key).and_then(Value::as_str);
    let default_language = text("defaultcontentlanguage").unwrap_or("en").to_owned();
    let switched_off: BTreeSet<&str> = settings
        .get("disablelanguages")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let (disabled, enabled): (BTreeSet<_>, BTreeSet<_>) = settings
        .get("languages")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(code, language)| {
            let off = switched_off.contains(code.as_str())
                || language.get("disabled").and_then(Value::as_bool) == Some(true);
            (off, code.clone())
        })
        .partition(|(off, _)| *off);
    let codes = |set: BTreeSet<(bool, String)>| set.into_iter().map(|(_, code)| code).collect();
    let mut languages: Vec<String> = codes(enabled);
    if languages.is_empty() {
        languages.push(default_language.clone());
    }
    HugoFacts {
        schema_version: SCHEMA_VERSION.to_owned(),
        base_url: text("baseurl").map(str::to_owned),
        content_dir: content_root.to_owned(),
        languages,
        disabled_languages: codes(disabled),
        default_language,
        default_language_in_subdir: settings
            .get("defaultcontentlanguageinsubdir")
            .and_then(Value::as_bool)
            .unwrap_or(false),
        permalinks: settings
            .get("permalinks")
            .and_then(Value::as_object)
            .map(|table| table.clone().into_iter().collect())
            .unwrap_or_default(),
        outputs: settings
            .get("outputs")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(kind, formats)| (kind.clone(), words(formats)))
            .collect(),
        taxonomies: match settings.get("taxonomies") {
            // Hugo's own two, unless the site names its own.
            None => BTreeMap::from([
                ("category".to_owned(), "categories".to_owned()),
                ("tag".to_owned(), "tags".to_owned()),
            ]),
            named => texts(named),
        },
        source_files: {
            let files = config.into_iter().flat_map(|config| config.files.iter());
            let sorted: BTreeSet<&String> = files.collect();
            sorted.into_iter().cloned().collect()
        },
    }
}

/// The texts of a table.
fn texts(value: Option<&Value>) -> BTreeMap<String, String> {
    value
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect()
}

fn words(value: &Value) -> Vec<String> {
    match value {
        Value::String(word) => vec![word.clone()],
        Value::Array(items) => items
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    }
}

/// Whether pages of a section lie in a folder named after a locale.
fn has_language_folders(tree: &Tree, root: &str, input: &ScoutInput) -> bool {
    tree.files
        .keys()
        .filter(|path| is_markdown(path) && is_below(path, root))
        .any(|path| {
            folder(path)
                .strip_prefix(root)
                .unwrap_or_else(|| folder(path))
                .split('/')
                .any(|part| input.config.locales.iter().any(|locale| locale == part))
        })
}

#[cfg(test)]
#[path = "site_tests.rs"]
mod tests;
