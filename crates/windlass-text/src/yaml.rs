//! YAML as a tree that knows where everything stands, so that errors name a line and edits can
//! leave the rest of a file alone. Reads one document; writes nothing.
//!
//! Scalars follow the core schema of YAML 1.2, so `yes` and `no` are texts. Merge keys (`<<`) are
//! not applied. Aliases are; what they expand to is bounded.

use std::{collections::HashMap, sync::Arc};

use serde_json::{Map, Number, Value};
use serde_saphyr::granit_parser::{Event, Marker, Parser, ScalarStyle, Span, StructureStyle};

/// Deeper nesting is refused.
const MAX_DEPTH: usize = 64;

/// A place in a text, counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
    /// Counted from 0, in bytes.
    pub byte: usize,
}

impl From<Marker> for Mark {
    fn from(marker: Marker) -> Self {
        Self {
            line: marker.line(),
            column: marker.col() + 1,
            byte: marker.byte_offset().unwrap_or_else(|| marker.index()),
        }
    }
}

/// A value at its place. Cloning shares the value.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where it begins.
    pub start: Mark,
    /// Where it ends.
    pub end: Mark,
    /// The last line that holds something of it.
    pub last_line: usize,
    /// Written as `*alias`; the value stands elsewhere.
    pub is_alias: bool,
    /// What it is.
    pub kind: Arc<Kind>,
    /// How many nodes it expands to.
    weight: usize,
}

/// What a value is.
#[derive(Debug)]
pub enum Kind {
    /// A scalar.
    Scalar {
        /// As it was written, without quotes.
        text: String,
        /// Whether it stands without quotes and tag, so that it may be more than a text.
        plain: bool,
    },
    /// A list.
    List {
        /// What is in it.
        items: Vec<Node>,
        /// Whether it is written between brackets.
        flow: bool,
    },
    /// A mapping.
    Map {
        /// As they were written; keys may repeat.
        entries: Vec<Entry>,
        /// Whether it is written between braces.
        flow: bool,
    },
}

/// A key and its value.
#[derive(Debug)]
pub struct Entry {
    /// The key as it was written, without quotes.
    pub key: String,
    /// Where the key begins.
    pub key_start: Mark,
    /// Where it ends.
    pub key_end: Mark,
    /// The value.
    pub value: Node,
}

/// Why a text is not one YAML document.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct YamlError {
    /// Where it begins.
    pub at: Mark,
    /// Where it ends.
    pub end: Mark,
    /// What is wrong.
    pub message: String,
}

impl YamlError {
    fn new(at: Mark, message: impl Into<String>) -> Self {
        Self {
            at,
            end: at,
            message: message.into(),
        }
    }

    fn until(self, end: Mark) -> Self {
        Self { end, ..self }
    }
}

impl Node {
    /// Nothing was written, or `null`.
    pub fn is_null(&self) -> bool {
        match &*self.kind {
            Kind::Scalar { text, plain: true } => is_null(text),
            _ => false,
        }
    }

    /// Nothing was written.
    fn is_blank(&self) -> bool {
        matches!(&*self.kind, Kind::Scalar { text, plain: true } if text.is_empty())
    }

    /// What it is, for messages.
    pub fn describe(&self) -> String {
        match &*self.kind {
            Kind::Scalar { .. } if self.is_null() => "nothing".to_owned(),
            Kind::Scalar { text, .. } => {
                let shown: String = text.chars().take(40).collect();
                format!("{shown:?}")
            }
            Kind::List { .. } => "a list".to_owned(),
            Kind::Map { .. } => "a mapping".to_owned(),
        }
    }

    /// A text. Numbers and booleans count as they were written.
    pub fn text(&self) -> Option<&str> {
        match &*self.kind {
            Kind::Scalar { text, .. } if !self.is_null() => Some(text),
            _ => None,
        }
    }

    /// A boolean written as one.
    pub fn boolean(&self) -> Option<bool> {
        match &*self.kind {
            Kind::Scalar { text, plain: true } => boolean(text),
            _ => None,
        }
    }

    /// An integer written as one.
    pub fn integer(&self) -> Option<i64> {
        match &*self.kind {
            Kind::Scalar { text, plain: true } => integer(text)?.as_i64(),
            _ => None,
        }
    }

    /// The items of a list.
    pub fn items(&self) -> Option<&[Self]> {
        match &*self.kind {
            Kind::List { items, .. } => Some(items),
            _ => None,
        }
    }

    /// The entries of a mapping.
    pub fn entries(&self) -> Option<&[Entry]> {
        match &*self.kind {
            Kind::Map { entries, .. } => Some(entries),
            _ => None,
        }
    }

    /// The last entry of a key.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries()?.iter().rev().find(|entry| entry.key == key)
    }

    /// Written between brackets or braces.
    pub fn is_flow(&self) -> bool {
        matches!(
            &*self.kind,
            Kind::List { flow: true, .. } | Kind::Map { flow: true, .. }
        )
    }

    /// The same value as JSON. Of repeated keys the last counts.
    pub fn to_json(&self) -> Value {
        match &*self.kind {
            Kind::Scalar { text, plain } => scalar(text, *plain),
            Kind::List { items, .. } => items.iter().map(Self::to_json).collect(),
            Kind::Map { entries, .. } => Value::Object(
                entries
                    .iter()
                    .map(|entry| (entry.key.clone(), entry.value.to_json()))
                    .collect::<Map<_, _>>(),
            ),
        }
    }
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

fn integer(text: &str) -> Option<Number> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (radix, digits) = match digits.get(..2) {
        Some("0x") => (16, &digits[2..]),
        Some("0o") => (8, &digits[2..]),
        _ => (10, digits),
    };
    // `007` and account ids with leading zeros are texts.
    if !digits.starts_with(|first: char| first.is_ascii_alphanumeric())
        || (radix == 10 && digits.len() > 1 && digits.starts_with('0'))
    {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    if negative {
        let value = 0_i64.checked_sub_unsigned(magnitude)?;
        Some(Number::from(value))
    } else {
        Some(Number::from(magnitude))
    }
}

fn float(text: &str) -> Option<Number> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let numeric = unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && unsigned
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte))
        && unsigned.contains(['.', 'e', 'E']);
    if numeric {
        Number::from_f64(text.parse().ok()?)
    } else {
        None
    }
}

/// The value of a scalar by the core schema; what JSON cannot hold stays text.
pub fn scalar(text: &str, plain: bool) -> Value {
    if !plain {
        return Value::String(text.to_owned());
    }
    if is_null(text) {
        return Value::Null;
    }
    if let Some(flag) = boolean(text) {
        return Value::Bool(flag);
    }
    match integer(text).or_else(|| float(text)) {
        Some(number) => Value::Number(number),
        None => Value::String(text.to_owned()),
    }
}

/// Whether a text written plain is read as itself, also by readers of older YAML.
pub fn resolves_to_text(text: &str) -> bool {
    matches!(scalar(text, true), Value::String(_)) && !text.starts_with("0b")
}

/// A collection being built.
struct Open {
    start: Mark,
    flow: bool,
    anchor: usize,
    last_line: usize,
    weight: usize,
    shape: Shape,
}

enum Shape {
    List(Vec<Node>),
    Map(Vec<Entry>, Option<Node>),
}

struct Builder {
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    root: Option<Node>,
    documents: usize,
    most: usize,
}

/// Reads one document of at most `most` values, its aliases expanded. An empty text is a blank
/// scalar.
pub fn parse(text: &str, most: usize) -> Result<Node, YamlError> {
    let mut builder = Builder {
        open: Vec::new(),
        anchors: HashMap::new(),
        root: None,
        documents: 0,
        most,
    };
    for event in Parser::new_from_str(text) {
        let (event, span) =
            event.map_err(|error| YamlError::new(Mark::from(*error.marker()), error.info()))?;
        builder.take(event, span)?;
    }
    Ok(builder.root.unwrap_or_else(|| {
        node(
            Mark {
                line: 1,
                column: 1,
                byte: 0,
            },
            Mark::default(),
            Kind::Scalar {
                text: String::new(),
                plain: true,
            },
        )
    }))
}

fn node(start: Mark, end: Mark, kind: Kind) -> Node {
    // A block scalar ends where the next line starts.
    let last_line = if end.column == 1 && end.line > start.line {
        end.line - 1
    } else {
        end.line.max(start.line)
    };
    Node {
        start,
        end,
        last_line,
        is_alias: false,
        kind: Arc::new(kind),
        weight: 1,
    }
}

impl Builder {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), YamlError> {
        let (start, end) = (Mark::from(span.start), Mark::from(span.end));
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    let message = "a second document starts here; one is allowed";
                    return Err(YamlError::new(start, message).until(end));
                }
            }
            Event::Alias(id) => {
                let target = self.anchors.get(&id).ok_or_else(|| {
                    let message = "this alias is inside what it refers to";
                    YamlError::new(start, message).until(end)
                })?;
                let node = Node {
                    start,
                    end,
                    last_line: end.line,
                    is_alias: true,
                    kind: Arc::clone(&target.kind),
                    weight: target.weight,
                };
                self.place(node, 0)?;
            }
            Event::Scalar(text, style, anchor, tag) => {
                let forced = tag.is_some_and(|tag| tag.is_yaml_core_schema_tag("str"));
                let kind = Kind::Scalar {
                    text: text.into_owned(),
                    plain: style == ScalarStyle::Plain && !forced,
                };
                self.place(node(start, end, kind), anchor)?;
            }
            Event::SequenceStart(style, anchor, _) => {
                self.open(start, style, anchor, Shape::List(Vec::new()))?;
            }
            Event::MappingStart(style, anchor, _) => {
                self.open(start, style, anchor, Shape::Map(Vec::new(), None))?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(end)?,
            _ => {}
        }
        Ok(())
    }

    fn open(
        &mut self,
        start: Mark,
        style: StructureStyle,
        anchor: usize,
        shape: Shape,
    ) -> Result<(), YamlError> {
        if self.open.len() == MAX_DEPTH {
            return Err(YamlError::new(
                start,
                format!("nested more than {MAX_DEPTH} levels deep"),
            ));
        }
        self.open.push(Open {
            start,
            flow: style == StructureStyle::Flow,
            anchor,
            last_line: start.line,
            weight: 1,
            shape,
        });
        Ok(())
    }

    fn close(&mut self, end: Mark) -> Result<(), YamlError> {
        let Some(open) = self.open.pop() else {
            return Ok(());
        };
        let flow = open.flow;
        let kind = match open.shape {
            Shape::List(items) => Kind::List { items, flow },
            Shape::Map(entries, _) => Kind::Map { entries, flow },
        };
        let closed = Node {
            start: open.start,
            end,
            last_line: if flow { end.line } else { open.last_line },
            is_alias: false,
            kind: Arc::new(kind),
            weight: open.weight,
        };
        self.place(closed, open.anchor)
    }

    fn place(&mut self, node: Node, anchor: usize) -> Result<(), YamlError> {
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        let Some(parent) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        parent.weight = parent.weight.saturating_add(node.weight);
        if parent.weight > self.most {
            let most = self.most;
            let message = match node.is_alias {
                true => format!("the aliases expand to more than {most} values"),
                false => format!("there are more than {most} values"),
            };
            return Err(YamlError::new(node.start, message).until(node.end));
        }
        if !node.is_blank() {
            parent.last_line = parent.last_line.max(node.last_line);
        }
        match &mut parent.shape {
            Shape::List(items) => items.push(node),
            Shape::Map(entries, pending) => match pending.take() {
                None => *pending = Some(node),
                Some(key) => {
                    let Kind::Scalar { text, .. } = &*key.kind else {
                        let message = format!("{} cannot be a key", key.describe());
                        return Err(YamlError::new(key.start, message).until(key.end));
                    };
                    entries.push(Entry {
                        key: text.clone(),
                        key_start: key.start,
                        key_end: key.end,
                        value: node,
                    });
                }
            },
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "yaml_tests.rs"]
mod tests;
