//! Cases of `frontmatter`, as tables.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn updates(value: Value) -> BTreeMap<String, Value> {
    serde_json::from_value(value).unwrap()
}

#[test]
fn the_three_formats_are_read() {
    for (page, format) in [
        (
            "---\ntitle: A\ntags: [x, y]\ndate: 2024-01-02\n---\nBody.\n",
            Format::Yaml,
        ),
        (
            "+++\ntitle = \"A\"\ntags = [\"x\", \"y\"]\ndate = 2024-01-02\n+++\nBody.\n",
            Format::Toml,
        ),
        (
            "{\"title\": \"A\", \"tags\": [\"x\", \"y\"], \"date\": \"2024-01-02\"}\nBody.\n",
            Format::Json,
        ),
    ] {
        let (found, keys) = read(page).unwrap().unwrap();
        assert_eq!(found, format);
        assert_eq!(
            Value::Object(keys),
            json!({"title": "A", "tags": ["x", "y"], "date": "2024-01-02"})
        );
        assert_eq!(&page[find(page).unwrap().body..], "Body.\n");
    }
    assert_eq!(read("# Heading\n"), Ok(None));
    assert_eq!(read("{{< shortcode >}}\n"), Ok(None));
    assert_eq!(
        read("---\ntitle: A\n"),
        Err(FrontMatterError::Unclosed { fence: "---" })
    );
    assert!(matches!(
        read("---\na: [\n---\n"),
        Err(FrontMatterError::Invalid { .. })
    ));
    assert_eq!(read("---\n- a\n---\n"), Err(FrontMatterError::NotAnObject));
}

#[test]
fn a_change_keeps_every_other_line() {
    let page = "---\n# kept\ntitle: Old # gone with its key\ntags:\n  - a\n  - b\n\nweight: 3\n---\nBody.\n";
    let changed = set_keys(
        page,
        &updates(json!({"title": "New: \"x\"", "tags": ["c"], "draft": false})),
    )
    .unwrap();
    insta::assert_snapshot!(changed, @r#"
    ---
    # kept
    title: "New: \"x\""
    tags:
      - "c"

    weight: 3
    draft: false
    ---
    Body.
    "#);
    let page = "+++\n# kept\ntitle = 'Old'\n[params]\na = 1\n+++\nBody.\n";
    let changed = set_keys(
        page,
        &updates(json!({"title": "New", "date": "2024-01-02"})),
    )
    .unwrap();
    assert_eq!(
        read(&changed).unwrap().unwrap().1,
        *json!({"title": "New", "date": "2024-01-02", "params": {"a": 1}})
            .as_object()
            .unwrap()
    );
    assert!(changed.contains("# kept"));
    let page = "{\n  \"title\": \"Old\",\n  \"z\": {\"title\": 1}\n}\nBody.\n";
    insta::assert_snapshot!(set_keys(page, &updates(json!({"title": "New", "a": [1]}))).unwrap(), @r#"
    {
      "title": "New",
      "z": {"title": 1},
      "a": [1]
    }
    Body.
    "#);
}

#[test]
fn line_endings_stay() {
    let changed = set_keys(
        "---\r\ntitle: A\r\n---\r\nBody.\r\n",
        &updates(json!({"title": "B"})),
    )
    .unwrap();
    assert_eq!(changed, "---\r\ntitle: \"B\"\r\n---\r\nBody.\r\n");
}

#[test]
fn a_page_without_front_matter_has_no_keys_to_set() {
    assert_eq!(
        set_keys("Body.\n", &updates(json!({"a": 1}))),
        Err(FrontMatterError::Missing)
    );
}

#[test]
fn the_body_begins_after_the_block() {
    for text in [
        "---\r\ntitle: A\r\n---\r\nBody\n",
        "\u{feff}---\ntitle: A\n---\nBody\n",
        "+++\ntitle = \"A\"\n+++\nBody\n",
        "{\n \"title\": \"A\"\n}\nBody\n",
        "---\n# only a comment\n---\nBody\n",
        "---\n---\nBody\n",
    ] {
        let block = find(text).unwrap();
        assert_eq!(&text[block.body..], "Body\n", "{text}");
        assert!(parse(text, &block).is_ok(), "{text}");
    }
    assert_eq!(find(""), None);
}

#[test]
fn a_broken_block_is_found_with_its_reason() {
    for (text, body) in [
        ("---\ntitle: A\n\nBody\n", "\nBody\n"),
        ("---\ntitle: A\n# Body\n", "# Body\n"),
        ("{\"title\": \n\nBody\n", "\nBody\n"),
        ("---\na: [1\n---\nBody\n", "Body\n"),
        ("+++\na = \n+++\nBody\n", "Body\n"),
    ] {
        let block = find(text).unwrap();
        assert_eq!(&text[block.body..], body, "{text}");
        assert!(parse(text, &block).is_err(), "{text}");
        assert!(read(text).is_err());
    }
}

#[test]
fn a_key_is_put_even_where_nothing_parses() {
    for (page, expected) in [
        (
            "---\nbad: [\ntitle: {{ x }}\n---\nBody\n",
            "---\nbad: [\ntitle: \"T\"\n---\nBody\n",
        ),
        (
            "+++\nbad = \ntitle = {{ x }}\n[p]\n+++\nBody\n",
            "+++\nbad = \ntitle = \"T\"\n[p]\n+++\nBody\n",
        ),
        (
            "+++\nbad = \n[p]\n+++\nBody\n",
            "+++\nbad = \ntitle = \"T\"\n[p]\n+++\nBody\n",
        ),
    ] {
        let block = find(page).unwrap();
        assert_eq!(put_key(page, &block, "title", &json!("T")), expected);
    }
}

#[test]
fn a_key_is_removed_with_all_its_lines_and_no_others() {
    for (page, expected) in [
        (
            "---\na: |\n  one\n\n  two\n\n# kept\nb: 1\n---\n",
            "---\n\n# kept\nb: 1\n---\n",
        ),
        ("---\na:\n- x\n- y\nb: 1\n---\n", "---\nb: 1\n---\n"),
        ("---\na: [\n  x\n]\nb: 1\n---\n", "---\nb: 1\n---\n"),
        ("---\nb: 1\n---\n", "---\nb: 1\n---\n"),
        (
            "+++\na = \"\"\"\nx = 1\n\"\"\"\nb = 1\n+++\n",
            "+++\nb = 1\n+++\n",
        ),
        ("+++\na = [\n  1,\n]\nb = 1\n+++\n", "+++\nb = 1\n+++\n"),
        ("{\"a\": 1, \"b\": 2}\n", "{\"b\": 2}\n"),
        ("{\"b\": 2, \"a\": [1, 2]}\n", "{\"b\": 2}\n"),
        ("{\"a\": 1}\n", "{}\n"),
    ] {
        assert_eq!(remove_key(page, &find(page).unwrap(), "a"), expected);
    }
}

#[test]
fn keys_are_found_by_their_lines() {
    for (format, line, expected) in [
        (Format::Yaml, "title: A", Some("title")),
        (Format::Yaml, "title:", Some("title")),
        (Format::Yaml, "\"a: b\": 1", Some("a: b")),
        (Format::Yaml, "'title' : 1", Some("title")),
        (Format::Yaml, "https://example.org", None),
        (Format::Yaml, "  nested: 1", None),
        (Format::Yaml, "- item: 1", None),
        (Format::Yaml, "# title: A", None),
        (Format::Toml, "title = \"A = B\"", Some("title")),
        (Format::Toml, "\"odd key\" = 1", Some("odd key")),
        (Format::Toml, "[table]", None),
    ] {
        assert_eq!(key_of(format, line), expected, "{line}");
    }
}

#[test]
fn a_change_that_would_break_the_block_is_refused() {
    // The alias's anchor would be gone.
    let page = "---\na: &x [1]\nb: *x\n---\nBody\n";
    assert!(set_keys(page, &updates(json!({"a": 2}))).is_err());
}

#[test]
fn types() {
    for (value, name) in [
        (json!("a"), "string"),
        (json!("2026-01-31"), "date"),
        (json!("2026-01-31T10:00:00Z"), "date"),
        (json!("2026-01-31x"), "string"),
        (json!(1), "integer"),
        (json!(1.5), "number"),
        (json!(true), "boolean"),
        (json!(["a", "b"]), "array_string"),
        (json!(["a", 1]), "unknown"),
        (json!({"a": 1}), "object"),
        (json!(null), "unknown"),
    ] {
        assert_eq!(type_of(&value), name, "{value}");
        assert!(is_type(&value, name), "{value}");
    }
    assert!(is_type(&json!("2024-01-02"), "string"));
    assert!(!is_type(&json!("yesterday"), "date"));
    assert!(is_type(&json!(1), "number") && !is_type(&json!(1.5), "integer"));
}

#[test]
fn deep_nesting_is_refused_and_does_not_crash() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    for page in [
        format!("---\na: {}\n---\n", nested(50_000)),
        format!("{{\"a\":{}}}", nested(50_000)),
        format!("+++\na = {}\n+++\n", nested(5_000)),
    ] {
        assert!(read(&page).is_err());
    }
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[ -~é\\n]{0,12}".prop_map(Value::from),
        proptest::collection::vec("[ -~]{0,6}", 1..4).prop_map(Value::from),
        Just(json!("2024-05-06")),
    ]
}

proptest! {
    #[test]
    fn what_is_written_reads_back_and_can_be_changed(
        keys in proptest::collection::btree_map("[a-z][a-z_]{0,5}", value(), 1..5),
        changes in proptest::collection::btree_map("[a-z][a-z_]{0,5}", value(), 0..4),
        format in prop_oneof![Just(Format::Yaml), Just(Format::Toml), Just(Format::Json)],
    ) {
        let pairs: Vec<_> = keys.clone().into_iter().collect();
        let page = write(format, &pairs) + "\nBody.\n";
        let mut expected: Map<String, Value> = keys.into_iter().collect();
        prop_assert_eq!(read(&page).unwrap().unwrap(), (format, expected.clone()));
        let changed = set_keys(&page, &changes).unwrap();
        expected.extend(changes.clone());
        prop_assert_eq!(&read(&changed).unwrap().unwrap().1, &expected);
        prop_assert!(changed.ends_with("\nBody.\n"));
        prop_assert_eq!(set_keys(&changed, &changes).unwrap(), changed);
    }

    #[test]
    fn nothing_panics(page in "(---\n|\\+\\+\\+\n|\\{)?[\\PC\n\r]{0,80}") {
        let _ = read(&page);
        if let Some(block) = find(&page) {
            let _ = remove_key(&page, &block, "a");
            prop_assert!(page.is_char_boundary(block.body));
        }
        let _ = set_keys(&page, &updates(json!({"a": "b"})));
    }
}
