//! JavaScript and TypeScript: bundled by esbuild, or the plain files an entry file imports.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use fs_err as fs;
use regex::Regex;
use windlass_types::Problem;

use super::{Language, esbuild, modules};
use crate::package::failure::{failed, with_hint};
use crate::package::stage::{Body, Entry, Staged};
use crate::package::tree;
use crate::package::workshop::{Source, Workshop};

/// Files of a package whose entry file is JavaScript or TypeScript.
pub(super) fn stage(shop: &Workshop<'_>, source: &Source<'_>) -> Result<Staged, Problem> {
    let workload = source.workload;
    let entry = shop.inside(workload, source.entry)?;
    match esbuild::find(shop, workload) {
        Ok(program) => esbuild::stage(shop, source, &program, &entry),
        // A registry that does not answer is no reason to make another package.
        Err(refused)
            if refused.is_forbidden && Language::of(source.entry) == Some(Language::JavaScript) =>
        {
            plain(shop, source, &entry)
        }
        Err(refused) => Err(esbuild::unavailable(workload, refused)),
    }
}

/// The function Lambda calls: as configured, else what the entry file exports.
pub(super) fn handler_function(source: &Source<'_>, text: &str) -> String {
    match source.handler_function {
        Some(name) => name.to_owned(),
        None if !is_exported(text, "handler") && DEFAULT.is_match(text) => "default".to_owned(),
        None => "handler".to_owned(),
    }
}

#[expect(clippy::unwrap_used, reason = "a constant pattern, tried by a test")]
static DEFAULT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)(?:^|;)\s*export\s+default\b|\bexports\.default\s*=|\bas\s+default\b").unwrap()
});

#[expect(clippy::unwrap_used, reason = "a constant pattern, tried by a test")]
static EXPORT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?m)(?:^|;)\s*export\s+(?:async\s+)?(?:const|let|var|function\*?|class)\s+([\w$]+)|\bexports\.([\w$]+)\s*=|(?:^|;)\s*export\s*\{([^}]*)\}",
    )
    .unwrap()
});

fn is_exported(text: &str, name: &str) -> bool {
    EXPORT.captures_iter(text).any(|found| {
        found
            .get(1)
            .or(found.get(2))
            .is_some_and(|it| it.as_str() == name)
            || found.get(3).is_some_and(|list| {
                list.as_str()
                    .split(',')
                    .any(|it| it.split_whitespace().last() == Some(name))
            })
    })
}

#[expect(clippy::unwrap_used, reason = "a constant pattern, tried by a test")]
static IMPORT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?:\brequire\s*\(\s*|\bimport\s*\(\s*|\bfrom\s*|\bimport\s+)["']([^"'\n]+)["']"#)
        .unwrap()
});

/// The files that an entry file imports, and of their packages what production needs.
fn plain(shop: &Workshop<'_>, source: &Source<'_>, entry: &Path) -> Result<Staged, Problem> {
    let workload = source.workload;
    (shop.progress)(
        workload,
        "there is no esbuild: plain files with their node_modules",
    );
    let base = fs::canonicalize(shop.base).map_err(|it| failed(workload, it))?;
    let root = shop.root(workload)?;
    let mut staged = Staged::default();
    let mut packages = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![entry.to_owned()];
    while let Some(file) = open.pop() {
        if !seen.insert(file.clone()) {
            continue;
        }
        let Ok(below) = file.strip_prefix(&base) else {
            let cause = format!(
                "{} is imported from outside the config's folder",
                file.display()
            );
            return Err(with_hint(
                failed(workload, cause),
                "move it into the folder, or let esbuild be fetched: unset stack.refuse_downloads",
            ));
        };
        let path = below.to_string_lossy().into_owned();
        let found = tree::file(path.clone(), &file).map_err(|it| failed(workload, it))?;
        staged.add_found(path, found);
        if file.extension().is_some_and(|it| it == "json") {
            continue;
        }
        let text = fs::read_to_string(&file).map_err(|it| failed(workload, it))?;
        for found in IMPORT.captures_iter(&text) {
            let Some(name) = found.get(1).map(|it| it.as_str()) else {
                continue;
            };
            if !name.starts_with('.') {
                packages.extend(modules::package_of(name));
                continue;
            }
            let from = file.parent().unwrap_or(&base);
            let Some(target) = resolve(&from.join(name)) else {
                let cause = format!("{} imports {name}, which does not exist", below.display());
                return Err(failed(workload, cause));
            };
            if !target.starts_with(&root) {
                let cause = format!("{} imports {name}, outside the project", below.display());
                return Err(failed(workload, cause));
            }
            open.push(target);
        }
    }
    let manifest = base.join("package.json");
    if let Ok(bytes) = fs::read(&manifest) {
        // Says whether the files are ES modules.
        staged.inputs.push(manifest);
        staged.add(Entry {
            path: "package.json".to_owned(),
            body: Body::Bytes(bytes),
            executable: false,
        });
    }
    let left_out = source.left_out();
    modules::copy(shop, workload, packages, &left_out, &mut staged)?;
    let text = fs::read_to_string(entry).map_err(|it| failed(workload, it))?;
    let start = entry
        .strip_prefix(&base)
        .unwrap_or(entry)
        .to_string_lossy()
        .into_owned();
    let stem = start
        .rsplit_once('.')
        .map_or(start.as_str(), |(stem, _)| stem);
    staged.handler = Some(format!("{stem}.{}", handler_function(source, &text)));
    staged.start = start;
    Ok(staged)
}

/// The file a relative import means.
fn resolve(place: &Path) -> Option<PathBuf> {
    let with = |ending: &str| {
        let mut name = place.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    [
        "",
        ".js",
        ".cjs",
        ".mjs",
        ".json",
        "/index.js",
        "/index.cjs",
        "/index.mjs",
    ]
    .into_iter()
    .map(with)
    .find(|it| it.is_file())
    .and_then(|it| fs::canonicalize(it).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_exported_is_called() {
        for (text, default, handler) in [
            ("export const handler = 1", false, true),
            ("import a from 'a'; export default a", true, false),
            ("export default async () => {}", true, false),
            ("export async function handler() {}", false, true),
            ("exports.handler = f", false, true),
            ("module.exports.default = f", true, false),
            ("export { run as handler }", false, true),
            ("export { run as default }", true, false),
            ("const handler = 1", false, false),
        ] {
            assert_eq!(DEFAULT.is_match(text), default, "{text}");
            assert_eq!(is_exported(text, "handler"), handler, "{text}");
        }
    }

    #[test]
    fn imports_are_found() {
        let text = r#"
            import a from "a"; import './b.js'; import { c } from '@s/c/deep'
            const d = require("d"), e = await import('./e')
            export * from "./f"
            const text = "not from here"
        "#;
        let found: Vec<&str> = IMPORT
            .captures_iter(text)
            .filter_map(|it| it.get(1).map(|it| it.as_str()))
            .collect();
        assert_eq!(found, ["a", "./b.js", "@s/c/deep", "d", "./e", "./f"]);
    }
}
