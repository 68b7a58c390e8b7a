//! How directives are written: `$Name(arg, 'text', $Nested()).path.to.value`, alone or inside a
//! longer text. Parsing and printing; no meaning.

use std::fmt;

use serde_json::Number;

/// Deeper nesting is refused.
const MAX_DEPTH: usize = 16;

/// Directives whose value has parts, so that `.path` may follow. Custom ones may have too.
const WITH_PATH: &[&str] = &["File", "Var", "This", "CliArgs", "GitInfo"];

/// One directive.
#[derive(Clone, Debug, PartialEq)]
pub struct Directive {
    /// Its name, without the `$`.
    pub name: String,
    /// Its arguments.
    pub arguments: Vec<Argument>,
    /// The keys that follow it.
    pub path: Vec<String>,
}

/// An argument of a directive.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A text in quotes.
    Text(String),
    /// A number.
    Number(Number),
    /// `true` or `false`.
    Bool(bool),
    /// Another directive.
    Directive(Directive),
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Stays as it is.
    Text(String),
    /// Is replaced.
    Directive(Directive),
}

/// Why a directive cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// What is wrong.
    pub message: String,
    /// What was probably meant.
    pub suggestion: Option<String>,
}

/// The parts of a text. `is_known` says which names are directives; of others, those that begin
/// with an upper-case letter are read too, so that a misspelt one is noticed.
pub fn parse(text: &str, is_known: &dyn Fn(&str) -> bool) -> Result<Vec<Part>, SyntaxError> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(dollar) = rest.find('$') {
        plain.push_str(&rest[..dollar]);
        let after = &rest[dollar + 1..];
        let name_length = after
            .find(|letter: char| !letter.is_ascii_alphanumeric())
            .unwrap_or(after.len());
        let (name, behind) = after.split_at(name_length);
        let is_directive = behind.starts_with('(')
            && name.starts_with(|first: char| first.is_ascii_alphabetic())
            && (is_known(name) || name.starts_with(|first: char| first.is_ascii_uppercase()));
        if !is_directive {
            plain.push('$');
            rest = after;
            continue;
        }
        let mut cursor = Cursor {
            rest: after,
            // A hyphen belongs to a key only where nothing else can follow.
            hyphens: plain.is_empty() && parts.is_empty(),
        };
        let directive = cursor.directive(0)?;
        let mut remaining = cursor.rest;
        let directive = if cursor.hyphens && !remaining.is_empty() {
            let mut again = Cursor {
                rest: after,
                hyphens: false,
            };
            let directive = again.directive(0)?;
            remaining = again.rest;
            directive
        } else {
            directive
        };
        if !plain.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut plain)));
        }
        parts.push(Part::Directive(directive));
        rest = remaining;
    }
    plain.push_str(rest);
    if !plain.is_empty() || parts.is_empty() {
        parts.push(Part::Text(plain));
    }
    Ok(parts)
}

struct Cursor<'a> {
    rest: &'a str,
    hyphens: bool,
}

impl<'a> Cursor<'a> {
    /// Behind the `$`.
    fn directive(&mut self, depth: usize) -> Result<Directive, SyntaxError> {
        let name = self.word(false).to_owned();
        if depth == MAX_DEPTH {
            return Err(error(format!(
                "directives are nested more than {MAX_DEPTH} deep"
            )));
        }
        if name.is_empty() {
            return Err(error("a directive's name is missing after \"$\""));
        }
        if !self.eat('(') {
            return Err(error(format!("${name} needs parentheses: ${name}()")));
        }
        let mut arguments = Vec::new();
        self.space();
        if !self.eat(')') {
            loop {
                self.space();
                arguments.push(self.argument(&name, depth)?);
                self.space();
                if self.eat(',') {
                    continue;
                }
                if self.eat(')') {
                    break;
                }
                return Err(match self.rest.chars().next() {
                    None => error(format!("${name}( is not closed by \")\"")),
                    Some(other) => error(format!(
                        "${name}: expected \",\" or \")\" before {:?}",
                        other
                    )),
                });
            }
        }
        let mut path = Vec::new();
        let takes_path = WITH_PATH.contains(&name.as_str())
            || !super::BUILT_IN.iter().any(|(known, _)| *known == name);
        if !takes_path {
            return Ok(Directive {
                name,
                arguments,
                path,
            });
        }
        loop {
            if let Some(behind) = self.rest.strip_prefix('.') {
                let before = self.rest;
                self.rest = behind;
                let hyphens = self.hyphens;
                let key = self.word(hyphens).to_owned();
                if key.is_empty() {
                    // A full stop that ends a sentence.
                    self.rest = before;
                    break;
                }
                path.push(key);
            } else if self.rest.starts_with("['") || self.rest.starts_with("[\"") {
                self.rest = &self.rest[1..];
                path.push(self.quoted(&name)?);
                if !self.eat(']') {
                    return Err(error(format!("${name}: a key in \"[…]\" is not closed")));
                }
            } else {
                break;
            }
        }
        Ok(Directive {
            name,
            arguments,
            path,
        })
    }

    fn argument(&mut self, name: &str, depth: usize) -> Result<Argument, SyntaxError> {
        match self.rest.chars().next() {
            None => Err(error(format!("${name}( is not closed by \")\""))),
            Some('\'' | '"') => self.quoted(name).map(Argument::Text),
            Some('$') => {
                self.rest = &self.rest[1..];
                self.directive(depth + 1).map(Argument::Directive)
            }
            Some(_) => self.bare(name),
        }
    }

    /// A number, or `true` or `false`. Anything else lacks its quotes.
    fn bare(&mut self, name: &str) -> Result<Argument, SyntaxError> {
        let end = self
            .rest
            .find([',', ')', '(', '$', '\'', '"'])
            .unwrap_or(self.rest.len());
        let word = self.rest[..end].trim_end();
        let argument = match word {
            "true" => Argument::Bool(true),
            "false" => Argument::Bool(false),
            _ => match word.parse::<Number>() {
                Ok(number) => Argument::Number(number),
                Err(_) if word.is_empty() => {
                    return Err(error(format!("${name}: an argument is missing")));
                }
                Err(_) => {
                    return Err(SyntaxError {
                        message: format!("${name}: {word} is not a number; text needs quotes"),
                        suggestion: Some(format!("write '{word}'")),
                    });
                }
            },
        };
        self.rest = &self.rest[word.len()..];
        Ok(argument)
    }

    /// A text in quotes; a backslash takes the next letter as it is.
    fn quoted(&mut self, name: &str) -> Result<String, SyntaxError> {
        let mut letters = self.rest.char_indices();
        let quote = letters.next().map(|(_, quote)| quote);
        let mut text = String::new();
        while let Some((at, letter)) = letters.next() {
            if letter == '\\' {
                match letters.next() {
                    Some((_, escaped)) => text.push(escaped),
                    None => break,
                }
            } else if Some(letter) == quote {
                self.rest = &self.rest[at + letter.len_utf8()..];
                return Ok(text);
            } else {
                text.push(letter);
            }
        }
        Err(error(format!("${name}: a text is not closed by its quote")))
    }

    fn word(&mut self, hyphens: bool) -> &'a str {
        let end = self
            .rest
            .find(|letter: char| {
                !(letter.is_ascii_alphanumeric() || letter == '_' || (hyphens && letter == '-'))
            })
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, letter: char) -> bool {
        match self.rest.strip_prefix(letter) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
}

fn error(message: impl Into<String>) -> SyntaxError {
    SyntaxError {
        message: message.into(),
        suggestion: None,
    }
}

impl fmt::Display for Directive {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "${}(", self.name)?;
        for (position, argument) in self.arguments.iter().enumerate() {
            if position > 0 {
                out.write_str(", ")?;
            }
            write!(out, "{argument}")?;
        }
        out.write_str(")")?;
        for key in &self.path {
            let is_word = !key.is_empty()
                && key
                    .chars()
                    .all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
            if is_word {
                write!(out, ".{key}")?;
            } else {
                out.write_str("[")?;
                quote(out, key)?;
                out.write_str("]")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => quote(out, text),
            Self::Number(number) => write!(out, "{number}"),
            Self::Bool(flag) => write!(out, "{flag}"),
            Self::Directive(directive) => write!(out, "{directive}"),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => out.write_str(text),
            Self::Directive(directive) => write!(out, "{directive}"),
        }
    }
}

fn quote(out: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    out.write_str("'")?;
    for letter in text.chars() {
        if matches!(letter, '\'' | '\\') {
            out.write_str("\\")?;
        }
        write!(out, "{letter}")?;
    }
    out.write_str("'")
}

#[cfg(test)]
#[path = "syntax_tests.rs"]
mod tests;
