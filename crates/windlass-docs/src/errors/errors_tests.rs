//! What is found in pasted text, what is not, and that long text costs no more than its length.

use proptest::prelude::*;

use super::*;

fn index(texts: &[&str]) -> ErrorIndex {
    let mut index = ErrorIndex::default();
    for (entry, text) in texts.iter().enumerate() {
        check(text).unwrap();
        index.add(text, entry);
    }
    index
}

fn found(texts: &[&str], question: &str) -> Vec<usize> {
    index(texts)
        .find(question)
        .into_iter()
        .map(|explained| explained.entry)
        .collect()
}

#[test]
fn what_varies_in_a_message_is_passed_over() {
    for (pattern, question, matches) in [
        (
            "is not authorized to perform",
            "User: arn:aws:iam::1:user/x is not authorized to perform: s3:PutObject on",
            true,
        ),
        (
            "column does not exist",
            "ERROR:  column \"priority\" does not exist at character 8",
            true,
        ),
        (
            "column does not exist",
            "the column that you mean does not exist",
            false,
        ),
        (
            "Cannot find module",
            r#"{"errorMessage":"Error: Cannot find module 'pg'\nRequire stack:"}"#,
            true,
        ),
        (
            "Cannot find module Require stack",
            r#"Cannot find module 'pg'\nRequire stack:"#,
            true,
        ),
        ("exit code 137", "exit code: 137", true),
        ("exit code 137", "exit code: 1", false),
        ("MOVED #", "ReplyError: MOVED 7365 10.0.3.18:6379", true),
        ("MOVED #", "we moved house", false),
        (
            "Runtime.ExitError",
            "  \"errorType\": \"Runtime.ExitError\",",
            true,
        ),
        (
            "stack * does not exist",
            "Stack with id shop-dev does not exist",
            true,
        ),
        (
            "stack * does not exist",
            "stack a b c d e f g h i j k l m does not exist",
            false,
        ),
        ("can't connect", "ERROR 2003: Can't connect to MySQL", true),
    ] {
        assert_eq!(
            !found(&[pattern], question).is_empty(),
            matches,
            "{pattern} in {question}"
        );
    }
}

#[test]
fn the_most_specific_message_comes_first_and_general_ones_last() {
    let texts = [
        "~the following resource(s) failed to create",
        "access denied",
        "access denied for user",
        "timed out",
        "never asked",
    ];
    let question = "The following resource(s) failed to create: [Db]. Timed out. \
                    Access denied for user 'app'";
    assert_eq!(found(&texts, question), [2, 1, 3]);
    assert_eq!(
        found(&texts, "The following resource(s) failed to create"),
        [0]
    );
}

#[test]
fn texts_that_would_match_anything_are_refused() {
    for (text, error) in [
        ("", PatternError::NoFirstWord),
        ("* failed", PatternError::NoFirstWord),
        ("~", PatternError::NoFirstWord),
        ("error", PatternError::TooCommon),
        ("Error", PatternError::TooCommon),
    ] {
        assert_eq!(check(text), Err(error), "{text}");
    }
}

/// A log of a megabyte is read once: as many attempts as it has words, each bounded.
#[test]
fn a_long_log_is_searched_to_its_end() {
    let line = "2026-03-04T09:12:44Z the 1 2 3 4 the 5 6 7 8 access 9 denied to nobody\n";
    let mut log = line.repeat(1_000_000 / line.len());
    log.push_str("the security token is expired");
    let texts = [
        "the * expired",
        "access denied for user",
        "the security token",
    ];
    let explained = index(&texts).find(&log);
    let entries: Vec<usize> = explained.iter().map(|place| place.entry).collect();
    assert_eq!(entries, [2, 0]);
    assert!(log[explained[0].at.clone()].starts_with("the security token"));
}

proptest! {
    #[test]
    fn places_are_within_the_text(text in "[a-c'\"\\\\ é:#.(]{0,60}") {
        for place in index(&["a b", "a * c", "B."]).find(&text) {
            prop_assert!(text.get(place.at).is_some());
        }
    }
}
