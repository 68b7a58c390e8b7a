//! C#: public types and their public methods.

use tree_sitter::Node;

use super::{MAX_NESTING, Source, Symbol, SymbolKind, add_with_members, children, doc, qualified};

pub(super) fn symbols(root: Node<'_>, source: &Source<'_>) -> Vec<Symbol> {
    let mut found = Vec::new();
    walk(root, source, "", false, 0, &mut found);
    found
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
            "namespace_declaration" | "file_scoped_namespace_declaration" => {
                let name = source.field(child, "name").to_owned();
                found.push(source.symbol(SymbolKind::Module, name, child));
                if let Some(module) = found.last_mut() {
                    module.end = module.line;
                }
                let body = child.child_by_field_name("body").unwrap_or(child);
                if depth < MAX_NESTING {
                    walk(body, source, outer, false, depth + 1, found);
                }
                continue;
            }
            "class_declaration"
            | "struct_declaration"
            | "interface_declaration"
            | "enum_declaration"
            | "record_declaration" => SymbolKind::Class,
            "method_declaration" => SymbolKind::Function,
            _ => continue,
        };
        let parts = children(child);
        let says = |word: &str| {
            parts
                .iter()
                .any(|part| part.kind() == "modifier" && source.text_of(*part) == word)
        };
        let name = qualified(outer, ".", source.field(child, "name"));
        let mut symbol = source.symbol(kind, name, child);
        symbol.is_public = says("public") || (in_interface && !says("private"));
        symbol.is_test = kind == SymbolKind::Function
            && parts.iter().any(|part| {
                part.kind() == "attribute_list"
                    && ["Test", "Fact", "Theory", "TestMethod"].contains(
                        &source
                            .text_of(*part)
                            .trim_matches(|c: char| !c.is_alphanumeric()),
                    )
            });
        symbol.doc = doc::xml_comments(source, symbol.line);
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
