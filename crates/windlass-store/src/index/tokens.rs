//! Which run a confirm token started: the mark that makes it single-use.

use rusqlite::{Connection, OptionalExtension, params};
use windlass_types::{RunId, Timestamp, TokenId};

use crate::{error::Result, row::parse_id, seal};

const TABLE: &str = "tokens";

pub(crate) fn redeem(
    connection: &Connection,
    token: &TokenId,
    run_id: &RunId,
    at: Timestamp,
) -> Result<()> {
    connection
        .prepare_cached("INSERT INTO tokens (token, run_id, used_at, sum) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![
            token.as_str(),
            run_id.as_str(),
            at.as_millis(),
            sum(token.as_str(), run_id.as_str(), at.as_millis())
        ])?;
    Ok(())
}

/// The run the token started.
pub(crate) fn redeemed_by(connection: &Connection, token: &TokenId) -> Result<Option<RunId>> {
    let found: Option<(String, i64, i64)> = connection
        .prepare_cached("SELECT run_id, used_at, sum FROM tokens WHERE token = ?1")?
        .query_row([token.as_str()], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    let Some((run_id, used_at, stored_sum)) = found else {
        return Ok(None);
    };
    seal::check(
        TABLE,
        token.as_str(),
        stored_sum,
        sum(token.as_str(), &run_id, used_at),
    )?;
    parse_id(&run_id).map(Some)
}

fn sum(token: &str, run_id: &str, used_at: i64) -> i64 {
    seal::seal(
        TABLE,
        &[token.as_bytes(), run_id.as_bytes(), &used_at.to_be_bytes()],
    )
}

/// Forgets tokens redeemed before a moment by which they have long expired.
pub(crate) fn forget(connection: &Connection, before: Timestamp) -> Result<()> {
    connection
        .prepare_cached(
            "DELETE FROM tokens WHERE used_at < ?1 \
             AND NOT EXISTS (SELECT 1 FROM journals WHERE journals.run_id = tokens.run_id)",
        )?
        .execute([before.as_millis()])?;
    Ok(())
}
