//! `state/pack.json`: what pack remembers between events and no snapshot records.
//!
//! Known roots, so that a root whose option was switched off is still cleaned up; directories
//! pack made, so that empty ones can go; choices a person made once.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use fs_err as fs;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use windlass_pack_model::{
    Target,
    fault::{self, is_absent},
};
use windlass_types::{Digest, Problem};

use crate::state::{
    files::{create_private_dir, write_synced},
    pack_state::PackState,
    probe::{FaultProbe, NoFaults, Step, Stop, step},
};

/// The content of `pack.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// The version of the format.
    version: u32,
    /// Roots that were deployed to.
    #[serde(default)]
    pub known_roots: BTreeSet<KnownRoot>,
    /// A person does not want operator assets, nor to be asked about them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub operator_assets_declined: bool,
    /// Files that an import took over, with their content then: pack may own exactly these.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub imported: BTreeMap<PathBuf, Digest>,
    /// Directories pack made; an empty one may be removed. As text: there may be thousands, and
    /// paths compare slowly.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub directories: BTreeSet<String>,
    /// What a later version wrote.
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// A root that was deployed to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct KnownRoot {
    /// The configuration repository.
    pub repo: PathBuf,
    /// The project; a root of the user belongs to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// The target.
    pub target: Target,
    /// The directory, absolute.
    pub root: PathBuf,
    /// Whether extra files are reported.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub scan_extras: bool,
}

impl Default for Remembered {
    fn default() -> Self {
        Self {
            version: 1,
            known_roots: BTreeSet::new(),
            operator_assets_declined: false,
            imported: BTreeMap::new(),
            directories: BTreeSet::new(),
            other: Map::new(),
        }
    }
}

impl Remembered {
    /// The roots of a repository that concern a project: its own and the user's.
    pub fn roots_of<'a>(
        &'a self,
        repo: &'a Path,
        project_id: Option<&'a str>,
    ) -> impl Iterator<Item = &'a KnownRoot> {
        self.known_roots.iter().filter(move |known| {
            known.repo == repo
                && (known.project_id.is_none() || known.project_id.as_deref() == project_id)
        })
    }

    /// Adds roots; a root that is already known is updated.
    pub fn add_roots(&mut self, roots: &[KnownRoot]) {
        self.drop_roots(roots);
        self.known_roots.extend(roots.iter().cloned());
    }

    /// Drops roots.
    pub fn drop_roots(&mut self, roots: &[KnownRoot]) {
        let same = |known: &KnownRoot, other: &KnownRoot| {
            (&known.repo, &known.project_id, known.target, &known.root)
                == (&other.repo, &other.project_id, other.target, &other.root)
        };
        self.known_roots
            .retain(|known| !roots.iter().any(|other| same(known, other)));
    }
}

impl PackState {
    /// What is remembered, and a warning when the file is damaged and therefore ignored.
    pub fn remembered(&self) -> Result<(Remembered, Option<String>), Problem> {
        let path = self.home().pack_state();
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if is_absent(&error) => return Ok((Remembered::default(), None)),
            Err(error) => return Err(fault::io("read", &path, &error)),
        };
        Ok(match serde_json::from_slice(&text) {
            Ok(remembered) => (remembered, None),
            Err(error) => (
                Remembered::default(),
                Some(format!(
                    "{} is damaged and is ignored: {error}",
                    path.display()
                )),
            ),
        })
    }

    /// Changes what is remembered. Two processes that do so take turns.
    pub fn remember(&self, edit: impl FnOnce(&mut Remembered)) -> Result<(), Problem> {
        self.update_remembered(&NoFaults, |remembered| {
            edit(remembered);
            Ok(())
        })
        .map_err(Stop::into_problem)
    }

    pub(crate) fn update_remembered(
        &self,
        probe: &dyn FaultProbe,
        edit: impl FnOnce(&mut Remembered) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let _lock = self.lock_remembered()?;
        let (before, damaged) = self.remembered()?;
        let mut after = before.clone();
        edit(&mut after)?;
        if after == before && damaged.is_none() {
            return Ok(());
        }
        let path = self.home().pack_state();
        step(probe, Step::WriteRemembered, "write", &path, || {
            create_private_dir(&self.home().state())?;
            if damaged.is_some() {
                // Kept aside: its content may be needed later.
                fs::rename(&path, path.with_extension("json.damaged"))?;
            }
            let mut text = serde_json::to_vec_pretty(&after)?;
            text.push(b'\n');
            let unfinished = path.with_extension("json.new");
            write_synced(&unfinished, &text)?;
            fs::rename(&unfinished, &path)
        })
    }
}

#[cfg(test)]
#[path = "remembered_tests.rs"]
mod tests;
