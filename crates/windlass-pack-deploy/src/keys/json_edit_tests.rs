//! Edits of JSON texts: what changes, and above all what does not.

use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_pack_model::KeyFormat;

use super::{Document, KeyError, Pointer};

fn keys(pointer: &str) -> Vec<String> {
    Pointer::parse(pointer).unwrap().keys().to_vec()
}

fn set(text: &str, pointer: &str, value: Value) -> String {
    let mut document = Document::parse(KeyFormat::Json, text).unwrap();
    document.set(&keys(pointer), &value).unwrap();
    assert_eq!(document.get(&keys(pointer)), Some(value));
    document.text()
}

fn remove(text: &str, pointer: &str) -> String {
    let mut document = Document::parse(KeyFormat::Json, text).unwrap();
    document.remove(&keys(pointer)).unwrap();
    assert_eq!(document.get(&keys(pointer)), None);
    document.text()
}

fn server() -> Value {
    json!({"command": "run", "args": ["a", "b"], "env": {}})
}

const SETTINGS: &str = "{\n  // who asked for this\n  \"theme\": \"dark\", // loud\n  \"mcpServers\": {\n    \"mine\": { \"command\": \"x\" } /* keep */\n  },\n  \"z\": [1,2,  3]\n}\n";

#[test]
fn a_new_key_is_added_at_the_end_of_its_object() {
    insta::assert_snapshot!(set(SETTINGS, "/mcpServers/demo", server()), @r#"
    {
      // who asked for this
      "theme": "dark", // loud
      "mcpServers": {
        "mine": { "command": "x" }, /* keep */
        "demo": {
          "args": [
            "a",
            "b"
          ],
          "command": "run",
          "env": {}
        }
      },
      "z": [1,2,  3]
    }
    "#);
}

#[test]
fn missing_objects_are_created() {
    insta::assert_snapshot!(set("", "/servers/demo", json!({"command": "x"})), @r#"
    {
      "servers": {
        "demo": {
          "command": "x"
        }
      }
    }
    "#);
    insta::assert_snapshot!(set("{\n\t\"a\": 1\n}", "/servers/demo", json!(true)), @r#"
    {
    	"a": 1,
    	"servers": {
    		"demo": true
    	}
    }
    "#);
    assert_eq!(
        set(r#"{"a":1}"#, "/b/c", json!([1])),
        r#"{"a":1, "b": {"c": [1]}}"#
    );
}

#[test]
fn a_replaced_value_keeps_its_surroundings() {
    let after = set(SETTINGS, "/mcpServers/mine", json!({"command": "y"}));
    assert_eq!(
        after,
        SETTINGS.replace("{ \"command\": \"x\" }", "{\"command\": \"y\"}")
    );
    assert_eq!(
        set("{\r\n  \"a\": 1\r\n}\r\n", "/b", json!({"c": 1})),
        "{\r\n  \"a\": 1,\r\n  \"b\": {\r\n    \"c\": 1\r\n  }\r\n}\r\n"
    );
}

#[test]
fn setting_and_removing_restores_the_text() {
    for text in [
        SETTINGS,
        "{}\n",
        "{\n  \"a\": 1\n}\n",
        "{\n  \"a\": 1,\n}\n",
        "{\n  \"a\": 1 // last\n}\n",
        "{\r\n\t\"a\": {\"b\": 2}\r\n}",
        r#"{"a":1}"#,
        r#"{"a":1,}"#,
        "\u{feff}{\n    \"a\": []\n}",
        "{\n  \"a\": 1\n  // end\n}\n",
    ] {
        for pointer in ["/demo", "/mcpServers/demo", "/new/deep/er"] {
            let with = set(text, pointer, server());
            assert_eq!(remove(&with, pointer), text, "{pointer} in {with}");
        }
    }
}

#[test]
fn removing_also_removes_commas_and_own_lines() {
    for (text, pointer, expected) in [
        ("{\"a\": 1, \"b\": 2}", "/a", "{\"b\": 2}"),
        ("{\"a\": 1, \"b\": 2}", "/b", "{\"a\": 1}"),
        ("{\"a\": {\"b\": 2}}", "/a/b", "{}"),
        (
            "{\n  \"a\": 1, // one\n  // two\n  \"b\": 2\n}",
            "/a",
            "{\n  // two\n  \"b\": 2\n}",
        ),
        (
            "{\n  \"a\": 1,\n  \"b\": 2 // two\n}",
            "/b",
            "{\n  \"a\": 1\n}",
        ),
        ("{\n  \"a\": 1,\n  \"b\": 2,\n}", "/b", "{\n  \"a\": 1,\n}"),
        (
            "{\"a\": {\"b\": 1 /* why */}}",
            "/a/b",
            "{\"a\": { /* why */}}",
        ),
        ("{\"a\": 1, \"a\": 2}", "/a", "{}"),
        ("{\"a\": 1}", "/b/c", "{\"a\": 1}"),
        ("{\"a\": 1}", "/a/c", "{\"a\": 1}"),
    ] {
        assert_eq!(remove(text, pointer), expected, "{pointer} in {text}");
    }
}

#[test]
fn elements_are_added_and_removed_by_place() {
    let text =
        "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"command\": \"theirs\"}\n    ]\n  }\n}\n";
    let mut document = Document::parse(KeyFormat::Json, text).unwrap();
    document
        .append(&keys("/hooks/Stop"), &json!({"command": "ours"}))
        .unwrap();
    document
        .append(&keys("/hooks/Start"), &json!({"command": "new"}))
        .unwrap();
    insta::assert_snapshot!(document.text(), @r#"
    {
      "hooks": {
        "Stop": [
          {"command": "theirs"},
          {
            "command": "ours"
          }
        ],
        "Start": [
          {
            "command": "new"
          }
        ]
      }
    }
    "#);
    document.remove_element(&keys("/hooks/Stop"), 1).unwrap();
    document.remove_element(&keys("/hooks/Start"), 0).unwrap();
    assert_eq!(document.text(), text);
}

#[test]
fn faults_name_their_place() {
    for (text, line, column) in [
        ("{\n  \"a\" 1\n}", 2, 7),
        ("{\"a\": 1", 1, 8),
        ("{\"a\": nope}", 1, 7),
        ("{\"a\": 1} x", 1, 10),
        ("{ /* open", 1, 3),
        ("{\"a\": \"open}", 1, 7),
    ] {
        match Document::parse(KeyFormat::Json, text) {
            Err(KeyError::Syntax {
                line: l, column: c, ..
            }) => assert_eq!((l, c), (line, column), "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    let nested = "[".repeat(100_000);
    assert!(Document::parse(KeyFormat::Json, &nested).is_err());
    let mut document = Document::parse(KeyFormat::Json, r#"{"a": 1}"#).unwrap();
    assert!(document.set(&keys("/a/b"), &json!(1)).is_err());
    assert!(document.append(&keys("/a"), &json!(1)).is_err());
    assert!(Document::parse(KeyFormat::Json, "[]").is_err());
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z\"\\\\/\n é]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-c]{1,2}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[{}\\[\\]\",:/*a1 \n\\\\-]{0,40}") {
        let _ = Document::parse(KeyFormat::Json, &text);
    }

    #[test]
    fn an_edit_changes_only_its_key(
        document in prop::collection::btree_map("[a-c]{1,2}", any_json(), 0..4),
        pretty in any::<bool>(),
        path in prop::collection::vec("[a-d]{1,2}", 1..4),
        value in any_json(),
    ) {
        let document = Value::Object(document.into_iter().collect());
        let text = if pretty {
            serde_json::to_string_pretty(&document).unwrap()
        } else {
            document.to_string()
        };
        let mut edited = Document::parse(KeyFormat::Json, &text).unwrap();
        prop_assert_eq!(edited.text(), text.clone());
        let reachable = edited.set(&path, &value).is_ok();
        if !reachable {
            prop_assert_eq!(edited.text(), text);
            return Ok(());
        }
        let mut expected = document.clone();
        let mut place = &mut expected;
        for key in &path {
            place = place.as_object_mut().unwrap().entry(key.clone()).or_insert_with(|| json!({}));
        }
        *place = value;
        let read: Value = serde_json::from_str(&edited.text()).unwrap();
        prop_assert_eq!(read, expected);
        edited.remove(&path).unwrap();
        prop_assert_eq!(edited.get(&path), None);
        let _: Value = serde_json::from_str(&edited.text()).unwrap();
    }
}
