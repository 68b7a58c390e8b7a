//! What is kept: lists of attributes, stages, rows and items of data.

use super::{Draft, Maker, join};
use crate::model::{analysis::VerbKind, naming};
use crate::spec::{
    clause::Clause,
    lexicon::nouns,
    phrase::{self, Phrase},
    section::Section,
    table::Row,
};

impl Maker<'_> {
    pub(super) fn data(&self, clause: &Clause, found: &mut Vec<Draft>) {
        let subject = if clause.is_each_lead() {
            clause.lead_noun()
        } else {
            clause.subject.clone()
        };
        let mut text = self.text(clause);
        if clause.is_each_lead() {
            text = join(&[
                clause.lead.as_deref().unwrap_or_default(),
                &clause.subject.text,
                &clause.modal.text,
                &clause.verb,
                &clause.object_text,
                &clause.tail,
            ]);
        }
        let mut draft = self.of_clause(clause, text, VerbKind::Keep);
        let belongs = matches!(clause.base.as_str(), "belong" | "refer to");
        draft.verb = if belongs {
            "belong to".to_owned()
        } else {
            "have".to_owned()
        };
        draft.object = subject;
        if !belongs {
            let tokens = self
                .reading
                .tokens
                .get(clause.region.clone())
                .unwrap_or_default();
            draft.list = Some(crate::spec::token::slice(&self.reading.text, tokens).to_owned());
        }
        draft.others = phrase::all_with_prepositions(
            &self.reading.text,
            self.reading
                .tokens
                .get(clause.region.clone())
                .unwrap_or_default(),
        );
        found.push(draft);
    }

    /// `An application goes through the stages new, interview and hired`: values of a field.
    pub(super) fn stages(&self, clause: &Clause, found: &mut Vec<Draft>) -> bool {
        let moves = matches!(
            clause.base.as_str(),
            "go" | "go through" | "pass" | "move" | "run"
        );
        let tokens = self
            .reading
            .tokens
            .get(clause.region.clone())
            .unwrap_or_default();
        let named = tokens
            .iter()
            .position(|token| token.is_any(&["stages", "states", "statuses", "phases", "steps"]));
        let (true, Some(at)) = (moves && !clause.subject.is_empty(), named) else {
            return false;
        };
        // A list of objects is one clause each; the first one counts for all.
        if found
            .iter()
            .any(|draft| draft.verb == "have" && draft.object == clause.subject)
        {
            return true;
        }
        let values =
            crate::spec::token::slice(&self.reading.text, tokens.get(at + 1..).unwrap_or_default());
        let values = values
            .trim_start_matches([':', ' ', '('])
            .trim_end_matches(')');
        let text = format!(
            "{} {} {}",
            clause.subject.text,
            clause.verb,
            crate::spec::token::slice(&self.reading.text, tokens)
        );
        let mut draft = self.of_clause(clause, text, VerbKind::Keep);
        draft.verb = "have".to_owned();
        draft.object = clause.subject.clone();
        draft.list = Some(format!(
            "a {} ({})",
            naming::singular(&tokens[at].lower),
            values.replace(" and ", " or ")
        ));
        found.push(draft);
        true
    }

    /// `A task can be open, in progress or done`: values of its status.
    pub(super) fn values_of(&self, clause: &Clause, rest: &str, found: &mut Vec<Draft>) -> bool {
        let words = rest
            .split(|c: char| c.is_whitespace() || c == ',')
            .filter(|word| !word.is_empty())
            .count();
        let listed = rest.contains(" or ") && words <= 14;
        let modal = clause.modal.text.to_lowercase();
        let possible = modal.starts_with("can be")
            || modal.starts_with("may be")
            || rest.starts_with("either ")
            || rest.starts_with("one of ");
        let thing = !clause.subject.is_product()
            && !nouns::is_ui(clause.subject.head())
            && !self.people.is_person(&clause.subject)
            && !clause.subject.is_empty();
        if !(listed && possible && thing) {
            return false;
        }
        let values = rest
            .trim_start_matches("either ")
            .trim_start_matches("one of ");
        let mut draft = self.of_clause(clause, self.text(clause), VerbKind::Keep);
        draft.verb = "have".to_owned();
        // `The status can be open or closed` names the field itself.
        let (owner, field) = match &clause.subject.of {
            Some(owner) => (owner.clone(), clause.subject.name.clone()),
            None if nouns::is_attribute(clause.subject.head()) => return false,
            None if values.contains("public") && values.contains("private") => {
                (clause.subject.name.clone(), "visibility".to_owned())
            }
            None => (clause.subject.name.clone(), "status".to_owned()),
        };
        draft.object = Phrase {
            name: owner,
            ..clause.subject.clone()
        };
        draft.list = Some(format!("a {field} ({values})"));
        found.push(draft);
        true
    }

    /// In a data section, `Product: name, price`.
    pub(super) fn data_item(&self, found: &mut Vec<Draft>) {
        let text = &self.reading.text;
        if self.reading.section() != Section::Data
            || !self.reading.clauses.is_empty()
            || text.ends_with(':')
        {
            return;
        }
        let cut = [":", " – ", " — ", " - ", " with ", " ("]
            .iter()
            .filter_map(|mark| text.find(mark).map(|at| (at, mark.len())))
            .min();
        let (name, list) = match cut {
            Some((at, width)) => (
                &text[..at],
                Some(text[at + width..].trim_end_matches([')', '.'])),
            ),
            None => (text.as_str(), None),
        };
        let tokens = crate::spec::token::tokens(name);
        let object = phrase::read(name, &tokens);
        if object.is_empty() || object.width + 1 < tokens.len() {
            return;
        }
        let mut draft = self.draft(text.clone(), "have", VerbKind::Keep, &object);
        draft.list = list.map(str::to_owned);
        found.push(draft);
    }

    /// A row of a data table: `Product: SKU (unique), name, …`.
    pub(super) fn row(&self) -> Draft {
        let text = self
            .reading
            .text
            .replacen(" | ", ": ", 1)
            .replace(" | ", ", ");
        let name = match &self.reading.row {
            Some(Row::Entity { name, .. }) => name.clone(),
            Some(Row::Field { entity, .. }) => entity
                .clone()
                .or_else(|| self.reading.piece.heading.clone())
                .unwrap_or_default(),
            _ => String::new(),
        };
        let tokens = crate::spec::token::tokens(&name);
        let mut draft = self.draft(text, "have", VerbKind::Keep, &phrase::read(&name, &tokens));
        if let Some(Row::Entity { fields, .. }) = &self.reading.row {
            draft.list = Some(fields.clone());
        }
        draft
    }
}
