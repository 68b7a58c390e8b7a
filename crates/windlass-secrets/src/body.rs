//! What a value under a secret's name is made of: a sentence, a name, program text, or data.

use crate::{
    random, rules,
    scan::{LOOK, is_placeholder},
    words,
};

/// One word that is no variable.
pub(crate) fn is_text(body: &[u8]) -> bool {
    !is_blank(body) && !body.contains(&b' ')
}

/// `{AQAA… }`: how build servers write an encrypted text, and what surrounds one.
pub(crate) fn is_sealed(body: &[u8]) -> bool {
    let Some(inner) = body.strip_prefix(b"{") else {
        return false;
    };
    let inner = match inner.strip_suffix(b"}") {
        Some(inner) => inner,
        None if body.len() == LOOK => inner,
        None => return false,
    };
    let mut parts = inner.split(|byte| *byte == b' ');
    parts
        .any(|part| part.len() >= 8 && part.iter().any(u8::is_ascii_digit) && !part.contains(&b'.'))
        || random::is_plausible(inner)
}

pub(crate) fn is_in_path(byte: &u8) -> bool {
    is_identifier(byte) || matches!(byte, b'/' | b'[' | b']' | b',')
}

/// A sentence about a password.
pub(crate) fn is_prose(body: &[u8]) -> bool {
    let words = || body.split(|byte| *byte == b' ');
    let is_small = |word: &[u8]| {
        [&b"the"[..], b"a", b"your", b"of", b"must", b"is", b"for"]
            .iter()
            .any(|small| word.eq_ignore_ascii_case(small))
    };
    words().count() >= 5 && words().any(is_small)
}

/// `AWS_ACCESS_KEY_ID`, `no-password-required`: a name that speaks of secrets.
pub(crate) fn tells_a_name(body: &[u8]) -> bool {
    let lower = body.to_ascii_lowercase();
    let speaks = ["key", "token", "secret", "password", "credential"]
        .iter()
        .any(|word| memchr::memmem::find(&lower, word.as_bytes()).is_some());
    let has_parts = body.iter().any(|byte| matches!(byte, b'_' | b'-'))
        || body.iter().any(u8::is_ascii_uppercase) && body.iter().any(u8::is_ascii_lowercase);
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-');
    has_parts && speaks && body.len() <= 48 && body.iter().all(is_letter) && words::is_wordy(body)
}

pub(crate) fn is_identifier(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

pub(crate) fn names_a_password(name: &[u8]) -> bool {
    name.to_ascii_lowercase()
        .windows(2)
        .any(|part| part == b"pa" || part == b"pw")
}

/// Letters and digits, or a sign that words do not have.
pub(crate) fn is_mixed(body: &[u8]) -> bool {
    let digit = body.iter().any(u8::is_ascii_digit);
    let letter = body.iter().any(u8::is_ascii_alphabetic);
    let sign =
        |byte: &u8| byte.is_ascii_punctuation() && !matches!(byte, b'_' | b'-' | b'.' | b':');
    body.len() >= 6 && letter && (digit || body.iter().any(sign))
}

/// `AKIA…/20260101/us-east-1/s3/aws4_request`: what a request was signed for, which says the key's
/// id, not the key.
pub(crate) fn is_scope(body: &[u8]) -> bool {
    body.ends_with(b"aws4_request")
}

/// `Ipv4Address`: a capital, words, and a number or two. `com.example.app:12`: a package.
pub(crate) fn is_program_text(body: &[u8]) -> bool {
    let mut parts = body.split(|byte| *byte == b'.');
    let mut is_word = || {
        parts
            .next()
            .is_some_and(|part| !part.is_empty() && part.iter().all(u8::is_ascii_alphabetic))
    };
    if is_word() && is_word() {
        return true;
    }
    let digits = body.iter().filter(|byte| byte.is_ascii_digit()).count();
    body[0].is_ascii_uppercase()
        && digits <= 2
        && body.iter().any(u8::is_ascii_lowercase)
        && body
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'))
}

/// Whether a quoted argument may be a password: no sentence, no variable, no mask, no name.
pub(crate) fn is_credential(body: &[u8]) -> bool {
    !is_blank(body) && !body.contains(&b' ') && !is_reference(body)
}

/// Nothing, a variable, a template, a mask, an earlier replacement.
pub(crate) fn is_blank(body: &[u8]) -> bool {
    let Some(first) = body.first() else {
        return true;
    };
    matches!(first, b'$' | b'{' | b'<' | b'*')
        || body.starts_with(b"%s")
        || body.starts_with(b"%(")
        // A list of rules, not a value.
        || body.starts_with(b"arn:")
        || body.starts_with(b"required|")
        // `/7PC5om....` leaves out what matters; `2.5.4.35` is a number of a registry.
        || body.ends_with(b"....")
        || body.contains(&b'.') && body.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
        || is_placeholder(body)
        || body.iter().all(|byte| byte == first || byte.is_ascii_punctuation())
        || [
            &b"none"[..],
            b"null",
            b"true",
            b"false",
            b"undefined",
            b"string",
            b"required",
            b"optional",
            b"value",
            b"dynamic",
            b"bool",
            b"boolean",
        ]
        .iter()
        .any(|word| body.eq_ignore_ascii_case(word))
}

/// `Ed25519PrivateKey`, `new_password2`: a name like those that secrets are given.
pub(crate) fn is_reference_with_digits(body: &[u8]) -> bool {
    let identifier = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let name = body.trim_ascii_end();
    let digits = name
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let name = &name[..name.len() - digits];
    name.len() <= 40
        && name.iter().all(identifier)
        && std::str::from_utf8(name).is_ok_and(rules::names_a_secret)
}

/// A path to another variable that is named like a secret, as in `token=settings.api_key`.
pub(crate) fn is_reference(body: &[u8]) -> bool {
    // A member's object may have a number in its name.
    let is_member = body.contains(&b'.');
    let identifier = |byte: &u8| {
        byte.is_ascii_alphabetic()
            || matches!(byte, b'_' | b'.' | b'-')
            || is_member && byte.is_ascii_digit()
    };
    body.iter().all(identifier) && std::str::from_utf8(body).is_ok_and(rules::names_a_secret)
}

/// Whether a command line ends here or goes on with a flag: a sentence does not.
pub(crate) fn ends_command(rest: &[u8]) -> bool {
    matches!(
        rest,
        [] | [b'\n' | b'\r' | b';' | b'"' | b'\'' | b'|' | b'&', ..]
            | [b' ', b'-' | b'|' | b'&' | b'>', ..]
    )
}

pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

pub(crate) fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}
