//! Streams give what whole texts give, however they are cut.

use proptest::prelude::*;

use super::*;

fn streamed(redactor: &Redactor, text: &[u8], chunks: &[usize]) -> Vec<u8> {
    let mut writer = RedactingWriter::new(Vec::new(), redactor.clone());
    let mut rest = text;
    let mut sizes = chunks.iter().cycle();
    while !rest.is_empty() {
        let size = (*sizes.next().unwrap_or(&1)).clamp(1, rest.len());
        writer.write_all(&rest[..size]).unwrap();
        rest = &rest[size..];
    }
    writer.finish().unwrap()
}

#[test]
fn a_secret_cut_in_two_is_still_found() {
    let text = b"a ghp_0123456789abcdefghijklmnopqrstuvwxyz b\nnext";
    for size in 1..text.len() {
        let out = streamed(&Redactor::new(), text, &[size]);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "a [redacted:github-token] b\nnext",
            "chunks of {size}"
        );
    }
}

#[test]
fn complete_lines_go_at_once_and_the_tail_stays() {
    let mut writer = RedactingWriter::new(Vec::new(), Redactor::new());
    writer.write_all(b"one\ntw").unwrap();
    writer.flush().unwrap();
    assert_eq!(writer.inner.as_deref().unwrap(), b"one\n");
    assert_eq!(writer.finish().unwrap(), b"one\ntw");
}

#[test]
fn an_endless_line_is_passed_on_without_cutting_a_secret() {
    let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    for shift in 0..60 {
        let mut text = "x".repeat(LIMIT - HOLD - shift);
        text.push(' ');
        text.push_str(secret);
        text.push_str(&" y".repeat(LIMIT));
        let out = String::from_utf8(streamed(&Redactor::new(), text.as_bytes(), &[1000])).unwrap();
        assert!(
            !out.contains("ghp_") && !out.contains("uvwxyz"),
            "shift {shift}"
        );
        assert_eq!(
            out.len(),
            text.len() - secret.len() + "[redacted:github-token]".len()
        );
    }
}

#[test]
fn a_key_in_an_endless_line_is_not_cut() {
    let key = format!(
        "-----BEGIN PRIVATE KEY-----\\n{}\\n-----END PRIVATE KEY-----",
        "MIIEowIBAAKCAQEA".repeat(60)
    );
    for shift in (0..1_200).step_by(7) {
        let text = format!(
            "{{\"a\":\"{}\",\"key\":\"{key}\",\"b\":\"{}\"}}",
            "x ".repeat((LIMIT - HOLD - shift) / 2),
            "y ".repeat(LIMIT)
        );
        let out = String::from_utf8(streamed(&Redactor::new(), text.as_bytes(), &[5000])).unwrap();
        assert!(
            !out.contains("MIIE") && !out.contains("PRIVATE KEY"),
            "shift {shift}"
        );
        assert!(
            out.contains("\"[redacted:private-key]\",\"b\""),
            "shift {shift}"
        );
    }
}

#[test]
fn a_secret_longer_than_the_limit_is_dropped_to_its_end() {
    let text = format!("password={} after\n", "aB3".repeat(LIMIT));
    let out = String::from_utf8(streamed(&Redactor::new(), text.as_bytes(), &[777])).unwrap();
    assert_eq!(out, "password=[redacted:password] after\n");
}

proptest! {
    #[test]
    fn chunking_does_not_matter(text in crate::redactor::tests::hostile_text(), chunks in prop::collection::vec(1usize..40, 1..8)) {
        let redactor = crate::redactor::tests::with_known_values();
        let whole = redactor.redact(&text);
        let out = streamed(&redactor, text.as_bytes(), &chunks);
        prop_assert_eq!(String::from_utf8_lossy(&out), whole);
    }
}
