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
        ("PDF output is coming soon.", None),
    ] {
        assert_eq!(statement(text).as_deref(), expected, "{text}");
    }
    assert_eq!(statement(&"word ".repeat(60)), None);
}
