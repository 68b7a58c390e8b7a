//! Cuts a page's body into chunks at its headings.
//!
//! Statements keep inline code in backticks and lose other markup, so that they read well alone. A
//! table row becomes a statement of its own, each cell named by its column. Anchors are those of the
//! usual renderers, so a citation is a working link.

use std::{collections::BTreeSet, ops::Range};

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::chunk::{Chunk, Code, Passage};

/// Deeper headings belong to the chunk they stand in.
const DEEPEST: HeadingLevel = HeadingLevel::H3;

/// The chunks of a body, in order; chunks without a passage are left out, except the first.
pub(crate) fn chunks(body: &str) -> Vec<Chunk> {
    let mut reader = Reader::default();
    for event in Parser::new_ext(body, Options::ENABLE_TABLES) {
        reader.take(event);
    }
    reader.finish()
}

/// The anchor of a heading's text.
fn slug(text: &str) -> String {
    text.trim()
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
            _ => None,
        })
        .collect()
}

#[derive(Default)]
struct Reader {
    done: Vec<Chunk>,
    open: Option<Chunk>,
    /// Headings from the page's title down to the open chunk.
    trail: Vec<(HeadingLevel, String)>,
    anchors: BTreeSet<String>,
    text: String,
    code: Option<Code>,
    /// A heading deeper than chunks go, put before what follows it.
    minor: Option<String>,
    columns: Vec<String>,
    cells: Vec<String>,
    in_head: bool,
    in_table: bool,
    /// List items that are still open.
    items: usize,
    /// Where the last link stands in `text`.
    link: Range<usize>,
}

impl Reader {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(Tag::Heading { .. } | Tag::Paragraph) => self.end_statement(),
            Event::End(TagEnd::Heading(level)) => self.heading(level),
            Event::End(TagEnd::Paragraph) => self.end_statement(),
            Event::Start(Tag::Item) => {
                self.end_statement();
                self.items += 1;
            }
            Event::End(TagEnd::Item) => {
                self.end_statement();
                self.items -= 1;
            }
            Event::Start(Tag::Link { .. }) => self.link = self.text.len()..self.text.len(),
            Event::End(TagEnd::Link) => self.link.end = self.text.len(),
            Event::Start(Tag::CodeBlock(kind)) => {
                self.end_statement();
                let language = match kind {
                    CodeBlockKind::Fenced(info) => info
                        .split_whitespace()
                        .next()
                        .unwrap_or_default()
                        .to_owned(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some(Code {
                    language,
                    text: String::new(),
                });
            }
            Event::End(TagEnd::CodeBlock) => {
                if let Some(code) = self.code.take() {
                    self.push(Passage::Code(code));
                }
            }
            Event::Start(Tag::Table(_)) => {
                self.end_statement();
                self.in_table = true;
            }
            Event::End(TagEnd::Table) => {
                self.in_table = false;
                self.columns.clear();
            }
            Event::Start(Tag::TableHead) => self.in_head = true,
            Event::End(TagEnd::TableHead) => {
                self.in_head = false;
                self.columns = std::mem::take(&mut self.cells);
            }
            Event::End(TagEnd::TableCell) => {
                self.cells
                    .push(std::mem::take(&mut self.text).trim().to_owned());
            }
            Event::End(TagEnd::TableRow) => self.end_row(),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.text.push_str(&text),
                None => self.text.push_str(&text),
            },
            Event::Code(code) => {
                self.text.push('`');
                self.text.push_str(&code);
                self.text.push('`');
            }
            Event::SoftBreak | Event::HardBreak => self.text.push(' '),
            _ => {}
        }
    }

    fn heading(&mut self, level: HeadingLevel) {
        let text = std::mem::take(&mut self.text).trim().replace('`', "");
        let slug = slug(&text);
        let mut anchor = slug.clone();
        let mut copy = 0;
        while !self.anchors.insert(anchor.clone()) {
            copy += 1;
            anchor = format!("{slug}-{copy}");
        }
        if level > DEEPEST {
            self.minor = Some(text);
            return;
        }
        self.done.extend(self.open.take());
        self.trail.retain(|(above, _)| *above < level);
        let parents = self
            .trail
            .iter()
            .filter(|(above, _)| *above > HeadingLevel::H1)
            .map(|(_, text)| text.clone())
            .collect();
        self.trail.push((level, text.clone()));
        self.open = Some(Chunk {
            heading: text,
            parents,
            anchor,
            passages: Vec::new(),
        });
    }

    fn end_statement(&mut self) {
        if self.in_table {
            return;
        }
        let text = std::mem::take(&mut self.text);
        let link = std::mem::take(&mut self.link);
        let text = text.trim();
        // An item that is nothing but a link says nothing by itself.
        let only_a_link = self.items > 0 && link.start == 0 && link.end == text.len();
        if !text.is_empty() && !only_a_link {
            self.push(Passage::Statement(text.to_owned()));
        }
    }

    fn end_row(&mut self) {
        let cells = std::mem::take(&mut self.cells);
        let mut parts = Vec::new();
        for (at, cell) in cells.into_iter().enumerate() {
            if cell.is_empty() {
                continue;
            }
            match self
                .columns
                .get(at)
                .filter(|name| at > 0 && !name.is_empty())
            {
                Some(name) => parts.push(format!("{name}: {cell}")),
                None => parts.push(cell),
            }
        }
        if !parts.is_empty() {
            self.push(Passage::Statement(parts.join("; ")));
        }
    }

    fn push(&mut self, passage: Passage) {
        // Text before the first heading has no place to be cited by.
        let Some(chunk) = &mut self.open else {
            return;
        };
        let passage = match (self.minor.take(), passage) {
            (Some(minor), Passage::Statement(text)) => {
                Passage::Statement(format!("{minor}: {text}"))
            }
            (minor, passage) => {
                self.minor = minor;
                passage
            }
        };
        chunk.passages.push(passage);
    }

    fn finish(mut self) -> Vec<Chunk> {
        self.end_statement();
        self.done.extend(self.open.take());
        let mut first = true;
        self.done
            .retain(|chunk| std::mem::take(&mut first) || !chunk.passages.is_empty());
        self.done
    }
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
