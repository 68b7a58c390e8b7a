//! Java: public types and their public methods.

use tree_sitter::Node;

use super::{Source, Symbol, SymbolKind, add_with_members, children, doc, qualified};

pub(super) fn symbols(root: Node<'_>, source: &Source<'_>) -> Vec<Symbol> {
    let mut found = Vec::new();
    for child in children(root) {
        if child.kind() == "package_declaration" {
            let name = children(child)
                .into_iter()
                .last()
                .map_or("", |name| source.text_of(name));
            found.push(source.symbol(SymbolKind::Module, name.to_owned(), child));
        }
    }
    walk(root, source, "", false, 0, &mut found);
    found
}

fn modifiers<'a>(node: Node<'_>, source: &Source<'a>) -> &'a str {
    children(node)
        .into_iter()
        .find(|part| part.kind() == "modifiers")
        .map_or("", |part| source.text_of(part))
}

fn walk(
    node: Node<'_>,
    source: &Source<'_>,
    outer: &str,
    in_interface: bool,
    depth: usize,
    found: &mut Vec<Symbol>,
) {
    for child in children(node) {
        let kind = match child.kind() {
            "class_declaration"
            | "interface_declaration"
            | "enum_declaration"
            | "record_declaration"
            | "annotation_type_declaration" => SymbolKind::Class,
            "method_declaration" => SymbolKind::Function,
            "enum_body_declarations" => {
                walk(child, source, outer, in_interface, depth, found);
                continue;
            }
            _ => continue,
        };
        let modifiers = modifiers(child, source);
        let name = qualified(outer, ".", source.field(child, "name"));
        let mut symbol = source.symbol(kind, name, child);
        let says = |word: &str| modifiers.split_whitespace().any(|part| part == word);
        symbol.is_public = says("public") || (in_interface && !says("private"));
        symbol.is_test = kind == SymbolKind::Function
            && modifiers
                .split_whitespace()
                .any(|part| part == "@Test" || part.starts_with("@ParameterizedTest"));
        symbol.doc = doc::block_comment(source, symbol.line);
        add_with_members(
            symbol,
            child,
            depth,
            found,
            |body, name, in_interface, found| {
                walk(body, source, name, in_interface, depth + 1, found);
            },
        );
    }
}
