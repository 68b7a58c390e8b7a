//! Sentences and markup.

use proptest::prelude::*;

use super::*;
use crate::markdown::blocks;

fn split(text: &str) -> Vec<String> {
    blocks(text)
        .iter()
        .flat_map(sentences)
        .map(|sentence| format!("{}-{} {}", sentence.start, sentence.end, sentence.text))
        .collect()
}

#[test]
fn sentences_know_their_lines() {
    assert_eq!(
        split(
            "It reads, e.g. PDF 1.7 files. It\nalso writes\nthem. `a. B` stays! Why? See\n[the docs. Here](https://x.y/z. W)."
        ),
        [
            "1-1 It reads, e.g. PDF 1.7 files.",
            "1-3 It also writes them.",
            "3-3 `a. B` stays!",
            "3-3 Why?",
            "3-4 See the docs. Here.",
        ]
        .map(str::to_owned)
        .to_vec()
        .as_slice()
    );
}

#[test]
fn no_is_an_answer_unless_a_number_follows() {
    assert_eq!(
        split("No. Acme is no backup tool. See No. 7 for more."),
        [
            "1-1 No.",
            "1-1 Acme is no backup tool.",
            "1-1 See No. 7 for more."
        ]
    );
}

#[test]
fn link_only_lines_are_not_statements() {
    for (text, count) in [
        ("* [Reading statements](reading.md)", 0),
        ("* [Reading statements][reading].", 0),
        ("[One](a.md) · [Two](b.md)", 0),
        ("- [Reading](reading.md) is easy", 1),
        ("- Reading statements", 1),
    ] {
        assert_eq!(split(text).len(), count, "{text}");
    }
}

#[test]
fn markup_is_removed_and_code_stays() {
    for (text, expected) in [
        ("**Fast** and _small_", "Fast and small"),
        ("a [link](http://x) and ![img](y.png) b", "a link and b"),
        ("use `a_b_c` and `**x**`", "use `a_b_c` and `**x**`"),
        ("snake_case_name stays", "snake_case_name stays"),
        ("<b>bold</b> :rocket: text[^1]", "bold text"),
        ("[![badge](a)](b) text", "text"),
        ("a < b and c > d", "a < b and c > d"),
    ] {
        assert_eq!(plain(text), expected, "{text}");
    }
}

#[test]
fn what_a_page_may_not_contain() {
    for (text, safe) in [
        ("Plain text with `Vec<T>`.", true),
        ("Needs a < b.", true),
        ("Run {{ template }}.", false),
        ("A <script>alert(1)</script>.", false),
        ("Hidden <!-- x.", false),
        ("An open ` tick.", false),
        ("claim_id of others.", false),
        ("Control \u{7} here.", false),
        ("A | table.", false),
    ] {
        assert_eq!(is_safe(text), safe, "{text}");
    }
}

#[test]
fn the_first_sentence() {
    assert_eq!(
        first_sentence("Reads a file. Then closes it."),
        "Reads a file."
    );
    assert_eq!(first_sentence("Reads a file"), "Reads a file");
    assert_eq!(first_sentence(""), "");
}

proptest! {
    #[test]
    fn nothing_is_lost_between_sentences(text in "[A-Za-z .!?`()\\[\\]'\u{e9}]{0,120}") {
        let found = ends(&text);
        prop_assert!(found.is_sorted());
        prop_assert!(text.is_empty() || found.last() == Some(&text.len()));
        for end in found {
            prop_assert!(text.is_char_boundary(end));
        }
    }
}
