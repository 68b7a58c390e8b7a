//! Cases of `frontmatter`, as tables.

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
        assert_eq!(&page[body_start(page)..], "Body.\n");
    }
    assert_eq!(read("# Heading\n"), Ok(None));
    assert_eq!(read("{{< shortcode >}}\n"), Ok(None));
    assert_eq!(read("---\ntitle: A\n"), Err(FrontMatterError::Unclosed));
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
    fn nothing_panics(page in "(---\n|\\+\\+\\+\n|\\{)?[ -~\n\r]{0,60}") {
        let _ = read(&page);
        let _ = set_keys(&page, &updates(json!({"a": "b"})));
    }
}
