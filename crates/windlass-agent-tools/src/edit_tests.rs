//! What is found, what is ambiguous, what stays.

use proptest::prelude::*;

use super::*;

fn edited(text: &str, old: &str, new: &str) -> String {
    match edit(text, old, new, false) {
        Ok(edit) => edit.text,
        Err(failure) => format!("{} {}", failure.code.as_str(), failure.message),
    }
}

#[test]
fn one_occurrence_is_replaced() {
    for (text, old, new, expected) in [
        ("a b c", "b", "x", "a x c"),
        ("a b c", "b ", "", "a c"),
        // Line ends of the file, or of the part.
        ("a\r\nb\r\nc\r\n", "b", "x\ny", "a\r\nx\r\ny\r\nc\r\n"),
        ("a\r\nb\r\nc\r\n", "a\nb", "x\ny\n", "x\r\ny\r\n\r\nc\r\n"),
        ("a\nb\n", "a\n", "x\r\n", "x\r\nb\n"),
        ("a\r\nb\nc\nd\n", "b\nc", "x\ny", "a\r\nx\ny\nd\n"),
        // A byte order mark stays.
        ("\u{feff}a\r\nb", "a\nb", "x", "\u{feff}x"),
        // Typography.
        ("say “hi” – ok…", "say \"hi\" - ok...", "x", "x"),
        ("it’s\u{a0}here", "it's here", "x", "x"),
        ("a 'b' c", "a ‘b’ c", "x", "x"),
        ("ü“ö”ä", "\"ö\"", "y", "üyä"),
    ] {
        assert_eq!(edited(text, old, new), expected, "{text:?} {old:?}");
    }
}

#[test]
fn what_is_not_certain_is_refused() {
    insta::assert_snapshot!(
        [
            edited("a\nb\na\n", "a", "x"),
            edited("aaa", "aa", "x"),
            edited("“a”\n\"b\"\n‘a’\n„a“\n", "\"a\"", "x"),
            edited("a", "b", "x"),
            edited("a", "a", "a"),
            // Half of what one character became.
            edited("a…b", "a..", "x"),
            edited(&"x\n".repeat(30), "x", "y"),
        ]
        .join("\n"),
        @"
        STRING_NOT_UNIQUE old_str occurs 2 times, on lines 1, 3. Include more of the text around the one to change, or set replace_all. Nothing was changed.
        STRING_NOT_UNIQUE old_str occurs 2 times, on lines 1, 1. Include more of the text around the one to change, or set replace_all. Nothing was changed.
        STRING_NOT_UNIQUE old_str does not occur as written, and with plain quotes, dashes and blanks it occurs 2 times, on lines 1, 4. Include more of the text around the one to change, or set replace_all. Nothing was changed.
        STRING_NOT_FOUND old_str does not occur. View the file and copy the text exactly.
        OLD_STR_NEW_STR_IDENTICAL old_str and new_str are the same, so there is nothing to change.
        STRING_NOT_FOUND old_str does not occur. View the file and copy the text exactly.
        STRING_NOT_UNIQUE old_str occurs 30 times, on lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, …. Include more of the text around the one to change, or set replace_all. Nothing was changed.
        "
    );
}

#[test]
fn all_occurrences_on_request() {
    let edit = edit("aXbXc", "X", "-", true).unwrap();
    assert_eq!((edit.text.as_str(), edit.count), ("a-b-c", 2));
    assert_eq!(super::edit("aaaa", "aa", "b", true).unwrap().text, "bb");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// A unique text is replaced and nothing else; what is there twice changes nothing.
    #[test]
    fn only_the_unique_place_changes(
        before in "[a-c\\r\\n“” ]{0,12}",
        old in "[a-c\\n\" ]{1,5}",
        after in "[a-c\\r\\n…-]{0,12}",
        new in "[x-z]{0,6}",
    ) {
        let text = format!("{before}{old}{after}");
        let places = starts(&text, &old).len();
        match edit(&text, &old, &new, false) {
            Ok(edit) => {
                prop_assert_eq!(places, 1);
                prop_assert_eq!(edit.text, format!("{before}{new}{after}"));
                prop_assert!(edit.is_exact);
            }
            Err(failure) => {
                prop_assert!(places > 1);
                prop_assert_eq!(failure.code, Code::StringNotUnique);
            }
        }
    }

    /// What is outside the replaced place keeps every byte, line ends and marks included.
    #[test]
    fn a_loose_match_changes_only_its_place(
        before in "[a-c\\r\\n\u{feff}é]{0,12}",
        after in "[a-c\\r\\n\u{a0}é]{0,12}",
    ) {
        let text = format!("{before}“Q”{after}");
        let edit = edit(&text, "\"Q\"", "new", false).unwrap();
        prop_assert_eq!(edit.text, format!("{before}new{after}"));
        prop_assert!(!edit.is_exact);
    }

    /// Replacing and replacing back is the original.
    #[test]
    fn there_and_back(before in "[a-e\\n]{0,20}", after in "[a-e\\n]{0,20}", new in "[v-z]{1,6}") {
        let text = format!("{before}OLD{after}");
        let there = edit(&text, "OLD", &new, false).unwrap().text;
        prop_assert_eq!(edit(&there, &new, "OLD", false).unwrap().text, text);
    }

    /// Nothing panics, whatever the texts are.
    #[test]
    fn any_texts(text in "\\PC{0,60}", old in "\\PC{0,10}", new in "\\PC{0,10}", all: bool) {
        let _ = edit(&text, &old, &new, all);
    }
}
