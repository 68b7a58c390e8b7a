//! JavaScript and TypeScript: what a module exports, by `export` or by `module.exports`.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::{Source, Symbol, SymbolKind, children, doc, qualified};

pub(super) fn symbols(root: Node<'_>, source: &Source<'_>) -> Vec<Symbol> {
    let mut found = Vec::new();
    let mut exported: BTreeSet<&str> = BTreeSet::new();
    for child in children(root) {
        match child.kind() {
            "export_statement" => {
                if let Some(declaration) = child.child_by_field_name("declaration") {
                    declare(declaration, child, source, true, &mut found);
                }
                for clause in children(child) {
                    if clause.kind() == "export_clause" {
                        exported.extend(
                            children(clause)
                                .into_iter()
                                .map(|specifier| source.field(specifier, "name")),
                        );
                    }
                }
            }
            "expression_statement" => {
                if let Some(inner) = child.named_child(0) {
                    match inner.kind() {
                        "assignment_expression" => common_js(inner, source, &mut exported),
                        "call_expression" => test(inner, source, &mut found),
                        _ => {}
                    }
                }
            }
            _ => declare(child, child, source, false, &mut found),
        }
    }
    for symbol in &mut found {
        let top = symbol.name.split('.').next().unwrap_or_default();
        if exported.contains(top) && !symbol.name.contains('#') {
            symbol.is_public = true;
        }
    }
    if found.iter().any(|symbol| symbol.is_public) {
        let name = source
            .path
            .rsplit_once('.')
            .map_or(source.path, |(stem, _)| stem)
            .trim_end_matches(".d");
        let mut symbol = source.symbol(SymbolKind::Module, name.to_owned(), root);
        symbol.line = 1;
        symbol.end = 1;
        found.push(symbol);
    }
    found
}

fn declare(
    node: Node<'_>,
    whole: Node<'_>,
    source: &Source<'_>,
    is_public: bool,
    found: &mut Vec<Symbol>,
) {
    let kind = match node.kind() {
        "function_declaration" | "generator_function_declaration" | "function_signature" => {
            SymbolKind::Function
        }
        "class_declaration"
        | "abstract_class_declaration"
        | "interface_declaration"
        | "enum_declaration"
        | "type_alias_declaration" => SymbolKind::Class,
        "lexical_declaration" | "variable_declaration" => {
            for declarator in children(node) {
                let is_function = declarator
                    .child_by_field_name("value")
                    .is_some_and(|value| {
                        matches!(value.kind(), "arrow_function" | "function_expression")
                    });
                if is_function {
                    let name = source.field(declarator, "name").to_owned();
                    push(SymbolKind::Function, name, whole, source, is_public, found);
                }
            }
            return;
        }
        _ => return,
    };
    let name = source.field(node, "name").to_owned();
    push(kind, name.clone(), whole, source, is_public, found);
    let Some(body) = node
        .child_by_field_name("body")
        .filter(|_| kind == SymbolKind::Class)
    else {
        return;
    };
    for member in children(body) {
        if !matches!(member.kind(), "method_definition" | "method_signature") {
            continue;
        }
        let method = source.field(member, "name");
        let hidden = method.starts_with('#')
            || method.starts_with('_')
            || method == "constructor"
            || children(member).into_iter().any(|part| {
                part.kind() == "accessibility_modifier" && source.text_of(part) != "public"
            });
        if !hidden {
            let full = qualified(&name, ".", method);
            push(SymbolKind::Function, full, member, source, is_public, found);
        }
    }
}

fn push(
    kind: SymbolKind,
    name: String,
    node: Node<'_>,
    source: &Source<'_>,
    is_public: bool,
    found: &mut Vec<Symbol>,
) {
    let mut symbol = source.symbol(kind, name, node);
    symbol.doc = doc::block_comment(source, symbol.line);
    symbol.is_public = is_public;
    found.push(symbol);
}

/// `module.exports = { a, b: c }`, `module.exports = a`, `exports.a = a`.
fn common_js<'a>(assignment: Node<'_>, source: &Source<'a>, exported: &mut BTreeSet<&'a str>) {
    let left = source.field(assignment, "left");
    let Some(right) = assignment.child_by_field_name("right") else {
        return;
    };
    let is_named = left.starts_with("exports.") || left.starts_with("module.exports.");
    if !is_named && left != "module.exports" {
        return;
    }
    if right.kind() != "object" {
        exported.insert(source.text_of(right));
        return;
    }
    for entry in children(right) {
        let value = entry.child_by_field_name("value").unwrap_or(entry);
        exported.insert(source.text_of(value));
    }
}

/// `test("…", () => { … })` and `it("…", …)`, also inside one `describe`.
fn test(call: Node<'_>, source: &Source<'_>, found: &mut Vec<Symbol>) {
    let callee = source.field(call, "function");
    let Some(arguments) = call.child_by_field_name("arguments") else {
        return;
    };
    let parts = children(arguments);
    match callee {
        "test" | "it" => {
            let title = parts.first().map_or("", |part| source.text_of(*part));
            let name = title.trim_matches(['"', '\'', '`']).to_owned();
            let mut symbol = source.symbol(SymbolKind::Function, name, call);
            symbol.is_public = false;
            symbol.is_test = true;
            found.push(symbol);
        }
        "describe" => {
            let body = parts
                .last()
                .and_then(|function| function.child_by_field_name("body"));
            for statement in body.into_iter().flat_map(children) {
                if let Some(inner) = statement.named_child(0)
                    && inner.kind() == "call_expression"
                    && source.field(inner, "function") != "describe"
                {
                    test(inner, source, found);
                }
            }
        }
        _ => {}
    }
}
