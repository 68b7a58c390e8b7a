//! Front matter in three languages, and what pages agree on.

use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn three_languages() {
    for (text, format, body) in [
        (
            "---\ntitle: A\nweight: 3\n---\nBody\n",
            Format::Yaml,
            "Body\n",
        ),
        (
            "---\r\ntitle: A\r\nweight: 3\r\n---\r\nBody\n",
            Format::Yaml,
            "Body\n",
        ),
        (
            "\u{feff}---\ntitle: A\nweight: 3\n---\nBody\n",
            Format::Yaml,
            "Body\n",
        ),
        (
            "+++\ntitle = \"A\"\nweight = 3\n+++\nBody\n",
            Format::Toml,
            "Body\n",
        ),
        (
            "{\n \"title\": \"A\", \"weight\": 3\n}\nBody\n",
            Format::Json,
            "Body\n",
        ),
    ] {
        let found = parse(text).unwrap().unwrap();
        assert_eq!(found.format, format);
        assert_eq!(
            Value::Object(found.data),
            json!({"title": "A", "weight": 3}),
            "{text}"
        );
        assert_eq!(&text[found.length..], body, "{text}");
    }
}

#[test]
fn what_is_none_and_what_is_broken() {
    assert_eq!(parse("# Title\n"), Ok(None));
    assert_eq!(parse("{{< shortcode >}}\n"), Ok(None));
    assert_eq!(parse(""), Ok(None));
    assert_eq!(
        parse("---\ntitle: A\n"),
        Err(FrontMatterError::Unclosed { delimiter: "---" })
    );
    for text in [
        "---\n: : [\n---\n",
        "+++\n= 1\n+++\n",
        "{\"a\":\n",
        "---\n- a\n---\n",
    ] {
        let error = parse(text).unwrap_err();
        assert!(
            matches!(error, FrontMatterError::Syntax { .. }),
            "{text}: {error}"
        );
    }
    assert!(parse("---\n---\nBody").unwrap().unwrap().data.is_empty());
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
    }
}

fn page(data: Value) -> FrontMatter {
    FrontMatter {
        format: Format::Toml,
        data: data.as_object().unwrap().clone(),
        length: 0,
    }
}

#[test]
fn a_section_agrees_on_keys_types_and_values() {
    let mut pages: Vec<FrontMatter> = (0..10)
        .map(|index| page(json!({"title": format!("T{index}"), "layout": "doc", "draft": false})))
        .collect();
    pages[0].data.insert("layout".to_owned(), json!("other"));
    pages[1].data.insert("draft".to_owned(), json!("no"));
    pages[2].data.insert("extra".to_owned(), json!(1));
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
fn no_pages_ask_for_a_title_and_one_page_sets_no_default() {
    let none = section_contract(&[]);
    assert_eq!(
        (none.sample_size, none.required_keys),
        (0, vec!["title".to_owned()])
    );
    let one = section_contract(&[page(json!({"title": "A", "layout": "doc"}))]);
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

#[test]
fn deep_nesting_is_refused_and_does_not_end_the_process() {
    let deep = format!(
        "---\na: {}{}\n---\n",
        "[".repeat(50_000),
        "]".repeat(50_000)
    );
    assert!(parse(&deep).is_err());
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(50_000), "]".repeat(50_000));
    assert!(parse(&deep).is_err());
    let deep = format!("+++\na = {}{}\n+++\n", "[".repeat(5_000), "]".repeat(5_000));
    assert!(parse(&deep).is_err());
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "(---|\\+\\+\\+|\\{)?[\\PC\n]{0,200}") {
        if let Ok(Some(found)) = parse(&text) {
            prop_assert!(text.is_char_boundary(found.length));
        }
    }
}
