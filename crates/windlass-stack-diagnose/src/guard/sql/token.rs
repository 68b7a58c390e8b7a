//! The tokens of a statement, as far as the rules need them.

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A word outside quotes, in lower case.
    Word(String),
    /// A quoted identifier, unescaped, its case kept.
    Quoted(String),
    /// A string. Its contents matter to no rule.
    Text(TextKind),
    /// A number, or a parameter.
    Number,
    /// Any other character.
    Symbol(char),
}

/// How a string is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// Between quotes, without escapes beyond the doubled quote (MySQL: with backslashes).
    Plain,
    /// With escapes of its own, which a continuation on the next line would inherit.
    Escaped,
}

impl Token {
    /// Whether it is this word, outside quotes.
    pub fn is(&self, word: &str) -> bool {
        matches!(self, Self::Word(own) if own == word)
    }

    /// Whether it is one of these words, outside quotes.
    pub fn is_any(&self, words: &[&str]) -> bool {
        matches!(self, Self::Word(own) if words.contains(&own.as_str()))
    }

    /// Whether it is this character.
    pub fn is_symbol(&self, symbol: char) -> bool {
        matches!(self, Self::Symbol(own) if *own == symbol)
    }

    /// The name it may stand for, in lower case.
    pub fn name(&self) -> Option<String> {
        match self {
            Self::Word(word) => Some(word.clone()),
            Self::Quoted(name) => Some(name.to_lowercase()),
            _ => None,
        }
    }
}
