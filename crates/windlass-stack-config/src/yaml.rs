//! YAML read into a tree with places. One document, of bounded size and depth.
//!
//! Scalars follow the core schema of YAML 1.2, so `yes` and `no` are texts. Aliases are expanded,
//! bounded; merge keys (`<<`) are applied, a mapping's own keys first.

use std::collections::HashMap;

use serde_json::Number;
use serde_saphyr::granit_parser::{Event, Marker, Parser, ScalarStyle, Span as Found};

use crate::fault::{Fault, FaultKind};
use crate::tree::{Entry, Kind, Node, Path, Place, Span, Step};
use crate::value::RUNTIME_KEY;

/// A larger file is refused.
pub(crate) const MAX_BYTES: usize = 1024 * 1024;
/// Deeper nesting is refused.
const MAX_DEPTH: usize = 64;
/// More values, aliases expanded, are refused.
pub(crate) const MAX_NODES: usize = 100_000;

/// Reads one document. Faults that leave a tree behind are added; others end the reading.
pub(crate) fn parse(text: &str, faults: &mut Vec<Fault>) -> Result<Node, Box<Fault>> {
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes; {MAX_BYTES} are allowed", text.len());
        return Err(syntax(None, message));
    }
    let mut builder = Builder {
        open: Vec::new(),
        anchors: HashMap::new(),
        root: None,
        documents: 0,
        nodes: 0,
        faults,
    };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let start = place(*error.marker());
            syntax(Some(Span { start, end: start }), error.info())
        })?;
        builder.take(event, span)?;
    }
    Ok(builder.root.unwrap_or_default())
}

fn syntax(span: Option<Span>, message: impl Into<String>) -> Box<Fault> {
    Box::new(Fault::new(
        FaultKind::Syntax,
        span,
        &Path::default(),
        message,
    ))
}

fn place(marker: Marker) -> Place {
    Place {
        line: marker.line().max(1),
        column: marker.col() + 1,
    }
}

/// A collection being built.
struct Open {
    start: Place,
    anchor: usize,
    weight: usize,
    shape: Shape,
}

enum Shape {
    List(Vec<Node>),
    Map {
        entries: Vec<Entry>,
        merged: Vec<Node>,
        pending: Option<Node>,
    },
}

struct Builder<'a> {
    open: Vec<Open>,
    anchors: HashMap<usize, (Node, usize)>,
    root: Option<Node>,
    documents: usize,
    nodes: usize,
    faults: &'a mut Vec<Fault>,
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, found: Found) -> Result<(), Box<Fault>> {
        let span = Span {
            start: place(found.start),
            end: place(found.end),
        };
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    let message = "a second document starts here; one is allowed";
                    return Err(syntax(Some(span), message));
                }
            }
            Event::Alias(id) => {
                let Some((target, weight)) = self.anchors.get(&id) else {
                    let message = "this alias is inside what it refers to";
                    return Err(syntax(Some(span), message));
                };
                let weight = *weight;
                self.nodes = self.nodes.saturating_add(weight);
                if self.nodes > MAX_NODES {
                    let message = format!("the aliases expand to more than {MAX_NODES} values");
                    return Err(syntax(Some(span), message));
                }
                let node = target.clone();
                self.put(node, weight, 0, span)?;
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.count(span)?;
                let is_text = style != ScalarStyle::Plain
                    || tag.is_some_and(|tag| tag.is_yaml_core_schema_tag("str"));
                let kind = scalar(text.into_owned(), is_text);
                self.put(Node::new(Some(span), kind), 1, anchor, span)?;
            }
            Event::SequenceStart(_, anchor, _) => {
                self.open(span, anchor, Shape::List(Vec::new()))?;
            }
            Event::MappingStart(_, anchor, _) => {
                let shape = Shape::Map {
                    entries: Vec::new(),
                    merged: Vec::new(),
                    pending: None,
                };
                self.open(span, anchor, shape)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span)?,
            _ => {}
        }
        Ok(())
    }

    fn count(&mut self, span: Span) -> Result<(), Box<Fault>> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            let message = format!("the file has more than {MAX_NODES} values");
            return Err(syntax(Some(span), message));
        }
        Ok(())
    }

    fn open(&mut self, span: Span, anchor: usize, shape: Shape) -> Result<(), Box<Fault>> {
        self.count(span)?;
        if self.open.len() == MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} levels deep");
            return Err(syntax(Some(span), message));
        }
        self.open.push(Open {
            start: span.start,
            anchor,
            weight: 1,
            shape,
        });
        Ok(())
    }

    fn close(&mut self, span: Span) -> Result<(), Box<Fault>> {
        let Some(open) = self.open.pop() else {
            return Ok(());
        };
        let kind = match open.shape {
            Shape::List(items) => Kind::List(items),
            Shape::Map {
                mut entries,
                merged,
                ..
            } => {
                for source in merged {
                    merge(&mut entries, source);
                }
                Kind::Map(entries)
            }
        };
        let whole = Span {
            start: open.start,
            end: span.end,
        };
        self.put(
            Node::new(Some(whole), kind),
            open.weight,
            open.anchor,
            whole,
        )
    }

    /// Puts a finished value where it belongs. `span` is where it was written.
    fn put(
        &mut self,
        node: Node,
        weight: usize,
        anchor: usize,
        span: Span,
    ) -> Result<(), Box<Fault>> {
        if anchor != 0 {
            self.anchors.insert(anchor, (node.clone(), weight));
        }
        let path = self.path();
        let Some(parent) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        parent.weight = parent.weight.saturating_add(weight);
        match &mut parent.shape {
            Shape::List(items) => items.push(node),
            Shape::Map {
                entries,
                merged,
                pending,
            } => match pending.take() {
                None => *pending = Some(node),
                Some(key) => {
                    let key_span = key.span;
                    let name = match key.kind {
                        Kind::String(text) => text,
                        Kind::Number(number) => number.to_string(),
                        Kind::Bool(flag) => flag.to_string(),
                        Kind::Null => "null".to_owned(),
                        _ => {
                            let message = format!("{} cannot be a key", key.describe());
                            return Err(syntax(key_span, message));
                        }
                    };
                    if name == "<<" {
                        merged.push(node);
                        return Ok(());
                    }
                    let path = path.key(&name);
                    if name == RUNTIME_KEY {
                        let message = format!("{RUNTIME_KEY} is a reserved key");
                        let fault = Fault::new(FaultKind::Syntax, key_span, &path, message);
                        return Err(Box::new(fault));
                    }
                    if let Some(first) = entries.iter().find(|entry| entry.key == name) {
                        let first = first.key_span.map_or(0, |span| span.start.line);
                        let message = format!(
                            "the key \"{name}\" is repeated here; it is also on line {first}"
                        );
                        self.faults.push(Fault::new(
                            FaultKind::DuplicateKey,
                            key_span,
                            &path,
                            message,
                        ));
                        return Ok(());
                    }
                    entries.push(Entry {
                        key: name,
                        key_span: key_span.or(Some(span)),
                        value: node,
                    });
                }
            },
        }
        Ok(())
    }

    /// Where the innermost open collection is.
    fn path(&self) -> Path {
        let mut steps = Vec::new();
        for open in self.open.iter().take(self.open.len().saturating_sub(1)) {
            match &open.shape {
                Shape::List(items) => steps.push(Step::Index(items.len())),
                Shape::Map {
                    pending:
                        Some(Node {
                            kind: Kind::String(key),
                            ..
                        }),
                    ..
                } => steps.push(Step::Key(key.clone())),
                Shape::Map { .. } => {}
            }
        }
        Path(steps)
    }
}

/// Adds what a merge key names: a mapping, or a list of them, earlier ones first.
fn merge(entries: &mut Vec<Entry>, source: Node) {
    match source.kind {
        Kind::Map(more) => {
            for entry in more {
                if !entries.iter().any(|own| own.key == entry.key) {
                    entries.push(entry);
                }
            }
        }
        Kind::List(items) => {
            for item in items {
                merge(entries, item);
            }
        }
        _ => {}
    }
}

/// A scalar by the core schema; what JSON cannot hold stays a text.
fn scalar(text: String, is_text: bool) -> Kind {
    if is_text {
        return Kind::String(text);
    }
    match text.as_str() {
        "" | "~" | "null" | "Null" | "NULL" => return Kind::Null,
        "true" | "True" | "TRUE" => return Kind::Bool(true),
        "false" | "False" | "FALSE" => return Kind::Bool(false),
        _ => {}
    }
    match integer(&text).or_else(|| float(&text)) {
        Some(number) => Kind::Number(number),
        None => Kind::String(text),
    }
}

fn integer(text: &str) -> Option<Number> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match rest.get(..2) {
        Some("0x") => (16, &rest[2..]),
        Some("0o") => (8, &rest[2..]),
        _ => (10, rest),
    };
    // `007` and account ids with leading zeros are texts.
    let leading_zero = radix == 10 && digits.len() > 1 && digits.starts_with('0');
    if leading_zero || !digits.starts_with(|first: char| first.is_ascii_alphanumeric()) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    if negative {
        0_i64.checked_sub_unsigned(magnitude).map(Number::from)
    } else {
        Some(Number::from(magnitude))
    }
}

fn float(text: &str) -> Option<Number> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let looks_like_one = unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && unsigned
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte))
        && unsigned.contains(['.', 'e', 'E']);
    if looks_like_one {
        Number::from_f64(text.parse().ok()?)
    } else {
        None
    }
}
