//! Things the product keeps.
//!
//! Objects of create, read, update and delete; `X has …`; `each X …`; `X with a, b and c`; data
//! sections. Parts of the screen and bare actors are none. Names are singular PascalCase; another
//! word for the same thing only where the spec links the two.

use std::collections::{BTreeMap, BTreeSet};

use super::fields::{self, Item};
use crate::model::{
    analysis::{Entity, StatedField, VerbKind},
    architecture::FieldType,
    naming,
    strategy::Priority,
};
use crate::spec::{
    lexicon::nouns,
    people::{self, People},
    phrase::Phrase,
    reading::Reading,
    statements::Draft,
    table::Row,
};

/// How sure it is that a noun names a thing of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Evidence {
    /// Read or listed.
    Read,
    /// Created, changed, deleted.
    Made,
    /// Said to have something or to belong to something.
    Data,
}

/// A list of attributes of a noun.
pub struct Kept {
    /// Whose.
    pub owner: Phrase,
    /// What.
    pub items: Vec<Item>,
    /// Where.
    pub span: String,
}

/// Entities and the nouns that name them.
#[derive(Default)]
pub struct Entities {
    /// In the order of the text.
    pub all: Vec<Entity>,
    by_noun: BTreeMap<String, usize>,
    by_name: BTreeMap<String, usize>,
    by_value: BTreeMap<String, (usize, String)>,
}

impl Entities {
    /// The entity a phrase names: by its name, the last two words, the last word.
    pub fn of(&self, phrase: &Phrase) -> Option<&str> {
        if phrase.is_empty() {
            return None;
        }
        self.named(&phrase.name)
            .or_else(|| self.named(phrase.name.split_once(' ')?.1))
            .or_else(|| self.named(phrase.head()))
            .or_else(|| {
                self.by_value
                    .get(&phrase.name)
                    .map(|(at, _)| self.all[*at].name.as_str())
            })
    }

    /// The entity of a noun.
    pub fn named(&self, noun: &str) -> Option<&str> {
        self.by_noun.get(noun).map(|at| self.all[*at].name.as_str())
    }

    /// The entity of that PascalCase name.
    pub fn get(&self, name: &str) -> Option<&Entity> {
        self.by_name.get(name).map(|at| &self.all[*at])
    }

    /// The field that lists a word as a value of that entity: `published`.
    pub fn field_of_value(&self, entity: &str, value: &str) -> Option<(String, String)> {
        let entity = self.get(entity)?;
        entity.fields.iter().find_map(|field| {
            field
                .values
                .iter()
                .find(|known| known.to_lowercase() == value)
                .map(|known| (field.name.clone(), known.clone()))
        })
    }

    /// Adds a field unless the entity has it.
    pub fn add_field(&mut self, entity: &str, field: StatedField) {
        if let Some(at) = self.by_name.get(entity) {
            merge(&mut self.all[*at].fields, field);
        }
    }
}

/// Everything that is listed as kept.
pub fn kept(readings: &[Reading], drafts: &[Draft]) -> Vec<Kept> {
    let mut found = Vec::new();
    for draft in drafts
        .iter()
        .filter(|draft| draft.priority != Priority::Wont)
    {
        let span = readings[draft.reading].id.clone();
        if let Some(list) = &draft.list {
            let items = fields::items(list);
            let attributes = draft.kind == VerbKind::Keep || items.iter().any(Item::is_attribute);
            if attributes && !items.is_empty() {
                found.push(Kept {
                    owner: draft.object.clone(),
                    items,
                    span,
                });
            }
        } else if let Some(Row::Field {
            name, kind, note, ..
        }) = &readings[draft.reading].row
        {
            let text = if note.is_empty() {
                name.clone()
            } else {
                format!("{name} ({note})")
            };
            let mut items = fields::items(&text);
            items.truncate(1);
            for item in &mut items {
                if let Some(kind) = fields::by_type_word(kind)
                    && item.values.is_empty()
                {
                    item.kind = kind;
                    item.typed = true;
                }
                item.unique |= note.to_lowercase().contains("unique");
                item.optional |= note.to_lowercase().contains("optional");
            }
            found.push(Kept {
                owner: draft.object.clone(),
                items,
                span,
            });
        } else if let Some(owner) = possessor(draft) {
            // `change a member's role (owner, editor or reader)`
            let items = fields::items(&draft.object.text).into_iter().take(1);
            let items: Vec<Item> = items.map(|item| own_name(item, draft)).collect();
            found.push(Kept { owner, items, span });
        }
    }
    found
}

/// Whose attribute a statement is about.
fn possessor(draft: &Draft) -> Option<Phrase> {
    let owner = draft.object.of.clone()?;
    nouns::is_attribute(draft.object.head()).then(|| Phrase {
        text: owner.clone(),
        name: owner,
        ..Phrase::default()
    })
}

fn own_name(mut item: Item, draft: &Draft) -> Item {
    let listed = fields::items(&format!(
        "{} {}",
        draft.object.name,
        draft.text.find('(').map_or("", |at| &draft.text[at..])
    ));
    if let Some(named) = listed.into_iter().next() {
        item.kind = named.kind;
        item.values = named.values;
    }
    item.name = naming::snake(&draft.object.name);
    item
}

/// Finds the entities.
pub fn find(
    readings: &[Reading],
    drafts: &[Draft],
    kept: &[Kept],
    people: &People,
    product: Option<&str>,
) -> Entities {
    let mut search = Search {
        people,
        product: product.map(str::to_lowercase),
        order: Vec::new(),
        evidence: BTreeMap::new(),
        spans: BTreeMap::new(),
        values: kept
            .iter()
            .flat_map(|kept| kept.items.iter().flat_map(|item| &item.values))
            .map(|value| value.to_lowercase())
            .collect(),
        handled: BTreeMap::new(),
    };
    for draft in drafts
        .iter()
        .filter(|draft| draft.priority != Priority::Wont)
    {
        search.statement(draft, &readings[draft.reading]);
    }
    for kept in kept {
        search.note(&kept.owner, Evidence::Data, &kept.span);
    }
    search.settle(kept)
}

struct Search<'a> {
    people: &'a People,
    product: Option<String>,
    order: Vec<String>,
    evidence: BTreeMap<String, Evidence>,
    spans: BTreeMap<String, Vec<String>>,
    values: BTreeSet<String>,
    handled: BTreeMap<String, String>,
}

impl Search<'_> {
    fn statement(&mut self, draft: &Draft, reading: &Reading) {
        let span = &reading.id;
        match draft.kind {
            VerbKind::Keep => {
                self.note(&draft.object, Evidence::Data, span);
                if draft.verb == "belong to" || draft.list.is_none() {
                    for (_, other) in &draft.others {
                        if self.people.role_of(other).is_none()
                            && !nouns::is_attribute(other.head())
                        {
                            self.note(other, Evidence::Data, span);
                        }
                    }
                }
            }
            VerbKind::Create | VerbKind::Update | VerbKind::Delete => {
                self.object(draft, Evidence::Made, span)
            }
            VerbKind::Read | VerbKind::List => {
                let counted = draft.object.plural
                    || draft.object.each
                    || starts_indefinite(&draft.object.text);
                if counted {
                    self.object(draft, Evidence::Read, span);
                }
            }
            VerbKind::Other if draft.manages => self.object(draft, Evidence::Made, span),
            VerbKind::Other => self.handled(draft, span),
            _ => {}
        }
    }

    /// What is worked with in two places of the spec is a thing, whatever is done to it.
    fn handled(&mut self, draft: &Draft, span: &str) {
        // Who joins something is kept with it.
        if draft.verb == "join" {
            self.object(draft, Evidence::Made, span);
            return;
        }
        let by_hand = draft
            .actor
            .as_deref()
            .is_some_and(|actor| actor != "system");
        if !by_hand || draft.verb == "offer" || draft.object.is_empty() {
            return;
        }
        match self.handled.get(&draft.object.name) {
            Some(before) if before != span => {
                let before = before.clone();
                self.object(draft, Evidence::Read, &before);
                self.object(draft, Evidence::Read, span);
            }
            Some(_) => {}
            None => {
                self.handled
                    .insert(draft.object.name.clone(), span.to_owned());
            }
        }
    }

    fn object(&mut self, draft: &Draft, evidence: Evidence, span: &str) {
        let object = &draft.object;
        let head = object.head();
        let person = self.people.role_of(object).is_some() || nouns::is_person(head);
        let by_hand = evidence == Evidence::Made
            && (draft.kind == VerbKind::Create || draft.manages)
            && draft
                .actor
                .as_deref()
                .is_some_and(|actor| actor != "system");
        let excluded = nouns::is_attribute(head) && !object.name.contains(' ')
            || nouns::is_attribute(head) && object.of.is_some()
            || (nouns::is_weak(head)
                && !by_hand
                && !(object.name.contains(' ') && evidence == Evidence::Made))
            || (person && evidence == Evidence::Read);
        // What is shown, tracked or monitored is often a figure: `stock value`.
        let figure = nouns::is_attribute(head) && evidence == Evidence::Read;
        if !excluded && !figure {
            self.note(object, evidence, span);
        }
    }

    fn note(&mut self, phrase: &Phrase, evidence: Evidence, span: &str) {
        let name = &phrase.name;
        let head = phrase.head();
        let never = name.is_empty()
            || nouns::is_ui(head)
            || phrase.is_product()
            || nouns::is_always_product(head)
            || matches!(
                head,
                "it" | "them" | "one" | "everything" | "other" | "others"
            )
            || self.product.as_deref() == Some(name)
            || head.chars().count() < 2
            || !head.starts_with(char::is_alphabetic)
            || (nouns::is_weak(head) && evidence == Evidence::Read);
        if never {
            return;
        }
        if !self.evidence.contains_key(name) {
            self.order.push(name.clone());
        }
        let strongest = self.evidence.entry(name.clone()).or_insert(evidence);
        *strongest = (*strongest).max(evidence);
        let spans = self.spans.entry(name.clone()).or_default();
        if spans.last().is_none_or(|last| last != span) {
            spans.push(span.to_owned());
        }
    }

    /// Joins names of the same thing and gives each its attributes.
    fn settle(mut self, kept: &[Kept]) -> Entities {
        let mut by_ending: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for name in &self.order {
            for (at, _) in name.match_indices(' ') {
                by_ending
                    .entry(name[at + 1..].to_owned())
                    .or_default()
                    .push(name.clone());
            }
        }
        let strength = |name: &String| self.evidence.get(name).copied();
        let mut same: BTreeMap<String, String> = BTreeMap::new();
        for name in &self.order {
            if self.values.contains(name) && strength(name) != Some(Evidence::Data) {
                continue;
            }
            let Some([longer]) = by_ending.get(name).map(Vec::as_slice) else {
                continue;
            };
            // `movement` is the `stock movement`; both stay where both have data of their own.
            match (strength(name), strength(longer)) {
                (Some(Evidence::Data), Some(Evidence::Data)) => {}
                (Some(Evidence::Data), _) => {
                    same.insert(longer.clone(), name.clone());
                }
                _ => {
                    same.insert(name.clone(), longer.clone());
                }
            }
        }
        let mut entities = Entities::default();
        let order = std::mem::take(&mut self.order);
        for name in &order {
            let value =
                self.values.contains(name) && self.evidence.get(name) != Some(&Evidence::Data);
            let one = same.get(name).unwrap_or(name);
            if value {
                continue;
            }
            let at = *entities.by_noun.entry(one.clone()).or_insert_with(|| {
                entities.all.push(Entity {
                    name: naming::pascal(one),
                    spans: Vec::new(),
                    fields: Vec::new(),
                    synonyms: Vec::new(),
                });
                entities.all.len() - 1
            });
            entities.by_noun.insert(name.clone(), at);
            entities
                .by_name
                .entry(entities.all[at].name.clone())
                .or_insert(at);
            let entity = &mut entities.all[at];
            if name != one && !entity.synonyms.contains(name) {
                entity.synonyms.push(name.clone());
            }
            entity
                .spans
                .extend(self.spans.get(name).into_iter().flatten().cloned());
        }
        for entity in &mut entities.all {
            entity.spans.sort_by_key(|id| people::number(id));
            entity.spans.dedup();
        }
        give_fields(&mut entities, kept, self.people);
        entities
    }
}

fn starts_indefinite(text: &str) -> bool {
    let first = text.split(' ').next().unwrap_or_default().to_lowercase();
    matches!(
        first.as_str(),
        "a" | "an" | "any" | "each" | "every" | "one"
    )
}

/// Attributes of each entity; an item that is an entity itself is a relation, found elsewhere.
fn give_fields(entities: &mut Entities, kept: &[Kept], people: &People) {
    for kept in kept {
        let Some(at) = entities
            .by_noun
            .get(&kept.owner.name)
            .or_else(|| entities.by_noun.get(kept.owner.head()))
            .copied()
        else {
            continue;
        };
        for item in &kept.items {
            let thing = !item.is_attribute()
                && entities
                    .of(&item.phrase)
                    .is_some_and(|name| name != entities.all[at].name);
            let itself = entities.named(&item.phrase.name).is_some()
                && item.values.is_empty()
                && !nouns::is_attribute(item.phrase.head());
            if thing
                || itself
                || item.name.is_empty()
                || (item.many && people.role(&item.phrase.name).is_some())
            {
                continue;
            }
            let listed = item.many
                && (!item.typed || item.kind == FieldType::String)
                && item.values.is_empty();
            let kind = if listed { FieldType::Json } else { item.kind };
            let field = StatedField {
                name: item.name.clone(),
                text: item.text.clone(),
                kind,
                values: item.values.clone(),
                unique: item.unique,
                optional: item.optional,
                spans: vec![kept.span.clone()],
            };
            for value in &item.values {
                entities
                    .by_value
                    .entry(naming::singular(&value.to_lowercase()))
                    .or_insert((at, item.name.clone()));
            }
            merge(&mut entities.all[at].fields, field);
        }
    }
}

/// Adds a field, or what a second mention says of it.
fn merge(fields: &mut Vec<StatedField>, field: StatedField) {
    match fields.iter_mut().find(|known| known.name == field.name) {
        Some(known) => {
            known.unique |= field.unique;
            if known.values.is_empty() && !field.values.is_empty() {
                known.kind = field.kind;
                known.values = field.values;
            }
            for span in field.spans {
                if known.spans.last() != Some(&span) {
                    known.spans.push(span);
                }
            }
        }
        None => fields.push(field),
    }
}
