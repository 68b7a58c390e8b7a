//! Cases of `patch`, as tables.

use proptest::prelude::*;
use serde_json::json;

use super::*;

const PAGE: &str = "---\ntitle: A\n---\n\nIntro.\n\n## One\n\nText.\n\n### Deeper\n\nMore.\n\n## Two\n\n```md\n## One\n```\n";

fn made(edit: Edit) -> (Patch, String) {
    edit_file("patch_001", "docs/a.md", PAGE, &edit).unwrap()
}

fn anchor(anchor: &str, text: &str) -> Edit {
    Edit::Anchor {
        anchor: anchor.to_owned(),
        text: text.to_owned(),
    }
}

#[test]
fn edits_touch_only_their_part() {
    for (edit, expected) in [
        (
            anchor("## One", "\nNew.\n\n"),
            PAGE.replace("Text.\n\n### Deeper\n\nMore.\n", "New.\n"),
        ),
        (
            anchor("Deeper", "\nNew.\n\n"),
            PAGE.replace("More.\n", "New.\n"),
        ),
        (
            Edit::Range {
                start: 5,
                end: 5,
                text: "X\nY\n".to_owned(),
            },
            PAGE.replace("Intro.\n", "X\nY\n"),
        ),
        (
            Edit::Range {
                start: 5,
                end: 4,
                text: "X\n".to_owned(),
            },
            PAGE.replace("Intro.\n", "X\nIntro.\n"),
        ),
        (
            Edit::Range {
                start: 20,
                end: 19,
                text: "End".to_owned(),
            },
            format!("{PAGE}End"),
        ),
        (
            Edit::Keys(BTreeMap::from([("title".to_owned(), json!("B"))])),
            PAGE.replace("title: A", "title: \"B\""),
        ),
    ] {
        let (patch, after) = made(edit);
        assert_eq!(after, expected);
        assert_eq!(
            apply_patch(Some(PAGE.as_bytes()), &patch),
            Ok(Outcome::Written(expected))
        );
        assert_eq!(
            apply_patch(Some(after.as_bytes()), &patch),
            Ok(Outcome::Unchanged)
        );
    }
}

#[test]
fn a_comment_is_an_anchor_too() {
    let page = "a\n<!-- x -->\nold\n<!-- /x -->\n<!-- y -->\nz\n";
    let (_, after) = edit_file("p", "a.md", page, &anchor("<!-- x -->", "new\n")).unwrap();
    assert_eq!(after, "a\n<!-- x -->\nnew\n<!-- /x -->\n<!-- y -->\nz\n");
    let (patch, after) = edit_file("p", "a.md", page, &anchor("<!-- y -->", "new\n")).unwrap();
    assert_eq!(
        after,
        "a\n<!-- x -->\nold\n<!-- /x -->\n<!-- y -->\nnew\nz\n"
    );
    // Another part was changed: what the anchor adds is still there.
    assert_eq!(
        apply_patch(Some(after.replace("old", "mine").as_bytes()), &patch),
        Ok(Outcome::Unchanged)
    );
}

#[test]
fn every_conflict_has_its_type() {
    use ConflictReason as Reason;
    let reason = |current: Option<&[u8]>, patch: &Patch| {
        apply_patch(current, patch).unwrap_err().conflict_reason
    };
    let (edit, _) = made(anchor("## One", "New.\n"));
    let (range, _) = made(Edit::Range {
        start: 1,
        end: 1,
        text: String::new(),
    });
    let page = Some(PAGE.as_bytes());
    for (anchor_text, expected) in [
        ("## Three", Reason::AnchorMissing),
        ("<!-- none -->", Reason::AnchorMissing),
    ] {
        assert_eq!(
            edit_file("p", "a.md", PAGE, &anchor(anchor_text, "x"))
                .unwrap_err()
                .conflict_reason,
            expected
        );
    }
    let twice = "## A\n\n## A\n";
    let found = edit_file("p", "a.md", twice, &anchor("## A", "x")).unwrap_err();
    assert_eq!(
        (found.conflict_reason, found.actual_state.as_str()),
        (Reason::AnchorMissing, "2 of them")
    );
    for (start, end) in [(0, 0), (21, 20), (3, 1), (19, 20)] {
        let edit = Edit::Range {
            start,
            end,
            text: String::new(),
        };
        assert_eq!(
            edit_file("p", "a.md", PAGE, &edit)
                .unwrap_err()
                .conflict_reason,
            Reason::RangeOutOfBounds,
            "{start} {end}"
        );
    }
    let keys = Edit::Keys(BTreeMap::from([("a".to_owned(), json!(1))]));
    assert_eq!(
        edit_file("p", "a.md", "No front matter.\n", &keys)
            .unwrap_err()
            .conflict_reason,
        Reason::KeyMissing
    );
    assert_eq!(
        reason(Some(b"## One\n\nother\n"), &edit),
        Reason::HashMismatch
    );
    assert_eq!(reason(Some(b"other\n"), &range), Reason::HashMismatch);
    assert_eq!(reason(None, &edit), Reason::HashMismatch);
    assert_eq!(reason(Some(b"a\0b"), &edit), Reason::Binary);
    assert_eq!(reason(Some(b"a\xffb"), &edit), Reason::NotUtf8);
    assert_eq!(reason(Some(&vec![b'a'; 5 << 20]), &edit), Reason::TooLarge);
    assert_eq!(
        reason(page, &delete_file("p", "a.md", b"other")),
        Reason::HashMismatch
    );
    assert_eq!(
        reason(page, &create_file("p", "a.md", "new\n")),
        Reason::FileExists
    );
    let mut forged = create_file("p", "a.md", "new\n");
    forged.new_content = Some("evil\n".to_owned());
    assert_eq!(reason(None, &forged), Reason::HashMismatch);
    let mut forged = edit;
    forged.new_content = Some("evil\n".to_owned());
    assert_eq!(reason(page, &forged), Reason::HashMismatch);
}

#[test]
fn create_never_rewrites_a_file() {
    let patch = create_file("p", "a.md", "new\n");
    assert_eq!(
        apply_patch(None, &patch),
        Ok(Outcome::Written("new\n".to_owned()))
    );
    assert_eq!(apply_patch(Some(b"new\n"), &patch), Ok(Outcome::Unchanged));
    assert!(apply_patch(Some(b"old\n"), &patch).is_err());
}

#[test]
fn patches_that_depend_on_each_other_are_refused() {
    let range = |text: &str| Edit::Range {
        start: 1,
        end: 1,
        text: text.to_owned(),
    };
    let (forth, b) = edit_file("patch_001", "a.md", "a\n", &range("b\n")).unwrap();
    let (back, a) = edit_file("patch_002", "a.md", &b, &range("a\n")).unwrap();
    assert_eq!(a, "a\n");
    let found = apply_row(Some(b"c\n"), &[&forth, &back]).unwrap_err();
    assert_eq!(found.conflict_reason, ConflictReason::CircularDependency);
}

#[test]
fn line_breaks_stay_those_of_the_file() {
    let (_, after) = edit_file("p", "a.md", "## A\r\n\r\nx\r\n", &anchor("## A", "\ny\n")).unwrap();
    assert_eq!(after, "## A\r\n\r\ny\r\n");
}

fn edit() -> impl Strategy<Value = Edit> {
    let text = "([a-z#]{0,6}\n){0,3}[a-z]{0,3}";
    prop_oneof![
        (1_u64..12, 0_u64..12, text).prop_map(|(start, length, text)| Edit::Range {
            start,
            end: start + length - 1,
            text
        }),
        ("## [ab]", text).prop_map(|(anchor, text)| Edit::Anchor { anchor, text }),
        ("[a-c]", "[ -~]{0,6}")
            .prop_map(|(key, value)| Edit::Keys(BTreeMap::from([(key, json!(value))]))),
    ]
}

proptest! {
    /// A series of patches leaves the same file when applied once, twice, or resumed halfway.
    #[test]
    fn applying_twice_changes_nothing(
        body in "(---\na: 1\n---\n)?((## [ab]|[a-c]{0,4})\n){0,10}[a-z]{0,3}",
        edits in proptest::collection::vec(edit(), 1..6),
        cut in 0_usize..6,
    ) {
        let mut text = body.clone();
        let mut states = vec![body.clone()];
        let mut patches = Vec::new();
        for (number, edit) in edits.iter().enumerate() {
            if let Ok((patch, after)) = edit_file(&patch_id(number), "a.md", &text, edit) {
                patches.push(patch);
                text.clone_from(&after);
                states.push(after);
            }
        }
        let row: Vec<&Patch> = patches.iter().collect();
        let run = |current: &str| match apply_row(Some(current.as_bytes()), &row).unwrap() {
            Outcome::Unchanged => current.to_owned(),
            Outcome::Written(text) => text,
            Outcome::Removed => unreachable!(),
        };
        prop_assert_eq!(run(&body), text.clone());
        prop_assert_eq!(run(&text), text.clone());
        prop_assert_eq!(run(&states[cut.min(states.len() - 1)]), text);
    }
}
