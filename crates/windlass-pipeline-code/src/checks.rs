//! What is checked when files are made: that they parse, that what they import is there, that every
//! table is guarded, that nothing is left to be filled in. Installing and building is not done here.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tree_sitter::{Language, Node, Parser};
use windlass_pipeline_design::model::code::Dependencies;

use crate::blueprint::Blueprint;
use crate::files::{Draft, is_used_by_tool};
use crate::imports;

/// Words that stand for something that is missing.
const LEFT_OPEN: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    "XXX",
    "lorem ipsum",
    "rest unchanged",
    "your code here",
    "coming soon",
];

fn language(path: &str) -> Option<Language> {
    if path.ends_with(".tsx") {
        Some(tree_sitter_typescript::LANGUAGE_TSX.into())
    } else if [".ts", ".js", ".mjs"].iter().any(|end| path.ends_with(end)) {
        Some(tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into())
    } else {
        None
    }
}

/// The line of the first thing that does not parse.
fn first_error(node: Node<'_>) -> Option<usize> {
    if !node.has_error() {
        return None;
    }
    if node.is_error() || node.is_missing() {
        return Some(node.start_position().row + 1);
    }
    let mut cursor = node.walk();
    let line = node.children(&mut cursor).find_map(first_error);
    line.or(Some(node.start_position().row + 1))
}

fn syntax(files: &[Draft]) -> (usize, Vec<String>) {
    let mut checked = 0;
    let mut problems = Vec::new();
    let mut parser = Parser::new();
    for file in files {
        if file.path.ends_with(".json") {
            checked += 1;
            if let Err(error) = serde_json::from_str::<Value>(&file.content) {
                problems.push(format!("{}: {error}", file.path));
            }
            continue;
        }
        let Some(language) = language(&file.path) else {
            continue;
        };
        checked += 1;
        let line = match parser.set_language(&language) {
            Ok(()) => parser
                .parse(&file.content, None)
                .map_or(Some(1), |tree| first_error(tree.root_node())),
            Err(_) => Some(1),
        };
        if let Some(line) = line {
            problems.push(format!("{}:{line}: does not parse", file.path));
        }
    }
    (checked, problems)
}

fn import_problems(files: &[Draft], dependencies: &Dependencies) -> (usize, Vec<String>) {
    let paths: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let listed = |name: &str| {
        dependencies.production.contains_key(name) || dependencies.development.contains_key(name)
    };
    let mut checked = 0;
    let mut used = BTreeSet::new();
    let mut problems = Vec::new();
    for file in files {
        for specifier in imports::specifiers(&file.path, &file.content) {
            checked += 1;
            if let Some(package) = imports::package(&specifier) {
                if !listed(&package) {
                    problems.push(format!("{}: {specifier} is not in package.json", file.path));
                }
                used.insert(package);
            } else if !specifier.starts_with("node:") {
                let found = imports::candidates(&file.path, &specifier)
                    .iter()
                    .any(|path| paths.contains(path.as_str()));
                if !found {
                    problems.push(format!(
                        "{}: {specifier} is no file of the project",
                        file.path
                    ));
                }
            }
        }
    }
    let all = dependencies
        .production
        .keys()
        .chain(dependencies.development.keys());
    for name in all {
        if !used.contains(name) && !is_used_by_tool(name) {
            problems.push(format!("package.json: {name} is not used"));
        }
    }
    (checked, problems)
}

fn sql_problems(blueprint: &Blueprint<'_>, files: &[Draft]) -> (usize, Vec<String>) {
    let mut checked = 0;
    let mut problems = Vec::new();
    for file in files
        .iter()
        .filter(|file| file.path.starts_with("supabase/migrations/"))
    {
        for line in file.content.lines() {
            let Some(table) = line
                .strip_prefix("create table ")
                .and_then(|rest| rest.strip_suffix(" ("))
            else {
                continue;
            };
            checked += 1;
            for (what, text) in [
                (
                    "no row-level security",
                    format!("alter table {table} enable row level security;"),
                ),
                (
                    "no forced row-level security",
                    format!("alter table {table} force row level security;"),
                ),
                ("no policy", format!(" on {table}\n  for ")),
            ] {
                if !file.content.contains(&text) {
                    problems.push(format!("{}: {table} has {what}", file.path));
                }
            }
        }
    }
    let expected = blueprint.entities.len() + usize::from(blueprint.records_actions());
    if checked != expected {
        problems.push(format!(
            "the migration makes {checked} tables of {expected}"
        ));
    }
    (checked, problems)
}

fn left_open(files: &[Draft], from_input: &str) -> (usize, Vec<String>) {
    let mut problems = Vec::new();
    for file in files {
        for words in LEFT_OPEN {
            // What the spec itself says stays what it is.
            if file.content.contains(words) && !from_input.contains(words) {
                problems.push(format!("{}: {words:?} is left to be filled in", file.path));
            }
        }
    }
    (files.len(), problems)
}

fn form_problems(files: &[Draft]) -> (usize, Vec<String>) {
    let mut problems = Vec::new();
    let mut seen = BTreeSet::new();
    for file in files {
        if !seen.insert(file.path.to_lowercase()) {
            problems.push(format!(
                "{}: there is a second file of this name",
                file.path
            ));
        }
        if !file.content.ends_with('\n') || file.content.contains('\r') {
            problems.push(format!("{}: the line ends are wrong", file.path));
        }
        if file.trace.is_empty() {
            problems.push(format!("{}: nothing says why it is here", file.path));
        }
    }
    (files.len(), problems)
}

/// What is found out about the files: one entry per check, and what was not run.
pub(crate) fn run(
    blueprint: &Blueprint<'_>,
    files: &[Draft],
    dependencies: &Dependencies,
    from_input: &str,
) -> BTreeMap<String, Value> {
    let entry = |(checked, problems): (usize, Vec<String>)| {
        json!({
            "status": if problems.is_empty() { "passed" } else { "failed" },
            "checked": checked,
            "problems": problems,
        })
    };
    let not_run = json!({ "status": "not_run", "reason": "nothing is installed or built when files are made" });
    BTreeMap::from([
        ("syntax".to_owned(), entry(syntax(files))),
        (
            "imports".to_owned(),
            entry(import_problems(files, dependencies)),
        ),
        (
            "row_level_security".to_owned(),
            entry(sql_problems(blueprint, files)),
        ),
        (
            "placeholders".to_owned(),
            entry(left_open(files, from_input)),
        ),
        ("files".to_owned(), entry(form_problems(files))),
        (
            "endpoints".to_owned(),
            json!({
                "status": "passed",
                "checked": blueprint.routes.len() + blueprint.unserved.len(),
                "without_a_table": blueprint.unserved,
            }),
        ),
        ("install".to_owned(), not_run.clone()),
        ("build".to_owned(), not_run.clone()),
        ("tests".to_owned(), not_run),
    ])
}
