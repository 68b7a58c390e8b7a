//! Keys in shared JSON and TOML files: setting and removing one gives the file back, and in
//! between every other value is what it was.

use serde_json::{Value, json};
use windlass_pack_deploy::keys::Document;
use windlass_pack_model::KeyFormat;

const NAME: &str = "an \"added\" key";

/// Places for a key nobody has: at the top, below a new table, below each table at the top.
fn places(document: &Document) -> Vec<Vec<String>> {
    let mut places = vec![
        vec![NAME.to_owned()],
        vec![NAME.to_owned(), "below".to_owned()],
    ];
    if let Some(Value::Object(top)) = document.get(&[]) {
        let tables = top
            .iter()
            // A table that was empty goes with the last key.
            .filter(|(_, value)| value.as_object().is_some_and(|table| !table.is_empty()))
            .take(4);
        places.extend(tables.map(|(table, _)| vec![table.clone(), NAME.to_owned()]));
    }
    places
}

fn without_space(text: &str) -> String {
    text.chars().filter(|part| !part.is_whitespace()).collect()
}

fn check(format: KeyFormat, text: &str) {
    let Ok(document) = Document::parse(format, text) else {
        return;
    };
    let value = json!({ "command": "run", "args": ["a", 1], "env": { "A": "b" } });
    for keys in places(&document) {
        if document.get(&keys).is_some() {
            continue;
        }
        let mut changed = document.clone();
        if changed.set(&keys, &value).is_err() {
            continue;
        }
        let with = changed.text();
        let mut read = Document::parse(format, &with)
            .unwrap_or_else(|error| panic!("{keys:?}: {error}\n{with}"));
        assert_eq!(read.get(&keys).as_ref(), Some(&value), "{with}");
        read.remove(&keys)
            .unwrap_or_else(|error| panic!("{keys:?}: {error}\n{with}"));
        let back = read.text();
        let same = Document::parse(format, &back).expect("it reads back");
        assert_eq!(same.get(&[]), document.get(&[]), "{back}");
        // Blank documents become `{}`, and blanks inside `{ }` are not kept.
        if document.get(&[]) == Some(json!({})) {
            assert!(document.is_blank() || without_space(&back) == without_space(text));
        } else {
            assert_eq!(
                unended(format, &back),
                unended(format, text),
                "{keys:?}\n{with}"
            );
        }
    }
}

/// What is compared: of TOML not the line ends, which are rewritten where a file mixes them
/// and added where the last line has none.
fn unended(format: KeyFormat, text: &str) -> String {
    match format {
        KeyFormat::Json => text.to_owned(),
        KeyFormat::Toml => text.replace("\r\n", "\n").trim_end_matches('\n').to_owned(),
    }
}

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    check(KeyFormat::Json, text);
    check(KeyFormat::Toml, text);
}
