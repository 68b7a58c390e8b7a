//! The product's name, and other names that must appear as they are.

use super::{numbers::MONTHS, stated::Collected, title};
use crate::model::analysis::Stated;
use crate::spec::{
    lexicon::nouns,
    reading::Reading,
    token::{Kind, Token, slice},
};

/// Words that name nothing of their own when they are capitalised, besides months.
const COMMON: &[&str] = &[
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "i",
    "csv",
    "pdf",
    "json",
    "xml",
    "html",
    "url",
    "api",
    "sms",
    "ui",
    "ux",
    "id",
    "faq",
    "mvp",
    "ok",
    "it",
    "ai",
    "crm",
    "erp",
    "sku",
    "qr",
    "mb",
    "gb",
    "kb",
    "eu",
    "us",
    "uk",
    "usa",
    "aa",
    "aaa",
];

/// Whether a capitalised word names nothing of its own.
fn is_common(token: &Token) -> bool {
    let word = token.lower.as_str();
    COMMON.contains(&word) || MONTHS.contains(&word)
}

/// The product's name: `called "X"`, `X is a …`, a title that is a name.
pub fn product(readings: &[Reading]) -> Option<Stated> {
    let labelled = readings.iter().take(8).find_map(|reading| {
        let first = reading.tokens.first()?;
        let label = first.is_any(&["product", "project", "name", "app", "title", "working"]);
        let colon = match reading.tokens.get(1)? {
            second if second.is(":") => 1,
            second if second.is_any(&["name", "title"]) => 2,
            _ => return None,
        };
        let name = (label && reading.tokens.get(colon)?.is(":"))
            .then(|| name_at(&reading.text, &reading.tokens, colon + 1))
            .flatten()
            .filter(|name| !title::is_document(name))?;
        Some(stated(&name, reading))
    });
    let called = readings
        .iter()
        .filter(|reading| reading.piece.set_aside.is_none())
        .find_map(|reading| {
            let at = reading
                .tokens
                .iter()
                .position(|token| token.is_any(&["called", "named", "codenamed"]))?;
            let name = name_at(&reading.text, &reading.tokens, at + 1)?;
            Some(stated(&name, reading))
        });
    labelled
        .or_else(|| title::below_label(readings))
        .or(called)
        .or_else(|| wanted(readings))
        .or_else(|| title::title(readings))
        .or_else(|| defined(readings))
        .or_else(|| title::ordered(readings))
}

/// `We want "Lorekeeper", a knowledge base …`
fn wanted(readings: &[Reading]) -> Option<Stated> {
    readings
        .iter()
        .take(12)
        .filter(|reading| reading.piece.set_aside.is_none())
        .find_map(|reading| {
            let at = reading.tokens.iter().position(|token| {
                token.is_any(&[
                    "want",
                    "build",
                    "building",
                    "need",
                    "introducing",
                    "develop",
                    "create",
                ])
            })?;
            let quote = reading.tokens.get(at + 1)?.is_any(&["\"", "“"]);
            let name = quote
                .then(|| name_at(&reading.text, &reading.tokens, at + 1))
                .flatten()?;
            Some(stated(&name, reading))
        })
}

/// `Quizly is a quiz platform …` in one of the first sentences.
fn defined(readings: &[Reading]) -> Option<Stated> {
    readings
        .iter()
        .filter(|reading| !reading.is_set_aside())
        .take(3)
        .find_map(|reading| {
            let verb = reading.tokens.iter().position(|token| token.is("is"))?;
            let article = reading
                .tokens
                .get(verb + 1)?
                .is_any(&["a", "an", "the", "our"]);
            let name = &reading.tokens[..verb];
            let proper = (1..=3).contains(&name.len())
                && name.iter().all(|token| token.is_capitalised())
                && !name[0].has(crate::spec::lexicon::small::FUNCTION_WORD)
                && !nouns::is_product(&name[name.len() - 1].lower, "the");
            (article && proper).then(|| stated(slice(&reading.text, name), reading))
        })
}

fn stated(name: &str, reading: &Reading) -> Stated {
    Stated {
        text: name.to_owned(),
        spans: vec![reading.id.clone()],
    }
}

/// A quoted or capitalised name at a token.
fn name_at(text: &str, tokens: &[Token], at: usize) -> Option<String> {
    if tokens.get(at)?.is_any(&["\"", "“"]) {
        let close = tokens[at + 1..]
            .iter()
            .position(|token| token.is_any(&["\"", "”"]))?
            + at
            + 1;
        return (close > at + 1).then(|| slice(text, &tokens[at + 1..close]).to_owned());
    }
    let end = tokens[at..]
        .iter()
        .position(|token| !token.is_capitalised())
        .map_or(tokens.len(), |width| at + width);
    (end > at).then(|| slice(text, &tokens[at..end]).to_owned())
}

/// Quoted names, and capitalised ones inside a sentence.
pub fn find(readings: &[Reading], product: Option<&Stated>) -> Vec<Stated> {
    let mut found = Collected::default();
    if let Some(product) = product {
        for span in &product.spans {
            found.add(&product.text, span);
        }
    }
    for reading in readings.iter().filter(|reading| !reading.is_set_aside()) {
        if crate::spec::classify::addresses_reader(reading) || reading.row.is_some() {
            continue;
        }
        let mut at = 0;
        let mut sentence_start = true;
        while at < reading.tokens.len() {
            let token = &reading.tokens[at];
            if token.is_any(&["\"", "“"])
                && let Some(name) = name_at(&reading.text, &reading.tokens, at)
            {
                found.add(&name, &reading.id);
                at += 2 + crate::spec::token::tokens(&name).len();
                sentence_start = false;
                continue;
            }
            let goes_on = reading.tokens.get(at + 1).is_some_and(|next| {
                next.is_capitalised() && next.kind == Kind::Word && !is_common(next)
            });
            let named = token.is_capitalised()
                && token.kind == Kind::Word
                && (!sentence_start || goes_on || is_mixed(&token.text));
            let acronym = token.text.chars().count() <= 3
                && token.text.chars().all(char::is_uppercase)
                && !goes_on;
            if named
                && !acronym
                && !is_common(token)
                && !token.has(crate::spec::lexicon::small::FUNCTION_WORD)
            {
                let end = reading.tokens[at..]
                    .iter()
                    .position(|token| {
                        !(token.is_capitalised()
                            || token.kind == Kind::Number && token.text.len() == 1)
                    })
                    .map_or(reading.tokens.len(), |width| at + width);
                let end = end.max(at + 1);
                let name = &reading.tokens[at..end];
                if !is_shouted(name) {
                    found.add(slice(&reading.text, name), &reading.id);
                }
                at = end;
            } else {
                at += 1;
            }
            sentence_start = token.is_any(&[":", "–", "—", ".", "(", "|"]);
        }
    }
    found.items
}

/// `USERS MUST UPLOAD PHOTOS`: where everything is in capitals, they name nothing.
fn is_shouted(tokens: &[Token]) -> bool {
    tokens.len() > 3
        && tokens
            .iter()
            .all(|token| !token.text.chars().any(char::is_lowercase))
}

/// `StockPilot`, `Next.js`: a name wherever it stands.
fn is_mixed(text: &str) -> bool {
    text.chars().skip(1).any(char::is_uppercase) && text.chars().any(char::is_lowercase)
        || text.contains('.')
}
