//! Fixers, one file each: what to do about an issue, as patches.
//!
//! Pure: the same issue and the same input give the same patches. A fixer touches only the lines
//! its issue names. Whether a patch may be applied where it wants to is decided by who applies it.

mod alt_text;
mod claim_ids;
mod cut;
mod front_keys;
mod front_missing;
mod front_syntax;
mod heading_levels;
mod https;
mod links;
mod lint;
mod lookup;
mod names;
mod required_headings;
mod snippet_language;
mod snippets;
mod toc;
mod tokens;
mod uncited;
mod unsupported;
mod values;

use windlass_launch_model::{Issue, Patch, markdown::Document};

use crate::{
    gates::input::GateInput,
    patch::{Edit, edit_file, patch_id},
};

/// What a fix does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fixed {
    /// The patches, in order.
    pub patches: Vec<Patch>,
    /// What was done, for the report of the attempt.
    pub notes: Vec<String>,
}

/// Why there is no fix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FixError {
    /// There is no fixer for such an issue.
    #[error("no fixer is registered for {0}")]
    NoFixer(String),
    /// The issue's file is not there, or not a page.
    #[error("{0} is not a page of the site")]
    NoPage(String),
    /// The fixer changed nothing.
    #[error("the fix of {0} would change nothing")]
    NoDiff(String),
    /// A patch could not be made.
    #[error("a patch of {path} could not be created: {cause}")]
    NoPatch {
        /// The file.
        path: String,
        /// Why.
        cause: String,
    },
}

/// An issue and where it is.
struct Fixing<'a> {
    input: &'a GateInput,
    issue: &'a Issue,
    path: &'a str,
    document: &'a Document,
}

impl Fixing<'_> {
    /// Whether the issue names a line.
    fn names(&self, line: u64) -> bool {
        self.issue
            .occurrences
            .iter()
            .any(|place| place.line == line)
    }
}

/// Files with their new text, and what was done.
#[derive(Default)]
struct Rewrite {
    files: Vec<(String, String)>,
    notes: Vec<String>,
}

impl Rewrite {
    /// A new text for the issue's own file.
    fn own(fixing: &Fixing<'_>, text: String, notes: Vec<String>) -> Self {
        Self {
            files: vec![(fixing.path.to_owned(), text)],
            notes,
        }
    }
}

/// A fixer: its codes, what it promises, and how it rewrites.
pub struct Fixer {
    codes: &'static [&'static str],
    promise: &'static str,
    rewrite: fn(&Fixing<'_>) -> Rewrite,
}

impl Fixer {
    /// What it would do, for people.
    pub const fn promise(&self) -> &'static str {
        self.promise
    }
}

/// Every fixer.
pub static FIXERS: [Fixer; 17] = [
    Fixer {
        codes: &["GATE_TEMPLATE_TOKEN_UNRESOLVED"],
        promise: "Put in the token's value, or drop the line or attribute that holds it.",
        rewrite: tokens::rewrite,
    },
    Fixer {
        codes: &["GATE_FRONTMATTER_MISSING"],
        promise: "Add front matter with the keys the section needs.",
        rewrite: front_missing::rewrite,
    },
    Fixer {
        codes: &["GATE_FRONTMATTER_INVALID_SYNTAX"],
        promise: "Keep every readable key and quote what needs it.",
        rewrite: front_syntax::rewrite,
    },
    Fixer {
        codes: &[
            "GATE_FRONTMATTER_REQUIRED_FIELD_MISSING",
            "GATE_FRONTMATTER_TYPE_MISMATCH",
        ],
        promise: "Set the key to the section's default, the planned or the converted value.",
        rewrite: front_keys::rewrite,
    },
    Fixer {
        codes: &[
            "GATE_LINK_BROKEN_INTERNAL",
            "GATE_LINK_BROKEN_RELATIVE",
            "GATE_LINK_BROKEN_ANCHOR",
        ],
        promise: "Link to the one page or heading it can mean, or keep only the text.",
        rewrite: links::rewrite,
    },
    Fixer {
        codes: &["GATE_MARKDOWN_LINT_ERROR"],
        promise: "Apply the repair of each rule.",
        rewrite: lint::rewrite,
    },
    Fixer {
        codes: &["GATE_TRUTHLOCK_UNCITED_FACT"],
        promise: "Name the claim that says the same, or remove the sentence.",
        rewrite: uncited::rewrite,
    },
    Fixer {
        codes: &["GATE_TRUTHLOCK_INVALID_CLAIM_ID"],
        promise: "Name the claim that says the same, or remove the sentence.",
        rewrite: claim_ids::rewrite,
    },
    Fixer {
        codes: &["GATE_TRUTHLOCK_UNSUPPORTED"],
        promise: "Put the claim's own words in place of the sentence.",
        rewrite: unsupported::rewrite,
    },
    Fixer {
        codes: &[
            "GATE_CONSISTENCY_PRODUCT_NAME",
            "GATE_CONSISTENCY_REPO_URL",
            "GATE_CONSISTENCY_CANONICAL_URL",
        ],
        promise: "Write the right name or address.",
        rewrite: names::rewrite,
    },
    Fixer {
        codes: &["GATE_CONSISTENCY_REQUIRED_HEADING"],
        promise: "Add the heading at its planned place, with the claims that fit.",
        rewrite: required_headings::rewrite,
    },
    Fixer {
        codes: &["GATE_SNIPPET_NOT_IN_CATALOG"],
        promise: "Show a snippet of the catalogue instead, or remove the code.",
        rewrite: snippets::rewrite,
    },
    Fixer {
        codes: &["GATE_SNIPPET_LANGUAGE_MISMATCH"],
        promise: "Name the catalogue's language at the fence.",
        rewrite: snippet_language::rewrite,
    },
    Fixer {
        codes: &["GATE_ACCESSIBILITY_HEADING_SKIP"],
        promise: "Lift the heading and what is below it to the next level.",
        rewrite: heading_levels::rewrite,
    },
    Fixer {
        codes: &["GATE_ACCESSIBILITY_ALT_MISSING"],
        promise: "Describe the picture by its caption, its heading or its name.",
        rewrite: alt_text::rewrite,
    },
    Fixer {
        codes: &["GATE_LINK_INSECURE_HTTP"],
        promise: "Use https for the address.",
        rewrite: https::rewrite,
    },
    Fixer {
        codes: &[
            "GATE_LINK_ORPHAN_PAGE",
            "GATE_DISTRIBUTION_TOC_CHILD_MISSING",
        ],
        promise: "Add the page to its table of contents.",
        rewrite: toc::rewrite,
    },
];

/// The fixer of a code.
pub fn fixer(code: &str) -> Option<&'static Fixer> {
    FIXERS.iter().find(|fixer| fixer.codes.contains(&code))
}

/// The patches that fix an issue; `first_patch` numbers the first of them.
pub fn fix(input: &GateInput, issue: &Issue, first_patch: usize) -> Result<Fixed, FixError> {
    let code = issue.error_code.as_deref().unwrap_or_default();
    let fixer = fixer(code).ok_or_else(|| FixError::NoFixer(code.to_owned()))?;
    let path = issue.files.first().map_or("", String::as_str);
    let document = input
        .document(path)
        .ok_or_else(|| FixError::NoPage(path.to_owned()))?;
    let rewrite = (fixer.rewrite)(&Fixing {
        input,
        issue,
        path,
        document,
    });
    let mut fixed = Fixed {
        patches: Vec::new(),
        notes: rewrite.notes,
    };
    for (path, after) in rewrite.files {
        let before = input
            .site
            .text(&path)
            .ok_or_else(|| FixError::NoPage(path.clone()))?;
        let Some(edit) = difference(before, &after) else {
            continue;
        };
        let id = patch_id(first_patch + fixed.patches.len());
        let (patch, result) =
            edit_file(&id, &path, before, &edit).map_err(|conflict| FixError::NoPatch {
                path: path.clone(),
                cause: format!("{conflict:?}"),
            })?;
        if result != after {
            let cause = "its lines do not add up to the new text".to_owned();
            return Err(FixError::NoPatch { path, cause });
        }
        fixed.patches.push(patch);
    }
    if fixed.patches.is_empty() {
        return Err(FixError::NoDiff(issue.issue_id.clone()));
    }
    Ok(fixed)
}

/// The one range of lines in which two texts differ.
fn difference(before: &str, after: &str) -> Option<Edit> {
    if before == after {
        return None;
    }
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let same_start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - same_start;
    let ends = old.iter().rev().zip(new.iter().rev()).take(rest);
    let same_end = ends.take_while(|(a, b)| a == b).count();
    Some(Edit::Range {
        start: same_start as u64 + 1,
        end: (old.len() - same_end) as u64,
        text: new[same_start..new.len() - same_end].concat(),
    })
}

#[cfg(test)]
#[path = "fix_tests.rs"]
mod tests;
