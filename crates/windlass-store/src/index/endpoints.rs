//! Webhook receivers that said they are gone. Deliveries to them wait, but for those asked
//! for by hand.

use rusqlite::{Connection, params};

use crate::{error::Result, seal};

const TABLE: &str = "disabled_endpoints";

pub(crate) fn disable(connection: &Connection, url: &str, position: i64) -> Result<()> {
    connection
        .prepare_cached("INSERT INTO disabled_endpoints (url, position, sum) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING")?
        .execute(params![url, position, seal::seal(TABLE, &[url.as_bytes(), &position.to_be_bytes()])])?;
    Ok(())
}

/// Whether a receiver is off because of this event.
pub(crate) fn rests_on(connection: &Connection, journal: i64, seq: u64) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM disabled_endpoints JOIN events USING (position) \
             WHERE events.journal = ?1 AND events.seq = ?2)",
        )?
        .query_row(params![journal, seq], |row| row.get(0))?)
}
