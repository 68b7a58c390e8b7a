//! Stated colours and what each is for.

use std::collections::HashMap;

use crate::model::analysis::StatedColour;
use crate::spec::{
    colour,
    reading::Reading,
    section::Section,
    token::{Token, slice},
};

/// Words a colour is stated for, and the role each stands for.
const ROLES: &[(&str, &str)] = &[
    ("background", "background"),
    ("backgrounds", "background"),
    ("backdrop", "background"),
    ("text", "text"),
    ("texts", "text"),
    ("copy", "text"),
    ("typography", "text"),
    ("letters", "text"),
    ("button", "primary"),
    ("buttons", "primary"),
    ("primary", "primary"),
    ("main", "primary"),
    ("brand", "primary"),
    ("link", "primary"),
    ("links", "primary"),
    ("component", "primary"),
    ("components", "primary"),
    ("accent", "secondary"),
    ("accents", "secondary"),
    ("secondary", "secondary"),
    ("highlight", "secondary"),
    ("highlights", "secondary"),
    ("error", "error"),
    ("errors", "error"),
    ("warning", "warning"),
    ("warnings", "warning"),
    ("success", "success"),
    ("header", "header"),
    ("headers", "header"),
    ("footer", "footer"),
    ("heading", "heading"),
    ("headings", "heading"),
    ("title", "heading"),
    ("titles", "heading"),
    ("sidebar", "sidebar"),
    ("border", "border"),
    ("borders", "border"),
    ("card", "card"),
    ("cards", "card"),
    ("icon", "icon"),
    ("icons", "icon"),
    ("menu", "menu"),
    ("navigation", "navigation"),
    ("navbar", "navigation"),
    ("logo", "logo"),
    ("info", "info"),
    ("danger", "error"),
    ("alerts", "warning"),
];

/// Words that let a colour's name be read as one.
const SIGNS: &[&str] = &[
    "colour", "color", "colours", "colors", "theme", "palette", "scheme", "branding",
];

/// The most words of a colour's name.
const LONGEST: usize = 3;

/// All stated colours, in the order of the text.
pub fn find(readings: &[Reading]) -> Vec<StatedColour> {
    let mut found: Vec<StatedColour> = Vec::new();
    let mut index = HashMap::new();
    for reading in readings.iter().filter(|reading| !reading.is_set_aside()) {
        let mentioned = reading.section() == Section::Design || mentions_colour(&reading.tokens);
        let mut at = 0;
        let mut segment = 0;
        let mut last_end = 0;
        while at < reading.tokens.len() {
            if let Some((text, value, width)) = colour_at(reading, at, mentioned) {
                let end = segment_end(&reading.tokens, at + width);
                let role = role(&reading.tokens, segment, at, end);
                let replaced = within_brackets(&reading.tokens, at)
                    && found.last_mut().is_some_and(|last| {
                        let near = last.spans == [reading.id.clone()]
                            && last_end >= segment
                            && (role == "other" || role == last.role);
                        if near {
                            // `almost black text (#1A1A1A)`: the value in brackets is meant.
                            last.text.clone_from(&text);
                            last.value.clone_from(&value);
                        }
                        near
                    });
                last_end = at + 1;
                if !replaced {
                    add(&mut found, &mut index, reading, (text, value), role);
                }
                at += width;
                continue;
            }
            if separates(&reading.tokens[at]) {
                segment = at + 1;
            }
            at += 1;
        }
    }
    name_the_first(&mut found);
    found
}

fn add(
    found: &mut Vec<StatedColour>,
    index: &mut HashMap<(String, String), usize>,
    reading: &Reading,
    (text, value): (String, String),
    role: String,
) {
    let key = (role.clone(), value.clone());
    if let Some(same) = index.get(&key).and_then(|at| found.get_mut(*at)) {
        if same.spans.last() != Some(&reading.id) {
            same.spans.push(reading.id.clone());
        }
        return;
    }
    index.insert(key, found.len());
    found.push(StatedColour {
        text,
        value,
        role,
        spans: vec![reading.id.clone()],
    });
}

/// Colours without a role are, in order, the primary and the secondary one where those are free.
fn name_the_first(found: &mut [StatedColour]) {
    for role in ["primary", "secondary"] {
        if !found.iter().any(|colour| colour.role == role)
            && let Some(colour) = found.iter_mut().find(|colour| colour.role == "other")
        {
            role.clone_into(&mut colour.role);
        }
    }
}

fn mentions_colour(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| {
        SIGNS.contains(&token.lower.as_str())
            || matches!(
                token.lower.as_str(),
                "background" | "button" | "buttons" | "accent" | "header"
            )
    })
}

/// The colour that begins at a token: its text, its value, how many tokens it takes.
fn colour_at(reading: &Reading, at: usize, mentioned: bool) -> Option<(String, String, usize)> {
    let tokens = &reading.tokens[at..];
    let first = tokens.first()?;
    if first.lower.starts_with('#') {
        return colour::resolve(&first.lower).map(|value| (first.text.clone(), value, 1));
    }
    if matches!(first.lower.as_str(), "rgb" | "rgba" | "hsl" | "hsla") && tokens.get(1)?.is("(") {
        let close = tokens.iter().take(16).position(|token| token.is(")"))?;
        let text = slice(&reading.text, &tokens[..=close]);
        return colour::resolve(text).map(|value| (text.to_owned(), value, close + 1));
    }
    if !mentioned {
        return None;
    }
    (1..=LONGEST.min(tokens.len())).rev().find_map(|width| {
        let text = slice(&reading.text, &tokens[..width]);
        let plain = tokens[..width]
            .iter()
            .all(|token| token.text.starts_with(char::is_alphabetic));
        let value = plain.then(|| colour::resolve(text)).flatten()?;
        Some((text.to_owned(), value, width))
    })
}

fn separates(token: &Token) -> bool {
    token.is_any(&[",", "and", "with", ";", ".", ":"])
}

fn segment_end(tokens: &[Token], from: usize) -> usize {
    tokens[from..]
        .iter()
        .position(separates)
        .map_or(tokens.len(), |at| from + at)
}

fn within_brackets(tokens: &[Token], at: usize) -> bool {
    at.checked_sub(1)
        .is_some_and(|before| tokens[before].is("("))
}

/// What the colour is for: the nearest word for a role in its part of the sentence.
fn role(tokens: &[Token], from: usize, at: usize, end: usize) -> String {
    let known = |token: &Token| {
        ROLES
            .iter()
            .find(|(word, _)| *word == token.lower)
            .map(|(_, role)| (*role).to_owned())
    };
    // `the page background is white`, `primary buttons are teal`: the last word before it names
    // the thing, unless `primary` or `accent` says which.
    let before: Vec<String> = tokens[from..at].iter().filter_map(known).collect();
    let after: Vec<String> = tokens[at..end].iter().filter_map(known).collect();
    let decisive = ["secondary", "background"];
    before
        .iter()
        .chain(&after)
        .find(|role| decisive.contains(&role.as_str()))
        .or_else(|| before.last())
        .or_else(|| after.first())
        .cloned()
        .unwrap_or_else(|| "other".to_owned())
}
