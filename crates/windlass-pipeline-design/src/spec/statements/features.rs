//! Features named by a noun: `Order tracking`, `Native mobile apps`.

use super::{Draft, Maker};
use crate::model::{analysis::VerbKind, naming, strategy::Priority};
use crate::spec::{
    lexicon::{nouns, small::Tags, verbs},
    phrase::{self, Phrase},
    section::Section,
};

impl Maker<'_> {
    /// A wish for a thing or an action: `label printing for locations`.
    pub(super) fn wanted(&self, text: &str, priority: Priority, found: &mut Vec<Draft>) {
        let tokens = crate::spec::token::tokens(text);
        let object = phrase::read(text, &tokens);
        if object.is_empty()
            || (nouns::is_ui(object.head()) && self.reading.section() == Section::Pages)
        {
            return;
        }
        let verb = tokens
            .first()
            .and_then(|token| token.verb.as_ref())
            .filter(|verb| verb.forms.has(verbs::Forms::BASE) && !verbs::is_also_noun(&verb.base))
            .map(|verb| verb.base.clone());
        let mut draft = match verb {
            Some(verb) => {
                let object = phrase::read(text, tokens.get(1..).unwrap_or_default());
                self.draft(text.to_owned(), &verb, verbs::kind(&verb, true), &object)
            }
            None => self.noun_draft(text, &object),
        };
        draft.others =
            phrase::all_with_prepositions(text, tokens.get(object.width..).unwrap_or_default());
        draft.priority = priority;
        found.push(draft);
    }

    /// A noun as a feature: `Order tracking`, `Native mobile apps`.
    pub(super) fn noun_draft(&self, text: &str, object: &Phrase) -> Draft {
        let verb = nominal(object);
        let mut draft = self.draft(
            text.to_owned(),
            verb.unwrap_or("offer"),
            VerbKind::Other,
            object,
        );
        if let Some(verb) = verb {
            draft.kind = verbs::kind(verb, object.name.contains(' '));
            if let Some((thing, _)) = object.name.rsplit_once(' ') {
                draft.object.name = naming::singular(thing);
                draft.object.plural = true;
            }
        }
        draft
    }

    /// `Owner – full access to everything`
    pub(super) fn granted(&self, found: &mut Vec<Draft>) {
        let reading = self.reading;
        let Some(label) = reading
            .label
            .as_deref()
            .filter(|_| found.is_empty() && reading.line.has("access"))
        else {
            return;
        };
        let kind = if reading
            .line
            .has_any(&["read-only", "read only", "read access"])
        {
            VerbKind::Read
        } else {
            VerbKind::Other
        };
        let mut draft = self.draft(reading.text.clone(), "access", kind, &Phrase::default());
        draft.actor = Some(self.people.role(label).unwrap_or(label).to_owned());
        found.push(draft);
    }

    /// Pieces without a verb: names of features where features are listed.
    pub(super) fn nouns(&self, found: &mut Vec<Draft>) {
        let reading = self.reading;
        let bullet = reading.piece.place != crate::model::analysis::Place::Sentence;
        let announced = matches!(
            reading.section(),
            Section::Features
                | Section::MustHave
                | Section::ShouldHave
                | Section::NiceToHave
                | Section::OutOfScope
        );
        if !reading.section().lists_features()
            || !(bullet || announced)
            || !reading.clauses.is_empty() && !announced
        {
            return;
        }
        if reading.text.ends_with(':') {
            return;
        }
        let text = reading.text.trim_end_matches('.');
        for part in listed(text) {
            let part = part.trim();
            let plain = part
                .strip_prefix("No ")
                .or_else(|| part.strip_prefix("no "))
                .unwrap_or(part);
            let tokens = crate::spec::token::tokens(plain);
            let object = phrase::read(plain, &tokens);
            if object.is_empty() || !tokens.iter().any(crate::spec::token::Token::is_content) {
                continue;
            }
            let mut draft = self.noun_draft(plain, &object);
            draft.others = phrase::all_with_prepositions(
                plain,
                tokens.get(object.width..).unwrap_or_default(),
            );
            draft.actor.clone_from(&reading.label);
            found.push(draft);
        }
    }
}

/// The verb an action noun at the end of a phrase stands for.
pub(super) fn nominal(object: &Phrase) -> Option<&'static str> {
    nouns::nominal_verb(object.head())
}

/// Names separated by commas, where nothing but names is listed.
fn listed(text: &str) -> Vec<&str> {
    let tokens = crate::spec::token::tokens(text);
    let plain = !tokens.iter().any(|token| {
        token.has(Tags::PREPOSITION)
            || token.has(Tags::RELATIVE)
            || token.is_any(&["(", ":", "-", "–"])
    });
    let commas = tokens.iter().any(crate::spec::token::Token::is_comma);
    if !plain || !commas {
        return vec![text];
    }
    let mut parts = Vec::new();
    let mut start = 0;
    for token in tokens
        .iter()
        .filter(|token| token.is_comma() || token.has(Tags::COORDINATOR))
    {
        parts.push(&text[start..token.start]);
        start = token.end;
    }
    parts.push(&text[start..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}
