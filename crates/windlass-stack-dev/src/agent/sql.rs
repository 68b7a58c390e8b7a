//! SQL paths: a local database, in which everything is allowed.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Map, Value, json};
use windlass_ports::database::{Access, DatabaseFailure, SqlEngine, SqlRequest};
use windlass_types::{Problem, code};

use super::{App, Parameters, answered, arguments, limit, required, text, unknown};
use crate::database::{Dialect, LocalDatabase};
use crate::envelope::Envelope;
use crate::stack::Stack;
use crate::status::Condition;

pub(crate) async fn postgres(
    State(stack): State<App>,
    Path((resource, verb)): Path<(String, String)>,
    Query(query): Query<Parameters>,
    body: Bytes,
) -> Response {
    match arguments(query, &body) {
        Ok(arguments) => {
            answered(ask(&stack, Dialect::Postgres, &resource, &verb, &arguments).await)
        }
        Err(response) => response.into_response(),
    }
}

pub(crate) async fn mysql(
    State(stack): State<App>,
    Path((resource, verb)): Path<(String, String)>,
    Query(query): Query<Parameters>,
    body: Bytes,
) -> Response {
    match arguments(query, &body) {
        Ok(arguments) => answered(ask(&stack, Dialect::MySql, &resource, &verb, &arguments).await),
        Err(response) => response.into_response(),
    }
}

/// The local database of that name and dialect.
pub(super) fn database<'a>(
    stack: &'a Stack,
    dialect: Dialect,
    resource: &str,
) -> Result<&'a LocalDatabase, Problem> {
    if let Some((local, _)) = stack
        .databases
        .get(resource)
        .filter(|(local, _)| local.dialect == dialect)
    {
        return Ok(local);
    }
    match stack.board.get(resource) {
        None => Err(unknown(stack, resource)),
        Some((_, _, Condition::Remote)) => Err(Problem::new(
            &code::FORBIDDEN,
            format!(
                "{resource} is the deployed one, which is not written to from a development session"
            ),
        )
        .with("reason", "remote_resource")
        .next(format!("windlass stack sql --resource-name {resource}"))),
        Some((_, kind, _)) => Err(Problem::invalid(
            "resource",
            "a database of this kind",
            format!("{resource} is a {kind} that does not answer on this path"),
        )),
    }
}

async fn ask(
    stack: &Stack,
    dialect: Dialect,
    resource: &str,
    verb: &str,
    arguments: &Map<String, Value>,
) -> Result<Envelope, Problem> {
    let local = database(stack, dialect, resource)?;
    let statement = match verb {
        "query" => required(arguments, "sql")?.to_owned(),
        "explain" => format!("EXPLAIN {}", required(arguments, "sql")?),
        "sample" => format!(
            "SELECT * FROM {} LIMIT {}",
            table(dialect, required(arguments, "table")?),
            limit(arguments, 10)
        ),
        "tables" | "schema" | "indexes" | "stats" => {
            catalogue(dialect, verb, text(arguments, "table"))
        }
        other => {
            return Err(Problem::new(
                &code::NOT_FOUND,
                format!(
                    "there is no {other} here: query, schema, tables, explain, indexes, stats, sample"
                ),
            ));
        }
    };
    let engine = if dialect == Dialect::Postgres {
        SqlEngine::Postgres
    } else {
        SqlEngine::MySql
    };
    let timeout = arguments
        .get("timeout")
        .and_then(Value::as_u64)
        .unwrap_or(30_000)
        .clamp(1, 600_000);
    let request = SqlRequest {
        engine,
        address: local.address(),
        access: Access::LocalUnrestricted,
        statement,
        functions: None,
        row_limit: limit(arguments, 1000),
        byte_limit: 8 << 20,
        statement_timeout: Duration::from_millis(timeout),
        connect_timeout: Duration::from_secs(5),
    };
    let rows = stack
        .outside
        .databases
        .query(&request)
        .await
        .map_err(|failure| problem(&failure))?;
    let fields: Vec<&str> = rows
        .fields
        .iter()
        .map(|field| field.name.as_str())
        .collect();
    let data = json!({
        "resource": resource, "engine": engine.as_str(), "rows": rows.rows, "fields": fields,
        "rowCount": rows.rows.len(), "truncated": rows.truncated, "affected": rows.affected,
    });
    Ok(Envelope::ok(format!("{} rows", rows.rows.len()), data))
}

/// A table, perhaps with its schema, as a name and never as SQL.
fn table(dialect: Dialect, name: &str) -> String {
    let quote = if dialect == Dialect::Postgres {
        '"'
    } else {
        '`'
    };
    let quoted = name.split('.').map(|part| {
        format!(
            "{quote}{}{quote}",
            part.replace(quote, &format!("{quote}{quote}"))
        )
    });
    quoted.collect::<Vec<_>>().join(".")
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

fn catalogue(dialect: Dialect, verb: &str, of_table: Option<&str>) -> String {
    let own = match dialect {
        Dialect::Postgres => "table_schema NOT IN ('pg_catalog', 'information_schema')",
        _ => "table_schema = database()",
    };
    let only = |column: &str| {
        of_table
            .map(|name| format!(" AND {column} = {}", literal(name)))
            .unwrap_or_default()
    };
    match (verb, dialect) {
        ("tables", _) => format!("SELECT table_schema, table_name, table_type FROM information_schema.tables WHERE {own} ORDER BY 1, 2"),
        ("schema", _) => format!(
            "SELECT table_schema, table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns WHERE {own}{} ORDER BY 1, 2, ordinal_position",
            only("table_name")
        ),
        ("indexes", Dialect::Postgres) => format!(
            "SELECT schemaname, tablename, indexname, indexdef FROM pg_indexes WHERE schemaname NOT IN ('pg_catalog', 'information_schema'){} ORDER BY 1, 2, 3",
            only("tablename")
        ),
        ("indexes", _) => format!(
            "SELECT table_name, index_name, column_name, non_unique FROM information_schema.statistics WHERE {own}{} ORDER BY 1, 2, seq_in_index",
            only("table_name")
        ),
        (_, Dialect::Postgres) => "SELECT schemaname, relname, n_live_tup, n_dead_tup, seq_scan, idx_scan, last_analyze FROM pg_stat_user_tables ORDER BY 1, 2".to_owned(),
        (_, _) => format!("SELECT table_name, table_rows, data_length, index_length FROM information_schema.tables WHERE {own} ORDER BY 1"),
    }
}

/// What a database refused, by its kind.
pub(super) fn problem(failure: &DatabaseFailure) -> Problem {
    let message = failure.to_string();
    match failure {
        DatabaseFailure::ReadOnly { .. } => Problem::new(&code::FORBIDDEN, message),
        DatabaseFailure::Timeout { .. } => Problem::new(&code::TIMEOUT, message),
        DatabaseFailure::Auth { .. } => Problem::new(&code::UNAUTHORIZED, message),
        DatabaseFailure::Unreachable { .. } => {
            Problem::internal("dev database", message).with("reason", "unreachable")
        }
        DatabaseFailure::Statement { code, position, .. } => {
            let refused = Problem::invalid("sql", "a statement the database takes", message)
                .with("sqlState", code.as_str());
            match position {
                Some(position) => refused.with("position", *position as u64),
                None => refused,
            }
        }
        DatabaseFailure::Unprotected { .. } | DatabaseFailure::Answer { .. } => {
            Problem::internal("dev database", message)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_names() {
        assert_eq!(
            table(Dialect::Postgres, "public.a\"; drop"),
            r#""public"."a""; drop""#
        );
        assert_eq!(table(Dialect::MySql, "a`b"), "`a``b`");
        assert!(
            catalogue(Dialect::Postgres, "schema", Some("o'hara"))
                .contains("table_name = 'o''hara'")
        );
    }
}
