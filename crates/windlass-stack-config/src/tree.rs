//! A config as a tree in which every key and value knows where it stands.
//!
//! Directives are still texts in it, or, after they were resolved, values and runtime values.

use std::fmt;

use serde_json::{Map, Number, Value};

use crate::value::Runtime;

/// A place in a file, both counted from 1; columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// From one place to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where it begins.
    pub start: Place,
    /// Where it ends.
    pub end: Place,
}

/// A value at its place. What a program produced has none.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where it stands.
    pub span: Option<Span>,
    /// What it is.
    pub kind: Kind,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Nothing, or `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    String(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in the order it was written. Keys are unique.
    Map(Vec<Entry>),
    /// A value that AWS fills in.
    Runtime(Box<Runtime>),
    /// What a directive that failed stands for; its fault is recorded, and nothing else is said.
    Broken,
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub key_span: Option<Span>,
    /// The value.
    pub value: Node,
}

impl Node {
    /// A value at a place.
    pub fn new(span: Option<Span>, kind: Kind) -> Self {
        Self { span, kind }
    }

    /// JSON as a tree, all of it at one place.
    pub fn from_json(value: Value, span: Option<Span>) -> Self {
        let kind = match value {
            Value::Null => Kind::Null,
            Value::Bool(flag) => Kind::Bool(flag),
            Value::Number(number) => Kind::Number(number),
            Value::String(text) => Kind::String(text),
            Value::Array(items) => Kind::List(
                items
                    .into_iter()
                    .map(|item| Self::from_json(item, span))
                    .collect(),
            ),
            Value::Object(entries) => Kind::Map(
                entries
                    .into_iter()
                    .map(|(key, value)| Entry {
                        key,
                        key_span: span,
                        value: Self::from_json(value, span),
                    })
                    .collect(),
            ),
        };
        Self { span, kind }
    }

    /// As JSON; runtime values in their marked form.
    pub fn to_json(&self) -> Value {
        match &self.kind {
            Kind::Null | Kind::Broken => Value::Null,
            Kind::Bool(flag) => Value::Bool(*flag),
            Kind::Number(number) => Value::Number(number.clone()),
            Kind::String(text) => Value::String(text.clone()),
            Kind::List(items) => items.iter().map(Self::to_json).collect(),
            Kind::Map(entries) => Value::Object(
                entries
                    .iter()
                    .map(|entry| (entry.key.clone(), entry.value.to_json()))
                    .collect::<Map<_, _>>(),
            ),
            Kind::Runtime(runtime) => runtime.to_marked(),
        }
    }

    /// The same value, all of it at another place.
    pub fn moved(mut self, span: Option<Span>) -> Self {
        self.span = span;
        match &mut self.kind {
            Kind::List(items) => {
                for item in items {
                    *item = std::mem::take(item).moved(span);
                }
            }
            Kind::Map(entries) => {
                for entry in entries {
                    entry.key_span = span;
                    entry.value = std::mem::take(&mut entry.value).moved(span);
                }
            }
            _ => {}
        }
        self
    }

    /// The entries of a mapping; none of anything else.
    pub fn entries(&self) -> &[Entry] {
        match &self.kind {
            Kind::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a list; none of anything else.
    pub fn items(&self) -> &[Self] {
        match &self.kind {
            Kind::List(items) => items,
            _ => &[],
        }
    }

    /// The entry of a key.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// A text.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::String(text) => Some(text),
            _ => None,
        }
    }

    /// What it is, for messages.
    pub fn describe(&self) -> String {
        match &self.kind {
            Kind::Null => "nothing".to_owned(),
            Kind::Bool(flag) => format!("the boolean {flag}"),
            Kind::Number(number) => format!("the number {number}"),
            Kind::String(text) => format!("the text {}", shown(text)),
            Kind::List(_) => "a list".to_owned(),
            Kind::Map(_) => "a mapping".to_owned(),
            Kind::Runtime(runtime) => format!("${}", runtime.directive()),
            Kind::Broken => "a directive that failed".to_owned(),
        }
    }

    /// Whether a part of it is a directive that failed.
    pub fn is_broken(&self) -> bool {
        match &self.kind {
            Kind::Broken => true,
            Kind::List(items) => items.iter().any(Self::is_broken),
            Kind::Map(entries) => entries.iter().any(|entry| entry.value.is_broken()),
            _ => false,
        }
    }

    /// Where a path leads, or the nearest place before it.
    pub fn locate(&self, path: &Path) -> Option<Span> {
        let mut node = self;
        let mut span = self.span;
        for step in &path.0 {
            let next = match step {
                Step::Key(key) => node.get(key),
                Step::Index(index) => node.items().get(*index),
            };
            match next {
                Some(next) => {
                    node = next;
                    span = next.span.or(span);
                }
                None => break,
            }
        }
        span
    }
}

impl Default for Node {
    fn default() -> Self {
        Self {
            span: None,
            kind: Kind::Null,
        }
    }
}

/// A text as it is shown in messages: quoted, and cut when long.
pub(crate) fn shown(text: &str) -> String {
    let mut cut: String = text.chars().take(40).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    format!("{cut:?}")
}

/// Where in a config something is.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(pub Vec<Step>);

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// A key of a mapping.
    Key(String),
    /// An item of a list.
    Index(usize),
}

impl Path {
    /// The path one key further.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        let mut steps = self.0.clone();
        steps.push(Step::Key(key.to_owned()));
        Self(steps)
    }

    /// The path one item further.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        let mut steps = self.0.clone();
        steps.push(Step::Index(index));
        Self(steps)
    }

    /// The path of several keys.
    pub fn of(keys: &[&str]) -> Self {
        Self(
            keys.iter()
                .map(|key| Step::Key((*key).to_owned()))
                .collect(),
        )
    }

    /// The name of the resource it is in.
    pub fn resource(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Step::Key(section), Step::Key(name), ..] if section == "resources" => Some(name),
            _ => None,
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if position == 0 => write!(out, "{key}")?,
                Step::Key(key) => write!(out, ".{key}")?,
                Step::Index(index) => write!(out, "[{index}]")?,
            }
        }
        Ok(())
    }
}
