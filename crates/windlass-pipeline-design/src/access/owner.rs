//! What the creator of a row may do with it, and who may create one.

use super::{Decider, commands, things};
use crate::actor::{self, Actor};
use crate::condition::Condition;
use crate::grant::{Command, Grant, Grants};
use crate::model::analysis::Access;
use crate::model::trace::rule;
use crate::model::{Trace, naming};
use crate::scope::Tenant;
use crate::traces;
use crate::words::{and_list, capitalised};

impl Decider<'_> {
    /// What the creator of a row may do with it.
    pub(super) fn owner(&self, entity: &str, tenant: Option<&Tenant>, grants: &mut Grants) {
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
            let condition = Condition::all(parts);
            grants.add(Grant {
                command,
                anonymous: false,
                // A user who left the tenant keeps nothing of it.
                condition: Self::within(tenant, condition),
                who,
                what: format!("their own {things}"),
                trace,
            });
        }
        self.insert(entity, tenant, grants);
    }

    /// Who may make a row.
    pub(super) fn insert(&self, entity: &str, tenant: Option<&Tenant>, grants: &mut Grants) {
        let (everybody_forbidden, forbidden) = self.forbidden(entity, Command::Insert);
        if everybody_forbidden {
            return;
        }
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
                _ => open = true,
            }
            traces::add(&mut trace, Trace::requirement(&statement.requirement));
        }
        for one in &self.analysis.access {
            let here = one.entity.as_deref().is_none_or(|name| name == entity);
            if let (true, Access::RoleAll(role)) = (here, &one.rule)
                && !roles.is_empty()
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
            trace,
        });
    }
}
