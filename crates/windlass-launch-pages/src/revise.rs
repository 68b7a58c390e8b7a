//! What has to change in a page of an earlier launch, part by part.
//!
//! Front matter by key, sections by their heading, the rest by lines. What people added under
//! headings of their own stays.

use std::collections::BTreeMap;

use serde_json::Value;
use windlass_launch_model::{
    Patch, PatchConflict,
    markdown::{Document, Heading, frontmatter},
};

use crate::{
    draft::PAGE_MARK,
    patch::{Edit, anchored, edit_file},
    phrases,
};

/// Keys whose value is the launch's business: what the page is called, what it says of itself,
/// and what decides whether and where it is served. Any other key that has a value keeps it.
const OWNED: [&str; 7] = [
    "title",
    "linktitle",
    "description",
    "summary",
    "slug",
    "url",
    "draft",
];

/// Whether a page was written by a launch: some of its sentences carry markers, or it carries
/// the mark of a page without claims, or it opens with the words such pages open with.
pub(crate) fn is_ours(page: &str) -> bool {
    let read = Document::parse(page);
    read.markers().next().is_some()
        || read
            .comments
            .iter()
            .any(|comment| &page[comment.clone()] == PAGE_MARK)
        || read
            .sentences
            .iter()
            .any(|sentence| phrases::opens_a_page(&sentence.text))
}

/// The patches that bring a page to its draft, and the text they leave.
pub(crate) fn revise(
    path: &str,
    before: &str,
    draft: &str,
    mut next_id: impl FnMut() -> String,
) -> Result<(Vec<Patch>, String), PatchConflict> {
    let mut text = before.to_owned();
    let mut patches = Vec::new();
    let mut apply = |edit: Edit, text: &mut String| -> Result<(), PatchConflict> {
        let (patch, after) = edit_file("", path, text, &edit)?;
        if after != *text {
            patches.push(Patch {
                patch_id: next_id(),
                ..patch
            });
            *text = after;
        }
        Ok(())
    };
    apply(Edit::Keys(changed_keys(before, draft)), &mut text)?;
    let wanted = Document::parse(draft);
    let preamble = &draft[wanted.body..top_end(draft, &wanted.headings)];
    let (start, end) = preamble_lines(&text);
    apply(
        Edit::Range {
            start,
            end,
            text: preamble.to_owned(),
        },
        &mut text,
    )?;
    let tops: Vec<&Heading> = wanted
        .headings
        .iter()
        .filter(|heading| heading.level <= 2)
        .collect();
    // Existing text is fixed before anything is added: a fence left open above would swallow it.
    for adding in [false, true] {
        for (index, heading) in tops.iter().enumerate() {
            let end = tops
                .get(index + 1)
                .map_or(draft.len(), |next| next.range.start);
            let section = &draft[heading.range.start..end];
            if (count(&text, heading) == 0) == adding {
                let edit = if adding {
                    appended(section, &text)
                } else {
                    replaced(heading, section, &text)
                };
                apply(edit, &mut text)?;
            }
        }
    }
    Ok((patches, text))
}

/// How often a page has a heading.
fn count(page: &str, heading: &Heading) -> usize {
    Document::parse(page)
        .headings
        .iter()
        .filter(|found| found.level == heading.level && found.text == heading.text)
        .count()
}

/// The content below a heading becomes that of the draft's section.
fn replaced(heading: &Heading, section: &str, text: &str) -> Edit {
    let marks = "#".repeat(heading.level);
    let anchor = format!("{marks} {}", heading.text);
    let body = section
        .split_once('\n')
        .map_or("", |(_, body)| body)
        .trim_end();
    let at_end = anchored(text, &anchor, "").is_ok_and(|range| range.end == text.len());
    // A section that ends the file has no blank line after it.
    let close = if at_end { "\n" } else { "\n\n" };
    Edit::Anchor {
        anchor,
        text: format!("{body}{close}"),
    }
}

/// A section of the draft comes at the end of the page.
fn appended(section: &str, text: &str) -> Edit {
    let lines = text.lines().count() as u64;
    Edit::Range {
        start: lines + 1,
        end: lines,
        text: format!("\n{}\n", section.trim_end()),
    }
}

fn changed_keys(before: &str, draft: &str) -> BTreeMap<String, Value> {
    let present = frontmatter::read(before)
        .ok()
        .flatten()
        .map(|(_, keys)| keys)
        .unwrap_or_default();
    let wanted = frontmatter::read(draft)
        .ok()
        .flatten()
        .map(|(_, keys)| keys)
        .unwrap_or_default();
    let keeps = |key: &str| {
        let says = present.get(key).is_some_and(|value| match value {
            Value::Null => false,
            Value::String(text) => !text.trim().is_empty(),
            _ => true,
        });
        says && !OWNED.contains(&key.to_lowercase().as_str())
    };
    wanted
        .into_iter()
        .filter(|(key, value)| present.get(key) != Some(value) && !keeps(key))
        .collect()
}

fn top_end(page: &str, headings: &[Heading]) -> usize {
    headings
        .iter()
        .find(|heading| heading.level <= 2)
        .map_or(page.len(), |heading| heading.range.start)
}

/// The lines between the front matter and the first heading.
fn preamble_lines(page: &str) -> (u64, u64) {
    let read = Document::parse(page);
    let line = |byte: usize| page[..byte].matches('\n').count() as u64;
    (line(read.body) + 1, line(top_end(page, &read.headings)))
}
