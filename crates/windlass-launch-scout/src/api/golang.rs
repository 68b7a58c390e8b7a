//! Go: what begins with a capital letter, outside `internal` packages.

use tree_sitter::Node;

use super::{Source, Symbol, SymbolKind, children, doc, qualified};

pub(super) fn symbols(root: Node<'_>, source: &Source<'_>) -> Vec<Symbol> {
    let mut found = Vec::new();
    let is_internal = source.path.split('/').any(|part| part == "internal");
    for child in children(root) {
        match child.kind() {
            "package_clause" => {
                let name = child.named_child(0).map_or("", |name| source.text_of(name));
                push(
                    SymbolKind::Module,
                    name.to_owned(),
                    child,
                    source,
                    &mut found,
                );
                if let Some(module) = found.last_mut() {
                    module.is_public = name != "main";
                }
            }
            "function_declaration" => {
                let name = source.field(child, "name").to_owned();
                push(SymbolKind::Function, name, child, source, &mut found);
            }
            "method_declaration" => {
                let receiver = source
                    .field(child, "receiver")
                    .trim_matches(['(', ')'])
                    .rsplit([' ', '*'])
                    .next()
                    .unwrap_or_default();
                let receiver = receiver.split('[').next().unwrap_or(receiver);
                let name = qualified(receiver, ".", source.field(child, "name"));
                push(SymbolKind::Function, name, child, source, &mut found);
            }
            "type_declaration" => {
                for spec in children(child) {
                    let name = source.field(spec, "name").to_owned();
                    push(SymbolKind::Class, name, spec, source, &mut found);
                }
            }
            _ => {}
        }
    }
    if is_internal {
        for symbol in &mut found {
            symbol.is_public = false;
        }
    }
    found
}

fn push(
    kind: SymbolKind,
    name: String,
    node: Node<'_>,
    source: &Source<'_>,
    found: &mut Vec<Symbol>,
) {
    let mut symbol = source.symbol(kind, name, node);
    symbol.doc = doc::line_comments(source, symbol.line, "//");
    symbol.is_public = symbol
        .name
        .split('.')
        .all(|part| part.starts_with(char::is_uppercase));
    symbol.is_test = kind == SymbolKind::Function
        && source.path.ends_with("_test.go")
        && (symbol.name.starts_with("Test") || symbol.name.starts_with("Example"));
    found.push(symbol);
}
