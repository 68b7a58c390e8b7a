//! Behaviours: each clause as an actor, a verb and an object, in the spec's own words.

use windlass_pipeline_model::{analysis::VerbKind, naming, strategy::Priority};

use crate::{
    clause::{Clause, Voice},
    lexicon::{
        line::{Line, Phrases, phrases},
        nouns,
        small::Tags,
        verbs,
    },
    people::People,
    phrase::{self, Phrase},
    priority,
    reading::{Reading, lower_first, upper_first},
    section::Section,
    table::Row,
};

/// A statement before entities are known.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Actor first.
    pub text: String,
    /// The reading it is from.
    pub reading: usize,
    /// Singular.
    pub actor: Option<String>,
    /// Base form.
    pub verb: String,
    /// What it does.
    pub kind: VerbKind,
    /// What it is done to.
    pub object: Phrase,
    /// Noun phrases that take part.
    pub others: Vec<(String, Phrase)>,
    /// When, if.
    pub condition: Option<String>,
    /// Must not happen.
    pub negated: bool,
    /// `only`.
    pub only: bool,
    /// How important.
    pub priority: Priority,
    /// Read as list, create, update and delete.
    pub manages: bool,
    /// What is listed as kept of the object: `a title, a description and a status (…)`.
    pub list: Option<String>,
}

/// Verbs that say what a product is for rather than what it does.
const GOAL_VERBS: &[&str] = &[
    "replace", "help", "make", "aim", "bring", "give", "serve", "want", "need", "save", "be",
    "feel", "look", "work", "improve", "reduce", "support", "connect", "combine", "turn", "like",
    "lose", "know", "exist", "become",
];

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

/// The statements of a reading.
pub fn drafts(
    reading: &Reading,
    index: usize,
    people: &People,
    product: Option<&str>,
) -> Vec<Draft> {
    let mut found = Vec::new();
    let maker = Maker {
        reading,
        index,
        people,
        product,
    };
    if let Some(Row::Entity { .. } | Row::Field { .. }) = &reading.row {
        return vec![maker.row()];
    }
    for clause in &reading.clauses {
        maker.clause(clause, &mut found);
    }
    if found.is_empty() {
        maker.data_item(&mut found);
    }
    if found.is_empty() {
        maker.nouns(&mut found);
    }
    if found.is_empty() && speaks_of_sign_in(&reading.line) {
        found.push(maker.draft(
            reading.text.clone(),
            "sign in",
            VerbKind::SignIn,
            &Phrase::default(),
        ));
    }
    for draft in &mut found {
        draft.text = finish(&draft.text);
    }
    found
}

/// Whether a line says that people sign in.
pub fn speaks_of_sign_in(line: &Line) -> bool {
    let free = line.has_any(&[
        "without signing in",
        "without logging in",
        "without login",
        "no login",
    ]);
    let forbidden = line.has_any(&["nobody", "no one", "cannot", "can't", "not"]);
    (!free || forbidden) && line.mentions(&SIGN_IN)
}

/// Phrases with which a text speaks of signing in.
static SIGN_IN: Phrases = phrases!(
    "sign in; signs in; signing in; sign-in; log in; logs in; logging in; login; logged in; \
    signed in; authentication; authenticated"
);

/// Without the mark at the end, with a capital, white space single.
fn finish(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    upper_first(text.trim_end_matches(['.', ';', ',', ':', '!']).trim())
}

struct Maker<'a> {
    reading: &'a Reading,
    index: usize,
    people: &'a People,
    product: Option<&'a str>,
}

impl Maker<'_> {
    fn draft(&self, text: String, verb: &str, kind: VerbKind, object: &Phrase) -> Draft {
        Draft {
            text,
            reading: self.index,
            actor: None,
            verb: verb.to_owned(),
            kind,
            object: object.clone(),
            others: Vec::new(),
            condition: None,
            negated: false,
            only: false,
            priority: priority::of(self.reading, None),
            manages: matches!(verb, "manage" | "maintain" | "administer"),
            list: None,
        }
    }

    /// A row of a data table: `Product: SKU (unique), name, …`.
    fn row(&self) -> Draft {
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
        let tokens = crate::token::tokens(&name);
        let mut draft = self.draft(text, "have", VerbKind::Keep, &phrase::read(&name, &tokens));
        if let Some(Row::Entity { fields, .. }) = &self.reading.row {
            draft.list = Some(fields.clone());
        }
        draft
    }

    fn clause(&self, clause: &Clause, found: &mut Vec<Draft>) {
        match clause.voice {
            Voice::Copula => self.copula(clause, found),
            Voice::Passive => self.passive(clause, found),
            Voice::Active => self.active(clause, found),
        }
    }

    fn from_clause(&self, clause: &Clause, text: String, kind: VerbKind) -> Draft {
        let mut draft = self.draft(text, &clause.base, kind, &clause.object);
        draft.others = clause.tail_nouns.clone();
        draft.condition.clone_from(&clause.condition);
        draft.negated = clause.modal.negated && !clause.modal.refused;
        draft.only = clause.modal.only;
        draft.priority = priority::of(self.reading, Some(clause));
        draft
    }

    fn active(&self, clause: &Clause, found: &mut Vec<Draft>) {
        if crate::classify::is_data(clause) && !self.gives_access(clause) {
            return self.data(clause, found);
        }
        if verbs::gives(&clause.base) && self.given(clause, found) {
            return;
        }
        if self.stages(clause, found) || self.builds_the_product(clause) {
            return;
        }
        let Some(actor) = self.actor(clause) else {
            return;
        };
        let kind = verbs::kind(&clause.base, !clause.object.is_empty());
        let mut draft = self.from_clause(clause, self.text(clause), kind);
        if self.gives_access(clause) {
            draft.kind = VerbKind::Read;
            draft.verb = "access".to_owned();
            let region = self
                .reading
                .tokens
                .get(clause.region.clone())
                .unwrap_or_default();
            draft.object = phrase::all_with_prepositions(&self.reading.text, region)
                .into_iter()
                .find(|(preposition, _)| preposition == "to")
                .map(|(_, noun)| noun)
                .unwrap_or_default();
        }
        let listing = ["with ", "including ", "containing ", "consisting of "]
            .iter()
            .find_map(|word| clause.tail.strip_prefix(word));
        if kind == VerbKind::Create || draft.manages {
            draft.list = listing.map(str::to_owned);
        }
        if kind == VerbKind::Keep && !self.gives_access(clause) {
            // `The platform includes a blog`: something the product offers.
            draft.kind = VerbKind::Other;
            draft.verb = "offer".to_owned();
        }
        draft.actor = actor;
        found.push(draft);
    }

    /// `Auditors have read-only access to everything`
    fn gives_access(&self, clause: &Clause) -> bool {
        clause.base == "have"
            && clause
                .object_text
                .split_whitespace()
                .any(|word| word == "access")
    }

    /// Who does it: `Some(None)` for nobody in particular, `None` when it is no behaviour.
    fn actor(&self, clause: &Clause) -> Option<Option<String>> {
        let subject = &clause.subject;
        let head = subject.head();
        let text = subject.text.to_lowercase();
        if clause.modal.today {
            return None;
        }
        if subject.text.is_empty() {
            let offers = !matches!(clause.base.as_str(), "look" | "feel" | "be");
            return offers.then_some(None);
        }
        if matches!(text.as_str(), "we" | "i" | "you") {
            let wish = matches!(
                clause.base.as_str(),
                "want" | "need" | "like" | "love" | "prefer" | "expect"
            );
            let scoped = priority::of(self.reading, Some(clause)) != Priority::Must;
            return ((!wish || scoped) && !GOAL_VERBS.contains(&clause.base.as_str())
                || (wish && scoped))
                .then_some(None);
        }
        let called = self
            .product
            .is_some_and(|product| text == product.to_lowercase());
        if called || subject.is_product() || text == "it" {
            let goal = GOAL_VERBS.contains(&clause.base.as_str()) && clause.condition.is_none();
            let refused = clause.modal.negated || self.reading.section() == Section::OutOfScope;
            return (!goal || refused).then(|| Some("system".to_owned()));
        }
        if let Some(role) = self.people.role_of(subject) {
            return Some(Some(role.to_owned()));
        }
        if nouns::is_maker(head) {
            return Some(Some(head.to_owned()));
        }
        if nouns::is_ui(head) {
            return Some(None);
        }
        let everybody = matches!(
            text.split(' ').next().unwrap_or_default(),
            "everybody"
                | "everyone"
                | "anybody"
                | "anyone"
                | "nobody"
                | "people"
                | "somebody"
                | "someone"
        );
        if everybody || nouns::is_person(head) {
            return Some(None);
        }
        if nouns::is_group(head)
            || text.starts_with("our ")
            || self.reading.section() == Section::Goal
        {
            return None;
        }
        if priority::of(self.reading, Some(clause)) == Priority::Wont {
            return Some(None);
        }
        let known = clause.modal.present || clause.condition.is_some() || !clause.object.is_empty();
        let goal = GOAL_VERBS.contains(&clause.base.as_str()) && !clause.modal.present;
        (known && !goal).then(|| Some("system".to_owned()))
    }

    /// The clause with its subject first and its condition last.
    fn text(&self, clause: &Clause) -> String {
        let subject = match &clause.story {
            Some(story) => story.clone(),
            None => clause.subject.text.clone(),
        };
        let object = &clause.object_text;
        let parts = [
            subject.as_str(),
            &clause.modal.text,
            &clause.verb,
            object,
            &clause.tail,
        ];
        let mut text = join(&parts);
        if let Some(lead) = &clause.lead {
            text = format!("{text} {}", lower_first(lead));
        }
        self.with_condition(text, clause)
    }

    fn with_condition(&self, mut text: String, clause: &Clause) -> String {
        for more in [&clause.condition, &clause.purpose].into_iter().flatten() {
            text = format!("{text} {}", lower_first(more));
        }
        text
    }

    /// `The app lets teachers create quizzes`: the teachers do.
    fn given(&self, clause: &Clause, found: &mut Vec<Draft>) -> bool {
        let tokens = self
            .reading
            .tokens
            .get(clause.region.clone())
            .unwrap_or_default();
        let base_at = |at: usize| {
            tokens
                .get(at)
                .and_then(|token| token.verb.as_ref())
                .is_some_and(|verb| verb.forms.has(verbs::Forms::BASE))
        };
        let Some(verb_at) = (1..tokens.len()).find(|at| {
            let after_to = tokens[at - 1].is("to");
            let after_people = nouns::is_person(&naming::singular(&tokens[at - 1].lower));
            base_at(*at) && (after_to || (after_people && clause.base != "allow"))
        }) else {
            return false;
        };
        let people_end = verb_at - usize::from(tokens[verb_at - 1].is("to"));
        let people = phrase::read(&self.reading.text, &tokens[..people_end]);
        if people.width != people_end
            || !(self.people.is_person(&people) || nouns::is_person(people.head()))
        {
            return false;
        }
        let action = crate::token::slice(&self.reading.text, &tokens[verb_at..]);
        let inner = format!("{} can {action}", people.text);
        let inner_tokens = crate::token::tokens(&inner);
        let before = found.len();
        let known = crate::clause::Known::default();
        let sub = Reading {
            id: self.reading.id.clone(),
            piece: self.reading.piece.clone(),
            clauses: crate::clause::clauses(&inner, &inner_tokens, &known),
            line: Line::new(&inner),
            text: inner,
            tokens: inner_tokens,
            label: None,
            row: None,
        };
        let maker = Maker {
            reading: &sub,
            ..*self
        };
        for inner in &sub.clauses {
            maker.active(inner, found);
        }
        let priority = priority::of(self.reading, Some(clause));
        for draft in &mut found[before..] {
            draft.priority = priority;
            draft.condition = draft.condition.take().or_else(|| clause.condition.clone());
        }
        found.len() > before
    }

    /// `An application goes through the stages new, interview and hired`: values of a field.
    fn stages(&self, clause: &Clause, found: &mut Vec<Draft>) -> bool {
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
        // A list of objects is one clause each; the first one speaks for all.
        if found
            .iter()
            .any(|draft| draft.verb == "have" && draft.object == clause.subject)
        {
            return true;
        }
        let values =
            crate::token::slice(&self.reading.text, tokens.get(at + 1..).unwrap_or_default());
        let values = values
            .trim_start_matches([':', ' ', '('])
            .trim_end_matches(')');
        let text = format!(
            "{} {} {}",
            clause.subject.text,
            clause.verb,
            crate::token::slice(&self.reading.text, tokens)
        );
        let mut draft = self.from_clause(clause, text, VerbKind::Keep);
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

    /// `Build a todo app`, `We will develop a platform`: the product, not a thing it keeps.
    fn builds_the_product(&self, clause: &Clause) -> bool {
        let text = clause.subject.text.to_lowercase();
        matches!(
            clause.base.as_str(),
            "build"
                | "create"
                | "develop"
                | "make"
                | "design"
                | "implement"
                | "write"
                | "want"
                | "need"
        ) && matches!(text.as_str(), "" | "we" | "i")
            && !clause.modal.negated
            && (nouns::is_always_product(clause.object.head())
                || nouns::is_product(clause.object.head(), "the"))
    }

    fn data(&self, clause: &Clause, found: &mut Vec<Draft>) {
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
        let mut draft = self.from_clause(clause, text, VerbKind::Keep);
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
            draft.list = Some(crate::token::slice(&self.reading.text, tokens).to_owned());
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

    fn passive(&self, clause: &Clause, found: &mut Vec<Draft>) {
        let agent = clause.tail_nouns.iter().find(|(preposition, noun)| {
            preposition == "by" && (self.people.is_person(noun) || noun.is_product())
        });
        if clause.modal.today || clause.subject.text.is_empty() {
            return;
        }
        if let Some((_, agent)) = agent {
            let mut draft = self.from_clause(
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
        let mut draft =
            self.from_clause(clause, self.text(clause), verbs::kind(&clause.base, true));
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
    fn by_agent(&self, clause: &Clause, agent: &Phrase) -> String {
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

    /// `X is visible to doctors only`, `X is out of scope`, `It would be nice to have X`.
    fn copula(&self, clause: &Clause, found: &mut Vec<Draft>) {
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
            let mut draft = self.from_clause(clause, self.text(clause), VerbKind::Read);
            draft.verb = "see".to_owned();
            draft.object = clause.subject.clone();
            draft.actor =
                who.map(|(_, noun)| self.people.role_of(noun).unwrap_or(noun.head()).to_owned());
            draft.only = rest.contains("only") || opening == "private";
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
            let mut draft = self.from_clause(clause, self.text(clause), VerbKind::Keep);
            draft.verb = "belong to".to_owned();
            draft.object = clause.subject.clone();
            found.push(draft);
            return;
        }
        if scoped == Priority::Wont {
            let mut draft = self.from_clause(clause, self.text(clause), VerbKind::Other);
            draft.verb = nominal(&clause.subject).unwrap_or("offer").to_owned();
            draft.object = clause.subject.clone();
            draft.negated = false;
            found.push(draft);
        }
    }

    /// `A task can be open, in progress or done`: values of its status.
    fn values_of(&self, clause: &Clause, rest: &str, found: &mut Vec<Draft>) -> bool {
        let words = rest
            .split(|c: char| c.is_whitespace() || c == ',')
            .filter(|word| !word.is_empty())
            .count();
        let listed = rest.contains(" or ") && words <= 14;
        let possible = clause.modal.text.to_lowercase().starts_with("can be")
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
        let mut draft = self.from_clause(clause, self.text(clause), VerbKind::Keep);
        draft.verb = "have".to_owned();
        // `The status can be open or closed` names the field itself.
        let (owner, field) = match &clause.subject.of {
            Some(owner) => (owner.clone(), clause.subject.name.clone()),
            None if nouns::is_attribute(clause.subject.head()) => return false,
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

    /// A wish for a thing or an action: `label printing for locations`.
    fn wanted(&self, text: &str, priority: Priority, found: &mut Vec<Draft>) {
        let tokens = crate::token::tokens(text);
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
    fn noun_draft(&self, text: &str, object: &Phrase) -> Draft {
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

    /// In a data section, `Product: name, price`.
    fn data_item(&self, found: &mut Vec<Draft>) {
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
        let tokens = crate::token::tokens(name);
        let object = phrase::read(name, &tokens);
        if object.is_empty() || object.width + 1 < tokens.len() {
            return;
        }
        let mut draft = self.draft(text.clone(), "have", VerbKind::Keep, &object);
        draft.list = list.map(str::to_owned);
        found.push(draft);
    }

    /// Pieces without a verb: names of features where features are listed.
    fn nouns(&self, found: &mut Vec<Draft>) {
        let reading = self.reading;
        let bullet = reading.piece.place != windlass_pipeline_model::analysis::Place::Sentence;
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
            let tokens = crate::token::tokens(plain);
            let object = phrase::read(plain, &tokens);
            if object.is_empty() || !tokens.iter().any(crate::token::Token::is_content) {
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
fn nominal(object: &Phrase) -> Option<&'static str> {
    nouns::nominal_verb(object.head())
}

/// Names separated by commas, where nothing but names is listed.
fn listed(text: &str) -> Vec<&str> {
    let tokens = crate::token::tokens(text);
    let plain = !tokens.iter().any(|token| {
        token.has(Tags::PREPOSITION)
            || token.has(Tags::RELATIVE)
            || token.is_any(&["(", ":", "-", "–"])
    });
    let commas = tokens.iter().any(crate::token::Token::is_comma);
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

fn join(parts: &[&str]) -> String {
    parts
        .iter()
        .map(|part| part.trim())
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
