//! Versioned schema: each step once, each in a transaction of its own.

use rusqlite::{Connection, TransactionBehavior};
use windlass_ports::StoreError;

use crate::{
    error::{Failure, Result},
    rebuild,
};

/// Marks the file as a Windlass store ("WNDL").
const APPLICATION_ID: i32 = 0x574E_444C;

struct Migration {
    sql: &'static str,
    /// Whether the derived tables are filled from the events afterwards.
    rebuilds: bool,
}

/// Steps are added, never edited. Version N is the state after step N.
const MIGRATIONS: &[Migration] = &[
    Migration {
        sql: include_str!("migrations/001_journal.sql"),
        rebuilds: false,
    },
    Migration {
        sql: include_str!("migrations/002_indexes.sql"),
        rebuilds: true,
    },
];

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

/// Brings the schema up to date.
pub(crate) fn migrate(connection: &mut Connection) -> Result<()> {
    while version(connection)? < NEWEST {
        step(connection)?;
    }
    Ok(())
}

fn step(connection: &mut Connection) -> Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Read again: another process may have been faster while this one waited for the lock.
    let from = version(&transaction)?;
    let Some(migration) = MIGRATIONS.get(from as usize) else {
        return Ok(());
    };
    if from == 0 {
        refuse_foreign(&transaction)?;
        transaction.execute_batch(&format!("PRAGMA application_id = {APPLICATION_ID}"))?;
    }
    transaction.execute_batch(migration.sql)?;
    if migration.rebuilds {
        rebuild::derive_all(&transaction, &transaction)?;
    }
    transaction.execute_batch(&format!("PRAGMA user_version = {}", from + 1))?;
    transaction.commit()?;
    Ok(())
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
