//! Questions that can be asked, and answers that can be given.

use serde_json::json;

use super::*;
use crate::test_support::{Session, code};

fn question() -> Value {
    json!({ "questions": [
        { "label": "db", "question": "Which?", "options": [{ "label": "Postgres", "value": "pg" }, { "label": "SQLite" }], "allow_custom": false },
        { "label": "why", "question": "Why?" },
    ] })
}

#[tokio::test]
async fn asked_only_where_there_is_a_user() {
    let mut session = Session::new();
    assert!(
        matches!(session.ran("ask_user", question()).await, Ran::Asks(asked) if asked.questions.len() == 2)
    );
    session.context.is_attended = false;
    assert_eq!(
        code(&session.call("ask_user", question()).await),
        "INTERACTIVE_REQUIRED"
    );
    for bad in [
        json!({ "questions": [] }),
        json!({ "questions": [{ "label": "a", "question": "b", "allow_custom": false }] }),
        json!({ "questions": [{ "label": "a", "question": "b" }, { "label": "a", "question": "c" }] }),
        json!({ "questions": [{ "label": "a", "question": "b", "options": [{ "label": "x" }, { "label": "y", "value": "x" }] }] }),
        json!({ "questions": [{ "label": "a", "question": "b", "options": [{ "label": "x", "selected": true }, { "label": "y", "selected": true }] }] }),
    ] {
        assert_eq!(
            code(&session.call("ask_user", bad.clone()).await),
            "INVALID_ARGUMENTS",
            "{bad}"
        );
    }
}

#[test]
fn answers_fit_their_questions() {
    let asked = checked(&question()).unwrap();
    let answer = |label: &str, answer: &str, is_custom| Answer {
        question_label: label.to_owned(),
        answer: answer.to_owned(),
        is_custom,
        selected_values: None,
    };
    let told = asked.answered(
        &[answer("db", "pg", false), answer("why", "because", true)],
        None,
    );
    assert_eq!(
        crate::test_support::text(&told.unwrap()),
        r#"{"answers":[{"question_label":"db","answer":"pg","is_custom":false},{"question_label":"why","answer":"because","is_custom":true}],"completed":true}"#
    );
    let part = asked
        .answered(&[answer("db", "SQLite", false)], Some("cancelled"))
        .unwrap();
    assert!(
        crate::test_support::text(&part).ends_with(r#""completed":false,"reason":"cancelled"}"#)
    );
    for bad in [
        answer("db", "mysql", false),
        answer("db", "x", true),
        answer("x", "y", true),
    ] {
        assert!(
            asked.answered(std::slice::from_ref(&bad), None).is_err(),
            "{bad:?}"
        );
    }
}
