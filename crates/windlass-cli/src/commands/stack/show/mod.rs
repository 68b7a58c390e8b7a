//! Answers for people: one file per kind of view. Every view takes the operation's output as it
//! is and leaves out what is not there.

pub(super) mod chart;
pub(super) mod failure;
pub(super) mod plan;
pub(super) mod rows;

use std::cell::RefCell;

use serde_json::{Map, Value};
use windlass_text::without_escapes;

use crate::{
    flow::Channel,
    output::{Paint, Printer, Table, Tone, one_line},
};

/// Where a view goes.
pub(super) struct Screen<'a> {
    printer: &'a Printer,
    channel: Channel,
    /// Lines that are kept instead of printed.
    kept: Option<RefCell<Vec<String>>>,
}

impl<'a> Screen<'a> {
    /// What was asked for.
    pub(super) const fn data(printer: &'a Printer) -> Self {
        Self {
            printer,
            channel: Channel::Data,
            kept: None,
        }
    }

    /// What accompanies it.
    pub(super) const fn notice(printer: &'a Printer) -> Self {
        Self {
            printer,
            channel: Channel::Notice,
            kept: None,
        }
    }

    /// In addition to what was asked for.
    pub(super) const fn aside(&self) -> Self {
        Self::notice(self.printer)
    }

    /// What a person is asked about: kept, for the consent screen.
    pub(super) const fn kept(printer: &'a Printer) -> Self {
        Self {
            printer,
            channel: Channel::Notice,
            kept: Some(RefCell::new(Vec::new())),
        }
    }

    /// The lines that were kept.
    pub(super) fn into_lines(self) -> Vec<String> {
        self.kept.map(RefCell::into_inner).unwrap_or_default()
    }

    pub(super) fn paint(&self) -> Paint {
        match self.channel {
            Channel::Data => self.printer.paint(),
            Channel::Notice => self.printer.notice_paint(),
        }
    }

    /// A line; what came from outside cannot move the cursor.
    pub(super) fn line(&self, text: &str) {
        self.painted(&safe(text));
    }

    pub(super) fn toned(&self, tone: Tone, text: &str) {
        self.painted(&self.paint().text(tone, &safe(text)));
    }

    /// A line that is painted already.
    pub(super) fn painted(&self, text: &str) {
        match (&self.kept, self.channel) {
            (Some(kept), _) => kept.borrow_mut().push(text.to_owned()),
            (None, Channel::Data) => self.printer.data(text),
            (None, Channel::Notice) => self.printer.notice(text),
        }
    }

    /// Text of several lines.
    pub(super) fn block(&self, text: &str) {
        for line in text.lines() {
            self.line(line);
        }
    }

    pub(super) fn table(&self, table: &Table) {
        match (&self.kept, self.channel) {
            (Some(_), _) => {
                let text = table.render(self.paint(), self.printer.notice_width());
                text.lines().for_each(|line| self.painted(line));
            }
            (None, Channel::Data) => self.printer.table(table),
            (None, Channel::Notice) => self.printer.notice_table(table),
        }
    }

    /// JSON for people.
    pub(super) fn json(&self, value: &Value) {
        self.block(&format!("{value:#}"));
    }
}

/// One line without escapes.
pub(super) fn safe(text: &str) -> String {
    one_line(&without_escapes(text))
}

pub(super) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

pub(super) fn object<'a>(value: &'a Value, key: &str) -> Option<&'a Map<String, Value>> {
    value
        .get(key)
        .and_then(Value::as_object)
        .filter(|map| !map.is_empty())
}

pub(super) fn is(value: &Value, key: &str) -> bool {
    value.get(key) == Some(&Value::Bool(true))
}

/// A value in a cell: texts as they are, nothing for null.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// A day and a time, as far as they are there: `2026-02-12 10:00:01`.
pub(super) fn moment(value: &Value) -> String {
    let text = value.as_str().unwrap_or_default();
    match text.split_once('T') {
        Some((day, rest)) => {
            let time = rest.split(['.', 'Z', '+']).next().unwrap_or_default();
            format!("{day} {time}")
        }
        None => text.to_owned(),
    }
}

/// What an answer warns of.
pub(super) fn warnings(screen: &Screen<'_>, output: &Value) {
    for warning in list(output, "warnings") {
        let said = match warning.get("message") {
            Some(message) => shown(message),
            None => shown(warning),
        };
        screen.toned(Tone::Warn, &format!("warning: {said}"));
    }
}

/// How a status of CloudFormation is painted.
pub(super) fn status_tone(status: &str) -> Tone {
    match status {
        _ if status.contains("FAILED") || status.contains("ROLLBACK") => Tone::Bad,
        _ if status.ends_with("IN_PROGRESS") => Tone::Active,
        _ if status.ends_with("COMPLETE") => Tone::Good,
        _ => Tone::Plain,
    }
}

#[cfg(test)]
#[path = "../show_tests.rs"]
mod tests;
