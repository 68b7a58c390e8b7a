//! What is wrong with a config: where, what, and what to do about it.

use serde::Serialize;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;
use windlass_types::{Problem, code};

use crate::tree::{Path, Span};

/// So many faults are listed in a message; all of them are in the details.
const MOST_SHOWN: usize = 100;

/// What kind of fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The file is no YAML, or too large.
    Syntax,
    /// A key stands twice.
    DuplicateKey,
    /// An unknown property.
    UnknownProperty,
    /// A property that is known and not supported.
    UnsupportedProperty,
    /// A property that must be there.
    MissingProperty,
    /// A value of another type than is expected.
    WrongType,
    /// A value that is not allowed.
    InvalidValue,
    /// An unknown `type`, or one that is not supported.
    UnsupportedType,
    /// A name of something that does not exist.
    UnknownReference,
    /// A directive that is written wrong or cannot be resolved.
    Directive,
    /// Something to know; the config is usable.
    Warning,
}

/// One fault of a config.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The file.
    pub file: String,
    /// The line, from 1. None where a program made the config.
    pub line: Option<usize>,
    /// The column, from 1.
    pub column: Option<usize>,
    /// How many columns to point at.
    #[serde(skip)]
    pub(crate) width: usize,
    /// Where in the config.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What was probably meant, or what to do.
    pub suggestion: Option<String>,
    /// What kind of fault it is.
    pub kind: FaultKind,
}

impl Fault {
    pub(crate) fn new(
        kind: FaultKind,
        span: Option<Span>,
        path: &Path,
        message: impl Into<String>,
    ) -> Self {
        Self {
            file: String::new(),
            line: span.map(|span| span.start.line),
            column: span.map(|span| span.start.column),
            width: span.map_or(1, |span| {
                if span.end.line == span.start.line {
                    span.end.column.saturating_sub(span.start.column).max(1)
                } else {
                    1
                }
            }),
            path: path.to_string(),
            message: message.into(),
            suggestion: None,
            kind,
        }
    }

    pub(crate) fn suggest(mut self, suggestion: Option<impl Into<String>>) -> Self {
        self.suggestion = suggestion.map(Into::into);
        self
    }

    /// For people: the message, the place, the line with a caret, the suggestion.
    pub fn render(&self, text: &str) -> String {
        let word = match self.kind {
            FaultKind::Warning => "warning",
            _ => "error",
        };
        let mut out = format!("{word}: {}\n", self.message);
        let suggestion = self.suggestion.as_deref();
        let (Some(line), Some(column)) = (self.line, self.column) else {
            out.push_str(&format!("  --> {}\n", self.file));
            self.render_path(&mut out, "  ");
            if let Some(suggestion) = suggestion {
                out.push_str(&format!("  = help: {suggestion}\n"));
            }
            return out;
        };
        let gutter = line.to_string().len();
        out.push_str(&format!(
            "{:gutter$}--> {}:{line}:{column}\n",
            "", self.file
        ));
        if let Some(excerpt) = line_of(text, line) {
            let before: String = excerpt.chars().take(column - 1).collect();
            let pointed: String = excerpt.chars().skip(column - 1).take(self.width).collect();
            // Tabs keep their width by standing above themselves.
            let indent: String = before
                .chars()
                .map(|letter| match letter {
                    '\t' => "\t".to_owned(),
                    other => " ".repeat(other.to_string().width()),
                })
                .collect();
            let carets = "^".repeat(pointed.width().max(1));
            out.push_str(&format!("{:gutter$} |\n", ""));
            out.push_str(&format!("{line} | {excerpt}\n"));
            out.push_str(&format!("{:gutter$} | {indent}{carets}", ""));
            if let Some(suggestion) = suggestion {
                out.push_str(&format!(" {suggestion}"));
            }
            out.push('\n');
        } else if let Some(suggestion) = suggestion {
            out.push_str(&format!("{:gutter$} = help: {suggestion}\n", ""));
        }
        self.render_path(&mut out, &" ".repeat(gutter + 1));
        out
    }

    /// On one line: the place, the message, the suggestion.
    fn line(&self) -> String {
        let place = match (self.line, self.column) {
            (Some(line), Some(column)) => format!("{}:{line}:{column}", self.file),
            _ if self.path.is_empty() => self.file.clone(),
            _ => format!("{}: {}", self.file, self.path),
        };
        let hint = self.suggestion.iter().map(|text| format!("; {text}"));
        format!("{place}: {}{}", self.message, hint.collect::<String>())
    }

    fn render_path(&self, out: &mut String, indent: &str) {
        if !self.path.is_empty() {
            out.push_str(&format!("{indent}= at {}\n", self.path));
        }
    }
}

/// A line, from 1. As in YAML, a carriage return alone ends one too.
fn line_of(text: &str, number: usize) -> Option<&str> {
    let mut rest = text;
    for _ in 1..number {
        let end = rest.find(['\n', '\r'])?;
        let is_pair = rest[end..].starts_with("\r\n");
        rest = &rest[end + if is_pair { 2 } else { 1 }..];
    }
    let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
    (!rest.is_empty()).then(|| &rest[..end])
}

/// Every fault of a config, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults {
    /// The faults; at least one.
    pub list: Vec<Fault>,
    /// The file's text, for excerpts.
    text: String,
}

impl Faults {
    pub(crate) fn new(file: &str, text: &str, mut list: Vec<Fault>) -> Self {
        for fault in &mut list {
            file.clone_into(&mut fault.file);
        }
        list.sort_by_key(|fault| (fault.line, fault.column));
        list.dedup();
        Self {
            list,
            text: text.to_owned(),
        }
    }

    /// For people: each fault with its line, then how many there are.
    pub fn render(&self) -> String {
        let mut out = String::new();
        for fault in &self.list {
            out.push_str(&fault.render(&self.text));
            out.push('\n');
        }
        out.push_str(&match self.list.len() {
            1 => "1 error\n".to_owned(),
            many => format!("{many} errors\n"),
        });
        out
    }

    /// As a problem: every fault on a line of its own; the first one's place in the details, too.
    pub fn to_problem(&self) -> Problem {
        let Some(first) = self.list.first() else {
            return Problem::new(&code::INVALID_INPUT, "the config is invalid");
        };
        let message = match self.list.len() {
            1 => first.line(),
            many => {
                let lines = self.list.iter().take(MOST_SHOWN).map(Fault::line);
                let mut message = format!("{} has {many} errors:", first.file);
                lines.for_each(|line| message.push_str(&format!("\n  {line}")));
                if many > MOST_SHOWN {
                    message.push_str(&format!("\n  {} more", many - MOST_SHOWN));
                }
                message
            }
        };
        let reason = match first.kind {
            FaultKind::UnsupportedType if first.path.starts_with("resources.") => {
                "unsupported_resource_type"
            }
            FaultKind::Directive => "directive_error",
            _ => "config_invalid",
        };
        let faults: Vec<Value> = self.list.iter().map(|fault| json!(fault)).collect();
        Problem::new(&code::INVALID_INPUT, message)
            .with("reason", reason)
            .with("field", first.path.as_str())
            .with("file", first.file.as_str())
            .with("line", first.line)
            .with("column", first.column)
            .with("faults", faults)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_as_in_yaml() {
        let text = "one\ntwo\r\nthree\rfour\n\nsix";
        let lines: Vec<_> = (1..=7).map(|number| line_of(text, number)).collect();
        assert_eq!(
            lines,
            [
                Some("one"),
                Some("two"),
                Some("three"),
                Some("four"),
                Some(""),
                Some("six"),
                None
            ]
        );
        assert_eq!(line_of("", 1), None);
    }
}
