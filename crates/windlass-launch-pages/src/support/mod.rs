//! Whether a sentence follows from the claims it cites.
//!
//! The check is lexical and strict: every content word of the sentence must be in the evidence,
//! in the same order, with nothing it depends on left out. Paraphrases that are true but freer
//! are refused; that costs style, and the original stands. Used for what a model rewrites
//! ([`crate::rewrite`]) and, whatever wrote it, for the finished page
//! ([`crate::gates::checks::truth_lock`]).

mod align;
#[cfg(test)]
mod cases;
mod token;
mod vocabulary;

use windlass_launch_model::{claim::normalise, markdown::Document};

use align::{Reading, readings};
use token::{Kind, NOT, Token};

/// A sentence states at most this many claims at once.
const MOST_CLAIMS: usize = 3;
/// Longer sentences are not rewritten.
const MOST_TOKENS: usize = 120;

/// Why a sentence does not follow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsupported {
    /// It has a character that could be mistaken for another.
    #[error("the character {0:?} is not in the evidence")]
    Character(char),
    /// It has a word, a name, a number or a command of its own.
    #[error("“{0}” is not in the evidence")]
    Word(String),
    /// It leaves out a word that limits what is said.
    #[error("it leaves out “{0}”")]
    LeftOut(String),
    /// Its words are in the evidence, in another relation.
    #[error("it relates the words of the evidence in another way")]
    Relation,
    /// It is too long to check, or cites too many claims.
    #[error("it is too long, or cites more than {MOST_CLAIMS} claims")]
    TooMuch,
}

/// Checks a sentence against the claims it cites.
pub fn check(sentence: &str, claims: &[&str], product: &str) -> Result<(), Unsupported> {
    let units: Vec<Vec<String>> = claims.iter().map(|claim| sentences(claim)).collect();
    let as_is = plain(sentence, product);
    let stated = claims
        .iter()
        .copied()
        .chain(units.iter().flatten().map(String::as_str));
    if stated.into_iter().any(|unit| plain(unit, product) == as_is) {
        return Ok(());
    }
    let evidence = claims.join(" ");
    if let Some(odd) = sentence
        .chars()
        .find(|c| !(token::is_plain(*c) || evidence.contains(*c)))
    {
        return Err(Unsupported::Character(odd));
    }
    let tokens = token::read(sentence, product);
    if claims.is_empty() || claims.len() > MOST_CLAIMS || tokens.len() > MOST_TOKENS {
        return Err(Unsupported::TooMuch);
    }
    if tokens.iter().all(|token| token.kind == Kind::Exact) && !sentence.is_empty() {
        // Nothing but code: it is quoted from the claim.
        let strange = tokens
            .iter()
            .find(|token| !names_code(&evidence, &token.raw, product));
        return strange.map_or(Ok(()), |token| Err(Unsupported::Word(token.raw.clone())));
    }
    let known: Vec<Token> = units
        .iter()
        .flatten()
        .flat_map(|unit| token::read(unit, product))
        .collect();
    // Most of what does not follow has a word of its own, which is cheaper to see.
    if let Some(strange) = tokens.iter().find(|token| is_strange(token, &known)) {
        return Err(Unsupported::Word(strange.raw.clone()));
    }
    let read: Vec<Vec<Vec<Reading>>> = units
        .iter()
        .map(|units| {
            let all = units.iter().map(|unit| token::read(unit, product));
            all.filter(|tokens| tokens.len() <= 3 * MOST_TOKENS)
                .map(|tokens| readings(&tokens))
                .collect()
        })
        .collect();
    if stands(&tokens, &read, None) {
        return Ok(());
    }
    Err(reason(&tokens, &known))
}

/// Whether a word can be in no rewrite of the evidence.
fn is_strange(token: &Token, known: &[Token]) -> bool {
    const BROUGHT_ALONG: [&str; 7] = ["can", "with", "in", "by", "run", "use", "execute"];
    let stem = |token: &Token| token.text.trim_end_matches("~ed").to_owned();
    token.is_content()
        && token.kind != Kind::Product
        && !BROUGHT_ALONG.contains(&token.raw.to_lowercase().as_str())
        && !known.iter().any(|found| {
            token.same(found)
                || token.kind == Kind::Word
                    && found.kind == Kind::Word
                    && stem(token) == stem(found)
        })
}

/// Whether the tokens follow from one claim, or each part of them from a claim of its own.
fn stands(tokens: &[Token], claims: &[Vec<Vec<Reading>>], product_before: Option<bool>) -> bool {
    let own = readings(tokens);
    let whole = claims.iter().flatten().any(|unit| {
        own.iter().any(|sentence| {
            unit.iter().any(|evidence| {
                // A part without a subject of its own is about what the part before is about.
                let carried =
                    product_before != Some(false) || sentence.product || !evidence.product;
                carried && align::follows(sentence, evidence)
            })
        })
    });
    if whole {
        return true;
    }
    if claims.len() < 2 {
        return false;
    }
    let splits = (1..tokens.len()).filter(|at| tokens[*at].kind == Kind::Separator);
    splits.into_iter().any(|at| {
        (0..claims.len()).any(|first| {
            let mut rest = claims.to_vec();
            let one = rest.remove(first);
            let about_product = one.iter().flatten().any(|reading| reading.product);
            stands(&tokens[..at], &[one], product_before)
                && stands(&tokens[at + 1..], &rest, Some(about_product))
        })
    })
}

fn reason(tokens: &[Token], known: &[Token]) -> Unsupported {
    let is_known = |token: &&Token| known.iter().any(|found| token.same(found));
    let unknown = tokens
        .iter()
        .filter(|token| token.is_content() && token.kind != Kind::Product)
        .find(|token| !is_known(token));
    if let Some(token) = unknown {
        return Unsupported::Word(token.raw.clone());
    }
    let limits = |token: &&Token| {
        token.kind == Kind::Word
            && (token.is(NOT)
                || vocabulary::QUALIFYING.contains(&token.text.as_str())
                || vocabulary::BINDING.contains(&token.text.as_str()))
    };
    let left_out = known
        .iter()
        .filter(limits)
        .find(|token| !tokens.iter().any(|found| found.same(token)));
    match left_out {
        Some(token) => Unsupported::LeftOut(token.raw.clone()),
        None => Unsupported::Relation,
    }
}

/// Whether a text holds this code, not as a part of something longer.
fn names_code(text: &str, code: &str, product: &str) -> bool {
    // "Acme PDF reads DOCX files" says nothing of PDF.
    let plain = |text: &str| normalise(&text.replace('`', ""), product);
    let (text, code) = (plain(text), plain(code));
    let inner = |side: Option<char>| side.is_some_and(|c| c.is_alphanumeric() || c == '-');
    !code.is_empty()
        && text.match_indices(&code).any(|(at, found)| {
            !inner(text[..at].chars().next_back())
                && !inner(text[at + found.len()..].chars().next())
        })
}

fn plain(text: &str, product: &str) -> String {
    let text = normalise(text, product);
    text.trim_end_matches(['.', ' ']).to_owned()
}

/// The sentences of a claim.
fn sentences(claim: &str) -> Vec<String> {
    let shown = crate::markup::inline(&claim.split_whitespace().collect::<Vec<_>>().join(" "));
    let read = Document::parse_body(&shown);
    read.sentences.into_iter().map(|found| found.text).collect()
}

#[cfg(test)]
mod tests;
