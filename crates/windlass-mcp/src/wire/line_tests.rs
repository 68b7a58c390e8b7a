//! Lines: limits, blanks, marks, and that chunking does not matter.

use proptest::prelude::*;

use super::{FrameReader, Line, LineReader};

fn show(line: &Line<'_>) -> String {
    match line {
        Line::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Line::TooLong => "<too long>".to_owned(),
    }
}

/// Feeds the chunks and returns every line, the unfinished one included.
fn lines(limit: usize, chunks: &[&[u8]]) -> Vec<String> {
    let mut reader = LineReader::new(limit);
    let mut seen = Vec::new();
    for chunk in chunks {
        reader.push(chunk);
        while let Some(line) = reader.next() {
            seen.push(show(&line));
        }
    }
    seen.extend(reader.finish().as_ref().map(show));
    seen
}

#[test]
fn splits_at_newlines_and_passes_over_blanks() {
    let cases: &[(&str, &[u8], &[&str])] = &[
        ("nothing", b"", &[]),
        ("one", b"a\n", &["a"]),
        ("no newline at the end", b"a\nb", &["a", "b"]),
        (
            "carriage return stays for the parser",
            b"a\r\nb\r\n",
            &["a\r", "b\r"],
        ),
        ("blank lines", b"\n\r\n \t\na\n\n", &["a"]),
        ("byte-order mark at the start", b"\xef\xbb\xbfa\n", &["a"]),
        ("byte-order mark alone", b"\xef\xbb\xbf\nb\n", &["b"]),
        (
            "byte-order mark later is content",
            b"a\n\xef\xbb\xbfb\n",
            &["a", "\u{feff}b"],
        ),
        ("exactly the limit", b"12345678\n", &["12345678"]),
        ("one more", b"123456789\nb\n", &["<too long>", "b"]),
        (
            "much more, reported once",
            b"12345678901234567890\nb\n",
            &["<too long>", "b"],
        ),
        ("too long at the end", b"a\n123456789", &["a", "<too long>"]),
        ("nul bytes are content", b"\0\n", &["\0"]),
    ];
    for (name, input, want) in cases {
        assert_eq!(lines(8, &[input]), *want, "{name}");
    }
}

#[test]
fn a_long_line_is_reported_before_it_ends_and_not_kept() {
    let mut reader = LineReader::new(1000);
    reader.push(&[b'x'; 1001]);
    assert_eq!(reader.next(), Some(Line::TooLong));
    for _ in 0..1000 {
        reader.push(&[b'x'; 1000]);
        assert_eq!(reader.next(), None);
    }
    assert!(
        reader.room().capacity() < 300_000,
        "skipped bytes were stored"
    );
    reader.push(b"\nok\n");
    assert_eq!(reader.next(), Some(Line::Text(b"ok")));
}

#[test]
fn a_long_line_at_the_end_of_input_is_reported_once() {
    assert_eq!(lines(4, &[b"123", b"456", b"789"]), ["<too long>"]);
}

proptest! {
    #[test]
    fn chunking_does_not_matter(
        input in proptest::collection::vec(prop_oneof![3 => any::<u8>(), 1 => Just(b'\n'), 1 => Just(b' ')], 0..400),
        cuts in proptest::collection::vec(0_usize..400, 0..20),
        limit in 1_usize..50,
    ) {
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(input.len())).collect();
        cuts.sort_unstable();
        let mut chunks = Vec::new();
        let mut start = 0;
        for cut in cuts {
            chunks.push(&input[start..cut]);
            start = cut;
        }
        chunks.push(&input[start..]);
        prop_assert_eq!(lines(limit, &chunks), lines(limit, &[&input]));
    }

    #[test]
    fn any_bytes_are_judged_without_a_panic(input in proptest::collection::vec(any::<u8>(), 0..600)) {
        let mut frames = FrameReader::new(64);
        frames.push(&input);
        while frames.next_frame().is_some() {}
        let _ = frames.finish();
    }
}
