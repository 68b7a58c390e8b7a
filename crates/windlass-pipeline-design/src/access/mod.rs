//! Who may do what with which entity, verb by verb: stated rules first, then what the requirements
//! need, then a safe default. Owners write their own rows, a catalogue is written by who looks after
//! it, what is shared is readable, and nobody gets more than a sentence or a default gives.

mod actions;
pub(crate) mod kind;
mod owner;
mod parts;
mod rules;

pub(crate) use owner::nobody_creates;

use std::collections::{BTreeMap, BTreeSet};

use crate::access::kind::Dealings;
use crate::actor::{self, Actor};
use crate::condition::Condition;
use crate::data::AUTH_USERS;
use crate::endpoints::is_manage;
use crate::grant::{Command, Grant, Grants};
use crate::model::analysis::{Analysis, Statement, VerbKind};
use crate::model::architecture::{DataModel, EntityModel};
use crate::model::naming;
use crate::model::strategy::Priority;
use crate::scope::{self, Tenant};
use crate::words::with_article;

/// Verbs that change the row they are done to. Any other verb (`take`, `rate`, `export`) only needs
/// to see it.
const CHANGING: &[&str] = &[
    "accept",
    "activate",
    "approve",
    "archive",
    "assign",
    "block",
    "cancel",
    "change",
    "close",
    "complete",
    "confirm",
    "deactivate",
    "decline",
    "disable",
    "enable",
    "finish",
    "hide",
    "lock",
    "mark",
    "merge",
    "moderate",
    "move",
    "pause",
    "pay",
    "pin",
    "publish",
    "reassign",
    "receive",
    "reject",
    "release",
    "reopen",
    "reschedule",
    "resolve",
    "restore",
    "resume",
    "return",
    "schedule",
    "set",
    "start",
    "submit",
    "suspend",
    "unpublish",
    "verify",
    "withdraw",
];

/// Words in a field's name that make it personal: such rows are not shown because their parent is.
const PERSONAL: &[&str] = &[
    "address",
    "birth",
    "birthday",
    "diagnosis",
    "email",
    "insurance",
    "password",
    "phone",
    "salary",
    "ssn",
];

/// `all`, `any`: rows of others are meant.
const OTHERS: &[&str] = &[
    "all",
    "any",
    "every",
    "everything",
    "other",
    "others",
    "everyone",
];

/// What decides over all entities at once.
pub(crate) struct Decider<'a> {
    analysis: &'a Analysis,
    model: &'a DataModel,
    tenants: &'a [Tenant],
    /// Which table's policies read which other table: never in a circle.
    reads: BTreeMap<String, BTreeSet<String>>,
}

fn plural_of(role: &str) -> String {
    naming::sentence(&naming::plural(role))
}

/// `quizzes`, in running text; what is kept about users is not the users.
fn things(entity: &str) -> String {
    if entity == "User" {
        return "user records".to_owned();
    }
    naming::plural(&naming::human(entity))
}

fn says_everything(statement: &Statement) -> bool {
    statement.object.as_ref().is_some_and(|object| {
        naming::words(&object.text)
            .iter()
            .any(|word| OTHERS.contains(&word.as_str()))
    }) || naming::words(&statement.text)
        .iter()
        .any(|word| word == "any")
}

/// What a statement does to rows of its entity.
pub(crate) fn commands(statement: &Statement) -> Vec<Command> {
    match statement.kind {
        VerbKind::Create => vec![Command::Insert],
        VerbKind::Read | VerbKind::List => vec![Command::Select],
        VerbKind::Update => vec![Command::Update],
        VerbKind::Delete => vec![Command::Delete],
        VerbKind::SignIn | VerbKind::SignUp | VerbKind::Keep => Vec::new(),
        VerbKind::Other if is_manage(statement) => Command::ALL.to_vec(),
        VerbKind::Other if CHANGING.contains(&statement.verb.as_str()) => vec![Command::Update],
        VerbKind::Other => Vec::new(),
    }
}

impl<'a> Decider<'a> {
    pub(crate) fn new(analysis: &'a Analysis, model: &'a DataModel, tenants: &'a [Tenant]) -> Self {
        Self {
            analysis,
            model,
            tenants,
            reads: BTreeMap::new(),
        }
    }

    /// The grants of every entity, in the order of the model.
    pub(crate) fn decide(mut self) -> Vec<Grants> {
        let entities = &self.model.entities;
        let parts: Vec<Option<(String, String)>> = entities
            .iter()
            .map(|entity| self.whole_of(entity))
            .collect();
        let mut done: BTreeMap<&str, Grants> = BTreeMap::new();
        for (entity, part) in entities.iter().zip(&parts) {
            if part.is_none() {
                let grants = self.of_whole(entity);
                done.insert(&entity.name, grants);
            }
        }
        // A part needs what was decided for its whole, which may be a part itself.
        loop {
            let next = entities.iter().zip(&parts).find(|(entity, part)| {
                !done.contains_key(entity.name.as_str())
                    && part
                        .as_ref()
                        .is_some_and(|(whole, _)| done.contains_key(whole.as_str()))
            });
            let Some((entity, Some((whole, column)))) = next else {
                break;
            };
            let of_whole = done.get(whole.as_str()).cloned().unwrap_or_default();
            let grants = self.of_part(entity, whole, column, &of_whole);
            done.insert(&entity.name, grants);
        }
        entities
            .iter()
            .map(|entity| {
                done.remove(entity.name.as_str())
                    .unwrap_or_else(|| self.of_whole(entity))
            })
            .collect()
    }

    fn statements(&self, entity: &str) -> impl Iterator<Item = &'a Statement> {
        self.analysis.statements.iter().filter(move |statement| {
            statement.entity.as_deref() == Some(entity) && statement.priority != Priority::Wont
        })
    }

    /// The keys of an entity that point to other entities: column and target.
    fn keys(entity: &EntityModel) -> impl Iterator<Item = (&str, &str)> {
        entity.fields.iter().filter_map(|field| {
            let target = field.references.as_deref()?;
            (target != AUTH_USERS && target != entity.name).then_some((field.name.as_str(), target))
        })
    }

    /// The entity this one is only a part of, and the column that says which: nobody does anything
    /// with it by itself, and nothing about it is personal.
    fn whole_of(&self, entity: &EntityModel) -> Option<(String, String)> {
        let acted_on = self.statements(&entity.name).any(|statement| {
            !statement.negated
                && statement.kind != VerbKind::Keep
                && actor::of_statement(self.analysis, statement) != Actor::Product
        });
        let ruled = self
            .analysis
            .access
            .iter()
            .any(|rule| rule.entity.as_deref() == Some(&entity.name));
        let personal = actor::roles(self.analysis)
            .iter()
            .any(|role| naming::pascal(role) == entity.name)
            || entity
                .fields
                .iter()
                .any(|field| field.name.split('_').any(|word| PERSONAL.contains(&word)));
        let tenancy = scope::tenant_of(self.tenants, &entity.name).is_some()
            || self
                .tenants
                .iter()
                .any(|tenant| tenant.name == entity.name || tenant.member == entity.name);
        if acted_on || ruled || personal || tenancy {
            return None;
        }
        let required = entity
            .fields
            .iter()
            .filter(|field| !field.nullable)
            .map(|field| field.name.as_str())
            .collect::<Vec<_>>();
        Self::keys(entity)
            .find(|(column, _)| required.contains(column))
            .map(|(column, target)| (target.to_owned(), column.to_owned()))
    }

    /// Notes that policies of one table read another; refuses when that would go round in a circle.
    fn may_read(&mut self, from: &str, to: &str) -> bool {
        let mut open = vec![to.to_owned()];
        let mut seen = BTreeSet::new();
        while let Some(at) = open.pop() {
            if at == from {
                return false;
            }
            if seen.insert(at.clone()) {
                open.extend(self.reads.get(&at).into_iter().flatten().cloned());
            }
        }
        self.reads
            .entry(from.to_owned())
            .or_default()
            .insert(to.to_owned());
        true
    }

    /// Everyone who asks is a member of the row's tenant, where it has one.
    fn within(tenant: Option<&Tenant>, condition: Condition) -> Condition {
        match tenant {
            Some(tenant) => Condition::all(vec![
                condition,
                Condition::Member {
                    function: tenant.function(),
                    column: tenant.column(),
                },
            ]),
            None => condition,
        }
    }

    /// What only the roles of a statement that forbids it may not do; everyone when none is named.
    fn forbidden(&self, entity: &str, command: Command) -> (bool, Vec<String>) {
        let mut everybody = false;
        let mut roles: Vec<String> = Vec::new();
        for statement in self.statements(entity) {
            if !statement.negated || statement.condition.is_some() {
                continue;
            }
            if !commands(statement).contains(&command) {
                continue;
            }
            match actor::of_statement(self.analysis, statement) {
                Actor::Role(role) if !roles.iter().any(|known| known == role) => {
                    roles.push(role.to_owned());
                }
                Actor::Role(_) => {}
                // `must not see` without an owner would hide a row from who made it.
                _ if command == Command::Select => {}
                _ => everybody = true,
            }
        }
        (everybody, roles)
    }

    /// Whether a role is forbidden to do it, with or without a condition.
    fn role_is_forbidden(&self, entity: &str, role: &str, command: Command) -> bool {
        self.statements(entity).any(|statement| {
            statement.negated
                && statement.actor.as_deref() == Some(role)
                && commands(statement).contains(&command)
        })
    }

    /// An entity that stands for itself.
    fn of_whole(&mut self, entity: &EntityModel) -> Grants {
        let mut grants = Grants::default();
        let name = entity.name.as_str();
        let tenants = self.tenants;
        if let Some(tenant) = tenants.iter().find(|tenant| tenant.member == name) {
            self.members(entity, tenant, &mut grants);
            return grants;
        }
        let tenant = scope::tenant_of(tenants, name);
        let analysis = self.analysis;
        let dealings = Dealings::of(analysis, name);
        self.stated_rules(entity, tenant, &dealings, &mut grants);
        self.stated_actions(entity, tenant, &dealings, &mut grants);
        self.open_by_default(name, tenant, &dealings, &mut grants);
        self.keep_private(entity, &mut grants);
        self.owner(name, tenant, &dealings, &mut grants);
        if let Some(own) = tenants.iter().find(|tenant| tenant.name == name) {
            grants.add(Grant {
                command: Command::Select,
                anonymous: false,
                condition: Condition::Member {
                    function: own.function(),
                    column: "id".to_owned(),
                },
                who: format!("Members of {}", with_article(&naming::human(name))),
                what: "it".to_owned(),
                rule: "",
                trace: own.trace.clone(),
            });
        }
        grants
    }
}
