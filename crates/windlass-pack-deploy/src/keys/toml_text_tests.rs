//! Edits of TOML texts.

use serde_json::{Value, json};
use windlass_pack_model::KeyFormat;

use super::{Document, KeyError, Pointer};

fn keys(pointer: &str) -> Vec<String> {
    Pointer::parse(pointer).unwrap().keys().to_vec()
}

fn set(text: &str, pointer: &str, value: Value) -> String {
    let mut document = Document::parse(KeyFormat::Toml, text).unwrap();
    document.set(&keys(pointer), &value).unwrap();
    assert_eq!(document.get(&keys(pointer)), Some(value));
    document.text()
}

fn remove(text: &str, pointer: &str) -> String {
    let mut document = Document::parse(KeyFormat::Toml, text).unwrap();
    document.remove(&keys(pointer)).unwrap();
    assert_eq!(document.get(&keys(pointer)), None);
    document.text()
}

const CONFIG: &str = "# mine\nmodel = \"x\"   # the good one\n\n[mcp_servers.theirs]\ncommand = 'y'\n\n[profiles.fast]\nlevel = 1\n";

fn server() -> Value {
    json!({"command": "run", "args": ["a"], "env": {"KEY": "${KEY}"}})
}

#[test]
fn a_new_table_joins_the_file() {
    insta::assert_snapshot!(set(CONFIG, "/mcp_servers/demo", server()), @r#"
    # mine
    model = "x"   # the good one

    [mcp_servers.theirs]
    command = 'y'

    [mcp_servers.demo]
    args = ["a"]
    command = "run"

    [mcp_servers.demo.env]
    KEY = "${KEY}"

    [profiles.fast]
    level = 1
    "#);
    insta::assert_snapshot!(set("", "/mcp_servers/demo", json!({"command": "x"})), @r#"
    [mcp_servers.demo]
    command = "x"
    "#);
}

#[test]
fn setting_and_removing_restores_the_text() {
    for text in [
        CONFIG,
        "",
        "a = 1\n",
        "mcp_servers = { x = { command = 'y' } }\n",
        "a = 1\r\nb = 2\r\n",
        "\u{feff}a = 1\n",
    ] {
        let with = set(text, "/mcp_servers/demo", server());
        assert_eq!(remove(&with, "/mcp_servers/demo"), text, "{with}");
    }
}

#[test]
fn a_replaced_table_keeps_its_place_and_comment() {
    let text = "[a]\nx = 1\n\n# about b\n[b]\ny = 2\n\n[c]\nz = 3\n";
    insta::assert_snapshot!(set(text, "/b", json!({"y": 5})), @r"
    [a]
    x = 1

    # about b
    [b]
    y = 5

    [c]
    z = 3
    ");
}

#[test]
fn elements_of_both_kinds_of_arrays() {
    let mut document = Document::parse(KeyFormat::Toml, "list = [1, 2]\n").unwrap();
    document.append(&keys("/list"), &json!(3)).unwrap();
    document
        .append(&keys("/hooks"), &json!({"command": "x"}))
        .unwrap();
    insta::assert_snapshot!(document.text(), @r#"
    list = [1, 2, 3]

    [[hooks]]
    command = "x"
    "#);
    assert_eq!(
        document.get(&keys("/hooks")),
        Some(json!([{"command": "x"}]))
    );
    document.remove_element(&keys("/hooks"), 0).unwrap();
    document.remove_element(&keys("/list"), 2).unwrap();
    assert_eq!(document.text(), "list = [1, 2]\n");
}

#[test]
fn faults_name_their_place() {
    assert!(matches!(
        Document::parse(KeyFormat::Toml, "a = 1\nb = = 2\n"),
        Err(KeyError::Syntax { line: 2, .. })
    ));
    let mut document = Document::parse(KeyFormat::Toml, "a = 1\n").unwrap();
    assert!(document.set(&keys("/a/b"), &json!(1)).is_err());
    assert!(document.append(&keys("/a"), &json!(1)).is_err());
    assert!(
        Document::parse(KeyFormat::Toml, "a = 1\n")
            .unwrap()
            .get(&keys("/a/b"))
            .is_none()
    );
}
