//! Reads the checkout into a [`Tree`]: Cargo's metadata and the files on disk.
//!
//! The only file of this folder that does IO. Not here: any rule.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::{Crate, Dependency, DependencyKind, SourceFile, Tree};
use crate::repo::Repo;

/// What holds what was built, fetched or found, never what was written. In a linked checkout `.git`
/// is a file.
const SKIPPED_NAMES: [&str; 3] = [".git", "node_modules", "target"];
/// Inputs the fuzzer collects; arbitrary bytes by design.
const SKIPPED_PATHS: [&str; 2] = ["fuzz/corpus", "fuzz/artifacts"];

/// Reads everything the rules need.
pub fn read(repo: &Repo) -> Result<Tree> {
    let mut files = Vec::new();
    walk(&repo.root, "", &mut files)?;
    files.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(Tree {
        crates: crates(&repo.metadata)?,
        files,
    })
}

fn walk(folder: &Path, prefix: &str, files: &mut Vec<SourceFile>) -> Result<()> {
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if prefix.is_empty() {
            name.clone()
        } else {
            format!("{prefix}/{name}")
        };
        if SKIPPED_NAMES.contains(&name.as_str()) || SKIPPED_PATHS.contains(&path.as_str()) {
            continue;
        }
        let kind = entry.file_type()?;
        if kind.is_dir() {
            walk(&entry.path(), &path, files)?;
        } else if kind.is_file() {
            let bytes = fs_err::read(entry.path())?;
            files.push(SourceFile {
                path,
                text: String::from_utf8(bytes).ok(),
            });
        }
    }
    Ok(())
}

fn crates(metadata: &Value) -> Result<Vec<Crate>> {
    let packages = metadata["packages"]
        .as_array()
        .context("`cargo metadata` lists no packages")?;
    packages.iter().map(one_crate).collect()
}

fn one_crate(package: &Value) -> Result<Crate> {
    let name = text(package, "name")?;
    let manifest_path = text(package, "manifest_path")?;
    let folder = Path::new(&manifest_path)
        .parent()
        .and_then(Path::file_name)
        .map(|name| name.to_string_lossy().into_owned())
        .with_context(|| format!("{name} has no folder"))?;
    let dependencies = package["dependencies"]
        .as_array()
        .with_context(|| format!("{name} has no dependency list"))?
        .iter()
        // Only packages of this workspace are path dependencies.
        .filter(|dependency| dependency["path"].is_string())
        .map(|dependency| {
            Ok(Dependency {
                name: text(dependency, "name")?,
                kind: match dependency["kind"].as_str() {
                    Some("dev") => DependencyKind::Test,
                    _ => DependencyKind::Shipped,
                },
            })
        })
        .collect::<Result<_>>()?;
    Ok(Crate {
        layer: package["metadata"]["windlass"]["layer"]
            .as_str()
            .map(str::to_owned),
        manifest: fs_err::read_to_string(&manifest_path)?,
        name,
        folder,
        dependencies,
    })
}

fn text(value: &Value, key: &str) -> Result<String> {
    value[key]
        .as_str()
        .map(str::to_owned)
        .with_context(|| format!("`cargo metadata` gives no `{key}` for a package"))
}
