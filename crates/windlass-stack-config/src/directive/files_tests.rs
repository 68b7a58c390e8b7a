//! What files become.

use super::*;
use serde_json::json;

#[test]
fn files_are_read_by_their_extension() {
    for (name, text, expected) in [
        ("a.json", "{\"a\": [1]}", Ok(json!({"a": [1]}))),
        ("a.yaml", "a: [1]", Ok(json!({"a": [1]}))),
        (
            "sub/.env.local",
            "A=1\n\n# x\nB = \"a\\nb\" # c\nC='d # e'\nD=f#g",
            Ok(json!({"A": "1", "B": "a\nb", "C": "d # e", "D": "f#g"})),
        ),
        (
            "a.ini",
            "; c\nk=v\n[s]\nx = y=z\n[s]\nw=1",
            Ok(json!({"k": "v", "s": {"x": "y=z", "w": "1"}})),
        ),
        ("a.env", "no assignment", Err("a.env:1: expected KEY=value")),
        ("a.ini", "[s\n", Err("a.ini:1: expected key = value")),
        (
            "a.ini",
            "s=1\n[s]\nx=1",
            Err("a.ini:3: a section has the name of a key"),
        ),
        (
            "a.yml",
            "a: 1\na: 2",
            Err("a.yml:2: the key \"a\" is repeated here; it is also on line 1"),
        ),
        (
            "a.toml",
            "",
            Err(
                "a.toml is not one of .env, .json, .yml, .yaml and .ini; use $FileRaw for its text",
            ),
        ),
    ] {
        let found = parse(name, text).map(|node| node.to_json());
        assert_eq!(found, expected.map_err(str::to_owned), "{name}");
    }
}
