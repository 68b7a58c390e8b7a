//! What the creator of a row may do with it, who may create one, and who reads it by default.

use super::kind::{self, Dealings, Kind};
use super::{Decider, commands, things};
use crate::actor::{self, Actor};
use crate::condition::Condition;
use crate::grant::{Command, Grant, Grants};
use crate::model::analysis::{Access, Analysis, VerbKind};
use crate::model::trace::rule;
use crate::model::{Trace, naming};
use crate::scope::Tenant;
use crate::traces;
use crate::words::{and_list, capitalised};

const OWN_ROWS: &str = "users read, change and delete what they created";
const OWN_NEW_ROWS: &str = "users create rows of their own";
const OPEN: &str = "what is offered to all users is readable by everyone who is signed in";
const OPEN_TO_VISITORS: &str =
    "what is offered to all users is readable by visitors, too, where the product has visitors";

/// Whether no user creates rows: the product does, or a few look after them and none is named.
pub(crate) fn nobody_creates(analysis: &Analysis, entity: &str) -> bool {
    let dealings = Dealings::of(analysis, entity);
    let managed = analysis.access.iter().any(|one| {
        matches!(one.rule, Access::RoleAll(_))
            && one.entity.as_deref().is_none_or(|name| name == entity)
    });
    dealings.creators().is_empty()
        && !managed
        && (dealings.is_made_by_product() || dealings.kind() == Kind::Catalogue)
}

impl Decider<'_> {
    /// What users offer each other, and what a few offer to all, is there to be read.
    pub(super) fn open_by_default(
        &self,
        entity: &str,
        tenant: Option<&Tenant>,
        dealings: &Dealings<'_>,
        grants: &mut Grants,
    ) {
        if tenant.is_some() || !dealings.is_open_by_default() || self.is_restricted(entity) {
            return;
        }
        // Who is said to read some of the rows is not shown all of them by a default.
        let narrowed = grants
            .0
            .iter()
            .any(|grant| grant.command == Command::Select && grant.condition.is_about_values());
        if narrowed {
            return;
        }
        let anonymous = kind::knows_visitors(self.analysis);
        grants.add(Grant {
            command: Command::Select,
            anonymous,
            condition: Condition::Everybody,
            who: if anonymous {
                "Everyone, signed in or not,".to_owned()
            } else {
                "Everyone who is signed in".to_owned()
            },
            what: format!("all {}", things(entity)),
            rule: if anonymous { OPEN_TO_VISITORS } else { OPEN },
            trace: traces::of_default(rule::RIGHTS),
        });
    }

    /// Whether a sentence keeps rows to a few: `only visible to`, `private`.
    fn is_restricted(&self, entity: &str) -> bool {
        let noun = naming::words(entity)
            .last()
            .map(|word| naming::singular(word))
            .unwrap_or_default();
        let stated = self.analysis.access.iter().any(|one| {
            one.entity.as_deref() == Some(entity)
                && one.only_when.is_some()
                && matches!(one.rule, Access::Owner | Access::RoleRead(_))
        });
        stated
            || self.analysis.statements.iter().any(|statement| {
                let about = statement.entity.as_deref() == Some(entity)
                    || statement
                        .object
                        .as_ref()
                        .is_some_and(|object| object.head == noun);
                let words = naming::words(&statement.text);
                about
                    && matches!(statement.kind, VerbKind::Read | VerbKind::List)
                    && words
                        .iter()
                        .any(|word| matches!(word.as_str(), "only" | "private" | "confidential"))
            })
    }

    /// What the creator of a row may do with it.
    pub(super) fn owner(
        &self,
        entity: &str,
        tenant: Option<&Tenant>,
        dealings: &Dealings<'_>,
        grants: &mut Grants,
    ) {
        if nobody_creates(self.analysis, entity) {
            return;
        }
        let things = things(entity);
        for command in [Command::Select, Command::Update, Command::Delete] {
            let (everybody, roles) = self.forbidden(entity, command);
            if everybody {
                continue;
            }
            let mut parts = vec![Condition::Owner];
            parts.extend(roles.iter().cloned().map(Condition::NotRole));
            let mut trace = traces::of_default(rule::SYSTEM_FIELDS);
            for statement in self.statements(entity) {
                if statement.negated && commands(statement).contains(&command) {
                    traces::add(&mut trace, Trace::requirement(&statement.requirement));
                }
            }
            let who = if roles.is_empty() {
                "Users".to_owned()
            } else {
                let roles: Vec<String> = roles.iter().map(|role| naming::plural(role)).collect();
                format!("Users other than {}", roles.join(" and "))
            };
            let own = self.statements(entity).filter(|statement| {
                !statement.negated
                    && commands(statement).contains(&command)
                    && statement.object.as_ref().is_some_and(|object| object.own)
            });
            for statement in own {
                traces::add(&mut trace, Trace::requirement(&statement.requirement));
            }
            let condition = Condition::all(parts);
            grants.add(Grant {
                command,
                anonymous: false,
                // A user who left the tenant keeps nothing of it.
                condition: Self::within(tenant, condition),
                who,
                what: format!("their own {things}"),
                rule: OWN_ROWS,
                trace,
            });
        }
        self.insert(entity, tenant, dealings, grants);
    }

    /// Who may make a row.
    fn insert(
        &self,
        entity: &str,
        tenant: Option<&Tenant>,
        dealings: &Dealings<'_>,
        grants: &mut Grants,
    ) {
        let (everybody_forbidden, forbidden) = self.forbidden(entity, Command::Insert);
        if everybody_forbidden {
            return;
        }
        let catalogue = dealings.kind() == Kind::Catalogue;
        let mut roles: Vec<&str> = Vec::new();
        let mut open = false;
        let mut trace = traces::of_default(rule::SYSTEM_FIELDS);
        for statement in self.statements(entity).filter(|one| !one.negated) {
            if !commands(statement).contains(&Command::Insert) {
                continue;
            }
            match actor::of_statement(self.analysis, statement) {
                Actor::Role(role)
                    if !actor::is_owner_word(role) && !actor::is_member_word(role) =>
                {
                    if !roles.contains(&role) {
                        roles.push(role);
                    }
                }
                Actor::Product => continue,
                // What a few look after is not opened by a visitor who uses it.
                Actor::Anybody if catalogue => continue,
                _ => open = true,
            }
            traces::add(&mut trace, Trace::requirement(&statement.requirement));
        }
        for one in &self.analysis.access {
            let here = one.entity.as_deref().is_none_or(|name| name == entity);
            if let (true, Access::RoleAll(role)) = (here, &one.rule)
                && (catalogue || !roles.is_empty())
                && !roles.contains(&role.as_str())
                && !actor::is_owner_word(role)
                && !actor::is_member_word(role)
            {
                roles.push(role);
                traces::extend(&mut trace, traces::of_spans(&one.spans));
            }
        }
        roles.retain(|role| !forbidden.iter().any(|known| known == role));
        let mut parts = vec![Condition::Owner];
        let who = if open || roles.is_empty() {
            parts.extend(forbidden.iter().cloned().map(Condition::NotRole));
            "Users".to_owned()
        } else {
            let any = roles
                .iter()
                .map(|role| Condition::Role((*role).to_owned()))
                .collect();
            parts.push(Condition::any(any));
            let names: Vec<String> = roles.iter().map(|role| naming::plural(role)).collect();
            capitalised(&and_list(&names))
        };
        grants.add(Grant {
            command: Command::Insert,
            anonymous: false,
            condition: Self::within(tenant, Condition::all(parts)),
            who,
            what: format!("{} of their own", things(entity)),
            rule: OWN_NEW_ROWS,
            trace,
        });
    }
}
