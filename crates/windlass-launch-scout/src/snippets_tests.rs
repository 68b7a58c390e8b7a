//! What code is kept, and what is said of it.

use super::*;

fn candidate(code: &str, language: &str) -> Option<Snippet> {
    finish(Candidate {
        origin: "readme",
        language: language.to_owned(),
        path: "README.md",
        start: 1,
        end: 9,
        code: code.to_owned(),
        about: "Convert DOCX to PDF".to_owned(),
    })
}

#[test]
fn length_and_share_of_code() {
    for (code, kept) in [
        ("a = 1\nb = 2".to_owned(), false),
        ("a = 1\nb = 2\nc = 3".to_owned(), true),
        ("# x\n# y\n# z\na = 1".to_owned(), false),
        ("a = 1\n".repeat(500), true),
        ("a = 1\n".repeat(501), false),
    ] {
        assert_eq!(
            candidate(&code, "python").is_some(),
            kept,
            "{} lines",
            code.lines().count()
        );
    }
}

#[test]
fn id_tags_needs_and_syntax() {
    let code = "import acme.pdf\nfrom os import path\nacme.pdf.open(\"in.docx\").save(\"out.pdf\")";
    let snippet = candidate(code, "python").unwrap();
    let hashed = format!("{code}|python|README.md|1-9");
    assert_eq!(
        snippet.snippet_id,
        Digest::of(hashed.as_bytes()).to_string()
    );
    assert_eq!(snippet.tags, ["convert", "docx", "pdf", "python"]);
    assert_eq!(snippet.requirements, ["acme", "os"]);
    assert_eq!(snippet.validation.syntax_ok, Some(true));
    assert_eq!(
        candidate("def (\n  x\n  y", "python")
            .unwrap()
            .validation
            .syntax_ok,
        Some(false)
    );
    assert_eq!(
        candidate("a\nb\nc", "kotlin").unwrap().validation.syntax_ok,
        None
    );
}

#[test]
fn needs_by_language() {
    for (language, line, needs) in [
        (
            "javascript",
            "const { a } = require('acme-pdf');",
            "acme-pdf",
        ),
        (
            "typescript",
            "import { a } from \"@acme/pdf\";",
            "@acme/pdf",
        ),
        ("rust", "use acme_pdf::Document;", "acme_pdf"),
        ("java", "import org.acme.Pdf;", "org.acme.Pdf"),
        ("csharp", "using Acme.Pdf;", "Acme.Pdf"),
    ] {
        assert_eq!(requirements(line, language), [needs], "{line}");
    }
    assert!(requirements("using (var x = y) {", "csharp").is_empty());
}
