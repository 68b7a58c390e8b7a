//! The structure of a page.

use proptest::prelude::*;

use super::*;

const PAGE: &str = "---\ntitle: T\n---\n\n# One\n\nSee [the `x`](a.md#b) and ![pic](i.png).\n\n## One\n\n## Deep {#given}\n\n```py title=\"x\"\nprint(1)\n```\n\nText `code`. <!-- claim_id: abc -->\n\n<a id=\"spot\" href='/x'>y</a>\n";

#[test]
fn structure() {
    let page = Document::parse(PAGE);
    let slugs: Vec<_> = page
        .headings
        .iter()
        .map(|h| (h.level, h.anchor.as_str()))
        .collect();
    assert_eq!(slugs, [(1, "one"), (2, "one-1"), (2, "given")]);
    let links: Vec<_> = page
        .links
        .iter()
        .map(|l| (l.target.as_str(), l.text.as_str(), l.image))
        .collect();
    assert_eq!(
        links,
        [
            ("a.md#b", "the x", false),
            ("i.png", "pic", true),
            ("/x", "", false)
        ]
    );
    assert_eq!(
        (page.code[0].language.as_str(), page.code[0].text.as_str()),
        ("py", "print(1)\n")
    );
    assert!(page.has_anchor("spot") && page.has_anchor("given") && !page.has_anchor("none"));
    assert_eq!(page.markers().count(), 1);
    assert_eq!(page.line(page.headings[0].range.start), 5);
    assert_eq!(page.line_text(5), "# One");
    assert_eq!(page.title(), Some("T"));
    assert!(page.in_code(PAGE.find("print").unwrap()) && !page.in_code(PAGE.find("See").unwrap()));
}

#[test]
fn a_tag_may_go_over_lines_even_in_a_quote() {
    for page in [
        "<div\nonclick=\"x()\">\ny\n</div>\n",
        "> <div\n> onclick=\"x()\">\n> y\n> </div>\n",
    ] {
        let page = Document::parse(page);
        assert!(page.tags[0].text.contains("onclick=\"x()\">"), "{page:?}");
        assert_eq!(page.tags[1].text, "</div>");
        assert_eq!(page.sentences[0].text, "y");
    }
}

proptest! {
    #[test]
    fn never_panics_and_ranges_fit(text in "(?s).{0,200}") {
        let page = Document::parse(&text);
        for range in page.links.iter().map(|l| &l.range).chain(&page.verbatim).chain(&page.html).chain(page.tags.iter().map(|tag| &tag.range)) {
            prop_assert!(page.text.get(range.clone()).is_some());
            prop_assert!(page.line(range.start) >= 1);
        }
    }
}
