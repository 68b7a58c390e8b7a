//! What is done to something, by a user or by the product.

use super::{Draft, Maker, join};
use crate::model::analysis::VerbKind;
use crate::spec::{clause::Clause, lexicon::verbs, phrase::Phrase, reading::lower_first};

/// Participles that say where something belongs rather than what is done to it.
const BELONGING: &[&str] = &[
    "group",
    "organise",
    "organize",
    "store",
    "link",
    "associate",
    "relate",
    "connect",
    "attach",
    "contain",
    "include",
    "divide",
    "structure",
    "categorise",
    "categorize",
    "own",
];

impl Maker<'_> {
    pub(super) fn passive(&self, clause: &Clause, found: &mut Vec<Draft>) {
        let agent = clause.tail_nouns.iter().find(|(preposition, noun)| {
            preposition == "by" && (self.people.is_person(noun) || noun.is_product())
        });
        if clause.modal.today || clause.subject.text.is_empty() {
            return;
        }
        if let Some((_, agent)) = agent {
            let mut draft = self.of_clause(
                clause,
                self.by_agent(clause, agent),
                verbs::kind(&clause.base, true),
            );
            draft.object = clause.subject.clone();
            draft.others.retain(|(preposition, _)| preposition != "by");
            draft.actor = if agent.is_product() {
                Some("system".to_owned())
            } else {
                Some(self.people.role_of(agent).unwrap_or(&agent.name).to_owned())
            };
            found.push(draft);
            return;
        }
        let mut draft = self.of_clause(clause, self.text(clause), verbs::kind(&clause.base, true));
        if !clause.subject.is_empty() || clause.object.is_empty() {
            draft.object = clause.subject.clone();
        }
        let belongs = BELONGING.contains(&clause.base.as_str())
            && clause.tail_nouns.iter().any(|(preposition, _)| {
                matches!(preposition.as_str(), "in" | "into" | "to" | "with" | "by")
            });
        if belongs {
            draft.kind = VerbKind::Keep;
        } else {
            draft.actor = Some("system".to_owned());
        }
        found.push(draft);
    }

    /// `Orders must be approved by managers` → `Managers must approve orders`
    pub(super) fn by_agent(&self, clause: &Clause, agent: &Phrase) -> String {
        let modal = clause
            .modal
            .text
            .split_whitespace()
            .filter(|word| {
                !matches!(
                    word.to_lowercase().as_str(),
                    "is" | "are" | "be" | "been" | "was" | "were"
                )
            })
            .collect::<Vec<_>>()
            .join(" ");
        let negated = clause.modal.negated && !clause.modal.present;
        let verb = if negated {
            format!(
                "{} {}",
                if agent.plural { "do" } else { "does" },
                join(&[&modal, &clause.base])
            )
        } else if clause.modal.present || agent.plural {
            join(&[&modal, &clause.base])
        } else {
            join(&[&modal, &verbs::third_person(&clause.base)])
        };
        let by = format!("by {}", agent.text);
        let tail = clause.tail.replacen(&by, "", 1);
        let text = join(&[
            &agent.text,
            &verb,
            &lower_first(&clause.subject.text),
            &clause.object_text,
            &tail,
        ]);
        self.with_condition(text, clause)
    }
}
