//! How entities belong together: stated relations as foreign keys and join tables.

use std::collections::{BTreeMap, BTreeSet};

use crate::data::field;
use crate::endpoints::is_brought_to;
use crate::model::analysis::{Analysis, VerbKind};
use crate::model::architecture::{EntityModel, Field, FieldType, RelationType, Relationship};
use crate::model::strategy::Priority;
use crate::model::{Trace, naming};
use crate::scope::Tenant;
use crate::traces;

/// A relation that is going to be a key.
struct Edge {
    from: String,
    to: String,
    kind: RelationType,
    required: bool,
    trace: Vec<Trace>,
}

/// `quiz_id`; a thing that belongs to its own kind has a parent.
fn key_name(from: &str, to: &str) -> String {
    if from == to {
        format!("parent_{}_id", naming::snake(from))
    } else {
        format!("{}_id", naming::snake(from))
    }
}

fn push(edges: &mut Vec<Edge>, edge: Edge) {
    let same = edges.iter_mut().find(|known| {
        known.from == edge.from && known.to == edge.to
            || known.kind == RelationType::ManyToMany
                && edge.kind == RelationType::ManyToMany
                && known.from == edge.to
                && known.to == edge.from
    });
    match same {
        Some(known) => {
            known.required |= edge.required;
            traces::extend(&mut known.trace, edge.trace);
        }
        None => edges.push(edge),
    }
}

/// All relations between entities of the model, each once.
fn edges(analysis: &Analysis, entities: &[EntityModel], tenants: &[Tenant]) -> Vec<Edge> {
    let known = |name: &str| entities.iter().any(|entity| entity.name == name);
    let mut edges: Vec<Edge> = Vec::new();
    for relation in &analysis.relations {
        // A relation to the signed-in user is the owner's key, which is there already.
        if known(&relation.from) && known(&relation.to) && relation.from != "User" {
            push(
                &mut edges,
                Edge {
                    from: relation.from.clone(),
                    to: relation.to.clone(),
                    kind: relation.kind,
                    required: relation.from != relation.to,
                    trace: traces::of_spans(&relation.spans),
                },
            );
        }
    }
    for tenant in tenants {
        push(
            &mut edges,
            Edge {
                from: tenant.name.clone(),
                to: tenant.member.clone(),
                kind: RelationType::OneToMany,
                required: true,
                trace: tenant.trace.clone(),
            },
        );
        for entity in entities {
            let shared = crate::scope::tenant_of(tenants, &entity.name)
                .is_some_and(|of| of.name == tenant.name);
            if shared {
                push(
                    &mut edges,
                    Edge {
                        from: tenant.name.clone(),
                        to: entity.name.clone(),
                        kind: RelationType::OneToMany,
                        required: true,
                        trace: tenant.trace.clone(),
                    },
                );
            }
        }
    }
    for statement in &analysis.statements {
        let (Some(entity), Some(other)) = (&statement.entity, &statement.indirect) else {
            continue;
        };
        let links = match statement.kind {
            VerbKind::Create | VerbKind::Update => true,
            VerbKind::Other => is_brought_to(statement),
            _ => false,
        } && statement.priority != Priority::Wont
            && !statement.negated;
        let related = edges.iter().any(|edge| {
            edge.from == *entity && edge.to == *other || edge.from == *other && edge.to == *entity
        });
        if links && !related && entity != other && known(entity) && known(other) && other != "User"
        {
            push(
                &mut edges,
                Edge {
                    from: other.clone(),
                    to: entity.clone(),
                    kind: RelationType::OneToMany,
                    required: false,
                    trace: vec![Trace::requirement(&statement.requirement)],
                },
            );
        }
    }
    edges
}

/// Whether a chain of required keys leads from one entity to another.
fn leads_to(keys: &BTreeMap<String, BTreeSet<String>>, from: &str, to: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        if at == to {
            return true;
        }
        if seen.insert(at) {
            open.extend(keys.get(at).into_iter().flatten().map(String::as_str));
        }
    }
    false
}

/// Puts a key into an entity. A stated field that says the same gives its reasons and goes.
fn put_key(entity: &mut EntityModel, mut key: Field, target: &str) {
    let same = [
        naming::snake(target),
        naming::table_name(target),
        format!("{}_id", naming::snake(target)),
    ];
    entity.fields.retain(|known| {
        if known.references.is_none() && same.contains(&known.name) {
            traces::extend(&mut key.trace, known.trace.clone());
            return false;
        }
        true
    });
    match entity
        .fields
        .iter_mut()
        .find(|known| known.name == key.name)
    {
        Some(known) => {
            known.nullable &= key.nullable;
            traces::extend(&mut known.trace, key.trace);
        }
        None => entity.fields.push(key),
    }
}

fn relationship(from: &str, to: &str, kind: RelationType, trace: &[Trace]) -> Relationship {
    Relationship {
        from: from.to_owned(),
        to: to.to_owned(),
        kind,
        trace: trace.to_vec(),
    }
}

fn key(name: String, target: &str, nullable: bool, trace: &[Trace]) -> Field {
    Field {
        nullable,
        references: Some(target.to_owned()),
        ..field(&name, FieldType::Uuid, trace.to_vec())
    }
}

/// Turns relations into keys and join tables; the answer is the list of relationships.
pub(crate) fn relate(
    analysis: &Analysis,
    entities: &mut Vec<EntityModel>,
    tenants: &[Tenant],
) -> Vec<Relationship> {
    let mut relationships = Vec::new();
    let mut required: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for edge in edges(analysis, entities, tenants) {
        if edge.kind == RelationType::ManyToMany {
            join(entities, &mut relationships, &edge);
            continue;
        }
        let closes = leads_to(&required, &edge.from, &edge.to);
        let nullable = !edge.required || closes;
        if !nullable {
            required
                .entry(edge.to.clone())
                .or_default()
                .insert(edge.from.clone());
        }
        let Some(entity) = entities.iter_mut().find(|entity| entity.name == edge.to) else {
            continue;
        };
        let mut key = key(
            key_name(&edge.from, &edge.to),
            &edge.from,
            nullable,
            &edge.trace,
        );
        key.unique = edge.kind == RelationType::OneToOne;
        put_key(entity, key, &edge.from);
        relationships.push(relationship(&edge.from, &edge.to, edge.kind, &edge.trace));
    }
    relationships
}

/// A table between two entities that have many of each other.
fn join(entities: &mut Vec<EntityModel>, relationships: &mut Vec<Relationship>, edge: &Edge) {
    for (one, other) in [(&edge.from, &edge.to), (&edge.to, &edge.from)] {
        if let Some(entity) = entities.iter_mut().find(|entity| entity.name == *one) {
            let same = [naming::snake(other), naming::table_name(other)];
            entity
                .fields
                .retain(|field| field.references.is_some() || !same.contains(&field.name));
        }
    }
    let name = format!("{}{}", edge.from, edge.to);
    let second = if edge.from == edge.to {
        format!("other_{}_id", naming::snake(&edge.to))
    } else {
        key_name(&edge.to, &name)
    };
    let ends = [
        (key_name(&edge.from, &name), &edge.from),
        (second, &edge.to),
    ];
    let at = entities
        .iter()
        .position(|entity| entity.name == name)
        .unwrap_or_else(|| {
            entities.push(EntityModel {
                name: name.clone(),
                fields: Vec::new(),
                unique_together: Vec::new(),
                trace: edge.trace.clone(),
            });
            entities.len() - 1
        });
    relationships.push(relationship(
        &edge.from,
        &edge.to,
        RelationType::ManyToMany,
        &edge.trace,
    ));
    let together: Vec<String> = ends.iter().map(|(column, _)| column.clone()).collect();
    for (column, target) in ends {
        put_key(
            &mut entities[at],
            key(column, target, false, &edge.trace),
            target,
        );
        let known = relationships.iter().any(|known| {
            known.from == *target && known.to == name && known.kind == RelationType::OneToMany
        });
        if !known {
            relationships.push(relationship(
                target,
                &name,
                RelationType::OneToMany,
                &edge.trace,
            ));
        }
    }
    if !entities[at].unique_together.contains(&together) {
        entities[at].unique_together.push(together);
    }
}
