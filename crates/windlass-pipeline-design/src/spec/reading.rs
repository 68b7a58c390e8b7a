//! The spec read piece by piece: each with its words, its clauses and who it is about.

use std::collections::BTreeSet;

use crate::model::{analysis::Place, naming};
use crate::spec::{
    clause::{self, Clause, Known},
    lexicon::{line::Line, nouns},
    people, phrase,
    section::Section,
    segment::{self, Piece},
    table::{self, Row},
    token::{self, Token},
};

/// A piece with what its words say.
pub struct Reading {
    /// `S-1`.
    pub id: String,
    /// Where it stands.
    pub piece: Piece,
    /// What is read: the piece's text, behind the words that announce its list.
    pub text: String,
    /// Its tokens.
    pub tokens: Vec<Token>,
    /// Its clauses.
    pub clauses: Vec<Clause>,
    /// Who it is about where no subject says so: a label, a heading, a table's first column.
    pub label: Option<String>,
    /// Lower case with single spaces, for phrases.
    pub line: Line,
    /// What a table row is about.
    pub row: Option<Row>,
}

impl Reading {
    /// Whether nothing is read from it.
    pub fn is_set_aside(&self) -> bool {
        self.piece.set_aside.is_some() || self.piece.place == Place::Heading
    }

    /// The section it stands in.
    pub fn section(&self) -> Section {
        self.piece.section
    }
}

/// All readings and the people the spec names.
pub struct Readings {
    /// In the order of the text.
    pub all: Vec<Reading>,
    /// Who uses the product.
    pub people: people::People,
}

/// Reads a spec.
pub fn read(spec: &str) -> Readings {
    let pieces = segment::segment(spec);
    let mut above: Option<&str> = None;
    let prepared: Vec<Prepared> = pieces
        .iter()
        .map(|piece| {
            if piece.place != Place::Bullet {
                above = Some(&piece.text);
            }
            prepare(piece, &pieces, above)
        })
        .collect();
    let declared = people::declared(&prepared, &pieces);
    let known = Known {
        people: declared.clone(),
    };
    let mut all = Vec::with_capacity(pieces.len());
    for (index, (piece, prepared)) in pieces.into_iter().zip(prepared).enumerate() {
        let tokens = token::tokens(&prepared.text);
        let aside = piece.set_aside.is_some() || piece.place == Place::Heading;
        let mut clauses = if aside
            || matches!(
                prepared.row,
                Some(Row::Entity { .. } | Row::Field { .. } | Row::Colour)
            ) {
            Vec::new()
        } else {
            clause::clauses(&prepared.text, &tokens, &known)
        };
        let label = prepared
            .label
            .clone()
            .or_else(|| heading_person(&piece, &declared));
        if let Some(label) = &label {
            about(&mut clauses, label);
        }
        all.push(Reading {
            id: format!("S-{}", index + 1),
            line: Line::new(&prepared.text),
            text: prepared.text,
            piece,
            tokens,
            clauses,
            label,
            row: prepared.row,
        });
    }
    resolve_pronouns(&mut all, &declared);
    let people = people::find(&all, &declared);
    Readings { all, people }
}

/// A piece before its words are read.
pub struct Prepared {
    /// What is read.
    pub text: String,
    /// Who it is about.
    pub label: Option<String>,
    /// What a table row is about.
    pub row: Option<Row>,
}

fn prepare(piece: &Piece, pieces: &[Piece], above: Option<&str>) -> Prepared {
    let column = (piece.place == Place::Bullet && piece.set_aside.is_none())
        .then(|| table::column(piece, above))
        .flatten();
    if column.is_some() {
        return Prepared {
            text: piece.text.clone(),
            label: None,
            row: column,
        };
    }
    if let Some(row) = &piece.row {
        return table::prepare(row, piece);
    }
    let mut text = listed(without_number(&piece.text));
    let mut label = None;
    if let Some(intro) = piece.intro.and_then(|intro| pieces.get(intro)) {
        let before = intro.text.trim_end_matches(':').trim_end();
        let last = before.rsplit(' ').next().unwrap_or_default().to_lowercase();
        if matches!(
            last.as_str(),
            "can" | "to" | "may" | "must" | "should" | "could" | "will" | "shall"
        ) {
            text = format!("{before} {}", lower_first(&text));
        } else {
            label = person_of(before);
        }
    }
    let own = text
        .split_once([':', '–', '—'])
        .or_else(|| text.split_once(" - "))
        .map(|(before, _)| before)
        .filter(|before| before.split_whitespace().count() <= 4)
        .and_then(person_of);
    Prepared {
        text,
        label: own.or(label),
        row: None,
    }
}

/// What requirements are numbered with.
const NUMBERED: &[&str] = &[
    "ac",
    "br",
    "epic",
    "f",
    "feat",
    "feature",
    "fr",
    "func",
    "nf",
    "nfr",
    "r",
    "req",
    "requirement",
    "rq",
    "sr",
    "story",
    "uc",
    "ur",
    "us",
];

/// `REQ-1 Developers shall …`, `FR1: A teacher can …`: the sentence without its number.
fn without_number(text: &str) -> &str {
    let letters = text
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    if !NUMBERED.contains(&text[..letters].to_lowercase().as_str()) {
        return text;
    }
    let rest = text[letters..].trim_start_matches(['-', '_', ' ', '#']);
    let digits = rest
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-')))
        .unwrap_or(rest.len());
    let behind = rest[digits..].trim_start_matches([':', '.', ')', ']']);
    let numbered = rest.starts_with(|c: char| c.is_ascii_digit());
    let sentence = behind.trim_start_matches([' ', '–', '—', '-']);
    if numbered && behind.starts_with(' ') && sentence.split_whitespace().nth(1).is_some() {
        sentence
    } else {
        text
    }
}

/// `Trainers create classes: name, start time and room` lists what is kept, as `with` would.
fn listed(text: &str) -> String {
    const MAKING: &[&str] = &[
        "add",
        "adds",
        "create",
        "creates",
        "define",
        "defines",
        "enter",
        "enters",
        "offer",
        "offers",
        "post",
        "posts",
        "record",
        "records",
        "register",
        "registers",
        "submit",
        "submits",
        "upload",
        "uploads",
    ];
    let Some((before, list)) = text.split_once(": ") else {
        return text.to_owned();
    };
    let making = before
        .split_whitespace()
        .skip(1)
        .any(|word| MAKING.contains(&word.to_lowercase().as_str()));
    let items: Vec<&str> = list.trim_end_matches('.').split(", ").collect();
    let short = items.len() >= 3
        && items
            .iter()
            .all(|item| item.split_whitespace().count() <= 9 && !item.contains([';', ':']));
    if making && short && !list.contains(" can ") {
        format!("{before} with {list}")
    } else {
        text.to_owned()
    }
}

/// The people a short text is only about, singular.
pub fn person_of(text: &str) -> Option<String> {
    let tokens = token::tokens(text);
    let skip = usize::from(
        tokens
            .first()
            .is_some_and(|token| token.is_any(&["for", "as"])),
    );
    let tokens = tokens.get(skip..)?;
    let phrase = phrase::read(text, tokens);
    let whole = phrase.width == tokens.len();
    (whole && !phrase.is_empty() && nouns::is_person(phrase.head())).then_some(phrase.name)
}

/// The people a heading is only about: `Teachers`, `For teachers`.
fn heading_person(piece: &Piece, declared: &BTreeSet<String>) -> Option<String> {
    let heading = piece.heading.as_ref()?;
    if piece.section == Section::Roles && Section::of_heading(heading) == Section::Roles {
        return None;
    }
    let name = person_of(heading)?;
    (declared.contains(&name) || nouns::is_known_person(name.rsplit(' ').next()?)).then_some(name)
}

/// Gives clauses without a subject the one they are about.
fn about(clauses: &mut [Clause], label: &str) {
    for clause in clauses
        .iter_mut()
        .filter(|clause| clause.subject.text.is_empty())
    {
        clause.subject.name = label.to_owned();
        clause.subject.text = naming::sentence(label);
        let verb = lower_first(&clause.verb);
        clause.verb = if verb == clause.base && clause.modal.text.is_empty() {
            crate::spec::lexicon::verbs::third_person(&verb)
        } else {
            verb
        };
        clause.subject.plural = false;
    }
}

/// `they`, `it`, `them`: who and what was last mentioned in the same paragraph.
fn resolve_pronouns(readings: &mut [Reading], declared: &BTreeSet<String>) {
    let mut paragraph = usize::MAX;
    let mut person: Option<phrase::Phrase> = None;
    let mut thing: Option<phrase::Phrase> = None;
    let mut product_mentioned = false;
    for reading in readings {
        if reading.piece.paragraph != paragraph {
            paragraph = reading.piece.paragraph;
            person = None;
            thing = None;
            product_mentioned = false;
        }
        for clause in &mut reading.clauses {
            let subject = clause.subject.text.to_lowercase();
            let pronoun = matches!(subject.as_str(), "they" | "he" | "she");
            if pronoun && let Some(person) = &person {
                clause.subject = person.clone();
            }
            if subject == "it" && !product_mentioned {
                // `If an article …, it is marked`: what the condition mentions comes first.
                let from_condition = clause.condition.as_deref().and_then(subject_of_condition);
                if let Some(thing) = from_condition.or_else(|| thing.clone()) {
                    clause.subject = definite(&thing);
                }
            }
            let object = clause.object_text.to_lowercase();
            let stands_for = object.rsplit(' ').next().unwrap_or_default();
            if matches!(stands_for, "it" | "them")
                && object.split(' ').count() <= 2
                && let Some(thing) = &thing
            {
                let definite = definite(thing);
                let preposition = object.strip_suffix(stands_for).unwrap_or_default();
                clause.object_text = format!("{preposition}{}", definite.text);
                clause.object = definite;
            } else if !clause.object.is_empty() && clause.voice != clause::Voice::Copula {
                thing = Some(clause.object.clone());
            } else if clause.voice != clause::Voice::Active && !clause.subject.is_empty() {
                thing = Some(clause.subject.clone());
            }
            let head = clause.subject.head();
            if subject != "it" {
                product_mentioned = clause.subject.is_product() || is_called(&clause.subject);
            }
            if nouns::is_person(head) || declared.contains(&clause.subject.name) {
                person = Some(clause.subject.clone());
            }
        }
    }
}

/// One capitalised word without an article: `StockPilot records …`.
fn is_called(subject: &phrase::Phrase) -> bool {
    subject.text.starts_with(char::is_uppercase)
        && !subject.plural
        && !subject.text.contains(' ')
        && !nouns::is_person(subject.head())
}

/// `an article` → `the article`.
fn definite(phrase: &phrase::Phrase) -> phrase::Phrase {
    let mut phrase = phrase.clone();
    let name = if phrase.plural {
        naming::plural(&phrase.name)
    } else {
        phrase.name.clone()
    };
    phrase.text = format!("the {name}");
    phrase
}

fn subject_of_condition(condition: &str) -> Option<phrase::Phrase> {
    let tokens = token::tokens(condition);
    let verb = tokens.iter().skip(2).position(|token| {
        token
            .verb
            .as_ref()
            .is_some_and(|verb| verb.forms.has(crate::spec::lexicon::verbs::Forms::THIRD))
    });
    let end = verb.map_or(tokens.len(), |at| at + 2);
    let phrase = phrase::read(condition, tokens.get(1..end)?);
    (!phrase.is_empty() && !nouns::is_person(phrase.head())).then_some(phrase)
}

/// The first letter in lower case, unless the word is a name in capitals.
pub fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    let Some(first) = letters.next() else {
        return String::new();
    };
    let rest = letters.as_str();
    if rest.starts_with(char::is_uppercase) {
        return text.to_owned();
    }
    first.to_lowercase().chain(rest.chars()).collect()
}

/// The first letter as a capital.
pub fn upper_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}
