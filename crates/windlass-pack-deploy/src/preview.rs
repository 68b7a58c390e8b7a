//! What a plan would change, as text: one unified diff per file written.

use std::{borrow::Cow, path::Path};

use serde::Serialize;
use windlass_pack_model::{Body, Desired, Target};
use windlass_types::Digest;

use crate::{
    change::{Op, PlanChange, posix},
    owned::Owned,
    plan::DeployPlan,
    roots::{Roots, below},
};

/// A diff longer than this is left out.
const MAX_DIFF: usize = 100 * 1024;

/// One file of a preview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PreviewFile {
    /// The digest of what will be, with `sha256:`.
    pub after_hash: Option<String>,
    /// The digest of what is there, with `sha256:`.
    pub before_hash: Option<String>,
    /// What happens.
    pub op: Op,
    /// The path below the root.
    pub path: String,
    /// The same with `/`.
    pub path_posix: String,
    /// The root.
    pub root: String,
    /// The same with `/`.
    pub root_posix: String,
    /// The target.
    pub target: Target,
    /// The diff; for files that are written, unless it is too long or not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unified: Option<String>,
}

/// The files of a preview, and what was left out of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    /// One per change, in the same order.
    pub files: Vec<PreviewFile>,
    /// Warnings for people.
    pub warnings: Vec<String>,
}

/// Makes the diffs of a plan. Reads the files that change.
pub fn preview(plan: &DeployPlan, desired: &Desired, owned: &Owned) -> Preview {
    let roots = Roots::new(desired, owned);
    let mut preview = Preview::default();
    for change in &plan.changes {
        let root = roots
            .containing(change.target, &change.path)
            .map(|index| roots.slots[index].path.as_path());
        let shown_root = root.map_or_else(
            || "<unknown>".to_owned(),
            |root| root.to_string_lossy().into_owned(),
        );
        let path = root
            .and_then(|root| below(root, &change.path))
            .map_or_else(|| change.path.to_string_lossy(), Cow::from)
            .into_owned();
        let unified = match unified(change, &path) {
            Ok(diff) => diff,
            Err(why) => {
                preview.warnings.push(format!(
                    "preview diff omitted for {} {path} ({why})",
                    change.target
                ));
                None
            }
        };
        preview.files.push(PreviewFile {
            after_hash: prefixed(change.after_sha256),
            before_hash: prefixed(change.before_sha256),
            op: change.op,
            path_posix: posix(&path),
            path,
            root_posix: posix(&shown_root),
            root: shown_root,
            target: change.target,
            unified,
        });
    }
    preview
}

fn prefixed(digest: Option<Digest>) -> Option<String> {
    digest.map(|digest| format!("sha256:{digest}"))
}

/// The diff of a change; none for a removal, an error where it cannot be shown.
fn unified(change: &PlanChange, path: &str) -> Result<Option<String>, String> {
    let Some(body) = change.body() else {
        return Ok(None);
    };
    let after = match body {
        Body::Memory(bytes) => Cow::Borrowed(&**bytes),
        Body::File(source) => Cow::Owned(read(source)?),
    };
    let before = match change.before_sha256 {
        Some(_) => read(&change.path)?,
        None => Vec::new(),
    };
    match (std::str::from_utf8(&before), std::str::from_utf8(&after)) {
        (Ok(before), Ok(after)) => {
            let diff =
                windlass_text::unified(before, after, &format!("a/{path}"), &format!("b/{path}"));
            if diff.len() > MAX_DIFF {
                Err(format!("over {MAX_DIFF} bytes"))
            } else {
                Ok(Some(diff))
            }
        }
        _ => Err("binary or non-utf8".to_owned()),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs_err::read(path).map_err(|error| error.to_string())
}
