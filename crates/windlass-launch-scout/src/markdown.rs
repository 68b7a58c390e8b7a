//! Documents as blocks: paragraphs, list items and fences, each with its lines and heading.
//!
//! Only what facts and snippets need. Tables, quotes, indented code and HTML blocks carry no
//! facts and are dropped. reStructuredText is read by the same rules after its directives are
//! blanked.

use std::borrow::Cow;

use windlass_launch_model::markdown::frontmatter::{find, parse};

/// What a block is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BlockKind {
    Paragraph,
    Item,
    /// With the first word behind the fence, lower-case.
    Fence(String),
}

/// A block and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub kind: BlockKind,
    /// The nearest heading; empty before the first.
    pub heading: String,
    /// Line numbers, from 1, and what the lines say, list and fence markers removed.
    pub lines: Vec<(u64, String)>,
}

struct Fence {
    mark: char,
    length: usize,
    indent: usize,
}

/// Splits a document.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let skip = front_matter_lines(text);
    let mut reader = Reader::default();
    for (index, line) in text.lines().enumerate() {
        if index >= skip {
            reader.line(index as u64 + 1, line);
        }
    }
    reader.close();
    reader.blocks
}

fn front_matter_lines(text: &str) -> usize {
    // What only looks like front matter is text.
    let block = find(text).filter(|block| parse(text, block).is_ok());
    block.map_or(0, |block| text[..block.body].lines().count())
}

#[derive(Default)]
struct Reader {
    blocks: Vec<Block>,
    heading: String,
    open: Option<Block>,
    fence: Option<Fence>,
    in_comment: bool,
}

impl Reader {
    fn close(&mut self) {
        if let Some(block) = self.open.take() {
            self.blocks.push(block);
        }
    }

    fn start(&mut self, kind: BlockKind) {
        self.close();
        self.open = Some(Block {
            kind,
            heading: self.heading.clone(),
            lines: Vec::new(),
        });
    }

    fn push(&mut self, number: u64, line: &str) {
        if let Some(block) = &mut self.open {
            block.lines.push((number, line.to_owned()));
        }
    }

    fn line(&mut self, number: u64, line: &str) {
        if let Some(fence) = &self.fence {
            if closes(line, fence) {
                self.fence = None;
                self.close();
            } else {
                let cut = indent(line).min(fence.indent);
                self.push(number, &line[cut..]);
            }
            return;
        }
        if self.in_comment {
            self.in_comment = !line.contains("-->");
            return;
        }
        let trimmed = line.trim();
        if let Some((fence, info)) = opens(line) {
            self.fence = Some(fence);
            self.start(BlockKind::Fence(info));
            return;
        }
        if trimmed.is_empty() {
            // An item may continue after a blank line; a new block still begins there.
            self.close();
            return;
        }
        if trimmed.starts_with("<!--") {
            self.close();
            self.in_comment = !trimmed.contains("-->");
            return;
        }
        if let Some(title) = heading(trimmed) {
            self.close();
            self.heading = title;
            return;
        }
        if is_underline(trimmed) {
            // What looked like a paragraph of one line was a heading.
            if let Some(block) = self.open.take() {
                match block.lines.as_slice() {
                    [(_, title)] if block.kind == BlockKind::Paragraph => {
                        self.heading = title.trim().to_owned();
                    }
                    _ => self.blocks.push(block),
                }
            }
            return;
        }
        if trimmed.starts_with(['|', '>', '<']) {
            self.close();
            return;
        }
        if let Some(rest) = item(trimmed) {
            self.start(BlockKind::Item);
            self.push(number, rest);
            return;
        }
        if self.open.is_none() {
            if indent(line) >= 4 {
                return;
            }
            self.start(BlockKind::Paragraph);
        }
        self.push(number, trimmed);
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

fn opens(line: &str) -> Option<(Fence, String)> {
    let trimmed = line.trim_start();
    let mark = trimmed.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = trimmed.chars().take_while(|c| *c == mark).count();
    let info = trimmed[length..].trim();
    if length < 3 || (mark == '`' && info.contains('`')) {
        return None;
    }
    let word = info
        .trim_start_matches('{')
        .trim_start_matches('.')
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | '{' | '}' | ':'))
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let fence = Fence {
        mark,
        length,
        indent: indent(line),
    };
    Some((fence, word))
}

fn closes(line: &str, fence: &Fence) -> bool {
    let trimmed = line.trim();
    trimmed.len() >= fence.length && trimmed.chars().all(|c| c == fence.mark)
}

fn heading(trimmed: &str) -> Option<String> {
    let level = trimmed.chars().take_while(|c| *c == '#').count();
    let rest = &trimmed[level..];
    if !(1..=6).contains(&level) || !rest.starts_with([' ', '\t']) {
        return None;
    }
    Some(rest.trim().trim_end_matches('#').trim().to_owned())
}

fn is_underline(trimmed: &str) -> bool {
    trimmed.len() >= 3
        && (trimmed.chars().all(|c| c == '=')
            || trimmed.chars().all(|c| c == '-')
            || trimmed.chars().all(|c| c == '*'))
}

fn item(trimmed: &str) -> Option<&str> {
    if let Some(rest) = trimmed
        .strip_prefix(['-', '*', '+'])
        .filter(|rest| rest.starts_with([' ', '\t']))
    {
        let rest = rest.trim_start();
        let checked = ["[x] ", "[X] ", "[ ] "]
            .iter()
            .find_map(|mark| rest.strip_prefix(mark));
        return Some(checked.unwrap_or(rest));
    }
    let digits = trimmed.chars().take_while(char::is_ascii_digit).count();
    if digits == 0 || digits > 9 {
        return None;
    }
    trimmed[digits..]
        .strip_prefix(['.', ')'])
        .filter(|rest| rest.starts_with([' ', '\t']))
        .map(str::trim_start)
}

/// reStructuredText with its directives and their bodies blanked, line by line.
pub(crate) fn from_rst(text: &str) -> Cow<'_, str> {
    let mut out = String::with_capacity(text.len());
    let mut in_directive = false;
    for line in text.lines() {
        let is_blank = line.trim().is_empty();
        if line.starts_with("..") {
            in_directive = true;
        } else if !is_blank && !line.starts_with([' ', '\t']) {
            in_directive = false;
        }
        let trimmed = line.trim_end();
        let is_rule = trimmed.len() >= 3
            && trimmed.chars().next().is_some_and(|mark| {
                "=-~^\"'`#*+".contains(mark) && trimmed.chars().all(|c| c == mark)
            });
        if is_rule {
            out.push_str("---");
        } else if !in_directive && !line.starts_with([' ', '\t']) {
            out.push_str(&line.replace("``", "`"));
        }
        out.push('\n');
    }
    Cow::Owned(out)
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
