//! What a product offers to code: public symbols, with their documentation, found with
//! tree-sitter. One file per language.
//!
//! Sources are parsed and never run. A parse is bounded in work, not in time, so that the same
//! file gives the same symbols on every machine.

mod csharp;
mod doc;
mod golang;
mod java;
mod javascript;
mod python;
mod rust;

use std::{collections::BTreeSet, ops::ControlFlow};

use tree_sitter::{Language, Node, ParseOptions, Parser, Tree as SyntaxTree};
use windlass_launch_model::facts::{ApiSurface, ApiSymbol};

pub(crate) use doc::Doc;

use crate::sentences::{first_sentence, is_safe, plain};

/// How often a parser may report before it is stopped: about a hundred operations each.
const MAX_REPORTS: u32 = 400_000;

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

/// `Outer.inner`, or `inner` where there is nothing around it.
fn qualified(outer: &str, separator: &str, name: &str) -> String {
    if outer.is_empty() {
        name.to_owned()
    } else {
        format!("{outer}{separator}{name}")
    }
}

fn grammar(language: &str) -> Option<Language> {
    Some(match language {
        "python" => tree_sitter_python::LANGUAGE.into(),
        "javascript" | "jsx" => tree_sitter_javascript::LANGUAGE.into(),
        "typescript" => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        "tsx" => tree_sitter_typescript::LANGUAGE_TSX.into(),
        "rust" => tree_sitter_rust::LANGUAGE.into(),
        "go" => tree_sitter_go::LANGUAGE.into(),
        "java" => tree_sitter_java::LANGUAGE.into(),
        "csharp" => tree_sitter_c_sharp::LANGUAGE.into(),
        _ => return None,
    })
}

fn parse(language: &str, text: &str) -> Option<SyntaxTree> {
    let mut parser = Parser::new();
    parser.set_language(&grammar(language)?).ok()?;
    let bytes = text.as_bytes();
    let mut reports = 0_u32;
    let mut progress = |_: &tree_sitter::ParseState| {
        reports += 1;
        if reports > MAX_REPORTS {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    parser.parse_with_options(
        &mut |offset, _| bytes.get(offset..).unwrap_or_default(),
        None,
        Some(options),
    )
}

/// Whether code parses; `None` for a language without a parser.
///
/// Examples in documentation are often pieces: for Java, C#, Go and Rust statements are tried
/// inside a function, too.
pub fn syntax_ok(language: &str, code: &str) -> Option<bool> {
    grammar(language)?;
    let parses =
        |code: &str| parse(language, code).is_some_and(|tree| !tree.root_node().has_error());
    let wrapped = match language {
        "java" | "csharp" => Some(format!("class Example {{ void example() {{\n{code}\n}} }}")),
        "go" => Some(format!("package example\nfunc example() {{\n{code}\n}}")),
        "rust" => Some(format!("async fn example() {{\n{code}\n}}")),
        _ => None,
    };
    Some(parses(code) || wrapped.is_some_and(|wrapped| parses(&wrapped)))
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
    (text.split_whitespace().count() >= 2 && text.len() <= 300 && is_safe(&text)).then_some(text)
}

#[cfg(test)]
#[path = "api_tests.rs"]
mod tests;
