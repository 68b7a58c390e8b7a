//! Versioned schema: each step once, all that are missing in one transaction.

use rusqlite::{Connection, TransactionBehavior};
use windlass_ports::StoreError;

use crate::{
    error::{Failure, Result},
    index::{due, runs},
    lease, rebuild,
};

/// Marks the file as a Windlass store ("WNDL").
const APPLICATION_ID: i32 = 0x574E_444C;

struct Migration {
    sql: &'static str,
    /// What fills the new tables afterwards.
    fill: fn(&Connection) -> Result<()>,
}

/// Steps are added, never edited. Version N is the state after step N.
const MIGRATIONS: &[Migration] = &[
    Migration {
        sql: include_str!("migrations/001_journal.sql"),
        fill: |_| Ok(()),
    },
    Migration {
        sql: include_str!("migrations/002_indexes.sql"),
        fill: |connection| rebuild::derive_all(connection, connection).map(drop),
    },
    Migration {
        sql: include_str!("migrations/003_leases.sql"),
        fill: fill_leases,
    },
    Migration {
        sql: include_str!("migrations/004_seal.sql"),
        // Filled when the store is sealed, which takes a key.
        fill: |_| Ok(()),
    },
    Migration {
        sql: include_str!("migrations/005_heads.sql"),
        // Heads are sealed later, which takes a key.
        fill: runs::release_imported_keys,
    },
];

/// The first schema whose history is sealed.
pub(crate) const SEALED: u32 = 4;

/// The newest schema this version knows.
pub(crate) const NEWEST: u32 = MIGRATIONS.len() as u32;

/// The schema of an open store; an error when it is from the future.
pub(crate) fn version(connection: &Connection) -> Result<u32> {
    let found: u32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found > NEWEST {
        return Err(StoreError::Newer {
            found,
            known: NEWEST,
        }
        .into());
    }
    Ok(found)
}

/// Brings the schema up to date, in one transaction. `seal` closes it where the history was not
/// sealed before.
pub(crate) fn migrate(
    connection: &mut Connection,
    seal: impl FnOnce(&Connection) -> Result<()>,
) -> Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Read here: another process may have been faster while this one waited for the lock.
    let from = version(&transaction)?;
    if from == 0 {
        refuse_foreign(&transaction)?;
        transaction.execute_batch(&format!("PRAGMA application_id = {APPLICATION_ID}"))?;
    }
    let steps = &MIGRATIONS[from as usize..];
    for step in steps {
        transaction.execute_batch(step.sql)?;
    }
    // What is derived is derived into the newest tables, so these come first.
    for step in steps {
        (step.fill)(&transaction)?;
    }
    transaction.execute_batch(&format!("PRAGMA user_version = {NEWEST}"))?;
    if from < SEALED {
        seal(&transaction)?;
    }
    transaction.commit()?;
    Ok(())
}

/// Before there were leases, one driver executed every run that had begun.
fn fill_leases(connection: &Connection) -> Result<()> {
    lease::abandon(connection, &runs::begun(connection)?)?;
    due::fill(connection)
}

fn refuse_foreign(connection: &Connection) -> Result<()> {
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables > 0 {
        return Err(Failure::damaged(
            "windlass.db holds tables but no schema version; it is not a Windlass store",
        ));
    }
    Ok(())
}
