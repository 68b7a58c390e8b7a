//! Python: module-level classes and functions and their methods. What begins with `_` is private;
//! `__all__`, where a module has it, decides.

use tree_sitter::Node;

use super::{Doc, MAX_NESTING, Source, Symbol, SymbolKind, children, qualified};

pub(super) fn symbols(root: Node<'_>, source: &Source<'_>) -> Vec<Symbol> {
    let mut found = Vec::new();
    walk(root, source, "", true, 0, &mut found);
    if let Some(exported) = exported(root, source) {
        for symbol in &mut found {
            let top = symbol.name.split('.').next().unwrap_or_default();
            symbol.is_public &= exported.contains(&top);
        }
    }
    let module = module(source.path);
    let is_private = module
        .split('.')
        .any(|part| part.starts_with('_') && part != "__init__");
    if is_private {
        for symbol in &mut found {
            symbol.is_public = false;
        }
    } else if !module.is_empty() {
        let mut symbol = source.symbol(SymbolKind::Module, module, root);
        symbol.line = 1;
        symbol.end = 1;
        symbol.doc = docstring(root, source);
        found.push(symbol);
    }
    found
}

/// `pkg.part` for `src/pkg/part.py`.
fn module(path: &str) -> String {
    let path = path.strip_suffix(".py").unwrap_or(path);
    let path = path.strip_prefix("src/").unwrap_or(path);
    let path = path.strip_suffix("/__init__").unwrap_or(path);
    if matches!(path, "setup" | "conftest" | "__init__" | "__main__") {
        return String::new();
    }
    path.replace('/', ".")
}

fn walk(
    node: Node<'_>,
    source: &Source<'_>,
    outer: &str,
    is_public: bool,
    depth: usize,
    found: &mut Vec<Symbol>,
) {
    for child in children(node) {
        let definition = if child.kind() == "decorated_definition" {
            child.child_by_field_name("definition")
        } else {
            Some(child)
        };
        let Some(definition) = definition else {
            continue;
        };
        let kind = match definition.kind() {
            "class_definition" => SymbolKind::Class,
            "function_definition" => SymbolKind::Function,
            _ => continue,
        };
        let name = source.field(definition, "name");
        let body = definition.child_by_field_name("body");
        let mut symbol = source.symbol(kind, qualified(outer, ".", name), definition);
        symbol.doc = body.and_then(|body| docstring(body, source));
        symbol.is_public = is_public && !name.starts_with('_');
        symbol.is_test = kind == SymbolKind::Function && name.starts_with("test");
        let (inner_name, inner_public) = (symbol.name.clone(), symbol.is_public);
        found.push(symbol);
        if let (SymbolKind::Class, Some(body), true) = (kind, body, depth < MAX_NESTING) {
            walk(body, source, &inner_name, inner_public, depth + 1, found);
        }
    }
}

/// The text that opens a body.
fn docstring(body: Node<'_>, source: &Source<'_>) -> Option<Doc> {
    let first = children(body)
        .into_iter()
        .find(|child| child.kind() != "comment")?;
    let text = match first.kind() {
        "expression_statement" => first.named_child(0)?,
        _ => first,
    };
    if text.kind() != "string" {
        return None;
    }
    let raw = source
        .text_of(text)
        .trim_start_matches(['r', 'R', 'u', 'U', 'b', 'B', 'f', 'F']);
    let inner = raw
        .trim_start_matches(['"', '\''])
        .trim_end_matches(['"', '\'']);
    let start = text.start_position().row as u64 + 1;
    let lines: Vec<&str> = inner.lines().collect();
    let margin = lines
        .iter()
        .skip(1)
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    Doc::new(
        lines
            .iter()
            .zip(start..)
            .map(|(line, number)| {
                let said = if number == start {
                    *line
                } else {
                    line.get(margin..).unwrap_or_default()
                };
                (number, said.trim_end().to_owned())
            })
            .collect(),
    )
}

/// The names in `__all__ = [...]`, where it is a plain list.
fn exported<'a>(root: Node<'_>, source: &Source<'a>) -> Option<Vec<&'a str>> {
    let list = children(root)
        .into_iter()
        .filter(|child| child.kind() == "expression_statement")
        .filter_map(|statement| statement.named_child(0))
        .find(|assignment| {
            assignment.kind() == "assignment" && source.field(*assignment, "left") == "__all__"
        })?
        .child_by_field_name("right")?;
    if !matches!(list.kind(), "list" | "tuple") {
        return None;
    }
    Some(
        children(list)
            .into_iter()
            .map(|item| source.text_of(item).trim_matches(['"', '\'']))
            .collect(),
    )
}
