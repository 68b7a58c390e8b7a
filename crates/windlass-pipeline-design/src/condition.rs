//! Which rows a user sees or writes, as a small expression and as SQL.

use crate::sql;

/// An expression over one row and who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// The creator of the row.
    Owner,
    /// A row that nobody signed in made.
    Unowned,
    /// Whom the row is about, by `user_id`.
    Subject,
    /// Users with the role.
    Role(String),
    /// Users without it.
    NotRole(String),
    /// A row whose field has the value.
    Value { column: String, value: String },
    /// A row whose field has another one.
    NotValue { column: String, value: String },
    /// A member of the tenant that the column names.
    Member { function: String, column: String },
    /// The creator of the row that the column points to.
    OwnerOf { table: String, column: String },
    /// Users who see the row that the column points to.
    ReaderOf { table: String, column: String },
    /// Users who may change the row that the column points to.
    WriterOf {
        table: String,
        column: String,
        condition: Box<Self>,
    },
    /// No matter who.
    Everybody,
    /// No one.
    Nobody,
    /// All of them hold.
    All(Vec<Self>),
    /// One of them holds.
    Any(Vec<Self>),
}

/// The names of a row while an expression over it is written.
struct Row<'a> {
    /// Before a column; empty where no other row is in sight.
    prefix: &'a str,
    /// How a query inside the expression names the row.
    name: &'a str,
    /// How many rows are around it.
    depth: usize,
}

impl Condition {
    /// All of them, without those that change nothing.
    pub(crate) fn all(parts: Vec<Self>) -> Self {
        let mut kept: Vec<Self> = Vec::new();
        for part in parts {
            match part {
                Self::Nobody => return Self::Nobody,
                Self::Everybody => {}
                part if kept.contains(&part) => {}
                part => kept.push(part),
            }
        }
        match kept.len() {
            0 => Self::Everybody,
            1 => kept.remove(0),
            _ => Self::All(kept),
        }
    }

    /// One of them, without those that change nothing.
    pub(crate) fn any(parts: Vec<Self>) -> Self {
        let mut kept: Vec<Self> = Vec::new();
        for part in parts {
            match part {
                Self::Everybody => return Self::Everybody,
                Self::Nobody => {}
                part if kept.contains(&part) => {}
                part => kept.push(part),
            }
        }
        match kept.len() {
            0 => Self::Nobody,
            1 => kept.remove(0),
            _ => Self::Any(kept),
        }
    }

    /// The roles it asks for.
    pub(crate) fn roles(&self, into: &mut Vec<String>) {
        match self {
            Self::Role(role) | Self::NotRole(role) if !into.contains(role) => {
                into.push(role.clone());
            }
            Self::WriterOf { condition, .. } => condition.roles(into),
            Self::All(parts) | Self::Any(parts) => {
                for part in parts {
                    part.roles(into);
                }
            }
            _ => {}
        }
    }

    /// Whether it asks for a value of the row.
    pub(crate) fn is_about_values(&self) -> bool {
        match self {
            Self::Value { .. } | Self::NotValue { .. } => true,
            Self::All(parts) | Self::Any(parts) => parts.iter().any(Self::is_about_values),
            _ => false,
        }
    }

    /// As SQL, for a policy of that table.
    pub(crate) fn to_sql(&self, table: &str) -> String {
        self.write(&Row {
            prefix: "",
            name: &sql::ident(table),
            depth: 0,
        })
    }

    fn write(&self, row: &Row<'_>) -> String {
        let prefix = row.prefix;
        match self {
            Self::Owner => format!("{prefix}owner_id = (select auth.uid())"),
            Self::Unowned => format!("{prefix}owner_id is null"),
            Self::Subject => format!("{prefix}user_id = (select auth.uid())"),
            Self::Role(role) => format!("(select public.has_role({}))", sql::literal(role)),
            Self::NotRole(role) => {
                format!("not (select public.has_role({}))", sql::literal(role))
            }
            Self::Value { column, value } => {
                format!("{prefix}{} = {}", sql::ident(column), sql::literal(value))
            }
            Self::NotValue { column, value } => format!(
                "{prefix}{} is distinct from {}",
                sql::ident(column),
                sql::literal(value)
            ),
            Self::Member { function, column } => {
                format!(
                    "public.{}({prefix}{})",
                    sql::ident(function),
                    sql::ident(column)
                )
            }
            Self::OwnerOf { table, column } => other_row(row, table, column, Some(&Self::Owner)),
            Self::ReaderOf { table, column } => other_row(row, table, column, None),
            Self::WriterOf {
                table,
                column,
                condition,
            } => other_row(row, table, column, Some(condition)),
            Self::Everybody => "true".to_owned(),
            Self::Nobody => "false".to_owned(),
            Self::All(parts) => {
                let parts: Vec<String> = parts
                    .iter()
                    .map(|part| match part {
                        Self::Any(_) => format!("({})", part.write(row)),
                        _ => part.write(row),
                    })
                    .collect();
                parts.join(" and ")
            }
            Self::Any(parts) => {
                let parts: Vec<String> = parts
                    .iter()
                    .map(|part| match part {
                        Self::All(_) => format!("({})", part.write(row)),
                        _ => part.write(row),
                    })
                    .collect();
                parts.join(" or ")
            }
        }
    }
}

/// Whether the row that a column points to is seen and fulfils a condition. The column is qualified,
/// because the other table may have one of the same name.
fn other_row(row: &Row<'_>, table: &str, column: &str, condition: Option<&Condition>) -> String {
    let alias = format!("p{}", row.depth + 1);
    let mut text = format!(
        "exists (select 1 from public.{} {alias} where {alias}.id = {}.{}",
        sql::ident(table),
        row.name,
        sql::ident(column)
    );
    if let Some(condition) = condition {
        let inner = condition.write(&Row {
            prefix: &format!("{alias}."),
            name: &alias,
            depth: row.depth + 1,
        });
        let inner = match condition {
            Condition::Any(_) => format!("({inner})"),
            _ => inner,
        };
        text.push_str(" and ");
        text.push_str(&inner);
    }
    text.push(')');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_become_sql() {
        let teacher = || Condition::Role("teacher".to_owned());
        let writer = |table: &str, column: &str, condition| Condition::WriterOf {
            table: table.to_owned(),
            column: column.to_owned(),
            condition: Box::new(condition),
        };
        for (condition, expected) in [
            (
                Condition::all(vec![
                    Condition::Owner,
                    Condition::any(vec![teacher(), Condition::Role("it's".to_owned())]),
                ]),
                "owner_id = (select auth.uid()) and ((select public.has_role('teacher')) or (select public.has_role('it''s')))",
            ),
            (
                Condition::any(vec![
                    Condition::Owner,
                    Condition::all(vec![teacher(), Condition::Owner]),
                ]),
                "owner_id = (select auth.uid()) or ((select public.has_role('teacher')) and owner_id = (select auth.uid()))",
            ),
            (
                writer(
                    "questions",
                    "question_id",
                    writer("quizzes", "quiz_id", Condition::Owner),
                ),
                "exists (select 1 from public.questions p1 where p1.id = answers.question_id and exists (select 1 from public.quizzes p2 where p2.id = p1.quiz_id and p2.owner_id = (select auth.uid())))",
            ),
            (
                Condition::any(vec![teacher(), Condition::Everybody]),
                "true",
            ),
            (Condition::any(vec![Condition::Nobody]), "false"),
            (Condition::all(vec![Condition::Nobody, teacher()]), "false"),
            (
                Condition::Member {
                    function: "is_team_member".to_owned(),
                    column: "team_id".to_owned(),
                },
                "public.is_team_member(team_id)",
            ),
        ] {
            assert_eq!(condition.to_sql("answers"), expected);
        }
    }
}
