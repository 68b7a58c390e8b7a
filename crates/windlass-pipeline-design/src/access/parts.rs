//! Entities that hang on others: parts of a whole, members of a tenant.

use super::{Decider, commands, things};
use crate::condition::Condition;
use crate::grant::{Command, Grant, Grants};
use crate::model::architecture::EntityModel;
use crate::model::trace::rule;
use crate::model::{Trace, naming};
use crate::scope::Tenant;
use crate::traces;
use crate::words::with_article;

impl Decider<'_> {
    /// An entity that is seen with its whole and changed by who may change that.
    pub(super) fn of_part(
        &mut self,
        entity: &EntityModel,
        whole: &str,
        column: &str,
        of_whole: &Grants,
    ) -> Grants {
        if !self.may_read(&entity.name, whole) {
            return self.of_whole(entity);
        }
        let mut grants = Grants::default();
        let table = naming::table_name(whole);
        let mut trace = entity.trace.clone();
        traces::add(&mut trace, Trace::entity(whole));
        let hidden = self
            .statements(&entity.name)
            .any(|statement| statement.negated && commands(statement).contains(&Command::Select));
        if !hidden {
            let anonymous = of_whole.of(Command::Select, true).next().is_some();
            grants.add(Grant {
                command: Command::Select,
                anonymous,
                condition: Condition::ReaderOf {
                    table: table.clone(),
                    column: column.to_owned(),
                },
                who: format!(
                    "Anyone who can read {}",
                    with_article(&naming::human(whole))
                ),
                what: format!("its {}", things(&entity.name)),
                rule: "a part is read with what it belongs to",
                trace: trace.clone(),
            });
        }
        let writer = Condition::all(vec![
            Condition::Owner,
            Condition::WriterOf {
                table,
                column: column.to_owned(),
                condition: Box::new(of_whole.condition(Command::Update, false)),
            },
        ]);
        for command in Command::ALL {
            let (everybody, roles) = self.forbidden(&entity.name, command);
            if everybody || command == Command::Select && !hidden {
                continue;
            }
            let condition = if command == Command::Select {
                Condition::Owner
            } else {
                writer.clone()
            };
            let mut parts = vec![condition];
            parts.extend(roles.into_iter().map(Condition::NotRole));
            let mut why = trace.clone();
            traces::add(&mut why, Trace::default_rule(rule::SYSTEM_FIELDS));
            grants.add(Grant {
                command,
                anonymous: false,
                condition: Condition::all(parts),
                who: "Users".to_owned(),
                what: format!(
                    "their own {} of {} they may change",
                    things(&entity.name),
                    things(whole)
                ),
                rule: "a part is written by who may change what it belongs to",
                trace: why,
            });
        }
        grants
    }

    /// The table that says who is a member: seen by members, written by the tenant's owner.
    pub(super) fn members(&mut self, entity: &EntityModel, tenant: &Tenant, grants: &mut Grants) {
        let name = entity.name.as_str();
        let human = naming::human(&tenant.name);
        let mut add = |command, condition, who: String, what: String| {
            grants.add(Grant {
                command,
                anonymous: false,
                condition,
                who,
                what,
                rule: "members of a group share what belongs to it",
                trace: tenant.trace.clone(),
            });
        };
        add(
            Command::Select,
            Condition::Subject,
            "Users".to_owned(),
            format!("their own membership of a {human}"),
        );
        add(
            Command::Delete,
            Condition::Subject,
            "Users".to_owned(),
            format!("their own membership of a {human}"),
        );
        add(
            Command::Select,
            Condition::Member {
                function: tenant.function(),
                column: tenant.column(),
            },
            format!("Members of a {human}"),
            "the list of its members".to_owned(),
        );
        if self.may_read(name, &tenant.name) {
            for command in [Command::Insert, Command::Update, Command::Delete] {
                add(
                    command,
                    Condition::OwnerOf {
                        table: naming::table_name(&tenant.name),
                        column: tenant.column(),
                    },
                    format!("The owner of a {human}"),
                    "the memberships of it".to_owned(),
                );
            }
        }
    }
}
