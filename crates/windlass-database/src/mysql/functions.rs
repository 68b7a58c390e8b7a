//! What the names of a statement mean to this MySQL or MariaDB server.
//!
//! A function of the server itself wins over a stored one of the same name, except where a space
//! before the parenthesis makes the name a plain one; so stored functions are looked up by name.

use serde_json::Value;
use windlass_ports::database::{DatabaseFailure, FunctionCheck, SqlEngine, SqlRequest};

use super::session::Session;
use crate::connect::unexpected;
use crate::functions::{Candidate, MOST, judge, literals};

impl Session {
    /// Refuses a statement if a name in it could mean a stored function that may not be called.
    pub(super) async fn check_functions(
        &mut self,
        request: &SqlRequest,
        check: &FunctionCheck,
    ) -> Result<(), DatabaseFailure> {
        if check.calls.is_empty() {
            return Ok(());
        }
        let names = literals(check.calls.iter().map(|call| call.name.as_str()), true);
        // A limit of its own, since the session has the statement's.
        let statement = format!(
            "SELECT routine_schema AS owner, routine_name AS name, \
             IF(routine_schema = DATABASE(), 1, 0) AS visible, \
             IF(sql_data_access IN ('NO SQL', 'READS SQL DATA'), 1, 0) AS reading \
             FROM information_schema.routines \
             WHERE routine_type = 'FUNCTION' AND routine_name IN ({names}) \
             LIMIT {}",
            MOST + 1
        );
        let rows = self.statement(&statement, MOST, request.byte_limit).await?;
        let candidates = rows.rows.iter().map(|row| {
            let text = |name: &str| row.get(name).and_then(Value::as_str).map(str::to_owned);
            let is = |name: &str| row.get(name) == Some(&Value::from(1));
            let (schema, name) = text("owner").zip(text("name"))?;
            Some(Candidate {
                schema,
                name,
                visible: is("visible"),
                only_reads: is("reading"),
                ..Candidate::default()
            })
        });
        let candidates: Option<Vec<Candidate>> = candidates.collect();
        let candidates = candidates
            .filter(|_| !rows.truncated)
            .ok_or_else(|| unexpected("the catalogue of functions cannot be read"))?;
        judge(SqlEngine::MySql, check, &candidates)
    }
}
