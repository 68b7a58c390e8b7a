//! Row-level policies and the functions they call, checked to be nothing more than that.

use windlass_pipeline_design::model::architecture::Architecture;
use windlass_pipeline_design::model::{InputProblem, Trace};

use super::entity::{self, Entity};
use super::route::Operation;
use crate::escape::sql_name;
use crate::{names, sql_fragment};

/// The table of actions that leave nothing but the fact that they happened.
pub(crate) const RECORDED_ACTIONS: &str = "recorded_actions";

/// A policy.
#[derive(Clone, Debug)]
pub(crate) struct Policy {
    pub(crate) table: String,
    /// `select`, `insert`, `update`, `delete`.
    pub(crate) command: &'static str,
    /// `anon`, `authenticated`.
    pub(crate) role: &'static str,
    /// Which rows are seen; not for `insert`.
    pub(crate) using: Option<String>,
    /// Which rows may be written; for `insert` and `update`.
    pub(crate) check: Option<String>,
    pub(crate) trace: Vec<Trace>,
}

impl Policy {
    /// Whether one has to be signed in.
    pub(crate) fn needs_user(&self) -> bool {
        self.role == "authenticated"
    }

    /// Whether those who are not signed in may do something with a table.
    pub(crate) fn lets_anybody(&self, table: &str, operation: Operation) -> bool {
        let command = match operation {
            Operation::List | Operation::Read => "select",
            Operation::Create => "insert",
            Operation::Update => "update",
            Operation::Delete => "delete",
        };
        self.table == table && self.role == "anon" && self.command == command
    }

    /// The expressions.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = &str> {
        [&self.using, &self.check]
            .into_iter()
            .filter_map(|part| part.as_deref())
    }
}

/// A function that policies call.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) arguments: String,
    pub(crate) body: String,
}

const COMMANDS: [&str; 4] = ["select", "insert", "update", "delete"];

fn one_of<'a>(
    text: &str,
    allowed: &[&'a str],
    pointer: String,
) -> Result<Vec<&'a str>, InputProblem> {
    let found: Vec<&str> = allowed
        .iter()
        .copied()
        .filter(|name| *name == text)
        .collect();
    if found.is_empty() {
        return Err(InputProblem::new(
            pointer,
            "enum",
            format!("{text:?} is not one of {}", allowed.join(", ")),
        )
        .with("allowed", allowed.to_vec()));
    }
    Ok(found)
}

/// All policies. In a table for which the architecture has none, rows belong to their creator.
pub(crate) fn policies(
    architecture: &Architecture,
    entities: &mut [Entity],
) -> Result<Vec<Policy>, InputProblem> {
    let mut policies = Vec::new();
    for (at, given) in architecture.security.policies.iter().enumerate() {
        let pointer = format!("/architecture/security/policies/{at}");
        let table = names::column(&given.table, "");
        if !entities.iter().any(|entity| entity.table == table) {
            let known: Vec<&str> = entities
                .iter()
                .map(|entity| entity.table.as_str())
                .collect();
            return Err(InputProblem::new(
                format!("{pointer}/table"),
                "known_id",
                format!("{:?} is no table of the data model", given.table),
            )
            .with("known", known));
        }
        let command = given.command.to_lowercase();
        let commands = if command == "all" {
            COMMANDS.to_vec()
        } else {
            one_of(&command, &COMMANDS, format!("{pointer}/command"))?
        };
        let roles = if given.role == "public" {
            vec!["anon", "authenticated"]
        } else {
            one_of(
                &given.role,
                &["anon", "authenticated"],
                format!("{pointer}/role"),
            )?
        };
        for (name, part) in [("using", &given.using), ("with_check", &given.with_check)] {
            if let Some(part) = part {
                sql_fragment::check(part, &format!("{pointer}/{name}"))?;
            }
        }
        // A row that may be seen for a change may be written, unless something else is said.
        let any = given.using.as_ref().or(given.with_check.as_ref());
        let Some(any) = any else {
            return Err(InputProblem::new(
                format!("{pointer}/using"),
                "required",
                format!(
                    "the policy on {:?} says nothing about which rows it is for",
                    given.table
                ),
            ));
        };
        for command in commands {
            for role in &roles {
                policies.push(Policy {
                    table: table.clone(),
                    command,
                    role,
                    using: (command != "insert")
                        .then(|| given.using.clone().unwrap_or_else(|| any.clone())),
                    check: matches!(command, "insert" | "update")
                        .then(|| given.with_check.clone().unwrap_or_else(|| any.clone())),
                    trace: given.trace.clone(),
                });
            }
        }
    }
    for entity in entities.iter() {
        if policies.iter().any(|policy| policy.table == entity.table) {
            continue;
        }
        let owner = entity.owner().map_or_else(
            || "false".to_owned(),
            |field| format!("{} = (select auth.uid())", sql_name(&field.column)),
        );
        policies.extend(owner_policies(&entity.table, &owner, &COMMANDS));
    }
    Ok(policies)
}

/// Policies that leave rows to their creator.
pub(crate) fn owner_policies<'a>(
    table: &'a str,
    condition: &'a str,
    commands: &'a [&'static str],
) -> impl Iterator<Item = Policy> + 'a {
    commands.iter().map(move |command| Policy {
        table: table.to_owned(),
        command,
        role: "authenticated",
        using: (*command != "insert").then(|| condition.to_owned()),
        check: matches!(*command, "insert" | "update").then(|| condition.to_owned()),
        trace: entity::default_trace(),
    })
}

/// The functions of the architecture; every one that a policy calls has to be among them.
pub(crate) fn functions(
    architecture: &Architecture,
    policies: &[Policy],
) -> Result<Vec<Function>, InputProblem> {
    let mut functions = Vec::new();
    for (at, given) in architecture.security.functions.iter().enumerate() {
        let pointer = format!("/architecture/security/functions/{at}");
        sql_fragment::check(&given.body, &format!("{pointer}/body"))?;
        if !given.arguments.trim().is_empty() {
            sql_fragment::check(&given.arguments, &format!("{pointer}/arguments"))?;
        }
        functions.push(Function {
            name: names::column(&given.name, &format!("function_{}", at + 1)),
            arguments: given.arguments.clone(),
            body: given.body.clone(),
        });
    }
    for policy in policies {
        for called in policy.expressions().flat_map(calls) {
            if !functions.iter().any(|function| function.name == called) {
                let known: Vec<&str> = functions
                    .iter()
                    .map(|function| function.name.as_str())
                    .collect();
                return Err(InputProblem::new(
                    "/architecture/security/functions",
                    "known_id",
                    format!(
                        "a policy on {:?} calls public.{called}, which is not among the functions; add it",
                        policy.table
                    ),
                )
                .with("known", known));
            }
        }
    }
    Ok(functions)
}

/// The functions of the schema `public` that an expression calls.
fn calls(expression: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in expression.split("public.").skip(1) {
        let name: String = part
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        if part[name.len()..].starts_with('(') && !found.contains(&name) {
            found.push(name);
        }
    }
    found
}
