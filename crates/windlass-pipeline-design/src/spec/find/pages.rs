//! Stated pages, by the names the spec gives them.

use super::stated::Collected;
use crate::model::analysis::{Place, Stated};
use crate::spec::{
    lexicon::small::Tags,
    reading::{Reading, upper_first},
    section::Section,
    token::{Token, slice},
};

/// Words that name a page behind other words.
const PAGE_WORDS: &[&str] = &["page", "screen", "view", "homepage", "dashboard"];

/// Words that are a page alone.
const ALONE: &[&str] = &["dashboard", "homepage", "home page", "landing page"];

/// Words before `page` that name no page.
const NOT_A_NAME: &[&str] = &[
    "page", "each", "every", "same", "first", "next", "any", "all", "no", "this", "that", "one",
    "single", "web", "new", "other", "separate", "own", "their", "the", "a", "an", "full",
    "another", "per", "and", "or", "with", "on", "in", "of",
];

/// All stated pages, in the order of the text.
pub fn find(readings: &[Reading]) -> Vec<Stated> {
    let mut found = Collected::default();
    for reading in readings.iter().filter(|reading| !reading.is_set_aside()) {
        if matches!(reading.section(), Section::OutOfScope | Section::NiceToHave) {
            continue;
        }
        if reading.section() == Section::Pages {
            listed(reading, &mut found);
        } else {
            mentioned(reading, 0, reading.tokens.len(), &mut found);
        }
    }
    once(found.items)
}

/// In a section on pages: every item names one.
fn listed(reading: &Reading, found: &mut Collected) {
    if reading.piece.place == Place::Sentence {
        let list = reading.tokens.iter().position(|token| {
            token.is_any(&["is", "are", "has", "have", "include", "includes", ":"])
        });
        for part in parts(&reading.tokens, list.map_or(0, |at| at + 1)) {
            name(reading, part, found);
        }
        return;
    }
    name(reading, 0..reading.tokens.len(), found);
}

/// Items cut at commas and `and` that an article or a name follows.
fn parts(tokens: &[Token], from: usize) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut start = from;
    for at in from..tokens.len() {
        let next = tokens.get(at + 1);
        let begins = next.is_some_and(|next| {
            next.has(Tags::DETERMINER) || next.is_capitalised() || next.is_any(&["\"", "“"])
        });
        if (tokens[at].is_comma() || tokens[at].has(Tags::COORDINATOR)) && begins {
            found.push(start..at);
            start = at + 1;
        }
    }
    found.push(start..tokens.len());
    found.retain(|range| !range.is_empty());
    found
}

/// The name at the beginning of an item.
fn name(reading: &Reading, range: std::ops::Range<usize>, found: &mut Collected) {
    let tokens = &reading.tokens[range];
    if let Some(quoted) = quoted(&reading.text, tokens) {
        found.add(&quoted, &reading.id);
        return;
    }
    let mut from = 0;
    while tokens.get(from).is_some_and(|token| {
        token.has(Tags::DETERMINER)
            || token.has(Tags::COORDINATOR)
            || token.is_comma()
            || token.is_any(&["there", "is", "are", "we", "need"])
    }) {
        from += 1;
    }
    let end = tokens[from..]
        .iter()
        .position(|token| {
            token.has(Tags::PREPOSITION)
                || token.has(Tags::RELATIVE)
                || token.is_any(&["(", ":", "–", "—", "-", ".", "showing", "listing", ","])
                || token.has(Tags::MODAL)
                || token.has(Tags::BE)
        })
        .map_or(tokens.len(), |at| from + at);
    let words = &tokens[from..end];
    if words.is_empty() || words.len() > 5 || !words.iter().any(Token::is_content) {
        return;
    }
    // `a page for reports`: what it is for names it.
    if words.len() == 1 && words[0].is_any(&["page", "screen", "view"]) {
        let rest = &tokens[end..];
        if rest
            .first()
            .is_some_and(|token| token.is_any(&["for", "with", "of"]))
        {
            let until = rest
                .iter()
                .skip(1)
                .position(|token| !token.is_content() && !token.has(Tags::DETERMINER))
                .map_or(rest.len(), |at| at + 1);
            let what: Vec<&Token> = rest[1..until]
                .iter()
                .filter(|token| token.is_content())
                .collect();
            if let (Some(first), Some(last)) = (what.first(), what.last()) {
                found.add(
                    &upper_first(&reading.text[first.start..last.end]),
                    &reading.id,
                );
            }
        }
        return;
    }
    found.add(&upper_first(slice(&reading.text, words)), &reading.id);
}

/// `"My Appointments"`
fn quoted(text: &str, tokens: &[Token]) -> Option<String> {
    let open = tokens.iter().position(|token| token.is_any(&["\"", "“"]))?;
    let close = tokens[open + 1..]
        .iter()
        .position(|token| token.is_any(&["\"", "”"]))?
        + open
        + 1;
    (close > open + 1).then(|| slice(text, &tokens[open + 1..close]).to_owned())
}

/// Anywhere else: `an "Article Health" page`, `the dashboard shows`, `a booking page`.
fn mentioned(reading: &Reading, from: usize, to: usize, found: &mut Collected) {
    for at in from..to {
        let token = &reading.tokens[at];
        if !PAGE_WORDS.contains(&token.lower.as_str()) {
            continue;
        }
        let next = reading.tokens.get(at + 1);
        // `page background`, `view orders`: no page.
        if next.is_some_and(|next| {
            next.is_content() && next.verb.is_none() && !next.has(Tags::PREPOSITION)
        }) {
            continue;
        }
        let before = at.checked_sub(1).map(|before| &reading.tokens[before]);
        if before.is_some_and(|before| before.is_any(&["\"", "”"])) {
            let tokens = &reading.tokens[..at];
            let close = at - 1;
            if let Some(open) = tokens[..close]
                .iter()
                .rposition(|token| token.is_any(&["\"", "“"]))
            {
                found.add(slice(&reading.text, &tokens[open + 1..close]), &reading.id);
            }
            continue;
        }
        if token.is("view") && !token.is_capitalised() {
            continue;
        }
        let mut start = at;
        while start > from && at - start < 3 {
            let word = &reading.tokens[start - 1];
            if !word.is_content()
                || NOT_A_NAME.contains(&word.lower.as_str())
                || word.has(Tags::ADJECTIVE)
                || is_finite(word)
            {
                break;
            }
            start -= 1;
        }
        let text = slice(&reading.text, &reading.tokens[start..=at]);
        if start < at || ALONE.contains(&token.lower.as_str()) {
            found.add(&upper_first(text), &reading.id);
        }
    }
}

fn is_finite(token: &Token) -> bool {
    token.verb.as_ref().is_some_and(|verb| {
        !crate::spec::lexicon::verbs::is_also_noun(&verb.base)
            && !verb.forms.has(crate::spec::lexicon::verbs::Forms::GERUND)
    })
}

/// The same page under two spellings is one: `Dashboard`, `dashboard page`.
fn once(pages: Vec<Stated>) -> Vec<Stated> {
    let mut found: Vec<Stated> = Vec::new();
    let mut index = std::collections::HashMap::new();
    for page in pages {
        let key = page.text.to_lowercase();
        let key = ["page", "screen"].iter().fold(key, |key, word| {
            key.trim_end_matches(word).trim_end().to_owned()
        });
        match index.get(&key) {
            Some(at) => {
                let known: &mut Stated = &mut found[*at];
                known.spans.extend(page.spans);
                known
                    .spans
                    .sort_by_key(|id| crate::spec::people::number(id));
                known.spans.dedup();
            }
            None => {
                index.insert(key, found.len());
                found.push(page);
            }
        }
    }
    found
}
