//! Documents as blocks.

use proptest::prelude::*;

use super::*;

fn shown(text: &str) -> String {
    blocks(text)
        .iter()
        .map(|block| {
            let lines: Vec<String> = block
                .lines
                .iter()
                .map(|(number, line)| format!("{number}:{line}"))
                .collect();
            format!("{:?} [{}] {}", block.kind, block.heading, lines.join(" / "))
        })
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn blocks_of_a_document() {
    insta::assert_snapshot!(shown("---\ntitle: x\n---\nIntro one\nand two.\n\n# Title #\n- item one\n  goes on\n* [x] item two\n1. step\n\n```py title=\"x\"\ncode\n```\nAfter\nSetext\n\nHead\n----\n| a | b |\n> quote\n<!-- hidden\nstill -->\n<div>\n\n    indented code\n\nlast\n  ~~~\n  kept\n  ~~~\n"), @r#"
    Paragraph [] 4:Intro one / 5:and two.
    Item [Title] 8:item one / 9:goes on
    Item [Title] 10:item two
    Item [Title] 11:step
    Fence("py") [Title] 14:code
    Paragraph [Title] 16:After / 17:Setext
    Paragraph [Head] 29:last
    Fence("") [Head] 31:kept
    "#);
}

#[test]
fn an_unclosed_fence_ends_with_the_document() {
    let found = blocks("```rust\nlet x;\n");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].kind, BlockKind::Fence("rust".to_owned()));
}

#[test]
fn directives_of_restructured_text_are_blanked_line_by_line() {
    let text = "Title\n~~~~~\n\nSays ``x`` now.\n\n.. note::\n\n   hidden\n\nMore.\n";
    let read = from_rst(text);
    assert_eq!(read.lines().count(), text.lines().count());
    insta::assert_snapshot!(shown(&read), @"
    Paragraph [Title] 4:Says `x` now.
    Paragraph [Title] 10:More.
    ");
}

proptest! {
    #[test]
    fn line_numbers_point_at_the_lines(text in "([ \\-*#`>|<1.a-z]{0,12}\n){0,30}") {
        let lines: Vec<&str> = text.lines().collect();
        for block in blocks(&text) {
            for (number, said) in block.lines {
                let line = lines[usize::try_from(number).unwrap() - 1];
                prop_assert!(line.contains(said.trim()), "{number}: {said:?} in {line:?}");
            }
        }
    }
}
