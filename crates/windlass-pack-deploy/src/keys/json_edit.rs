//! Edits of a JSON text: one member or element is replaced, added or taken out; every other
//! byte stays.

use std::ops::Range;

use serde_json::Value;

use super::{
    KeyError,
    json_text::{Kind, Node, parse, skip_blank, skip_comment},
    pointer,
};

/// A JSON text and the tree over it.
#[derive(Clone, Debug)]
pub struct JsonText {
    text: String,
    root: Node,
}

impl JsonText {
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let text = if text
            .trim_matches(['\u{feff}', ' ', '\t', '\r', '\n'])
            .is_empty()
        {
            "{}\n".to_owned()
        } else {
            text.to_owned()
        };
        let root = parse(&text)?;
        if !matches!(root.kind, Kind::Object(_)) {
            return Err(KeyError::Shape {
                pointer: "the document".to_owned(),
                expected: "an object",
            });
        }
        Ok(Self { text, root })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn get(&self, keys: &[String]) -> Option<Value> {
        self.root.at(keys).map(Node::value)
    }

    pub fn is_blank(&self) -> bool {
        let text = self.text.trim_start_matches('\u{feff}');
        text.bytes()
            .all(|byte| matches!(byte, b'{' | b'}' | b' ' | b'\t' | b'\r' | b'\n'))
    }

    pub fn set(&mut self, keys: &[String], value: &Value) -> Result<(), KeyError> {
        if let Some(node) = self.root.at(keys) {
            let span = node.span.clone();
            let indent = self.line_indent(span.start).to_owned();
            let lines = self.spreads(keys);
            let rendered = self.render(value, &indent, lines);
            return self.replace(span, &rendered);
        }
        let depth = self.deepest(keys)?;
        let added = keys[depth + 1..]
            .iter()
            .rev()
            .fold(value.clone(), |inner, key| {
                Value::Object([(key.clone(), inner)].into_iter().collect())
            });
        self.insert(&keys[..depth], Some(&keys[depth]), &added)
    }

    pub fn append(&mut self, keys: &[String], value: &Value) -> Result<(), KeyError> {
        match self.root.at(keys).map(|node| &node.kind) {
            Some(Kind::Array(_)) => self.insert(keys, None, value),
            Some(_) => Err(KeyError::Shape {
                pointer: pointer::render(keys),
                expected: "an array",
            }),
            None => self.set(keys, &Value::Array(vec![value.clone()])),
        }
    }

    pub fn remove(&mut self, keys: &[String]) -> Result<(), KeyError> {
        let Some((name, parents)) = keys.split_last() else {
            return Ok(());
        };
        // A key may be there twice; one parse sees the last, so continue until none is left.
        while let Some(Kind::Object(members)) = self.root.at(parents).map(|node| &node.kind) {
            let Some(index) = members.iter().rposition(|member| member.name == *name) else {
                break;
            };
            self.take_out(parents, index)?;
        }
        self.prune(parents)
    }

    pub fn remove_element(&mut self, keys: &[String], index: usize) -> Result<(), KeyError> {
        match self.root.at(keys).map(|node| &node.kind) {
            Some(Kind::Array(items)) if index < items.len() => {
                self.take_out(keys, index)?;
                self.prune(keys)
            }
            _ => Ok(()),
        }
    }

    /// Removes what is empty now, from the inside out; the document itself stays.
    fn prune(&mut self, keys: &[String]) -> Result<(), KeyError> {
        let Some((name, parents)) = keys.split_last() else {
            return Ok(());
        };
        let Some(node) = self.root.at(keys) else {
            return Ok(());
        };
        if matches!(node.kind, Kind::Scalar(_)) || !node.parts().is_empty() {
            return Ok(());
        }
        let inside = &self.text[node.span.start + 1..node.span.end - 1];
        if !inside.trim().is_empty() {
            return Ok(());
        }
        let Some(Kind::Object(members)) = self.root.at(parents).map(|parent| &parent.kind) else {
            return Ok(());
        };
        let Some(index) = members.iter().rposition(|member| member.name == *name) else {
            return Ok(());
        };
        self.take_out(parents, index)?;
        self.prune(parents)
    }

    /// How many of the keys lead to an existing object.
    fn deepest(&self, keys: &[String]) -> Result<usize, KeyError> {
        let mut node = &self.root;
        for (depth, key) in keys.iter().enumerate() {
            if !matches!(node.kind, Kind::Object(_)) {
                return Err(KeyError::Shape {
                    pointer: pointer::render(&keys[..depth]),
                    expected: "an object",
                });
            }
            match node.member(key) {
                Some(member) => node = &member.value,
                None => return Ok(depth),
            }
        }
        Ok(keys.len())
    }

    /// Adds a part at the end of an object (with a name) or array (without).
    fn insert(
        &mut self,
        keys: &[String],
        name: Option<&String>,
        value: &Value,
    ) -> Result<(), KeyError> {
        let Some(node) = self.root.at(keys) else {
            return Ok(());
        };
        let (span, parts) = (node.span.clone(), node.parts());
        let lines = self.spreads(keys);
        let newline = self.newline();
        let close_indent = self.line_indent(span.start).to_owned();
        let indent = match parts.first() {
            Some(first) if lines => self.line_indent(first.start).to_owned(),
            _ => format!("{close_indent}{}", self.unit()),
        };
        let rendered = self.render(value, &indent, lines);
        let part = match name {
            Some(name) => format!("{}: {rendered}", Value::from(name.as_str())),
            None => rendered,
        };
        let Some(last) = parts.last() else {
            // Only white space or comments inside.
            let inside = span.start + 1..span.end - 1;
            let kept = self.text[inside.clone()].trim_end().to_owned();
            let text = if lines {
                format!("{kept}{newline}{indent}{part}{newline}{close_indent}")
            } else {
                format!("{kept}{part}")
            };
            return self.replace(inside, &text);
        };
        let last_end = last.end;
        let after = skip_blank(&self.text, last_end).unwrap_or(last_end);
        let trailing_comma = self.text.as_bytes().get(after) == Some(&b',');
        let resume = if trailing_comma { after + 1 } else { last_end };
        let (comma, end_comma) = if trailing_comma { ("", ",") } else { (",", "") };
        let text = if lines {
            let tail = self.same_line_comments(resume);
            let kept = &self.text[last_end..tail];
            let kept = kept.trim_end_matches([' ', '\t']);
            (
                last_end..tail,
                format!("{comma}{kept}{newline}{indent}{part}{end_comma}"),
            )
        } else {
            let kept = &self.text[last_end..resume];
            (last_end..resume, format!("{comma}{kept} {part}{end_comma}"))
        };
        self.replace(text.0, &text.1)
    }

    /// Takes a part out of an object or array, with its comma and, if it has lines of its own,
    /// with those.
    fn take_out(&mut self, keys: &[String], index: usize) -> Result<(), KeyError> {
        let Some(node) = self.root.at(keys) else {
            return Ok(());
        };
        let (span, parts) = (node.span.clone(), node.parts());
        let Some(part) = parts.get(index).cloned() else {
            return Ok(());
        };
        let after = skip_blank(&self.text, part.end).unwrap_or(part.end);
        let has_comma = self.text.as_bytes().get(after) == Some(&b',');
        let end = if has_comma { after + 1 } else { part.end };
        let line = self.own_line(part.start);
        let mut cut = part.start..end;
        if let Some(line_start) = line {
            cut.start = line_start;
            cut.end = self.same_line_comments(end);
        } else if index + 1 < parts.len() {
            let spaces = self.text[end..].len() - self.text[end..].trim_start().len();
            cut.end = end + spaces;
        } else {
            let before = &self.text[..part.start];
            cut.start = before.trim_end_matches([' ', '\t']).len();
        }
        let previous_comma = match index.checked_sub(1) {
            Some(previous) if !has_comma && index + 1 == parts.len() => {
                skip_blank(&self.text, parts[previous].end)
                    .filter(|at| self.text.as_bytes().get(*at) == Some(&b','))
            }
            _ => None,
        };
        self.text.replace_range(cut.clone(), "");
        let mut close = span.end - 1 - cut.len();
        if let Some(comma) = previous_comma {
            self.text.replace_range(comma..=comma, "");
            close -= 1;
        }
        if parts.len() == 1 {
            let inside = span.start + 1..close;
            if self.text[inside.clone()].trim().is_empty() {
                self.text.replace_range(inside, "");
            }
        }
        self.root = parse(&self.text)?;
        Ok(())
    }

    fn replace(&mut self, span: Range<usize>, text: &str) -> Result<(), KeyError> {
        self.text.replace_range(span, text);
        self.root = parse(&self.text)?;
        Ok(())
    }

    /// Whether the parts of an object or array stand on lines of their own. An empty one
    /// follows the document: a document of one line stays one.
    fn spreads(&self, keys: &[String]) -> bool {
        let document_spreads = self.text.trim().contains('\n') || self.root.parts().is_empty();
        match self.root.at(keys) {
            Some(node) if !node.parts().is_empty() => {
                let first = node.parts()[0].start;
                self.text[node.span.start..first].contains('\n')
            }
            _ => document_spreads,
        }
    }

    /// The white space at the start of the line a position is on.
    fn line_indent(&self, at: usize) -> &str {
        let start = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
        let line = &self.text[start..at];
        let len = line.len() - line.trim_start_matches([' ', '\t']).len();
        &line[..len]
    }

    /// What one level of indentation looks like here.
    fn unit(&self) -> &str {
        match self.root.parts().first() {
            Some(first) if !self.line_indent(first.start).is_empty() => {
                self.line_indent(first.start)
            }
            _ => "  ",
        }
    }

    fn newline(&self) -> &'static str {
        if self.text.contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        }
    }

    /// If only white space precedes on the line: where the line end before it begins.
    fn own_line(&self, at: usize) -> Option<usize> {
        let before = self.text[..at].trim_end_matches([' ', '\t']);
        let without = before.strip_suffix('\n')?;
        Some(without.strip_suffix('\r').unwrap_or(without).len())
    }

    /// The position after the comments that end on the same line, or the given one.
    fn same_line_comments(&self, from: usize) -> usize {
        let mut end = from;
        let mut at = from;
        while let Some(rest) = self.text.get(at..) {
            let spaces = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            at += spaces;
            match skip_comment(&self.text, at) {
                Some(after) if !self.text[at..after].contains('\n') => {
                    at = after;
                    end = after;
                }
                _ => break,
            }
        }
        end
    }

    fn render(&self, value: &Value, indent: &str, lines: bool) -> String {
        let mut text = String::new();
        let style = Style {
            newline: self.newline(),
            unit: self.unit(),
            lines,
        };
        style.write(value, indent, &mut text);
        text
    }
}

/// How new values are written.
struct Style<'a> {
    newline: &'a str,
    unit: &'a str,
    lines: bool,
}

impl Style<'_> {
    /// Keys in their byte order, so that the same value always gives the same text.
    fn write(&self, value: &Value, indent: &str, text: &mut String) {
        match value {
            Value::Object(map) if !map.is_empty() => {
                let mut entries: Vec<_> = map.iter().collect();
                entries.sort_unstable_by(|left, right| left.0.cmp(right.0));
                self.write_parts(
                    ('{', '}'),
                    entries,
                    indent,
                    text,
                    |(name, entry), inner, text| {
                        text.push_str(&Value::from(name.as_str()).to_string());
                        text.push_str(": ");
                        self.write(entry, inner, text);
                    },
                );
            }
            Value::Array(items) if !items.is_empty() => {
                self.write_parts(('[', ']'), items, indent, text, |item, inner, text| {
                    self.write(item, inner, text);
                });
            }
            other => text.push_str(&other.to_string()),
        }
    }

    fn write_parts<T>(
        &self,
        (open, close): (char, char),
        parts: impl IntoIterator<Item = T>,
        indent: &str,
        text: &mut String,
        mut write: impl FnMut(T, &str, &mut String),
    ) {
        let inner = format!("{indent}{}", self.unit);
        text.push(open);
        for (index, part) in parts.into_iter().enumerate() {
            match (index, self.lines) {
                (0, false) => {}
                (0, true) => text.push_str(self.newline),
                (_, false) => text.push_str(", "),
                (_, true) => {
                    text.push(',');
                    text.push_str(self.newline);
                }
            }
            if self.lines {
                text.push_str(&inner);
            }
            write(part, &inner, text);
        }
        if self.lines {
            text.push_str(self.newline);
            text.push_str(indent);
        }
        text.push(close);
    }
}
