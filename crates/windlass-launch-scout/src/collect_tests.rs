//! What becomes a statement.

use super::*;

#[test]
fn statements() {
    for (text, expected) in [
        ("reads DOCX files", Some("Reads DOCX files.")),
        ("Reads  DOCX\nfiles.", Some("Reads DOCX files.")),
        ("Why use it?", None),
        ("For example:", None),
        ("We love PDF files.", None),
        ("Please star our repository.", None),
        ("See the documentation.", None),
        ("Visit https://x.example for more.", None),
        ("Fast", None),
        ("To be continued...", None),
        ("Run {{ x }} now.", None),
    ] {
        assert_eq!(statement(text).as_deref(), expected, "{text}");
    }
    assert_eq!(statement(&"word ".repeat(60)), None);
}

#[test]
fn lists_read_like_lists() {
    let items =
        |names: &[&str]| enumerate(&names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
    assert_eq!(items(&["A"]), "A");
    assert_eq!(items(&["A", "B"]), "A and B");
    assert_eq!(items(&["A", "B", "C"]), "A, B and C");
}
