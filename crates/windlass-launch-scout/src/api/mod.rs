//! What a product offers to code: public symbols, with their documentation, found with
//! tree-sitter. One file per language.
//!
//! Sources are parsed and never run.

mod csharp;
mod doc;
mod golang;
mod java;
mod javascript;
mod python;
mod rust;

use std::collections::BTreeSet;

use tree_sitter::Node;
use windlass_launch_model::facts::{ApiSurface, ApiSymbol};

pub(crate) use doc::Doc;

use crate::{
    addressed::gives_orders,
    secret::is_leaking,
    sentences::{first_sentence, is_safe, plain},
    syntax::parse,
};

/// How deep types within types are followed.
const MAX_NESTING: usize = 4;

/// What a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SymbolKind {
    Module,
    Class,
    Function,
}

/// A symbol of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Symbol {
    pub kind: SymbolKind,
    /// Qualified by its type where it has one.
    pub name: String,
    /// Where its definition begins and ends, from 1.
    pub line: u64,
    pub end: u64,
    pub doc: Option<Doc>,
    pub is_public: bool,
    pub is_test: bool,
}

/// A file being looked at.
pub(crate) struct Source<'a> {
    pub path: &'a str,
    pub text: &'a str,
    pub lines: Vec<&'a str>,
}

impl<'a> Source<'a> {
    fn new(path: &'a str, text: &'a str) -> Self {
        Self {
            path,
            text,
            lines: text.lines().collect(),
        }
    }

    /// What a node's bytes say.
    fn text_of(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// What a field of a node says.
    fn field(&self, node: Node<'_>, name: &str) -> &'a str {
        node.child_by_field_name(name)
            .map_or("", |child| self.text_of(child))
    }

    fn symbol(&self, kind: SymbolKind, name: String, node: Node<'_>) -> Symbol {
        Symbol {
            kind,
            name,
            line: node.start_position().row as u64 + 1,
            end: node.end_position().row as u64 + 1,
            doc: None,
            is_public: true,
            is_test: false,
        }
    }
}

/// The direct named children of a node.
fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

/// Adds a symbol and, where it is a type, the members `walk` finds in its body: given the body,
/// the type's name and whether it is an interface. Members of a hidden type are hidden.
fn add_with_members(
    symbol: Symbol,
    node: Node<'_>,
    depth: usize,
    found: &mut Vec<Symbol>,
    walk: impl FnOnce(Node<'_>, &str, bool, &mut Vec<Symbol>),
) {
    let (kind, name, is_public) = (symbol.kind, symbol.name.clone(), symbol.is_public);
    found.push(symbol);
    let body = node.child_by_field_name("body");
    if let (SymbolKind::Class, Some(body), true) = (kind, body, depth < MAX_NESTING) {
        let from = found.len();
        let is_interface = node.kind() == "interface_declaration";
        walk(body, &name, is_interface, found);
        if !is_public {
            for inner in &mut found[from..] {
                inner.is_public = false;
            }
        }
    }
}

/// `Outer.inner`, or `inner` where there is nothing around it.
fn qualified(outer: &str, separator: &str, name: &str) -> String {
    if outer.is_empty() {
        name.to_owned()
    } else {
        format!("{outer}{separator}{name}")
    }
}

/// The symbols of a file, in the order of their lines; none for a language without a parser.
pub(crate) fn symbols(language: &str, path: &str, text: &str) -> Vec<Symbol> {
    let Some(tree) = parse(language, text) else {
        return Vec::new();
    };
    let source = Source::new(path, text);
    let root = tree.root_node();
    let mut found = match language {
        "python" => python::symbols(root, &source),
        "javascript" | "typescript" | "tsx" => javascript::symbols(root, &source),
        "rust" => rust::symbols(root, &source),
        "go" => golang::symbols(root, &source),
        "java" => java::symbols(root, &source),
        "csharp" => csharp::symbols(root, &source),
        _ => Vec::new(),
    };
    // A member on the line of its type has the type's comment above it, not one of its own.
    let mut taken = BTreeSet::new();
    for symbol in &mut found {
        let first = symbol.doc.as_ref().map(|doc| doc.first_range().0);
        if first.is_some_and(|line| !taken.insert(line)) {
            symbol.doc = None;
        }
    }
    found.retain(|symbol| !symbol.name.is_empty() && symbol.name.len() <= 200);
    found.sort_by(|left, right| (left.line, &left.name).cmp(&(right.line, &right.name)));
    found
}

/// What a product offers, from the symbols of its source files.
pub(crate) fn surface<'a>(files: impl Iterator<Item = (&'a str, &'a [Symbol])>) -> ApiSurface {
    const MOST: usize = 2000;
    let mut surface = ApiSurface::default();
    for (path, symbols) in files {
        for symbol in symbols
            .iter()
            .filter(|symbol| symbol.is_public && !symbol.is_test)
        {
            let entry = ApiSymbol {
                name: symbol.name.clone(),
                path: path.to_owned(),
                line: symbol.line,
                summary: symbol.doc.as_ref().and_then(summary),
            };
            match symbol.kind {
                SymbolKind::Module => surface.modules.push(entry),
                SymbolKind::Class => surface.classes.push(entry),
                SymbolKind::Function => surface.functions.push(entry),
            }
        }
    }
    for list in [
        &mut surface.classes,
        &mut surface.functions,
        &mut surface.modules,
    ] {
        list.sort();
        // A package is one module, however many files it has.
        list.dedup_by(|next, first| next.name == first.name && next.path == first.path);
        list.truncate(MOST);
    }
    surface
        .modules
        .dedup_by(|next, first| next.name == first.name);
    surface
}

/// The first sentence of a documentation, if a page could show it.
pub(crate) fn summary(doc: &Doc) -> Option<String> {
    let paragraph = doc.first_paragraph();
    let text = plain(first_sentence(&paragraph));
    let is_fit = text.split_whitespace().count() >= 2 && text.len() <= 300 && is_safe(&text);
    (is_fit && !is_leaking(&text) && !gives_orders(&doc.text())).then_some(text)
}

#[cfg(test)]
#[path = "api_tests.rs"]
mod tests;
