//! Turns the edits of one module file into the file an overlay should hold.
//!
//! Works on one file of one module at a time: brings edits of several outputs together, and
//! finds what to put into a scope so that the edit shows through the scopes above.

use windlass_pack_deploy::state::After;
use windlass_pack_model::{Layer, OverlayKind, RelPath};
use windlass_text::{Merge, MergeLabels, merge3};
use windlass_types::Problem;

use crate::evolve::{
    layers::{LayerFile, Layers},
    overlay::metadata_file,
    patch,
    scope::Scope,
    survey::Edit,
    writes::Writes,
};

/// What becomes of the edits of one module file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It goes into the overlay. `hidden_by`: the scope above that replaces the file all the
    /// same.
    Written {
        /// That scope.
        hidden_by: Option<Scope>,
    },
    /// What differs is not in the module: an end of line that a form adds.
    Unchanged,
    /// The edits contradict each other.
    Conflict,
    /// A patch cannot hold it.
    NotPatchable,
    /// The edit would not show because of the scope above.
    Hidden(Scope),
}

/// Where a module's edits go.
pub(crate) struct Mapping<'a> {
    pub(crate) layers: &'a Layers<'a>,
    pub(crate) scope: Scope,
    /// The overlay's directory; it may not exist yet.
    pub(crate) overlay_dir: &'a std::path::Path,
}

impl Mapping<'_> {
    /// Decides about the edits of one file and writes it.
    pub(crate) fn take(
        &self,
        path: &RelPath,
        edits: &[&Edit<'_>],
        writes: &mut Writes,
    ) -> Result<Outcome, Problem> {
        let whole = self.layers.file(path, Layer::Project)?;
        let source = whole.as_ref().map_or(&[][..], |file| file.bytes.as_slice());
        let Some(wanted) = merged(source, edits) else {
            return Ok(Outcome::Conflict);
        };
        if wanted == source && whole.is_some() {
            return Ok(Outcome::Unchanged);
        }
        let wanted = LayerFile {
            bytes: wanted,
            executable: edits.iter().any(|edit| edit.executable),
        };
        let (file, hidden_by) = match self.beneath(path, source, wanted)? {
            Beneath::Shows(file) => (file, None),
            Beneath::Replaced(file, by) => (file, Some(by)),
            Beneath::Hidden(by) => return Ok(Outcome::Hidden(by)),
        };
        let kind = match self.layers.overlay(self.scope) {
            Some(overlay) => overlay.config.overlay_kind,
            None => OverlayKind::Dir,
        };
        let written = match kind {
            OverlayKind::Dir => {
                let after = After::of(file.bytes, file.executable);
                writes.put(path.under(self.overlay_dir), after)?
            }
            OverlayKind::Patch => match self.patch(path, file, writes)? {
                Some(written) => written,
                None => return Ok(Outcome::NotPatchable),
            },
        };
        match hidden_by {
            // The overlay holds the edit already; only the scope above hides it.
            Some(by) if !written => Ok(Outcome::Hidden(by)),
            hidden_by => Ok(Outcome::Written { hidden_by }),
        }
    }

    /// What the scope must hold so that the file is as wanted after the scopes above.
    fn beneath(
        &self,
        path: &RelPath,
        source: &[u8],
        wanted: LayerFile,
    ) -> Result<Beneath, Problem> {
        let above: Vec<_> = self.layers.above(self.scope, path).collect();
        let Some((top, _)) = above.last() else {
            return Ok(Beneath::Shows(wanted));
        };
        let top = *top;
        let replaced = above
            .iter()
            .rev()
            .find(|(_, overlay)| overlay.config.overlay_kind == OverlayKind::Dir);
        if let Some((by, _)) = replaced {
            return Ok(Beneath::Replaced(wanted, *by));
        }
        // Only patches above: the edit goes into the text they are applied to.
        let here = self.layers.file(path, self.scope.layer())?;
        let Some(here) = here else {
            return Ok(Beneath::Hidden(top));
        };
        let texts = (
            std::str::from_utf8(source),
            std::str::from_utf8(&wanted.bytes),
            std::str::from_utf8(&here.bytes),
        );
        let (Ok(source), Ok(edited), Ok(below)) = texts else {
            return Ok(Beneath::Hidden(top));
        };
        let Merge::Clean(text) = merge3(source, edited, below, LABELS) else {
            return Ok(Beneath::Hidden(top));
        };
        let file = LayerFile {
            bytes: text.into_bytes(),
            executable: wanted.executable,
        };
        let mut shown = Some(file.clone());
        for (scope, overlay) in above {
            // A patch that no longer applies is the same as one that changes the edit.
            shown = match self.layers.apply(scope, overlay, path, shown) {
                Ok(shown) => shown,
                Err(_) => return Ok(Beneath::Hidden(top)),
            };
        }
        Ok(match shown {
            Some(shown) if shown.bytes == wanted.bytes => Beneath::Shows(file),
            _ => Beneath::Hidden(top),
        })
    }

    /// Writes a file as a patch; nothing when a patch cannot say it.
    fn patch(
        &self,
        path: &RelPath,
        file: LayerFile,
        writes: &mut Writes,
    ) -> Result<Option<bool>, Problem> {
        let removed = self
            .layers
            .overlay(self.scope)
            .is_some_and(|overlay| overlay.config.delete.contains(path));
        let below = match self.layers.file_below(path, self.scope)? {
            Some(below) if !removed => below,
            _ => return Ok(None),
        };
        let (Ok(before), Ok(after)) = (
            String::from_utf8(below.bytes),
            String::from_utf8(file.bytes),
        ) else {
            return Ok(None);
        };
        let patch_path = match self.layers.overlay(self.scope) {
            Some(overlay) => overlay.patch_path(path),
            None => metadata_file(self.overlay_dir, &format!("patches/{path}.patch")),
        };
        match patch::between(path, &before, &after) {
            None => Ok(None),
            // The edit takes the overlay's own change back.
            Some(patch) if patch.is_empty() => writes.remove(patch_path).map(Some),
            Some(patch) => writes
                .put(patch_path, After::of(patch.into_bytes(), false))
                .map(Some),
        }
    }
}

enum Beneath {
    /// Put there, it shows.
    Shows(LayerFile),
    /// Put there, it is replaced by the overlay of a higher scope.
    Replaced(LayerFile, Scope),
    /// Nothing that is put there gives the wanted file.
    Hidden(Scope),
}

const LABELS: MergeLabels<'_> = MergeLabels {
    ours: "edited",
    theirs: "edited elsewhere",
};

/// All edits of a file in one; nothing when they contradict each other.
fn merged(source: &[u8], edits: &[&Edit<'_>]) -> Option<Vec<u8>> {
    let ends_bare = !source.ends_with(b"\n");
    let mut whole: Option<Vec<u8>> = None;
    for edit in edits {
        let mut bytes = edit.bytes.as_slice();
        if edit.newline_added && ends_bare {
            bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        }
        whole = Some(match whole {
            None => bytes.to_vec(),
            Some(before) if before == bytes => before,
            Some(before) => {
                let texts = (
                    std::str::from_utf8(source),
                    std::str::from_utf8(&before),
                    std::str::from_utf8(bytes),
                );
                let (Ok(source), Ok(ours), Ok(theirs)) = texts else {
                    return None;
                };
                match merge3(source, ours, theirs, LABELS) {
                    Merge::Clean(text) => text.into_bytes(),
                    Merge::Conflict { .. } => return None,
                }
            }
        });
    }
    whole
}

#[cfg(test)]
#[path = "mapping_tests.rs"]
mod tests;
