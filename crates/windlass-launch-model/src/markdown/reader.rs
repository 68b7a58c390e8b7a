//! The one walk over a page's Markdown that fills a [`Document`].
//!
//! Raw HTML is read for its text too, so that a fact cannot hide between tags.

use std::{collections::BTreeSet, ops::Range};

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag as Start, TagEnd};

use crate::markdown::{
    document::{Code, Document, Heading, Link, Tag, anchor},
    html::{self, Piece},
    sentence::{Marker, Part, Place, Run, marker_claim},
};

/// Fills the parts of a document that are in its Markdown.
pub(crate) fn read(document: Document) -> Document {
    let text = document.text.clone();
    let base = document.body;
    let mut reader = Reader {
        document,
        run: Run::default(),
        places: Vec::new(),
        heading: None,
        code: None,
        links: Vec::new(),
        anchors: BTreeSet::new(),
        html: None,
    };
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_TASKLISTS;
    for (event, range) in Parser::new_ext(&text[base..], options).into_offset_iter() {
        reader.take(event, range.start + base..range.end + base);
    }
    reader.flush();
    let mut document = reader.document;
    for ranges in [
        &mut document.verbatim,
        &mut document.html,
        &mut document.comments,
    ] {
        ranges.sort_by_key(|range| (range.start, range.end));
    }
    document.links.sort_by_key(|link| link.range.start);
    document
}

struct Reader {
    document: Document,
    run: Run,
    places: Vec<Place>,
    heading: Option<Heading>,
    code: Option<Code>,
    links: Vec<Link>,
    anchors: BTreeSet<String>,
    /// A block of HTML: where it begins, and its text with everything else blank.
    html: Option<(usize, String)>,
}

impl Reader {
    fn take(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.text.push_str(&text),
                None => self.words(&text, &text, range),
            },
            Event::Code(code) => {
                self.document.verbatim.push(range.clone());
                self.words(&code, &format!("`{code}`"), range);
            }
            Event::SoftBreak | Event::HardBreak => self.words(" ", " ", range),
            Event::InlineHtml(text) => self.raw_html(range.start, &text),
            Event::Html(_) => {
                // Not what stands between the lines: the marks of a quote would close a tag.
                let page = &self.document.text;
                if let Some((start, block)) = &mut self.html {
                    let inside = range.start - *start..range.end - *start;
                    block.replace_range(inside, &page[range]);
                }
            }
            Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::Rule
            | Event::TaskListMarker(_) => {}
        }
    }

    fn start(&mut self, tag: Start<'_>, range: Range<usize>) {
        match tag {
            Start::Paragraph => self.flush(),
            Start::Heading { level, id, .. } => {
                self.flush();
                self.heading = Some(Heading {
                    level: depth(level),
                    text: String::new(),
                    anchor: id.map(|id| id.to_string()).unwrap_or_default(),
                    line: self.document.line(range.start),
                    range,
                });
            }
            Start::BlockQuote(_) => {
                self.flush();
                self.places.push(Place::Quote);
            }
            Start::Item => {
                self.flush();
                self.places.push(Place::ListItem);
            }
            Start::TableCell => {
                self.flush();
                self.places.push(Place::TableCell);
            }
            Start::CodeBlock(kind) => {
                self.flush();
                let (language, fenced) = match kind {
                    CodeBlockKind::Fenced(info) => (first_word(&info), true),
                    CodeBlockKind::Indented => (String::new(), false),
                };
                self.document.verbatim.push(range.clone());
                self.code = Some(Code {
                    language,
                    text: String::new(),
                    fenced,
                    line: self.document.line(range.start),
                    range,
                });
            }
            Start::Link { dest_url, .. } => self.open_link(&dest_url, false, range),
            Start::Image { dest_url, .. } => self.open_link(&dest_url, true, range),
            Start::HtmlBlock => {
                self.flush();
                self.html = Some((range.start, " ".repeat(range.len())));
            }
            Start::List(_) | Start::Table(_) | Start::FootnoteDefinition(_) => self.flush(),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::FootnoteDefinition => self.flush(),
            TagEnd::Heading(_) => {
                if let Some(mut heading) = self.heading.take() {
                    heading.text = heading.text.trim().to_owned();
                    if heading.anchor.is_empty() {
                        heading.anchor = self.free_anchor(&heading.text);
                    }
                    self.anchors.insert(heading.anchor.clone());
                    self.document.headings.push(heading);
                }
                self.flush();
            }
            TagEnd::BlockQuote(_) | TagEnd::Item | TagEnd::TableCell => {
                self.flush();
                self.places.pop();
            }
            TagEnd::CodeBlock => self.document.code.extend(self.code.take()),
            TagEnd::Link | TagEnd::Image => self.document.links.extend(self.links.pop()),
            TagEnd::HtmlBlock => {
                if let Some((start, text)) = self.html.take() {
                    self.raw_html(start, &text);
                }
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
            html: false,
            line: self.document.line(range.start),
            range,
        });
    }

    /// Text that readers see; `shown` is how a sentence quotes it.
    fn words(&mut self, text: &str, shown: &str, range: Range<usize>) {
        for link in &mut self.links {
            link.text.push_str(text);
        }
        if let Some(heading) = &mut self.heading {
            heading.text.push_str(text);
        } else if !self.links.iter().any(|link| link.image) {
            // Alternative text is no sentence of the page.
            self.run.plain |= self.links.is_empty() && text.chars().any(char::is_alphanumeric);
            self.run.push(shown, range);
        }
    }

    /// Raw HTML: its comments may be markers, its text counts, its tags are noted.
    fn raw_html(&mut self, start: usize, text: &str) {
        self.document.html.push(start..start + text.len());
        for (range, piece) in html::pieces(text) {
            let part = &text[range.clone()];
            let place = start + range.start..start + range.end;
            match piece {
                Piece::Text => self.words(part, part, place),
                Piece::Comment => {
                    self.document.comments.push(place.clone());
                    if let Some(id) = marker_claim(part) {
                        self.run.mark(Marker {
                            claim_id: id.to_owned(),
                            line: self.document.line(place.start),
                            range: place,
                        });
                    }
                }
                Piece::Tag => {}
            }
        }
        for (at, tag) in html::tags(text) {
            self.tag(start + at, tag);
        }
    }

    fn tag(&mut self, start: usize, tag: &str) {
        let range = start..start + tag.len();
        let line = self.document.line(start);
        for name in ["id", "name"] {
            let anchor = html::attribute(tag, name).map(str::to_owned);
            self.document.anchors.extend(anchor);
        }
        let (target, image) = match html::tag_name(tag).as_str() {
            "a" => (html::attribute(tag, "href"), false),
            "img" => (html::attribute(tag, "src"), true),
            _ => (None, false),
        };
        self.document.links.extend(target.map(|target| Link {
            target: target.to_owned(),
            text: html::attribute(tag, "alt").unwrap_or_default().to_owned(),
            image,
            html: true,
            line,
            range: range.clone(),
        }));
        self.document.tags.push(Tag {
            text: tag.to_owned(),
            line,
            range,
        });
    }

    /// A heading's anchor, counted up where it is taken, as Hugo and GitHub do.
    fn free_anchor(&self, text: &str) -> String {
        let base = anchor(text);
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
        let place = self.places.last().copied().unwrap_or(Place::Paragraph);
        let first = self.document.sentences.len();
        for part in std::mem::take(&mut self.run).parts(place) {
            match part {
                Part::Sentence(mut sentence) => {
                    sentence.line = self.document.line(sentence.range.start);
                    sentence.end_line = self.document.line(sentence.range.end.saturating_sub(1));
                    self.document.sentences.push(sentence);
                }
                Part::Marker(marker) => self.attach(marker, first),
            }
        }
    }

    /// Gives a marker to the sentence before it: of the same run, or of the block before when
    /// nothing but white space stands between.
    fn attach(&mut self, marker: Marker, first: usize) {
        let document = &mut self.document;
        let in_run = document.sentences.len() > first;
        let page = &document.text;
        let last = document.sentences.last_mut().filter(|sentence| {
            let end = sentence.range_with_markers().end;
            let gap = page.get(end..marker.range.start);
            in_run || gap.is_some_and(|gap| gap.trim().is_empty())
        });
        match last {
            Some(sentence) => sentence.markers.push(marker),
            None => document.stray_markers.push(marker),
        }
    }
}

fn first_word(info: &str) -> String {
    info.split(|c: char| c.is_whitespace() || c == '{' || c == ',')
        .next()
        .unwrap_or_default()
        .to_owned()
}

const fn depth(level: HeadingLevel) -> usize {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}
