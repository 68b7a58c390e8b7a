//! A file shared with others, of which pack owns some keys: what becomes of it.

use std::{path::PathBuf, sync::Arc};

use serde_json::Value;
use windlass_pack_model::{DesiredKey, KeyFormat, RelPath, Target, fault};
use windlass_types::{Digest, Problem};

use crate::{
    change::{KeyChange, Op, UpdateKind},
    keys::{Document, KeyError, Pointer},
    owned::OwnedKey,
};

/// What is known about a shared file.
#[derive(Clone, Debug)]
pub(crate) struct SharedFile {
    pub(crate) target: Target,
    pub(crate) path: PathBuf,
    /// The path below its root.
    pub(crate) below: RelPath,
    pub(crate) format: KeyFormat,
    /// Its text now; none when it is absent.
    pub(crate) current: Option<Arc<str>>,
    pub(crate) desired: Vec<DesiredKey>,
    pub(crate) owned: Vec<OwnedKey>,
}

/// How values that others own are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Theirs {
    /// Written over if they differ; not owned if they are already right.
    Overwrite,
    /// Written over if they differ; owned in any case.
    Adopt,
    /// Left as they are.
    Leave,
}

/// What becomes of a shared file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SharedOutcome {
    /// Its text afterwards; none when it is absent then.
    pub(crate) text: Option<String>,
    /// The keys that change, in the order of the pointers.
    pub(crate) changes: Vec<KeyChange>,
    /// The keys owned afterwards.
    pub(crate) owned: Vec<OwnedKey>,
    /// Whether a value is right already and not owned.
    pub(crate) identical: bool,
    /// Whether an owned value was edited and is written over or removed.
    pub(crate) edited: bool,
}

/// The format of a shared file, by its name.
pub(crate) fn format_of(path: &RelPath) -> KeyFormat {
    if path.file_name().ends_with(".toml") {
        KeyFormat::Toml
    } else {
        KeyFormat::Json
    }
}

impl SharedFile {
    /// What becomes of it.
    pub(crate) fn resolve(&self, theirs: Theirs) -> Result<SharedOutcome, Problem> {
        self.try_resolve(theirs).map_err(|error| {
            fault::config_invalid(format!(
                "cannot change the keys of {}: {error}",
                self.path.display()
            ))
            .with("path", self.path.to_string_lossy())
            .with("target", self.target.as_str())
        })
    }

    fn try_resolve(&self, theirs: Theirs) -> Result<SharedOutcome, KeyError> {
        let document = Document::parse(self.format, self.current.as_deref().unwrap_or_default())?;
        let created = self.current.is_none() || self.owned.iter().any(|key| key.created);
        let mut edit = Edit {
            document,
            theirs,
            created,
            outcome: SharedOutcome {
                text: None,
                changes: Vec::new(),
                owned: Vec::new(),
                identical: false,
                edited: false,
            },
        };
        for key in self.owned.iter().filter(|key| !self.still_wanted(key)) {
            edit.drop_key(key)?;
        }
        for key in &self.desired {
            let owned = self.owned.iter().find(|owned| same_place(owned, key));
            edit.want_key(key, owned, &self.below)?;
        }
        let Edit {
            document,
            mut outcome,
            ..
        } = edit;
        outcome
            .changes
            .sort_by(|left, right| left.pointer.cmp(&right.pointer));
        outcome.text = if outcome.changes.is_empty() {
            self.current.as_deref().map(str::to_owned)
        } else if outcome.owned.is_empty() && created && document.is_blank() {
            None
        } else {
            Some(document.text())
        };
        Ok(outcome)
    }

    fn still_wanted(&self, owned: &OwnedKey) -> bool {
        self.desired.iter().any(|key| same_place(owned, key))
    }
}

/// Elements have no place of their own: the same element is one with the same value.
fn same_place(owned: &OwnedKey, desired: &DesiredKey) -> bool {
    owned.pointer == desired.pointer
        && (!desired.pointer.ends_with("/-") || owned.digest == desired.digest)
}

struct Edit {
    document: Document,
    theirs: Theirs,
    created: bool,
    outcome: SharedOutcome,
}

impl Edit {
    fn drop_key(&mut self, key: &OwnedKey) -> Result<(), KeyError> {
        let pointer = Pointer::parse(&key.pointer)?;
        let Some(value) = self.document.get(pointer.keys()) else {
            return Ok(());
        };
        let before = if pointer.is_element() {
            let Some(index) = position(&value, key.digest) else {
                return Ok(());
            };
            self.document.remove_element(pointer.keys(), index)?;
            key.digest
        } else {
            self.document.remove(pointer.keys())?;
            Digest::of_json(&value)
        };
        self.outcome.edited |= before != key.digest;
        self.outcome.changes.push(KeyChange {
            after_sha256: None,
            before_sha256: Some(before),
            op: Op::Delete,
            pointer: key.pointer.clone(),
            update_kind: None,
        });
        Ok(())
    }

    fn want_key(
        &mut self,
        key: &DesiredKey,
        owned: Option<&OwnedKey>,
        below: &RelPath,
    ) -> Result<(), KeyError> {
        let pointer = Pointer::parse(&key.pointer)?;
        let found = self.document.get(pointer.keys());
        let before = match &found {
            Some(array) if pointer.is_element() => position(array, key.digest).map(|_| key.digest),
            Some(value) => Some(Digest::of_json(value)),
            None => None,
        };
        let mut own = true;
        match before {
            Some(digest) if digest == key.digest => {
                own = owned.is_some() || self.theirs == Theirs::Adopt;
                self.outcome.identical |= owned.is_none();
            }
            Some(_) if owned.is_none() && self.theirs == Theirs::Leave => own = false,
            _ => {
                if pointer.is_element() {
                    self.document.append(pointer.keys(), &key.value)?;
                } else {
                    self.document.set(pointer.keys(), &key.value)?;
                }
                let kind = match (before, owned) {
                    (None, _) => None,
                    (Some(_), Some(_)) => Some(UpdateKind::ManagedUpdate),
                    (Some(_), None) => Some(UpdateKind::AdoptUpdate),
                };
                self.outcome.edited |=
                    before.is_some() && owned.is_some_and(|owned| before != Some(owned.digest));
                self.outcome.changes.push(KeyChange {
                    after_sha256: Some(key.digest),
                    before_sha256: before,
                    op: before.map_or(Op::Create, |_| Op::Update),
                    pointer: key.pointer.clone(),
                    update_kind: kind,
                });
            }
        }
        if own {
            self.outcome.owned.push(OwnedKey {
                path: below.clone(),
                pointer: key.pointer.clone(),
                digest: key.digest,
                module_ids: key.module_ids.clone(),
                value: Some(key.value.clone()),
                created: self.created,
            });
        }
        Ok(())
    }
}

fn position(array: &Value, digest: Digest) -> Option<usize> {
    array
        .as_array()?
        .iter()
        .position(|element| Digest::of_json(element) == digest)
}
