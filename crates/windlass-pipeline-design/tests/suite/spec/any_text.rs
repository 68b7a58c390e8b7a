//! Any text at all: no panic, ranges that fit, nothing left out, the same twice.

use std::collections::BTreeSet;

use proptest::prelude::*;
use windlass_pipeline_design::model::{
    Analysis,
    analysis::{Place, SpanClass},
};
use windlass_pipeline_design::spec::{
    SpecContext, analyse, from_requirements, requirements, requirements_as_spec, strategy,
};

use super::examples::ALL;

fn check(spec: &str) -> Analysis {
    let analysis = analyse(spec, &SpecContext::default());
    let mut at = 0;
    for (index, span) in analysis.spans.iter().enumerate() {
        assert_eq!(span.id, format!("S-{}", index + 1));
        assert!(span.start >= at && span.start < span.end, "{span:?}");
        assert!(spec.get(span.start..span.end).is_some(), "{span:?}");
        assert!(
            spec[at..span.start].trim().is_empty(),
            "left out: {:?}",
            &spec[at..span.start]
        );
        at = span.end;
    }
    assert!(spec[at..].trim().is_empty(), "left out: {:?}", &spec[at..]);

    let ids: BTreeSet<&String> = analysis.spans.iter().map(|span| &span.id).collect();
    for statement in &analysis.statements {
        assert!(
            !statement.spans.is_empty() && statement.spans.iter().all(|span| ids.contains(span))
        );
        assert!(!statement.text.is_empty() && !statement.verb.is_empty());
        let known = |name: &String| analysis.entities.iter().any(|entity| entity.name == *name);
        assert!(
            statement
                .entity
                .iter()
                .chain(&statement.indirect)
                .all(known),
            "{statement:?}"
        );
    }
    let stated: BTreeSet<&String> = analysis
        .statements
        .iter()
        .flat_map(|statement| &statement.spans)
        .collect();
    for span in &analysis.spans {
        assert_eq!(
            span.class == SpanClass::Behaviour,
            stated.contains(&span.id) && span.class == SpanClass::Behaviour
        );
        assert!(span.class != SpanClass::Behaviour || stated.contains(&span.id));
        assert!(span.place != Place::Heading || span.class == SpanClass::Context);
    }
    let names: BTreeSet<&String> = analysis
        .entities
        .iter()
        .map(|entity| &entity.name)
        .collect();
    assert_eq!(names.len(), analysis.entities.len());
    for relation in &analysis.relations {
        assert!(
            names.contains(&relation.from)
                && names.contains(&relation.to)
                && relation.from != relation.to
        );
    }
    assert_eq!(analysis, analyse(spec, &SpecContext::default()));

    let required = requirements(&analysis);
    let again = from_requirements(spec, &required).unwrap();
    assert_eq!(requirements(&again), required);
    let _ = (
        strategy(&analysis, &SpecContext::default()),
        requirements_as_spec(&required),
    );
    analysis
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_characters(text in "(?s).{0,300}") {
        check(&text);
    }

    #[test]
    fn any_markdown(text in "([#*|>` \\n.:;,()\"-]|[a-z]{1,8}|can |must |has |and |[0-9]{1,4}|é|ש|🎲|\\t){0,120}") {
        check(&text);
    }

    #[test]
    fn any_words_of_specs(words in proptest::collection::vec(prop::sample::select(WORDS.to_vec()), 0..60)) {
        check(&words.join(" "));
    }

    #[test]
    fn examples_cut_anywhere(which in 0..4_usize, from in 0..3000_usize, length in 0..900_usize) {
        let spec = ALL[which];
        let floor = |at: usize| (0..=at.min(spec.len())).rev().find(|at| spec.is_char_boundary(*at)).unwrap();
        let start = floor(from);
        check(&spec[start..floor(start + length).max(start)]);
    }
}

const WORDS: &[&str] = &[
    "teachers",
    "can",
    "create",
    ",",
    "and",
    "or",
    "edit",
    "their",
    "own",
    "quizzes",
    ".",
    "has",
    "a",
    "title",
    "(",
    ")",
    "draft",
    "published",
    "when",
    "if",
    "it",
    "they",
    "must",
    "not",
    "be",
    "approved",
    "by",
    "the",
    "manager",
    "\n-",
    "\n\n##",
    "Features",
    "is",
    "are",
    "which",
    "that",
    "in",
    "minutes",
    "5",
    "#fff",
    "rgb(1,2,3)",
    "only",
    "see",
    "as",
    "I",
    "want",
    "to",
    "so",
    "for",
    "each",
    "we",
    "keep",
    ":",
    ";",
    "\"",
    "'s",
    "system",
    "let",
    "users",
    "belongs",
    "many",
    "|",
    "email",
    "unique",
    "later",
    "background",
    "page",
    "of",
    "whether",
    "either",
    "one",
    "goes",
    "through",
    "stages",
];

/// The most the pipeline takes: 256 KiB.
#[test]
fn the_longest_spec() {
    let all = ALL.concat();
    let spec = all.repeat(256 * 1024 / all.len());
    let analysis = analyse(&spec, &SpecContext::default());
    assert!(analysis.spans.len() > 2000);
    assert!(analysis.statements.len() > 50);
}

#[test]
fn unusual_texts() {
    let long_word = "é".repeat(5000);
    let no_end = "teachers can create quizzes and ".repeat(2000);
    for text in [
        "",
        " ",
        "\n\n\n",
        ".",
        "...",
        "***",
        "- ",
        "| |",
        "|a|\n|-|",
        "# ",
        "```",
        "```\ncode",
        "<!-- x -->",
        "[a]: http://x",
        "\u{0}",
        "\u{feff}# T",
        "שלום. המשתמש יכול ליצור הזמנה.",
        "يمكن للمستخدم إنشاء طلب؟ نعم۔",
        "ユーザーは記事を作成できる。読者は検索する。",
        "🎲🎲🎲",
        "a\rb\r\nc",
        "'s",
        "(((((",
        ")))))",
        "\"\"\"\"",
        "can",
        "can can can",
        "and and and",
        "As a",
        "As a , I want",
        "For each we keep",
        "has",
        "A has a has",
        "when when when",
        "to to to to",
        "X: : :",
        &long_word,
        &no_end,
    ] {
        check(text);
    }
}
