//! Pieces of Markdown texts.

use std::fmt::Write as _;

use super::*;

fn read(spec: &str) -> String {
    let mut out = String::new();
    for piece in segment(spec) {
        let aside = piece
            .set_aside
            .map(|why| format!(" ({why})"))
            .unwrap_or_default();
        let intro = piece
            .intro
            .map(|intro| format!(" <- {}", intro + 1))
            .unwrap_or_default();
        let _ = writeln!(
            out,
            "{:?} {:?} {:?}{intro}{aside}: {:?}",
            piece.section,
            piece.place,
            piece.heading.unwrap_or_default(),
            &spec[piece.start..piece.end]
        );
    }
    out
}

#[test]
fn headings_lists_tables_and_code() {
    insta::assert_snapshot!(read("# Title\n\nOne. Two *bold* words.\n\n## Features\n\nTeachers can:\n\n- write `code`\n- read\n  - deeply\n\n| Role | Does |\n|---|---|\n| Admin | All |\n\n```sh\nls\n```\n\n---\n\n**Look.** Nice &amp; calm.\n"), @r###"
    Unknown Heading "Title": "# Title"
    Unknown Sentence "Title": "One."
    Unknown Sentence "Title": "Two *bold* words."
    Features Heading "Features": "## Features"
    Features Sentence "Features": "Teachers can:"
    Features Bullet "Features" <- 5: "- write `code`"
    Features Bullet "Features" <- 5: "- read"
    Features Bullet "Features" <- 5: "- deeply"
    Features TableRow "Features" (the names of a table's columns): "| Role | Does |\n|---|---|"
    Features TableRow "Features": "| Admin | All |"
    Features Sentence "Features" (a block of code): "```sh\nls\n```\n\n---"
    Design Heading "Look": "**Look.**"
    Design Sentence "Look": "Nice &amp; calm."
    "###);
}

#[test]
fn plain_text_with_labels_and_other_bullets() {
    insta::assert_snapshot!(read("Product: X\nOverview:\nIt helps.\n\nFeatures:\n• one\n• two\n\nBudget: $5k\nColors: red\n\nAdmins:\n- Manage users\n"), @r#"
    Unknown Sentence "": "Product: X"
    Goal Heading "Overview": "Overview:"
    Goal Sentence "Overview": "It helps."
    Features Heading "Features": "Features:"
    Features Bullet "Features": "• one"
    Features Bullet "Features": "• two"
    Constraints Sentence "Features": "Budget: $5k"
    Design Sentence "Features": "Colors: red"
    Unknown Heading "Admins": "Admins:"
    Unknown Bullet "Admins": "- Manage users"
    "#);
}

#[test]
fn nothing_but_space_is_nothing() {
    assert!(segment("").is_empty() && segment(" \n\t ").is_empty());
    assert_eq!(segment("***").len(), 1);
}

#[test]
fn markup_is_removed_and_its_text_is_read() {
    insta::assert_snapshot!(read("<script>alert(1)</script> Members can order.\n\n<div class=\"x\">\nUsers can rate\n<b>books</b>.\n</div>\n\n<!-- not\nthis -->\n\n- [ ] Chefs can cook\n- [x] Guests can eat\n"), @r#"
    Unknown Sentence "" (markup, not text): "<script>alert(1)</script>"
    Unknown Sentence "": "Members can order."
    Unknown Sentence "" (markup, not text): "<div class=\"x\">"
    Unknown Sentence "": "Users can rate\n<b>books</b>."
    Unknown Sentence "" (markup, not text): "</div>"
    Unknown Sentence "" (markup, not text): "<!-- not\nthis -->"
    Unknown Bullet "": "- [ ] Chefs can cook"
    Unknown Bullet "": "- [x] Guests can eat"
    "#);
}
