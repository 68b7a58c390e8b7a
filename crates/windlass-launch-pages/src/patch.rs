//! One patch against one file: made, and applied to its text.
//!
//! Pure. A patch names the digest of the file before (`expected_before_hash`) and after
//! (`content_hash`; of nothing, for a removal), so applying it to its own result is distinguished
//! from a file changed by others. An existing file is never rewritten completely.

use std::{collections::BTreeMap, ops::Range};

use serde_json::Value;
use windlass_launch_model::{
    ConflictReason, Patch, PatchConflict, PatchKind,
    markdown::{Document, Heading, frontmatter},
};
use windlass_types::Digest;

/// Larger files are left alone.
pub const LARGEST_FILE: u64 = 4 << 20;

/// The id of the patch with a number.
pub fn patch_id(number: usize) -> String {
    format!("patch_{number:03}")
}

/// The digest of a file as patches name it.
pub fn file_hash(content: &[u8]) -> String {
    Digest::of(content).to_string()
}

/// What a patch does, before it has an id and digests.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Lines `start..=end`, from 1, become the text; `end = start - 1` inserts before `start`.
    Range {
        /// The first line replaced.
        start: u64,
        /// The last line replaced.
        end: u64,
        /// The new lines.
        text: String,
    },
    /// What stands at an anchor becomes the text. See [`anchored`].
    Anchor {
        /// The anchor.
        anchor: String,
        /// The new text.
        text: String,
    },
    /// Keys of the front matter are set.
    Keys(BTreeMap<String, Value>),
}

/// A patch that makes a new file.
pub fn create_file(id: &str, path: &str, content: &str) -> Patch {
    Patch {
        new_content: Some(content.to_owned()),
        content_hash: file_hash(content.as_bytes()),
        ..blank(id, PatchKind::CreateFile, path)
    }
}

/// A patch that removes a file.
pub fn delete_file(id: &str, path: &str, before: &[u8]) -> Patch {
    Patch {
        expected_before_hash: Some(file_hash(before)),
        ..blank(id, PatchKind::DeleteFile, path)
    }
}

/// A patch that edits a file, and the text it leaves.
pub fn edit_file(
    id: &str,
    path: &str,
    before: &str,
    edit: &Edit,
) -> Result<(Patch, String), PatchConflict> {
    let mut patch = match edit.clone() {
        Edit::Range { start, end, text } => Patch {
            start_line: Some(start),
            end_line: Some(end),
            new_content: Some(text),
            ..blank(id, PatchKind::UpdateFileRange, path)
        },
        Edit::Anchor { anchor, text } => Patch {
            anchor: Some(anchor),
            new_content: Some(text),
            ..blank(id, PatchKind::UpdateByAnchor, path)
        },
        Edit::Keys(keys) => Patch {
            frontmatter_updates: keys,
            ..blank(id, PatchKind::UpdateFrontmatterKeys, path)
        },
    };
    let after = edited(&patch, before)?;
    patch.expected_before_hash = Some(file_hash(before.as_bytes()));
    patch.content_hash = file_hash(after.as_bytes());
    Ok((patch, after))
}

fn blank(id: &str, kind: PatchKind, path: &str) -> Patch {
    Patch {
        patch_id: id.to_owned(),
        kind,
        path: path.to_owned(),
        anchor: None,
        start_line: None,
        end_line: None,
        frontmatter_updates: BTreeMap::new(),
        new_content: None,
        expected_before_hash: None,
        content_hash: file_hash(b""),
    }
}

/// What a file should be after a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As it is: the patch was applied before.
    Unchanged,
    /// This.
    Written(String),
    /// Gone.
    Removed,
}

/// Applies one patch to a file's bytes; none when there is no file.
pub fn apply_patch(current: Option<&[u8]>, patch: &Patch) -> Result<Outcome, PatchConflict> {
    let hash = current.map(file_hash);
    match patch.kind {
        PatchKind::DeleteFile if current.is_none() => return Ok(Outcome::Unchanged),
        PatchKind::DeleteFile => {}
        _ if hash.as_deref() == Some(&patch.content_hash) => return Ok(Outcome::Unchanged),
        PatchKind::CreateFile => {
            let content = patch.new_content.clone().unwrap_or_default();
            if file_hash(content.as_bytes()) != patch.content_hash {
                return Err(mismatch(
                    patch,
                    "content of the digest the patch names",
                    "other content",
                ));
            }
            return match current {
                None => Ok(Outcome::Written(content)),
                Some(_) => Err(conflict(
                    patch,
                    ConflictReason::FileExists,
                    "no file",
                    "a file with other content",
                )),
            };
        }
        _ => {}
    }
    let expected = patch
        .expected_before_hash
        .as_deref()
        .unwrap_or("no digest given");
    let Some(content) = current else {
        return Err(mismatch(patch, expected, "no file"));
    };
    let text = as_text(patch, content)?;
    if hash.as_deref() != Some(expected) {
        // Keys that already have their values, or an anchor that already has its text, need
        // nothing, whatever else changed in the file.
        let again = (patch.kind != PatchKind::DeleteFile
            && patch.kind != PatchKind::UpdateFileRange)
            .then(|| edited(patch, text));
        return match again {
            Some(Ok(after)) if after == text => Ok(Outcome::Unchanged),
            Some(Err(found)) => Err(found),
            _ => Err(mismatch(
                patch,
                expected,
                hash.as_deref().unwrap_or_default(),
            )),
        };
    }
    if patch.kind == PatchKind::DeleteFile {
        return Ok(Outcome::Removed);
    }
    let after = edited(patch, text)?;
    if file_hash(after.as_bytes()) != patch.content_hash {
        return Err(mismatch(
            patch,
            &patch.content_hash,
            &file_hash(after.as_bytes()),
        ));
    }
    Ok(Outcome::Written(after))
}

/// A file as text, when it is one that patches may touch.
pub(crate) fn as_text<'a>(patch: &Patch, content: &'a [u8]) -> Result<&'a str, PatchConflict> {
    if content.len() as u64 > LARGEST_FILE {
        let actual = format!("{} bytes", content.len());
        return Err(conflict(
            patch,
            ConflictReason::TooLarge,
            &format!("at most {LARGEST_FILE} bytes"),
            &actual,
        ));
    }
    if content.contains(&0) {
        return Err(conflict(
            patch,
            ConflictReason::Binary,
            "a text file",
            "a file with NUL bytes",
        ));
    }
    str::from_utf8(content).map_err(|error| {
        let actual = format!("invalid from byte {}", error.valid_up_to());
        conflict(patch, ConflictReason::NotUtf8, "UTF-8", &actual)
    })
}

fn edited(patch: &Patch, text: &str) -> Result<String, PatchConflict> {
    let new = patch.new_content.as_deref().unwrap_or_default();
    match patch.kind {
        PatchKind::UpdateFileRange => {
            let lines = patch.start_line.zip(patch.end_line);
            let range = lines
                .and_then(|(start, end)| line_range(text, start, end))
                .ok_or_else(|| {
                    let expected = format!(
                        "lines {} to {}",
                        patch.start_line.unwrap_or_default(),
                        patch.end_line.unwrap_or_default()
                    );
                    let actual = format!("{} lines", text.lines().count());
                    conflict(patch, ConflictReason::RangeOutOfBounds, &expected, &actual)
                })?;
            Ok(replace(text, range, new))
        }
        PatchKind::UpdateByAnchor => {
            let anchor = patch.anchor.as_deref().unwrap_or_default();
            let range = anchored(text, anchor, new).map_err(|count| {
                let actual = format!("{count} of them");
                conflict(
                    patch,
                    ConflictReason::AnchorMissing,
                    &format!("one {anchor:?}"),
                    &actual,
                )
            })?;
            Ok(replace(text, range, new))
        }
        PatchKind::UpdateFrontmatterKeys => frontmatter::set_keys(text, &patch.frontmatter_updates)
            .map_err(|error| {
                conflict(
                    patch,
                    ConflictReason::KeyMissing,
                    "front matter",
                    &error.to_string(),
                )
            }),
        PatchKind::CreateFile | PatchKind::DeleteFile => Ok(text.to_owned()),
    }
}

/// The bytes of some lines; none when they are not there.
fn line_range(text: &str, start: u64, end: u64) -> Option<Range<usize>> {
    let mut starts: Vec<usize> = vec![0];
    starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
    if starts.last() == Some(&text.len()) {
        starts.pop();
    }
    let count = starts.len() as u64;
    if start == 0 || end + 1 < start || start > count + 1 || end > count {
        return None;
    }
    let at = |line: u64| {
        usize::try_from(line - 1)
            .ok()
            .and_then(|index| starts.get(index))
            .copied()
            .unwrap_or(text.len())
    };
    Some(at(start)..at(end + 1))
}

/// The bytes an anchor stands for; otherwise how many such anchors there are.
///
/// A heading (`## Installation`, or its text alone) stands for what is beneath it, up to the next
/// heading of its level or above. A comment `<!-- name -->` stands for what is between it and
/// `<!-- /name -->`, or, without that, for the place after it.
pub fn anchored(text: &str, anchor: &str, new: &str) -> Result<Range<usize>, usize> {
    if anchor.starts_with("<!--") {
        return commented(text, anchor, new);
    }
    let level = anchor.bytes().take_while(|byte| *byte == b'#').count();
    let name = anchor.trim_start_matches('#').trim();
    let headings = Document::parse(text).headings;
    let is_meant =
        |heading: &&Heading| heading.text == name && (level == 0 || heading.level == level);
    let found: Vec<&Heading> = headings.iter().filter(is_meant).collect();
    let [heading] = found.as_slice() else {
        return Err(found.len());
    };
    let end = headings
        .iter()
        .find(|other| other.range.start > heading.range.start && other.level <= heading.level)
        .map_or(text.len(), |other| other.range.start);
    Ok(line_end(text, heading.range.clone())..end)
}

/// The byte after the line break that follows a heading.
fn line_end(text: &str, heading: Range<usize>) -> usize {
    if text[..heading.end].ends_with('\n') {
        return heading.end;
    }
    text[heading.end..]
        .find('\n')
        .map_or(text.len(), |at| heading.end + at + 1)
}

fn commented(text: &str, anchor: &str, new: &str) -> Result<Range<usize>, usize> {
    let found: Vec<usize> = text.match_indices(anchor).map(|(at, _)| at).collect();
    let [at] = found.as_slice() else {
        return Err(found.len());
    };
    let start = line_end(text, *at..at + anchor.len());
    let name = anchor
        .trim_start_matches("<!--")
        .trim_end_matches("-->")
        .trim();
    let close = format!("<!-- /{name} -->");
    let end = match text[start..].find(&close) {
        Some(offset) => text[..start + offset]
            .rfind('\n')
            .map_or(start, |at| (at + 1).max(start)),
        // What was put after the marker before is not put there again.
        None if text[start..].starts_with(new) => start + new.len(),
        None => start,
    };
    Ok(start..end)
}

/// The text with a part replaced, in its own kind of line break.
fn replace(text: &str, range: Range<usize>, new: &str) -> String {
    let mut new = new.to_owned();
    if text.contains("\r\n") {
        new = new.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    let before = &text[..range.start];
    let after = &text[range.end..];
    let joint = if before.is_empty() || before.ends_with('\n') || new.is_empty() {
        ""
    } else {
        "\n"
    };
    let close = if new.is_empty() || new.ends_with('\n') || after.is_empty() {
        ""
    } else {
        "\n"
    };
    format!("{before}{joint}{new}{close}{after}")
}

pub(crate) fn conflict(
    patch: &Patch,
    reason: ConflictReason,
    expected: &str,
    actual: &str,
) -> PatchConflict {
    PatchConflict {
        patch_id: patch.patch_id.clone(),
        path: patch.path.clone(),
        conflict_reason: reason,
        expected_state: expected.to_owned(),
        actual_state: actual.to_owned(),
    }
}

fn mismatch(patch: &Patch, expected: &str, actual: &str) -> PatchConflict {
    conflict(patch, ConflictReason::HashMismatch, expected, actual)
}

/// What a row of patches of one file leaves, beginning where the file stands in it.
///
/// A file that is already what the row leaves at some point is taken on from there, so a row cut
/// off halfway is finished and a finished one is left alone.
pub fn apply_row(current: Option<&[u8]>, row: &[&Patch]) -> Result<Outcome, PatchConflict> {
    let hash = current.map(file_hash);
    let after =
        |patch: &Patch| (patch.kind != PatchKind::DeleteFile).then(|| patch.content_hash.clone());
    let done = row
        .iter()
        .rposition(|patch| after(patch) == hash)
        .map_or(0, |at| at + 1);
    if done == 0 {
        refuse_circle(hash.as_deref(), row)?;
    }
    let mut outcome = Outcome::Unchanged;
    for patch in &row[done..] {
        let content = match &outcome {
            Outcome::Unchanged => current,
            Outcome::Written(text) => Some(text.as_bytes()),
            Outcome::Removed => None,
        };
        match apply_patch(content, patch)? {
            Outcome::Unchanged => {}
            changed => outcome = changed,
        }
    }
    Ok(outcome)
}

/// Patches that each begin where another ends, and none where the file is, can never begin.
fn refuse_circle(hash: Option<&str>, row: &[&Patch]) -> Result<(), PatchConflict> {
    let begins = |patch: &&&Patch| patch.expected_before_hash.as_deref() == hash;
    let follows = |patch: &&Patch| {
        row.iter()
            .any(|other| Some(&other.content_hash) == patch.expected_before_hash.as_ref())
    };
    match row.first() {
        Some(first)
            if row.len() > 1
                && !row.iter().any(|patch| begins(&patch))
                && row.iter().all(follows) =>
        {
            let expected = "a patch that begins with the file as it is";
            let actual = "patches that only begin where another ends";
            Err(conflict(
                first,
                ConflictReason::CircularDependency,
                expected,
                actual,
            ))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "patch_tests.rs"]
mod tests;
