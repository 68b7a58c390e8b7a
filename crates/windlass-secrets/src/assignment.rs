//! `name = value` where the name says that the value is a secret.
//!
//! Reads environment files, TOML, YAML, JSON (also JSON inside a JSON string), XML, query
//! strings, connection strings, command-line flags and source code: assignments of many
//! languages, typed variables, arguments and defaults. Program text is full of names such as
//! `token`, so a bare word counts only where the surroundings say that it is data.

use std::ops::Range;

use crate::scan::{LOOK, Site, is_placeholder, run, run_all, run_at_most};

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
    /// `name: type = "value"`, `name ?= "value"`: only quoted text counts.
    Quoted,
    /// `name 'value'` at the start of a line of a build file.
    Declared,
    /// `name("value")`, `("name", "value")`, `name || "value"`.
    Argument,
    /// `<name>value</name>`
    Element,
}

/// The value's range, if the anchor ends a name that is assigned one.
pub(crate) fn value(site: Site<'_>) -> Option<Range<usize>> {
    let text = site.text;
    let (join, mut at) = join(site)?;
    if !std::str::from_utf8(name(site)).is_ok_and(crate::rules::names_a_secret) && !is_short(site) {
        return None;
    }
    if join == Join::Element {
        return element(site, at);
    }
    if matches!(text.get(at), Some(b'b' | b'r' | b'f' | b'u' | b'L' | b'@'))
        && matches!(text.get(at + 1), Some(b'"' | b'\''))
    {
        at += 1;
    }
    let backslashes = run_at_most(text, at, 3, |byte| byte == b'\\');
    match text.get(at + backslashes) {
        Some(quote @ (b'"' | b'\'' | b'`')) => quoted(site, join, at, backslashes, *quote),
        _ if matches!(join, Join::Quoted | Join::Declared | Join::Argument) => None,
        _ => bare(site, join, at),
    }
}

/// `DB_PASS` and `db_pass`, and names of two words.
fn is_short(site: Site<'_>) -> bool {
    let anchor = &site.text[site.start..site.end];
    anchor.eq_ignore_ascii_case(b"_pass") || anchor.contains(&b' ') || is_pass(site)
}

/// A name that is `pass` and nothing more.
fn is_pass(site: Site<'_>) -> bool {
    name(site).eq_ignore_ascii_case(b"pass")
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// Whether a quoted text begins here, perhaps behind a backslash.
fn opens(text: &[u8], at: usize) -> bool {
    let escapes = run_at_most(text, at, 3, |byte| byte == b'\\');
    text.get(at + escapes).copied().is_some_and(is_quote)
}

fn join(site: Site<'_>) -> Option<(Join, usize)> {
    let text = site.text;
    let mut at = site.end;
    // The closing quote of the name, as in `"password":` and `env["password"] =`.
    let closing = run_at_most(text, at, 5, |byte| {
        is_quote(byte) || matches!(byte, b'\\' | b']' | b')')
    });
    at += closing;
    if closing == 0 && text.get(at) == Some(&b'>') && name_is_tag(site) {
        return Some((Join::Element, at + 1));
    }
    let spaces_before = run_at_most(text, at, 40, is_space);
    at += spaces_before;
    let signs = run_at_most(text, at, 4, |byte| {
        matches!(
            byte,
            b'=' | b':' | b'>' | b'?' | b'+' | b'.' | b'|' | b'!' | b'~' | b'<' | b'-'
        )
    });
    let signs = &text[at..at + signs];
    let next = at + signs.len();
    let after = next + run_at_most(text, next, 40, is_space);
    let spaces_after = after - next;
    let join = match signs {
        b"=" if spaces_before + spaces_after == 0 => Join::Tight,
        b"=" | b":=" | b"==" | b"===" => Join::Spaced,
        b"::=" | b":::=" | b"?=" | b"+=" | b".=" | b"||=" | b"??=" | b"!=" | b"!==" | b"<-"
        | b"=~" => Join::Quoted,
        b"||" | b"??" | b"?:" => Join::Argument,
        // A pair in Ruby or PHP; without quotes it is an arm of a match.
        b"=>" if closing > 0 => Join::Spaced,
        b"=>" if is_plain_name(site) => Join::Quoted,
        b":" => match typed(text, after) {
            Some(value) => return Some((Join::Quoted, value)),
            None => Join::Colon,
        },
        b"" => return unsigned(site, at, closing, spaces_before),
        _ => return None,
    };
    Some((join, after))
}

/// What joins a value without a sign of its own: a comma, a bracket, a space.
fn unsigned(site: Site<'_>, at: usize, closing: usize, spaces: usize) -> Option<(Join, usize)> {
    let text = site.text;
    match text.get(at)? {
        // `set("name", "value")` and `"name", "value": …` of a list of pairs.
        b',' if closing > 0 => {
            let value = at + 1 + run_at_most(text, at + 1, 8, is_space);
            if let Some(value) = pair(text, value) {
                return Some((Join::Quoted, value));
            }
            opens(text, value).then_some((Join::Argument, value))
        }
        b'(' if closing == 0 && spaces == 0 => {
            let value = at + 1 + run_at_most(text, at + 1, 4, is_space);
            let join = if is_setter(site) {
                Join::Quoted
            } else {
                Join::Argument
            };
            opens(text, value).then_some((join, value))
        }
        _ if closing > 0 && spaces > 0 => pair(text, at).map(|value| (Join::Quoted, value)),
        _ if spaces == 0 => None,
        _ if is_flag(site) => Some((Join::Flag, at)),
        // `password 'value'` of build files, `password value` of a `.netrc`.
        quote if is_quote(*quote) && starts_line(site) => Some((Join::Declared, at)),
        quote if is_quote(*quote) => Some((Join::Argument, at)),
        // A line of a container's build file.
        _ if site.text[site.floor..site.end - name(site).len()].ends_with(b"ENV ") => {
            Some((Join::Flag, at))
        }
        _ if is_login(site) => Some((Join::Flag, at)),
        _ => {
            if text[at..].starts_with(b"is ") || text[at..].starts_with(b"was ") {
                let verb = run_at_most(text, at, 3, |byte| byte != b' ');
                return opens(text, at + verb + 1).then_some((Join::Quoted, at + verb + 1));
            }
            typed(text, at).map(|value| (Join::Quoted, value))
        }
    }
}

/// `type = "value"`: where the value's quote is.
fn typed(text: &[u8], at: usize) -> Option<usize> {
    let is_type = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'_' | b'&'
                    | b'<'
                    | b'>'
                    | b'['
                    | b']'
                    | b'?'
                    | b'.'
                    | b'|'
                    | b' '
                    | b'\''
                    | b':'
                    | b'*'
            )
    };
    let length = run_at_most(text, at, 32, is_type);
    let sign = at + length;
    if length < 2 || !text[at..sign].ends_with(b" ") || text.get(sign) != Some(&b'=') {
        return None;
    }
    let value = sign + 1 + run_at_most(text, sign + 1, 4, is_space);
    opens(text, value).then_some(value)
}

/// `value="…"` or `"value": "…"`: where the value's quote is.
fn pair(text: &[u8], at: usize) -> Option<usize> {
    let open = at + run_at_most(text, at, 3, |byte| is_quote(byte) || byte == b'\\');
    let word = text.get(open..open + 5)?;
    if !word.eq_ignore_ascii_case(b"value") {
        return None;
    }
    let close = open + 5;
    let sign = close + run_at_most(text, close, 3, |byte| is_quote(byte) || byte == b'\\');
    let sign = sign + run_at_most(text, sign, 4, is_space);
    if !matches!(text.get(sign), Some(b'=' | b':')) {
        return None;
    }
    let value = sign + 1 + run_at_most(text, sign + 1, 4, is_space);
    opens(text, value).then_some(value)
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

/// `setPassword`, `with_token`.
fn is_setter(site: Site<'_>) -> bool {
    let name = name(site).to_ascii_lowercase();
    [&b"set"[..], b"with", b"use", b"add", b"put"]
        .iter()
        .any(|verb| name.starts_with(verb))
}

/// The byte before the name.
fn before_name(site: Site<'_>) -> Option<u8> {
    let before = site.end - name(site).len();
    (before > site.floor).then(|| site.text[before - 1])
}

fn is_flag(site: Site<'_>) -> bool {
    let name = name(site);
    name.starts_with(b"--") || name.starts_with(b"-") && before_name(site) == Some(b' ')
}

/// `<name>` or `<prefix:name>`, not the end of a comparison.
fn name_is_tag(site: Site<'_>) -> bool {
    matches!(before_name(site), Some(b'<' | b':'))
}

/// A name of small letters that is no path, no member and no type.
fn is_plain_name(site: Site<'_>) -> bool {
    let name = name(site);
    !name.iter().any(u8::is_ascii_uppercase)
        && matches!(
            before_name(site),
            None | Some(b' ' | b'\t' | b'\n' | b',' | b'{' | b'(')
        )
        || matches!(
            &site.text[..site.end - name.len()],
            [b':'] | [.., b' ' | b'\t' | b'\n', b':']
        )
}

/// Whether only spaces stand before the name.
fn starts_line(site: Site<'_>) -> bool {
    let behind = &site.text[site.floor..site.end - name(site).len()];
    let spaces = behind
        .iter()
        .rev()
        .take(64)
        .take_while(|byte| is_space(**byte))
        .count();
    behind.len() == spaces || behind[behind.len() - spaces - 1] == b'\n'
}

/// `login name password value`, in one line or in several.
fn is_login(site: Site<'_>) -> bool {
    let text = site.text;
    if name(site) != b"password" {
        return false;
    }
    let behind = &text[site.floor..site.start];
    let window = &behind[behind.len().saturating_sub(96)..];
    let line = window
        .rsplit(|byte| *byte == b'\n')
        .next()
        .unwrap_or(window);
    line.windows(6).any(|part| part == b"login ")
        || starts_line(site) && site.before() != Some(b'\n')
}

/// Whether the name stands where data stands: an upper-case name, the start of a line, a
/// query string. There even an ordinary word is a value.
fn is_data_position(site: Site<'_>) -> bool {
    let name = name(site);
    !name.iter().any(u8::is_ascii_lowercase)
        || name.starts_with(b"--")
        || matches!(
            before_name(site),
            None | Some(b'\n' | b'&' | b'?' | b']' | b';')
        )
}

/// The text of an element, up to the next tag.
fn element(site: Site<'_>, at: usize) -> Option<Range<usize>> {
    let text = site.text;
    let length = run(text, at, |byte| {
        !matches!(byte, b'<' | b'\n' | b'\r' | b'[' | b'"' | b'\\')
    });
    let body = &text[at..at + length];
    let closed = text[at + length..].starts_with(b"</");
    let is_secret = closed && length >= 4 && !is_blank(body) && !body.contains(&b' ');
    is_secret.then_some(at..at + length)
}

fn quoted(
    site: Site<'_>,
    join: Join,
    at: usize,
    backslashes: usize,
    quote: u8,
) -> Option<Range<usize>> {
    let text = site.text;
    if backslashes == 0 && closes(site, at, quote) {
        return None;
    }
    let start = at + backslashes + 1;
    let mut end = start;
    // A text that is not closed costs its whole line, but at most once per way to quote: the next
    // one that is quoted alike closes it.
    let closed = loop {
        match text.get(end) {
            None | Some(b'\n') => break false,
            Some(b'[') if is_placeholder(&text[end..]) => break true,
            Some(byte) if *byte == quote => break true,
            Some(b'\\') => {
                let escapes = run_all(text, end, |byte| byte == b'\\');
                if text.get(end + escapes) == Some(&quote) && escapes <= backslashes {
                    break true;
                }
                // An escaped quote belongs to the value.
                let is_quote = text.get(end + escapes).copied().is_some_and(is_quote);
                end += escapes + usize::from(is_quote);
            }
            Some(_) => end += 1,
        }
    };
    crate::work::note(end - start);
    if !closed {
        // The quote was an apostrophe, or the text is cut off: go no further than the
        // quoted text around it.
        end = start
            + run_all(text, start, |byte| {
                !is_quote(byte) && !matches!(byte, b'\\' | b'\n')
            });
    }
    let body = &text[start..end];
    is_quoted_secret(site, join, body).then_some(start..end)
}

/// Whether the quote ends a text that the name stands in, as in `read("Password: ")`.
fn closes(site: Site<'_>, at: usize, quote: u8) -> bool {
    let window = &site.text[site.floor.max(at.saturating_sub(LOOK))..at];
    let line = window
        .rsplit(|byte| *byte == b'\n')
        .next()
        .unwrap_or(window);
    crate::work::note(line.len());
    if line.len() == LOOK {
        return false;
    }
    let is_letter = |at: Option<usize>| {
        at.and_then(|at| line.get(at))
            .is_some_and(u8::is_ascii_alphabetic)
    };
    let quotes = line.iter().enumerate().filter(|(at, byte)| {
        let is_apostrophe = is_letter(at.checked_sub(1)) && is_letter(Some(at + 1));
        let is_escaped = *at > 0 && line[at - 1] == b'\\';
        **byte == quote && !is_apostrophe && !is_escaped
    });
    quotes.count() % 2 == 1
}

/// Whether quoted text under this name is a secret: not a message, a label, a reference.
fn is_quoted_secret(site: Site<'_>, join: Join, body: &[u8]) -> bool {
    let name = &site.text[site.start..site.end];
    let seen = &body[..body.len().min(LOOK)];
    let spaced = seen.contains(&b' ');
    // A build file has literals there; elsewhere this is a field that is named like itself.
    let is_declared = join == Join::Declared && names_a_password(name);
    let is_own_name = body.eq_ignore_ascii_case(name) && !is_declared;
    if body.len() < 4 || is_blank(seen) || is_own_name {
        return false;
    }
    if is_pass(site) {
        let is_assigned = matches!(join, Join::Tight | Join::Spaced | Join::Colon);
        return is_assigned && is_mixed(seen) && !spaced;
    }
    if is_declared {
        return !spaced;
    }
    match join {
        // Lists of names and calls of functions look like this too.
        Join::Argument => {
            is_mixed(seen)
                && seen.iter().any(u8::is_ascii_digit)
                && !matches!(seen[0], b'/' | b'.' | b'~')
                && !spaced
                && !is_reference_with_digits(seen)
        }
        // `current-password` is an attribute's value, `db_password` a name.
        _ if is_reference(seen) && seen.iter().any(|byte| !byte.is_ascii_alphabetic()) => false,
        _ if names_a_password(name) => true,
        // `unexpected token: "fn main"` is a message; a passphrase has spaces too.
        _ if name.eq_ignore_ascii_case(b"token") => {
            let in_token = |byte: &u8| !matches!(byte, b' ' | b'(' | b'*' | b'^' | b'\\');
            seen.iter().all(in_token)
                && seen[0] != b'#'
                && (is_mixed(seen) || seen.len() >= 24)
                && !is_reference_with_digits(seen)
        }
        _ if name[..4].eq_ignore_ascii_case(b"cred") => is_mixed(seen),
        _ => !is_reference_with_digits(seen),
    }
}

fn names_a_password(name: &[u8]) -> bool {
    name.to_ascii_lowercase()
        .windows(2)
        .any(|part| part == b"pa" || part == b"pw")
}

/// Letters and digits, or a sign that words do not have.
fn is_mixed(body: &[u8]) -> bool {
    let digit = body.iter().any(u8::is_ascii_digit);
    let letter = body.iter().any(u8::is_ascii_alphabetic);
    let sign =
        |byte: &u8| byte.is_ascii_punctuation() && !matches!(byte, b'_' | b'-' | b'.' | b':');
    body.len() >= 6 && letter && (digit || body.iter().any(sign))
}

fn bare(site: Site<'_>, join: Join, start: usize) -> Option<Range<usize>> {
    let text = site.text;
    let in_value = |byte: u8| {
        byte > b' '
            && !matches!(
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
    let length = run(text, start, in_value);
    let end = start + length;
    let body = &text[start..end];
    // A call, an index, a generic type or a path: program text.
    let is_code = matches!(text.get(end), Some(b'(' | b'[' | b'{' | b'<'))
        || body.windows(2).any(|pair| pair == b"::");
    if is_code && !text[end..].starts_with(b"</") || is_blank(body) {
        return None;
    }
    let digit = body.iter().any(u8::is_ascii_digit);
    let letter = body.iter().any(u8::is_ascii_alphabetic);
    let is_secret = match join {
        _ if is_pass(site) => false,
        _ if length > 64 => true,
        _ if is_setting(site, join, body, &text[end..]) => length >= 4,
        _ if is_reference_at(site, body) => false,
        Join::Tight => length >= 4 && (digit || is_data_position(site)),
        Join::Flag => {
            length >= 4 && body[0] != b'-' && (is_mixed(body) || ends_command(&text[end..]))
        }
        Join::Spaced => length >= 6 && digit && letter && !is_program_text(body),
        Join::Colon => length >= 8 && digit && letter && !is_program_text(body),
        Join::Quoted | Join::Declared | Join::Argument | Join::Element => false,
    };
    is_secret.then(|| start..start + run_all(text, start, in_value))
}

/// Whether this is a line of a settings file, `name=value` and nothing more: the value is no
/// variable, whatever it is called.
fn is_setting(site: Site<'_>, join: Join, body: &[u8], rest: &[u8]) -> bool {
    let is_whole = matches!(rest, [] | [b'\n' | b'\r', ..]);
    let starts = matches!(before_name(site), None | Some(b'\n'));
    let is_joined = match join {
        Join::Tight => true,
        // With spaces it may be program text: no call and no variable named like a secret.
        Join::Spaced => {
            let is_word = |byte: &u8| byte.is_ascii_lowercase() || *byte == b'_';
            body.len() >= 6 && body.iter().all(is_word) && !is_reference(body)
        }
        _ => false,
    };
    is_joined && is_whole && starts && names_a_password(name(site))
}

/// Whether a command line ends here or goes on with a flag: a sentence does not.
fn ends_command(rest: &[u8]) -> bool {
    matches!(
        rest,
        [] | [b'\n' | b'\r' | b';' | b'"' | b'\'' | b'|' | b'&', ..]
            | [b' ', b'-' | b'|' | b'&' | b'>', ..]
    )
}

/// `Ipv4Address`: a capital, words, and a number or two. `com.example.app:12`: a package.
fn is_program_text(body: &[u8]) -> bool {
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
fn is_blank(body: &[u8]) -> bool {
    let Some(first) = body.first() else {
        return true;
    };
    matches!(first, b'$' | b'{' | b'<' | b'*')
        || body.starts_with(b"%s")
        || body.starts_with(b"%(")
        // A list of rules, not a value.
        || body.starts_with(b"required|")
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

/// Whether a bare value refers to another variable, given where its name stands.
fn is_reference_at(site: Site<'_>, body: &[u8]) -> bool {
    let upper = |name: &[u8]| !name.iter().any(u8::is_ascii_lowercase);
    // Environment files and connection strings hold values only.
    let holds_values = before_name(site) == Some(b';')
        || upper(name(site)) && !upper(body) && !body.contains(&b'.');
    is_reference(body) && !holds_values
        || !names_a_password(&site.text[site.start..site.end]) && is_reference_with_digits(body)
}

/// `Ed25519PrivateKey`, `new_password2`: a name like those that secrets are given.
fn is_reference_with_digits(body: &[u8]) -> bool {
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
        && std::str::from_utf8(name).is_ok_and(crate::rules::names_a_secret)
}

/// A path to another variable that is named like a secret, as in `token=settings.api_key`.
fn is_reference(body: &[u8]) -> bool {
    let identifier = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.' | b'-');
    body.iter().all(identifier) && std::str::from_utf8(body).is_ok_and(crate::rules::names_a_secret)
}
