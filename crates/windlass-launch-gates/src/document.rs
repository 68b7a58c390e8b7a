//! A Markdown page as the gates see it: front matter, headings, links, code, HTML, prose blocks.
//!
//! Parsed once per page; every range is a byte range of the whole file. It says what is there
//! and judges nothing.

use std::{collections::BTreeMap, ops::Range};

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use serde_json::{Map, Value};

use crate::frontmatter::{self, Block};

/// A heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// From 1 to 6.
    pub level: usize,
    /// Its text without markup.
    pub text: String,
    /// The anchor it is reached by.
    pub slug: String,
    /// Where it stands.
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
    /// Where it stands.
    pub range: Range<usize>,
}

/// A block of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// The first word behind the fence; empty for none.
    pub language: String,
    /// What is in it.
    pub text: String,
    /// Whether it is fenced; indented otherwise.
    pub fenced: bool,
    /// Where it stands, fences included.
    pub range: Range<usize>,
}

/// A parsed page.
#[derive(Clone, Debug)]
pub struct Document {
    /// The file.
    pub text: String,
    /// Where front matter stands.
    pub front: Option<Block>,
    /// Its keys, or why they cannot be read; no keys when there is none.
    pub keys: Result<Map<String, Value>, String>,
    /// Where the body begins.
    pub body: usize,
    /// Headings in order.
    pub headings: Vec<Heading>,
    /// Links and images in order.
    pub links: Vec<Link>,
    /// Code blocks in order.
    pub code: Vec<Code>,
    /// Inline code and code blocks, sorted.
    pub verbatim: Vec<Range<usize>>,
    /// Raw HTML, comments included, sorted.
    pub html: Vec<Range<usize>>,
    /// Where each line begins.
    starts: Vec<usize>,
    /// Anchors made by HTML.
    anchors: Vec<String>,
}

impl Document {
    /// Parses a page.
    pub fn parse(text: &str) -> Self {
        let front = frontmatter::find(text);
        let keys = front
            .as_ref()
            .map_or_else(|| Ok(Map::new()), |block| frontmatter::parse(text, block));
        let body = front.as_ref().map_or(0, |block| block.body);
        let mut document = Self {
            text: text.to_owned(),
            front,
            keys,
            body,
            headings: Vec::new(),
            links: Vec::new(),
            code: Vec::new(),
            verbatim: Vec::new(),
            html: Vec::new(),
            starts: std::iter::once(0)
                .chain(text.match_indices('\n').map(|(at, _)| at + 1))
                .collect(),
            anchors: Vec::new(),
        };
        Reader::default().read(&mut document, &text[body..], body);
        document
    }

    /// The line a byte is in, from 1.
    pub fn line(&self, at: usize) -> u64 {
        self.starts.partition_point(|start| *start <= at) as u64
    }

    /// The text of a line, from 1, without its end.
    pub fn line_text(&self, line: u64) -> &str {
        let index = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
        let Some(start) = self.starts.get(index) else {
            return "";
        };
        let end = self
            .starts
            .get(index + 1)
            .copied()
            .unwrap_or(self.text.len());
        self.text[*start..end].trim_end_matches(['\n', '\r'])
    }

    /// The bytes of a line, from 1, its end included.
    pub fn line_range(&self, line: u64) -> Range<usize> {
        let index = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
        let start = self.starts.get(index).copied().unwrap_or(self.text.len());
        let end = self.starts.get(index.saturating_add(1)).copied();
        start..end.unwrap_or(self.text.len())
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
            || self.headings.iter().any(|heading| heading.slug == anchor)
            || self.anchors.iter().any(|name| name == anchor)
    }

    /// The claim ids cited, with where each marker stands.
    pub fn markers(&self) -> Vec<(Range<usize>, String)> {
        markers(&self.text)
            .into_iter()
            .filter(|(range, _)| range.start >= self.body && !self.in_code(range.start))
            .collect()
    }
}

/// Claim markers in a text.
pub fn markers(text: &str) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find("<!--").map(|offset| at + offset) {
        // Behind the opening: in `<!-->` the two share their dashes.
        let inside = start + "<!--".len();
        let Some(close) = text[inside..].find("-->").map(|offset| inside + offset) else {
            break;
        };
        let end = close + "-->".len();
        let inner = text[inside..close].trim();
        if let Some(id) = inner.strip_prefix("claim_id:") {
            found.push((start..end, id.trim().to_owned()));
        }
        at = end;
    }
    found
}

fn inside(ranges: &[Range<usize>], at: usize) -> bool {
    let after = ranges.partition_point(|range| range.start <= at);
    ranges[..after]
        .iter()
        .rev()
        .take(4)
        .any(|range| range.contains(&at))
}

/// The anchor of a heading: lower case, words joined by hyphens, punctuation dropped.
pub fn slug(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.trim().chars() {
        if c.is_alphanumeric() || c == '-' || c == '_' {
            out.extend(c.to_lowercase());
        } else if c.is_whitespace() {
            out.push('-');
        }
    }
    out
}

/// An attribute's value in an HTML tag; `Some("")` when it has none.
pub fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let lower = tag.to_ascii_lowercase();
    let mut from = 0;
    while let Some(at) = lower[from..].find(name).map(|offset| from + offset) {
        from = at + name.len();
        let before = lower[..at].chars().next_back();
        let after = lower[from..].trim_start();
        let bounded = before.is_some_and(|c| c.is_whitespace() || c == '"' || c == '\'');
        if !bounded || after.starts_with(|c: char| c.is_alphanumeric() || c == '-') {
            continue;
        }
        let rest = tag[from..].trim_start();
        let Some(value) = rest.strip_prefix('=') else {
            return Some("");
        };
        let value = value.trim_start();
        return Some(match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value[1..].split(quote).next().unwrap_or_default(),
            _ => value
                .split(|c: char| c.is_whitespace() || c == '>')
                .next()
                .unwrap_or_default(),
        });
    }
    None
}

/// The tags in a piece of HTML, each with where it begins.
pub fn tags(html: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = html[at..].find('<').map(|offset| at + offset) {
        let rest = &html[start..];
        if rest.starts_with("<!--") {
            at = rest.find("-->").map_or(html.len(), |end| start + end + 3);
            continue;
        }
        let mut quote = None;
        let mut end = html.len();
        for (offset, c) in rest.char_indices().skip(1) {
            match (quote, c) {
                (None, '"' | '\'') => quote = Some(c),
                (Some(open), _) if open == c => quote = None,
                (None, '>') => {
                    end = start + offset + 1;
                    break;
                }
                _ => {}
            }
        }
        found.push((start, &html[start..end]));
        at = end.max(start + 1);
    }
    found
}

/// The name of a tag, lower case, without the slash.
pub fn tag_name(tag: &str) -> String {
    tag.trim_start_matches('<')
        .trim_start_matches('/')
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric())
        .collect::<String>()
        .to_ascii_lowercase()
}

#[derive(Default)]
struct Reader {
    heading: Option<(usize, String, Option<String>, Range<usize>)>,
    links: Vec<Link>,
    code: Option<Code>,
    slugs: BTreeMap<String, usize>,
}

impl Reader {
    fn read(mut self, document: &mut Document, body: &str, base: usize) {
        let options = Options::ENABLE_TABLES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_TASKLISTS
            | Options::ENABLE_HEADING_ATTRIBUTES;
        for (event, range) in Parser::new_ext(body, options).into_offset_iter() {
            let range = range.start + base..range.end + base;
            self.event(document, event, range);
        }
        document
            .verbatim
            .sort_by_key(|range| (range.start, range.end));
        document.html.sort_by_key(|range| (range.start, range.end));
        document.links.sort_by_key(|link| link.range.start);
    }

    fn event(&mut self, document: &mut Document, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::Heading { level, id, .. }) => {
                let id = id.map(|id| id.to_string());
                self.heading = Some((depth(level), String::new(), id, range));
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some((level, text, id, range)) = self.heading.take() {
                    let slug = id.unwrap_or_else(|| self.unique(slug(&text)));
                    document.headings.push(Heading {
                        level,
                        text,
                        slug,
                        range,
                    });
                }
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                self.links.push(link(&dest_url, false, range));
            }
            Event::Start(Tag::Image { dest_url, .. }) => {
                self.links.push(link(&dest_url, true, range));
            }
            Event::End(TagEnd::Link | TagEnd::Image) => {
                if let Some(done) = self.links.pop() {
                    if let Some(outer) = self.links.last_mut() {
                        outer.text.push_str(&done.text);
                    }
                    document.links.push(done);
                }
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                let (language, fenced) = match kind {
                    CodeBlockKind::Fenced(info) => (first_word(&info), true),
                    CodeBlockKind::Indented => (String::new(), false),
                };
                document.verbatim.push(range.clone());
                self.code = Some(Code {
                    language,
                    text: String::new(),
                    fenced,
                    range,
                });
            }
            Event::End(TagEnd::CodeBlock) => document.code.extend(self.code.take()),
            Event::Code(text) => {
                document.verbatim.push(range);
                self.text(&text);
            }
            Event::Text(text) => match &mut self.code {
                Some(code) => code.text.push_str(&text),
                None => self.text(&text),
            },
            Event::SoftBreak | Event::HardBreak => self.text(" "),
            Event::Html(html) | Event::InlineHtml(html) => html_found(document, &html, range),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if let Some((_, heading, ..)) = &mut self.heading {
            heading.push_str(text);
        }
        if let Some(link) = self.links.last_mut() {
            link.text.push_str(text);
        }
    }

    /// Later headings of the same text get a number.
    fn unique(&mut self, slug: String) -> String {
        let seen = self.slugs.entry(slug.clone()).or_default();
        *seen += 1;
        if *seen == 1 {
            slug
        } else {
            format!("{slug}-{}", *seen - 1)
        }
    }
}

fn link(target: &str, image: bool, range: Range<usize>) -> Link {
    Link {
        target: target.to_owned(),
        text: String::new(),
        image,
        html: false,
        range,
    }
}

fn html_found(document: &mut Document, html: &str, range: Range<usize>) {
    for (at, tag) in tags(html) {
        for name in ["id", "name"] {
            document
                .anchors
                .extend(attribute(tag, name).map(str::to_owned));
        }
        let (target, image) = match tag_name(tag).as_str() {
            "a" => (attribute(tag, "href"), false),
            "img" => (attribute(tag, "src"), true),
            _ => (None, false),
        };
        if let Some(target) = target {
            let start = range.start + at;
            document.links.push(Link {
                target: target.to_owned(),
                text: attribute(tag, "alt").unwrap_or_default().to_owned(),
                image,
                html: true,
                range: start..(start + tag.len()).min(range.end),
            });
        }
    }
    document.html.push(range);
}

fn first_word(info: &str) -> String {
    info.split(|c: char| c.is_whitespace() || c == '{' || c == ',')
        .next()
        .unwrap_or_default()
        .to_owned()
}

fn depth(level: HeadingLevel) -> usize {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PAGE: &str = "---\ntitle: T\n---\n\n# One\n\nSee [the `x`](a.md#b) and ![pic](i.png).\n\n## One\n\n## Deep {#given}\n\n```py title=\"x\"\nprint(1)\n```\n\nText `code`. <!-- claim_id: abc -->\n\n<a id=\"spot\" href='/x'>y</a>\n";

    #[test]
    fn structure() {
        let page = Document::parse(PAGE);
        let slugs: Vec<_> = page
            .headings
            .iter()
            .map(|h| (h.level, h.slug.as_str()))
            .collect();
        assert_eq!(slugs, [(1, "one"), (2, "one-1"), (2, "given")]);
        let links: Vec<_> = page
            .links
            .iter()
            .map(|l| (l.target.as_str(), l.text.as_str(), l.image))
            .collect();
        assert_eq!(
            links,
            [
                ("a.md#b", "the x", false),
                ("i.png", "pic", true),
                ("/x", "", false)
            ]
        );
        assert_eq!(
            (page.code[0].language.as_str(), page.code[0].text.as_str()),
            ("py", "print(1)\n")
        );
        assert!(page.has_anchor("spot") && page.has_anchor("given") && !page.has_anchor("none"));
        assert_eq!(page.markers().len(), 1);
        assert_eq!(page.line(page.headings[0].range.start), 5);
        assert_eq!(page.line_text(5), "# One");
        assert_eq!(page.title(), Some("T"));
        assert!(
            page.in_code(PAGE.find("print").unwrap()) && !page.in_code(PAGE.find("See").unwrap())
        );
    }

    #[test]
    fn attributes() {
        assert_eq!(attribute("<img src=a alt=\"b c\">", "alt"), Some("b c"));
        assert_eq!(attribute("<img data-alt='x'>", "alt"), None);
        assert_eq!(attribute("<input disabled>", "disabled"), Some(""));
    }

    proptest! {
        #[test]
        fn never_panics_and_ranges_fit(text in "(?s).{0,200}") {
            let page = Document::parse(&text);
            for range in page.links.iter().map(|l| &l.range).chain(&page.verbatim).chain(&page.html) {
                prop_assert!(page.text.get(range.clone()).is_some());
                prop_assert!(page.line(range.start) >= 1);
            }
        }
    }
}
