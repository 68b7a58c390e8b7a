//! Noun phrases: what they are about, whose it is, how many.

use crate::model::{analysis::Noun, naming};
use crate::spec::{
    lexicon::{
        nouns,
        small::{self, Tags},
        verbs::Forms,
    },
    token::{Kind, Token, slice},
};

/// The most words of a name.
const LONGEST_NAME: usize = 3;

/// A noun phrase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phrase {
    /// Its words without what describes them, the last one singular: `purchase order`.
    pub name: String,
    /// As written.
    pub text: String,
    /// Whether it stands in the plural.
    pub plural: bool,
    /// `their`, `own`, `my`.
    pub own: bool,
    /// `each`, `every`.
    pub each: bool,
    /// `all`, `any`, `every`.
    pub all: bool,
    /// Whose it is: `a member's role`, singular.
    pub of: Option<String>,
    /// What describes it: `published`, `new`.
    pub adjectives: Vec<String>,
    /// How many tokens it takes.
    pub width: usize,
}

impl Phrase {
    /// The last word: `order`.
    pub fn head(&self) -> &str {
        self.name.rsplit(' ').next().unwrap_or_default()
    }

    /// As a statement's object.
    pub fn as_noun(&self) -> Noun {
        Noun {
            head: self.head().to_owned(),
            text: self.text.clone(),
            plural: self.plural,
            own: self.own,
        }
    }

    /// Whether it names the product itself.
    pub fn is_product(&self) -> bool {
        nouns::is_product(self.head(), &self.text)
    }

    /// Whether nothing is named.
    pub fn is_empty(&self) -> bool {
        self.name.is_empty()
    }
}

/// Reads the noun phrase at the beginning of the tokens.
pub fn read(text: &str, tokens: &[Token]) -> Phrase {
    let mut phrase = Phrase::default();
    let mut names: Vec<&Token> = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let next = tokens.get(at + 1);
        if token.kind == Kind::Mark {
            if is_quote(token) || (token.is("'") && !names.is_empty()) {
                if token.is_any(&["'", "’"]) {
                    phrase.of = Some(compound(&mut phrase.adjectives, &names));
                    names.clear();
                }
                at += 1;
                continue;
            }
            break;
        }
        if names.is_empty() && quantity(tokens, at) {
            at += 1;
            continue;
        }
        if token.kind == Kind::Number {
            if !names.is_empty() {
                break;
            }
            at += 1;
            continue;
        }
        if let Some(owner) = token.lower.strip_suffix("'s") {
            let mut words: Vec<String> = names.iter().map(|name| name.lower.clone()).collect();
            words.push(owner.to_owned());
            phrase.of = Some(naming::singular(&words.join(" ")));
            names.clear();
            at += 1;
            continue;
        }
        if names.is_empty() && (token.has(small::BEFORE_NOUN) || token.is("not")) {
            note(&mut phrase, token);
            // `the second one`, `new`: an adjective alone may be the name after all.
            if !token.has(Tags::DETERMINER) && small::is_adjective(&token.lower) {
                if next.is_some_and(continues_name) {
                    phrase.adjectives.push(token.lower.clone());
                } else {
                    names.push(token);
                }
            }
            at += 1;
            continue;
        }
        let auxiliary = token.is_any(&["has", "have", "had", "does", "do", "did"]);
        if auxiliary || token.has(small::FUNCTION_WORD) && !stands_as_noun(token, names.is_empty())
        {
            break;
        }
        names.push(token);
        at += 1;
    }
    phrase.width = at;
    phrase.text = slice(text, &tokens[..at])
        .trim_matches(['"', '“', '”'])
        .to_owned();
    if let Some(last) = names.last() {
        phrase.plural = naming::is_plural(&last.lower);
        phrase.name = compound(&mut phrase.adjectives, &names);
    }
    phrase
}

/// Whether a word belongs to a bound before a number: `up to 8`, `at least 3`.
pub fn quantity(tokens: &[Token], at: usize) -> bool {
    tokens[at].is_any(&["up", "to", "at", "least", "most", "more", "less", "than"])
        && tokens
            .get(at + 1..(at + 3).min(tokens.len()))
            .is_some_and(|next| {
                let number = next.iter().position(|token| token.kind == Kind::Number);
                number.is_some_and(|number| {
                    next[..number]
                        .iter()
                        .all(|token| token.is_any(&["to", "least", "most", "than"]))
                })
            })
}

/// Quotation marks around a name.
fn is_quote(token: &Token) -> bool {
    token.is_any(&["\"", "“", "”", "„", "«", "»"])
}

fn continues_name(token: &Token) -> bool {
    token.is_content() || is_quote(token)
}

/// Words that are small words elsewhere but nouns here.
fn stands_as_noun(token: &Token, first: bool) -> bool {
    first && token.is_any(&["it", "them", "one", "everything", "others", "needs", "need"])
}

fn note(phrase: &mut Phrase, token: &Token) {
    match token.lower.as_str() {
        "own" | "my" | "their" | "his" | "her" | "your" => phrase.own = true,
        "each" | "every" => phrase.each = true,
        "all" | "any" => phrase.all = true,
        _ => {}
    }
}

/// The name: describing words in front go to the adjectives, the last word stands in the singular.
fn compound(adjectives: &mut Vec<String>, names: &[&Token]) -> String {
    let mut names = names;
    while let [first, rest @ ..] = names {
        let describes = !rest.is_empty()
            && (small::is_adjective(&first.lower)
                || first.verb.as_ref().is_some_and(|verb| {
                    verb.forms.has(Forms::PARTICIPLE) && !verb.forms.has(Forms::BASE)
                }));
        if !describes {
            break;
        }
        adjectives.push(first.lower.clone());
        names = rest;
    }
    let from = names.len().saturating_sub(LONGEST_NAME);
    let words: Vec<&str> = names[from..]
        .iter()
        .map(|name| name.lower.as_str())
        .collect();
    naming::singular(&words.join(" "))
}

/// Every noun phrase of a stretch of tokens with the preposition before it.
pub fn all_with_prepositions(text: &str, tokens: &[Token]) -> Vec<(String, Phrase)> {
    let mut found = Vec::new();
    let mut preposition = String::new();
    let mut at = 0;
    while at < tokens.len() {
        let token = &tokens[at];
        if token.has(Tags::PREPOSITION) {
            preposition.clone_from(&token.lower);
            at += 1;
            continue;
        }
        let phrase = read(text, &tokens[at..]);
        if phrase.width == 0 {
            at += 1;
            continue;
        }
        at += phrase.width;
        if !phrase.is_empty() {
            found.push((preposition.clone(), phrase));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::token::tokens;

    #[test]
    fn phrases_name_one_thing() {
        for (text, name, plural, own, of) in [
            ("their own quizzes", "quiz", true, true, None),
            (
                "a draft purchase order",
                "purchase order",
                false,
                false,
                None,
            ),
            (
                "published articles of the team",
                "article",
                true,
                false,
                None,
            ),
            ("a member's role", "role", false, false, Some("member")),
            ("all stock movements", "stock movement", true, false, None),
            ("opening hours", "opening hour", true, false, None),
            ("the first 10 results", "result", true, false, None),
            (
                "\"My Appointments\" page",
                "appointments page",
                false,
                true,
                None,
            ),
            ("and so on", "", false, false, None),
        ] {
            let phrase = read(text, &tokens(text));
            let got = (
                phrase.name.as_str(),
                phrase.plural,
                phrase.own,
                phrase.of.as_deref(),
            );
            assert_eq!(got, (name, plural, own, of), "{text}");
        }
    }
}
