//! How much work a product looks like: five dimensions from 1 to 5.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::analysis::{Access, Analysis, Statement};
use crate::model::naming;
use crate::model::quality::ComplexityScore;
use crate::model::strategy::{Complexity, ConstraintType, Priority};
use crate::quality::outputs::Outputs;

fn wanted(analysis: &Analysis) -> impl Iterator<Item = &Statement> {
    analysis
        .statements
        .iter()
        .filter(|statement| statement.priority != Priority::Wont)
}

/// Whether a wanted behaviour or the use of something outside says one of the phrases.
fn says(analysis: &Analysis, phrases: &[&str]) -> bool {
    let has = |text: &str| {
        let words = naming::words(text);
        phrases.iter().any(|phrase| {
            let phrase = naming::words(phrase);
            words.windows(phrase.len()).any(|part| {
                part.iter()
                    .zip(&phrase)
                    .all(|(one, other)| one == other || naming::singular(one) == *other)
            })
        })
    };
    wanted(analysis).any(|statement| has(&statement.text))
}

fn uses(analysis: &Analysis, kinds: &[&str]) -> bool {
    analysis
        .integrations
        .iter()
        .any(|one| kinds.contains(&one.kind.as_str()))
}

/// Feature files: as planned, else one per kind of action on an entity, per stated page, per way in.
fn scope(outputs: &Outputs<'_>) -> u32 {
    let analysis = outputs.analysis;
    let files = outputs.planned_files.unwrap_or_else(|| {
        let actions: BTreeSet<_> = wanted(analysis)
            .filter_map(|statement| Some((statement.entity.as_deref()?, statement.kind)))
            .collect();
        actions.len() + analysis.pages.len() + usize::from(!analysis.sign_in.is_empty())
    });
    match files {
        0..=2 => 1,
        3..=5 => 2,
        6..=10 => 3,
        11..=20 => 4,
        _ => 5,
    }
}

fn integration(analysis: &Analysis) -> u32 {
    let internal = |kind: &str| matches!(kind, "storage" | "search");
    let external = analysis
        .integrations
        .iter()
        .filter(|one| !internal(&one.kind))
        .count();
    if says(
        analysis,
        &["orchestrate", "orchestration", "workflow engine"],
    ) {
        5
    } else if external >= 3 || uses(analysis, &["webhook"]) {
        4
    } else if external > 0 {
        3
    } else if analysis.integrations.is_empty() {
        1
    } else {
        2
    }
}

fn infrastructure(analysis: &Analysis) -> u32 {
    let scheduled = says(
        analysis,
        &[
            "every day",
            "every hour",
            "every week",
            "every month",
            "every monday",
            "daily",
            "weekly",
            "nightly",
            "in the background",
            "queue",
            "hours before",
            "has not been",
        ],
    );
    if scheduled && !analysis.entities.is_empty() {
        5
    } else if !analysis.entities.is_empty() {
        4
    } else if !analysis.integrations.is_empty() {
        3
    } else if !analysis.sign_in.is_empty() {
        2
    } else {
        1
    }
}

fn knowledge(analysis: &Analysis) -> u32 {
    if says(
        analysis,
        &["novel algorithm", "research prototype", "state of the art"],
    ) {
        5
    } else if uses(analysis, &["ai", "maps"])
        || says(
            analysis,
            &[
                "machine learning",
                "recommend",
                "predict",
                "classify automatically",
                "offline",
                "geolocation",
                "nearby",
                "route planning",
            ],
        )
    {
        4
    } else if uses(analysis, &["payment"])
        || says(
            analysis,
            &[
                "pay",
                "payment",
                "checkout",
                "chart",
                "graph",
                "real time",
                "live",
                "chat",
            ],
        )
    {
        3
    } else if uses(analysis, &["search", "storage"])
        || says(
            analysis,
            &[
                "search", "upload", "attach", "file", "export", "import", "image", "scan",
            ],
        )
    {
        2
    } else {
        1
    }
}

fn risk(analysis: &Analysis) -> u32 {
    let field = |words: &[&str]| {
        analysis.entities.iter().any(|entity| {
            entity
                .fields
                .iter()
                .any(|field| field.name.split('_').any(|part| words.contains(&part)))
        })
    };
    let regulated = analysis
        .bounds
        .iter()
        .any(|bound| bound.kind == ConstraintType::Regulatory);
    let tenants = analysis
        .access
        .iter()
        .any(|one| matches!(one.rule, Access::Members(_)));
    let personal = field(&[
        "address",
        "birth",
        "birthday",
        "email",
        "insurance",
        "phone",
        "salary",
        "ssn",
    ]);
    let money = uses(analysis, &["payment"]) || field(&["amount", "price", "payment"]);
    if regulated || tenants {
        5
    } else if money || personal {
        4
    } else if analysis
        .roles
        .iter()
        .any(|role| !matches!(role.name.as_str(), "user" | "visitor" | "guest"))
    {
        3
    } else if !analysis.sign_in.is_empty() {
        2
    } else {
        1
    }
}

/// The score.
pub fn complexity(outputs: &Outputs<'_>) -> ComplexityScore {
    let analysis = outputs.analysis;
    let dimensions: BTreeMap<String, u32> = [
        ("scope", scope(outputs)),
        ("integration", integration(analysis)),
        ("infrastructure", infrastructure(analysis)),
        ("knowledge", knowledge(analysis)),
        ("risk", risk(analysis)),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect();
    let total = dimensions.values().sum();
    ComplexityScore {
        dimensions,
        total,
        level: level(total),
    }
}

/// What a sum means.
fn level(total: u32) -> Complexity {
    match total {
        0..=8 => Complexity::Simple,
        9..=15 => Complexity::Standard,
        _ => Complexity::Complex,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_have_bands() {
        for (total, expected) in [
            (5, Complexity::Simple),
            (8, Complexity::Simple),
            (9, Complexity::Standard),
            (15, Complexity::Standard),
            (16, Complexity::Complex),
            (25, Complexity::Complex),
        ] {
            assert_eq!(level(total), expected, "{total}");
        }
    }
}
