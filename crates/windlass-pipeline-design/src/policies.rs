//! Grants as row-level policies, as sentences, and the functions that policies call.

use crate::condition::Condition;
use crate::grant::{Command, Grants};
use crate::model::architecture::{EntityModel, Policy, PolicyFunction};
use crate::model::{Trace, naming};
use crate::scope::Tenant;
use crate::sql;
use crate::traces;
use crate::words::{and_list, capitalised};

/// One policy per command for those who are signed in, and for everyone else only what is public.
/// A command that nobody may use has a policy that says so.
pub(crate) fn policies(entity: &EntityModel, grants: &Grants) -> Vec<Policy> {
    let table = naming::table_name(&entity.name);
    let mut policies = Vec::new();
    for command in Command::ALL {
        for (role, anonymous) in [("authenticated", false), ("anon", true)] {
            let condition = grants.condition(command, anonymous);
            if anonymous && condition == Condition::Nobody {
                continue;
            }
            let mut trace = Vec::new();
            for grant in grants.of(command, anonymous) {
                traces::extend(&mut trace, grant.trace.iter().cloned());
            }
            if trace.is_empty() {
                trace.push(Trace::entity(&entity.name));
            }
            let text = condition.to_sql(&table);
            policies.push(Policy {
                table: table.clone(),
                command: command.as_str().to_owned(),
                role: role.to_owned(),
                using: (command != Command::Insert).then(|| text.clone()),
                with_check: matches!(command, Command::Insert | Command::Update).then_some(text),
                trace,
            });
        }
    }
    policies
}

/// The same in words: one sentence per actor and what they may do.
pub(crate) fn sentences(entity: &EntityModel, grants: &Grants) -> Vec<String> {
    let mut groups: Vec<(&str, &str, Vec<Command>)> = Vec::new();
    for grant in &grants.0 {
        let known = groups
            .iter_mut()
            .find(|(who, what, _)| *who == grant.who && *what == grant.what);
        match known {
            Some((_, _, commands)) if commands.contains(&grant.command) => {}
            Some((_, _, commands)) => commands.push(grant.command),
            None => groups.push((&grant.who, &grant.what, vec![grant.command])),
        }
    }
    let mut sentences: Vec<String> = groups
        .into_iter()
        .map(|(who, what, mut commands)| {
            commands.sort();
            let verbs: Vec<String> = commands
                .iter()
                .map(|command| command.verb().to_owned())
                .collect();
            format!("{who} can {} {what}.", and_list(&verbs))
        })
        .collect();
    let never: Vec<String> = Command::ALL
        .into_iter()
        .filter(|command| {
            [false, true]
                .into_iter()
                .all(|anonymous| grants.condition(*command, anonymous) == Condition::Nobody)
        })
        .map(|command| command.verb().to_owned())
        .collect();
    if !never.is_empty() {
        let things = naming::plural(&naming::human(&entity.name));
        sentences.push(capitalised(&format!(
            "no user can {} {things}; only the service role can.",
            or_list(&never)
        )));
    }
    sentences
}

fn or_list(parts: &[String]) -> String {
    let list = and_list(parts);
    match list.rsplit_once(" and ") {
        Some((front, last)) => format!("{front} or {last}"),
        None => list,
    }
}

/// `has_role('teacher')`: reads a table that users cannot write.
pub(crate) fn role_function(role_entity: &EntityModel) -> PolicyFunction {
    PolicyFunction {
        name: "has_role".to_owned(),
        arguments: "wanted text".to_owned(),
        body: format!(
            "select exists (select 1 from {} r where r.user_id = (select auth.uid()) and r.role = wanted)",
            sql::table(&role_entity.name)
        ),
        trace: role_entity.trace.clone(),
    }
}

/// `is_team_member(team_id)`: reads the members past their own policies, so that these can call it.
pub(crate) fn member_function(tenant: &Tenant) -> PolicyFunction {
    PolicyFunction {
        name: tenant.function(),
        arguments: "wanted uuid".to_owned(),
        body: format!(
            "select exists (select 1 from {members} m where m.{column} = wanted and m.user_id = (select auth.uid())) or exists (select 1 from {tenants} t where t.id = wanted and t.owner_id = (select auth.uid()))",
            members = sql::table(&tenant.member),
            column = sql::ident(&tenant.column()),
            tenants = sql::table(&tenant.name),
        ),
        trace: tenant.trace.clone(),
    }
}
