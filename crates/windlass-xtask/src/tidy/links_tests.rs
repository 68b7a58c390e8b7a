//! Tests of the Markdown link rule.

use super::super::sample::{file, messages};
use super::*;

#[test]
fn links_are_found_outside_code() {
    let cases: &[(&str, &[&str])] = &[
        ("[a](b.md) and ![c](d.png)", &["b.md", "d.png"]),
        ("[a](b.md \"title\") [c](<d e.md>)", &["b.md", "d e.md"]),
        ("[a](b_(c).md)", &["b_(c).md"]),
        ("[name]: target.md", &["target.md"]),
        ("`[a](b.md)` and [c](d.md)", &["d.md"]),
        ("[`code`](d.md)", &["d.md"]),
        ("```\n[a](b.md)\n```\n[c](d.md)", &["d.md"]),
        ("~~~\n```\n[a](b.md)\n~~~\n[c](d.md)", &["d.md"]),
        ("no links [here] (at all)", &[]),
    ];
    for (text, expected) in cases {
        let found: Vec<String> = links_in(text)
            .into_iter()
            .map(|(_, target)| target)
            .collect();
        assert_eq!(found, *expected, "{text}");
    }
}

#[test]
fn relative_paths_resolve_from_the_file() {
    let cases = [
        ("README.md", "docs/a.md", Some("docs/a.md")),
        ("docs/a.md", "b.md", Some("docs/b.md")),
        ("docs/a.md", "./x/../b.md", Some("docs/b.md")),
        ("docs/a.md", "../README.md", Some("README.md")),
        ("docs/a.md", "..", Some("")),
        ("docs/a.md", "../../outside.md", None),
        ("docs/a.md", "/etc/passwd", None),
    ];
    for (from, link, expected) in cases {
        assert_eq!(resolve(from, link).as_deref(), expected, "{from} {link}");
    }
}

#[test]
fn headings_become_anchors() {
    let text =
        "# The `run` engine!\n## Two words\n## Two words\n#not a heading\n```\n# code\n```\n";
    let anchors: Vec<String> = anchors_in(text).into_iter().collect();
    assert_eq!(anchors, ["the-run-engine", "two-words", "two-words-1"]);
}

#[test]
fn broken_links_are_reported_with_their_line() {
    let files = [
        file(
            "README.md",
            "# Top\n[ok](docs/guide.md#start) [ok](docs) [ok](#top) [ok](https://example.com)\n\
             [gone](docs/gone.md)\n[bad](docs/guide.md#end)\n[out](../x)\n",
        ),
        file("docs/guide.md", "# Start\n[up](../README.md)\n"),
        file("docs/notes.txt", "[not](markdown.md)\n"),
    ];
    assert_eq!(
        messages(&check(&files)),
        [
            "README.md:3: the link `docs/gone.md` leads nowhere: docs/gone.md does not exist",
            "README.md:4: the link `docs/guide.md#end` leads nowhere: no heading gives #end",
            "README.md:5: the link `../x` leaves the repository",
            "docs/guide.md: no links lead here from docs/README.md",
        ]
    );
}

#[test]
fn every_page_is_reached_from_the_first_one() {
    let files = [
        file("README.md", "[lost](docs/lost.md)\n"),
        file(
            "docs/README.md",
            "[a](a.md#top) [out](https://example.com)\n",
        ),
        file("docs/a.md", "# Top\n[b](deep/b.md)\n"),
        file("docs/deep/b.md", "[a](../a.md) `[c](../c.md)`\n"),
        file("docs/c.md", "[lost](lost.md)\n"),
        file("docs/lost.md", "[c](c.md)\n"),
        file("docs/data.json", "{}\n"),
    ];
    assert_eq!(
        messages(&check(&files)),
        [
            "docs/c.md: no links lead here from docs/README.md",
            "docs/lost.md: no links lead here from docs/README.md",
        ]
    );
}
