//! Documentation of a symbol: the comment above it, or the text within it.

use super::Source;

/// A documentation text and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Doc {
    /// Line numbers, from 1, and what the lines say without comment marks.
    pub lines: Vec<(u64, String)>,
}

impl Doc {
    /// A text that spans the lines from `start`; `None` if it says nothing.
    pub(crate) fn new(lines: Vec<(u64, String)>) -> Option<Self> {
        lines
            .iter()
            .any(|(_, line)| !line.trim().is_empty())
            .then_some(Self { lines })
    }

    /// All of it.
    pub(crate) fn text(&self) -> String {
        let lines: Vec<&str> = self.lines.iter().map(|(_, line)| line.as_str()).collect();
        lines.join("\n")
    }

    /// The lines up to the first blank one, as one.
    pub(crate) fn first_paragraph(&self) -> String {
        let said: Vec<&str> = self.first_lines().map(|(_, line)| line.trim()).collect();
        said.join(" ")
    }

    /// The first and last line of the first paragraph.
    pub(crate) fn first_range(&self) -> (u64, u64) {
        let mut lines = self.first_lines().map(|(number, _)| *number);
        let first = lines.next().unwrap_or(1);
        (first, lines.last().unwrap_or(first))
    }

    fn first_lines(&self) -> impl Iterator<Item = &(u64, String)> {
        self.lines
            .iter()
            .skip_while(|(_, line)| line.trim().is_empty())
            .take_while(|(_, line)| {
                let line = line.trim();
                !line.is_empty() && !line.starts_with('@') && !line.starts_with("```")
            })
    }
}

/// What may stand between a comment and its symbol.
fn is_annotation(line: &str) -> bool {
    line.starts_with("#[")
        || line.starts_with('@')
        || (line.starts_with('[') && line.ends_with(']'))
}

/// The lines directly above a definition that begin with a mark, without the mark.
pub(super) fn line_comments(source: &Source<'_>, definition: u64, mark: &str) -> Option<Doc> {
    let mut found = Vec::new();
    let mut number = definition.saturating_sub(1);
    while number > 0 {
        let line = source
            .lines
            .get(usize::try_from(number - 1).ok()?)
            .map_or("", |line| line.trim());
        if let Some(said) = line.strip_prefix(mark) {
            found.push((number, said.strip_prefix(' ').unwrap_or(said).to_owned()));
        } else if !(found.is_empty() && is_annotation(line)) {
            break;
        }
        number -= 1;
    }
    found.reverse();
    Doc::new(found)
}

/// The `/** … */` directly above a definition.
pub(super) fn block_comment(source: &Source<'_>, definition: u64) -> Option<Doc> {
    let mut found = Vec::new();
    let mut number = definition.saturating_sub(1);
    let mut is_inside = false;
    while number > 0 {
        let line = source
            .lines
            .get(usize::try_from(number - 1).ok()?)
            .map_or("", |line| line.trim());
        if !is_inside {
            if !line.ends_with("*/") {
                if is_annotation(line) {
                    number -= 1;
                    continue;
                }
                return None;
            }
            is_inside = true;
        }
        let opens = line.contains("/**");
        let said = line.trim_start_matches("/**").trim_end_matches("*/").trim();
        let said = said
            .strip_prefix('*')
            .map_or(said, |said| said.strip_prefix(' ').unwrap_or(said));
        found.push((number, said.to_owned()));
        if opens {
            found.reverse();
            return Doc::new(found);
        }
        if line.contains("/*") {
            return None;
        }
        number -= 1;
    }
    None
}

/// A `///` comment of C#: the text of its `summary`, tags removed.
pub(super) fn xml_comments(source: &Source<'_>, definition: u64) -> Option<Doc> {
    let all = line_comments(source, definition, "///")?;
    let mut in_summary = false;
    let mut found = Vec::new();
    for (number, line) in all.lines {
        let opens = line.contains("<summary>");
        let closes = line.contains("</summary>");
        if opens {
            in_summary = true;
        }
        if in_summary {
            let said = line.replace("<summary>", "").replace("</summary>", "");
            found.push((number, without_tags(said.trim())));
        }
        if closes {
            break;
        }
    }
    Doc::new(found)
}

/// `<see cref="X"/>` says `X`; other tags say nothing.
fn without_tags(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        out.push_str(&rest[..start]);
        let Some(length) = rest[start..].find('>') else {
            rest = &rest[start..];
            break;
        };
        let tag = &rest[start..start + length];
        if let Some(name) = tag.split('"').nth(1) {
            out.push_str(name.rsplit(':').next().unwrap_or(name));
        }
        rest = &rest[start + length + 1..];
    }
    out.push_str(rest);
    out
}
