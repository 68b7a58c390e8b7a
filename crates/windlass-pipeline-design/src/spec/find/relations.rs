//! How entities belong together: belongs to, has many, possessives, `of`.

use std::collections::{BTreeMap, BTreeSet};

use super::entities::{Entities, Kept};
use crate::model::{
    analysis::{Access, AccessRule, Relation, StatedField, VerbKind},
    architecture::{FieldType, RelationType},
    naming,
    strategy::Priority,
};
use crate::spec::{people::People, phrase::Phrase, reading::Reading, statements::Draft};

/// Finds the relations; who is no entity but takes part becomes a field with an id.
pub fn find(
    readings: &[Reading],
    drafts: &[Draft],
    kept: &[Kept],
    people: &People,
    entities: &mut Entities,
) -> Vec<Relation> {
    let mut found = Relations::default();
    for kept in kept {
        let Some(owner) = entities.of(&kept.owner).map(str::to_owned) else {
            continue;
        };
        for item in kept.items.iter().filter(|item| item.values.is_empty()) {
            let Some(other) = entities.of(&item.phrase).map(str::to_owned) else {
                continue;
            };
            let field = entities
                .get(&owner)
                .is_some_and(|entity| entity.fields.iter().any(|field| field.name == item.name));
            if other == owner
                || field
                || item.is_attribute() && entities.named(&item.phrase.name).is_none()
            {
                continue;
            }
            let kind = match (kept.owner.plural && !kept.owner.each, item.many) {
                (true, true) => RelationType::ManyToMany,
                (_, true) => RelationType::OneToMany,
                _ => RelationType::OneToOne,
            };
            found.add(&owner, &other, kind, &kept.span);
        }
    }
    for draft in drafts
        .iter()
        .filter(|draft| draft.priority != Priority::Wont)
    {
        let span = &readings[draft.reading].id;
        if draft.kind == VerbKind::Keep && draft.list.is_none() {
            belonging(draft, span, people, entities, &mut found);
        } else if draft.kind != VerbKind::Keep {
            loose(draft, span, entities, &mut found);
        }
    }
    found.settled()
}

/// What only the members of something see belongs to it, though the spec may not say so twice.
pub fn link_tenants(access: &[AccessRule], relations: &mut Vec<Relation>) {
    let mut known: BTreeSet<(String, String)> = relations
        .iter()
        .map(|relation| Relations::pair(&relation.from, &relation.to))
        .collect();
    for rule in access {
        let (Access::Members(tenant), Some(entity)) = (&rule.rule, &rule.entity) else {
            continue;
        };
        if tenant != entity && known.insert(Relations::pair(tenant, entity)) {
            relations.push(Relation {
                from: tenant.clone(),
                to: entity.clone(),
                kind: RelationType::OneToMany,
                spans: rule.spans.clone(),
            });
        }
    }
}

/// `An order belongs to a customer`, `Articles are grouped in collections`.
fn belonging(
    draft: &Draft,
    span: &str,
    people: &People,
    entities: &mut Entities,
    found: &mut Relations,
) {
    let Some(child) = entities.of(&draft.object).map(str::to_owned) else {
        return;
    };
    for (_, other) in &draft.others {
        if let Some(parent) = entities.of(other).map(str::to_owned) {
            if parent == child {
                continue;
            }
            if draft.object.plural && !draft.object.each && other.plural {
                found.add(&parent, &child, RelationType::ManyToMany, span);
            } else {
                found.add(&parent, &child, RelationType::OneToMany, span);
            }
        } else if let Some(role) = people.role_of(other).map(str::to_owned) {
            let field = StatedField {
                name: format!("{}_id", naming::snake(&role)),
                text: other.text.clone(),
                kind: FieldType::Uuid,
                values: Vec::new(),
                unique: false,
                optional: false,
                spans: vec![span.to_owned()],
            };
            entities.add_field(&child, field);
        }
    }
}

/// `the articles of their workspace`, `the attempts on their quizzes`, `comment on an article`.
fn loose(draft: &Draft, span: &str, entities: &Entities, found: &mut Relations) {
    let Some(object) = entities.of(&draft.object) else {
        return;
    };
    if let Some(made) = entities.named(&draft.verb)
        && made != object
    {
        found.add_loose(object, made, span);
    }
    for (preposition, other) in &draft.others {
        let linked = match preposition.as_str() {
            "of" => true,
            "on" | "for" | "in" | "to" => other.own || other.each || is_indefinite(other),
            _ => false,
        };
        if linked
            && draft.kind != VerbKind::Other
            && let Some(parent) = entities.of(other)
            && parent != object
        {
            found.add_loose(parent, object, span);
        }
    }
    if let Some(of) = &draft.object.of
        && let Some(parent) = entities.named(of)
        && parent != object
    {
        found.add_loose(parent, object, span);
    }
}

fn is_indefinite(phrase: &Phrase) -> bool {
    phrase.text.starts_with("a ") || phrase.text.starts_with("an ")
}

#[derive(Default)]
struct Relations {
    all: Vec<Relation>,
    firm: Vec<bool>,
    by_pair: BTreeMap<(String, String), usize>,
}

impl Relations {
    fn pair(from: &str, to: &str) -> (String, String) {
        if from < to {
            (from.to_owned(), to.to_owned())
        } else {
            (to.to_owned(), from.to_owned())
        }
    }

    fn add(&mut self, from: &str, to: &str, kind: RelationType, span: &str) {
        self.put(from, to, kind, span, true);
    }

    /// A relation that is only implied; anything stated outright takes its place.
    fn add_loose(&mut self, from: &str, to: &str, span: &str) {
        self.put(from, to, RelationType::OneToMany, span, false);
    }

    fn put(&mut self, from: &str, to: &str, kind: RelationType, span: &str, firm: bool) {
        let pair = Self::pair(from, to);
        let Some(at) = self.by_pair.get(&pair).copied() else {
            self.by_pair.insert(pair, self.all.len());
            self.firm.push(firm);
            self.all.push(Relation {
                from: from.to_owned(),
                to: to.to_owned(),
                kind,
                spans: vec![span.to_owned()],
            });
            return;
        };
        let known = &mut self.all[at];
        if known.spans.last().is_none_or(|last| last != span) {
            known.spans.push(span.to_owned());
        }
        if !firm {
            return;
        }
        if !self.firm[at] {
            self.firm[at] = true;
            known.from = from.to_owned();
            known.to = to.to_owned();
            known.kind = kind;
            return;
        }
        let both_ways = known.from == to
            && known.kind == RelationType::OneToMany
            && kind == RelationType::OneToMany;
        if both_ways || kind == RelationType::ManyToMany {
            known.kind = RelationType::ManyToMany;
        } else if known.kind == RelationType::OneToOne && kind == RelationType::OneToMany {
            known.from = from.to_owned();
            known.to = to.to_owned();
            known.kind = kind;
        }
    }

    fn settled(self) -> Vec<Relation> {
        self.all
    }
}
