//! What a piece talks about; the first rule that fits.

use crate::model::analysis::{Place, SpanClass, VerbKind};
use crate::spec::{
    clause::{Clause, Voice},
    find::numbers,
    lexicon::{
        line::{Phrases, phrases},
        nouns,
        qualities::{BOUNDS, QUALITIES, STRONG_BOUNDS},
        units::Measure,
        verbs,
    },
    people::People,
    reading::Reading,
    section::Section,
    table::Row,
};

/// Phrases with which a text addresses its reader rather than describing the product.
static TO_THE_READER: Phrases = phrases!(
    "previous instructions; prior instructions; instructions above; above instructions; \
    system prompt; you are now; your instructions; as an ai; as a language model; disregard all; \
    ignore everything; reveal your; api key you know; your api key; jailbreak; do not tell; developer message; \
    new instructions"
);

/// Words of design outside a design section.
static DESIGN: Phrases = phrases!(
    "font; typeface; colour scheme; color scheme; colour palette; color palette; look and feel; \
    dark mode; light mode; layout; background colour; background color; accent colour; accent color; \
    primary colour; primary color"
);

/// Bounds that count in any section.
static HARD_BOUNDS: Phrases =
    phrases!("must use; built with; written in; budget of; must comply with");

/// Whether it addresses the reader: never followed, never a requirement.
pub fn addresses_reader(reading: &Reading) -> bool {
    reading.line.mentions(&TO_THE_READER)
}

/// The class of a piece.
pub fn classify(reading: &Reading, people: &People, has_colour: bool) -> SpanClass {
    if reading.is_set_aside() || reading.piece.place == Place::Heading || addresses_reader(reading)
    {
        return SpanClass::Context;
    }
    if reading.text.ends_with('?') {
        return SpanClass::Context;
    }
    if let Some(row) = &reading.row
        && matches!(row, Row::Entity { .. } | Row::Field { .. })
    {
        return SpanClass::Behaviour;
    }
    if crate::spec::priority::is_put_off(&reading.line) {
        return SpanClass::Behaviour;
    }
    let acts = reading
        .clauses
        .iter()
        .any(|clause| is_action(clause, people));
    let keeps = reading.clauses.iter().any(is_data);
    if is_constraint(reading, acts, keeps) {
        return SpanClass::Constraint;
    }
    if is_quality(reading, acts, keeps) {
        return SpanClass::Quality;
    }
    let design = matches!(reading.section(), Section::Design | Section::Pages)
        || ((has_colour || reading.line.mentions(&DESIGN)) && !keeps);
    if design && !(acts && reading.section() != Section::Design && !has_colour) {
        return SpanClass::Design;
    }
    SpanClass::Behaviour
}

/// A user does something.
pub fn is_action(clause: &Clause, people: &People) -> bool {
    let has_actor = match clause.voice {
        Voice::Active => people.is_person(&clause.subject) && !verbs::is_stative(&clause.base),
        Voice::Passive => clause
            .tail_nouns
            .iter()
            .any(|(preposition, phrase)| preposition == "by" && people.is_person(phrase)),
        Voice::Copula => false,
    };
    clause.story.is_some() || (has_actor && !clause.modal.today)
}

/// Something has, contains or belongs to something.
pub fn is_data(clause: &Clause) -> bool {
    let head = clause.subject.head();
    clause.voice == Voice::Active
        && verbs::kind(&clause.base, true) == VerbKind::Keep
        && !clause.subject.is_empty()
        && !clause.subject.is_product()
        && !nouns::is_ui(head)
        || clause.is_each_lead()
}

fn is_constraint(reading: &Reading, acts: bool, keeps: bool) -> bool {
    match reading.section() {
        Section::Constraints => true,
        Section::Data => false,
        Section::Quality
        | Section::Design
        | Section::Pages
        | Section::OutOfScope
        | Section::Goal => {
            reading.line.mentions(&HARD_BOUNDS) && !acts && reading.section() != Section::OutOfScope
        }
        _ if keeps => false,
        _ if reading.line.mentions(&STRONG_BOUNDS) => true,
        _ => {
            !acts
                && BOUNDS
                    .iter()
                    .any(|(_, phrases)| reading.line.mentions(phrases))
        }
    }
}

fn is_quality(reading: &Reading, acts: bool, keeps: bool) -> bool {
    if matches!(
        reading.section(),
        Section::OutOfScope
            | Section::NiceToHave
            | Section::Design
            | Section::Pages
            | Section::Roles
    ) || keeps
    {
        return false;
    }
    if reading.section() == Section::Quality {
        return !acts || has_measure(reading);
    }
    if acts
        || reading
            .clauses
            .iter()
            .any(|clause| clause.condition.is_some())
    {
        return false;
    }
    has_measure(reading) && measured_by_itself(reading)
        || QUALITIES
            .iter()
            .any(|(_, phrases)| reading.line.mentions(phrases))
            && says_how_well(reading)
}

fn has_measure(reading: &Reading) -> bool {
    numbers::measures(&reading.tokens)
        .iter()
        .any(|(_, measure)| *measure != Measure::Money)
}

/// A measure is a quality where the product or a part of it is measured, not where an action is
/// bounded: `a reminder is sent 24 hours before`.
fn measured_by_itself(reading: &Reading) -> bool {
    reading.clauses.is_empty()
        || reading.clauses.iter().all(|clause| match clause.voice {
            Voice::Copula => true,
            Voice::Passive => matches!(
                clause.base.as_str(),
                "keep" | "store" | "retain" | "back up" | "load" | "encrypt"
            ),
            Voice::Active => {
                verbs::is_stative(&clause.base)
                    || nouns::is_ui(clause.subject.head())
                    || clause.subject.is_product()
                    || nouns::is_weak(clause.subject.head())
                    || clause.subject.is_empty()
            }
        })
}

/// A word of quality counts where the sentence says how something is, or is no sentence.
fn says_how_well(reading: &Reading) -> bool {
    reading.clauses.is_empty()
        || reading.clauses.iter().any(|clause| {
            let product = clause.subject.is_product() || nouns::is_ui(clause.subject.head());
            let state = clause.voice != Voice::Active || verbs::is_stative(&clause.base);
            state
                && (product
                    || nouns::is_weak(clause.subject.head())
                    || clause.subject.is_empty()
                    || reading.line.has("data"))
        })
}
