//! Outputs mapped back to their sources, as a table.

use proptest::prelude::*;
use windlass_pack_model::{Layer, Origin, RelPath, Target};

use super::*;

fn origin() -> Origin {
    Origin {
        module_id: "skill:demo".into(),
        module_type: "skill".into(),
        module_path: RelPath::new("SKILL.md").unwrap(),
        layer: Layer::Upstream,
    }
}

fn edit<'a>(origin: &'a Origin, text: &str, newline_added: bool) -> Edit<'a> {
    Edit {
        target: Target::Codex,
        output: "/out".into(),
        origin,
        bytes: text.as_bytes().to_vec(),
        newline_added,
        section: false,
        executable: false,
    }
}

/// The edits in one, as text; `-` for a conflict.
fn together(source: &str, texts: &[(&str, bool)]) -> String {
    let origin = origin();
    let edits: Vec<Edit<'_>> = texts
        .iter()
        .map(|(text, newline)| edit(&origin, text, *newline))
        .collect();
    let edits: Vec<&Edit<'_>> = edits.iter().collect();
    match merged(source.as_bytes(), &edits) {
        Some(bytes) => String::from_utf8(bytes).unwrap(),
        None => "-".to_owned(),
    }
}

#[test]
fn edits_are_merged() {
    let source = "1\n2\n3\n4\n5\n";
    for (name, texts, expected) in [
        ("one", vec![("one\n", false)], "one\n"),
        ("equal", vec![("x\n", false), ("x\n", false)], "x\n"),
        (
            "apart",
            vec![("a\n2\n3\n4\n5\n", false), ("1\n2\n3\n4\nb\n", false)],
            "a\n2\n3\n4\nb\n",
        ),
        (
            "three, two of them equal",
            vec![
                ("a\n2\n3\n4\n5\n", false),
                ("1\n2\n3\n4\nb\n", false),
                ("a\n2\n3\n4\n5\n", false),
            ],
            "a\n2\n3\n4\nb\n",
        ),
        (
            "the same line",
            vec![("a\n2\n3\n4\n5\n", false), ("b\n2\n3\n4\n5\n", false)],
            "-",
        ),
    ] {
        assert_eq!(together(source, &texts), expected, "{name}");
    }
}

#[test]
fn an_added_newline_is_removed_again() {
    assert_eq!(together("bare", &[("edited\n", true)]), "edited");
    assert_eq!(together("bare", &[("edited\n", false)]), "edited\n");
    assert_eq!(together("ended\n", &[("edited\n", true)]), "edited\n");
    // Two forms of the same edit are equal.
    assert_eq!(
        together("bare", &[("edited\n", true), ("edited", false)]),
        "edited"
    );
}

proptest! {
    #[test]
    fn the_order_of_the_outputs_does_not_matter(
        source in "([a-c]\n){0,8}",
        left in "([a-d]\n){0,8}",
        right in "([a-d]\n){0,8}",
    ) {
        let one = together(&source, &[(&left, false), (&right, false)]);
        let other = together(&source, &[(&right, false), (&left, false)]);
        prop_assert_eq!(one, other);
    }
}
