//! Tests of the YAML tree.

use serde_json::json;

use super::*;

#[test]
fn values_are_read_by_the_core_schema() {
    let text = "a: 1\nb: -7\nc: 0x1F\nd: 1.5\ne: true\nf: yes\ng: ~\nh:\ni: \"1\"\nj: 'true'\nk: 007\nl: 1e3\nm: .inf\nn: [x, {y: z}]\no: 18446744073709551615\np: !!str 5\nq: 1.2.3\n";
    assert_eq!(
        parse(text, 1_000_000).unwrap().to_json(),
        json!({
            "a": 1, "b": -7, "c": 31, "d": 1.5, "e": true, "f": "yes", "g": null, "h": null,
            "i": "1", "j": "true", "k": "007", "l": 1000.0, "m": ".inf", "n": ["x", {"y": "z"}],
            "o": 18_446_744_073_709_551_615_u64, "p": "5", "q": "1.2.3"
        })
    );
}

#[test]
fn numbers_keep_their_text() {
    let node = parse("ref: 1.10\n", 1_000_000).unwrap();
    assert_eq!(node.entry("ref").unwrap().value.text(), Some("1.10"));
}

#[test]
fn places_are_those_of_the_text() {
    let text = "# head\nmodules:\n  - id: a\n    tags: [x,\n      y]\n\n  - id: b\n    note: |\n      one\n      two\n\nlast: 1\n";
    let root = parse(text, 1_000_000).unwrap();
    let modules = root.entry("modules").unwrap();
    assert_eq!((modules.key_start.line, modules.key_start.column), (2, 1));
    let items = modules.value.items().unwrap();
    assert_eq!(
        (
            items[0].start.line,
            items[0].start.column,
            items[0].last_line
        ),
        (3, 5, 5)
    );
    assert_eq!(items[1].start.line, 7);
    assert!(items[1].last_line >= 10 && items[1].last_line <= 11);
    assert_eq!(root.last_line, 12);
}

#[test]
fn bad_documents_name_a_place() {
    for (text, line, part) in [
        ("a: [1, 2\nb: 3\n", 2, ""),
        ("a: 1\n---\nb: 2\n", 2, "second document"),
        ("? [a]\n: b\n", 1, "cannot be a key"),
        ("a: &x [*x]\n", 1, "inside what it refers to"),
        ("a: *nobody\n", 1, ""),
        ("a:\n  - b\n c: d\n", 3, ""),
    ] {
        let error = parse(text, 1_000_000).unwrap_err();
        assert_eq!(error.at.line, line, "{text:?}: {}", error.message);
        assert!(
            error.message.contains(part),
            "{text:?}: {:?}",
            error.message
        );
    }
}

#[test]
fn aliases_cannot_blow_up() {
    let mut text = "l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let below = level - 1;
        let items = vec![format!("*l{below}"); 10].join(", ");
        text.push_str(&format!("l{level}: &l{level} [{items}]\n"));
    }
    assert!(
        parse(&text, 1_000_000)
            .unwrap_err()
            .message
            .contains("aliases expand")
    );
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    assert!(parse(&deep, 1_000_000).is_err());
}
