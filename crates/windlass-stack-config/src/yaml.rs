//! A config file of YAML as a tree with places. One document, of bounded size and depth.
//!
//! Merge keys (`<<`) are applied, a mapping's own keys first.

use std::collections::HashMap;

use serde_json::Value;
use windlass_text::yaml::{self, Mark, YamlError};

use crate::fault::{Fault, FaultKind};
use crate::tree::{Entry, Kind, Node, Path, Place, Span};
use crate::value::RUNTIME_KEY;

/// A larger file is refused.
pub(crate) const MAX_BYTES: usize = 1024 * 1024;
/// More values, aliases expanded, are refused.
pub(crate) const MAX_NODES: usize = 100_000;

/// Reads one document. Faults that leave a tree behind are added; others end the reading.
pub(crate) fn parse(text: &str, faults: &mut Vec<Fault>) -> Result<Node, Box<Fault>> {
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes; {MAX_BYTES} are allowed", text.len());
        return Err(syntax(None, message));
    }
    let root = yaml::parse(text, MAX_NODES).map_err(|YamlError { at, end, message }| {
        syntax(Some(span(place(at), place(end))), message)
    })?;
    Reader { faults }.node(&root, &Path::default())
}

fn syntax(span: Option<Span>, message: impl Into<String>) -> Box<Fault> {
    Box::new(Fault::new(
        FaultKind::Syntax,
        span,
        &Path::default(),
        message,
    ))
}

fn place(mark: Mark) -> Place {
    Place {
        line: mark.line.max(1),
        column: mark.column,
    }
}

const fn span(start: Place, end: Place) -> Span {
    Span { start, end }
}

struct Reader<'a> {
    faults: &'a mut Vec<Fault>,
}

impl Reader<'_> {
    fn node(&mut self, found: &yaml::Node, path: &Path) -> Result<Node, Box<Fault>> {
        let kind = match &*found.kind {
            yaml::Kind::Scalar { text, plain } => match yaml::scalar(text, *plain) {
                Value::Bool(flag) => Kind::Bool(flag),
                Value::Number(number) => Kind::Number(number),
                Value::String(text) => Kind::String(text),
                _ => Kind::Null,
            },
            yaml::Kind::List { items, .. } => {
                let items = items.iter().enumerate();
                let nodes = items.map(|(index, item)| self.node(item, &path.index(index)));
                Kind::List(nodes.collect::<Result<_, _>>()?)
            }
            yaml::Kind::Map { entries, .. } => Kind::Map(self.entries(entries, path)?),
        };
        // An empty text has no place to point at.
        let is_somewhere = found.end != Mark::default();
        let span = is_somewhere.then(|| span(place(found.start), place(found.end)));
        Ok(Node::new(span, kind))
    }

    fn entries(&mut self, found: &[yaml::Entry], path: &Path) -> Result<Vec<Entry>, Box<Fault>> {
        let mut entries = Vec::with_capacity(found.len());
        let mut lines: HashMap<String, usize> = HashMap::with_capacity(found.len());
        let mut merged = Vec::new();
        for entry in found {
            let name = &entry.key;
            if name == "<<" {
                merged.push(self.node(&entry.value, path)?);
                continue;
            }
            let key_span = Some(span(place(entry.key_start), place(entry.key_end)));
            let path = path.key(name);
            if name == RUNTIME_KEY {
                let message = format!("{RUNTIME_KEY} is a reserved key");
                let fault = Fault::new(FaultKind::Syntax, key_span, &path, message);
                return Err(Box::new(fault));
            }
            if let Some(first) = lines.get(name) {
                let message =
                    format!("the key \"{name}\" is repeated here; it is also on line {first}");
                let fault = Fault::new(FaultKind::DuplicateKey, key_span, &path, message);
                self.faults.push(fault);
                continue;
            }
            lines.insert(name.clone(), place(entry.key_start).line);
            entries.push(Entry {
                key: name.clone(),
                key_span,
                value: self.node(&entry.value, &path)?,
            });
        }
        for source in merged {
            merge(&mut entries, &mut lines, source);
        }
        Ok(entries)
    }
}

/// Adds what a merge key names: a mapping, or a list of them, earlier ones first.
fn merge(entries: &mut Vec<Entry>, lines: &mut HashMap<String, usize>, source: Node) {
    match source.kind {
        Kind::Map(more) => {
            for entry in more {
                if lines.insert(entry.key.clone(), 0).is_none() {
                    entries.push(entry);
                }
            }
        }
        Kind::List(items) => {
            for item in items {
                merge(entries, lines, item);
            }
        }
        _ => {}
    }
}
