//! `name = value` where the name says that the value is a secret.
//!
//! Reads environment files, TOML, YAML, JSON (also JSON inside a JSON string), query
//! strings, command-line flags and source code. Program text is full of names such as
//! `token`, so a bare word counts only where the surroundings say that it is data.

use std::ops::Range;

use crate::scan::{Site, is_placeholder, run};

/// How name and value are joined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Join {
    /// `NAME=value`
    Tight,
    /// `name = value`
    Spaced,
    /// `name: value`
    Colon,
    /// `--name value`
    Flag,
}

/// The value's range, if the anchor ends a name that is assigned one.
pub(crate) fn value(site: Site<'_>) -> Option<Range<usize>> {
    let text = site.text;
    let (join, mut at) = join(site)?;
    if !std::str::from_utf8(name(site)).is_ok_and(crate::rules::names_a_secret) {
        return None;
    }
    if matches!(text.get(at), Some(b'b' | b'r' | b'f' | b'u'))
        && matches!(text.get(at + 1), Some(b'"' | b'\''))
    {
        at += 1;
    }
    let backslashes = run(text, at, |byte| byte == b'\\').min(3);
    match text.get(at + backslashes) {
        Some(quote @ (b'"' | b'\'')) => quoted(site, at, backslashes, *quote),
        _ => bare(site, join, at),
    }
}

fn join(site: Site<'_>) -> Option<(Join, usize)> {
    let text = site.text;
    let mut at = site.end;
    // The closing quote of the name, as in `"password":` and `env["password"] =`.
    let closing = run(text, at, |byte| matches!(byte, b'"' | b'\'' | b'\\' | b']')).min(5);
    at += closing;
    let spaces_before = run(text, at, |byte| matches!(byte, b' ' | b'\t')).min(16);
    at += spaces_before;
    let separator = run(text, at, |byte| matches!(byte, b'=' | b':' | b'>')).min(3);
    let signs = &text[at..at + separator];
    at += separator;
    let spaces_after = run(text, at, |byte| matches!(byte, b' ' | b'\t')).min(16);
    let join = match signs {
        b"" if spaces_before > 0 && is_flag(site) => Join::Flag,
        b"=" if spaces_before + spaces_after == 0 => Join::Tight,
        b"=" | b":=" | b"==" | b"===" => Join::Spaced,
        // A pair in Ruby or PHP; without quotes it is an arm of a match.
        b"=>" if closing > 0 => Join::Spaced,
        b":" => Join::Colon,
        _ => return None,
    };
    Some((join, at + spaces_after))
}

/// The whole name that the anchor ends.
fn name<'a>(site: Site<'a>) -> &'a [u8] {
    let behind = &site.text[site.floor..site.start];
    let length = behind
        .iter()
        .rev()
        .take(48)
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        .count();
    &site.text[site.start - length..site.end]
}

fn is_flag(site: Site<'_>) -> bool {
    name(site).starts_with(b"--")
}

/// Whether the name stands where data stands: an upper-case name, the start of a line, a
/// query string. There even an ordinary word is a value.
fn is_data_position(site: Site<'_>) -> bool {
    let name = name(site);
    let before = site.end - name.len();
    !name.iter().any(u8::is_ascii_lowercase)
        || name.starts_with(b"--")
        || before == site.floor
        || matches!(site.text[before - 1], b'\n' | b'&' | b'?' | b']')
}

fn quoted(site: Site<'_>, at: usize, backslashes: usize, quote: u8) -> Option<Range<usize>> {
    let text = site.text;
    let start = at + backslashes + 1;
    let mut end = start;
    let closed = loop {
        match text.get(end) {
            None | Some(b'\n') => break false,
            Some(b'[') if is_placeholder(&text[end..]) => break true,
            Some(byte) if *byte == quote => break true,
            Some(b'\\') => {
                let escapes = run(text, end, |byte| byte == b'\\');
                if text.get(end + escapes) == Some(&quote) && escapes <= backslashes {
                    break true;
                }
                // An escaped quote belongs to the value.
                let is_quote = matches!(text.get(end + escapes), Some(b'"' | b'\''));
                end += escapes + usize::from(is_quote);
            }
            Some(_) => end += 1,
        }
    };
    if !closed {
        // The quote was an apostrophe, or the text is cut off: go no further than the
        // quoted text around it.
        end = start
            + run(text, start, |byte| {
                !matches!(byte, b'"' | b'\'' | b'\\' | b'\n')
            });
    }
    let body = &text[start..end];
    let name = &text[site.start..site.end];
    let spaced = body.contains(&b' ');
    // `unexpected token: "fn main"` is a message; a passphrase has spaces too.
    let is_message = spaced && name.eq_ignore_ascii_case(b"token");
    let is_secret =
        body.len() >= 4 && !is_message && !is_blank(body) && !body.eq_ignore_ascii_case(name);
    is_secret.then_some(start..end)
}

fn bare(site: Site<'_>, join: Join, start: usize) -> Option<Range<usize>> {
    let text = site.text;
    let ends = |byte: u8| {
        byte <= b' '
            || matches!(
                byte,
                b'"' | b'\''
                    | b'`'
                    | b','
                    | b';'
                    | b'&'
                    | b'('
                    | b')'
                    | b'['
                    | b']'
                    | b'{'
                    | b'}'
                    | b'<'
                    | b'>'
                    | b'|'
                    | b'\\'
            )
    };
    let length = run(text, start, |byte| !ends(byte));
    let end = start + length;
    let body = &text[start..end];
    // A call, an index, a generic type or a path: program text.
    let is_code = matches!(text.get(end), Some(b'(' | b'[' | b'{' | b'<'))
        || body.windows(2).any(|pair| pair == b"::");
    if is_code || is_blank(body) {
        return None;
    }
    let digit = body.iter().any(u8::is_ascii_digit);
    let letter = body.iter().any(u8::is_ascii_alphabetic);
    let is_secret = match join {
        _ if length > 64 => true,
        _ if is_reference(body) => false,
        Join::Tight => length >= 4 && (digit || is_data_position(site)),
        Join::Flag => length >= 4 && body[0] != b'-' && (digit || is_data_position(site)),
        Join::Spaced => length >= 6 && digit && letter,
        Join::Colon => length >= 8 && digit && letter,
    };
    is_secret.then_some(start..end)
}

/// Nothing, a variable, a template, a mask, an earlier replacement.
fn is_blank(body: &[u8]) -> bool {
    let Some(first) = body.first() else {
        return true;
    };
    matches!(first, b'$' | b'{' | b'<' | b'*')
        || body.starts_with(b"%s")
        || body.starts_with(b"%(")
        || is_placeholder(body)
        || body.iter().all(|byte| byte == first)
        || [
            &b"none"[..],
            b"null",
            b"true",
            b"false",
            b"undefined",
            b"string",
            b"required",
            b"optional",
        ]
        .iter()
        .any(|word| body.eq_ignore_ascii_case(word))
}

/// A path to another variable that is named like a secret, as in `token=settings.api_key`.
fn is_reference(body: &[u8]) -> bool {
    let identifier = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.' | b'-');
    body.iter().all(identifier) && std::str::from_utf8(body).is_ok_and(crate::rules::names_a_secret)
}
