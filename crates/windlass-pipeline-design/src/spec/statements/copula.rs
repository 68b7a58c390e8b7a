//! What something is: visible to whom, part of what, out of scope.

use super::{Draft, Maker, features::nominal, join};
use crate::model::{analysis::VerbKind, strategy::Priority};
use crate::spec::{clause::Clause, lexicon::nouns, priority, section::Section};

impl Maker<'_> {
    /// `X is visible to doctors only`, `X is out of scope`, `It would be nice to have X`.
    pub(super) fn copula(&self, clause: &Clause, found: &mut Vec<Draft>) {
        let rest = join(&[&clause.object_text, &clause.tail]).to_lowercase();
        let subject = clause.subject.text.to_lowercase();
        let scoped = priority::of(self.reading, Some(clause));
        let sees = [
            "visible",
            "private",
            "public",
            "accessible",
            "shared",
            "confidential",
            "available",
            "hidden",
            "open",
        ];
        let opening = rest.split_whitespace().next().unwrap_or_default();
        if subject == "it" || subject == "there" || subject.is_empty() {
            for wish in [
                "nice to have",
                "great to have",
                "good to have",
                "nice to see",
                "nice to",
                "great to",
                "possible to",
                "helpful to",
            ] {
                if let Some(at) = rest.find(wish) {
                    let wanted = join(&[&clause.object_text, &clause.tail]);
                    let wanted = wanted
                        .get(at + wish.len()..)
                        .unwrap_or_default()
                        .trim()
                        .to_owned();
                    self.wanted(&wanted, scoped, found);
                    return;
                }
            }
            if subject == "there" {
                self.wanted(&join(&[&clause.object_text, &clause.tail]), scoped, found);
            }
            return;
        }
        if self.values_of(clause, &rest, found) {
            return;
        }
        if sees.contains(&opening)
            && !clause.subject.is_product()
            && !nouns::is_ui(clause.subject.head())
        {
            let who = clause.tail_nouns.iter().find(|(preposition, noun)| {
                matches!(preposition.as_str(), "to" | "for" | "by" | "with")
                    && self.people.is_person(noun)
            });
            let mut draft = self.of_clause(clause, self.text(clause), VerbKind::Read);
            draft.verb = "see".to_owned();
            draft.object = clause.subject.clone();
            draft.actor =
                who.map(|(_, noun)| self.people.role_of(noun).unwrap_or(noun.head()).to_owned());
            draft.only = rest.contains("only") || opening == "private";
            draft.state = Some(opening.to_owned());
            found.push(draft);
            return;
        }
        let relation = [
            "for one",
            "for a ",
            "for an ",
            "part of",
            "for exactly one",
            "linked to",
            "about one",
        ]
        .iter()
        .any(|start| rest.starts_with(start));
        if relation
            && !clause.subject.is_product()
            && !nouns::is_person(clause.subject.head())
            && self.reading.section() != Section::Goal
            && clause.subject.text != self.product.unwrap_or_default()
        {
            let mut draft = self.of_clause(clause, self.text(clause), VerbKind::Keep);
            draft.verb = "belong to".to_owned();
            draft.object = clause.subject.clone();
            found.push(draft);
            return;
        }
        if scoped == Priority::Wont {
            let mut draft = self.of_clause(clause, self.text(clause), VerbKind::Other);
            draft.verb = nominal(&clause.subject).unwrap_or("offer").to_owned();
            draft.object = clause.subject.clone();
            draft.negated = false;
            found.push(draft);
        }
    }
}
