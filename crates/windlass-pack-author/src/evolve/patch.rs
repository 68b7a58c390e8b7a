//! Patches of patch overlays: applied to a text, made from two.

use std::path::Path;

use windlass_pack_model::{RelPath, fault};
use windlass_types::Problem;

use crate::evolve::{overlay, read, scope::Scope};

/// Whose patch it is.
#[derive(Clone, Copy)]
pub(crate) struct PatchOf<'a> {
    pub(crate) module_id: &'a str,
    pub(crate) scope: Scope,
    pub(crate) overlay_dir: &'a Path,
    pub(crate) target: &'a RelPath,
}

impl PatchOf<'_> {
    /// The text after the patch in a file.
    pub(crate) fn apply(&self, patch_file: &Path, before: &str) -> Result<String, Problem> {
        let (id, scope, target) = (self.module_id, self.scope, self.target);
        let text = read::bytes(patch_file)?;
        let text = String::from_utf8(text).map_err(|_| {
            self.invalid(
                patch_file,
                format!("patch {} is not UTF-8", patch_file.display()),
            )
        })?;
        let patch = windlass_text::parse_patch(&text).map_err(|error| {
            self.invalid(
                patch_file,
                format!("patch {} cannot be read: {error}", patch_file.display()),
            )
        })?;
        let named = |path: &Option<String>| path.as_deref() == Some(target.as_str());
        if !named(&patch.before_path) || !named(&patch.after_path) {
            return Err(self.invalid(
                patch_file,
                format!(
                    "patch {} is named for {target}, but its headers name another file",
                    patch_file.display()
                ),
            ));
        }
        patch.apply(before).map_err(|error| {
            self.described(
                patch_file,
                fault::overlay_patch_apply_failed(format!(
                    "the {scope} overlay of module {id} does not apply to {target}: {error}"
                )),
            )
            .with("stderr", error.to_string())
            .with(
                "hint",
                "regenerate the patch against the content it was made from, or switch to a directory overlay",
            )
        })
    }

    /// The text of a file as far as patches can be made of it.
    pub(crate) fn text(&self, patch_file: &Path, bytes: Vec<u8>) -> Result<String, Problem> {
        String::from_utf8(bytes).map_err(|_| {
            self.invalid(
                patch_file,
                format!(
                    "the {} overlay of module {} patches {}, which is not UTF-8 text",
                    self.scope, self.module_id, self.target
                ),
            )
        })
    }

    fn invalid(&self, patch_file: &Path, message: String) -> Problem {
        self.described(patch_file, fault::config_invalid(message)).with(
            "hint",
            "store one unified diff of one text file, named <path>.patch, with the headers --- a/<path> and +++ b/<path>; use a directory overlay for anything else",
        )
    }

    fn described(&self, patch_file: &Path, problem: Problem) -> Problem {
        overlay::named(problem, self.module_id, self.scope, self.overlay_dir)
            .with("patch_file", patch_file.display().to_string())
            .with("patch_file_posix", fault::posix(patch_file))
            .with("relpath", self.target.as_str())
    }
}

/// The patch that leads from one text to the other; empty when they are equal. Nothing when a
/// patch cannot say it, which its being read and applied again shows.
pub(crate) fn between(target: &RelPath, before: &str, after: &str) -> Option<String> {
    let text = windlass_text::unified(
        before,
        after,
        &format!("a/{target}"),
        &format!("b/{target}"),
    );
    if text.is_empty() {
        return Some(text);
    }
    let patch = windlass_text::parse_patch(&text).ok()?;
    (patch.apply(before).ok()? == after).then_some(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_patch_turns_one_text_into_the_other(
            before in "([a-c]{0,2}\n){0,12}[a-c]{0,2}",
            after in "([a-c]{0,2}\n){0,12}[a-c]{0,2}",
        ) {
            let target = RelPath::new("dir/two words.md").unwrap();
            // Nothing is fine where a patch cannot say it; a wrong patch is not.
            if let Some(text) = between(&target, &before, &after) {
                prop_assert_eq!(text.is_empty(), before == after);
                if !text.is_empty() {
                    let patch = windlass_text::parse_patch(&text).unwrap();
                    prop_assert_eq!(patch.after_path.as_deref(), Some(target.as_str()));
                    prop_assert_eq!(patch.apply(&before).unwrap(), after);
                }
            }
        }
    }

    #[test]
    fn ordinary_edits_can_be_patched() {
        let target = RelPath::new("SKILL.md").unwrap();
        for (before, after) in [
            ("a\n", "b\n"),
            ("", "new\n"),
            ("a", "a\n"),
            ("a\r\nb\r\n", "a\r\nc\r\n"),
            ("-- a\n-- b\n", "-- b\n"),
        ] {
            assert!(
                between(&target, before, after).is_some(),
                "{before:?} {after:?}"
            );
        }
    }
}
