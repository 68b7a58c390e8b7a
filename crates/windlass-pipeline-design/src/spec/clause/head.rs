//! Where the subject ends and the verb begins.

use std::ops::Range;

use super::{Parser, lead::Lead, modal::Auxiliary};
use crate::model::naming;
use crate::spec::{
    lexicon::{
        nouns,
        small::Tags,
        verbs::{self, Forms},
    },
    phrase::{self, Phrase},
    token::Kind,
};

/// How far ahead another subject is looked for.
const REACH: usize = 12;

/// A subject and what stands before its verb.
pub(super) struct Head {
    /// Who; one empty phrase for an imperative, several for `teachers and admins can …`.
    pub subjects: Vec<Phrase>,
    pub auxiliary: Auxiliary,
    /// `As a teacher, I want to`.
    pub story: Option<String>,
    /// The form the verb has, unless a modal asks for the base form.
    pub form: Forms,
}

impl Parser<'_> {
    /// The head of the clause that begins at the range.
    pub(super) fn head(&self, range: Range<usize>, lead: &Lead, first: bool) -> Option<Head> {
        if first && let Some((text, role)) = &lead.story {
            let auxiliary = self.auxiliary(range.start + 1, range.end);
            return Some(Head {
                subjects: vec![role.clone()],
                story: Some(text.clone()),
                auxiliary,
                form: Forms::BASE,
            });
        }
        if let Some(form) = self.verb_first(&range) {
            return Some(Head {
                subjects: vec![Phrase::default()],
                story: None,
                auxiliary: self.auxiliary(range.start, range.end),
                form,
            });
        }
        let verb = self.finite_verb(range.clone(), false);
        if self.imperative(range.start, range.end)
            && verb.is_none_or(|at| !self.only_nouns(range.start, at))
        {
            return Some(Head {
                subjects: vec![Phrase::default()],
                story: None,
                auxiliary: self.auxiliary(range.start, range.end),
                form: Forms::BASE,
            });
        }
        let verb = verb?;
        let form = if self.takes_base(range.start, verb) {
            Forms::BASE
        } else {
            Forms::THIRD
        };
        let mut auxiliary = self.auxiliary(verb, range.end);
        // `Only employees may …`
        auxiliary.modal.only |= self
            .token(range.start)
            .is_some_and(|token| token.is("only"));
        auxiliary.modal.negated |= self
            .token(range.start)
            .is_some_and(|token| token.is_any(&["nobody", "no-one", "no"]));
        Some(Head {
            subjects: self.subjects(range.start..verb, auxiliary.modal.present),
            story: None,
            auxiliary,
            form,
        })
    }

    /// A modal or a verb in the third person without a subject: `Must use X`, `Approves orders`.
    fn verb_first(&self, range: &Range<usize>) -> Option<Forms> {
        let first = self.token(range.start)?;
        let next = self.token(range.start + 1).filter(|_| range.len() > 1)?;
        if first.has(Tags::MODAL) && !first.is_any(&["need", "needs", "will", "can"]) {
            return Some(Forms::BASE);
        }
        let verb = first.verb.as_ref()?;
        let only_third = verb.forms.has(Forms::THIRD) && !verb.forms.has(Forms::BASE);
        let object = next.has(Tags::DETERMINER)
            || next.has(Tags::POSSESSIVE)
            || next.has(Tags::QUANTIFIER)
            || next.kind == Kind::Number
            || next.is_content() && !next.has(Tags::BE);
        // `Posts have tags`: the first word is a noun after all.
        let verb_follows = next.verb.as_ref().is_some_and(|next| {
            !verbs::is_also_noun(&next.base)
                && (next.forms.has(Forms::BASE) || next.forms.has(Forms::THIRD))
        });
        if verb_follows {
            return None;
        }
        let sure = !verbs::is_also_noun(&verb.base);
        let list = next.has(Tags::COORDINATOR) || next.is_comma();
        (only_third && !self.compound_subject(range.start + 1) && (object || (sure && list)))
            .then_some(Forms::THIRD)
    }

    fn subjects(&self, range: Range<usize>, modal: bool) -> Vec<Phrase> {
        let mut end = range.end;
        while end > range.start
            && self
                .token(end - 1)
                .is_some_and(|token| token.has(Tags::ADVERB))
        {
            end -= 1;
        }
        let whole = || {
            let tokens = self.tokens.get(range.start..end).unwrap_or_default();
            let mut phrase = phrase::read(self.text, tokens);
            self.slice(range.start..end).clone_into(&mut phrase.text);
            phrase
        };
        let mut parts = Vec::new();
        let mut start = range.start;
        for at in range.start..=end {
            let cut = at == end
                || self
                    .token(at)
                    .is_some_and(|token| token.is_comma() || token.has(Tags::COORDINATOR));
            if cut {
                let phrase =
                    phrase::read(self.text, self.tokens.get(start..at).unwrap_or_default());
                if start < at && phrase.width == at - start && !phrase.is_empty() {
                    parts.push(phrase);
                } else if start < at {
                    return vec![whole()];
                }
                start = at + 1;
            }
        }
        // `A teacher and a student write` cannot be cut without another verb form.
        let each_stands_alone = modal || parts.iter().all(|part| part.plural);
        if parts.len() > 1 && each_stands_alone {
            parts
        } else {
            vec![whole()]
        }
    }

    /// The first token of the predicate: a modal, a form of `be`, or a verb that agrees.
    pub(super) fn finite_verb(&self, range: Range<usize>, strict: bool) -> Option<usize> {
        let mut depth = 0_usize;
        for at in range.clone() {
            let token = self.token(at)?;
            match token.lower.as_str() {
                "(" | "[" => depth += 1,
                ")" | "]" => {
                    depth = depth.saturating_sub(1);
                    continue;
                }
                _ => {}
            }
            if depth > 0 {
                continue;
            }
            if at > range.start {
                if strict && (token.is_comma() || token.has(Tags::COORDINATOR)) {
                    return None;
                }
                if token.has(Tags::RELATIVE) && !self.is_determiner(at) {
                    return self.modal_behind_relative(at, range.end);
                }
                if token.has(Tags::MODAL) && !self.need_as_verb(at) {
                    return Some(at);
                }
                if token.has(Tags::BE) && !token.is_any(&["being", "been"]) {
                    return Some(at);
                }
                if self.agrees(range.start, at, strict) {
                    return Some(at);
                }
            }
        }
        None
    }

    /// `the person who added an expense can change it`: the modal behind the first verb.
    fn modal_behind_relative(&self, relative: usize, end: usize) -> Option<usize> {
        if !self.token(relative)?.is_any(&["who", "that", "which"]) {
            return None;
        }
        let is_verb = |at: &usize| {
            self.token(*at).is_some_and(|token| {
                token.has(Tags::MODAL) || token.has(Tags::BE) || token.verb.is_some()
            })
        };
        let first = (relative + 1..end).find(is_verb)?;
        (first + 1..end)
            .take_while(|at| !self.token(*at).is_some_and(super::Token::is_comma))
            .skip(1)
            .find(|at| {
                self.token(*at).is_some_and(|token| token.has(Tags::MODAL))
                    && !self.need_as_verb(*at)
            })
    }

    /// `need` and `needs` are verbs of their own unless `to` follows.
    fn need_as_verb(&self, at: usize) -> bool {
        self.token(at)
            .is_some_and(|token| token.is_any(&["need", "needs"]))
            && !self.token(at + 1).is_some_and(|next| next.is("to"))
    }

    fn is_determiner(&self, at: usize) -> bool {
        self.token(at)
            .is_some_and(|token| token.is_any(&["that", "this"]))
            && at
                .checked_sub(1)
                .and_then(|before| self.token(before))
                .is_none_or(|before| before.kind == Kind::Mark)
    }

    /// Whether the word at `at` is a verb that fits the subject before it.
    fn agrees(&self, from: usize, at: usize, strict: bool) -> bool {
        let mut before = at - 1;
        while before > from
            && self
                .token(before)
                .is_some_and(|token| token.has(Tags::ADVERB))
        {
            before -= 1;
        }
        let (Some(previous), Some(token)) = (self.token(before), self.token(at)) else {
            return false;
        };
        let after_noun = previous.is_content()
            || previous.kind == Kind::Number
            || previous.has(Tags::PRONOUN)
            || previous.is_any(&[")", "\"", "”"]);
        if !after_noun || token.kind != Kind::Word {
            return false;
        }
        let base_form = self.takes_base(from, at);
        let Some(verb) = &token.verb else {
            return self.unknown_verb(from, at);
        };
        let wanted = if base_form { Forms::BASE } else { Forms::THIRD };
        if !verb.forms.has(wanted) {
            return false;
        }
        if !verbs::is_also_noun(&verb.base) {
            return true;
        }
        let Some(next) = self.token(at + 1) else {
            return !strict && base_form && nouns::is_person(&naming::singular(&previous.lower));
        };
        let begins_object = (next.has(Tags::DETERMINER) && !self.relative_at(at + 1))
            || next.has(Tags::POSSESSIVE)
            || next.has(Tags::QUANTIFIER)
            || (next.has(Tags::PRONOUN) && !self.relative_at(at + 1))
            || next.kind == Kind::Number;
        let person = nouns::is_person(&naming::singular(&previous.lower))
            || self
                .known
                .people
                .contains(&naming::singular(&previous.lower));
        let loose = (!strict || person)
            && (next.is_content()
                || (person
                    && (next.has(Tags::PREPOSITION)
                        || next.has(Tags::COORDINATOR)
                        || next.is_comma())))
            && !self.compound_subject(at + 1);
        begins_object || loose
    }

    /// Whether `that`, `who`, `which` begins a clause about the noun before it.
    fn relative_at(&self, at: usize) -> bool {
        self.token(at)
            .is_some_and(|token| token.is_any(&["that", "which", "who"]))
            && self.token(at + 1).is_some_and(|next| {
                next.verb.is_some() || next.has(Tags::MODAL) || next.has(Tags::BE)
            })
    }

    /// Whether nouns continue to a modal or a form of `be`: then the word before was a noun, too.
    fn compound_subject(&self, from: usize) -> bool {
        (from..from + 4)
            .map_while(|at| self.token(at))
            .find(|token| !token.is_content())
            .is_some_and(|token| token.has(Tags::MODAL) || token.has(Tags::BE))
    }

    /// After people, a word that is nothing else is what they do: `Riders hail cabs`.
    fn unknown_verb(&self, from: usize, at: usize) -> bool {
        let (Some(people), Some(token), Some(next)) =
            (self.token(at - 1), self.token(at), self.token(at + 1))
        else {
            return false;
        };
        let person = naming::singular(&people.lower);
        at - from <= 3
            && naming::is_plural(&people.lower)
            && (nouns::is_known_person(&person) || self.known.people.contains(&person))
            && token.is_content()
            && !token.is_capitalised()
            && !crate::spec::lexicon::small::is_adjective(&token.lower)
            && !naming::is_plural(&token.lower)
            && (next.has(Tags::DETERMINER) || next.has(Tags::POSSESSIVE) || next.is_content())
    }

    /// Whether the subject takes the base form: plural, several, `they`.
    fn takes_base(&self, from: usize, to: usize) -> bool {
        let tokens = self.tokens.get(from..to).unwrap_or_default();
        let head_end = tokens
            .iter()
            .position(|token| token.has(Tags::PREPOSITION))
            .filter(|at| *at > 0)
            .unwrap_or(tokens.len());
        let head = &tokens[..head_end];
        if head.iter().any(|token| token.has(Tags::COORDINATOR)) {
            return true;
        }
        let Some(last) = head
            .iter()
            .rev()
            .find(|token| token.kind == Kind::Word && !token.has(Tags::ADVERB))
        else {
            return false;
        };
        if last.has(Tags::PRONOUN) {
            return last.is_any(&["they", "we", "you", "i", "these", "those", "ones"]);
        }
        if head.iter().any(|token| token.is_any(&["each", "every"])) {
            return false;
        }
        naming::is_plural(&last.lower) || last.is_any(&["staff", "people"])
    }

    /// Whether a clause with a subject of its own begins here.
    pub(super) fn begins_clause(&self, from: usize, end: usize) -> bool {
        let Some(first) = self.token(from).filter(|_| from < end) else {
            return false;
        };
        let starts = first.is_content()
            || first.has(Tags::DETERMINER)
            || first.has(Tags::POSSESSIVE)
            || first.has(Tags::QUANTIFIER)
            || first.has(Tags::PRONOUN)
            || first.has(Tags::NUMBER_WORD)
            || first.kind == Kind::Number;
        starts
            && !first.is_any(&["what", "how", "which", "who"])
            && self
                .finite_verb(from..end.min(from + REACH), true)
                .is_some()
    }

    /// Whether the words here are an order.
    pub(super) fn imperative(&self, at: usize, end: usize) -> bool {
        let mut at = at;
        while at < end
            && self
                .token(at)
                .is_some_and(|token| token.is_any(&["optionally", "automatically", "also", "not"]))
        {
            at += 1;
        }
        let Some(verb) = self.verb(at).filter(|_| at < end) else {
            return false;
        };
        if !verb.forms.has(Forms::BASE) {
            return false;
        }
        let Some(next) = self.token(at + 1).filter(|_| at + 1 < end) else {
            return !verbs::is_also_noun(&verb.base);
        };
        if !verbs::is_also_noun(&verb.base) {
            return !next.has(Tags::BE) && !next.has(Tags::MODAL);
        }
        let particle = verbs::takes_particle(&verb.base, &next.lower);
        let nominal = nouns::nominal_verb(&naming::singular(&next.lower)).is_some();
        let object = next.has(Tags::DETERMINER)
            || next.has(Tags::POSSESSIVE)
            || next.has(Tags::QUANTIFIER)
            || next.has(Tags::COORDINATOR)
            || next.is_comma()
            || next.kind == Kind::Number
            || (next.is_content() && !nominal);
        particle || object
    }

    /// Whether only nouns stand between: `Search results appear`.
    fn only_nouns(&self, from: usize, to: usize) -> bool {
        to > from + 1
            && self.tokens.get(from..to).is_some_and(|tokens| {
                let end = tokens
                    .iter()
                    .position(|token| token.has(Tags::PREPOSITION))
                    .unwrap_or(tokens.len());
                tokens[..end].iter().all(|token| token.is_content())
            })
    }
}
