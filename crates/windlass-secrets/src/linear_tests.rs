//! The work is linear in the input for the worst text of every rule: the bytes looked at per
//! byte of input do not grow with its length.

use std::{collections::BTreeSet, io::Write};

use crate::{
    RedactingWriter, Redactor,
    rules::{self, Shape},
    work,
};

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// Bytes looked at per byte of input.
fn work_per_byte(piece: &str, tail: &str, size: usize) -> f64 {
    let mut text = piece.repeat(size / piece.len());
    text.push_str(tail);
    let done = work::of(|| {
        let _ = Redactor::new().redact(&text);
    });
    done as f64 / text.len() as f64
}

/// Fails unless the work per byte is the same at both sizes, but for the text's edges.
fn assert_flat(piece: &str, tail: &str, small: usize, large: usize) {
    let (few, many) = (
        work_per_byte(piece, tail, small),
        work_per_byte(piece, tail, large),
    );
    assert!(
        many <= few * 1.25 + 16.0,
        "{piece:?} … {tail:?}: {few:.1} bytes looked at per byte at {small}, {many:.1} at {large}"
    );
}

/// What makes a judge read on, and then say no.
const FILLERS: [&str; 9] = ["", "=", "=\"", ":'", "a", "/", ".", ": digest \"", " x=\\"];
const TAILS: [&str; 2] = ["", "("];

#[test]
fn every_rule_is_linear_in_its_own_worst_text() {
    // Rows of the table that differ in their prefix only are judged alike.
    let mut seen = BTreeSet::new();
    for rule in rules::all() {
        if !seen.insert((rule.label, format!("{:?}", rule.shape))) {
            continue;
        }
        for filler in FILLERS {
            for tail in TAILS {
                let piece = format!("{}{filler}", rule.anchor);
                assert_flat(&piece, tail, 2 * KIB, 8 * KIB);
            }
        }
    }
}

/// The filler that costs most, in long texts, for a rule of each way to judge: rows of the table
/// with the same alphabet and looks differ in the label and the length only.
#[test]
fn every_way_to_judge_is_linear_in_long_texts_too() {
    let mut seen = BTreeSet::new();
    for rule in rules::all() {
        let way = match rule.shape {
            Shape::Token(token) | Shape::Context(token) => {
                let is_context = matches!(rule.shape, Shape::Context(_));
                format!("{is_context} {:?} {:?}", token.body, token.looks)
            }
            Shape::Assignment => format!("{} {:?}", rule.label, rule.shape),
            Shape::Keyword => rule.anchor.to_owned(),
            shape => format!("{shape:?}"),
        };
        if !seen.insert(way) {
            continue;
        }
        let worst = FILLERS
            .into_iter()
            .map(|filler| format!("{}{filler}", rule.anchor))
            .map(|piece| (work_per_byte(&piece, "", 2 * KIB), piece))
            .max_by(|one, other| one.0.total_cmp(&other.0));
        if let Some((_, piece)) = worst {
            assert_flat(&piece, "", 256 * KIB, MIB);
        }
    }
}

#[test]
fn known_worst_cases_stay_flat_up_to_eight_mebibytes() {
    for (piece, tail) in [
        ("-----BEGIN PRIVATE KEY-----", ""),
        ("-----BEGIN PRIVATE KEY-----", "-----END "),
        ("-----BEGIN PRIVATE KEY----- x", "-----END PRIVATE KEY-----"),
        ("whsec_/", ""),
        ("xoxe.", ""),
        ("token=", "("),
        ("authorization:", ""),
        ("authorization: digest \"", ""),
        ("authorization: digest a\\", ""),
        ("token=\"\\", ""),
    ] {
        assert_flat(piece, tail, 256 * KIB, 8 * MIB);
    }
}

#[test]
fn what_a_replacement_uncovers_costs_a_bounded_number_of_rounds() {
    // Each of these hides the one before it until it is replaced.
    for piece in [
        "sk_test_0123456789abcdef/",
        "AKIAABCDEFGH23456789.",
        "-u a:b0cd ",
    ] {
        assert_flat(piece, "x", 64 * KIB, MIB);
    }
}

#[test]
fn a_stream_is_linear_however_small_its_pieces_are() {
    let cost = |size: usize, chunk: usize| {
        let text = vec![b'x'; size];
        let done = work::of(|| {
            let mut writer = RedactingWriter::new(std::io::sink(), Redactor::new());
            for part in text.chunks(chunk) {
                writer.write_all(part).unwrap();
            }
            writer.finish().unwrap();
        });
        done as f64 / size as f64
    };
    let (whole, small) = (cost(256 * KIB, 64 * KIB), cost(256 * KIB, 7));
    assert!(small <= whole * 1.25 + 16.0, "{whole} {small}");
    let line = "-----BEGIN PRIVATE KEY-----".repeat(MIB / 27);
    let done = work::of(|| {
        let mut writer = RedactingWriter::new(std::io::sink(), Redactor::new());
        writer.write_all(line.as_bytes()).unwrap();
        writer.finish().unwrap();
    });
    assert!(done < 400 * MIB as u64, "{done}");
}
