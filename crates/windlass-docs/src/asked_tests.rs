//! Every argument with everything that does not fit it.

use serde_json::json;

use super::*;

#[test]
fn what_fits_is_read() {
    for (input, mode, about, most) in [
        (json!({ "query": "x" }), Mode::Answer, None, 3),
        (
            json!({ "query": "x", "mode": null, "resourceType": null, "maxItems": null }),
            Mode::Answer,
            None,
            3,
        ),
        (
            json!({ "query": "x", "mode": "snippet", "resourceType": "bucket", "maxItems": 20 }),
            Mode::Snippet,
            Some("bucket"),
            20,
        ),
        (
            json!({ "query": "x", "mode": "reference", "maxItems": 2.0 }),
            Mode::Reference,
            None,
            2,
        ),
    ] {
        let query = read(&input).unwrap();
        assert_eq!(query.query, "x");
        assert_eq!(query.mode, mode, "{input}");
        assert_eq!(query.resource_type.as_deref(), about, "{input}");
        assert_eq!(query.max_items, most, "{input}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut said = String::new();
    for input in [
        json!("x"),
        json!({}),
        json!({ "query": null }),
        json!({ "query": 5 }),
        json!({ "query": ["x"] }),
        json!({ "query": "x", "resource_type": "bucket" }),
        json!({ "query": "x", "maxitem": 2 }),
        json!({ "query": "x", "colour": 2 }),
        json!({ "query": "x", "mode": "anwser" }),
        json!({ "query": "x", "mode": "poem" }),
        json!({ "query": "x", "mode": 1 }),
        json!({ "query": "x", "resourceType": ["bucket"] }),
        json!({ "query": "x", "maxItems": "2" }),
        json!({ "query": "x", "maxItems": 2.5 }),
        json!({ "query": "x", "maxItems": 0 }),
        json!({ "query": "x", "maxItems": -1 }),
        json!({ "query": "x", "maxItems": 21 }),
    ] {
        let problem = read(&input).unwrap_err();
        assert_eq!(problem.code().name, "INVALID_INPUT");
        let reason = problem.details()["reason"].as_str().unwrap();
        let argument = problem.details()["argument"].as_str().unwrap();
        said.push_str(&format!("{reason} {argument}: {}\n", problem.message()));
    }
    insta::assert_snapshot!(said, @r#"
    invalid_argument query: the input is an object with a query
    missing_argument query: stacktape_docs needs the argument query
    missing_argument query: stacktape_docs needs the argument query
    invalid_argument query: query is a text, not another number
    invalid_argument query: query is a text, not a list
    unknown_argument resource_type: stacktape_docs does not take the argument resource_type; did you mean "resourceType"?
    unknown_argument maxitem: stacktape_docs does not take the argument maxitem; did you mean "maxItems"?
    unknown_argument colour: stacktape_docs does not take the argument colour
    invalid_argument mode: mode is one of answer, reference, snippet, not "anwser"; did you mean "answer"?
    invalid_argument mode: mode is one of answer, reference, snippet, not "poem"
    invalid_argument mode: mode is a text, not another number
    invalid_argument resourceType: resourceType is a text, not a list
    invalid_argument maxItems: maxItems is a whole number, not a text
    invalid_argument maxItems: maxItems is a whole number, not another number
    invalid_argument maxItems: maxItems is 0; it must be from 1 to 20
    invalid_argument maxItems: maxItems is -1; it must be from 1 to 20
    invalid_argument maxItems: maxItems is 21; it must be from 1 to 20
    "#);
}
