//! The part of `node_modules` that some packages need at run time.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde_json::Value;
use windlass_types::Problem;

use crate::package::failure::{failed, with_hint};
use crate::package::stage::Staged;
use crate::package::tree::{self, Links};
use crate::package::workshop::Workshop;

/// Modules that are Node's own and look like packages.
const BUILT_IN: [&str; 41] = [
    "assert",
    "async_hooks",
    "buffer",
    "child_process",
    "cluster",
    "console",
    "constants",
    "crypto",
    "dgram",
    "diagnostics_channel",
    "dns",
    "domain",
    "events",
    "fs",
    "http",
    "http2",
    "https",
    "inspector",
    "module",
    "net",
    "os",
    "path",
    "perf_hooks",
    "process",
    "punycode",
    "querystring",
    "readline",
    "repl",
    "stream",
    "string_decoder",
    "sys",
    "timers",
    "tls",
    "trace_events",
    "tty",
    "url",
    "util",
    "v8",
    "vm",
    "worker_threads",
    "zlib",
];

/// The package of an import: `@scope/name/deep` → `@scope/name`; `None` for Node's own modules.
pub(super) fn package_of(import: &str) -> Option<String> {
    let mut parts = import.split('/');
    let first = parts.next()?;
    if first.is_empty() || import.contains(':') || first.starts_with(['#', '<']) {
        return None;
    }
    if BUILT_IN.contains(&first) {
        return None;
    }
    match first.starts_with('@') {
        true => Some(format!("{first}/{}", parts.next()?)),
        false => Some(first.to_owned()),
    }
}

/// Whether a list of names and patterns like `@aws-sdk/*` has a package.
pub(super) fn is_listed(list: &[String], package: &str) -> bool {
    list.iter().any(|it| match it.strip_suffix('*') {
        Some(prefix) => package.starts_with(prefix),
        None => it == package,
    })
}

/// Copies packages and what they depend on, at the places Node looks for them.
pub(super) fn copy(
    shop: &Workshop<'_>,
    workload: &str,
    packages: BTreeSet<String>,
    left_out: &[String],
    staged: &mut Staged,
) -> Result<(), Problem> {
    let root = shop.root(workload)?;
    let base = fs::canonicalize(shop.base).map_err(|it| failed(workload, it))?;
    // A package, who needs it, and whether it may be absent.
    let mut open: VecDeque<(String, PathBuf, bool)> = packages
        .into_iter()
        .map(|it| (it, base.clone(), false))
        .collect();
    let mut seen = BTreeSet::new();
    while let Some((package, from, is_optional)) = open.pop_front() {
        if is_listed(left_out, &package) {
            continue;
        }
        let Some(place) = find(&package, &from, &root) else {
            // The runtime brings AWS's SDK.
            if is_optional || package.starts_with("@aws-sdk/") {
                continue;
            }
            let cause = format!("the package {package} is not installed");
            return Err(with_hint(
                failed(workload, cause).with("tool", "npm"),
                "npm install",
            ));
        };
        if !seen.insert(place.clone()) {
            continue;
        }
        let target = target(&place, &base, &package);
        let real = fs::canonicalize(&place).map_err(|it| failed(workload, it))?;
        if !real.starts_with(&root) {
            let cause = format!("the package {package} is a link out of the project");
            return Err(failed(workload, cause));
        }
        // Packages inside are found by their own names.
        let wanted = |path: &str, _| {
            !tree::is_never_packaged(path) && path != "node_modules" && path != ".bin"
        };
        for found in shop.walk(workload, &real, Links::Followed, &wanted)? {
            staged.add_found(format!("{target}/{}", found.path), found);
        }
        let manifest = fs::read(real.join("package.json")).unwrap_or_default();
        let manifest: Value = serde_json::from_slice(&manifest).unwrap_or_default();
        let names = |section: &str| {
            let section = manifest.get(section).and_then(Value::as_object);
            section
                .into_iter()
                .flat_map(|it| it.keys().cloned())
                .collect::<Vec<_>>()
        };
        // A linked package finds its dependencies from where it really is.
        for (section, is_optional) in [
            ("optionalDependencies", true),
            ("dependencies", false),
            ("peerDependencies", true),
        ] {
            for name in names(section) {
                let is_optional = is_optional || names("optionalDependencies").contains(&name);
                open.push_back((name, real.clone(), is_optional));
            }
        }
    }
    Ok(())
}

/// The folder of a package, as Node looks for it, not beyond the project.
fn find(package: &str, from: &Path, root: &Path) -> Option<PathBuf> {
    from.ancestors()
        .take_while(|folder| folder.starts_with(root))
        .filter(|folder| folder.file_name().is_none_or(|it| it != "node_modules"))
        .map(|folder| folder.join("node_modules").join(package))
        .find(|place| place.join("package.json").is_file())
}

/// Where it goes: where it was below the config, else where everyone finds it.
fn target(place: &Path, base: &Path, package: &str) -> String {
    match place.strip_prefix(base).ok().and_then(Path::to_str) {
        // Package managers that link keep the real folders in hidden ones.
        Some(below) if !below.contains("/.") => below.to_owned(),
        _ => format!("node_modules/{package}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_imports() {
        for (import, package) in [
            ("lodash", Some("lodash")),
            ("lodash/fp", Some("lodash")),
            ("@a/b/c", Some("@a/b")),
            ("@a", None),
            ("fs", None),
            ("fs/promises", None),
            ("node:fs", None),
            ("#internal", None),
            ("<runtime>", None),
            ("/absolute", None),
        ] {
            assert_eq!(package_of(import).as_deref(), package, "{import}");
        }
        let list = ["@aws-sdk/*".to_owned(), "pg".to_owned()];
        assert!(is_listed(&list, "@aws-sdk/client-s3") && is_listed(&list, "pg"));
        assert!(!is_listed(&list, "pg-native"));
    }
}
