//! How important a clause is: MoSCoW from its words and its section.

use crate::model::strategy::Priority;
use crate::spec::{
    clause::Clause,
    lexicon::line::{Line, Phrases, phrases},
    reading::Reading,
    section::Section,
    table::Row,
};

/// Phrases that put something off or leave it out.
static NOT_NOW: Phrases = phrases!(
    "out of scope; not in scope; later release; later version; in a later; come later; comes later; \
    future version; future release; in the future; in future; phase 2; phase two; second phase; next version; \
    not in the first version; won't; will not be; not part of; not planned; not included; not needed; \
    do not want; don't want; not now; at a later"
);

/// Phrases that make something a wish.
static WISHES: Phrases = phrases!(
    "nice to have; would be nice; would be great; nice-to-have; optional; optionally; \
    if possible; if time permits; would be good; would love; could also"
);

/// Phrases that make something wanted but not needed.
static WANTED: Phrases = phrases!("ideally; preferably; recommended; would like; we would prefer");

/// Whether a line puts something off or leaves it out.
pub fn is_put_off(line: &Line) -> bool {
    line.mentions(&NOT_NOW)
}

/// The priority of a clause, or of a piece without one.
pub fn of(reading: &Reading, clause: Option<&Clause>) -> Priority {
    if let Some(Row::Text {
        priority: Some(word),
    }) = &reading.row
        && let Some(priority) = by_word(word)
    {
        return priority;
    }
    let line = &reading.line;
    let refused = clause.is_some_and(|clause| clause.modal.refused);
    let begins_later = line.text().starts_with("later") || line.text().starts_with("eventually");
    if reading.section() == Section::OutOfScope
        || refused
        || begins_later
        || line.mentions(&NOT_NOW)
    {
        return Priority::Wont;
    }
    match reading.section() {
        Section::NiceToHave => return Priority::Could,
        Section::ShouldHave => return Priority::Should,
        Section::MustHave => return Priority::Must,
        _ => {}
    }
    // `an optional image` is about the image, not about the sentence.
    let data = clause.is_some_and(crate::spec::classify::is_data);
    if !data && line.mentions(&WISHES) && !line.has("an optional") {
        return Priority::Could;
    }
    if !data && line.mentions(&WANTED) {
        return Priority::Should;
    }
    match clause.map(|clause| &clause.modal) {
        Some(modal) if modal.negated || modal.only => match modal.priority {
            Some(Priority::Should) => Priority::Should,
            _ => Priority::Must,
        },
        Some(modal) if !data => modal.priority.unwrap_or(Priority::Must),
        _ => Priority::Must,
    }
}

/// The word of a priority column.
fn by_word(word: &str) -> Option<Priority> {
    let word = word.trim().to_lowercase();
    let first = word
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .next()
        .unwrap_or_default();
    match first {
        "must" | "high" | "p0" | "p1" | "1" | "critical" | "required" | "m" => Some(Priority::Must),
        "should" | "medium" | "p2" | "2" | "s" => Some(Priority::Should),
        "could" | "low" | "p3" | "3" | "nice" | "optional" | "c" => Some(Priority::Could),
        "won't" | "wont" | "later" | "none" | "no" | "out" | "w" => Some(Priority::Wont),
        _ => None,
    }
}
