//! The syntax tree of a line, made with bounded work.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, Parser, Tree};

use crate::limits::MAX_REPORTS;

/// The tree; none where it takes too much work.
///
/// The grammar's scanner gives every character to functions that know bytes only, and reads beyond
/// their tables for others. To a shell a character that is no ASCII is a letter, so the parser is
/// given letters in their place, as many as they have bytes.
pub(crate) fn of(line: &str) -> Option<Tree> {
    let ascii = |byte: u8| if byte.is_ascii() { byte } else { b'z' };
    let bytes: Vec<u8> = line.bytes().map(ascii).collect();
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .ok()?;
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

/// The children, punctuation included.
pub(crate) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}

/// Calls a function on every node below and including this one, without recursion. It answers
/// whether to look inside.
pub(crate) fn every<'a>(root: Node<'a>, mut look: impl FnMut(Node<'a>) -> bool) {
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if look(node) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}
