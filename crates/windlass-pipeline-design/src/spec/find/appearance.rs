//! Stated fonts and words on style and layout.

use crate::model::analysis::Stated;
use crate::spec::{
    find::stated::Collected,
    reading::Reading,
    section::Section,
    token::{Kind, Token, slice},
};

/// Words that name a font next to them.
const FONT_WORDS: &[&str] = &["font", "typeface", "fonts", "font-family", "typefaces"];

/// Fonts that are known by name alone.
const FONTS: &[&str] = &[
    "Inter",
    "Roboto",
    "Open Sans",
    "Lato",
    "Montserrat",
    "Poppins",
    "Nunito",
    "Fraunces",
    "IBM Plex Sans",
    "IBM Plex Mono",
    "Source Sans 3",
    "Source Sans Pro",
    "Work Sans",
    "DM Sans",
    "Playfair Display",
    "Merriweather",
    "Raleway",
    "Ubuntu",
    "Noto Sans",
    "Rubik",
    "Manrope",
    "Space Grotesk",
    "Georgia",
    "Helvetica",
    "Arial",
    "Verdana",
    "Comic Neue",
    "Libre Baskerville",
    "Lora",
    "Karla",
    "Figtree",
    "Plus Jakarta Sans",
    "Atkinson Hyperlegible",
    "JetBrains Mono",
    "Fira Code",
    "Fira Sans",
];

/// Words on style that count in a design section or next to words on design.
const STYLES: &[&str] = &[
    "minimal",
    "minimalist",
    "corporate",
    "playful",
    "elegant",
    "bold",
    "modern",
    "clean",
    "calm",
    "friendly",
    "quiet",
    "dense",
    "high contrast",
    "dark mode",
    "light mode",
    "sidebar",
    "grid",
    "cards",
    "serious",
    "professional",
    "colourful",
    "colorful",
    "flat",
    "rounded",
    "retro",
    "vintage",
    "luxurious",
    "warm",
    "cold",
    "spacious",
    "compact",
    "single column",
    "two columns",
    "split screen",
    "responsive",
    "mobile first",
    "mobile-first",
    "centered",
    "centred",
    "master-detail",
    "tabs",
    "futuristic",
    "simple",
    "fun",
    "serif",
    "sans-serif",
    "monochrome",
    "gradient",
    "gradients",
    "airy",
    "cheerful",
    "fresh",
];

/// Words that show that a sentence outside a design section is about design.
const DESIGN_WORDS: &[&str] = &[
    "design",
    "look",
    "style",
    "layout",
    "theme",
    "feel",
    "interface",
    "ui",
    "visual",
];

/// Fonts, verbatim.
pub fn fonts(readings: &[Reading]) -> Vec<Stated> {
    let mut found = Collected::default();
    for reading in readings.iter().filter(|reading| !reading.is_set_aside()) {
        let named = reading
            .tokens
            .iter()
            .any(|token| FONT_WORDS.contains(&token.lower.as_str()));
        if !named && reading.section() != Section::Design {
            continue;
        }
        let mut at = 0;
        while at < reading.tokens.len() {
            if let Some(width) = known_font(reading, at) {
                found.add(
                    slice(&reading.text, &reading.tokens[at..at + width]),
                    &reading.id,
                );
                at += width;
            } else if FONT_WORDS.contains(&reading.tokens[at].lower.as_str()) {
                let (from, to) = after_font_word(&reading.tokens, at + 1);
                if from < to && known_font(reading, from).is_none() {
                    found.add(slice(&reading.text, &reading.tokens[from..to]), &reading.id);
                }
                at = at.max(from).max(at + 1);
            } else {
                at += 1;
            }
        }
    }
    found.items
}

fn known_font(reading: &Reading, at: usize) -> Option<usize> {
    FONTS.iter().find_map(|font| {
        let width = font.split(' ').count();
        let tokens = reading.tokens.get(at..at + width)?;
        (slice(&reading.text, tokens) == *font).then_some(width)
    })
}

/// The capitalised words behind `font`, past `is`, `:`, `named` and quotation marks.
fn after_font_word(tokens: &[Token], from: usize) -> (usize, usize) {
    let mut at = from;
    while tokens.get(at).is_some_and(|token| {
        token.is_any(&[
            "is", ":", "family", "named", "called", "\"", "“", "be", "should", "must", "used", "a",
            "the",
        ])
    }) {
        at += 1;
    }
    let end = tokens[at.min(tokens.len())..]
        .iter()
        .position(|token| !(token.is_capitalised() || token.kind == Kind::Number))
        .map_or(tokens.len(), |width| at + width);
    (at.min(tokens.len()), end)
}

/// Words on style, in the order of the text.
pub fn styles(readings: &[Reading]) -> Vec<Stated> {
    let mut found = Collected::default();
    for reading in readings.iter().filter(|reading| !reading.is_set_aside()) {
        let mentioned = reading.section() == Section::Design
            || reading
                .tokens
                .iter()
                .any(|token| DESIGN_WORDS.contains(&token.lower.as_str()));
        if !mentioned {
            continue;
        }
        let mut at = 0;
        while at < reading.tokens.len() {
            let width = style_at(reading, at);
            if width > 0 {
                found.add(
                    slice(&reading.text, &reading.tokens[at..at + width]),
                    &reading.id,
                );
            }
            at += width.max(1);
        }
    }
    found.items
}

fn style_at(reading: &Reading, at: usize) -> usize {
    (1..=2)
        .rev()
        .find(|width| {
            reading.tokens.get(at..at + width).is_some_and(|tokens| {
                STYLES.contains(&slice(&reading.text, tokens).to_lowercase().as_str())
            })
        })
        .unwrap_or(0)
}
