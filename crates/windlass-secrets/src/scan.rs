//! Looks closer at one place where an anchor occurs: is there a secret, and from where to where?
//!
//! Pure functions over bytes. None looks past the end of its line, so a text may be
//! redacted line by line with the same result; none rescans what another rejected, so the
//! work stays linear in the input.

use std::ops::Range;

use crate::{
    assignment,
    rules::{Charset, PLACEHOLDER, RULES, Rule, Shape, Token},
};

/// What an anchor turned out to be.
pub(crate) enum Found {
    /// A secret; the range is to be replaced.
    Secret(Range<usize>),
    /// An earlier replacement; the range is to be left alone.
    Placeholder(Range<usize>),
    /// Ordinary text.
    Nothing,
}

/// The bytes around an anchor.
#[derive(Clone, Copy)]
pub(crate) struct Site<'a> {
    pub text: &'a [u8],
    /// Where the anchor begins and ends.
    pub start: usize,
    pub end: usize,
    /// Where the previous replacement ended: nothing before it can be looked at.
    pub floor: usize,
}

impl Site<'_> {
    /// The byte before the anchor, unless a replacement or the start of the text is there.
    pub(crate) fn before(&self) -> Option<u8> {
        (self.start > self.floor).then(|| self.text[self.start - 1])
    }

    /// Whether the anchor begins a word, also behind `\n` in quoted text, `%3D` in a URL
    /// and a terminal colour.
    fn starts_word(&self, inside: Charset) -> bool {
        match self.before() {
            Some(byte) if inside.contains(byte) => {
                let behind = &self.text[self.floor..self.start];
                match behind {
                    [.., b'\\', b'n' | b'r' | b't'] => true,
                    [.., b'%', high, low] => high.is_ascii_hexdigit() && low.is_ascii_hexdigit(),
                    [.., b'm'] => ends_with_colour(behind),
                    _ => false,
                }
            }
            _ => true,
        }
    }
}

fn ends_with_colour(behind: &[u8]) -> bool {
    let parameters = behind[..behind.len() - 1]
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b';')
        .count();
    behind[..behind.len() - 1 - parameters].ends_with(b"\x1b[")
}

/// Judges one anchor.
pub(crate) fn judge(rule: &Rule, site: Site<'_>) -> Found {
    let range = match rule.shape {
        Shape::Placeholder => return placeholder(site),
        Shape::Token(shape) => token(rule.anchor, shape, site),
        Shape::Jwt => jwt(site),
        Shape::Bearer => bearer(site),
        Shape::Authorization => authorization(site),
        Shape::Userinfo => userinfo(site),
        Shape::Assignment => assignment::value(site),
    };
    range.map_or(Found::Nothing, Found::Secret)
}

/// How many bytes from `from` on satisfy the test.
pub(crate) fn run(text: &[u8], from: usize, test: impl Fn(u8) -> bool) -> usize {
    text[from..].iter().take_while(|byte| test(**byte)).count()
}

fn placeholder(site: Site<'_>) -> Found {
    let label = run(site.text, site.end, |byte| {
        byte.is_ascii_lowercase() || byte == b'-'
    });
    let end = site.end + label;
    if site.text.get(end) == Some(&b']') && is_label(&site.text[site.end..end]) {
        return Found::Placeholder(site.start..end + 1);
    }
    Found::Nothing
}

fn is_label(name: &[u8]) -> bool {
    [crate::rules::KNOWN, crate::rules::PRIVATE_KEY]
        .into_iter()
        .chain(RULES.iter().map(|rule| rule.label))
        .any(|label| !label.is_empty() && label.as_bytes() == name)
}

/// Whether a replacement stands at this place.
pub(crate) fn is_placeholder(text: &[u8]) -> bool {
    text.starts_with(PLACEHOLDER.as_bytes())
}

fn token(anchor: &str, shape: Token, site: Site<'_>) -> Option<Range<usize>> {
    let anchored = &site.text[site.start..site.end] == anchor.as_bytes();
    // An anchor that begins with a dot follows the first half of its token.
    let inside = if shape.body == Charset::Url {
        Charset::Url
    } else {
        Charset::Word
    };
    if !anchored || !(anchor.starts_with('.') || site.starts_word(inside)) {
        return None;
    }
    let mut length = run(site.text, site.end, |byte| shape.body.contains(byte));
    if shape.body == Charset::Dotted {
        length -= trailing_dots(&site.text[site.end..site.end + length]);
    }
    let body = &site.text[site.end..site.end + length];
    let fits = (shape.min..=shape.max).contains(&length) && shape.looks.accepts(body);
    fits.then_some(site.start..site.end + length)
}

/// Dots at the end of a run belong to the sentence.
fn trailing_dots(run: &[u8]) -> usize {
    run.iter().rev().take_while(|byte| **byte == b'.').count()
}

fn jwt(site: Site<'_>) -> Option<Range<usize>> {
    if &site.text[site.start..site.end] != b"eyJ" || !site.starts_word(Charset::Dotted) {
        return None;
    }
    let length = run(site.text, site.start, |byte| Charset::Dotted.contains(byte));
    let whole = &site.text[site.start..site.start + length];
    let mut parts = whole.split(|byte| *byte == b'.');
    let (header, payload) = (parts.next()?, parts.next()?);
    let shaped = header.len() >= 10 && payload.len() >= 10 && parts.next().is_some();
    shaped.then(|| site.start..site.start + length - trailing_dots(whole))
}

fn is_credential_byte(byte: u8) -> bool {
    Charset::Base64.contains(byte) || matches!(byte, b'.' | b'~' | b':')
}

fn bearer(site: Site<'_>) -> Option<Range<usize>> {
    if !site.starts_word(Charset::Url) {
        return None;
    }
    let length = run(site.text, site.end, is_credential_byte);
    let body = &site.text[site.end..site.end + length];
    (length >= 16 && body.iter().any(u8::is_ascii_digit)).then_some(site.end..site.end + length)
}

/// Where a header's or field's value begins: past the closing quote of the name, the
/// separator, spaces and the opening quote.
fn value_start(text: &[u8], mut at: usize) -> Option<usize> {
    let is_quote = |byte| matches!(byte, b'"' | b'\'' | b'\\');
    at += run(text, at, is_quote).min(3);
    at += run(text, at, |byte| byte == b' ').min(4);
    if !matches!(text.get(at), Some(b':' | b'=')) || text.get(at + 1) == Some(&b':') {
        return None;
    }
    at += 1;
    at += run(text, at, |byte| matches!(byte, b' ' | b'\t')).min(4);
    Some(at + run(text, at, is_quote).min(3))
}

fn authorization(site: Site<'_>) -> Option<Range<usize>> {
    let text = site.text;
    let start = value_start(text, site.end)?;
    let ends_value = |byte| matches!(byte, b'"' | b'\'' | b'\\' | b'\n' | b'\r' | b'`' | b'[');
    let scheme_length = run(text, start, |byte| {
        byte.is_ascii_alphanumeric() || byte == b'-'
    });
    let scheme = text[start..start + scheme_length].to_ascii_lowercase();
    let after = start + scheme_length;
    let credential = after + run(text, after, |byte| byte == b' ').min(4);
    if credential > after {
        match scheme.as_slice() {
            // Their parameters are spread over the rest of the header.
            b"digest" | b"aws4-hmac-sha256" | b"oauth" => {
                let length = parameters(&text[credential..]);
                return (length > 0).then_some(credential..credential + length);
            }
            b"bearer" | b"basic" | b"token" | b"apikey" | b"negotiate" | b"bot" | b"key" => {
                let length = run(text, credential, |byte| {
                    !ends_value(byte) && byte != b' ' && byte != b','
                });
                let body = &text[credential..credential + length];
                return looks_like_credential(body, 6).then_some(credential..credential + length);
            }
            _ => {}
        }
    }
    let length = run(text, start, |byte| {
        !ends_value(byte) && byte != b' ' && byte != b','
    });
    let body = &text[start..start + length];
    (length >= 16 && looks_like_credential(body, 16)).then_some(start..start + length)
}

/// How far `name="value", …` reaches: to the end of the line, or of the quoted text the
/// header stands in, where its own quotes are escaped.
fn parameters(text: &[u8]) -> usize {
    let line = run(text, 0, |byte| !matches!(byte, b'\n' | b'\r' | b'`' | b'['));
    let text = &text[..line];
    match text.iter().position(|byte| matches!(byte, b'"' | b'\'')) {
        // A parameter's own quotes: this is a header line as it travels.
        Some(quote) if quote > 0 && text[quote - 1] == b'=' => line,
        // Escaped: the text ends at the first quote that is not.
        Some(quote) if quote > 0 && text[quote - 1] == b'\\' => {
            let bare = |at: usize| text[at] == b'"' && text[at - 1] != b'\\';
            (1..line).find(|at| bare(*at)).unwrap_or(line)
        }
        Some(quote) => quote,
        None => run(text, 0, |byte| byte != b'\\'),
    }
}

/// Long, or with characters that words do not have; never a reference such as `$TOKEN`.
fn looks_like_credential(body: &[u8], min: usize) -> bool {
    if body.len() < min || matches!(body[0], b'$' | b'<' | b'{' | b'*') {
        return false;
    }
    let odd = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'/' | b'=');
    body.iter().any(odd)
        || body[1..].iter().any(u8::is_ascii_uppercase) && body.iter().any(u8::is_ascii_lowercase)
}

fn userinfo(site: Site<'_>) -> Option<Range<usize>> {
    let text = site.text;
    let in_authority = |byte: u8| {
        byte > b' '
            && !matches!(
                byte,
                b'/' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'[' | b','
            )
    };
    let length = run(
        &text[..text.len().min(site.end + 1024)],
        site.end,
        in_authority,
    );
    let authority = &text[site.end..site.end + length];
    let at_sign = authority.iter().rposition(|byte| *byte == b'@')?;
    let (from, least) = match authority[..at_sign].iter().position(|byte| *byte == b':') {
        Some(colon) => (colon + 1, 1),
        // No password: a long user name with digits is a token.
        None => (0, 20),
    };
    let secret = &authority[from..at_sign];
    let is_reference = matches!(secret.first(), None | Some(b'$' | b'{' | b'*'));
    let random = least == 1 || secret.iter().any(u8::is_ascii_digit);
    (secret.len() >= least && !is_reference && random)
        .then_some(site.end + from..site.end + at_sign)
}
