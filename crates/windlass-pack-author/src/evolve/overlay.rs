//! One overlay directory as it is: its kind, its files, its patches.
//!
//! Reads names and metadata, not contents. What the overlay does to a module is composed in
//! `layers`; a directory reached through a symbolic link belongs to whatever it leads to and is
//! left out here.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use windlass_pack_model::{
    OverlayConfig, OverlayKind, RelPath,
    fault::{self, is_absent},
    overlay::METADATA_DIR,
};
use windlass_types::Problem;

use crate::evolve::{read, scope::Scope};

/// The files of an overlay's metadata.
pub(crate) const BASELINE: &str = "baseline.json";
pub(crate) const CONFIG: &str = "overlay.json";
pub(crate) const MODULE_ID: &str = "module_id";

/// An overlay that exists.
#[derive(Debug)]
pub(crate) struct OverlayDir {
    pub(crate) dir: PathBuf,
    pub(crate) config: OverlayConfig,
    /// Its own files, by their path inside the module.
    pub(crate) files: BTreeMap<RelPath, PathBuf>,
    /// Its patches, by the path inside the module they change.
    pub(crate) patches: BTreeMap<RelPath, PathBuf>,
}

impl OverlayDir {
    /// Looks at an overlay; nothing when there is no such directory.
    pub(crate) fn open(dir: &Path) -> Result<Option<Self>, Problem> {
        if !dir.is_dir() {
            return Ok(None);
        }
        let metadata = dir.join(METADATA_DIR);
        let path = metadata.join(CONFIG);
        let config = match read::text_if_present(&path)? {
            Some(text) => OverlayConfig::parse(&text, &path)?,
            None => OverlayConfig::default(),
        };
        let mut files = BTreeMap::new();
        collect(dir, "", &mut |rel, path| {
            files.insert(relative(rel, &path)?, path);
            Ok(())
        })?;
        let mut patches = BTreeMap::new();
        collect(&metadata.join("patches"), "", &mut |rel, path| {
            if let Some(target) = patched_file(rel) {
                patches.insert(relative(target, &path)?, path);
            }
            Ok(())
        })?;
        Ok(Some(Self {
            dir: dir.to_owned(),
            config,
            files,
            patches,
        }))
    }

    /// A file of the metadata directory.
    pub(crate) fn metadata(&self, name: &str) -> PathBuf {
        metadata_file(&self.dir, name)
    }

    /// Where the patch of a file is kept.
    pub(crate) fn patch_path(&self, path: &RelPath) -> PathBuf {
        match self.patches.get(path) {
            Some(existing) => existing.clone(),
            None => self.metadata(&format!("patches/{path}.patch")),
        }
    }

    /// Whether it changes nothing yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.patches.is_empty() && self.config.delete.is_empty()
    }

    /// Whether it supplies, changes or removes a file.
    pub(crate) fn touches(&self, path: &RelPath) -> bool {
        self.config.delete.contains(path)
            || match self.config.overlay_kind {
                OverlayKind::Dir => self.files.contains_key(path),
                OverlayKind::Patch => self.patches.contains_key(path),
            }
    }

    /// Files and patches do not go together, and neither with the other's kind.
    pub(crate) fn check_kind(
        &self,
        kind: OverlayKind,
        module_id: &str,
        scope: Scope,
    ) -> Result<(), Problem> {
        let (message, hint) = match kind {
            _ if !self.files.is_empty() && !self.patches.is_empty() => (
                "mixes override files and patches",
                "keep one kind per overlay: files, or patches under .agentpack/patches",
            ),
            OverlayKind::Dir if !self.patches.is_empty() => (
                "has patches, so its kind cannot be dir",
                "set overlay_kind to patch in .agentpack/overlay.json, or remove .agentpack/patches",
            ),
            OverlayKind::Patch if !self.files.is_empty() => (
                "has override files, so its kind cannot be patch",
                "move the edits into .agentpack/patches/<path>.patch, or set overlay_kind to dir",
            ),
            OverlayKind::Dir | OverlayKind::Patch => return Ok(()),
        };
        let names: Vec<String> = self.files.keys().map(ToString::to_string).collect();
        let patches: Vec<String> = self
            .patches
            .keys()
            .map(|path| format!("{METADATA_DIR}/patches/{path}.patch"))
            .collect();
        Err(named(
            fault::config_invalid(format!(
                "the {scope} overlay of module {module_id} {message}"
            )),
            module_id,
            scope,
            &self.dir,
        )
        .with("override_files", names)
        .with("patch_files", patches)
        .with("hint", hint))
    }
}

/// A file of an overlay's metadata directory.
pub(crate) fn metadata_file(overlay_dir: &Path, name: &str) -> PathBuf {
    overlay_dir.join(METADATA_DIR).join(name)
}

/// The problem, saying whose overlay it is about.
pub(crate) fn named(problem: Problem, module_id: &str, scope: Scope, dir: &Path) -> Problem {
    problem
        .with("module_id", module_id)
        .with("scope", scope.as_str())
        .with("overlay_dir", dir.display().to_string())
        .with("overlay_dir_posix", fault::posix(dir))
}

fn patched_file(name: &str) -> Option<&str> {
    let (stem, suffix) = name.split_at_checked(name.len().checked_sub(".patch".len())?)?;
    suffix.eq_ignore_ascii_case(".patch").then_some(stem)
}

fn relative(rel: &str, path: &Path) -> Result<RelPath, Problem> {
    RelPath::new(rel).map_err(|error| {
        fault::at(
            fault::config_invalid(format!("{}: {error}; rename it", path.display())),
            path,
        )
        .with("relpath", rel)
    })
}

fn collect(
    dir: &Path,
    below: &str,
    found: &mut dyn FnMut(&str, PathBuf) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let failed = |error: &std::io::Error| fault::io("read directory", dir, error);
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if is_absent(&error) && below.is_empty() => return Ok(()),
        Err(error) => return Err(failed(&error)),
    };
    for entry in entries {
        let entry = entry.map_err(|error| failed(&error))?;
        let name = entry.file_name();
        if name == ".git" || name == METADATA_DIR {
            continue;
        }
        let path = entry.path();
        let Some(name) = name.to_str() else {
            return Err(fault::at(
                fault::config_invalid(format!(
                    "file name {} is not UTF-8; rename it",
                    path.display()
                )),
                &path,
            ));
        };
        let rel = match below {
            "" => name.to_owned(),
            below => format!("{below}/{name}"),
        };
        let kind = entry.file_type().map_err(|error| failed(&error))?;
        if kind.is_dir() {
            collect(&path, &rel, found)?;
        } else if kind.is_file() || path.is_file() {
            found(&rel, path)?;
        }
    }
    Ok(())
}
