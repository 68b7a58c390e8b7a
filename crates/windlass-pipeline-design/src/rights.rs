//! Rights for review: who may do what with which rows, each with the sentence it rests on.
//!
//! The policies say the same in SQL. Shown as a table in the architecture and in the project's README.

use crate::condition::Condition;
use crate::grant::{Command, Grant, Grants};
use crate::model::architecture::{EntityModel, Right};
use crate::model::{Analysis, naming};
use crate::words::capitalised;

/// How many sentences one right names.
const SENTENCES: usize = 2;

const NOBODY_MANAGES: &str = "nobody writes what a few look after but those the spec names";

/// The sentences behind a grant; the default rule where there is none.
fn basis(analysis: &Analysis, grant: &Grant) -> String {
    let mut sentences: Vec<&str> = Vec::new();
    for trace in &grant.trace {
        let sentence = match trace.parts() {
            Some(("req", id)) => analysis
                .statements
                .iter()
                .find(|statement| statement.requirement == id)
                .map(|statement| statement.text.as_str()),
            Some(("spec", id)) if grant.rule.is_empty() => analysis
                .spans
                .iter()
                .find(|span| span.id == id)
                .map(|span| span.text.as_str()),
            _ => None,
        };
        if let Some(sentence) = sentence.filter(|sentence| !sentences.contains(sentence)) {
            sentences.push(sentence);
        }
    }
    if sentences.is_empty() {
        return format!("default: {}", grant.rule);
    }
    sentences.truncate(SENTENCES);
    sentences.join("; ")
}

/// Why nobody may do it: the sentence that forbids it, else the default.
fn refusal(analysis: &Analysis, entity: &str, command: Command) -> String {
    let said = analysis.statements.iter().find(|statement| {
        statement.negated
            && statement.entity.as_deref() == Some(entity)
            && crate::access::commands(statement).contains(&command)
    });
    match said {
        Some(statement) => statement.text.clone(),
        None => format!("default: {NOBODY_MANAGES}"),
    }
}

/// One row per entity, verb and user, in the order of the verbs.
pub(crate) fn rights(analysis: &Analysis, entity: &EntityModel, grants: &Grants) -> Vec<Right> {
    let mut rights = Vec::new();
    for command in Command::ALL {
        let mut of_command: Vec<Right> = Vec::new();
        for grant in grants
            .0
            .iter()
            .filter(|grant| grant.command == command && grant.condition != Condition::Nobody)
        {
            let right = Right {
                entity: entity.name.clone(),
                verb: command.verb().to_owned(),
                who: grant.who.trim_end_matches(',').to_owned(),
                rows: grant.what.clone(),
                basis: basis(analysis, grant),
            };
            if !of_command.contains(&right) {
                of_command.push(right);
            }
        }
        if of_command.is_empty() {
            of_command.push(Right {
                entity: entity.name.clone(),
                verb: command.verb().to_owned(),
                who: "nobody".to_owned(),
                rows: format!("any {}", naming::plural(&naming::human(&entity.name))),
                basis: refusal(analysis, &entity.name, command),
            });
        }
        rights.extend(of_command);
    }
    rights
}

/// The rights on the table of roles, which rest on no sentence: the sentences only need the roles.
pub(crate) fn of_roles(analysis: &Analysis, table: &EntityModel, grants: &Grants) -> Vec<Right> {
    let mut rights = rights(analysis, table, grants);
    for right in &mut rights {
        right.basis = if right.verb == Command::Select.verb() {
            "default: users see which roles they have".to_owned()
        } else {
            "default: nobody gives a role to themselves".to_owned()
        };
    }
    rights
}

/// `Shop managers create products of their own`, for a table with a column per part.
pub(crate) fn row(right: &Right) -> Vec<String> {
    vec![
        right.entity.clone(),
        right.verb.clone(),
        capitalised(&right.who),
        right.rows.clone(),
        right.basis.clone(),
    ]
}

/// The heads of the columns.
pub(crate) const COLUMNS: [&str; 5] = ["entity", "verb", "who", "which rows", "because"];

/// Whether a right rests on no sentence.
pub(crate) fn is_default(right: &Right) -> bool {
    right.basis.starts_with("default: ")
}
