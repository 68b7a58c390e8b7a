//! Front matter changed in place: what is set reads back, and the body stays to the byte.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass_launch_model::markdown::frontmatter::{
    Format, find, parse, put_key, read, remove_key, set_keys, write,
};

pub fn run(data: &[u8]) {
    let Ok(page) = std::str::from_utf8(data) else {
        return;
    };
    let Some(block) = find(page) else {
        return;
    };
    let body = &page[block.body..];
    // Whatever is in it, a key can be put in and taken out without touching the body.
    assert!(put_key(page, &block, "zz_new", &json!("v")).ends_with(body));
    assert!(remove_key(page, &block, "title").ends_with(body));
    let Ok(keys) = parse(page, &block) else {
        assert!(read(page).is_err());
        return;
    };
    let updates: BTreeMap<String, Value> = [
        ("zz_new".to_owned(), json!(["a: b", "#"])),
        ("title".to_owned(), json!("A \"new\" title: yes")),
    ]
    .into();
    if let Ok(changed) = set_keys(page, &updates) {
        let (_, after) = read(&changed).expect("it reads back").expect("it is there");
        for (key, value) in keys.iter().filter(|(key, _)| !updates.contains_key(*key)) {
            assert_eq!(after.get(key), Some(value), "{changed}");
        }
        for (key, value) in &updates {
            assert_eq!(after.get(key), Some(value), "{changed}");
        }
        assert!(changed.ends_with(body));
        assert_eq!(set_keys(&changed, &updates).as_ref(), Ok(&changed));
    }
    // JSON holds everything there is, so what was read can be written and read again.
    let pairs: Vec<(String, Value)> = keys.clone().into_iter().collect();
    let written = write(Format::Json, &pairs);
    let (_, again) = read(&written).expect("it reads back").expect("it is there");
    assert_eq!(again, keys);
}
