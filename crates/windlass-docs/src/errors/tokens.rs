//! The words of a log or an error message, and which of them vary from one occurrence to the next.

/// A word of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// As written, without the punctuation around it.
    pub text: &'a str,
    /// Where it starts in the text.
    pub start: usize,
    /// A name, an id, a number, an address or a path: it differs from one occurrence to the next.
    pub varies: bool,
}

impl Token<'_> {
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// The words in order. Quotes, brackets, punctuation and escapes of JSON separate them.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut start = None;
    let mut quote_before = false;
    let mut before = ' ';
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        let joins =
            c == '\'' && before.is_alphanumeric() && next.is_some_and(char::is_alphanumeric);
        if joins || !is_separator(c) {
            start.get_or_insert(at);
            before = c;
            continue;
        }
        if let Some(start) = start.take() {
            push(&mut found, text, start, at, quote_before && is_quote(c));
        }
        quote_before = is_quote(c);
        // `\n` between two lines of a message that was written into JSON.
        if c == '\\'
            && let Some('n' | 't' | 'r') = next
        {
            characters.next();
        }
        before = c;
    }
    if let Some(start) = start {
        push(&mut found, text, start, text.len(), false);
    }
    found
}

fn push<'a>(found: &mut Vec<Token<'a>>, text: &'a str, start: usize, end: usize, quoted: bool) {
    let word = &text[start..end];
    let trimmed = word.trim_start_matches(|c: char| !c.is_alphanumeric());
    let start = start + word.len() - trimmed.len();
    let trimmed = trimmed.trim_end_matches(|c: char| !c.is_alphanumeric());
    if !trimmed.is_empty() {
        found.push(Token {
            text: trimmed,
            start,
            varies: quoted || trimmed.chars().any(|c| c.is_numeric() || is_in_names(c)),
        });
    }
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`' | '“' | '”' | '‘' | '’' | '«' | '»')
}

fn is_separator(c: char) -> bool {
    c.is_whitespace()
        || is_quote(c)
        || matches!(
            c,
            '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | '|' | ',' | ';' | '=' | '\\' | '\u{1b}'
        )
}

fn is_in_names(c: char) -> bool {
    matches!(c, '/' | ':' | '@' | '_' | '.' | '-' | '$')
}
