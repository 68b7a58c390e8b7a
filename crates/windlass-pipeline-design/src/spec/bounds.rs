//! Qualities and bounds: sentences on how well, and within which limits.

use crate::model::{
    analysis::{Bound, QualityStatement},
    strategy::{Category, ConstraintType},
};
use crate::spec::{
    clause::{Clause, Voice},
    find::numbers,
    lexicon::{
        line::Line,
        qualities::{BOUNDS, QUALITIES},
        units::Measure,
    },
    reading::{Reading, upper_first},
};

/// The quality a reading states; its id is given later.
pub fn quality(reading: &Reading) -> QualityStatement {
    QualityStatement {
        requirement: String::new(),
        text: sentence(&reading.text),
        spans: vec![reading.id.clone()],
        category: category(reading),
        metric: numbers::metric(&reading.text, &reading.tokens),
    }
}

fn category(reading: &Reading) -> Category {
    let by_words = |line: &Line| {
        QUALITIES
            .iter()
            .find(|(_, phrases)| line.mentions(phrases))
            .map(|(category, _)| *category)
    };
    let by_measure = || {
        numbers::measures(&reading.tokens)
            .iter()
            .find_map(|(_, measure)| match measure {
                // How long something is kept is a matter of rules, not of speed.
                Measure::Time
                    if reading
                        .line
                        .has_any(&["keep", "kept", "retained", "stored"]) =>
                {
                    Some(Category::Compliance)
                }
                Measure::Time | Measure::Size => Some(Category::Performance),
                Measure::Load => Some(Category::Scalability),
                Measure::Share => Some(Category::Reliability),
                Measure::Money => None,
            })
    };
    let by_heading = || {
        reading
            .piece
            .heading
            .as_ref()
            .and_then(|heading| by_words(&Line::new(heading)))
    };
    by_words(&reading.line)
        .or_else(by_measure)
        .or_else(by_heading)
        .unwrap_or(Category::Other)
}

/// The bounds a reading states: one for each verb of a shared subject, one for each part between
/// semicolons. A part that only says how well, `and must load in under 1 second`, is a quality.
pub fn bounds(reading: &Reading) -> (Vec<Bound>, Vec<QualityStatement>) {
    let parts = parts(reading);
    let (mut bounds, mut qualities) = (Vec::new(), Vec::new());
    for text in &parts {
        let tokens = crate::spec::token::tokens(text);
        let line = Line::new(text);
        let binds = BOUNDS.iter().any(|(_, phrases)| line.mentions(phrases));
        let measured = numbers::measures(&tokens)
            .iter()
            .any(|(_, measure)| *measure != Measure::Money);
        if parts.len() > 1 && measured && !binds {
            qualities.push(QualityStatement {
                requirement: String::new(),
                text: text.clone(),
                spans: vec![reading.id.clone()],
                category: category(reading),
                metric: numbers::metric(text, &tokens),
            });
        } else {
            bounds.push(Bound {
                requirement: String::new(),
                kind: kind(text),
                text: text.clone(),
                spans: vec![reading.id.clone()],
            });
        }
    }
    (bounds, qualities)
}

fn parts(reading: &Reading) -> Vec<String> {
    let clauses = &reading.clauses;
    let plain = |clause: &Clause| {
        clause.condition.is_none()
            && clause.purpose.is_none()
            && clause.subject.text == clauses[0].subject.text
    };
    let each_with_modal = clauses
        .iter()
        .all(|clause| clause.voice == Voice::Active && clause.modal.present);
    let second_with_modal =
        clauses.len() == 2 && clauses[1].modal.present && clauses[0].voice == Voice::Passive;
    if clauses.len() > 1 && clauses.iter().all(plain) && (each_with_modal || second_with_modal) {
        return clauses
            .iter()
            .map(|clause| sentence(&clause_text(clause)))
            .collect();
    }
    reading
        .text
        .split(';')
        .map(sentence)
        .filter(|text| !text.is_empty())
        .collect()
}

fn clause_text(clause: &Clause) -> String {
    [
        clause.subject.text.as_str(),
        &clause.modal.text,
        &clause.verb,
        &clause.object_text,
        &clause.tail,
    ]
    .into_iter()
    .filter(|part| !part.is_empty())
    .collect::<Vec<_>>()
    .join(" ")
}

fn kind(text: &str) -> ConstraintType {
    let line = Line::new(text);
    BOUNDS
        .iter()
        .find(|(_, phrases)| line.mentions(phrases))
        .map_or_else(
            || {
                let money = numbers::measures(&crate::spec::token::tokens(text))
                    .iter()
                    .any(|(_, measure)| *measure == Measure::Money);
                if money {
                    ConstraintType::Business
                } else {
                    ConstraintType::Technical
                }
            },
            |(kind, _)| *kind,
        )
}

fn sentence(text: &str) -> String {
    upper_first(text.trim().trim_end_matches(['.', ';', ',', '!']).trim())
}
