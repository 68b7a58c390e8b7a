//! `name = value` where the name says that the value is a secret.
//!
//! Reads environment files, TOML, YAML, JSON (also JSON inside a JSON string), XML, query
//! strings, connection strings, command-line flags and source code: assignments of many
//! languages, typed variables, arguments and defaults. Program text is full of names such as
//! `token`, so a bare word counts only where the surroundings say that it is data.

use std::ops::Range;

use crate::{
    body::{
        ends_command, is_blank, is_identifier, is_in_path, is_mixed, is_program_text, is_prose,
        is_quote, is_reference, is_reference_with_digits, is_scope, is_sealed, is_space, is_text,
        names_a_password, tells_a_name,
    },
    random,
    scan::{LOOK, Site, is_placeholder, run, run_all, run_at_most},
    strange, words,
};

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
    named(site)
        .or_else(|| strange::compared(site))
        .or_else(|| strange::suffixed(site))
}

/// The value after the name.
fn named(site: Site<'_>) -> Option<Range<usize>> {
    let text = site.text;
    if is_type_or_folder(site) {
        return None;
    }
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

/// `AWS::IAM::AccessKey`, `arn:…:secret:name`, `$(PWD)=`, and the working directory.
fn is_type_or_folder(site: Site<'_>) -> bool {
    let (before, name) = (&site.text[..site.end - name(site).len()], name(site));
    let joins = |byte: u8| is_quote(byte) || is_space(byte) || matches!(byte, b'=' | b':');
    let rest = site.end + run_at_most(site.text, site.end, 6, joins);
    let is_folder = [&b"PWD"[..], b"OLDPWD"].contains(&name)
        && matches!(site.text.get(rest), Some(b'/' | b')' | b'~' | b'$'));
    let is_part =
        before.ends_with(b"::") || before.ends_with(b":") && site.text.get(site.end) == Some(&b':');
    is_folder || is_part
}

/// `DB_PASS` and `db_pass`, and names of two words.
fn is_short(site: Site<'_>) -> bool {
    let anchor = &site.text[site.start..site.end];
    anchor.eq_ignore_ascii_case(b"_pass")
        || anchor.eq_ignore_ascii_case(b"_pw")
        || anchor.contains(&b' ')
        || is_pass(site)
}

/// A name that is `pass` and nothing more.
fn is_pass(site: Site<'_>) -> bool {
    name(site).eq_ignore_ascii_case(b"pass")
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
    // An array of characters.
    if closing == 0 && text.get(at) == Some(&b'[') {
        let size = run_at_most(text, at + 1, 5, |byte| byte.is_ascii_digit());
        at += if text.get(at + 1 + size) == Some(&b']') {
            size + 2
        } else {
            0
        };
    }
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
pub(crate) fn name<'a>(site: Site<'a>) -> &'a [u8] {
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
        || starts_line(site) && !matches!(site.before(), None | Some(b'\n'))
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
    if length == LOOK {
        // Longer than is looked at: it reaches to the next tag.
        let is_secret = random::is_plausible(body) && is_text(body) || is_sealed(body);
        return is_secret.then(|| at..at + run_all(text, at, |byte| !matches!(byte, b'<' | b'\n')));
    }
    let closed = text[at + length..].starts_with(b"</");
    let is_secret = closed && length >= 4 && (is_sealed(body) || is_text(body));
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
            let is_password = names_a_password(name);
            let is_short = seen.len() < 10 && !is_password;
            let is_name = words::is_wordy(seen) && seen.iter().all(is_identifier) && !is_password;
            strange::is_misnested(seen)
                || !is_short
                    && is_mixed(seen)
                    && seen.iter().any(u8::is_ascii_digit)
                    && !is_name
                    && !matches!(seen[0], b'/' | b'.' | b'~')
                    && !spaced
                    && !is_reference_with_digits(seen)
        }
        // `current-password` is an attribute's value, `db_password` a name.
        _ if is_reference(seen) && seen.iter().any(|byte| !byte.is_ascii_alphabetic()) => false,
        _ if is_prose(seen) || tells_a_name(seen) => false,
        _ if names_a_password(name) => true,
        // `unexpected token: "fn main"` is a message; a passphrase has spaces too.
        _ if name.eq_ignore_ascii_case(b"token") => {
            let in_token = |byte: &u8| !matches!(byte, b' ' | b'(' | b'*' | b'^' | b'\\');
            seen.iter().all(in_token)
                && seen[0] != b'#'
                && (is_mixed(seen) || seen.len() >= 24)
                && !(words::is_wordy(seen) && seen.iter().all(is_in_path))
                && !is_reference_with_digits(seen)
        }
        _ if name[..4].eq_ignore_ascii_case(b"cred") => is_mixed(seen),
        _ => {
            let is_file = matches!(seen[0], b'/' | b'.' | b'~') && words::is_wordy(seen);
            !is_file && !is_reference_with_digits(seen)
        }
    }
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
    // In a line of an environment file, `&` joins nothing.
    let length = match text.get(start + length) {
        Some(b'&') if join == Join::Tight && upper_name(site) && starts_line(site) => {
            run(text, start, |byte| byte == b'&' || in_value(byte))
        }
        _ => length,
    };
    let end = start + length;
    let body = &text[start..end];
    // A call, an index, a generic type or a path: program text.
    let is_code = matches!(text.get(end), Some(b'(' | b'[' | b'{' | b'<'))
        || body.windows(2).any(|pair| pair == b"::");
    if let Some(range) = strange::rest_of_line(text, start) {
        return Some(range);
    }
    if is_code && !text[end..].starts_with(b"</") || is_blank(body) {
        return None;
    }
    let digit = body.iter().any(u8::is_ascii_digit);
    let letter = body.iter().any(u8::is_ascii_alphabetic);
    let rest = &text[end..end + run_at_most(text, end, 4, is_space)];
    let is_type = join == Join::Colon && text[end + rest.len()..].starts_with(b"=");
    let is_secret = match join {
        _ if is_pass(site) || is_type || is_scope(body) || is_plain(site, body) => false,
        _ if length > 64 => true,
        _ if is_setting(site, join, body, &text[end..]) => length >= 4,
        _ if is_reference_at(site, body) => false,
        Join::Tight => length >= 4 && (digit || is_data_position(site)),
        Join::Flag => {
            let is_prose = matches!(
                body,
                b"option" | b"options" | b"flag" | b"flags" | b"argument" | b"from" | b"with"
            );
            let is_prose = is_prose || body.ends_with(b".") && body[1..].is_ascii();
            let is_value = is_mixed(body) || ends_command(&text[end..]) && !is_prose;
            length >= 4 && body[0] != b'-' && is_value
        }
        Join::Spaced => length >= 6 && digit && letter && !is_program_text(body),
        Join::Colon => length >= 8 && digit && letter && !is_program_text(body),
        Join::Quoted | Join::Declared | Join::Argument | Join::Element => false,
    };
    let rest = |end| match length {
        LOOK => run_all(text, end, in_value),
        _ => 0,
    };
    is_secret.then(|| start..end + rest(end))
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

/// An address without a password, a number, the name of a constant such as `MAX_TOKEN_2`, a rule
/// of a grammar such as `1*tchar`.
fn is_plain(site: Site<'_>, body: &[u8]) -> bool {
    let in_name = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    let digits = body.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_constant = body.iter().all(in_name)
        && !names_a_password(name(site))
        && (words::is_wordy(body) || body.contains(&b'_') && digits <= 4);
    let is_member = body.contains(&b'.') && body.iter().all(is_identifier);
    let folders = body.iter().filter(|byte| **byte == b'/').count();
    is_constant && !upper_name(site)
        || folders >= 3 && words::is_wordy(body)
        || is_member && words::is_wordy(body) && !names_a_password(name(site))
        || body.starts_with(b"1*")
        || body.starts_with(b"0x") && body.len() <= 18
        || body.starts_with(b"http://")
        || body.starts_with(b"https://")
}

/// A name in capitals, as in an environment file.
fn upper_name(site: Site<'_>) -> bool {
    !name(site).iter().any(u8::is_ascii_lowercase)
}

/// Whether a bare value refers to another variable, given where its name stands.
fn is_reference_at(site: Site<'_>, body: &[u8]) -> bool {
    let upper = |name: &[u8]| !name.iter().any(u8::is_ascii_lowercase);
    // Environment files and connection strings hold values only.
    let holds_values = matches!(before_name(site), Some(b';' | b'&' | b'?'))
        || upper(name(site)) && !upper(body) && !body.contains(&b'.');
    is_reference(body) && !holds_values
        || !names_a_password(&site.text[site.start..site.end]) && is_reference_with_digits(body)
}
