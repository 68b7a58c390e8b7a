//! Kinds, sources and excerpts.

use super::*;
use crate::tree::File;

#[test]
fn the_first_rule_that_fits_decides() {
    for (text, heading, kind) in [
        ("Acme PDF reads DOCX files.", "", ClaimKind::Format),
        (
            "Acme PDF does not read DOCX files.",
            "",
            ClaimKind::Limitation,
        ),
        (
            "Large files are slow.",
            "Known issues",
            ClaimKind::Limitation,
        ),
        (
            "Open a document with `Document.open()`.",
            "",
            ClaimKind::Workflow,
        ),
        ("To save a PDF file, call `save`.", "", ClaimKind::Workflow),
        ("`Document.open()` returns a document.", "", ClaimKind::Api),
        ("The API is stable.", "", ClaimKind::Api),
        ("A page is kept in `Document.pages`.", "", ClaimKind::Api),
        (
            "Acme PDF keeps its settings in `acme.toml`.",
            "",
            ClaimKind::Feature,
        ),
        ("The demo is `index.html`.", "", ClaimKind::Feature),
        ("Acme PDF converts PDF to PNG.", "", ClaimKind::Format),
        ("Acme PDF is fast.", "", ClaimKind::Feature),
        ("Acme PDF is for PDF lovers.", "", ClaimKind::Feature),
    ] {
        assert_eq!(kind_of(text, heading), kind, "{text}");
    }
}

#[test]
fn lines_are_cited_only_if_they_are_there() {
    let text = "a\nb\nc\n";
    assert_eq!(excerpt(text, 1, 2).as_deref(), Some("a\nb"));
    assert_eq!(excerpt(text, 3, 3).as_deref(), Some("c"));
    for (start, end) in [(0, 1), (2, 1), (3, 4), (9, 9)] {
        assert_eq!(excerpt(text, start, end), None, "{start}-{end}");
    }
}

#[test]
fn a_claim_cites_only_lines_that_contain_its_words() {
    let mut tree = Tree::default();
    tree.files.insert(
        "README.md".to_owned(),
        File {
            size: 0,
            digest: Digest::ZERO,
            binary: false,
            text: Some("Acme reads DOCX.\nIt’s fast.\n".into()),
        },
    );
    let at = |text: &str, line: u64| {
        Found::quoted(
            text.to_owned(),
            Origin::ReadmeTechnical,
            "README.md",
            (line, line),
        )
        .excerpt(&tree)
        .is_some()
    };
    assert!(at("Acme reads DOCX.", 1));
    assert!(at("It's fast.", 2));
    assert!(!at("Acme reads DOCX.", 2));
    assert!(!at("Acme reads XLSX.", 1));
    assert!(!at("Acme reads DOCX.", 3));
}

#[test]
fn better_sources_and_closer_passages_are_more_relevant() {
    let found = |origin| Found::quoted("Acme reads DOCX.".to_owned(), origin, "x", (1, 1));
    let exact = "Acme reads DOCX.";
    let loose = "Among many other things on this long line Acme reads DOCX, sometimes.";
    assert!(
        relevance(&found(Origin::Manifest), exact)
            > relevance(&found(Origin::ReadmeMarketing), exact)
    );
    assert!(relevance(&found(Origin::ApiDoc), exact) > relevance(&found(Origin::ApiDoc), loose));
    assert_eq!(relevance(&found(Origin::Manifest), exact), 1000);
}
