//! Every lint rule: what it finds and what its own fix leaves.

use super::*;

fn names(text: &str) -> Vec<&'static str> {
    let mut rules: Vec<_> = lint(&Document::parse(text), &SnippetCatalog::default())
        .into_iter()
        .map(|lint| lint.rule)
        .collect();
    rules.dedup();
    rules
}

/// Rule, what breaks it, what its repair makes of that.
const CASES: [(&str, &str, &str); 19] = [
    ("MD003", "Title\n=====\n\nText\n", "# Title\n\nText\n"),
    ("MD007", "Text\n\n - a\n - b\n", "Text\n\n- a\n- b\n"),
    ("MD009", "Text \nmore   \n", "Text\nmore\n"),
    ("MD010", "A\tb\n", "A    b\n"),
    ("MD012", "A\n\n\n\nB\n", "A\n\nB\n"),
    ("MD018", "#Title\n\nText\n", "# Title\n\nText\n"),
    ("MD019", "##   Title\n\nText\n", "## Title\n\nText\n"),
    (
        "MD022",
        "Text\n\n## Title\nText\n",
        "Text\n\n## Title\n\nText\n",
    ),
    (
        "MD022",
        "Text\n## Title\n\nText\n",
        "Text\n\n## Title\n\nText\n",
    ),
    ("MD023", "  ## Title\n\nText\n", "## Title\n\nText\n"),
    ("MD026", "## Title:\n\nText\n", "## Title\n\nText\n"),
    (
        "MD031",
        "Text\n```py\nx\n```\nText\n",
        "Text\n\n```py\nx\n```\n\nText\n",
    ),
    (
        "MD032",
        "Text\n- a\n- b\n\nText\n",
        "Text\n\n- a\n- b\n\nText\n",
    ),
    (
        "MD034",
        "See https://a.example/x.\n",
        "See <https://a.example/x>.\n",
    ),
    (
        "MD036",
        "## A\n\n**Bold line**\n\nText\n",
        "## A\n\n### Bold line\n\nText\n",
    ),
    ("MD040", "```\nx\n```\n", "```text\nx\n```\n"),
    ("MD042", "See [this]().\n", "See this.\n"),
    ("MD047", "Text", "Text\n"),
    ("MD047", "Text\n\n\n", "Text\n"),
];

#[test]
fn every_rule_finds_its_violation_and_fixes_it() {
    for (rule, before, after) in CASES {
        assert!(
            names(before).contains(&rule),
            "{rule}: {:?} in {before:?}",
            names(before)
        );
        let (repaired, applied) = repair(before, &SnippetCatalog::default());
        assert_eq!(repaired, after, "{rule}");
        assert!(applied.contains(&rule), "{rule}: {applied:?}");
        assert_eq!(names(&repaired), Vec::<&str>::new(), "{rule}");
    }
    let covered: std::collections::BTreeSet<_> = CASES.iter().map(|(rule, ..)| *rule).collect();
    assert_eq!(covered.len(), RULES.len());
}

#[test]
fn good_pages_break_nothing() {
    for text in [
        "",
        "# T\n\nHard  \nbreak.\n",
        "---\ntitle: x \n\n\nodd:\t1\n---\n\nText.\n",
        "```sh\n#no heading \n\tTab\n\n\nhttps://a.example\n```\n",
        "A `\thttps://x.example` b <https://y.example> [z](https://z.example).\n",
        "[ref]: https://a.example/x\n",
        "1. One\n   - two\n   - three\n\n2. Four\n",
        "> Quote\n> - a\n",
        "**Note:** bold begins a sentence.\n",
        "{{< figure src=\"https://a.example/i.png\" >}}\n",
        "A. <!-- claim_id: x -->\n",
    ] {
        assert_eq!(names(text), Vec::<&str>::new(), "{text:?}");
    }
}

#[test]
fn a_fence_gets_the_language_of_the_catalogue() {
    let snippet = serde_json::from_value(serde_json::json!({
        "snippet_id": "s", "language": "python", "tags": [], "code": "x = 1\n",
        "source": {"type": "example", "path": "a.py", "start_line": 1, "end_line": 1},
        "validation": {"syntax_ok": true}
    }));
    let snippets = SnippetCatalog {
        schema_version: "1.0".to_owned(),
        snippets: vec![snippet.unwrap()],
    };
    let (repaired, _) = repair("```\nx = 1\n```\n", &snippets);
    assert_eq!(repaired, "```python\nx = 1\n```\n");
}

proptest::proptest! {
    #[test]
    fn repair_settles(text in "([#*_ \\-\tab.\n`>\\[\\]()]|https://x\\.example ){0,60}") {
        let none = SnippetCatalog::default();
        let (once, _) = repair(&text, &none);
        let (twice, _) = repair(&once, &none);
        let words = |text: &str| text.chars().filter(|c| c.is_ascii_alphabetic()).count();
        proptest::prop_assert!(words(&twice) >= words(&text));
    }
}
