//! The product's name as its first heading or the order for it has it.

use crate::model::analysis::{Place, Stated};
use crate::spec::{lexicon::nouns, reading::Reading, section::Section};

/// Words of headings that say what kind of document it is, not what it is about.
const DOCUMENT: &[&str] = &[
    "app",
    "brd",
    "brief",
    "concept",
    "description",
    "design",
    "doc",
    "docs",
    "document",
    "documentation",
    "draft",
    "features",
    "final",
    "frd",
    "full",
    "functional",
    "goals",
    "introduction",
    "mrd",
    "mvp",
    "objectives",
    "outline",
    "overview",
    "plan",
    "prd",
    "product",
    "project",
    "proposal",
    "readme",
    "requirement",
    "requirements",
    "scope",
    "software",
    "spec",
    "specification",
    "specifications",
    "specs",
    "srs",
    "statement",
    "stories",
    "story",
    "summary",
    "system",
    "technical",
    "the",
    "user",
    "v",
    "version",
    "vision",
    "and",
    "of",
    "for",
    "a",
    "an",
    "what",
    "is",
    "it",
    "1",
    "2",
    "3",
];

/// The most words of a name that a heading gives.
const LONGEST: usize = 6;

/// Whether words only say that this is a document.
pub fn is_document(text: &str) -> bool {
    words(text).iter().all(|word| {
        let lower = word.to_lowercase();
        DOCUMENT.contains(&lower.as_str())
            || lower
                .trim_start_matches('v')
                .chars()
                .all(|c| c.is_ascii_digit() || c == '.')
    })
}

fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '\'' | '’')))
        .filter(|word| !word.is_empty())
        .collect()
}

/// The part of a heading that is a name: `PRD: Handshake CRM`, `🎟 Stagedoor – tickets`.
fn named_part(heading: &str) -> Option<&str> {
    heading
        .split([':', '–', '—', '|', '(', ')', ','])
        .flat_map(|part| part.split(" - "))
        .map(|part| part.trim_matches(|c: char| !c.is_alphanumeric() && c != '"'))
        .map(|part| part.trim_matches(['"', '“', '”', ' ']))
        .find(|part| {
            let count = words(part).len();
            (1..=LONGEST).contains(&count) && !is_document(part)
        })
}

/// Leaves out what the document is at the end of a name: `BrightSmile requirements`.
fn without_document(name: &str) -> &str {
    const TAILS: &[&str] = &[
        " product requirements document",
        " requirements document",
        " product requirements",
        " requirements",
        " specification",
        " spec",
        " prd",
        " product spec",
        " website",
        " overview",
    ];
    let lower = name.to_lowercase();
    let tail = TAILS
        .iter()
        .filter(|tail| lower.ends_with(**tail) && lower.len() == name.len())
        .max_by_key(|tail| tail.len());
    tail.and_then(|tail| name.get(..name.len() - tail.len()))
        .filter(|rest| !is_document(rest))
        .unwrap_or(name)
}

/// The name in the first heading, where it has one.
pub fn title(readings: &[Reading]) -> Option<Stated> {
    let heading = readings
        .first()
        .filter(|reading| reading.piece.place == Place::Heading)?;
    let name = without_document(named_part(&heading.text)?);
    let one = words(name);
    let plain = one.len() == 1 && {
        let lower = one[0].to_lowercase();
        nouns::is_product(&lower, "the")
            || nouns::is_ui(&lower)
            || Section::of_heading(&lower) != Section::Unknown
    };
    (!plain).then(|| Stated {
        text: name.to_owned(),
        spans: vec![heading.id.clone()],
    })
}

/// The name below a label that stands alone: `**App Name:** *Nutrily*`.
pub fn below_label(readings: &[Reading]) -> Option<Stated> {
    const LABELS: &[&str] = &[
        "app name",
        "application name",
        "name",
        "product",
        "product name",
        "project",
        "project name",
        "title",
        "working title",
    ];
    readings.windows(2).take(8).find_map(|pair| {
        let [label, value] = pair else { return None };
        let named = label.text.trim_end_matches(':').trim().to_lowercase();
        if !LABELS.contains(&named.as_str()) || value.piece.place == Place::Heading {
            return None;
        }
        let tokens = &value.tokens;
        let mut width = tokens
            .iter()
            .take_while(|token| token.is_capitalised())
            .take(LONGEST)
            .count();
        // `Youth Platform Version: 2`: the last word is the next label.
        if tokens.get(width).is_some_and(|token| token.is(":")) {
            width = width.saturating_sub(1);
        }
        let name = crate::spec::token::slice(&value.text, tokens.get(..width)?);
        (width > 0 && !is_document(name)).then(|| Stated {
            text: name.to_owned(),
            spans: vec![value.id.clone()],
        })
    })
}

/// What is ordered: `build me a habit tracker` → `habit tracker`.
pub fn ordered(readings: &[Reading]) -> Option<Stated> {
    readings
        .iter()
        .filter(|reading| !reading.is_set_aside())
        .take(3)
        .find_map(|reading| {
            let at = reading.tokens.iter().position(|token| {
                token.is_any(&[
                    "build",
                    "create",
                    "design",
                    "develop",
                    "make",
                    "need",
                    "want",
                    "implement",
                ])
            })?;
            let article = at
                + 1
                + reading.tokens[at + 1..]
                    .iter()
                    .take(3)
                    .position(|token| token.is_any(&["a", "an"]))?;
            let mut name: Vec<&str> = Vec::new();
            for token in &reading.tokens[article + 1..] {
                let ends = token.kind == crate::spec::token::Kind::Mark
                    || token.has(crate::spec::lexicon::small::FUNCTION_WORD);
                if ends {
                    break;
                }
                let filler = token.is_any(&[
                    "simple",
                    "small",
                    "modern",
                    "new",
                    "web",
                    "online",
                    "basic",
                    "beautiful",
                    "responsive",
                    "full-stack",
                    "fullstack",
                ]);
                if filler && name.is_empty() {
                    continue;
                }
                name.push(token.text.as_str());
            }
            let text = name.join(" ");
            ((1..=4).contains(&name.len()) && !is_document(&text)).then(|| Stated {
                text,
                spans: vec![reading.id.clone()],
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_give_names_and_kinds_of_documents_do_not() {
        for (heading, name) in [
            ("Quizly", Some("Quizly")),
            ("PRD: Handshake CRM", Some("Handshake CRM")),
            ("📄 Product Requirements Document (PRD)", None),
            (
                "Product Requirements Document – FoodReview",
                Some("FoodReview"),
            ),
            ("Requirements: Shop", Some("Shop")),
            (
                "BrightSmile appointment system",
                Some("BrightSmile appointment system"),
            ),
            ("Hireline Product Requirements Document", Some("Hireline")),
            (
                "Meeting room booking (internal)",
                Some("Meeting room booking"),
            ),
            ("🧭 App Overview & Objectives", None),
            ("GymBuddy — Product Requirements Document", Some("GymBuddy")),
            ("MVP v1.0", None),
        ] {
            assert_eq!(named_part(heading).map(without_document), name, "{heading}");
        }
    }
}
