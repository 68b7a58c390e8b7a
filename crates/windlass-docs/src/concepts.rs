//! What a question asks for: its content words, each with everything it may be called.

use std::collections::{BTreeSet, HashSet};

use crate::{
    index::Vocabulary,
    synonyms,
    words::{Analyzer, is_stop, name_of_two, words},
};

const SYNONYM_WEIGHT: f32 = 0.7;
const CORRECTION_WEIGHT: f32 = 0.7;
/// Of the parts of a compound name that is itself known, and of two words read as one.
const HINT_WEIGHT: f32 = 0.3;
/// A word of no page counts like one of this many chunks: it may be a typo, or irrelevant.
const UNKNOWN_AS_IF_IN: usize = 3;
/// Longer ones are data that was pasted into the question.
const LONGEST_WORD: usize = 40;

/// One thing to look for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Concept {
    /// As asked, in lower case.
    pub word: String,
    pub alternatives: Vec<Alternative>,
    /// How informative it is; see [`Vocabulary::weight`].
    pub weight: f32,
    /// Helps to rank, but is no word of the question by itself.
    pub hint: bool,
}

/// A term that stands for a concept.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Alternative {
    pub term: String,
    pub weight: f32,
}

impl Concept {
    /// How well a set of terms holds the concept: 0 to 1.
    pub(crate) fn held_by(&self, has: impl Fn(&str) -> bool) -> f32 {
        self.alternatives
            .iter()
            .filter(|alternative| has(&alternative.term))
            .map(|alternative| alternative.weight)
            .fold(0.0, f32::max)
    }
}

/// The part of a question, by weight, that a set of terms holds: 0 to 1.
pub(crate) fn coverage(concepts: &[Concept], terms: &HashSet<String>) -> f32 {
    let mut all = 0.0;
    let mut held = 0.0;
    for concept in concepts.iter().filter(|concept| !concept.hint) {
        all += concept.weight;
        held += concept.weight * concept.held_by(|term| terms.contains(term));
    }
    if all == 0.0 { 0.0 } else { held / all }
}

/// Reads a question.
pub(crate) fn concepts(question: &str, vocabulary: &Vocabulary) -> Vec<Concept> {
    let mut reading = Reading {
        vocabulary,
        analyzer: Analyzer::new(),
        seen: BTreeSet::new(),
        concepts: Vec::new(),
    };
    let asked: Vec<_> = words(question)
        .into_iter()
        .filter(|word| !is_stop(&word.text) && word.text.chars().count() <= LONGEST_WORD)
        .collect();
    for word in &asked {
        let whole_is_known = reading.is_known(&word.text);
        // `4gb`, `0d6f`: an amount or an id, particular to the one who asks. A plain number may be a topic.
        let is_particular = word.text.starts_with(|c: char| c.is_ascii_digit())
            && word.text.contains(char::is_alphabetic);
        if is_particular && !whole_is_known {
            continue;
        }
        if word.parts.is_empty() || whole_is_known {
            reading.add(&word.text, 1.0, false);
        }
        for part in word.parts.iter().filter(|part| !is_stop(part)) {
            if whole_is_known {
                reading.add(part, HINT_WEIGHT, true);
            } else {
                reading.add(part, 1.0, false);
            }
        }
    }
    // `step functions`, `load balancer`, `dead letter`: two words that are one name.
    for pair in asked.windows(2) {
        let joined = name_of_two(&pair[0].text, &pair[1].text)
            .unwrap_or_else(|| format!("{}{}", pair[0].text, pair[1].text));
        if reading.is_known(&joined) {
            reading.add(&joined, 1.0, true);
        }
    }
    reading.concepts
}

struct Reading<'a> {
    vocabulary: &'a Vocabulary,
    analyzer: Analyzer,
    seen: BTreeSet<String>,
    concepts: Vec<Concept>,
}

impl Reading<'_> {
    fn is_known(&mut self, word: &str) -> bool {
        let term = self.analyzer.term(word);
        synonyms::knows(word) || self.vocabulary.chunks_with(&term) > 0
    }

    fn add(&mut self, word: &str, weight: f32, hint: bool) {
        let term = self.analyzer.term(word);
        if !self.seen.insert(term.clone()) {
            return;
        }
        let mut alternatives = vec![Alternative {
            term: term.clone(),
            weight,
        }];
        for synonym in synonyms::of(word).chain(self.singular(word)) {
            let term = self.analyzer.term(synonym);
            if alternatives.iter().all(|known| known.term != term) {
                alternatives.push(Alternative {
                    term,
                    weight: weight * SYNONYM_WEIGHT,
                });
            }
        }
        let mut chunks_with = alternatives
            .iter()
            .map(|alternative| self.vocabulary.chunks_with(&alternative.term))
            .max()
            .unwrap_or(0);
        if chunks_with == 0
            && let Some(term) = self.correction(word)
        {
            chunks_with = self.vocabulary.chunks_with(&term);
            alternatives.push(Alternative {
                term,
                weight: weight * CORRECTION_WEIGHT,
            });
        }
        self.concepts.push(Concept {
            word: word.to_owned(),
            alternatives,
            weight: self.vocabulary.weight(chunks_with.max(UNKNOWN_AS_IF_IN)),
            hint,
        });
    }

    /// Synonyms are listed in the singular; a question may use the plural.
    fn singular(&self, word: &str) -> Vec<&'static str> {
        word.strip_suffix('s')
            .filter(|_| !synonyms::knows(word))
            .map(|singular| synonyms::of(singular).collect())
            .unwrap_or_default()
    }

    /// The written word nearest to one that no page has, if it is near enough to be a slip.
    fn correction(&self, word: &str) -> Option<String> {
        let length = word.chars().count();
        let slips = match length {
            0..=3 => return None,
            4..=7 => 1,
            _ => 2,
        };
        let first = word.chars().next()?;
        self.vocabulary
            .written()
            .iter()
            .filter(|(known, _)| {
                known.starts_with(first) && known.chars().count().abs_diff(length) <= slips
            })
            .map(|(known, term)| (strsim::osa_distance(word, known), known, term))
            .filter(|(distance, _, _)| *distance <= slips)
            .min_by_key(|(distance, _, term)| {
                (*distance, usize::MAX - self.vocabulary.chunks_with(term))
            })
            .map(|(_, _, term)| term.clone())
    }
}
