//! Rust: what is `pub` without restriction, in modules that are.

use tree_sitter::Node;

use super::{MAX_NESTING, Source, Symbol, SymbolKind, children, doc, qualified};

pub(super) fn symbols(root: Node<'_>, source: &Source<'_>) -> Vec<Symbol> {
    let mut found = Vec::new();
    walk(root, source, "", true, 0, &mut found);
    found
}

fn is_pub(node: Node<'_>, source: &Source<'_>) -> bool {
    children(node)
        .into_iter()
        .any(|part| part.kind() == "visibility_modifier" && source.text_of(part) == "pub")
}

/// Whether an attribute directly above a definition says this.
fn has_attribute(source: &Source<'_>, line: u64, wanted: &str) -> bool {
    let above = usize::try_from(line.saturating_sub(1)).unwrap_or(0);
    source
        .lines
        .iter()
        .take(above)
        .rev()
        .map(|line| line.trim())
        .take_while(|line| line.starts_with("#[") || line.starts_with("///"))
        .any(|line| line.starts_with("#[") && line.contains(wanted))
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
        let kind = match child.kind() {
            "function_item" | "function_signature_item" => SymbolKind::Function,
            "struct_item" | "enum_item" | "trait_item" | "union_item" | "type_item" => {
                SymbolKind::Class
            }
            "mod_item" => SymbolKind::Module,
            "impl_item" if child.child_by_field_name("trait").is_none() => {
                let target = source.field(child, "type");
                let target = target.split('<').next().unwrap_or(target);
                if let (Some(body), true) = (child.child_by_field_name("body"), depth < MAX_NESTING)
                {
                    let name = qualified(outer, "::", target);
                    walk(body, source, &name, is_public, depth + 1, found);
                }
                continue;
            }
            _ => continue,
        };
        let name = qualified(outer, "::", source.field(child, "name"));
        let mut symbol = source.symbol(kind, name, child);
        let is_tests = has_attribute(source, symbol.line, "cfg(test)");
        // The methods of a trait are as public as the trait.
        symbol.is_public = is_public
            && !is_tests
            && (is_pub(child, source) || node.kind() == "declaration_list" && is_trait(node));
        symbol.is_test = has_attribute(source, symbol.line, "test]");
        symbol.doc = doc::line_comments(source, symbol.line, "///");
        let (name, inner_public) = (symbol.name.clone(), symbol.is_public);
        found.push(symbol);
        let goes_on = matches!(child.kind(), "mod_item" | "trait_item") && depth < MAX_NESTING;
        if let (Some(body), true) = (child.child_by_field_name("body"), goes_on) {
            walk(body, source, &name, inner_public, depth + 1, found);
        }
    }
}

fn is_trait(body: Node<'_>) -> bool {
    body.parent()
        .is_some_and(|parent| parent.kind() == "trait_item")
}
