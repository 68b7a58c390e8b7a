//! Words, numbers and marks of a piece.

use crate::spec::lexicon::{
    small::{self, Tags},
    verbs::{self, VerbUse},
};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Letters.
    Word,
    /// Begins with a digit or a currency sign.
    Number,
    /// Anything else.
    Mark,
}

/// A token.
#[derive(Clone, Debug)]
pub struct Token {
    /// As written.
    pub text: String,
    /// Lower case, apostrophes straight.
    pub lower: String,
    /// First byte in the piece's text.
    pub start: usize,
    /// Last byte, not included.
    pub end: usize,
    /// What it is.
    pub kind: Kind,
    /// Which small words it can be.
    pub tags: Tags,
    /// The verb it can be.
    pub verb: Option<VerbUse>,
}

impl Token {
    /// Whether it is that word.
    pub fn is(&self, word: &str) -> bool {
        self.lower == word
    }

    /// Whether it is one of those words.
    pub fn is_any(&self, words: &[&str]) -> bool {
        words.contains(&self.lower.as_str())
    }

    /// Whether it can be such a small word.
    pub fn has(&self, tags: Tags) -> bool {
        self.tags.has(tags)
    }

    /// Whether it is a word that may name or describe a thing.
    pub fn is_content(&self) -> bool {
        self.kind == Kind::Word && !self.tags.has(small::FUNCTION_WORD)
    }

    /// Whether it begins with a capital.
    pub fn is_capitalised(&self) -> bool {
        self.text.starts_with(char::is_uppercase)
    }

    /// A comma, a dash: where a list continues.
    pub fn is_comma(&self) -> bool {
        self.is(",")
    }
}

/// The tokens of a text.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        if letter.is_whitespace() {
            at += letter.len_utf8();
            continue;
        }
        let kind = kind_of(letter, &text[at + letter.len_utf8()..]);
        let end = match kind {
            Kind::Mark => at + letter.len_utf8(),
            Kind::Word | Kind::Number => at + run(&text[at..], kind),
        };
        let written = &text[at..end];
        let lower = written.to_lowercase().replace('’', "'");
        found.push(Token {
            text: written.to_owned(),
            start: at,
            end,
            kind,
            tags: small::tags(&lower),
            verb: (kind == Kind::Word).then(|| verbs::verb(&lower)).flatten(),
            lower,
        });
        at = end;
    }
    found
}

fn kind_of(letter: char, rest: &str) -> Kind {
    let digit_next = rest.starts_with(|c: char| c.is_ascii_digit());
    if letter.is_ascii_digit() || (matches!(letter, '€' | '$' | '£' | '¥') && digit_next) {
        Kind::Number
    } else if letter.is_alphanumeric()
        || (letter == '#' && rest.starts_with(|c: char| c.is_ascii_hexdigit()))
    {
        Kind::Word
    } else {
        Kind::Mark
    }
}

/// How many more bytes a word or number has.
fn run(text: &str, kind: Kind) -> usize {
    let mut end = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        let joins = match letter {
            _ if at == 0 || letter.is_alphanumeric() || letter == '_' => true,
            '\'' | '’' | '-' | '/' | '@' => next.is_some_and(char::is_alphanumeric),
            '.' => next.is_some_and(|next| {
                if kind == Kind::Number {
                    next.is_ascii_digit()
                } else {
                    next.is_alphanumeric()
                }
            }),
            ',' | ':' => kind == Kind::Number && next.is_some_and(|next| next.is_ascii_digit()),
            '%' => kind == Kind::Number,
            '+' => kind == Kind::Number,
            // `isn't` is one word, `patients'` ends before the mark.
            _ => false,
        };
        if !joins {
            break;
        }
        end = at + letter.len_utf8();
    }
    end
}

/// The text between two tokens, both included.
pub fn slice<'a>(text: &'a str, tokens: &[Token]) -> &'a str {
    match (tokens.first(), tokens.last()) {
        (Some(first), Some(last)) => &text[first.start..last.end],
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_numbers_and_marks() {
        for (text, expected) in [
            ("create, edit and/or delete", "create|,|edit|and/or|delete"),
            (
                "the patient's e-mail (unique)",
                "the|patient's|e-mail|(|unique|)",
            ),
            (
                "under 1.5 seconds, €20,000 or 99.9%.",
                "under|1.5|seconds|,|€20,000|or|99.9%|.",
            ),
            ("Next.js at 07:00", "Next.js|at|07:00"),
            ("text #1F2937; 300ms", "text|#1F2937|;|300ms"),
            ("日本 🎲 naïve", "日本|🎲|naïve"),
            ("", ""),
        ] {
            let got: Vec<String> = tokens(text).into_iter().map(|token| token.text).collect();
            assert_eq!(got.join("|"), expected);
        }
    }
}
