//! Webhook receivers that said they are gone. Deliveries to them wait, but for those asked
//! for by hand.

use rusqlite::{Connection, params};
use windlass_types::journal::EndpointDisabled;

use crate::{error::Result, seal};

const TABLE: &str = "disabled_endpoints";

/// What a receiver is called in the table: its address, for one that is gone for everyone, or
/// whose deliveries it is gone for and its address.
fn place(owner: Option<&str>, url: &str) -> String {
    match owner {
        Some(owner) => format!("{owner} {url}"),
        None => url.to_owned(),
    }
}

pub(crate) fn disable(
    connection: &Connection,
    disabled: &EndpointDisabled,
    position: i64,
) -> Result<()> {
    let place = place(disabled.owner.as_deref(), &disabled.url);
    connection
        .prepare_cached("INSERT INTO disabled_endpoints (url, position, sum) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING")?
        .execute(params![place, position, seal::seal(TABLE, &[place.as_bytes(), &position.to_be_bytes()])])?;
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
