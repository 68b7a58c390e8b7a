//! The verbs of a clause, their objects, and where the next clause begins.

use std::ops::Range;

use super::{Clause, Parser, Voice, head::Head, lead::Lead, modal::Auxiliary};
use crate::model::{analysis::VerbKind, naming};
use crate::spec::{
    lexicon::{
        small::Tags,
        verbs::{self, Forms},
    },
    phrase::{self, Phrase},
    token::Kind,
};

/// A verb with its particle.
struct Verb {
    base: String,
    text: String,
}

/// What stands behind a verb.
struct Region {
    /// Up to the condition or the next verb.
    all: Range<usize>,
    /// The objects, without what follows a preposition.
    objects: Range<usize>,
    /// A preposition that belongs to the object: `comment on it`.
    preposition: Option<usize>,
    condition: Option<Range<usize>>,
    purpose: Option<Range<usize>>,
    next: Next,
}

/// What follows a predicate.
enum Next {
    /// Nothing.
    End(usize),
    /// Another verb of the same subject.
    Verb(usize),
    /// `is`, `must`: more of the same subject.
    Auxiliary(usize),
    /// Another subject.
    Subject(usize),
}

/// Prepositions whose phrase goes with every object of a list: `export orders and invoices as CSV`.
const FOR_ALL_OBJECTS: &[&str] = &[
    "as", "to", "by", "via", "through", "from", "into", "using", "before",
];

/// Prepositions an object may follow directly.
const OBJECT_PREPOSITIONS: &[&str] = &["on", "at", "for", "to", "through", "into", "about"];

impl Parser<'_> {
    /// Adds the clauses of one subject; says where the next subject begins.
    pub(super) fn predicate(
        &self,
        head: &Head,
        lead: &Lead,
        end: usize,
        found: &mut Vec<Clause>,
    ) -> usize {
        let mut auxiliary = Auxiliary {
            modal: head.auxiliary.modal.clone(),
            verb_at: head.auxiliary.verb_at,
            be: head.auxiliary.be,
        };
        let mut at = auxiliary.verb_at;
        loop {
            let next = self.one(head, lead, &auxiliary, at, end, found);
            match next {
                Next::End(at) | Next::Subject(at) => return at,
                Next::Verb(verb_at) => at = verb_at,
                Next::Auxiliary(from) => {
                    let said = self.auxiliary(from, end);
                    auxiliary = said.following(&auxiliary);
                    at = auxiliary.verb_at;
                }
            }
            if at >= end {
                return end;
            }
        }
    }

    fn one(
        &self,
        head: &Head,
        lead: &Lead,
        auxiliary: &Auxiliary,
        at: usize,
        end: usize,
        found: &mut Vec<Clause>,
    ) -> Next {
        let modal = &auxiliary.modal;
        let passive = auxiliary.be && self.participle_at(at);
        let form = if passive {
            Forms::PARTICIPLE
        } else if modal.present || modal.negated {
            Forms::BASE
        } else {
            head.form
        };
        let copula = auxiliary.be && !passive;
        let (list, after) = if copula {
            let verb = Verb {
                base: "be".to_owned(),
                text: String::new(),
            };
            (vec![verb], at)
        } else {
            self.verbs(
                at,
                end,
                form,
                modal.present || modal.negated || head.story.is_some(),
            )
        };
        if list.is_empty() {
            return Next::End(end);
        }
        let voice = match (copula, passive) {
            (true, _) => Voice::Copula,
            (_, true) => Voice::Passive,
            _ => Voice::Active,
        };
        let keeps = list.len() == 1
            && (verbs::kind(&list[0].base, true) == VerbKind::Keep
                || verbs::gives(&list[0].base)
                || (lead.is_each() && !passive));
        let region = self.region(after, end, (form, head.form), copula, keeps);
        let make = |subject: &Phrase,
                    verb: &Verb,
                    object: &Phrase,
                    object_text: &str,
                    tail: Range<usize>| Clause {
            subject: subject.clone(),
            story: head.story.clone(),
            modal: modal.clone(),
            voice,
            base: verb.base.clone(),
            verb: verb.text.clone(),
            object: object.clone(),
            object_text: object_text.to_owned(),
            tail: self
                .slice(tail.clone())
                .trim_end_matches([',', ' '])
                .to_owned(),
            tail_nouns: self
                .tokens
                .get(tail)
                .map(|tokens| phrase::all_with_prepositions(self.text, tokens))
                .unwrap_or_default(),
            condition: region
                .condition
                .clone()
                .map(|range| self.slice(range).to_owned())
                .or_else(|| lead.condition.clone()),
            purpose: region
                .purpose
                .clone()
                .map(|range| self.slice(range).to_owned()),
            lead: lead.place.clone(),
            region: region.all.clone(),
        };
        let mut tail = region.objects.end..region.all.end;
        if copula || keeps || passive {
            for verb in &list {
                let text = self.slice(region.objects.clone()).to_owned();
                let object = phrase::read(
                    self.text,
                    self.tokens.get(region.objects.clone()).unwrap_or_default(),
                );
                for subject in &head.subjects {
                    found.push(make(subject, verb, &object, &text, tail.clone()));
                }
            }
            return region.next;
        }
        let objects = self.objects(region.objects.clone());
        if objects.is_empty() {
            tail.start = region.objects.start;
        }
        let last = objects.len().saturating_sub(1);
        let spreads = self
            .token(tail.start)
            .is_some_and(|token| token.is_any(FOR_ALL_OBJECTS));
        for verb in &list {
            if objects.is_empty() {
                for subject in &head.subjects {
                    found.push(make(subject, verb, &Phrase::default(), "", tail.clone()));
                }
            }
            for (index, object) in objects.iter().enumerate() {
                let phrase = phrase::read(
                    self.text,
                    self.tokens.get(object.clone()).unwrap_or_default(),
                );
                let mut text = self.slice(object.clone()).to_owned();
                if let Some(preposition) = region.preposition {
                    text = format!("{} {text}", self.slice(preposition..preposition + 1));
                }
                let tail = if index == last || spreads {
                    tail.clone()
                } else {
                    0..0
                };
                for subject in &head.subjects {
                    found.push(make(subject, verb, &phrase, &text, tail.clone()));
                }
            }
        }
        region.next
    }

    fn participle_at(&self, at: usize) -> bool {
        self.verb(at)
            .is_some_and(|verb| verb.forms.has(Forms::PARTICIPLE))
    }

    /// The verbs that begin at `at`, and where they end.
    fn verbs(&self, at: usize, end: usize, form: Forms, any: bool) -> (Vec<Verb>, usize) {
        let mut list = Vec::new();
        let mut at = at;
        while at < end {
            let Some(token) = self.token(at) else { break };
            let base = match &token.verb {
                Some(verb) if verb.forms.has(form) || list.is_empty() => verb.base.clone(),
                None if any && list.is_empty() && token.is_content() => token.lower.clone(),
                None if list.is_empty() && self.unknown_base(at) => token.lower.clone(),
                _ => break,
            };
            let mut until = at + 1;
            let mut full = base.clone();
            if let Some(particle) = self.token(until).filter(|_| until < end)
                && verbs::takes_particle(&base, &particle.lower)
            {
                full = format!("{base} {}", particle.lower);
                until += 1;
            }
            list.push(Verb {
                base: full,
                text: self.slice(at..until).to_owned(),
            });
            at = until;
            let next = self.skip_coordinators(at, end);
            let goes_on = next > at
                && self.verb(next).is_some_and(|verb| verb.forms.has(form))
                && !self
                    .token(next)
                    .is_some_and(|token| token.has(Tags::DETERMINER));
            if !goes_on {
                break;
            }
            at = next;
        }
        (list, at)
    }

    fn unknown_base(&self, at: usize) -> bool {
        self.token(at)
            .is_some_and(|token| token.is_content() && token.verb.is_none())
    }

    /// Past `, and`, `or`, `and then`.
    fn skip_coordinators(&self, at: usize, end: usize) -> usize {
        let mut at = at;
        let mut seen = false;
        while at < end
            && self.token(at).is_some_and(|token| {
                token.is_comma()
                    || token.has(Tags::COORDINATOR)
                    || (seen
                        && token.is_any(&[
                            "then",
                            "also",
                            "even",
                            "optionally",
                            "automatically",
                            "later",
                            "but",
                        ]))
                    || (!seen && token.is("then"))
            })
        {
            seen = true;
            at += 1;
        }
        at
    }

    /// What stands behind a verb, and what comes next.
    fn region(
        &self,
        from: usize,
        end: usize,
        (form, finite): (Forms, Forms),
        copula: bool,
        keeps: bool,
    ) -> Region {
        let mut region = Region {
            all: from..end,
            objects: from..end,
            preposition: None,
            condition: None,
            purpose: None,
            next: Next::End(end),
        };
        let mut closed = None; // where the objects end
        let mut bound = false; // within a relative clause or a condition: no verb of ours follows
        let mut conditional = false;
        let mut depth = 0_usize;
        let mut at = from;
        while at < end {
            let Some(token) = self.token(at) else { break };
            match token.lower.as_str() {
                "(" | "[" => depth += 1,
                ")" | "]" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > 0 || token.is(")") {
                at += 1;
                continue;
            }
            if token.is_comma() || token.has(Tags::COORDINATOR) {
                let next = self.skip_coordinators(at, end);
                let follows = if conditional {
                    self.ends_condition(next, end)
                } else {
                    self.follows(next, end, (form, finite), bound, copula)
                };
                if let Some(follows) = follows {
                    region.next = follows;
                    region.all.end = at;
                    break;
                }
                at = next.max(at + 1);
                continue;
            }
            if !conditional && let Some(purpose) = self.condition_at(at) {
                closed.get_or_insert(at);
                conditional = true;
                bound = true;
                let slot = if purpose {
                    &mut region.purpose
                } else {
                    &mut region.condition
                };
                *slot = Some(at..end);
                region.all.end = at;
            } else if token.has(Tags::RELATIVE)
                && at >= from
                && !token.is_any(&["what", "how", "why", "whether"])
            {
                let determiner = token.is("that")
                    && self.token(at + 1).is_some_and(|next| next.is_content())
                    && at == from;
                if !determiner {
                    if !keeps {
                        closed.get_or_insert(at);
                    }
                    bound = true;
                }
            } else if !keeps && token.is_any(&["what", "how", "why"]) {
                closed.get_or_insert(at);
                bound = true;
            } else if token.has(Tags::PREPOSITION) && !keeps && !phrase::quantity(self.tokens, at) {
                if at == from
                    && token.is_any(OBJECT_PREPOSITIONS)
                    && form != Forms::PARTICIPLE
                    && !copula
                {
                    region.preposition = Some(at);
                } else {
                    closed.get_or_insert(at);
                }
            }
            at += 1;
        }
        let stop = region.all.end;
        for range in [&mut region.condition, &mut region.purpose]
            .into_iter()
            .flatten()
        {
            let until = match region.next {
                Next::End(_) => end,
                Next::Verb(next) | Next::Auxiliary(next) | Next::Subject(next) => next,
            };
            range.end = self.trim_coordinators(range.start, until);
        }
        region.objects.end = closed.unwrap_or(stop).min(stop);
        if region.preposition.is_some() {
            region.objects.start = (from + 1).min(region.objects.end);
        }
        region
    }

    fn trim_coordinators(&self, from: usize, to: usize) -> usize {
        let mut to = to;
        while to > from
            && self.token(to - 1).is_some_and(|token| {
                token.is_comma() || token.has(Tags::COORDINATOR) || token.is("then")
            })
        {
            to -= 1;
        }
        to
    }

    /// Only a whole clause with a modal behind `,` or `and` ends a condition.
    fn ends_condition(&self, at: usize, end: usize) -> Option<Next> {
        (at < end && self.begins_clause(at, end) && self.starts_modal_clause(at, end))
            .then_some(Next::Subject(at))
    }

    /// What begins behind a comma or a coordinator.
    fn follows(
        &self,
        at: usize,
        end: usize,
        (form, finite): (Forms, Forms),
        bound: bool,
        copula: bool,
    ) -> Option<Next> {
        let token = self.token(at).filter(|_| at < end)?;
        if !bound {
            if !copula && self.verb_at(at, end, form) {
                return Some(Next::Verb(at));
            }
            if !copula && token.has(Tags::ADVERB) && self.verb_at(at + 1, end, form) {
                return Some(Next::Auxiliary(at));
            }
            if token.has(Tags::BE) || (token.has(Tags::MODAL) && !token.is_any(&["need", "needs"]))
            {
                return Some(Next::Auxiliary(at));
            }
            // `are assigned to applications and leave feedback`
            if (copula || form == Forms::PARTICIPLE) && self.verb_at(at, end, finite) {
                return Some(Next::Auxiliary(at));
            }
        }
        self.begins_clause(at, end).then_some(Next::Subject(at))
    }

    fn starts_modal_clause(&self, at: usize, end: usize) -> bool {
        self.finite_verb(at..end, true)
            .and_then(|verb| self.token(verb))
            .is_some_and(|token| token.has(Tags::MODAL))
    }

    /// Whether the word here reads as one more verb in that form.
    fn verb_at(&self, at: usize, end: usize, form: Forms) -> bool {
        let Some(verb) = self.verb(at) else {
            return false;
        };
        if !verb.forms.has(form)
            || self
                .token(at)
                .is_some_and(|token| token.has(Tags::DETERMINER))
        {
            return false;
        }
        if form == Forms::PARTICIPLE {
            // `requested, confirmed, cancelled`: states, unless something follows.
            return self.token(at + 1).is_some_and(|next| {
                at + 1 < end && (next.has(Tags::PREPOSITION) || next.has(Tags::ADVERB))
            });
        }
        if !verbs::is_also_noun(&verb.base) {
            return true;
        }
        let Some(next) = self.token(at + 1).filter(|_| at + 1 < end) else {
            return false;
        };
        let pronoun_follows = self.token(at + 2).is_some_and(|token| {
            token.has(Tags::PRONOUN) || token.has(Tags::DETERMINER) || token.has(Tags::POSSESSIVE)
        });
        next.has(Tags::DETERMINER)
            || next.has(Tags::POSSESSIVE)
            || next.has(Tags::PRONOUN)
            || next.has(Tags::QUANTIFIER)
            || next.kind == Kind::Number
            || verbs::takes_particle(&verb.base, &next.lower)
            || phrase::quantity(self.tokens, at + 1)
            || (next.is("by")
                && matches!(verb.base.as_str(), "filter" | "sort" | "search" | "group"))
            || (next.has(Tags::PREPOSITION) && pronoun_follows)
            || (next.is_content()
                && (form == Forms::BASE
                    || naming::is_plural(&next.lower)
                    || self
                        .token(at + 2)
                        .is_none_or(|t| t.kind != Kind::Word || t.has(Tags::PREPOSITION))))
            || (next.has(Tags::COORDINATOR)
                && self
                    .verb(at + 2)
                    .is_some_and(|verb| verb.forms.has(form) && !verbs::is_also_noun(&verb.base)))
    }

    /// Whether a condition begins here; `Some(true)` when it is a purpose.
    fn condition_at(&self, at: usize) -> Option<bool> {
        let token = self.token(at)?;
        let next = self.token(at + 1);
        let next_is = |words: &[&str]| next.is_some_and(|next| next.is_any(words));
        match token.lower.as_str() {
            "so" if next_is(&["that", "they", "i", "we"]) => Some(true),
            "because" => Some(true),
            "in" if next_is(&["order"]) && self.token(at + 2).is_some_and(|t| t.is("to")) => {
                Some(true)
            }
            "as" if next_is(&["soon", "long"]) => Some(false),
            "only" if next_is(&["if", "when"]) => Some(false),
            "once" => (next.is_some_and(|next| {
                next.has(Tags::DETERMINER) || next.has(Tags::PRONOUN) || next.has(Tags::POSSESSIVE)
            }))
            .then_some(false),
            "when" | "if" | "unless" | "while" | "whenever" => Some(false),
            "until" | "before" | "after" => Some(false),
            _ => None,
        }
    }

    /// The objects of a list of objects; an adverb behind one stays with it.
    fn objects(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut start = range.start;
        let mut depth = 0_usize;
        for at in range.clone() {
            let Some(token) = self.token(at) else { break };
            match token.lower.as_str() {
                "(" | "[" => depth += 1,
                ")" | "]" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && (token.is_comma() || token.has(Tags::COORDINATOR)) {
                found.push(start..at);
                start = at + 1;
            }
        }
        found.push(start..range.end);
        found.retain(|object| {
            self.tokens.get(object.clone()).is_some_and(|tokens| {
                tokens.iter().any(|token| {
                    token.kind != Kind::Mark
                        && (!token.has(Tags::ADVERB) || token.has(Tags::PRONOUN))
                })
            })
        });
        found
    }
}
