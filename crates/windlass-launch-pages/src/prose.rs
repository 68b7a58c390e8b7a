//! A Markdown page as its readers and the gates see it: sentences with their claim markers,
//! headings, code, links and images, each with its place in the file.
//!
//! A factual sentence is every statement in a paragraph, list item, table cell or quote; raw
//! HTML is read for its text too, so that a fact cannot hide between tags. A marker
//! `<!-- claim_id: X -->` covers the sentence directly before it. Reads; changes nothing.
//!
//! Long because one walk over the Markdown events finds sentences, markers, headings, code and links.

use std::{collections::BTreeSet, ops::Range};

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use windlass_types::Digest;

use crate::{frontmatter, markup, split};

/// What holds a sentence; the innermost counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Running text.
    Paragraph,
    /// An entry of a list.
    ListItem,
    /// A cell of a table.
    TableCell,
    /// A quotation.
    Quote,
}

/// What a sentence does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SentenceKind {
    /// It says something, so it needs a marker unless it is registered.
    Statement,
    /// It asks.
    Question,
    /// It is a list item of nothing but links.
    Links,
    /// It is nothing but code.
    Code,
}

/// A claim marker and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// What it names; not checked.
    pub claim_id: String,
    /// The line, from 1.
    pub line: u64,
    /// The bytes of the comment.
    pub bytes: Range<usize>,
}

/// A sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// Its text without markup; code keeps its backticks.
    pub text: String,
    /// What holds it.
    pub place: Place,
    /// What it does.
    pub kind: SentenceKind,
    /// The line it begins on, from 1.
    pub line: u64,
    /// The line it ends on.
    pub end_line: u64,
    /// Its bytes in the page, without its markers.
    pub bytes: Range<usize>,
    /// The markers directly after it.
    pub markers: Vec<Marker>,
}

impl Sentence {
    /// Whether it needs a marker, given the sentences that need none.
    pub fn is_factual(&self, registered: &BTreeSet<Digest>) -> bool {
        self.kind == SentenceKind::Statement && !registered.contains(&sentence_digest(&self.text))
    }

    /// The bytes from its beginning to the end of its last marker.
    pub fn bytes_with_markers(&self) -> Range<usize> {
        let end = self
            .markers
            .last()
            .map_or(self.bytes.end, |marker| marker.bytes.end);
        self.bytes.start..end
    }
}

/// A heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// Its text.
    pub text: String,
    /// The anchor given outright, or the one made of the text.
    pub anchor: String,
    /// The line, from 1.
    pub line: u64,
    /// Its bytes, the line break included.
    pub bytes: Range<usize>,
}

/// A block of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeBlock {
    /// The first word after the fence; none for an indented block.
    pub language: Option<String>,
    /// The code, with its last line break.
    pub code: String,
    /// The line of the fence, from 1.
    pub line: u64,
    /// The bytes, fences included.
    pub bytes: Range<usize>,
}

/// A link or an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Where it leads.
    pub target: String,
    /// Its text, or an image's alternative text.
    pub text: String,
    /// Whether it is an image.
    pub image: bool,
    /// The line, from 1.
    pub line: u64,
    /// Its bytes.
    pub bytes: Range<usize>,
}

/// A page, read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prose {
    /// Every sentence, in order.
    pub sentences: Vec<Sentence>,
    /// Markers that follow no sentence.
    pub stray_markers: Vec<Marker>,
    /// Every heading, in order.
    pub headings: Vec<Heading>,
    /// Every block of code, in order.
    pub code: Vec<CodeBlock>,
    /// Every link and image, in order.
    pub links: Vec<Link>,
    /// Raw HTML other than comments, by its bytes.
    pub html: Vec<Range<usize>>,
    /// The byte the body begins at, after the front matter.
    pub body_start: usize,
}

impl Prose {
    /// Every marker, those that follow no sentence included.
    pub fn markers(&self) -> impl Iterator<Item = &Marker> {
        self.sentences
            .iter()
            .flat_map(|sentence| &sentence.markers)
            .chain(&self.stray_markers)
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

/// The digest under which a sentence is registered: of its text with single spaces.
pub fn sentence_digest(text: &str) -> Digest {
    Digest::of(
        text.split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .as_bytes(),
    )
}

/// The marker of a claim.
pub fn marker(claim_id: &str) -> String {
    format!("<!-- claim_id: {claim_id} -->")
}

/// The claim a comment names, when it is a marker.
pub fn marker_claim(comment: &str) -> Option<&str> {
    let inner = comment
        .trim()
        .strip_prefix("<!--")?
        .strip_suffix("-->")?
        .trim();
    let id = inner.strip_prefix("claim_id:")?.trim();
    (!id.is_empty() && !id.contains(char::is_whitespace)).then_some(id)
}

/// Reads a page.
pub fn parse(page: &str) -> Prose {
    let body_start = frontmatter::body_start(page);
    let mut reader = Reader {
        lines: Lines::of(page),
        page,
        found: Prose {
            body_start,
            ..Prose::default()
        },
        run: Run::default(),
        places: Vec::new(),
        heading: None,
        code: None,
        links: Vec::new(),
        anchors: BTreeSet::new(),
    };
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_TASKLISTS;
    for (event, range) in Parser::new_ext(&page[body_start..], options).into_offset_iter() {
        reader.take(event, range.start + body_start..range.end + body_start);
    }
    reader.flush();
    reader.found
}

/// Where lines begin, to turn bytes into line numbers.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(
            std::iter::once(0)
                .chain(breaks.map(|(at, _)| at + 1))
                .collect(),
        )
    }

    fn number(&self, byte: usize) -> u64 {
        self.0.partition_point(|start| *start <= byte) as u64
    }
}

/// A stretch of inline text, with the way back to its bytes.
#[derive(Default)]
struct Run {
    text: String,
    pieces: Vec<Piece>,
    /// Markers with the length the text had when they came.
    markers: Vec<(usize, Marker)>,
    /// Whether any text stood outside links.
    plain: bool,
}

struct Piece {
    text: Range<usize>,
    bytes: Range<usize>,
}

impl Run {
    fn push(&mut self, text: &str, bytes: Range<usize>) {
        let start = self.text.len();
        self.text.push_str(text);
        self.pieces.push(Piece {
            text: start..self.text.len(),
            bytes,
        });
    }

    /// The byte of the page at which the character at `at` begins (or, for an end, ends).
    fn byte(&self, at: usize, end: bool) -> usize {
        let piece = self.pieces.iter().find(|piece| {
            if end {
                piece.text.start < at && at <= piece.text.end
            } else {
                piece.text.start <= at && at < piece.text.end
            }
        });
        match piece {
            Some(piece) if piece.text.len() == piece.bytes.len() => {
                piece.bytes.start + (at - piece.text.start)
            }
            // Escapes and entities are longer than what they stand for: take all of it.
            Some(piece) if end => piece.bytes.end,
            Some(piece) => piece.bytes.start,
            None => self.pieces.last().map_or(0, |piece| piece.bytes.end),
        }
    }
}

struct Reader<'a> {
    page: &'a str,
    lines: Lines,
    found: Prose,
    run: Run,
    places: Vec<Place>,
    heading: Option<Heading>,
    code: Option<CodeBlock>,
    links: Vec<Link>,
    anchors: BTreeSet<String>,
}

impl Reader<'_> {
    fn take(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag, range),
            Event::Text(text) => self.text(&text, range),
            Event::Code(code) => {
                let shown = format!("`{code}`");
                if let Some(heading) = &mut self.heading {
                    heading.text.push_str(&code);
                } else {
                    self.note_link_text(&code);
                    self.run.push(&shown, range);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some(heading) = &mut self.heading {
                    heading.text.push(' ');
                } else {
                    self.run.push(" ", range);
                }
            }
            Event::InlineHtml(html) => self.inline_html(&html, range),
            // Lines of a block of HTML are read at once, when the block ends.
            Event::Html(_) => {}
            Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::Rule
            | Event::TaskListMarker(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Paragraph => self.flush(),
            Tag::Heading { level, id, .. } => {
                self.flush();
                self.heading = Some(Heading {
                    level: number(level),
                    text: String::new(),
                    anchor: id.map(|id| id.to_string()).unwrap_or_default(),
                    line: self.lines.number(range.start),
                    bytes: range,
                });
            }
            Tag::BlockQuote(_) => {
                self.flush();
                self.places.push(Place::Quote);
            }
            Tag::Item => {
                self.flush();
                self.places.push(Place::ListItem);
            }
            Tag::TableCell => {
                self.flush();
                self.places.push(Place::TableCell);
            }
            Tag::CodeBlock(kind) => {
                self.flush();
                let language = match kind {
                    CodeBlockKind::Indented => None,
                    CodeBlockKind::Fenced(info) => Some(
                        info.split(|character: char| character.is_whitespace() || character == '{')
                            .next()
                            .unwrap_or_default()
                            .to_owned(),
                    ),
                };
                self.code = Some(CodeBlock {
                    language,
                    code: String::new(),
                    line: self.lines.number(range.start),
                    bytes: range,
                });
            }
            Tag::Link { dest_url, .. } => self.open_link(&dest_url, false, range),
            Tag::Image { dest_url, .. } => self.open_link(&dest_url, true, range),
            Tag::HtmlBlock | Tag::List(_) | Tag::Table(_) | Tag::FootnoteDefinition(_) => {
                self.flush();
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd, range: Range<usize>) {
        match tag {
            TagEnd::Paragraph | TagEnd::FootnoteDefinition => self.flush(),
            TagEnd::Heading(_) => {
                if let Some(mut heading) = self.heading.take() {
                    heading.text = heading.text.trim().to_owned();
                    if heading.anchor.is_empty() {
                        heading.anchor = self.free_anchor(&heading.text);
                    }
                    self.anchors.insert(heading.anchor.clone());
                    self.found.headings.push(heading);
                }
            }
            TagEnd::BlockQuote(_) | TagEnd::Item | TagEnd::TableCell => {
                self.flush();
                self.places.pop();
            }
            TagEnd::CodeBlock => self.found.code.extend(self.code.take()),
            TagEnd::Link | TagEnd::Image => self.found.links.extend(self.links.pop()),
            TagEnd::HtmlBlock => {
                self.html(range);
                self.flush();
            }
            _ => {}
        }
    }

    fn open_link(&mut self, target: &str, image: bool, range: Range<usize>) {
        self.links.push(Link {
            target: target.to_owned(),
            text: String::new(),
            image,
            line: self.lines.number(range.start),
            bytes: range,
        });
    }

    fn text(&mut self, text: &str, range: Range<usize>) {
        if let Some(code) = &mut self.code {
            code.code.push_str(text);
        } else if let Some(heading) = &mut self.heading {
            heading.text.push_str(text);
            for link in &mut self.links {
                link.text.push_str(text);
            }
        } else if self.links.iter().any(|link| link.image) {
            // Alternative text is no sentence of the page.
            for link in &mut self.links {
                link.text.push_str(text);
            }
        } else {
            self.note_link_text(text);
            self.run.push(text, range);
        }
    }

    fn note_link_text(&mut self, text: &str) {
        if self.links.is_empty() {
            self.run.plain |= text.chars().any(char::is_alphanumeric);
        }
        for link in &mut self.links {
            link.text.push_str(text);
        }
    }

    fn inline_html(&mut self, html: &str, range: Range<usize>) {
        if let Some(id) = marker_claim(html) {
            let marker = self.marker(id, range);
            self.run.markers.push((self.run.text.len(), marker));
        } else if !html.starts_with("<!--") {
            self.found.html.push(range);
        }
    }

    fn marker(&self, id: &str, bytes: Range<usize>) -> Marker {
        Marker {
            claim_id: id.to_owned(),
            line: self.lines.number(bytes.start),
            bytes,
        }
    }

    /// A block of HTML: its comments may be markers, its text counts, its tags are noted.
    fn html(&mut self, range: Range<usize>) {
        let page = self.page;
        let mut at = range.start;
        while at < range.end {
            let rest = &page[at..range.end];
            let (length, is_text) = html_token(rest);
            let piece = at..at + length;
            if is_text {
                let text = &page[piece.clone()];
                self.note_link_text(text);
                self.run.push(text, piece.clone());
            } else {
                self.inline_html(&page[piece.clone()], piece.clone());
            }
            at = piece.end;
        }
    }

    /// A heading's anchor, counted up where it is taken, as Hugo and GitHub do.
    fn free_anchor(&self, text: &str) -> String {
        let base = markup::anchor(text);
        if !self.anchors.contains(&base) {
            return base;
        }
        (1..)
            .map(|count| format!("{base}-{count}"))
            .find(|anchor| !self.anchors.contains(anchor))
            .unwrap_or(base)
    }

    /// Turns the collected run into sentences.
    fn flush(&mut self) {
        let run = std::mem::take(&mut self.run);
        let place = self.places.last().copied().unwrap_or(Place::Paragraph);
        let in_list_only_links = place == Place::ListItem && !run.plain && !run.pieces.is_empty();
        let first = self.found.sentences.len();
        let mut from = 0;
        let ends = run
            .markers
            .iter()
            .map(|(at, _)| *at)
            .chain([run.text.len()]);
        for (index, end) in ends.enumerate() {
            for range in split::sentences(&without_shortcodes(&run.text[from..end])) {
                let range = from + range.start..from + range.end;
                let bytes = run.byte(range.start, false)..run.byte(range.end, true);
                let text = run.text[range]
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" ");
                let kind = if in_list_only_links {
                    SentenceKind::Links
                } else {
                    kind_of(&text)
                };
                self.found.sentences.push(Sentence {
                    kind,
                    text,
                    place,
                    line: self.lines.number(bytes.start),
                    end_line: self.lines.number(bytes.end.saturating_sub(1)),
                    bytes,
                    markers: Vec::new(),
                });
            }
            from = end;
            if let Some((_, marker)) = run.markers.get(index) {
                self.attach(marker.clone(), first);
            }
        }
    }

    /// Gives a marker to the sentence before it: of the same run, or of the block before when
    /// nothing but white space stands between.
    fn attach(&mut self, marker: Marker, first: usize) {
        let page = self.page;
        let in_run = self.found.sentences.len() > first;
        let last = self.found.sentences.last_mut().filter(|sentence| {
            let end = sentence.bytes_with_markers().end;
            in_run
                || page
                    .get(end..marker.bytes.start)
                    .is_some_and(|gap| gap.trim().is_empty())
        });
        match last {
            Some(sentence) => sentence.markers.push(marker),
            None => self.found.stray_markers.push(marker),
        }
    }
}

const fn number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

/// The length of the first token of some HTML, and whether it is text.
fn html_token(html: &str) -> (usize, bool) {
    let up_to = |needle: &str| html.find(needle).map(|at| at + needle.len());
    let lower = html.get(..8).unwrap_or(html).to_ascii_lowercase();
    if html.starts_with("<!--") {
        (up_to("-->").unwrap_or(html.len()), false)
    } else if lower.starts_with("<script") {
        (up_to("</script>").unwrap_or(html.len()), false)
    } else if lower.starts_with("<style") {
        (up_to("</style>").unwrap_or(html.len()), false)
    } else if html.starts_with('<') {
        (up_to(">").unwrap_or(html.len()), false)
    } else {
        (html.find('<').unwrap_or(html.len()), true)
    }
}

/// The text with Hugo's shortcodes blanked out, at the same length.
fn without_shortcodes(text: &str) -> String {
    let mut clean = text.to_owned();
    while let Some(start) = clean.find("{{") {
        let end = clean[start..]
            .find("}}")
            .map_or(clean.len(), |at| start + at + 2);
        clean.replace_range(start..end, &" ".repeat(end - start));
    }
    clean
}

fn kind_of(text: &str) -> SentenceKind {
    let outside_code = text.split('`').step_by(2);
    if !outside_code.flat_map(str::chars).any(char::is_alphanumeric) {
        return SentenceKind::Code;
    }
    let ends_asking = text
        .trim_end_matches(['"', '\'', ')', '”', '’', '*', '_'])
        .ends_with(['?', '？']);
    if ends_asking {
        SentenceKind::Question
    } else {
        SentenceKind::Statement
    }
}

#[cfg(test)]
#[path = "prose_tests.rs"]
mod tests;
