//! Which functions a statement calls, however their names are written, and which may be called.
//!
//! A read-only transaction stops what changes tables. Functions act outside it too: on sessions,
//! locks, files, other servers, or by running SQL given as text. So only functions on a list are
//! let through, and those that the installation's settings name. What a name stands for is known
//! to the server alone: every call is handed on, to be looked up in its catalogue before the
//! statement runs (windlass-database).

mod mysql;
mod postgres;

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use windlass_ports::database::{AllowedFunction, FunctionCall, Notation, SqlEngine};

use super::token::Token;
use crate::guard::{Refusal, Rule};

pub(super) use mysql::HINTS;

static POSTGRES: LazyLock<HashSet<&str>> = LazyLock::new(|| words(postgres::FUNCTIONS));
static POSTGRES_SYNTAX: LazyLock<HashSet<&str>> = LazyLock::new(|| words(&[postgres::SYNTAX]));
static POSTGRES_KEYWORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| words(&[postgres::KEYWORDS]));
static MYSQL: LazyLock<HashSet<&str>> = LazyLock::new(|| words(mysql::FUNCTIONS));
static MYSQL_SYNTAX: LazyLock<HashSet<&str>> = LazyLock::new(|| words(&[mysql::SYNTAX]));

fn words(lists: &[&'static str]) -> HashSet<&'static str> {
    lists
        .iter()
        .flat_map(|list| list.split_ascii_whitespace())
        .collect()
}

/// Whether a function of the server itself may be called.
pub fn is_built_in(engine: SqlEngine, name: &str) -> bool {
    match engine {
        SqlEngine::Postgres => {
            POSTGRES.contains(name)
                || postgres::FAMILIES
                    .iter()
                    .any(|family| name.starts_with(family))
        }
        SqlEngine::MySql => MYSQL.contains(name),
    }
}

/// Everything the statement calls or could call; refused if one of the functions is unknown.
pub fn calls(
    engine: SqlEngine,
    tokens: &[Token],
    allowed: &[AllowedFunction],
) -> Result<BTreeSet<FunctionCall>, Refusal> {
    let statement = Statement {
        engine,
        tokens,
        openings: openings(tokens),
    };
    let values = match engine {
        SqlEngine::Postgres => statement.values(),
        SqlEngine::MySql => HashSet::new(),
    };
    let mut calls = BTreeSet::new();
    let mut chain = Chain::Name { start: 0 };
    for (index, token) in tokens.iter().enumerate() {
        let Some(name) = function_name(engine, token) else {
            continue;
        };
        let owner = index
            .checked_sub(2)
            .filter(|_| tokens[index - 1].is_symbol('.'))
            .map(|owner| &tokens[owner]);
        match owner {
            None => chain = Chain::Name { start: index },
            Some(owner) if function_name(engine, owner).is_none() => chain = Chain::Value,
            Some(_) => {}
        }
        if statement.is_open(index + 1) {
            let (is_call, schema) = match chain {
                Chain::Name { start } => (
                    statement.is_call(index, start),
                    owner.and_then(|owner| function_name(engine, owner)),
                ),
                Chain::Value => (true, None),
            };
            if is_call {
                calls.insert(called(engine, schema, name, allowed)?);
            }
        } else if engine == SqlEngine::Postgres
            && let Some(owner) = owner
        {
            let owner = function_name(engine, owner);
            let of_value =
                chain == Chain::Value || owner.is_some_and(|owner| values.contains(&owner));
            calls.insert(member(name, of_value, allowed)?);
        }
    }
    Ok(calls)
}

/// Functions that PostgreSQL calls without parentheses, in `FROM` too.
const VALUES: &[&str] = &[
    "current_catalog",
    "current_date",
    "current_role",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_user",
    "localtime",
    "localtimestamp",
    "session_user",
    "system_user",
    "user",
];

/// What names joined by dots belong to.
#[derive(Clone, Copy, PartialEq)]
enum Chain {
    /// Names alone, from this token on: `schema.table.column`.
    Name { start: usize },
    /// A value: `(…).field`.
    Value,
}

/// `name(…)` or `schema.name(…)`.
fn called(
    engine: SqlEngine,
    schema: Option<String>,
    name: String,
    allowed: &[AllowedFunction],
) -> Result<FunctionCall, Refusal> {
    let own_schema = match (engine, schema.as_deref()) {
        (_, None) => true,
        (SqlEngine::Postgres, Some(schema)) => schema == "pg_catalog",
        (SqlEngine::MySql, Some(_)) => false,
    };
    let built_in = own_schema && is_built_in(engine, &name);
    let call = FunctionCall {
        schema,
        name,
        notation: Notation::Call,
        built_in,
    };
    if built_in || allowed.iter().any(|rule| rule.may_name(engine, &call)) {
        Ok(call)
    } else {
        Err(unknown(engine, &call))
    }
}

/// `table.name` or `(value).name`: most often a column, but PostgreSQL calls a function of that
/// name where there is no such column.
fn member(
    name: String,
    of_value: bool,
    allowed: &[AllowedFunction],
) -> Result<FunctionCall, Refusal> {
    let built_in = is_built_in(SqlEngine::Postgres, &name);
    let call = FunctionCall {
        schema: None,
        name,
        notation: match of_value {
            false => Notation::Column,
            true => Notation::Field,
        },
        built_in,
    };
    // Fields are hardly named like the server's functions; others only the server can tell.
    let is_suspect = call.notation == Notation::Field && call.name.starts_with("pg_");
    let may = |rule: &AllowedFunction| rule.may_name(SqlEngine::Postgres, &call);
    if is_suspect && !built_in && !allowed.iter().any(may) {
        return Err(unknown(SqlEngine::Postgres, &call));
    }
    Ok(call)
}

fn unknown(engine: SqlEngine, call: &FunctionCall) -> Refusal {
    let (shown, entry) = match (&call.schema, engine) {
        (Some(schema), _) => {
            let whole = format!("{schema}.{}", call.name);
            (whole.clone(), whole)
        }
        (None, SqlEngine::Postgres) => (call.name.clone(), format!("SCHEMA.{}", call.name)),
        (None, SqlEngine::MySql) => (call.name.clone(), call.name.clone()),
    };
    Refusal::new(
        Rule::SqlFunction,
        format!(
            "the function {shown} is not on the list of functions that only read; if it is \
             harmless, allow it in config.toml: [stack] allowed_functions = [\"{entry}\"]"
        ),
    )
}

/// The name a function is looked up by: PostgreSQL keeps the case of a quoted one, MySQL ignores
/// case.
fn function_name(engine: SqlEngine, token: &Token) -> Option<String> {
    match (token, engine) {
        (Token::Word(word), _) => Some(word.clone()),
        (Token::Quoted(name), SqlEngine::Postgres) => Some(name.clone()),
        (Token::Quoted(name), SqlEngine::MySql) => Some(name.to_ascii_lowercase()),
        _ => None,
    }
}

/// For every closing parenthesis, where its group opens.
fn openings(tokens: &[Token]) -> Vec<Option<usize>> {
    let mut open = Vec::new();
    tokens
        .iter()
        .enumerate()
        .map(|(index, token)| {
            if token.is_symbol('(') {
                open.push(index);
            }
            token.is_symbol(')').then(|| open.pop()).flatten()
        })
        .collect()
}

struct Statement<'a> {
    engine: SqlEngine,
    tokens: &'a [Token],
    openings: Vec<Option<usize>>,
}

impl Statement<'_> {
    fn is_open(&self, index: usize) -> bool {
        self.tokens
            .get(index)
            .is_some_and(|token| token.is_symbol('('))
    }

    fn is(&self, index: Option<usize>, word: &str) -> bool {
        index
            .and_then(|index| self.tokens.get(index))
            .is_some_and(|token| token.is(word))
    }

    /// Names that may stand for a value and not for a row: in `FROM lower('x') f` both `f.name`
    /// and `lower.name` can be calls of a function `name` with that value.
    fn values(&self) -> HashSet<String> {
        let mut values: HashSet<String> = VALUES.iter().map(|word| (*word).to_owned()).collect();
        for (index, token) in self.tokens.iter().enumerate() {
            let Some(name) = function_name(self.engine, token) else {
                continue;
            };
            let mut before = index.checked_sub(1);
            if self.is(before, "as") {
                before = before.and_then(|before| before.checked_sub(1));
            }
            let is_alias = before.is_some_and(|before| match &self.tokens[before] {
                Token::Symbol(')') => self.openings[before].is_some_and(|open| self.is_value(open)),
                other => other.is_any(VALUES),
            });
            if is_alias || self.is_open(index + 1) {
                values.insert(name);
            }
        }
        values
    }

    /// Whether the group that opens here is the arguments of a function, and no table.
    fn is_value(&self, open: usize) -> bool {
        let before = open.checked_sub(1);
        let is_name = before
            .is_some_and(|before| matches!(self.tokens[before], Token::Word(_) | Token::Quoted(_)));
        let is_table = before
            .is_some_and(|before| self.tokens[before].is_any(&["from", "join", "lateral", "only"]));
        let rows_from = self.is(before, "from")
            && self.is(before.and_then(|before| before.checked_sub(1)), "rows");
        is_name && (!is_table || rows_from)
    }

    /// Whether the name at `index`, before a parenthesis, is called. Its chain begins at `start`.
    ///
    /// Whatever is not certainly something else is a call.
    fn is_call(&self, index: usize, start: usize) -> bool {
        let syntax = match self.engine {
            SqlEngine::Postgres => &POSTGRES_SYNTAX,
            SqlEngine::MySql => &MYSQL_SYNTAX,
        };
        if let Token::Word(word) = &self.tokens[index]
            && start == index
            && syntax.contains(word.as_str())
        {
            return false;
        }
        let before = start.checked_sub(1);
        // `AS alias(column, …)`, `CAST(… AS type(3))`; `INTO table (column, …)` of an EXPLAIN.
        if self.is(before, "as") || self.is(before, "into") || self.is_cte(index, before) {
            return false;
        }
        self.engine == SqlEngine::MySql || !self.names_something(before)
    }

    /// `WITH name (column, …) AS (SELECT …`.
    fn is_cte(&self, index: usize, before: Option<usize>) -> bool {
        let first = self.is(before, "with") || self.is(before, "recursive");
        let later = before.is_some_and(|before| self.tokens[before].is_symbol(','));
        if !first && !later {
            return false;
        }
        // Column names alone stand between the parentheses.
        let rest = self.tokens.get(index + 2..).unwrap_or_default();
        let Some(end) = rest.iter().position(|token| {
            !token.is_symbol(',') && !matches!(token, Token::Word(_) | Token::Quoted(_))
        }) else {
            return false;
        };
        let mut rest = &rest[end..];
        if !rest.first().is_some_and(|token| token.is_symbol(')'))
            || !rest.get(1).is_some_and(|token| token.is("as"))
        {
            return false;
        }
        rest = &rest[2..];
        while rest
            .first()
            .is_some_and(|token| token.is_any(&["not", "materialized"]))
        {
            rest = &rest[1..];
        }
        // `, function(column) AS (values integer)` defines columns; a query begins otherwise.
        rest.first().is_some_and(|token| token.is_symbol('('))
            && rest.get(1).is_some_and(|token| {
                token.is_any(&["select", "with", "table"])
                    || token.is_symbol('(')
                    || (token.is("values") && rest.get(2).is_some_and(|next| next.is_symbol('(')))
            })
    }

    /// Whether what stands before a name of PostgreSQL lets no expression begin there: a type
    /// after `::`, an alias after a table or a group.
    fn names_something(&self, before: Option<usize>) -> bool {
        let Some(before) = before else {
            return false;
        };
        match &self.tokens[before] {
            Token::Symbol(':') => before
                .checked_sub(1)
                .is_some_and(|colon| self.tokens[colon].is_symbol(':')),
            Token::Quoted(_) => true,
            Token::Word(word) if word == "ordinality" => self.is(before.checked_sub(1), "with"),
            Token::Word(word) => !POSTGRES_KEYWORDS.contains(word.as_str()),
            // `DISTINCT ON (…) expression` and `OPERATOR(…) expression` go on with a value.
            Token::Symbol(')') => self.openings[before].is_some_and(|open| {
                let word = open.checked_sub(1);
                let distinct_on = self.is(word, "on")
                    && self.is(word.and_then(|word| word.checked_sub(1)), "distinct");
                !distinct_on && !self.is(word, "operator")
            }),
            _ => false,
        }
    }
}
