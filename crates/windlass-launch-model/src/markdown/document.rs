//! A Markdown page: front matter, headings, links, code, HTML, sentences.
//!
//! Read once; every range is a byte range of the whole file. It says what is there and judges
//! nothing.

use std::{collections::BTreeSet, ops::Range};

use serde_json::{Map, Value};
use windlass_types::Digest;

use crate::markdown::{
    frontmatter::{self, Block, FrontMatterError},
    reader,
    sentence::{Marker, Sentence, SentenceKind},
};

/// A heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// From 1 to 6.
    pub level: usize,
    /// Its text without markup.
    pub text: String,
    /// The anchor it is reached by: given outright, or made of the text.
    pub anchor: String,
    /// The line, from 1.
    pub line: u64,
    /// Where it stands, the line break included.
    pub range: Range<usize>,
}

/// A link or an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The target as written.
    pub target: String,
    /// Its text, or the image's alternative text.
    pub text: String,
    /// Whether it shows a picture.
    pub image: bool,
    /// Whether it is written as HTML.
    pub html: bool,
    /// The line, from 1.
    pub line: u64,
    /// Where it stands.
    pub range: Range<usize>,
}

/// A block of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// The first word behind the fence; empty for none.
    pub language: String,
    /// What is in it, with its last line break.
    pub text: String,
    /// Whether it is fenced; indented otherwise.
    pub fenced: bool,
    /// The line it begins on, from 1.
    pub line: u64,
    /// Where it stands, fences included.
    pub range: Range<usize>,
}

/// A tag of raw HTML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// What it says, without the marks of a list or quote around it.
    pub text: String,
    /// The line, from 1.
    pub line: u64,
    /// Where it stands.
    pub range: Range<usize>,
}

/// A page, read.
#[derive(Clone, Debug)]
pub struct Document {
    /// The file.
    pub text: String,
    /// Where front matter stands.
    pub front: Option<Block>,
    /// Its keys, or why they cannot be read; no keys when there is none.
    pub keys: Result<Map<String, Value>, FrontMatterError>,
    /// Where the body begins.
    pub body: usize,
    /// Every sentence, in order.
    pub sentences: Vec<Sentence>,
    /// Markers that follow no sentence.
    pub stray_markers: Vec<Marker>,
    /// Headings in order.
    pub headings: Vec<Heading>,
    /// Links and images in order.
    pub links: Vec<Link>,
    /// Code blocks in order.
    pub code: Vec<Code>,
    /// Tags of raw HTML, in order.
    pub tags: Vec<Tag>,
    /// Comments, in order.
    pub comments: Vec<Range<usize>>,
    /// Inline code and code blocks, sorted.
    pub verbatim: Vec<Range<usize>>,
    /// Raw HTML, comments included, sorted.
    pub(crate) html: Vec<Range<usize>>,
    /// Anchors made by HTML.
    pub(crate) anchors: Vec<String>,
    /// Where each line begins.
    starts: Vec<usize>,
}

impl Document {
    /// Reads a page.
    pub fn parse(text: &str) -> Self {
        Self::with_front(text, frontmatter::find(text))
    }

    /// Reads a piece of a page's body: whatever it begins with is no front matter.
    pub fn parse_body(text: &str) -> Self {
        Self::with_front(text, None)
    }

    fn with_front(text: &str, front: Option<Block>) -> Self {
        let keys = front
            .as_ref()
            .map_or_else(|| Ok(Map::new()), |block| frontmatter::parse(text, block));
        let body = front.as_ref().map_or(0, |block| block.body);
        reader::read(Self {
            text: text.to_owned(),
            front,
            keys,
            body,
            sentences: Vec::new(),
            stray_markers: Vec::new(),
            headings: Vec::new(),
            links: Vec::new(),
            code: Vec::new(),
            tags: Vec::new(),
            comments: Vec::new(),
            verbatim: Vec::new(),
            html: Vec::new(),
            anchors: Vec::new(),
            starts: std::iter::once(0)
                .chain(text.match_indices('\n').map(|(at, _)| at + 1))
                .collect(),
        })
    }

    /// The line a byte is in, from 1.
    pub fn line(&self, at: usize) -> u64 {
        self.starts.partition_point(|start| *start <= at) as u64
    }

    /// The bytes of a line, from 1, its end included.
    pub fn line_range(&self, line: u64) -> Range<usize> {
        let index = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
        let start = self.starts.get(index).copied().unwrap_or(self.text.len());
        let end = self.starts.get(index.saturating_add(1)).copied();
        start..end.unwrap_or(self.text.len())
    }

    /// The text of a line, from 1, without its end.
    pub fn line_text(&self, line: u64) -> &str {
        self.text[self.line_range(line)].trim_end_matches(['\n', '\r'])
    }

    /// Whether a byte is in code.
    pub fn in_code(&self, at: usize) -> bool {
        inside(&self.verbatim, at)
    }

    /// Whether a byte is in raw HTML or in a comment.
    pub fn in_html(&self, at: usize) -> bool {
        inside(&self.html, at)
    }

    /// Whether a byte is in the target of a link, or in an address.
    pub fn in_link_target(&self, at: usize) -> bool {
        self.links.iter().any(|link| {
            link.range.contains(&at) && {
                let shown = &self.text[link.range.clone()];
                let text_end = shown.rfind("](").map_or(0, |cut| link.range.start + cut);
                at >= text_end
            }
        })
    }

    /// The body.
    pub fn body_text(&self) -> &str {
        &self.text[self.body..]
    }

    /// A key of the front matter; none when absent or unreadable.
    pub fn key(&self, name: &str) -> Option<&Value> {
        self.keys.as_ref().ok()?.get(name)
    }

    /// The title in the front matter, else the first heading of level 1.
    pub fn title(&self) -> Option<&str> {
        self.key("title").and_then(Value::as_str).or_else(|| {
            let first = self.headings.iter().find(|heading| heading.level == 1);
            first.map(|heading| heading.text.as_str())
        })
    }

    /// Whether an anchor is on the page.
    pub fn has_anchor(&self, anchor: &str) -> bool {
        anchor.is_empty()
            || anchor == "top"
            || self.headings.iter().any(|heading| heading.anchor == anchor)
            || self.anchors.iter().any(|name| name == anchor)
    }

    /// Every marker, those that follow no sentence last.
    pub fn markers(&self) -> impl Iterator<Item = &Marker> {
        self.sentences
            .iter()
            .flat_map(|sentence| &sentence.markers)
            .chain(&self.stray_markers)
    }

    /// What the markers name.
    pub fn claim_ids(&self) -> BTreeSet<&str> {
        self.markers()
            .map(|marker| marker.claim_id.as_str())
            .collect()
    }

    /// What the markers of statements name: without those of list items that are only code.
    pub fn stated_claim_ids(&self) -> BTreeSet<&str> {
        let stated = self
            .sentences
            .iter()
            .filter(|one| one.kind != SentenceKind::Code);
        stated
            .flat_map(|sentence| &sentence.markers)
            .chain(&self.stray_markers)
            .map(|marker| marker.claim_id.as_str())
            .collect()
    }

    /// Statements that are neither marked nor registered.
    pub fn uncited<'a>(
        &'a self,
        registered: &'a BTreeSet<Digest>,
    ) -> impl Iterator<Item = &'a Sentence> {
        self.sentences
            .iter()
            .filter(|sentence| sentence.markers.is_empty() && sentence.is_factual(registered))
    }
}

fn inside(ranges: &[Range<usize>], at: usize) -> bool {
    let after = ranges.partition_point(|range| range.start <= at);
    ranges[..after]
        .iter()
        .rev()
        .take(4)
        .any(|range| range.contains(&at))
}

/// The anchor site generators make of a heading: lower case, words joined by hyphens.
pub fn anchor(heading: &str) -> String {
    let mut anchor = String::with_capacity(heading.len());
    for c in heading.trim().chars() {
        if c.is_alphanumeric() || c == '-' || c == '_' {
            anchor.extend(c.to_lowercase());
        } else if c.is_whitespace() {
            anchor.push('-');
        }
    }
    anchor
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
