//! Values that a word announces: a service's name, or a word such as `key` in a name.
//!
//! From the word on, at most a few further words and signs are passed over until a value comes
//! that looks random. The value may be joined in any way: an assignment, a pair, an argument, a
//! flag, a space. How random it must look depends on how much announces it.

use std::ops::Range;

use crate::{
    anchors, random,
    rules::{self, Charset, Shape, Token},
    scan::{self, Found, LOOK, Site, run, run_all, run_at_most},
    words,
};

/// How far from the word a value may begin.
const REACH: usize = 64;
/// The most signs between two words.
const GLUE: usize = 24;
/// How many words may stand before the value, after a service's name and after a keyword.
const SERVICE_WORDS: usize = 6;
const KEYWORD_WORDS: usize = 3;
/// The longest word that is passed over.
const WORD: usize = 32;

/// Words that say that a value is a secret.
const ANNOUNCING: &[&str] = &[
    "key", "token", "secret", "access", "private", "auth", "pass", "pwd", "cred", "api",
];

/// Of the words below.
const LONGEST_HARMLESS: usize = "idempotency".len();

/// Words that say that a value is none.
const HARMLESS: &[&str] = &[
    "fingerprint",
    "sha1",
    "sha256",
    "sha384",
    "sha512",
    "sha",
    "md5",
    "hash",
    "digest",
    "checksum",
    "commit",
    "revision",
    "rev",
    "etag",
    "public",
    "pub",
    "uuid",
    "guid",
    "version",
    "trace",
    "traceid",
    "span",
    "request",
    "serial",
    "build",
    "image",
    "integrity",
    "id_rsa",
    "width",
    "color",
    "font",
    "icon",
    "cursor",
    "page",
    "cache",
    "primary",
    "foreign",
    "sort",
    "partition",
    "object",
    "row",
    "block",
    "container",
    "thread",
    "process",
    "job",
    "idempotency",
    "keyid",
    "exchange",
    "extern",
    "agreement",
    "kem",
    "fixture",
    "snapshot",
    "crc",
    "charset",
    "encoding",
    "class",
    "path",
    "file",
    "dir",
    "url",
    "uri",
    "href",
    "src",
    "link",
    "format",
    "regexp",
    "regex",
    "pattern",
];

fn is_glue(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t'
            | b'_'
            | b'-'
            | b'.'
            | b':'
            | b'='
            | b'>'
            | b'"'
            | b'\''
            | b'`'
            | b','
            | b'('
            | b'|'
            | b'?'
            | b'\\'
            | b'*'
            | b'!'
            | b')'
            | b'['
    )
}

/// A value's place, and what stands between it and the word.
struct Candidate {
    start: usize,
    /// A further word says that it is a secret.
    announced: bool,
    /// A sign such as `=` or `:` joins it.
    assigned: bool,
    /// How many words were passed over.
    words: usize,
}

/// Calls `judge` for every place after the word where a value may begin, until it says yes.
fn values(
    site: Site<'_>,
    most_words: usize,
    judge: impl Fn(&Candidate) -> Option<Range<usize>>,
) -> Option<Range<usize>> {
    let text = site.text;
    let mut found = Candidate {
        start: site.end,
        announced: false,
        assigned: false,
        words: 0,
    };
    while found.start < text.len() && found.start < site.end + REACH && found.words < most_words {
        let glue = run_at_most(text, found.start, GLUE, is_glue);
        let signs = &text[found.start..found.start + glue];
        found.assigned |= signs
            .iter()
            .any(|byte| matches!(byte, b'=' | b':' | b'>' | b',' | b'('));
        found.start += glue;
        // A sign that is escaped belongs to its backslash.
        let escapes = signs
            .iter()
            .rev()
            .take_while(|byte| **byte == b'\\')
            .count();
        if escapes % 2 == 1 {
            match text.get(found.start) {
                Some(b'n' | b'r' | b't') => found.start += 1,
                _ => return None,
            }
        }
        let length = run_at_most(text, found.start, LOOK, |byte| byte.is_ascii_alphanumeric());
        if length == 0 {
            return None;
        }
        let word = &text[found.start..found.start + length];
        if is_harmless(word) {
            return None;
        }
        let goes_on = matches!(
            text.get(found.start + length),
            Some(b'+' | b'/' | b'_' | b'-')
        );
        if glue > 0 && (length >= 16 || goes_on || word.iter().any(u8::is_ascii_digit)) {
            let range = judge(&found);
            if range.is_some() {
                return range;
            }
        }
        if length > WORD {
            return None;
        }
        found.announced |= most_words == SERVICE_WORDS && announces(word);
        found.words += usize::from(glue > 0);
        found.start += length;
    }
    None
}

fn announces(word: &[u8]) -> bool {
    word.eq_ignore_ascii_case(b"pat")
        || word.len() <= 24
            && ANNOUNCING.iter().any(|announcing| {
                word.windows(announcing.len())
                    .any(|part| part.eq_ignore_ascii_case(announcing.as_bytes()))
            })
}

fn is_harmless(word: &[u8]) -> bool {
    word.len() <= LONGEST_HARMLESS
        && HARMLESS
            .iter()
            .any(|harmless| word.eq_ignore_ascii_case(harmless.as_bytes()))
}

/// Whether the anchor begins a word, or a part of a name such as `myKey` and `API_KEY`.
fn begins_word(site: Site<'_>) -> bool {
    let first = site.text[site.start];
    match site.before() {
        Some(before) if before.is_ascii_alphabetic() => {
            before.is_ascii_lowercase() && first.is_ascii_uppercase()
        }
        _ => true,
    }
}

/// The name that the anchor is a part of, up to the anchor.
fn name_before<'a>(site: Site<'a>) -> &'a [u8] {
    let behind = &site.text[site.floor..site.start];
    let length = behind
        .iter()
        .rev()
        .take(32)
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
        .count();
    &behind[behind.len() - length..]
}

/// The word before the anchor where one space parts them, as in `cache key`.
fn word_before<'a>(site: Site<'a>) -> &'a [u8] {
    let behind = &site.text[site.floor..site.start];
    let Some((b' ', behind)) = behind.split_last() else {
        return &[];
    };
    let length = behind
        .iter()
        .rev()
        .take(WORD)
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    &behind[behind.len() - length..]
}

/// After a service's name: a value of the service's format, or, where a further word announces a
/// secret, any plausible one.
pub(crate) fn of_service(site: Site<'_>, format: Token) -> Option<Range<usize>> {
    if !begins_word(site) {
        return None;
    }
    values(site, SERVICE_WORDS, |found| {
        if found.announced {
            let range = value(site.text, found.start, Charset::Loose)?;
            let is_secret = random::is_plausible(&site.text[range.clone()]);
            return is_secret.then(|| whole(site.text, range, Charset::Loose));
        }
        let range = value(site.text, found.start, format.body)?;
        let body = &site.text[range.clone()];
        let in_length = (format.min..=format.max).contains(&body.len());
        let follows = found.assigned && found.words == 0 && body.len() >= 20;
        let digits = body.iter().filter(|byte| byte.is_ascii_digit()).count();
        let fits = in_length
            && (format.looks.accepts(body) && random::is_random(body)
                || follows && (digits >= 3 || body.len() >= 32) && random::is_plausible(body));
        let joined = found.assigned || found.words == 0;
        (fits && joined).then(|| whole(site.text, range, format.body))
    })
}

/// Whether the letters before the keyword are those of a random value, not of a name.
fn is_in_blob(before: &[u8]) -> bool {
    let last = before.rsplit(|byte| !byte.is_ascii_alphanumeric()).next();
    last.is_some_and(|last| {
        last.len() >= 8 && last.iter().any(u8::is_ascii_digit) && !words::is_wordy(last)
    })
}

/// Whether the name goes on to `Id`: it names a key, and is none.
fn names_an_id(site: Site<'_>) -> bool {
    // A `secret_id` is a secret.
    if site.text[site.start..site.end].eq_ignore_ascii_case(b"secret") {
        return false;
    }
    let rest = &site.text[site.end..];
    let rest = match rest {
        [b'_' | b'-' | b' ', rest @ ..] => rest,
        rest => rest,
    };
    let is_id = rest.len() >= 2 && rest[..2].eq_ignore_ascii_case(b"id");
    is_id && !rest.get(2).is_some_and(u8::is_ascii_alphabetic)
}

/// Whether words are joined by slashes, as in the address of a commit.
fn is_path(body: &[u8]) -> bool {
    let is_word = |part: &[u8]| is_harmless(part) || words::is_wordy(part);
    body.contains(&b'/') && body.split(|byte| *byte == b'/').any(is_word)
}

/// How a keyword may go on in small letters: `tokens`, `accesskey`, `passphrase`, `authorization`.
const ENDINGS: &[&str] = &[
    "s",
    "se",
    "ses",
    "ce",
    "ces",
    "key",
    "token",
    "secret",
    "word",
    "words",
    "wd",
    "phrase",
    "code",
    "id",
    "ential",
    "entials",
    "orization",
    "entication",
    "pass",
    "sig",
];

/// Whether the word that the keyword begins means what the keyword says: `accessible` and
/// `APIENTRY` do not.
fn ends_word(site: Site<'_>) -> bool {
    let text = site.text;
    let is_lower = |at: usize| text.get(at).is_some_and(u8::is_ascii_lowercase);
    let length = if is_lower(site.end - 1) {
        run_at_most(text, site.end, 16, |byte| byte.is_ascii_lowercase())
    } else {
        let capitals = run_at_most(text, site.end, 16, |byte| byte.is_ascii_uppercase());
        // The last capital begins the next word.
        capitals - usize::from(capitals > 0 && is_lower(site.end + capitals))
    };
    let rest = &text[site.end..site.end + length];
    let is_rest = |ending: &&str| rest.eq_ignore_ascii_case(ending.as_bytes());
    rest.is_empty() || ENDINGS.iter().any(is_rest)
}

/// After a word such as `key`: a value that nobody would write by hand.
pub(crate) fn of_keyword(site: Site<'_>) -> Option<Range<usize>> {
    let last = site.text[site.end - 1];
    let goes_on = |next: u8| last.is_ascii_lowercase() && next.is_ascii_lowercase();
    let is_key = site.text[site.start..site.end].eq_ignore_ascii_case(b"key");
    if !begins_word(site)
        || !ends_word(site)
        || is_key && site.text.get(site.end).copied().is_some_and(goes_on)
    {
        return None;
    }
    let before = name_before(site);
    // `key` alone names the keys of tables and caches.
    let is_id = site.before() != Some(b' ') || site.text.get(site.end) != Some(&b' ');
    let alone = is_key && before.is_empty() && is_id;
    if alone {
        return of_lone_key(site);
    }
    let name = [before, &site.text[site.start..site.end]].concat();
    let plain: Vec<u8> = name
        .iter()
        .filter(|byte| byte.is_ascii_alphanumeric())
        .map(u8::to_ascii_lowercase)
        .collect();
    if rules::is_harmless(&plain) || is_in_blob(before) || names_an_id(site) {
        return None;
    }
    let parts = || before.split(|byte| !byte.is_ascii_alphanumeric());
    if parts().any(is_harmless) || is_harmless(word_before(site)) {
        return None;
    }
    // Ids are given names such as `auth`, `api` and `key` too.
    let is_licence = site.text[site.start..site.end].eq_ignore_ascii_case(b"licen");
    let may_be_uuid = is_key && !before.is_empty()
        || [&b"secret"[..], b"token", b"private"]
            .iter()
            .any(|word| site.text[site.start..site.end].eq_ignore_ascii_case(word));
    values(site, KEYWORD_WORDS, |found| {
        let least = if found.assigned { 16 } else { 20 };
        let range = value(site.text, found.start, Charset::Base64)?;
        let body = &site.text[range.clone()];
        let is_number = body.starts_with(b"0x");
        let is_id = random::is_uuid(body) && !(may_be_uuid && found.assigned);
        // A licence's text is followed by its digest.
        let is_digest = !found.assigned && is_licence;
        let is_none = is_id || is_number || is_digest || is_path(body) || random::counts_up(body);
        let is_secret = body.len() >= least && random::is_random(body) && !is_none;
        is_secret.then(|| whole(site.text, range, Charset::Base64))
    })
}

/// `key=value` in an address, a log line or a settings file. A digest is the key of a table.
fn of_lone_key(site: Site<'_>) -> Option<Range<usize>> {
    if site.text.get(site.end) != Some(&b'=') || is_harmless(word_before(site)) {
        return None;
    }
    let start = site.end + 1;
    let has_format = |hit: anchors::Hit| {
        let rule = rules::get(hit.rule);
        let end = hit.end;
        let value = Site { start, end, ..site };
        matches!(rule.shape, Shape::Token(_) | Shape::Jwt)
            && matches!(scan::judge(&rule, value), Found::Secret(_))
    };
    // It is found by its format, which says more.
    if anchors::at(site.text, start.min(site.text.len())).any(has_format) {
        return None;
    }
    let in_address = matches!(site.before(), Some(b'?' | b'&'));
    let range = value(site.text, start, Charset::Loose)?;
    let body = &site.text[range.clone()];
    let is_digest = body.iter().all(u8::is_ascii_hexdigit) || random::is_uuid(body);
    let least = if in_address { 16 } else { 20 };
    let is_secret = body.len() >= least
        && (in_address || !is_digest)
        && (random::is_random(body) || in_address && random::is_plausible(body));
    is_secret.then(|| whole(site.text, range, Charset::Loose))
}

/// A value longer than was looked at ends where its alphabet does.
fn whole(text: &[u8], range: Range<usize>, charset: Charset) -> Range<usize> {
    let rest = match range.len() {
        LOOK => run_all(text, range.end, |byte| charset.contains(byte)),
        _ => 0,
    };
    range.start..range.end + rest
}

/// The value that begins here, without the signs of the sentence around it.
fn value(text: &[u8], start: usize, charset: Charset) -> Option<Range<usize>> {
    let length = run(text, start, |byte| charset.contains(byte));
    if length == LOOK {
        return Some(start..start + length);
    }
    let body = &text[start..start + length];
    let trailing = body
        .iter()
        .rev()
        .take_while(|byte| {
            matches!(
                byte,
                b'.' | b':' | b'-' | b'_' | b'/' | b'!' | b'@' | b'|' | b'%'
            )
        })
        .count();
    let end = start + length - trailing;
    let after = text.get(start + length);
    let is_code = matches!(after, Some(b'(' | b'[' | b'{' | b'$' | b'<' | b'@' | b'#'))
        && !text[start + length..].starts_with(b"</");
    let goes_on = after.is_some_and(u8::is_ascii_alphanumeric);
    (end > start && !is_code && !goes_on).then_some(start..end)
}
