//! What pages agree on.

use serde_json::json;

use super::*;

fn page(keys: &Value) -> Keys {
    (Format::Toml, keys.as_object().unwrap().clone())
}

#[test]
fn a_section_agrees_on_keys_types_and_values() {
    let mut pages: Vec<Keys> = (0..10)
        .map(|index| page(&json!({"title": format!("T{index}"), "layout": "doc", "draft": false})))
        .collect();
    pages[0].1.insert("layout".to_owned(), json!("other"));
    pages[1].1.insert("draft".to_owned(), json!("no"));
    pages[2].1.insert("extra".to_owned(), json!(1));
    let found = section_contract(&pages);
    insta::assert_snapshot!(serde_json::to_string_pretty(&found).unwrap(), @r#"
    {
      "sample_size": 10,
      "format": "toml",
      "required_keys": [
        "draft",
        "layout",
        "title"
      ],
      "optional_keys": [
        "extra"
      ],
      "key_types": {
        "draft": "unknown",
        "extra": "integer",
        "layout": "string",
        "title": "string"
      },
      "default_values": {
        "draft": false,
        "layout": "doc"
      }
    }
    "#);
}

#[test]
fn a_key_that_is_blank_everywhere_has_no_default() {
    let pages: Vec<Keys> = (0..10)
        .map(|_| page(&json!({"title": "T", "audience": null})))
        .collect();
    let found = section_contract(&pages);
    assert!(found.default_values.is_empty());
    assert_eq!(found.required_keys, ["audience", "title"]);
    assert_eq!(found.key_types["audience"], "unknown");
}

#[test]
fn no_pages_ask_for_a_title_and_one_page_sets_no_default() {
    let none = section_contract(&[]);
    assert_eq!(
        (none.sample_size, none.required_keys),
        (0, vec!["title".to_owned()])
    );
    let one = section_contract(&[page(&json!({"title": "A", "layout": "doc"}))]);
    assert!(one.default_values.is_empty());
    assert_eq!(one.required_keys, ["layout", "title"]);
}

#[test]
fn the_first_fifty_pages_of_a_section_are_looked_at() {
    let mut tree = Tree::default();
    let mut add = |path: String, text: &str| {
        let file = crate::tree::File {
            size: 0,
            digest: windlass_types::Digest::ZERO,
            binary: false,
            text: Some(text.into()),
        };
        tree.files.insert(path, file);
    };
    for index in 0..60 {
        let text = if index < 50 {
            "---\ntitle: x\nlayout: y\n---\n"
        } else {
            "---\nother: x\n---\n"
        };
        add(format!("content/docs/{index:02}.md"), text);
    }
    add("content/docs/00.html".to_owned(), "---\nhtml: x\n---\n");
    add("content/docsother/00.md".to_owned(), "---\nx: x\n---\n");
    let roots = BTreeMap::from([
        (Section::Docs, "content/docs".to_owned()),
        (Section::Blog, "content/blog".to_owned()),
    ]);
    let found = contract(&tree, &roots);
    let docs = &found.sections[&Section::Docs];
    assert_eq!(docs.sample_size, 50);
    assert_eq!(docs.required_keys, ["layout", "title"]);
    assert!(docs.optional_keys.is_empty());
    assert_eq!(found.sections[&Section::Blog].sample_size, 0);
}
