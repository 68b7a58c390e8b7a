//! The functions a statement calls and those it may call, as plain data.
//!
//! A text shows names; what they stand for is known to the server. The domain that asks collects
//! the names, the adapter looks them up and refuses what is not allowed here.

use std::collections::BTreeSet;

use super::SqlEngine;

/// What a statement calls, and what it may call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionCheck {
    /// What it calls, or could call.
    pub calls: BTreeSet<FunctionCall>,
    /// The characters of its operators.
    pub operator_characters: BTreeSet<char>,
    /// What may be called beyond the server's own functions.
    pub allowed: Vec<AllowedFunction>,
}

/// A name that is called, or could be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FunctionCall {
    /// The schema before it; in MySQL the database.
    pub schema: Option<String>,
    /// The name as the server looks it up.
    pub name: String,
    /// How it is written.
    pub notation: Notation,
    /// Whether the server's own function of this name may be called.
    pub built_in: bool,
}

/// How a call is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Notation {
    /// `name(…)`.
    Call,
    /// `table.name`: a column, or in PostgreSQL a function of the row.
    Column,
    /// `(value).name`: a field, or in PostgreSQL a function of the value.
    Field,
}

/// A function, or the functions of a schema, that an installation allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedFunction {
    /// The schema, in MySQL the database; none for a function of the server itself.
    schema: Option<String>,
    /// The name; none for every function of the schema that does not change anything.
    name: Option<String>,
}

impl AllowedFunction {
    /// Reads `schema.function`, `schema.*`, or `function` for one of the server itself.
    pub fn parse(text: &str) -> Option<Self> {
        let is_name = |name: &str| {
            !name.is_empty()
                && !name.contains(|c: char| c.is_whitespace() || "\"`'().*".contains(c))
        };
        let named = |name: &str| is_name(name).then(|| name.to_owned());
        match text.split_once('.') {
            None => named(text).map(|name| Self {
                schema: None,
                name: Some(name),
            }),
            Some((schema, "*")) => named(schema).map(|schema| Self {
                schema: Some(schema),
                name: None,
            }),
            Some((schema, name)) => named(schema).zip(named(name)).map(|(schema, name)| Self {
                schema: Some(schema),
                name: Some(name),
            }),
        }
    }

    /// Whether a call could mean a function that is allowed by this; the server knows for certain.
    pub fn may_name(&self, engine: SqlEngine, call: &FunctionCall) -> bool {
        let schema = match engine {
            // Without a schema PostgreSQL searches several.
            SqlEngine::Postgres => call
                .schema
                .as_deref()
                .is_none_or(|schema| schema == self.schema(engine)),
            // Without a database MySQL prefers its own function.
            SqlEngine::MySql => same(
                engine,
                call.schema.as_deref().unwrap_or_default(),
                self.schema(engine),
            ),
        };
        schema
            && self
                .name
                .as_ref()
                .is_none_or(|name| same(engine, name, &call.name))
    }

    /// Whether this allows a function of the server's catalogue.
    pub fn allows(&self, engine: SqlEngine, schema: &str, name: &str, only_reads: bool) -> bool {
        same(engine, schema, self.schema(engine))
            && match &self.name {
                Some(own) => same(engine, own, name),
                None => only_reads,
            }
    }

    fn schema(&self, engine: SqlEngine) -> &str {
        match (&self.schema, engine) {
            (Some(schema), _) => schema,
            (None, SqlEngine::Postgres) => "pg_catalog",
            (None, SqlEngine::MySql) => "",
        }
    }
}

/// MySQL ignores the case of functions; that of databases depends on the machine.
fn same(engine: SqlEngine, one: &str, other: &str) -> bool {
    match engine {
        SqlEngine::Postgres => one == other,
        SqlEngine::MySql => one.eq_ignore_ascii_case(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(schema: Option<&str>, name: &str) -> FunctionCall {
        FunctionCall {
            schema: schema.map(str::to_owned),
            name: name.to_owned(),
            notation: Notation::Call,
            built_in: false,
        }
    }

    #[test]
    fn entries_are_read_or_refused() {
        for text in ["app.score", "app.*", "pg_sleep", "Größe.fläche"] {
            assert!(AllowedFunction::parse(text).is_some(), "{text}");
        }
        for text in [
            "", "*", ".", "a.", ".b", "a.b.c", "*.b", "a b", "f()", "a.b*", "\"a\".b",
        ] {
            assert_eq!(AllowedFunction::parse(text), None, "{text}");
        }
    }

    #[test]
    fn an_entry_names_what_it_says() {
        use SqlEngine::{MySql, Postgres};
        for (entry, engine, schema, name, named) in [
            ("app.score", Postgres, None, "score", true),
            ("app.score", Postgres, Some("app"), "score", true),
            ("app.score", Postgres, Some("other"), "score", false),
            ("app.score", Postgres, None, "other", false),
            ("app.score", Postgres, None, "Score", false),
            ("app.*", Postgres, Some("app"), "anything", true),
            ("pg_sleep", Postgres, Some("pg_catalog"), "pg_sleep", true),
            ("pg_sleep", Postgres, Some("app"), "pg_sleep", false),
            ("app.score", MySql, Some("APP"), "SCORE", true),
            ("app.score", MySql, None, "score", false),
            ("app.*", MySql, None, "load_file", false),
            ("sleep", MySql, None, "sleep", true),
            ("sleep", MySql, Some("app"), "sleep", false),
        ] {
            let rule = AllowedFunction::parse(entry).unwrap();
            assert_eq!(
                rule.may_name(engine, &call(schema, name)),
                named,
                "{entry} {schema:?} {name}"
            );
        }
        let whole = AllowedFunction::parse("app.*").unwrap();
        assert!(whole.allows(Postgres, "app", "f", true));
        assert!(!whole.allows(Postgres, "app", "f", false));
        assert!(!whole.allows(Postgres, "other", "f", true));
        let one = AllowedFunction::parse("app.f").unwrap();
        assert!(one.allows(Postgres, "app", "f", false));
    }
}
