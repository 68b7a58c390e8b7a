//! Text → tokens, by the lexical rules of PostgreSQL or of MySQL.
//!
//! Where servers differ by settings, the adapter pins them: `standard_conforming_strings` on,
//! an empty `sql_mode`, UTF-8. Where versions differ, the reading that shows more words to the
//! rules is taken. Anything that cannot be read for certain is an error.

use super::SqlEngine;
use super::functions::HINTS;
use super::token::{TextKind, Token};
use crate::guard::{Refusal, Rule};

/// Splits a text.
pub fn lex(engine: SqlEngine, text: &str) -> Result<Vec<Token>, Refusal> {
    let mut lexer = Lexer {
        engine,
        text: text.chars().collect(),
        at: 0,
        tokens: Vec::new(),
    };
    while lexer.at < lexer.text.len() {
        lexer.step()?;
    }
    decode_unicode_identifiers(lexer.tokens)
}

struct Lexer {
    engine: SqlEngine,
    text: Vec<char>,
    at: usize,
    tokens: Vec<Raw>,
}

/// A token, or a `U&"…"` whose escape character is known only after the next tokens.
enum Raw {
    Token(Token),
    UnicodeIdentifier(String),
    /// A string of one character, which `UESCAPE` may name.
    Character(char),
}

impl Lexer {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.text.get(self.at + ahead).copied()
    }

    fn starts_with(&self, start: &str) -> bool {
        start
            .chars()
            .enumerate()
            .all(|(index, expected)| self.peek(index) == Some(expected))
    }

    fn push(&mut self, token: Token) {
        self.tokens.push(Raw::Token(token));
    }

    fn step(&mut self) -> Result<(), Refusal> {
        let Some(character) = self.peek(0) else {
            return Ok(());
        };
        if character == '\0' {
            return Err(unreadable("a NUL character"));
        }
        if is_space(character) {
            self.at += 1;
            return Ok(());
        }
        if self.comment()? {
            return Ok(());
        }
        match (self.engine, character) {
            (_, '\'') => self.text(1, '\'', self.engine == SqlEngine::MySql, TextKind::Plain),
            (SqlEngine::Postgres, '"') => {
                self.at += 1;
                let name = self.quoted('"', false)?;
                self.push(Token::Quoted(name));
                Ok(())
            }
            (SqlEngine::MySql, '"') => self.text(1, '"', true, TextKind::Plain),
            (SqlEngine::MySql, '`') => {
                self.at += 1;
                let name = self.quoted('`', false)?;
                self.push(Token::Quoted(name));
                Ok(())
            }
            (SqlEngine::Postgres, '$') => self.dollar(),
            (_, '0'..='9') => {
                self.number()?;
                Ok(())
            }
            (_, first) if is_word_start(first) || (first == '$') => self.word(),
            (_, symbol) => {
                self.at += 1;
                self.push(Token::Symbol(symbol));
                Ok(())
            }
        }
    }

    /// Skips a comment, if there is one here.
    fn comment(&mut self) -> Result<bool, Refusal> {
        if self.starts_with("/*") {
            self.block_comment()?;
            return Ok(true);
        }
        let line = match self.engine {
            SqlEngine::Postgres => self.starts_with("--"),
            // MySQL wants a space after the dashes: `1--1` is a subtraction.
            SqlEngine::MySql => {
                self.peek(0) == Some('#')
                    || (self.starts_with("--")
                        && self
                            .peek(2)
                            .is_none_or(|after| is_space(after) || after.is_ascii_control()))
            }
        };
        if line {
            while let Some(character) = self.peek(0) {
                self.at += 1;
                // PostgreSQL ends the line at a carriage return too; MySQL does not.
                if character == '\n' || (character == '\r' && self.engine == SqlEngine::Postgres) {
                    break;
                }
            }
        }
        Ok(line)
    }

    fn block_comment(&mut self) -> Result<(), Refusal> {
        let mysql = self.engine == SqlEngine::MySql;
        if mysql && (self.peek(2) == Some('!') || self.starts_with("/*M!")) {
            return Err(Refusal::new(
                Rule::SqlExecutableComment,
                "a comment of the form /*! … */ is executed by the server; write its contents \
                 as ordinary SQL",
            ));
        }
        let hint = mysql && self.peek(2) == Some('+');
        let start = self.at;
        self.at += 2;
        let mut depth = 1;
        while depth > 0 {
            if self.at >= self.text.len() {
                return Err(unreadable("a comment that does not end"));
            }
            if self.starts_with("*/") {
                depth -= 1;
                self.at += 2;
            } else if self.starts_with("/*") && !mysql {
                depth += 1;
                self.at += 2;
            } else {
                self.at += 1;
            }
        }
        if hint {
            let hint: String = self.text[start + 3..self.at - 2].iter().collect();
            check_hint(&hint)?;
        }
        Ok(())
    }

    /// A string that opens `prefix` characters from here (its quote included).
    fn text(
        &mut self,
        prefix: usize,
        quote: char,
        backslash: bool,
        kind: TextKind,
    ) -> Result<(), Refusal> {
        self.at += prefix;
        let contents = self.quoted(quote, backslash)?;
        let mut characters = contents.chars();
        match (kind, characters.next(), characters.next()) {
            (TextKind::Plain, Some(only), None) => self.tokens.push(Raw::Character(only)),
            _ => self.push(Token::Text(kind)),
        }
        Ok(())
    }

    /// Reads to the closing quote; a doubled one stands for itself.
    fn quoted(&mut self, quote: char, backslash: bool) -> Result<String, Refusal> {
        let mut contents = String::new();
        while let Some(character) = self.peek(0) {
            self.at += 1;
            if character == '\0' {
                return Err(unreadable("a NUL character"));
            }
            if backslash && character == '\\' {
                if self.peek(0).is_some() {
                    self.at += 1;
                }
                contents.push('\\');
            } else if character == quote {
                if self.peek(0) != Some(quote) {
                    return Ok(contents);
                }
                self.at += 1;
                contents.push(quote);
            } else {
                contents.push(character);
            }
        }
        Err(unreadable(format!("a {quote} that is not closed")))
    }

    /// `$1`, `$$…$$` or `$tag$…$tag$`.
    fn dollar(&mut self) -> Result<(), Refusal> {
        if self.peek(1).is_some_and(|next| next.is_ascii_digit()) {
            self.at += 1;
            while self.peek(0).is_some_and(|next| next.is_ascii_digit()) {
                self.at += 1;
            }
            self.push(Token::Number);
            return Ok(());
        }
        let mut end = 1;
        if self.peek(end).is_some_and(is_word_start) {
            while self
                .peek(end)
                .is_some_and(|next| is_word_start(next) || next.is_ascii_digit())
            {
                end += 1;
            }
        }
        if self.peek(end) != Some('$') {
            self.at += 1;
            self.push(Token::Symbol('$'));
            return Ok(());
        }
        let delimiter: String = self.text[self.at..=self.at + end].iter().collect();
        self.at += end + 1;
        while self.at < self.text.len() {
            if self.starts_with(&delimiter) {
                self.at += end + 1;
                self.push(Token::Text(TextKind::Plain));
                return Ok(());
            }
            if self.peek(0) == Some('\0') {
                return Err(unreadable("a NUL character"));
            }
            self.at += 1;
        }
        Err(unreadable(format!("a {delimiter} that is not closed")))
    }

    /// Digits, a fraction, an exponent. Letters after it are a word of their own, since older
    /// servers read `1into` as `1 into`. `1.e+` without digits is no number, and some servers of
    /// MySQL drop it: what stands before it would then call what stands behind it.
    fn number(&mut self) -> Result<(), Refusal> {
        let digits = |lexer: &mut Self| {
            while lexer.peek(0).is_some_and(|next| next.is_ascii_digit()) {
                lexer.at += 1;
            }
        };
        digits(self);
        let has_fraction = self.peek(0) == Some('.') && self.peek(1) != Some('.');
        if has_fraction {
            self.at += 1;
            digits(self);
        }
        if matches!(self.peek(0), Some('e' | 'E')) {
            let sign = usize::from(matches!(self.peek(1), Some('+' | '-')));
            if self
                .peek(1 + sign)
                .is_some_and(|next| next.is_ascii_digit())
            {
                self.at += 1 + sign;
                digits(self);
            } else if self.engine == SqlEngine::MySql && has_fraction {
                return Err(unreadable("a number whose exponent has no digits"));
            }
        }
        self.push(Token::Number);
        Ok(())
    }

    /// A word, or a string with a letter before it.
    fn word(&mut self) -> Result<(), Refusal> {
        let next = self.peek(1);
        let letter = self.peek(0).map(|letter| letter.to_ascii_lowercase());
        match (self.engine, letter, next) {
            (SqlEngine::Postgres, Some('e'), Some('\'')) => {
                return self.text(2, '\'', true, TextKind::Escaped);
            }
            (SqlEngine::Postgres, Some('b' | 'x'), Some('\'')) => {
                return self.text(2, '\'', false, TextKind::Escaped);
            }
            (SqlEngine::Postgres, Some('n'), Some('\'')) => {
                return self.text(2, '\'', false, TextKind::Plain);
            }
            (SqlEngine::Postgres, Some('u'), Some('&')) => match self.peek(2) {
                Some('\'') => return self.text(3, '\'', false, TextKind::Escaped),
                Some('"') => {
                    self.at += 3;
                    let name = self.quoted('"', false)?;
                    self.tokens.push(Raw::UnicodeIdentifier(name));
                    return Ok(());
                }
                _ => {}
            },
            _ => {}
        }
        let start = self.at;
        while self
            .peek(0)
            .is_some_and(|next| is_word_start(next) || next.is_ascii_digit() || next == '$')
        {
            self.at += 1;
        }
        let word: String = self.text[start..self.at].iter().collect();
        self.push(Token::Word(word.to_ascii_lowercase()));
        Ok(())
    }
}

/// Lets optimizer hints through that choose a plan; others change settings of the session.
fn check_hint(hint: &str) -> Result<(), Refusal> {
    let mut depth = 0_usize;
    for word in hint.split_inclusive(|next: char| !next.is_alphanumeric() && next != '_') {
        let (name, end) = match word.char_indices().next_back() {
            Some((at, last)) if !last.is_alphanumeric() && last != '_' => (&word[..at], Some(last)),
            _ => (word, None),
        };
        let name = name.to_ascii_lowercase();
        if depth == 0
            && !name.is_empty()
            && !HINTS.split_ascii_whitespace().any(|known| known == name)
        {
            return Err(Refusal::new(
                Rule::SqlExecutableComment,
                format!(
                    "the optimizer hint {name} is not on the list of those that only choose a \
                     plan; leave it out"
                ),
            ));
        }
        match end {
            Some('(') => depth += 1,
            Some(')') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

const fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

/// Both servers take every character beyond ASCII as part of a name, exotic spaces included.
const fn is_word_start(character: char) -> bool {
    character.is_ascii_alphabetic() || character == '_' || !character.is_ascii()
}

fn unreadable(what: impl std::fmt::Display) -> Refusal {
    Refusal::new(
        Rule::SqlUnreadable,
        format!("the statement cannot be read for certain: it has {what}"),
    )
}

/// `U&"d\0061ta"`, and `U&"d!0061ta" UESCAPE '!'`.
fn decode_unicode_identifiers(raw: Vec<Raw>) -> Result<Vec<Token>, Refusal> {
    let mut tokens = Vec::with_capacity(raw.len());
    let mut rest = raw.into_iter().peekable();
    while let Some(next) = rest.next() {
        match next {
            Raw::Token(token) => tokens.push(token),
            Raw::Character(_) => tokens.push(Token::Text(TextKind::Plain)),
            Raw::UnicodeIdentifier(name) => {
                let mut escape = '\\';
                if matches!(rest.peek(), Some(Raw::Token(token)) if token.is("uescape")) {
                    rest.next();
                    match rest.next() {
                        Some(Raw::Character(named)) => escape = named,
                        _ => return Err(unreadable("a UESCAPE without its character")),
                    }
                }
                tokens.push(Token::Quoted(unescape(&name, escape)?));
            }
        }
    }
    Ok(tokens)
}

fn unescape(name: &str, escape: char) -> Result<String, Refusal> {
    let wrong = || unreadable("an identifier with a wrong Unicode escape");
    let mut decoded = String::new();
    let mut rest = name.chars().peekable();
    while let Some(character) = rest.next() {
        if character != escape {
            decoded.push(character);
            continue;
        }
        let digits = match rest.peek().copied() {
            Some(again) if again == escape => {
                rest.next();
                decoded.push(escape);
                continue;
            }
            Some('+') => {
                rest.next();
                6
            }
            _ => 4,
        };
        let code: String = rest.by_ref().take(digits).collect();
        let value = (code.len() == digits)
            .then(|| u32::from_str_radix(&code, 16).ok())
            .flatten()
            .and_then(char::from_u32)
            .ok_or_else(wrong)?;
        decoded.push(value);
    }
    Ok(decoded)
}
