//! What the names of a statement mean to this PostgreSQL server, read from its catalogue.

use windlass_ports::database::{DatabaseFailure, FunctionCheck, Notation, SqlEngine, SqlRequest};

use super::session::Session;
use crate::connect::unexpected;
use crate::functions::{Candidate, MOST, judge, literals, read_only};

/// Operators that words stand for: `LIKE`, `IN`, `BETWEEN`, `IS DISTINCT FROM`, …
const BEHIND_WORDS: &str = "=<>~*!";

impl Session {
    /// Refuses a statement if a name in it could mean a function that may not be called.
    pub(super) async fn check_functions(
        &mut self,
        request: &SqlRequest,
        check: &FunctionCheck,
    ) -> Result<(), DatabaseFailure> {
        self.search_server_first(request).await?;
        let candidates = self.candidates(request, check).await?;
        judge(SqlEngine::Postgres, check, &candidates)?;
        self.check_operators(request, check).await
    }

    /// Puts the server's own schema before all others. It is there unless a `search_path` names it
    /// later; then other schemas' functions and operators would hide the server's.
    async fn search_server_first(&mut self, request: &SqlRequest) -> Result<(), DatabaseFailure> {
        self.look_up(
            "SELECT CASE WHEN (pg_catalog.current_schemas(true))[1] \
             OPERATOR(pg_catalog.=) 'pg_catalog'::pg_catalog.name THEN ''::pg_catalog.text \
             ELSE pg_catalog.set_config('search_path', COALESCE((\
             SELECT pg_catalog.string_agg(pg_catalog.quote_ident(s.name::pg_catalog.text), \
             ', '::pg_catalog.text ORDER BY s.place USING OPERATOR(pg_catalog.<)) \
             FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) \
             WITH ORDINALITY AS s(name, place) \
             WHERE s.name OPERATOR(pg_catalog.<>) 'pg_catalog'::pg_catalog.name), ''), true) END",
            request,
        )
        .await
        .map(drop)
    }

    async fn candidates(
        &mut self,
        request: &SqlRequest,
        check: &FunctionCheck,
    ) -> Result<Vec<Candidate>, DatabaseFailure> {
        if check.calls.is_empty() {
            return Ok(Vec::new());
        }
        let names = literals(check.calls.iter().map(|call| call.name.as_str()), false);
        let not_own = check
            .calls
            .iter()
            .filter(|call| !call.built_in && call.notation != Notation::Column);
        let not_own = literals(not_own.map(|call| call.name.as_str()), false);
        let statement = format!(
            "SELECT n.nspname::text, p.proname::text, \
             pg_catalog.pg_get_function_identity_arguments(p.oid), \
             (n.nspname = ANY (pg_catalog.current_schemas(true)))::text, \
             (p.provolatile <> 'v'::\"char\")::text, \
             (n.nspname = 'pg_catalog'::name AND p.oid < 16384::oid)::text, \
             EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.objid = p.oid \
               AND d.classid = 'pg_catalog.pg_proc'::regclass::oid AND d.deptype = 'e'::\"char\")::text, \
             (p.pronargs >= 1::int2 AND p.pronargs - p.pronargdefaults <= 1)::text, \
             COALESCE(t.typtype IN ('c'::\"char\", 'd'::\"char\", 'p'::\"char\"), false)::text \
             FROM pg_catalog.pg_proc p \
             JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace \
             LEFT JOIN pg_catalog.pg_type t ON t.oid = p.proargtypes[0] \
             WHERE p.proname = ANY (ARRAY[{names}]::name[]) \
             AND (n.nspname <> 'pg_catalog'::name OR p.oid >= 16384::oid \
               OR p.proname = ANY (ARRAY[{not_own}]::name[]))"
        );
        let rows = self.look_up(&statement, request).await?;
        rows.iter()
            .map(|row| match row.as_slice() {
                [Some(schema), Some(name), Some(arguments), flags @ ..] if flags.len() == 6 => {
                    let is = |index: usize| flags[index].as_deref() == Some("true");
                    Ok(Candidate {
                        schema: schema.clone(),
                        name: name.clone(),
                        arguments: arguments.clone(),
                        visible: is(0),
                        only_reads: is(1),
                        of_server: is(2),
                        of_extension: is(3),
                        takes_one: is(4),
                        takes_row: is(5),
                    })
                }
                _ => Err(unexpected("the catalogue of functions cannot be read")),
            })
            .collect()
    }

    /// An operator of a user calls a function of a user; only one that says it may change things
    /// is refused, since types of extensions and users need their operators.
    async fn check_operators(
        &mut self,
        request: &SqlRequest,
        check: &FunctionCheck,
    ) -> Result<(), DatabaseFailure> {
        let characters: String = BEHIND_WORDS
            .chars()
            .chain(check.operator_characters.iter().copied())
            .collect();
        let characters = literals([characters.as_str()].into_iter(), false);
        let statement = format!(
            "SELECT o.oprname::text, f.nspname::text, p.proname::text \
             FROM pg_catalog.pg_operator o \
             JOIN pg_catalog.pg_namespace n ON n.oid = o.oprnamespace \
             JOIN pg_catalog.pg_proc p ON p.oid = o.oprcode::oid \
             JOIN pg_catalog.pg_namespace f ON f.oid = p.pronamespace \
             WHERE o.oid >= 16384::oid AND p.provolatile = 'v'::\"char\" \
             AND n.nspname = ANY (pg_catalog.current_schemas(true)) \
             AND pg_catalog.btrim(o.oprname::text, {characters}::text) = ''::text"
        );
        for row in self.look_up(&statement, request).await? {
            let [Some(operator), Some(schema), Some(name)] = row.as_slice() else {
                return Err(unexpected("the catalogue of operators cannot be read"));
            };
            let rules = &check.allowed;
            if !rules
                .iter()
                .any(|rule| rule.allows(SqlEngine::Postgres, schema, name, false))
            {
                return Err(read_only(format!(
                    "the operator {operator} could call {schema}.{name}, which may change things; \
                     if it is harmless, mark it STABLE, or allow it in config.toml: [stack] \
                     allowed_functions = [\"{schema}.{name}\"]"
                )));
            }
        }
        Ok(())
    }

    async fn look_up(
        &mut self,
        statement: &str,
        request: &SqlRequest,
    ) -> Result<Vec<Vec<Option<String>>>, DatabaseFailure> {
        let answer = self.statement(statement, MOST, request.byte_limit).await?;
        if answer.dropped || answer.rows.len() >= MOST {
            return Err(read_only(
                "the statement's names stand for more functions than can be checked".to_owned(),
            ));
        }
        Ok(answer.rows)
    }
}
