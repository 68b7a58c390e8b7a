//! Which root a path belongs to: the deepest one of its target that contains it.

use std::path::{Path, PathBuf};

use windlass_pack_model::{Desired, RelPath, RootScope, Target};

use crate::owned::{Owned, OwnedRoot};

/// A root that a command is about.
#[derive(Clone, Debug)]
pub(crate) struct Slot<'a> {
    pub(crate) target: Target,
    pub(crate) path: PathBuf,
    /// Whether it is switched on.
    pub(crate) active: bool,
    pub(crate) scan_extras: bool,
    pub(crate) scope: Option<RootScope>,
    pub(crate) owned: Option<&'a OwnedRoot>,
}

/// All roots: those switched on in their order, then those switched off.
#[derive(Clone, Debug)]
pub(crate) struct Roots<'a> {
    pub(crate) slots: Vec<Slot<'a>>,
}

impl<'a> Roots<'a> {
    pub(crate) fn new(desired: &Desired, owned: &'a Owned) -> Self {
        let mut slots: Vec<Slot<'a>> = desired
            .roots
            .iter()
            .map(|root| Slot {
                target: root.target,
                path: root.path.clone(),
                active: true,
                scan_extras: root.scan_extras,
                scope: Some(root.scope),
                owned: owned.root(root.target, &root.path),
            })
            .collect();
        let mut off: Vec<&OwnedRoot> = owned
            .roots
            .iter()
            .filter(|root| {
                !slots
                    .iter()
                    .any(|slot| slot.target == root.target && slot.path == root.path)
            })
            .collect();
        off.sort_by(|left, right| (left.target, &left.path).cmp(&(right.target, &right.path)));
        slots.extend(off.into_iter().map(|root| Slot {
            target: root.target,
            path: root.path.clone(),
            active: false,
            scan_extras: false,
            scope: root.scope,
            owned: Some(root),
        }));
        Self { slots }
    }

    /// The switched-on root a path belongs to, and the path below it.
    pub(crate) fn place(&self, target: Target, path: &Path) -> Option<(usize, RelPath)> {
        let (index, below) = self.deepest(target, path, true)?;
        Some((index, RelPath::new(below).ok()?))
    }

    /// The deepest root that contains a path, switched on or off.
    pub(crate) fn containing(&self, target: Target, path: &Path) -> Option<usize> {
        self.deepest(target, path, false).map(|(index, _)| index)
    }

    fn deepest<'p>(
        &self,
        target: Target,
        path: &'p Path,
        only_active: bool,
    ) -> Option<(usize, &'p str)> {
        let mut best: Option<(usize, &'p str)> = None;
        for (index, slot) in self.slots.iter().enumerate() {
            if slot.target != target || only_active && !slot.active {
                continue;
            }
            if let Some(rest) = below(&slot.path, path)
                && best.is_none_or(|(_, shortest)| rest.len() < shortest.len())
            {
                best = Some((index, rest));
            }
        }
        best
    }
}

/// The part of a path below a directory, when it lies strictly inside. By bytes: this runs once
/// per file and root.
pub(crate) fn below<'p>(directory: &Path, path: &'p Path) -> Option<&'p str> {
    let path = path.to_str()?;
    let rest = path.strip_prefix(directory.to_str()?.trim_end_matches('/'))?;
    rest.strip_prefix('/').filter(|rest| !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_means_strictly_inside() {
        for (directory, path, expected) in [
            ("/p", "/p/a", Some("a")),
            ("/p/", "/p/a/b", Some("a/b")),
            ("/", "/a", Some("a")),
            ("/p", "/p", None),
            ("/p", "/pa", None),
            ("/p", "/q/p/a", None),
        ] {
            assert_eq!(
                below(Path::new(directory), Path::new(path)),
                expected,
                "{directory} {path}"
            );
        }
    }
}
