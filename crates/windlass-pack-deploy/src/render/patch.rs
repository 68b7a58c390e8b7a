//! Patch overlays: one single-file unified diff per `.agentpack/patches/<path>.patch`.
//!
//! Reading and applying a diff is `windlass-text`'s work; here is what an overlay may do with
//! one.

use std::path::{Path, PathBuf};

use windlass_pack_model::{Body, Content, RelPath, Tree, fault};
use windlass_types::Problem;

use crate::render::{compose::Overlay, read};

/// A patch by its file.
#[derive(Debug)]
pub(crate) struct PatchFile {
    /// The file.
    pub(crate) path: PathBuf,
    /// The path inside the module it changes, from its name.
    pub(crate) target: RelPath,
}

/// The patches of an overlay, by target.
pub(crate) fn list(patches: &Path) -> Result<Vec<PatchFile>, Problem> {
    let mut found = Vec::new();
    collect(patches, "", &mut found)?;
    found.sort_by(|left, right| left.target.cmp(&right.target));
    Ok(found)
}

fn collect(dir: &Path, below: &str, found: &mut Vec<PatchFile>) -> Result<(), Problem> {
    let failed = |error: &std::io::Error| fault::io("read directory", dir, error);
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && below.is_empty() => {
            return Ok(());
        }
        Err(error) => return Err(failed(&error)),
    };
    for entry in entries {
        let entry = entry.map_err(|error| failed(&error))?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let rel = match below {
            "" => name.into_owned(),
            below => format!("{below}/{name}"),
        };
        if entry.file_type().map_err(|error| failed(&error))?.is_dir() {
            collect(&entry.path(), &rel, found)?;
        } else if let Some(target) = strip_suffix(&rel) {
            let path = entry.path();
            let target = RelPath::new(target).map_err(|error| {
                fault::config_invalid(format!("patch {}: {error}", path.display()))
                    .with("patch_file", path.display().to_string())
                    .with("relpath", target)
                    .with(
                        "hint",
                        "name a patch after the file it changes: <path>.patch",
                    )
            })?;
            found.push(PatchFile { path, target });
        }
    }
    Ok(())
}

fn strip_suffix(name: &str) -> Option<&str> {
    let (stem, suffix) = name.split_at_checked(name.len().checked_sub(".patch".len())?)?;
    suffix.eq_ignore_ascii_case(".patch").then_some(stem)
}

/// Changes the patch's file in a tree. The file keeps its mode and gets the patch's layer.
pub(crate) fn apply(
    overlay: &Overlay<'_>,
    patch: &PatchFile,
    tree: &mut Tree,
) -> Result<(), Problem> {
    let (id, scope, target) = (&overlay.module.id, overlay.layer, &patch.target);
    let invalid = |message: String, hint: &str| {
        described(overlay, patch, fault::config_invalid(message)).with("hint", hint)
    };

    let Some(content) = tree.get_mut(target) else {
        return Err(invalid(
            format!(
                "the {scope} overlay of module {id} patches {target}, which no lower layer has"
            ),
            "a patch can only change a file that exists; add files with a directory overlay",
        ));
    };
    let before = text(content)?.ok_or_else(|| {
        invalid(
            format!("the {scope} overlay of module {id} patches {target}, which is not UTF-8 text"),
            "replace binary files with a directory overlay",
        )
    })?;
    let bytes = read::bytes(&patch.path)?;
    let diff = String::from_utf8(bytes).map_err(|error| {
        invalid(
            format!("patch {} is not UTF-8: {error}", patch.path.display()),
            "regenerate the patch; replace binary files with a directory overlay",
        )
    })?;
    let parsed = windlass_text::parse_patch(&diff).map_err(|error| {
        invalid(
            format!("patch {} cannot be read: {error}", patch.path.display()),
            "store one unified diff of one file, as `git diff --no-index -- <upstream-file> <edited-file>` prints it",
        )
    })?;
    let (Some(old), Some(new)) = (&parsed.before_path, &parsed.after_path) else {
        return Err(invalid(
            format!("patch {} creates or deletes a file", patch.path.display()),
            "add files with a directory overlay; take files away with delete in .agentpack/overlay.json",
        ));
    };
    if old != target.as_str() || new != target.as_str() {
        return Err(invalid(
            format!(
                "patch {} is named for {target}, but its headers say {old} and {new}",
                patch.path.display()
            ),
            "use the same path in the name and in both headers: --- a/<path>, +++ b/<path>",
        )
        .with("expected_relpath", target.as_str())
        .with("patch_old_path", old.as_str())
        .with("patch_new_path", new.as_str()));
    }
    let after = parsed.apply(&before).map_err(|error| {
        described(
            overlay,
            patch,
            fault::overlay_patch_apply_failed(format!(
                "the {scope} overlay of module {id} does not apply to {target}: {error}"
            )),
        )
        .with("stderr", error.to_string())
        .with(
            "hint",
            "regenerate the patch against the current content of the lower layers, or switch to a directory overlay",
        )
    })?;
    *content = Content::of(after.into_bytes(), content.executable, overlay.layer);
    Ok(())
}

fn described(overlay: &Overlay<'_>, patch: &PatchFile, problem: Problem) -> Problem {
    overlay
        .named(problem)
        .with("patch_file", patch.path.display().to_string())
        .with("patch_file_posix", fault::posix(&patch.path))
        .with("relpath", patch.target.as_str())
}

/// A content as text; nothing when it is not UTF-8.
pub(crate) fn text(content: &Content) -> Result<Option<String>, Problem> {
    let bytes = match &content.body {
        Body::Memory(bytes) => bytes.to_vec(),
        Body::File(path) => read::bytes(path)?,
    };
    Ok(String::from_utf8(bytes).ok())
}
