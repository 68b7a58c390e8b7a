//! Lists of attributes: their names, types, values.

use crate::model::{architecture::FieldType, naming};
use crate::spec::{
    lexicon::{
        nouns,
        small::{self, Tags},
        units::{self, Measure},
    },
    phrase::{self, Phrase},
    token::{self, Kind, Token, slice},
};

/// One item of a list of attributes; it may turn out to be another entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// As a noun phrase.
    pub phrase: Phrase,
    /// snake_case.
    pub name: String,
    /// As written.
    pub text: String,
    /// The type its name, unit or values say.
    pub kind: FieldType,
    /// Whether anything says so; otherwise the type is only a guess.
    pub typed: bool,
    /// Listed values.
    pub values: Vec<String>,
    /// Stated to be unique.
    pub unique: bool,
    /// Stated to be optional.
    pub optional: bool,
    /// `many`, `several`, plural.
    pub many: bool,
}

/// Types by the last word of a name.
const BY_WORD: &[(FieldType, &str)] = &[
    (
        FieldType::String,
        "email e-mail mail url link website phone telephone mobile fax image photo picture avatar logo icon video audio \
         file attachment name title slug code sku barcode address street city country zip postcode color colour \
         password username nickname label tag emoji symbol currency language timezone gender key isbn iban \
         headline caption category type status state role subject genre brand model location aisle shelf \
         weekday specialty speciality number",
    ),
    (
        FieldType::Text,
        "description body text content note notes comment comments summary bio biography message details instructions \
         reason abstract feedback remarks explanation answer ingredients terms paragraph markdown address_text \
         agenda transcript",
    ),
    (
        FieldType::Decimal,
        "price amount rate cost fee total balance salary wage tax discount weight height width length distance \
         percentage percent latitude longitude temperature budget revenue value average interest gpa ratio",
    ),
    (
        FieldType::Integer,
        "count quantity age points point score level floor capacity stock size stars rank position order limit \
         year minutes hours days seconds seats rooms pages duration views likes votes attempts rating priority \
         threshold mileage servings guests people participants calories reps sets kilometres",
    ),
    (
        FieldType::Datetime,
        "time timestamp at moment datetime when",
    ),
    (
        FieldType::Date,
        "date birthday birthdate deadline day dob birth anniversary",
    ),
    (
        FieldType::Boolean,
        "flag visible active enabled public private featured verified available",
    ),
    (
        FieldType::Json,
        "settings preferences metadata options coordinates",
    ),
];

/// Words for types, in brackets or in a column.
const TYPE_WORDS: &[(FieldType, &str)] = &[
    (
        FieldType::String,
        "string varchar char url email phone image file short_text link",
    ),
    (
        FieldType::Text,
        "text longtext markdown long_text rich_text textarea",
    ),
    (
        FieldType::Integer,
        "integer int whole_number count bigint smallint",
    ),
    (
        FieldType::Decimal,
        "decimal number float double money currency numeric percent percentage price",
    ),
    (
        FieldType::Boolean,
        "boolean bool yes/no true/false checkbox flag",
    ),
    (FieldType::Date, "date day"),
    (FieldType::Datetime, "datetime timestamp time timestamptz"),
    (FieldType::Json, "json jsonb object list array"),
    (FieldType::Uuid, "uuid id"),
];

/// The type a word names, for a column or a remark in brackets.
pub fn by_type_word(word: &str) -> Option<FieldType> {
    let word = word.trim().to_lowercase().replace(' ', "_");
    TYPE_WORDS
        .iter()
        .find(|(_, words)| words.split_whitespace().any(|known| known == word))
        .map(|(kind, _)| *kind)
}

/// The type a name says; `None` when it says nothing.
pub fn by_name(name: &str) -> Option<FieldType> {
    let words: Vec<&str> = name.split('_').collect();
    let (first, last) = (words.first()?, words.last()?);
    if matches!(*first, "is" | "has" | "can") && words.len() > 1 {
        return Some(FieldType::Boolean);
    }
    if *first == "number" && words.get(1) == Some(&"of") {
        return Some(FieldType::Integer);
    }
    if *first == "date" && words.get(1) == Some(&"of") {
        return Some(FieldType::Date);
    }
    // `reorder level`, `start time`: the whole name first, then its last word.
    [name, last, &naming::singular(last)]
        .iter()
        .find_map(|word| {
            BY_WORD
                .iter()
                .find(|(_, words)| words.split_whitespace().any(|known| known == *word))
                .map(|(kind, _)| *kind)
        })
}

/// Reads a list: `a title, a time limit in minutes and a status (draft or published)`.
pub fn items(text: &str) -> Vec<Item> {
    let tokens = token::tokens(text.trim().trim_end_matches('.'));
    let text = text.trim();
    let mut found: Vec<Item> = Vec::new();
    let mut optional = false;
    for part in parts(&tokens) {
        let part = &tokens[part];
        if part.len() == 1 && part[0].is_any(&["optionally", "possibly"]) {
            optional = true;
            continue;
        }
        if let Some(mut item) = item(text, part) {
            item.optional |= optional;
            optional = false;
            found.push(item);
        }
    }
    found
}

/// The items as token ranges: cut at commas and `and` outside brackets. A colon makes all that
/// follows values of the item before it; behind `either` and `can be`, commas continue to the `or`.
fn parts(tokens: &[Token]) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut depth = 0_usize;
    let mut values = false;
    let mut last_value = false;
    for (at, token) in tokens.iter().enumerate() {
        match token.lower.as_str() {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            ":" if depth == 0 && at > 0 => {
                found.push(start..tokens.len());
                return found;
            }
            "either" => values = true,
            "be" => values |= at > 0 && tokens[at - 1].has(Tags::MODAL),
            "of" => values |= at > 0 && tokens[at - 1].is("one"),
            "or" if values => {
                last_value = true;
                continue;
            }
            _ => {}
        }
        let separates = token.is_comma() || token.is(";") || token.has(Tags::COORDINATOR);
        if depth > 0 || !separates || (values && !last_value) {
            continue;
        }
        found.push(start..at);
        start = at + 1;
        values = false;
        last_value = false;
    }
    found.push(start..tokens.len());
    found.retain(|range| !range.is_empty());
    found
}

fn item(text: &str, tokens: &[Token]) -> Option<Item> {
    let mut tokens = tokens;
    let mut optional = false;
    let mut many = false;
    while let Some(first) = tokens.first() {
        if first.is_any(&[
            "optionally",
            "optional",
            "and",
            "also",
            "possibly",
            "plus",
            "its",
            "of",
        ]) {
            optional |= first.is_any(&["optionally", "optional", "possibly"]);
        } else if first.is_any(&["many", "several", "multiple", "some"]) {
            many = true;
        } else if !(first.has(Tags::DETERMINER)
            || first.is_any(&["one", "unique", "required", "mandatory", "exactly"]))
        {
            break;
        }
        if first.is("unique") {
            let mut item = item(text, &tokens[1..])?;
            item.unique = true;
            item.optional |= optional;
            return Some(item);
        }
        tokens = &tokens[1..];
    }
    if tokens.first().is_some_and(|token| token.is("optional")) {
        optional = true;
        tokens = &tokens[1..];
    }
    let first = tokens.first()?;
    if first.is("whether") {
        return Some(boolean(text, tokens));
    }
    let name_end = name_end(tokens);
    let naming_tokens = &tokens[..name_end];
    let words: Vec<&str> = naming_tokens
        .iter()
        .filter(|token| {
            token.kind != Kind::Mark && !token.is_any(&["own", "the", "a", "an", "their", "unique"])
        })
        .map(|token| token.lower.as_str())
        .collect();
    if words.is_empty() {
        return None;
    }
    let rest = &tokens[name_end..];
    let phrase = phrase::read(text, tokens);
    let mut name = naming::snake(&words.join(" "));
    let remark = remark(text, rest);
    let unit = unit(rest);
    let named = words.split(|word| *word == "of").next().unwrap_or_default();
    let plural = named.last().is_some_and(|last| naming::is_plural(last));
    let mut item = Item {
        kind: FieldType::String,
        typed: false,
        values: remark.values,
        unique: remark.unique,
        optional: optional || remark.optional,
        many: many || plural,
        text: slice(text, tokens).to_owned(),
        phrase,
        name: String::new(),
    };
    let kind = if item.values.is_empty() {
        remark
            .kind
            .or(unit.as_ref().map(|(kind, _)| *kind))
            .or_else(|| by_name(&name))
    } else {
        Some(FieldType::Enum)
    };
    if let Some((_, Some(unit))) = unit {
        name = format!("{name}_{unit}");
    }
    item.typed = kind.is_some();
    item.kind = kind.unwrap_or(FieldType::String);
    item.name = name;
    Some(item)
}

/// `whether it is correct` → `is_correct`
fn boolean(text: &str, tokens: &[Token]) -> Item {
    let words: Vec<&str> = tokens
        .iter()
        .skip(1)
        .filter(|token| {
            token.kind == Kind::Word
                && !token.has(Tags::DETERMINER)
                && (token.is("one") || !token.has(Tags::PRONOUN))
        })
        .map(|token| token.lower.as_str())
        .collect();
    let known = words
        .iter()
        .position(|word| matches!(*word, "is" | "has" | "are" | "can" | "was"));
    let words = &words[known.unwrap_or(0)..];
    let name = match words.first() {
        Some(&("is" | "has" | "can")) => naming::snake(&words.join(" ")),
        Some(&("are" | "was")) => naming::snake(&format!("is {}", words[1..].join(" "))),
        _ => naming::snake(&format!("is {}", words.join(" "))),
    };
    Item {
        phrase: Phrase::default(),
        name,
        text: slice(text, tokens).to_owned(),
        kind: FieldType::Boolean,
        typed: true,
        values: Vec::new(),
        unique: false,
        optional: false,
        many: false,
    }
}

/// Where the name of an attribute ends: at a bracket, a preposition, `that`; `date of birth` and
/// `moved at` continue.
fn name_end(tokens: &[Token]) -> usize {
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let next = tokens.get(at + 1);
        if token.kind == Kind::Mark && !token.is_any(&["\"", "“", "”"]) {
            break;
        }
        if token.is("of")
            && next.is_some_and(|next| next.is_content() && next.kind == Kind::Word)
            && at > 0
        {
            at += 1;
            continue;
        }
        if token.is("at") && at > 0 && next.is_none_or(|next| next.kind == Kind::Mark) {
            at += 1;
            continue;
        }
        let small = token.has(Tags::PREPOSITION)
            || token.has(Tags::RELATIVE)
            || token.has(Tags::BE)
            || token.has(Tags::CONDITION);
        if small && at > 0 {
            break;
        }
        at += 1;
    }
    at
}

/// What is said of an attribute behind its name.
#[derive(Default)]
struct Remark {
    values: Vec<String>,
    unique: bool,
    optional: bool,
    kind: Option<FieldType>,
}

fn remark(text: &str, rest: &[Token]) -> Remark {
    let mut remark = Remark::default();
    let said = |word: &str| rest.iter().any(|token| token.is(word));
    remark.unique = said("unique") && !said("not");
    remark.optional = said("optional") || said("optionally");
    if let Some(open) = rest.iter().position(|token| token.is("(")) {
        let close = rest
            .iter()
            .rposition(|token| token.is(")"))
            .filter(|close| *close > open)
            .unwrap_or(rest.len());
        let inner = &rest[open + 1..close];
        let inner_text = slice(text, inner);
        remark.kind = by_type_word(inner_text);
        if remark.kind.is_none() && is_list(inner) {
            remark.values = values(text, inner);
        }
        return remark;
    }
    if rest.first().is_some_and(|token| token.is(":")) && is_list(&rest[1..]) {
        remark.values = values(text, &rest[1..]);
    } else if let Some(at) = rest
        .iter()
        .position(|token| token.is_any(&["either", "of"]) || token.is("be"))
    {
        let behind = &rest[at + 1..];
        let one_of = rest
            .get(at.wrapping_sub(1))
            .is_some_and(|token| token.is("one"));
        if (rest[at].is_any(&["either", "be"]) || one_of) && is_list(behind) {
            remark.values = values(text, behind);
        }
    }
    remark
}

/// Whether words in brackets list values rather than explain.
fn is_list(tokens: &[Token]) -> bool {
    let separated = tokens
        .iter()
        .any(|token| token.is_any(&[",", "or", "/", "|"]) || token.text.contains('/'));
    let explains = tokens.first().is_some_and(|token| {
        token.is_any(&[
            "e.g", "e.g.", "for", "like", "such", "i.e", "in", "max", "min", "at", "up",
            "optional", "unique", "required", "see", "not",
        ])
    }) || tokens
        .iter()
        .any(|token| token.has(Tags::MODAL) || token.is_any(&["is", "are", "characters"]));
    separated && !explains
}

fn values(text: &str, tokens: &[Token]) -> Vec<String> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut take = |range: std::ops::Range<usize>| {
        let value = slice(text, &tokens[range])
            .trim()
            .trim_matches(['"', '“', '”', '\'', '`', '.'])
            .trim()
            .to_owned();
        if !value.is_empty() && !found.contains(&value) {
            found.push(value);
        }
    };
    for (at, token) in tokens.iter().enumerate() {
        if token.is_any(&[",", "or", "and", "|", "/"]) {
            take(start..at);
            start = at + 1;
        }
    }
    take(start..tokens.len());
    // `planned/active/done` is one word; `single choice, true/false` keeps its slash.
    if let [one] = found.as_slice()
        && one.contains('/')
    {
        return one.split('/').map(str::to_owned).collect();
    }
    found
}

/// `in minutes`: the type, and the unit as a part of the name.
fn unit(rest: &[Token]) -> Option<(FieldType, Option<String>)> {
    let at = rest.iter().position(|token| token.is("in"))?;
    let unit = rest.get(at + 1)?;
    let kind = match units::measure(&unit.lower)? {
        Measure::Time | Measure::Size | Measure::Load => FieldType::Integer,
        Measure::Money | Measure::Share => FieldType::Decimal,
    };
    let name = (unit.lower.len() > 2)
        .then(|| naming::snake(&naming::plural(&naming::singular(&unit.lower))));
    Some((kind, name))
}

impl Item {
    /// Whether the item names an attribute by its own word, so that it is no thing of its own.
    pub fn is_attribute(&self) -> bool {
        let head = self.phrase.head();
        !self.values.is_empty()
            || self.kind == FieldType::Boolean && self.phrase.is_empty()
            || nouns::is_attribute(head)
            || (self.typed && !self.many)
            || small::is_adjective(head)
            || (self.typed
                && matches!(
                    self.kind,
                    FieldType::Integer | FieldType::Decimal | FieldType::Text
                ))
    }
}

#[cfg(test)]
#[path = "fields_tests.rs"]
mod tests;
