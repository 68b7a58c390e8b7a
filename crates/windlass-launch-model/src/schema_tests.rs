//! Findings: where they point, what they say, that they are sorted.

use serde::Deserialize;
use serde_json::json;

use super::*;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Sample {
    name: String,
    count: Option<u64>,
    kind: Option<Kind>,
    inner: Option<Inner>,
    list: Option<Vec<Inner>>,
}

/// A choice.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// One.
    One,
    /// Two.
    Two,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Inner {
    value: u64,
}

#[test]
fn findings_of_every_shape() {
    let schema = Schema::of_input::<Sample>();
    let errors = schema
        .check(&json!({
            "nam": "x",
            "count": -1,
            "kind": "three",
            "inner": {"valu": 1},
            "list": [{"value": 1}, {"value": "secret"}, {"value": 1, "x/y": 2}],
            "zebra": null,
        }))
        .unwrap_err();
    let shown: Vec<String> = errors
        .errors()
        .iter()
        .map(|error| format!("{} [{}] {}", error.pointer, error.keyword, error.message))
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    /count [minimum] /count is less than the minimum of 0
    /inner/valu [additionalProperties] /inner/valu is not a known key; did you mean value?
    /inner/value [required] /inner/value is required
    /kind [enum] /kind is not one of "one", "two"
    /list/1/value [type] /list/1/value is not of type "integer"
    /list/2/x~1y [additionalProperties] /list/2/x~1y is not a known key
    /nam [additionalProperties] /nam is not a known key; did you mean name?
    /name [required] /name is required
    /zebra [additionalProperties] /zebra is not a known key
    "#);
    insta::assert_snapshot!(errors, @"/count is less than the minimum of 0 (and 8 more)");
    assert!(
        errors
            .errors()
            .is_sorted_by(|left, right| left.pointer <= right.pointer)
    );
    assert_eq!(errors.to_value()[0]["pointer"], errors.errors()[0].pointer);
}

#[test]
fn a_flood_of_findings_is_cut() {
    let schema = Schema::of_input::<Sample>();
    let list: Vec<Value> = (0..5000).map(Value::from).collect();
    let errors = schema
        .check(&json!({"name": "x", "list": list}))
        .unwrap_err();
    assert_eq!(errors.errors().len(), MOST_FINDINGS);
}

#[test]
fn whole_doubles_become_integers_and_nothing_else_changes() {
    for (given, expected) in [
        (json!(3.0), json!(3)),
        (json!(-0.0), json!(0)),
        (json!(0.5), json!(0.5)),
        (json!(1e300), json!(1e300)),
        (json!({"a": [1.0, "1.0"]}), json!({"a": [1, "1.0"]})),
    ] {
        assert_eq!(whole_numbers(given.clone()), expected, "{given}");
    }
}
