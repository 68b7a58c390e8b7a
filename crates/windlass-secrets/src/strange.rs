//! Values that no program text looks like, and the places where only such values count: behind a
//! longer name, before a comparison, without quotes at the end of a line.

use std::ops::Range;

use crate::{
    assignment::name,
    body::{is_blank, is_quote, is_space, names_a_password},
    rules,
    scan::{Site, run, run_at_most},
    words,
};

/// The longest value that is looked at here.
const LONGEST: usize = 128;
/// The longest rest of a name.
const SUFFIX: usize = 32;

/// Ends of names that do not hold the secret itself.
const ABOUT: &[&str] = &[
    "age",
    "attempts",
    "auth",
    "class",
    "column",
    "count",
    "dir",
    "enabled",
    "encoding",
    "env",
    "error",
    "expires",
    "expiry",
    "field",
    "file",
    "format",
    "hash",
    "header",
    "help",
    "hint",
    "id",
    "ids",
    "input",
    "key",
    "label",
    "len",
    "length",
    "link",
    "max",
    "message",
    "min",
    "mode",
    "msg",
    "name",
    "names",
    "path",
    "pattern",
    "placeholder",
    "policy",
    "prefix",
    "prompt",
    "ref",
    "regex",
    "reset",
    "rules",
    "salt",
    "schema",
    "source",
    "status",
    "store",
    "strength",
    "suffix",
    "text",
    "title",
    "ttl",
    "type",
    "uri",
    "url",
    "validator",
    "version",
];

/// Whether brackets close what was not opened last: no language allows that, passwords do.
pub(crate) fn is_misnested(value: &[u8]) -> bool {
    let mut open = Vec::new();
    for byte in value.iter().take(LONGEST) {
        match byte {
            b'(' => open.push(b')'),
            b'[' => open.push(b']'),
            b'{' => open.push(b'}'),
            b')' | b']' | b'}' if open.pop().is_some_and(|expected| expected != *byte) => {
                return value.iter().any(u8::is_ascii_alphabetic);
            }
            _ => {}
        }
    }
    false
}

/// A value without quotes that reaches the end of its line and is no program text.
pub(crate) fn rest_of_line(text: &[u8], start: usize) -> Option<Range<usize>> {
    let in_value = |byte: u8| byte > b' ' && !is_quote(byte) && byte != b'\\';
    let length = run_at_most(text, start, LONGEST, in_value);
    let after = start + length;
    let after = after + run_at_most(text, after, 1, is_quote);
    let ends = matches!(text.get(after), None | Some(b'\n' | b'\r'));
    let value = &text[start..start + length];
    (ends && is_misnested(value)).then_some(start..start + length)
}

/// Whether a person would make this up as a password: letters, and digits or signs, no words.
fn is_strong(value: &[u8]) -> bool {
    let is_sign = |byte: &&u8| byte.is_ascii_punctuation() && !b"_-.:/,;()".contains(byte);
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let signs = value.iter().filter(is_sign).count();
    let letters = value
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .count();
    value.len() >= 10
        && letters >= 4
        && !is_blank(value)
        && !value.iter().any(|byte| *byte <= b' ')
        && !value
            .windows(2)
            .any(|pair| matches!(pair, b"{{" | b"${" | b"%s" | b"{}"))
        && (digits >= 3 && !words::is_wordy(value) || signs >= 3 && digits + signs >= 4)
}

/// `"value" == password`.
pub(crate) fn compared(site: Site<'_>) -> Option<Range<usize>> {
    let end = site.end - name(site).len();
    let behind = &site.text[site.floor..end];
    let back = |behind: &[u8], test: &dyn Fn(u8) -> bool, most: usize| {
        let tested = behind.iter().rev().take(most);
        behind.len() - tested.take_while(|byte| test(**byte)).count()
    };
    let signs_end = back(behind, &is_space, 4);
    let signs = back(&behind[..signs_end], &|byte| matches!(byte, b'=' | b'!'), 3);
    if !matches!(&behind[signs..signs_end], b"==" | b"===" | b"!=" | b"!==") {
        return None;
    }
    let close = back(&behind[..signs], &is_space, 4);
    let (quote, value) = behind[..close].split_last()?;
    if !is_quote(*quote) || !std::str::from_utf8(name(site)).is_ok_and(rules::names_a_secret) {
        return None;
    }
    let start = back(value, &|byte| byte != *quote && byte != b'\n', LONGEST);
    let is_open = start > 0 && value[start - 1] == *quote;
    let value = &value[start..];
    let is_secret = is_open && (is_misnested(value) || is_strong(value));
    is_secret.then(|| site.floor + start..site.floor + start + value.len())
}

/// `password_of_service = "value"`, `secret.assign("value")`: the name goes on.
pub(crate) fn suffixed(site: Site<'_>) -> Option<Range<usize>> {
    let text = site.text;
    let anchor = &text[site.start..site.end];
    // `Association` has a `pass` in `GroupAssociation`.
    let first = anchor.first().copied().unwrap_or_default();
    let is_inside = site.before().is_some_and(|before| {
        before.is_ascii_alphabetic() && !(before.is_ascii_lowercase() && first.is_ascii_uppercase())
    });
    if is_inside {
        return None;
    }
    let at_end = site.end + run_at_most(text, site.end, 1, is_space);
    let is_dashed = text[at_end..].starts_with(b"- ");
    let is_name = is_dashed
        || names_a_password(anchor)
        || anchor.eq_ignore_ascii_case(b"secret")
        || anchor.len() >= 6 && anchor.to_ascii_lowercase().starts_with(b"api");
    let in_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let length = run_at_most(text, site.end, SUFFIX, in_name);
    let suffix = &text[site.end..site.end + length];
    let is_long = (2..SUFFIX).contains(&length) || suffix == b"e" || is_dashed;
    if !is_name || !is_long || is_about(suffix) {
        return None;
    }
    let mut at = site.end + length;
    let size = run_at_most(text, at, 6, |byte| {
        matches!(byte, b'[' | b']') || byte.is_ascii_digit()
    });
    at += size;
    at += run_at_most(text, at, 3, |byte| is_quote(byte) || byte == b'\\');
    at += run_at_most(text, at, 8, is_space);
    let is_sign = |byte| matches!(byte, b'=' | b':' | b'>' | b'?' | b'(' | b'!' | b'-');
    let signs = run_at_most(text, at, 3, is_sign);
    at += signs;
    at += run_at_most(text, at, 8, |byte| is_space(byte) || byte == b'@');
    let quote = *text.get(at)?;
    if signs == 0 && !is_space(text[at - 1]) || !is_quote(quote) {
        return None;
    }
    let start = at + 1;
    let length = run(text, start, |byte| byte != quote && byte != b'\n');
    let value = &text[start..start + length];
    let is_closed = text.get(start + length) == Some(&quote);
    let is_secret = is_closed && (is_misnested(value) || is_strong(value));
    is_secret.then_some(start..start + length)
}

/// Whether the last word of a name says that it tells about a secret, and holds none.
fn is_about(suffix: &[u8]) -> bool {
    let last = suffix
        .iter()
        .rposition(|byte| matches!(byte, b'_' | b'-' | b'.') || byte.is_ascii_uppercase());
    let last = last.map_or(suffix, |at| {
        &suffix[at + usize::from(!suffix[at].is_ascii_uppercase())..]
    });
    ABOUT
        .iter()
        .any(|about| last.eq_ignore_ascii_case(about.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_brackets_that_close_another_kind_are_misnested() {
        for password in ["a(b]c", "x{y)z", "m[{q]1}"] {
            assert!(is_misnested(password.as_bytes()), "{password}");
        }
        for text in ["f(a[1])", "x)", "call({", "}", "[0-9]{4}", "(a)(b)", "{(]"] {
            assert!(!is_misnested(text.as_bytes()), "{text}");
        }
    }
}
