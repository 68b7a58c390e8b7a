//! Looks closer at one place where an anchor occurs: is there a secret, and from where to where?
//!
//! Pure functions over bytes. None looks past the end of its line, so a text may be
//! redacted line by line with the same result. None looks at more than [`LOOK`] bytes before
//! it says no, and what it reads after a yes is not looked at again, so the work stays linear
//! in the input.

use std::ops::Range;

use crate::{
    assignment, body, context,
    rules::{self, Around, Charset, PLACEHOLDER, Rule, Shape, Token},
    words, work,
};

/// How many bytes a judge may look at before it says no.
pub(crate) const LOOK: usize = 256;

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
        Shape::Around(shape) => around(rule.anchor, shape, site),
        Shape::Context(shape) => context::of_service(site, shape),
        Shape::Keyword => context::of_keyword(site),
        Shape::Jwt => jwt(site),
        Shape::Bearer => bearer(site),
        Shape::Authorization => authorization(site),
        Shape::Userinfo => userinfo(site),
        Shape::Login => login(site),
        Shape::PasswordFlag => password_flag(site),
        Shape::Credentials => credentials(site),
        Shape::PasswordLine => password_line(site),
        Shape::Assignment => assignment::value(site),
    };
    range.map_or(Found::Nothing, Found::Secret)
}

/// How many bytes from `from` on satisfy the test, for a range that is given out: what is read
/// here is not read again.
pub(crate) fn run_all(text: &[u8], from: usize, test: impl Fn(u8) -> bool) -> usize {
    let length = text[from..].iter().take_while(|byte| test(**byte)).count();
    work::note(length + 1);
    length
}

/// How many bytes from `from` on satisfy the test, at most so many.
pub(crate) fn run_at_most(
    text: &[u8],
    from: usize,
    most: usize,
    test: impl Fn(u8) -> bool,
) -> usize {
    run_all(&text[..text.len().min(from + most)], from, test)
}

/// How many bytes from `from` on satisfy the test, at most [`LOOK`].
pub(crate) fn run(text: &[u8], from: usize, test: impl Fn(u8) -> bool) -> usize {
    run_at_most(text, from, LOOK, test)
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
    [rules::KNOWN, rules::PRIVATE_KEY]
        .into_iter()
        .chain(rules::labels())
        .any(|label| !label.is_empty() && label.as_bytes() == name)
}

/// Whether a replacement stands at this place.
pub(crate) fn is_placeholder(text: &[u8]) -> bool {
    text.starts_with(PLACEHOLDER.as_bytes())
}

fn token(anchor: &str, shape: Token, site: Site<'_>) -> Option<Range<usize>> {
    let anchored = &site.text[site.start..site.end] == anchor.as_bytes();
    if is_in_blob(site) {
        return None;
    }
    let inside = if shape.body == Charset::Url {
        Charset::Url
    } else {
        Charset::Word
    };
    // An anchor that begins with a sign is not part of a word.
    let begins = !anchor.as_bytes()[0].is_ascii_alphanumeric() || site.starts_word(inside);
    if !anchored || !begins {
        return None;
    }
    let mut length = run(site.text, site.end, |byte| shape.body.contains(byte));
    let is_long = length == LOOK;
    if shape.body.contains(b'.') {
        length -= trailing_dots(&site.text[site.end..site.end + length]);
    }
    let body = &site.text[site.end..site.end + length];
    if !(shape.min..=shape.max).contains(&length) || !shape.looks.accepts(body) {
        return None;
    }
    let end = site.end + length;
    Some(
        site.start..if is_long {
            end_of(site.text, end, shape.body)
        } else {
            end
        },
    )
}

/// Whether the anchor stands in the middle of encoded data.
fn is_in_blob(site: Site<'_>) -> bool {
    const ENOUGH: usize = 16;
    let behind = &site.text[site.floor..site.start];
    let Some((b'+' | b'/' | b'-' | b'_', rest)) = behind.split_last() else {
        return false;
    };
    let last = &rest[rest.len().saturating_sub(ENOUGH)..];
    last.len() == ENOUGH
        && last.iter().all(|byte| Charset::Base64.contains(*byte))
        && last.iter().any(u8::is_ascii_digit)
        && last.iter().any(u8::is_ascii_uppercase)
        && !words::is_wordy(last)
}

/// Where the rest of an accepted token ends.
fn end_of(text: &[u8], from: usize, body: Charset) -> usize {
    let length = run_all(text, from, |byte| body.contains(byte));
    if !body.contains(b'.') {
        return from + length;
    }
    from + length - trailing_dots(&text[from..from + length])
}

fn around(anchor: &str, shape: Around, site: Site<'_>) -> Option<Range<usize>> {
    if &site.text[site.start..site.end] != anchor.as_bytes() {
        return None;
    }
    let behind = &site.text[site.floor..site.start];
    let before = behind
        .iter()
        .rev()
        .take(shape.before_max + 1)
        .take_while(|byte| shape.before.contains(**byte))
        .count();
    let after = run_at_most(site.text, site.end, shape.max + 1, |byte| {
        shape.body.contains(byte)
    });
    let goes_on = site
        .text
        .get(site.end + after)
        .is_some_and(u8::is_ascii_alphanumeric);
    let fits = (shape.before_min..=shape.before_max).contains(&before)
        && (shape.min..=shape.max).contains(&after)
        && !goes_on;
    fits.then_some(site.start - before..site.end + after)
}

/// Dots at the end of a run belong to the sentence.
fn trailing_dots(run: &[u8]) -> usize {
    run.iter().rev().take_while(|byte| **byte == b'.').count()
}

fn jwt(site: Site<'_>) -> Option<Range<usize>> {
    let anchor = &site.text[site.start..site.end];
    if !matches!(anchor, b"eyJ" | b"eyA" | b"ewo") || !site.starts_word(Charset::Dotted) {
        return None;
    }
    // Only the first anchor of a run gets here, so that no run is read twice.
    let length = run_all(site.text, site.start, |byte| Charset::Dotted.contains(byte));
    let whole = &site.text[site.start..site.start + length];
    let mut parts = whole.split(|byte| *byte == b'.');
    let (header, payload) = (parts.next()?, parts.next()?);
    // Without a signature the second part must be an object too.
    let is_signed = parts.next().is_some() || payload.starts_with(b"eyJ");
    let shaped = header.len() >= 10 && payload.len() >= 10 && is_signed;
    shaped.then(|| site.start..site.start + length - trailing_dots(whole))
}

fn is_credential_byte(byte: u8) -> bool {
    Charset::Base64.contains(byte) || matches!(byte, b'.' | b'~' | b':')
}

fn bearer(site: Site<'_>) -> Option<Range<usize>> {
    if !site.starts_word(Charset::Url) {
        return None;
    }
    let length = run_all(site.text, site.end, is_credential_byte);
    let body = &site.text[site.end..site.end + length];
    let is_secret = length >= 16 && body.iter().any(u8::is_ascii_digit);
    (is_secret && !body.starts_with(b"http")).then_some(site.end..site.end + length)
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
    let in_value = |byte| {
        !matches!(
            byte,
            b'"' | b'\'' | b'\\' | b'\n' | b'\r' | b'`' | b'[' | b' ' | b','
        )
    };
    let scheme_length = run_at_most(text, start, 32, |byte| {
        byte.is_ascii_alphanumeric() || byte == b'-'
    });
    let scheme = text[start..start + scheme_length].to_ascii_lowercase();
    let after = start + scheme_length;
    let credential = after + run_at_most(text, after, 4, |byte| byte == b' ');
    // The name of a type or of a member ends so too.
    let is_header = !site
        .before()
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b':');
    if credential > after {
        let least = match scheme.as_slice() {
            // Their parameters are spread over the rest of the header.
            b"digest" | b"aws4-hmac-sha256" | b"aws4-ecdsa-p256-sha256" | b"oauth" => {
                let length = parameters(&text[credential..]);
                return (length > 0).then_some(credential..credential + length);
            }
            b"bearer" | b"basic" | b"token" | b"apikey" | b"negotiate" | b"bot" | b"key" => 6,
            _ => 16,
        };
        let length = run(text, credential, in_value);
        let body = &text[credential..credential + length];
        if looks_like_credential(body, least) && (least < 16 || is_header && is_data(body)) {
            return Some(credential..credential + run_all(text, credential, in_value));
        }
        return None;
    }
    let length = run(text, start, in_value);
    let body = &text[start..start + length];
    // Without a scheme it may be a type or a call.
    let is_secret = is_header && looks_like_credential(body, 16) && is_data(body);
    is_secret.then(|| start..start + run_all(text, start, in_value))
}

/// Whether a value without a known scheme is no type and no call.
fn is_data(body: &[u8]) -> bool {
    body.iter().any(u8::is_ascii_digit) && !body.contains(&b'(')
}

/// How far `name="value", …` reaches: to the end of the line, or of the quoted text the
/// header stands in, where its own quotes are escaped.
fn parameters(text: &[u8]) -> usize {
    let in_line = |byte| !matches!(byte, b'\n' | b'\r' | b'`' | b'[');
    let plain = run_all(text, 0, |byte| {
        in_line(byte) && !matches!(byte, b'"' | b'\'' | b'\\')
    });
    match &text[plain..] {
        // A parameter's own quotes: this is a header line as it travels.
        [b'"' | b'\'', ..] if plain > 0 && text[plain - 1] == b'=' => {
            plain + run_all(text, plain, in_line)
        }
        // Escaped: the text ends at the first quote that is not.
        [b'\\', b'"' | b'\'', ..] if plain > 0 => {
            let line = plain + run_all(text, plain, in_line);
            let bare = |at: usize| text[at] == b'"' && text[at - 1] != b'\\';
            (plain..line).find(|at| bare(*at)).unwrap_or(line)
        }
        _ => plain,
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
    let length = with_hosts(text, site.end, length, in_authority);
    let authority = &text[site.end..site.end + length];
    let at_sign = authority.iter().rposition(|byte| *byte == b'@')?;
    let (from, least) = match authority[..at_sign].iter().position(|byte| *byte == b':') {
        Some(colon) => (colon + 1, 1),
        // No password: a long user name with digits is a token.
        None => (0, 20),
    };
    let secret = &authority[from..at_sign];
    let is_reference = matches!(secret.first(), None | Some(b'$' | b'{' | b'*'));
    // A mail address is a name too.
    let is_address = secret.windows(3).any(|part| part == b"%40");
    let random = least == 1 || secret.iter().any(u8::is_ascii_digit) && !is_address;
    (secret.len() >= least && !is_reference && random)
        .then_some(site.end + from..site.end + at_sign)
}

/// How far an authority reaches that lists several hosts, each with its own password:
/// `user:password@one,user:password@two`.
fn with_hosts(
    text: &[u8],
    from: usize,
    first: usize,
    in_authority: impl Fn(u8) -> bool + Copy,
) -> usize {
    let mut length = first;
    while length < LOOK && text.get(from + length) == Some(&b',') {
        let start = from + length + 1;
        let more = run_at_most(text, start, LOOK - length, in_authority);
        let host = &text[start..start + more];
        let has_password = |at: usize| host[..at].contains(&b':');
        let at_sign = host.iter().rposition(|byte| *byte == b'@');
        if !at_sign.is_some_and(has_password) {
            break;
        }
        length += 1 + more;
    }
    length
}

/// What stands before the anchor in its line, at most [`LOOK`] bytes.
fn line_before<'a>(site: Site<'a>) -> &'a [u8] {
    let behind = &site.text[site.floor..site.start];
    let newline = behind
        .iter()
        .rev()
        .take(LOOK)
        .position(|byte| *byte == b'\n');
    let line = &behind[behind.len() - newline.unwrap_or(behind.len().min(LOOK))..];
    work::note(line.len());
    line
}

fn names_any(line: &[u8], programs: &[&str]) -> bool {
    programs.iter().any(|name| {
        line.windows(name.len())
            .any(|part| part.eq_ignore_ascii_case(name.as_bytes()))
    })
}

/// `-p password` of programs that take a password so; for others it is a port or a path.
fn password_flag(site: Site<'_>) -> Option<Range<usize>> {
    const CLIENTS: [&str; 6] = [
        "psexec",
        "sshpass",
        "docker login",
        "podman login",
        "registry login",
        "az login",
    ];
    if !names_any(line_before(site), &CLIENTS) {
        return None;
    }
    let text = site.text;
    let start = site.end + run_at_most(text, site.end, 1, |byte| matches!(byte, b'"' | b'\''));
    let in_value = |byte: u8| byte > b' ' && !matches!(byte, b'"' | b'\'' | b'\\' | b'[' | b'`');
    let length = run_at_most(text, start, 256, in_value);
    let body = &text[start..start + length];
    let is_reference = matches!(
        body.first(),
        None | Some(b'$' | b'%' | b'{' | b'<' | b'*' | b'-' | b'/' | b'(')
    );
    (length >= 4 && !is_reference).then_some(start..start + length)
}

/// The last argument of a call that takes a name and a password, where it is quoted.
fn credentials(site: Site<'_>) -> Option<Range<usize>> {
    let text = site.text;
    let length = run(text, site.end, |byte| byte != b'\n');
    let arguments = &text[site.end..site.end + length];
    let mut at = 0;
    let mut count = 0;
    loop {
        at += run_at_most(arguments, at, 8, |byte| byte == b' ');
        let quote = *arguments.get(at)?;
        let is_quoted = matches!(quote, b'"' | b'\'');
        let (start, size) = if is_quoted {
            let is_inside = |byte: u8| byte != quote;
            (at + 1, run(arguments, at + 1, is_inside))
        } else {
            let in_name = |byte: u8| byte.is_ascii_alphanumeric() || b"._$@->".contains(&byte);
            (at, run(arguments, at, in_name))
        };
        if is_quoted && arguments.get(start + size) != Some(&quote) {
            return None;
        }
        count += 1;
        at = start + size + usize::from(is_quoted);
        at += run_at_most(arguments, at, 8, |byte| byte == b' ');
        match arguments.get(at)? {
            b',' => at += 1,
            b')' if count >= 2 && is_quoted => {
                let body = &arguments[start..start + size];
                let is_secret = size >= 4 && body::is_credential(body);
                return is_secret.then_some(site.end + start..site.end + start + size);
            }
            _ => return None,
        }
    }
}

/// `user:password` after the flag of an HTTP client, quoted in any way.
fn login(site: Site<'_>) -> Option<Range<usize>> {
    let text = site.text;
    let line = line_before(site);
    let is_client = names_any(line, &["curl", "wget", "http", "psexec", "mysql"]);
    if !is_client && !line.trim_ascii().is_empty() {
        return None;
    }
    let is_quote = |byte| matches!(byte, b'"' | b'\'');
    let user = site.end + run_at_most(text, site.end, 8, |byte| byte == b' ');
    let user = user + run_at_most(text, user, 1, is_quote);
    let in_user =
        |byte: u8| byte > b' ' && !matches!(byte, b':' | b'"' | b'\'' | b'\\' | b'[' | b'$');
    // The name may be a secret of its own, and replaced.
    let length = match is_placeholder(&text[user..]) {
        true => 1 + run_at_most(text, user, 64, |byte| byte != b']'),
        false => run_at_most(text, user, 128, in_user),
    };
    let colon = user + length + run_at_most(text, user + length, 1, is_quote);
    if text.get(colon) != Some(&b':') {
        return None;
    }
    let start = colon + 1 + run_at_most(text, colon + 1, 1, is_quote);
    let in_password = |byte: u8| byte > b' ' && !matches!(byte, b'"' | b'\'' | b'\\' | b'[');
    let length = run_at_most(text, start, 256, in_password);
    let body = &text[start..start + length];
    if length == 0 && looks_like_credential(&text[user..colon], 10) {
        return Some(user..colon);
    }
    let is_group = body.iter().all(u8::is_ascii_digit);
    let is_reference = matches!(body.first(), None | Some(b'$' | b'{' | b'<' | b'*' | b'/'));
    (length >= 4 && !is_group && !is_reference).then_some(start..start + length)
}

/// The last field of `host:port:database:user:password`, which is a whole line.
fn password_line(site: Site<'_>) -> Option<Range<usize>> {
    let text = site.text;
    let in_field = |byte: u8| byte > b' ' && !matches!(byte, b':' | b'"' | b'\'' | b'[' | b'/');
    let behind = &text[site.floor..site.start];
    let host = behind
        .iter()
        .rev()
        .take(128)
        .take_while(|byte| in_field(**byte) || **byte == b':')
        .count();
    let begins = host == behind.len() || behind[behind.len() - host - 1] == b'\n';
    let database = site.end + run_at_most(text, site.end, 64, in_field);
    let user = database + 1;
    if host == 0 || !begins || text.get(database) != Some(&b':') {
        return None;
    }
    let colon = user + run_at_most(text, user, 64, in_field);
    if text.get(colon) != Some(&b':') || colon == user {
        return None;
    }
    let start = colon + 1;
    let length = run_at_most(text, start, 256, |byte| byte > b' ' && byte != b'[');
    let ends = matches!(text.get(start + length), None | Some(b'\n' | b'\r'));
    (length >= 4 && ends).then_some(start..start + length)
}
