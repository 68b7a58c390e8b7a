//! What is kept: entities with their stated fields, keys, and the fields every table has.

use crate::access::{kind::Dealings, nobody_creates};
use crate::model::analysis::{Access, Analysis, Entity, StatedField};
use crate::model::architecture::{DataModel, EntityModel, Field, FieldType};
use crate::model::strategy::Priority;
use crate::model::trace::rule;
use crate::model::{Trace, naming};
use crate::relate::relate;
use crate::scope::{self, Tenant};
use crate::traces;

/// The entity that says who has which role. Users cannot write it, so a stated entity of the same
/// name is another one.
pub(crate) fn role_entity(analysis: &Analysis) -> &'static str {
    let taken = |name: &str| analysis.entities.iter().any(|entity| entity.name == name);
    if taken("UserRole") {
        "AccountRole"
    } else {
        "UserRole"
    }
}

/// The signed-in user, as a field refers to it.
pub(crate) const AUTH_USERS: &str = "auth.users";

/// The names of the fields that every table has.
pub(crate) const SYSTEM_FIELDS: [&str; 4] = ["id", "owner_id", "created_at", "updated_at"];

/// A plain field.
pub(crate) fn field(name: &str, kind: FieldType, trace: Vec<Trace>) -> Field {
    Field {
        name: name.to_owned(),
        kind,
        primary: false,
        unique: false,
        nullable: false,
        default: None,
        values: Vec::new(),
        references: None,
        trace,
    }
}

/// A stated attribute as a field.
fn stated(attribute: &StatedField) -> Option<Field> {
    let name = naming::snake(&attribute.name);
    if name.is_empty() || SYSTEM_FIELDS.contains(&name.as_str()) {
        return None;
    }
    let mut made = field(&name, attribute.kind, traces::of_spans(&attribute.spans));
    made.unique = attribute.unique;
    // A moment that something happens at is unknown until it does.
    made.nullable =
        attribute.optional || attribute.kind == FieldType::Datetime && name.ends_with("_at");
    match attribute.kind {
        FieldType::Enum if attribute.values.is_empty() => made.kind = FieldType::String,
        FieldType::Enum => {
            for value in &attribute.values {
                if !made.values.contains(value) {
                    made.values.push(value.clone());
                }
            }
            if matches!(name.as_str(), "status" | "state" | "stage") {
                made.default = made.values.first().map(|first| crate::sql::literal(first));
            }
        }
        FieldType::Boolean if !made.nullable => made.default = Some("false".to_owned()),
        _ => {}
    }
    Some(made)
}

fn base(entity: &Entity) -> EntityModel {
    let mut fields: Vec<Field> = Vec::new();
    for attribute in &entity.fields {
        let Some(made) = stated(attribute) else {
            continue;
        };
        match fields.iter_mut().find(|known| known.name == made.name) {
            Some(known) => traces::extend(&mut known.trace, made.trace),
            None => fields.push(made),
        }
    }
    EntityModel {
        name: entity.name.clone(),
        fields,
        unique_together: Vec::new(),
        trace: traces::of_spans(&entity.spans),
    }
}

/// Adds what every table has around what is stated.
fn with_system_fields(analysis: &Analysis, entity: &mut EntityModel, owned: bool) {
    let default = || traces::of_default(rule::SYSTEM_FIELDS);
    // Where the spec itself names one of these fields, that place is a reason too.
    let stated = |name: &str| {
        let mut trace = default();
        let attributes = analysis
            .entities
            .iter()
            .filter(|known| known.name == entity.name)
            .flat_map(|known| &known.fields)
            .filter(|attribute| naming::snake(&attribute.name) == name);
        for attribute in attributes {
            traces::extend(&mut trace, traces::of_spans(&attribute.spans));
        }
        trace
    };
    let mut all = vec![Field {
        primary: true,
        default: Some("gen_random_uuid()".to_owned()),
        ..field("id", FieldType::Uuid, stated("id"))
    }];
    if owned {
        // A row that no user has made has no owner.
        let unowned = Dealings::of(analysis, &entity.name).visitors_create()
            || entity.unique_together.is_empty() && nobody_creates(analysis, &entity.name);
        all.push(Field {
            nullable: unowned,
            default: Some("auth.uid()".to_owned()),
            references: Some(AUTH_USERS.to_owned()),
            ..field("owner_id", FieldType::Uuid, stated("owner_id"))
        });
    }
    let moments = if owned {
        &["created_at", "updated_at"][..]
    } else {
        &["created_at"][..]
    };
    let moments: Vec<Field> = moments
        .iter()
        .map(|name| Field {
            default: Some("now()".to_owned()),
            ..field(name, FieldType::Datetime, stated(name))
        })
        .collect();
    all.append(&mut entity.fields);
    all.extend(moments);
    entity.fields = all;
}

fn to_user(trace: Vec<Trace>) -> Field {
    Field {
        references: Some(AUTH_USERS.to_owned()),
        ..field("user_id", FieldType::Uuid, trace)
    }
}

/// The table of roles, for the roles that policies ask for.
pub(crate) fn role_table(analysis: &Analysis, roles: &[String]) -> EntityModel {
    let mut trace = Vec::new();
    for role in &analysis.roles {
        if roles.contains(&role.name) {
            traces::extend(&mut trace, traces::of_spans(&role.spans));
        }
    }
    for statement in &analysis.statements {
        let has_role = statement
            .actor
            .as_ref()
            .is_some_and(|actor| roles.contains(actor));
        if has_role && statement.priority != Priority::Wont {
            traces::add(&mut trace, Trace::requirement(&statement.requirement));
        }
    }
    for rule in &analysis.access {
        if let Access::RoleRead(role) | Access::RoleAll(role) = &rule.rule
            && roles.contains(role)
        {
            traces::extend(&mut trace, traces::of_spans(&rule.spans));
        }
    }
    let mut table = EntityModel {
        name: role_entity(analysis).to_owned(),
        fields: vec![
            to_user(trace.clone()),
            Field {
                values: roles.to_vec(),
                ..field("role", FieldType::Enum, trace.clone())
            },
        ],
        unique_together: vec![vec!["user_id".to_owned(), "role".to_owned()]],
        trace,
    };
    with_system_fields(analysis, &mut table, false);
    table
}

/// Makes sure that the entities which say who is a member are there.
fn add_tenants(entities: &mut Vec<EntityModel>, tenants: &[Tenant]) {
    for tenant in tenants {
        for name in [&tenant.name, &tenant.member] {
            if !entities.iter().any(|entity| entity.name == *name) {
                entities.push(EntityModel {
                    name: name.clone(),
                    fields: Vec::new(),
                    unique_together: Vec::new(),
                    trace: tenant.trace.clone(),
                });
            }
        }
        if let Some(member) = entities
            .iter_mut()
            .find(|entity| entity.name == tenant.member)
        {
            member.fields.retain(|field| field.name != "user_id");
            member.fields.push(to_user(tenant.trace.clone()));
            member
                .unique_together
                .push(vec![tenant.column(), "user_id".to_owned()]);
        }
    }
}

/// The data model, the table of roles left out.
pub(crate) fn data_model(analysis: &Analysis, tenants: &[Tenant]) -> DataModel {
    let mut entities: Vec<EntityModel> = Vec::new();
    for entity in &analysis.entities {
        if !entities.iter().any(|known| known.name == entity.name) {
            entities.push(base(entity));
        }
    }
    add_tenants(&mut entities, tenants);
    let relationships = relate(analysis, &mut entities, tenants);
    for entity in &mut entities {
        let named = entity.fields.iter().any(|field| field.references.is_none());
        // A join table and a list of members are about others; anything else has to be called
        // something, at the place that names it.
        if !named && entity.unique_together.is_empty() {
            let label = field("name", FieldType::String, entity.trace.clone());
            entity.fields.insert(0, label);
        }
    }
    for entity in &mut entities {
        let keeps_users = scope::is_member_table(tenants, &entity.name);
        with_system_fields(analysis, entity, !keeps_users);
    }
    DataModel {
        entities,
        relationships,
    }
}
