//! Rules that the spec states as rules, and what narrows them to some of the rows.

use super::kind::Dealings;
use super::{Decider, plural_of, things};
use crate::actor::{self, Actor};
use crate::condition::Condition;
use crate::grant::{Command, Grant, Grants};
use crate::model::analysis::{Access, AccessRule, StatedValue, VerbKind};
use crate::model::architecture::EntityModel;
use crate::model::{Trace, naming};
use crate::scope::Tenant;
use crate::traces;
use crate::words::with_article;

/// The rows of a stated value; none when the model has no such field or value, because then the
/// rule cannot be kept and must not be widened.
fn rows_with(entity: &EntityModel, stated: &StatedValue) -> Option<Condition> {
    let column = naming::snake(&stated.field);
    let field = entity.fields.iter().find(|field| field.name == column)?;
    let value = field
        .values
        .iter()
        .find(|value| value.to_lowercase() == stated.value.to_lowercase())?;
    Some(Condition::Value {
        column,
        value: value.clone(),
    })
}

/// `, as far as their status is published`.
fn as_far(narrowed: &Condition) -> String {
    match narrowed {
        Condition::Value { column, value } => {
            format!(", as far as their {} is {value}", naming::human(column))
        }
        _ => String::new(),
    }
}

/// Whether a condition asks for another value of the field already.
fn asks_for_other(condition: &Condition, field: &str, than: &str) -> bool {
    match condition {
        Condition::Value { column, value } => column == field && value != than,
        Condition::All(parts) => parts.iter().any(|part| asks_for_other(part, field, than)),
        _ => false,
    }
}

/// Whether a condition is about rows of one's own.
fn is_own(condition: &Condition) -> bool {
    match condition {
        Condition::Owner => true,
        Condition::All(parts) => parts.contains(&Condition::Owner),
        _ => false,
    }
}

impl Decider<'_> {
    /// Rules on an entity, or on everything.
    pub(super) fn stated_rules(
        &mut self,
        entity: &EntityModel,
        tenant: Option<&Tenant>,
        dealings: &Dealings<'_>,
        grants: &mut Grants,
    ) {
        let name = entity.name.as_str();
        let rules: Vec<_> = self
            .analysis
            .access
            .iter()
            .filter(|one| one.entity.as_deref().is_none_or(|known| known == name))
            .collect();
        for one in &rules {
            // Who is said to see some of the rows does not see all of them because of a rule that
            // says no more than that they see rows.
            let narrower = matches!(one.rule, Access::RoleRead(_) | Access::PublicRead)
                && one.only_when.is_none()
                && rules
                    .iter()
                    .any(|other| other.rule == one.rule && other.only_when.is_some());
            if narrower {
                continue;
            }
            let narrowed = match &one.only_when {
                None => Condition::Everybody,
                Some(stated) => match rows_with(entity, stated) {
                    Some(rows) => rows,
                    None => continue,
                },
            };
            let trace = traces::of_spans(&one.spans);
            let mut add = |grant: Option<Grant>| {
                if let Some(mut grant) = grant {
                    grant.condition = Condition::all(vec![grant.condition, narrowed.clone()]);
                    grant.what.push_str(&as_far(&narrowed));
                    grants.add(grant);
                }
            };
            match &one.rule {
                // The owner is the default; what is private is taken from the others below.
                Access::Owner => {}
                Access::Members(_) => add(tenant.map(|tenant| Grant {
                    command: Command::Select,
                    anonymous: false,
                    condition: Self::within(Some(tenant), Condition::Everybody),
                    who: format!("Members of {}", with_article(&naming::human(&tenant.name))),
                    what: format!(
                        "the {} of that {}",
                        things(name),
                        naming::human(&tenant.name)
                    ),
                    rule: "",
                    trace,
                })),
                Access::PublicRead => add(Some(public(name, trace))),
                Access::ParentOwner(parent) => {
                    let grant =
                        self.parent_owner(entity, parent, "Users", Command::Select, tenant, trace);
                    add(grant);
                }
                Access::RoleRead(role) if self.is_backed(one, role, dealings) => {
                    add(self.role(name, role, Command::Select, tenant, trace));
                }
                Access::RoleRead(_) => {}
                Access::RoleAll(role) => {
                    for command in [Command::Select, Command::Update, Command::Delete] {
                        add(self.role(name, role, command, tenant, trace.clone()));
                    }
                }
            }
        }
    }

    /// Takes rows that are stated to be their owner's alone from everyone else.
    pub(super) fn keep_private(&self, entity: &EntityModel, grants: &mut Grants) {
        for one in &self.analysis.access {
            let here = one.entity.as_deref() == Some(&entity.name) && one.rule == Access::Owner;
            let Some(stated) = one.only_when.as_ref().filter(|_| here) else {
                continue;
            };
            let Some(Condition::Value { column, value }) = rows_with(entity, stated) else {
                continue;
            };
            for grant in &mut grants.0 {
                if grant.command != Command::Select
                    || is_own(&grant.condition)
                    || asks_for_other(&grant.condition, &column, &value)
                {
                    continue;
                }
                let hidden = Condition::NotValue {
                    column: column.clone(),
                    value: value.clone(),
                };
                grant.condition = Condition::all(vec![grant.condition.clone(), hidden]);
                grant.what.push_str(&format!(
                    ", unless their {} is {value}",
                    naming::human(&column)
                ));
                traces::extend(&mut grant.trace, traces::of_spans(&one.spans));
            }
        }
    }

    /// Whether a sentence behind the rule lets the role read rows of others. A rule that no sentence
    /// with an actor stands behind counts as it is.
    fn is_backed(&self, rule: &AccessRule, role: &str, dealings: &Dealings<'_>) -> bool {
        let Some(entity) = rule.entity.as_deref().filter(|_| rule.only_when.is_none()) else {
            return true;
        };
        let mut sentences = self
            .statements(entity)
            .filter(|statement| {
                !statement.negated
                    && statement.actor.as_deref() == Some(role)
                    && statement.spans.iter().any(|span| rule.spans.contains(span))
            })
            .peekable();
        sentences.peek().is_none()
            || sentences.any(|statement| {
                self.reads_all(dealings, role, statement)
                    || matches!(statement.kind, VerbKind::Update | VerbKind::Delete)
            })
    }

    /// The owner of the row that a row belongs to sees it, or changes it.
    pub(super) fn parent_owner(
        &mut self,
        entity: &EntityModel,
        parent: &str,
        who: &str,
        command: Command,
        tenant: Option<&Tenant>,
        trace: Vec<Trace>,
    ) -> Option<Grant> {
        let column = Self::keys(entity)
            .find(|(_, target)| *target == parent)
            .map(|(column, _)| column.to_owned())?;
        let owned = self
            .model
            .entities
            .iter()
            .find(|known| known.name == parent)
            .is_some_and(|known| known.fields.iter().any(|field| field.name == "owner_id"));
        if !owned || !self.may_read(&entity.name, parent) {
            return None;
        }
        let condition = Condition::OwnerOf {
            table: naming::table_name(parent),
            column,
        };
        Some(Grant {
            command,
            anonymous: false,
            condition: Self::within(tenant, condition),
            who: who.to_owned(),
            what: if plural_of(&naming::human(parent)) == who {
                format!("the {} that name them", things(&entity.name))
            } else {
                format!(
                    "the {} of their own {}",
                    things(&entity.name),
                    things(parent)
                )
            },
            rule: "",
            trace,
        })
    }

    /// A role's grant on all rows, unless the role is forbidden.
    pub(super) fn role(
        &self,
        entity: &str,
        role: &str,
        command: Command,
        tenant: Option<&Tenant>,
        trace: Vec<Trace>,
    ) -> Option<Grant> {
        // The owner of a row may do this already.
        if actor::is_owner_word(role) || self.role_is_forbidden(entity, role, command) {
            return None;
        }
        let (condition, who) = match actor::of_name(Some(role)) {
            Actor::Product => return None,
            Actor::Anybody if command == Command::Select => return Some(public(entity, trace)),
            Actor::Anybody | Actor::SignedIn if command != Command::Select => return None,
            Actor::Anybody | Actor::SignedIn => {
                (Condition::Everybody, "Everyone who is signed in".to_owned())
            }
            Actor::Role(_) if tenant.is_some() && actor::is_member_word(role) => {
                (Condition::Everybody, plural_of(role))
            }
            Actor::Role(role) => (Condition::Role(role.to_owned()), plural_of(role)),
        };
        Some(Grant {
            command,
            anonymous: false,
            condition: Self::within(tenant, condition),
            who,
            what: match tenant {
                Some(tenant) => format!(
                    "all {} of their {}",
                    things(entity),
                    naming::human(&tenant.name)
                ),
                None => format!("all {}", things(entity)),
            },
            rule: "",
            trace,
        })
    }
}

/// Everyone may read, signed in or not.
pub(super) fn public(entity: &str, trace: Vec<Trace>) -> Grant {
    Grant {
        command: Command::Select,
        anonymous: true,
        condition: Condition::Everybody,
        who: "Everyone, signed in or not,".to_owned(),
        what: format!("all {}", things(entity)),
        rule: "",
        trace,
    }
}
