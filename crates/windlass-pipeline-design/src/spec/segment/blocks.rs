//! The blocks of a Markdown text: paragraphs, list items, table rows, headings, code.

use std::{ops::Range, rc::Rc};

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::Row;
use crate::model::analysis::Place;
use crate::spec::section::Section;

/// A block.
#[derive(Debug)]
pub struct Block {
    /// What its pieces stand in.
    pub place: Place,
    /// Where it stands.
    pub source: Range<usize>,
    /// The text without marks.
    pub text: String,
    /// From where in the text it comes from where in the source.
    pub map: Vec<Chunk>,
    /// From 1 to 6, for a heading.
    pub level: usize,
    /// The cells, for a table row.
    pub row: Option<Row>,
    /// How much of the text is a bold beginning.
    pub bold: usize,
    /// Why nothing is read from it.
    pub set_aside: Option<&'static str>,
}

/// A part of a block's text and its place in the source.
#[derive(Debug)]
pub struct Chunk {
    /// In the block's text.
    pub text: Range<usize>,
    /// In the source; as long as the text unless characters are escaped.
    pub source: Range<usize>,
}

impl Block {
    fn new(place: Place, start: usize) -> Self {
        Self {
            place,
            source: start..start,
            text: String::new(),
            map: Vec::new(),
            level: 0,
            row: None,
            bold: 0,
            set_aside: None,
        }
    }

    fn push(&mut self, text: &str, source: Range<usize>) {
        let at = self.text.len();
        self.text.push_str(text);
        self.source.end = self.source.end.max(source.end);
        self.map.push(Chunk {
            text: at..self.text.len(),
            source,
        });
    }

    /// The place in the source of a place in the text.
    pub fn to_source(&self, at: usize, is_end: bool) -> usize {
        let index = self.map.partition_point(|chunk| {
            if is_end {
                chunk.text.end < at
            } else {
                chunk.text.end <= at
            }
        });
        self.map.get(index).map_or(self.source.end, |chunk| {
            let inside = at.saturating_sub(chunk.text.start);
            if chunk.text.len() == chunk.source.len() {
                chunk.source.start + inside
            } else if is_end {
                chunk.source.end
            } else {
                chunk.source.start
            }
        })
    }
}

/// Reads the blocks of a spec in the order of the text.
pub fn read(spec: &str) -> Vec<Block> {
    let mut reader = Reader::default();
    let options = Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS;
    for (event, range) in Parser::new_ext(spec, options).into_offset_iter() {
        reader.take(event, range);
    }
    reader.flush();
    reader.blocks
}

/// Signs people put before a list item that Markdown does not know.
const BULLETS: &[char] = &['•', '‣', '▪', '●', '◦', '·', '–', '—', '→', '✓', '✔', '☐'];

#[derive(Default)]
struct Reader {
    blocks: Vec<Block>,
    open: Option<Block>,
    items: usize,
    bold_from: Option<usize>,
    header: Rc<Vec<String>>,
    cells: Vec<String>,
    in_head: bool,
    line_broke: bool,
    /// What ends a script, a style sheet or a comment that began on an earlier line.
    raw_until: Option<&'static str>,
}

impl Reader {
    fn take(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(&tag, range),
            Event::End(tag) => self.end(tag, range),
            Event::Text(text) | Event::Code(text) => self.text(&text, range),
            Event::SoftBreak | Event::HardBreak => {
                self.line_broke = true;
                if let Some(block) = &mut self.open {
                    block.push(" ", range);
                }
            }
            Event::Html(text) => self.html(&text, &range),
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.flush();
                let mut block = Block::new(Place::Heading, range.start);
                block.level = depth(*level);
                self.open = Some(block);
            }
            Tag::Item => {
                self.flush();
                self.items += 1;
                self.open = Some(Block::new(Place::Bullet, range.start));
            }
            Tag::Paragraph => {
                let waiting = self
                    .open
                    .as_ref()
                    .is_some_and(|block| block.text.is_empty());
                if !waiting {
                    self.flush();
                    let place = if self.items > 0 {
                        Place::Bullet
                    } else {
                        Place::Sentence
                    };
                    self.open = Some(Block::new(place, range.start));
                }
            }
            Tag::CodeBlock(_) => {
                self.flush();
                let mut block = Block::new(Place::Sentence, range.start);
                block.set_aside = Some("a block of code");
                self.open = Some(block);
            }
            Tag::TableHead | Tag::TableRow => {
                self.flush();
                self.cells.clear();
                self.in_head = matches!(tag, Tag::TableHead);
                self.open = Some(Block::new(Place::TableRow, range.start));
            }
            Tag::TableCell => {
                self.cells.push(String::new());
                if let Some(block) = &mut self.open
                    && !block.text.is_empty()
                {
                    block.push(" | ", range.start..range.start);
                }
            }
            Tag::Strong => {
                if let Some(block) = &self.open
                    && block.text.trim().is_empty()
                {
                    self.bold_from = Some(block.text.len());
                }
            }
            Tag::List(_) | Tag::BlockQuote(_) | Tag::HtmlBlock | Tag::Table(_) => self.flush(),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd, range: Range<usize>) {
        match tag {
            TagEnd::Item => {
                self.flush();
                self.items = self.items.saturating_sub(1);
            }
            TagEnd::Strong => {
                if self.bold_from.take().is_some()
                    && let Some(block) = &mut self.open
                {
                    block.bold = block.text.len();
                }
            }
            TagEnd::TableHead => {
                self.header = Rc::new(std::mem::take(&mut self.cells));
                self.close_row(range, Some("the names of a table's columns"));
            }
            TagEnd::TableRow => {
                self.close_row(range, None);
            }
            TagEnd::Heading(_) | TagEnd::Paragraph | TagEnd::CodeBlock | TagEnd::HtmlBlock => {
                self.flush();
            }
            _ => {}
        }
    }

    fn close_row(&mut self, range: Range<usize>, set_aside: Option<&'static str>) {
        if let Some(block) = &mut self.open {
            block.source.end = range.end;
            block.set_aside = set_aside;
            block.row = Some(Row {
                header: self.header.clone(),
                cells: std::mem::take(&mut self.cells),
            });
        }
        self.flush();
    }

    fn text(&mut self, text: &str, range: Range<usize>) {
        let line_broke = std::mem::take(&mut self.line_broke);
        let heads = line_broke
            && self.open.as_ref().is_some_and(|block| {
                block.place == Place::Sentence
                    && block.set_aside.is_none()
                    && (Section::of_line(&block.text).is_some()
                        && block.text.trim_end().ends_with(':')
                        || Section::of_label(text).is_some()
                        || Section::of_line(text).is_some() && text.trim_end().ends_with(':')
                        || Section::of_label(&block.text).is_some())
            });
        if heads {
            self.flush();
            self.open = Some(Block::new(Place::Sentence, range.start));
        }
        if let Some(cell) = self.cells.last_mut() {
            cell.push_str(text);
        }
        let bullet = self.open.as_ref().is_some_and(|block| {
            matches!(block.place, Place::Sentence | Place::Bullet)
                && block.set_aside.is_none()
                && (line_broke || block.text.is_empty())
        }) && starts_with_bullet(text);
        if bullet {
            self.flush();
            self.open = Some(Block::new(Place::Bullet, range.start));
            let mark = text.chars().next().map_or(0, char::len_utf8);
            let exact = text.len() == range.len();
            let start = if exact {
                range.start + mark
            } else {
                range.start
            };
            if let Some(block) = &mut self.open {
                block.push(&text[mark..], start..range.end);
            }
            return;
        }
        self.open
            .get_or_insert_with(|| Block::new(Place::Sentence, range.start))
            .push(text, range);
    }

    fn verbatim(&mut self, text: &str, range: Range<usize>, why: &'static str) {
        if self
            .open
            .as_ref()
            .is_some_and(|block| block.set_aside != Some(why))
        {
            self.flush();
        }
        let block = self
            .open
            .get_or_insert_with(|| Block::new(Place::Sentence, range.start));
        block.set_aside = Some(why);
        block.push(text, range);
    }

    /// A line of markup: tags, scripts and comments are set aside, what stands between them is read.
    fn html(&mut self, line: &str, range: &Range<usize>) {
        let mut at = 0;
        while at < line.len() {
            let rest = &line[at..];
            let (width, is_text) = match self.raw_until {
                Some(end) => {
                    let found = rest.to_ascii_lowercase().find(end);
                    if found.is_some() {
                        self.raw_until = None;
                    }
                    (found.map_or(rest.len(), |place| place + end.len()), false)
                }
                None => markup(rest, &mut self.raw_until),
            };
            let piece = &rest[..width];
            // Line ends may be written differently in the source.
            let source = if line.len() == range.len() {
                range.start + at..range.start + at + width
            } else {
                range.clone()
            };
            at += width;
            let reading = self
                .open
                .as_ref()
                .is_some_and(|open| open.set_aside.is_none());
            if !is_text && is_inline(piece) {
                continue;
            }
            if is_text && (reading || piece.chars().any(char::is_alphanumeric)) {
                if !reading {
                    self.flush();
                }
                self.text(piece, source);
            } else {
                self.verbatim(piece, source, "markup, not text");
            }
        }
    }

    fn flush(&mut self) {
        self.bold_from = None;
        self.line_broke = false;
        if let Some(block) = self.open.take()
            && !block.text.trim().is_empty()
        {
            self.blocks.push(block);
        }
    }
}

/// How much of a line is one tag or one piece of text, and whether it is text. Notes what has to come
/// before text continues.
fn markup(rest: &str, raw_until: &mut Option<&'static str>) -> (usize, bool) {
    let opens = |text: &str| {
        text.strip_prefix('<').is_some_and(|tag| {
            tag.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'))
        })
    };
    if !opens(rest) {
        let end = rest
            .char_indices()
            .skip(1)
            .find(|(place, _)| opens(&rest[*place..]))
            .map_or(rest.len(), |(place, _)| place);
        return (end, true);
    }
    if rest.starts_with("<!--") {
        *raw_until = Some("-->");
        return (4, false);
    }
    let lower = rest.to_ascii_lowercase();
    for (start, end) in [("<script", "</script>"), ("<style", "</style>")] {
        if lower.starts_with(start) {
            *raw_until = Some(end);
        }
    }
    (rest.find('>').map_or(rest.len(), |place| place + 1), false)
}

/// A tag inside of a sentence: `<b>`, `</a>`.
fn is_inline(tag: &str) -> bool {
    let name: String = tag
        .trim_start_matches(['<', '/'])
        .chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect();
    let inline = [
        "a", "abbr", "b", "code", "em", "i", "kbd", "mark", "s", "small", "span", "strong", "sub",
        "sup", "u",
    ];
    inline.contains(&name.to_ascii_lowercase().as_str())
}

fn starts_with_bullet(text: &str) -> bool {
    let mut letters = text.trim_start().chars();
    letters.next().is_some_and(|c| BULLETS.contains(&c))
        && text.starts_with(|c: char| !c.is_whitespace())
        && letters.next().is_some_and(char::is_whitespace)
}

fn depth(level: HeadingLevel) -> usize {
    level as usize
}
