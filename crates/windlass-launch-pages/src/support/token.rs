//! A sentence as tokens: code exactly, words by their stems, separators, the product.

use super::vocabulary::{BE, FUNCTION, IRREGULAR, NEWER, OLDER, PHRASES, SAME};

/// What every form of "not" is read as.
pub(super) const NOT: &str = "<not>";
/// What "by default" is read as.
pub(super) const BY_DEFAULT: &str = "<by-default>";

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The product's name.
    Product,
    /// A code span, a path, a flag, a number, a name with punctuation: compared exactly.
    Exact,
    /// A word, compared by its stem.
    Word,
    /// A form of "be".
    Be,
    /// A word without content.
    Function,
    /// A comma, a bracket, "and".
    Separator,
}

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// What is compared.
    pub(super) text: String,
    /// What was written.
    pub(super) raw: String,
}

impl Token {
    fn new(kind: Kind, text: impl Into<String>, raw: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
            raw: raw.into(),
        }
    }

    /// Whether it must be in the evidence.
    pub(super) fn is_content(&self) -> bool {
        matches!(self.kind, Kind::Product | Kind::Exact | Kind::Word)
    }

    pub(super) fn is(&self, text: &str) -> bool {
        self.text == text && self.kind != Kind::Exact
    }

    /// Whether the evidence's token says what this one says.
    pub(super) fn same(&self, evidence: &Self) -> bool {
        match (self.kind, evidence.kind) {
            (Kind::Word, Kind::Word) => self.text == evidence.text,
            (Kind::Exact, Kind::Exact) => self.text == evidence.text,
            // A name may stand with or without the marks of code.
            (Kind::Word, Kind::Exact) | (Kind::Exact, Kind::Word) => {
                self.raw == evidence.raw && self.raw.chars().all(|c| c.is_ascii_alphanumeric())
            }
            (Kind::Product, Kind::Product) => true,
            _ => false,
        }
    }

    /// A participle as its verb: `support~ed` → `support`.
    pub(super) fn active(&self) -> Option<Self> {
        let stem = self.text.strip_suffix("~ed")?;
        Some(Self::new(Kind::Word, stem, self.raw.clone()))
    }
}

/// The tokens of a sentence.
pub(super) fn read(sentence: &str, product: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    for (index, part) in sentence.split('`').enumerate() {
        if index % 2 == 1 {
            tokens.push(Token::new(Kind::Exact, part.trim(), part.trim()));
        } else {
            words(part, &mut tokens);
        }
    }
    let tokens = phrases(tokens);
    let tokens = bounds(tokens);
    finish(products(tokens, product))
}

/// Whether a character may stand in a sentence without being in the evidence.
pub(super) fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric()
        || matches!(
            character,
            ' ' | '.'
                | ','
                | ';'
                | ':'
                | '('
                | ')'
                | '\''
                | '"'
                | '-'
                | '/'
                | '`'
                | '’'
                | '‘'
                | '“'
                | '”'
                | '–'
                | '—'
                | '\u{a0}'
                | '…'
        )
}

fn ascii(character: char) -> char {
    match character {
        '’' | '‘' => '\'',
        '“' | '”' => '"',
        '\u{a0}' => ' ',
        other => other,
    }
}

fn separator(raw: &str) -> Token {
    Token::new(Kind::Separator, raw, raw)
}

fn words(text: &str, tokens: &mut Vec<Token>) {
    let text: String = text.chars().map(ascii).collect();
    for chunk in text.split_whitespace() {
        if matches!(chunk, "-" | "–" | "—" | "/") {
            tokens.push(separator(chunk));
            continue;
        }
        let body = chunk.trim_start_matches(['(', '[', '"', '\'']);
        if chunk.len() > body.len() && chunk.starts_with(['(', '[']) {
            tokens.push(separator("("));
        }
        let core = body.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '"', '\'', '…']);
        word(core, tokens);
        for mark in body[core.len()..].chars() {
            match mark {
                ',' | ';' | ':' => tokens.push(separator(&mark.to_string())),
                ')' | ']' => tokens.push(separator(")")),
                _ => {}
            }
        }
    }
}

fn word(core: &str, tokens: &mut Vec<Token>) {
    if core.is_empty() {
        return;
    }
    if let Some((left, right)) = core.split_once('—').or_else(|| core.split_once('–')) {
        word(left, tokens);
        tokens.push(separator("—"));
        return word(right, tokens);
    }
    let is_word =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphabetic() || c == '\'');
    if is_word(core) {
        return plain(core, tokens);
    }
    // "files/directories" is two words, "TCP/IP" is one name.
    if let Some((left, right)) = core.split_once('/')
        && [left, right]
            .iter()
            .all(|side| side.len() > 2 && side.chars().all(|c| c.is_ascii_lowercase()))
    {
        plain(left, tokens);
        tokens.push(separator("/"));
        return plain(right, tokens);
    }
    if core.contains('-') && core.split('-').all(is_word) {
        for part in core.split('-') {
            plain(part, tokens);
        }
        return;
    }
    let number = core.trim_start_matches(">=").trim_start_matches('≥');
    let from = if number.len() < core.len() && number.starts_with(|c: char| c.is_ascii_digit()) {
        format!("{number}+")
    } else {
        core.to_owned()
    };
    tokens.push(Token::new(Kind::Exact, from, core));
}

/// A word of letters; contractions are opened.
fn plain(word: &str, tokens: &mut Vec<Token>) {
    let lower = word.to_lowercase();
    let mut push = |text: &str| tokens.push(Token::new(Kind::Word, text, word));
    if let Some(verb) = lower.strip_suffix("n't") {
        match verb {
            "ca" => push("can"),
            "wo" => push("will"),
            other => push(other),
        }
        push("not");
    } else if let Some((owner, _)) = lower.split_once('\'') {
        push(owner);
        if matches!(owner, "it" | "that" | "there") {
            push("is");
        }
    } else {
        push(&lower);
    }
}

fn phrases(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let is_phrase = |words: &[&str]| {
            words.iter().enumerate().all(|(index, word)| {
                let found = tokens.get(at + index);
                found.is_some_and(|found| found.kind == Kind::Word && found.text == *word)
            })
        };
        match PHRASES.iter().find(|(words, _)| is_phrase(words)) {
            Some((words, read_as)) => {
                out.extend(
                    read_as
                        .iter()
                        .map(|word| Token::new(Kind::Word, *word, *word)),
                );
                at += words.len();
            }
            None => {
                out.push(token.clone());
                at += 1;
            }
        }
    }
    out
}

/// "3.10 or newer", "3.10 and above" and "at least 3.10" as `3.10+`.
fn bounds(tokens: Vec<Token>) -> Vec<Token> {
    let is_number = |token: &Token| {
        token.kind == Kind::Exact && token.text.starts_with(|c: char| c.is_ascii_digit())
    };
    let word = |at: usize| {
        let token = tokens.get(at)?;
        (token.kind == Kind::Word).then_some(token.text.as_str())
    };
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        if word(at - 1) == Some("at-least") && tokens.get(at).is_some_and(is_number) {
            let mut number = tokens[at].clone();
            number.text = format!("{}+", number.text.trim_end_matches('+'));
            out.push(number);
            at += 1;
            continue;
        }
        let mut token = token.clone();
        if is_number(&token) && matches!(word(at), Some("or" | "and")) {
            let sign = match word(at + 1) {
                Some(after) if NEWER.contains(&after) => Some('+'),
                Some(after) if OLDER.contains(&after) => Some('-'),
                _ => None,
            };
            if let Some(sign) = sign {
                token.text = format!("{}{sign}", token.text.trim_end_matches('+'));
                at += 2;
            }
        }
        out.push(token);
    }
    out
}

fn products(tokens: Vec<Token>, product: &str) -> Vec<Token> {
    let mut name = Vec::new();
    words(product, &mut name);
    let spoken = product.to_lowercase();
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let named = !name.is_empty()
            && name.iter().enumerate().all(|(index, part)| {
                tokens
                    .get(at + index)
                    .is_some_and(|found| found.text.to_lowercase() == part.text.to_lowercase())
            });
        if named || !spoken.is_empty() && token.text.to_lowercase() == spoken {
            at += if named { name.len() } else { 1 };
            out.push(Token::new(Kind::Product, "<product>", product));
        } else {
            at += 1;
            out.push(token.clone());
        }
    }
    out
}

/// Gives words their kind and stem.
fn finish(tokens: Vec<Token>) -> Vec<Token> {
    let classified = tokens.into_iter().map(|token| {
        if token.kind != Kind::Word {
            return token;
        }
        let text = token.text.as_str();
        if matches!(text, "and" | "but") {
            Token::new(Kind::Separator, text, token.raw)
        } else if BE.contains(&text) {
            Token::new(Kind::Be, text, token.raw)
        } else if FUNCTION.contains(&text) {
            Token::new(Kind::Function, text, token.raw)
        } else if matches!(text, "not" | "no") {
            Token::new(Kind::Word, NOT, token.raw)
        } else if text.starts_with('<') {
            token
        } else {
            let text = same(&stem(text));
            Token::new(Kind::Word, text, token.raw)
        }
    });
    classified.collect()
}

fn same(stem: &str) -> String {
    let found = SAME.iter().find(|(_, others)| others.contains(&stem));
    found.map_or(stem, |(first, _)| first).to_owned()
}

/// The stem of a word in lower case. Participles keep a mark: "signed packages" is not "signs
/// packages".
fn stem(word: &str) -> String {
    if let Some((_, stem)) = IRREGULAR.iter().find(|(from, _)| *from == word) {
        return (*stem).to_owned();
    }
    if !word.is_ascii() {
        return word.to_owned();
    }
    let single = if word.len() > 4 && word.ends_with("ies") {
        format!("{}y", &word[..word.len() - 3])
    } else if ["sses", "xes", "ches", "shes", "zes"]
        .iter()
        .any(|end| word.ends_with(end))
    {
        word[..word.len() - 2].to_owned()
    } else if word.len() > 3
        && word.ends_with('s')
        && !["ss", "us", "is"].iter().any(|end| word.ends_with(end))
    {
        word[..word.len() - 1].to_owned()
    } else {
        word.to_owned()
    };
    let cut = |end: &str| {
        let stem = single.strip_suffix(end)?;
        let has_vowel = stem.contains(['a', 'e', 'i', 'o', 'u', 'y']);
        (stem.len() > 2 && has_vowel).then(|| undoubled(stem))
    };
    if single.len() > 4 && single.ends_with("ied") {
        return format!("{}y~ed", &single[..single.len() - 3]);
    }
    if let Some(stem) = cut("ed") {
        return format!("{}~ed", silent(&stem));
    }
    if let Some(stem) = cut("ing") {
        return silent(&stem);
    }
    silent(&single)
}

/// "stripp" → "strip"; "call" stays.
fn undoubled(stem: &str) -> String {
    let mut letters = stem.chars().rev();
    match (letters.next(), letters.next()) {
        (Some(last), Some(before)) if last == before && !matches!(last, 'l' | 's' | 'z') => {
            stem[..stem.len() - 1].to_owned()
        }
        _ => stem.to_owned(),
    }
}

/// Without the silent e, so that "cache" and "caching" agree.
fn silent(stem: &str) -> String {
    match stem.strip_suffix('e') {
        Some(short) if short.len() > 2 => short.to_owned(),
        _ => stem.to_owned(),
    }
}
