//! Sentences and markers, as tables.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::marker_claim;
use crate::markdown::Document;

fn shown(page: &str) -> String {
    Document::parse(page)
        .sentences
        .iter()
        .map(|sentence| {
            let ids: Vec<&str> = sentence
                .markers
                .iter()
                .map(|marker| marker.claim_id.as_str())
                .collect();
            format!(
                "{}-{} {:?} {:?} {:?} {:?}\n",
                sentence.line, sentence.end_line, sentence.place, sentence.kind, sentence.text, ids
            )
        })
        .collect()
}

#[test]
fn sentences_are_read_where_readers_read_them() {
    let page = "---\ntitle: Not a sentence.\n---\n\n# Not one either.\n\nOne *bold* fact. <!-- claim_id: a --> Another\nover two lines. <!-- claim_id: b --> <!-- claim_id: c -->\n\n- An item. <!-- claim_id: d -->\n- [Only a link](x.md)\n- [A link](x.md) and words\n- `code`\n\n> A quote.\n\n| Head | `code` |\n| --- | --- |\n| Cell. <!-- claim_id: e --> | 5 |\n\nIs it a question?\n\n```py\nNot. Prose.\n```\n\n    Indented code.\n\n{{< shortcode \"text here\" >}}\n";
    insta::assert_snapshot!(shown(page), @r#"
    7-7 Paragraph Statement "One bold fact." ["a"]
    7-8 Paragraph Statement "Another over two lines." ["b", "c"]
    10-10 ListItem Statement "An item." ["d"]
    11-11 ListItem Links "Only a link" []
    12-12 ListItem Statement "A link and words" []
    13-13 ListItem Code "`code`" []
    15-15 Quote Statement "A quote." []
    17-17 TableCell Statement "Head" []
    17-17 TableCell Code "`code`" []
    19-19 TableCell Statement "Cell." ["e"]
    19-19 TableCell Statement "5" []
    21-21 Paragraph Question "Is it a question?" []
    "#);
}

#[test]
fn a_fact_cannot_hide_in_html() {
    let page = "<div>\n<p>It is the fastest. And best.</p>\n</div>\n\nInline <b>bold</b> claim.\n\n<script>var a = \"No prose. Here.\";</script>\n";
    insta::assert_snapshot!(shown(page), @r#"
    2-2 Paragraph Statement "It is the fastest." []
    2-2 Paragraph Statement "And best." []
    5-5 Paragraph Statement "Inline bold claim." []
    "#);
    assert!(!Document::parse(page).tags.is_empty());
}

#[test]
fn a_marker_covers_the_sentence_directly_before_it() {
    // On a line of its own it still follows; after a heading it follows nothing.
    let read = Document::parse(
        "A fact.\n<!-- claim_id: a -->\n\nNo fact here.\n\n## Heading\n\n<!-- claim_id: b -->\n",
    );
    assert_eq!(read.sentences[0].markers[0].claim_id, "a");
    assert!(read.sentences[1].markers.is_empty());
    assert_eq!(read.stray_markers[0].claim_id, "b");
    assert_eq!(read.stray_markers[0].line, 8);
}

#[test]
fn one_marker_does_not_cover_two_sentences() {
    let page = "First fact. Second fact. <!-- claim_id: a -->\n";
    let read = Document::parse(page);
    let registered = BTreeSet::new();
    let uncited: Vec<&str> = read
        .uncited(&registered)
        .map(|sentence| sentence.text.as_str())
        .collect();
    assert_eq!(uncited, ["First fact."]);
}

#[test]
fn byte_ranges_map_back_to_the_page() {
    let page = "A \\*b\\* &amp; `c`. <!-- claim_id: a --> Then.\n";
    let read = Document::parse(page);
    let parts: Vec<&str> = read
        .sentences
        .iter()
        .map(|sentence| &page[sentence.range_with_markers()])
        .collect();
    assert_eq!(
        parts,
        ["A \\*b\\* &amp; `c`. <!-- claim_id: a -->", "Then."]
    );
    assert_eq!(read.sentences[0].text, "A *b* & `c`.");
}

#[test]
fn headings_code_and_links_are_found() {
    let read = Document::parse(
        "## A heading\n\n## A heading\n\n### Own {#mine}\n\n```rust {x=1}\nfn a() {}\n```\n\n[text `c`](/t/) ![alt](i.png)\n",
    );
    let anchors: Vec<&str> = read
        .headings
        .iter()
        .map(|heading| heading.anchor.as_str())
        .collect();
    assert_eq!(anchors, ["a-heading", "a-heading-1", "mine"]);
    assert_eq!(read.code[0].language, "rust");
    assert_eq!(read.code[0].text, "fn a() {}\n");
    let links: Vec<(&str, &str, bool)> = read
        .links
        .iter()
        .map(|link| (link.target.as_str(), link.text.as_str(), link.image))
        .collect();
    assert_eq!(links, [("/t/", "text c", false), ("i.png", "alt", true)]);
}

#[test]
fn only_a_marker_is_a_marker() {
    for (comment, expected) in [
        ("<!-- claim_id: ab12 -->", Some("ab12")),
        ("<!--claim_id:x-->", Some("x")),
        ("<!-- claim_id: -->", Some("")),
        ("<!-- claim_id: a b -->", Some("a b")),
        ("<!-- note -->", None),
    ] {
        assert_eq!(marker_claim(comment), expected, "{comment}");
    }
}

proptest! {
    /// Every place that is reported lies in the page, in order, on a character's boundary.
    #[test]
    fn positions_are_inside_the_page(page in "[a-zA-Z`*_<>!|\\-#.\\[\\](){}&;\n éß。\"-]{0,200}(<!-- claim_id: a -->)?[a-z .\n]{0,20}") {
        let read = Document::parse(&page);
        for sentence in &read.sentences {
            prop_assert!(page.get(sentence.range.clone()).is_some());
            prop_assert!(sentence.line <= sentence.end_line);
        }
        for heading in &read.headings {
            prop_assert!(page.get(heading.range.clone()).is_some());
        }
        for marker in read.markers() {
            prop_assert_eq!(marker_claim(&page[marker.range.clone()]), Some("a"));
        }
    }
}
