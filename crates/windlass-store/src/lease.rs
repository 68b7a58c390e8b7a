//! Leases as rows: who holds what, taken and given back inside the transaction of a commit.

use rusqlite::{Connection, OptionalExtension, params};
use windlass_ports::{CommitError, Fence, LeaseName, LeaseRecord, LeaseUse};
use windlass_types::RunId;

use crate::{
    drivers::Drivers,
    error::{Failure, Result},
    row::parse_id,
    seal,
};

const TABLE: &str = "leases";
/// Before the id in the names of leases on deliveries; no run id has a slash.
const DELIVERY: &str = "delivery/";

/// Whether the commit may be made under its lease.
pub(crate) fn check(
    connection: &Connection,
    drivers: &Drivers,
    lease: &LeaseUse,
) -> Result<(), CommitError> {
    let current = |name: &LeaseName| {
        find(connection, &key(name)).map_err(|failure| CommitError::Store(failure.into()))
    };
    match lease {
        LeaseUse::Hold(fence) | LeaseUse::Release(fence) => {
            match current(&fence.name)?.is_some_and(|row| row.epoch == fence.epoch) {
                true => Ok(()),
                false => Err(CommitError::Fenced),
            }
        }
        LeaseUse::Take {
            name,
            driver,
            replaces,
        } => {
            let row = current(name)?;
            let is_free = row
                .as_ref()
                .is_none_or(|row| row.driver == *driver || !drivers.is_alive(row.driver));
            if row.map(|row| row.epoch) == *replaces && is_free {
                Ok(())
            } else {
                Err(CommitError::Leased)
            }
        }
    }
}

/// Takes or gives back a lease that `check` allowed; the epoch of one that was taken.
pub(crate) fn apply(connection: &Connection, lease: &LeaseUse) -> Result<Option<u64>> {
    match lease {
        LeaseUse::Hold(_) => Ok(None),
        LeaseUse::Release(Fence { name, .. }) => {
            remove(connection, &key(name))?;
            Ok(None)
        }
        LeaseUse::Take { name, driver, .. } => {
            let epoch: u64 = connection
                .prepare_cached("UPDATE floors SET lease = lease + 1 WHERE id = 1 RETURNING lease")?
                .query_row([], |row| row.get(0))?;
            insert(connection, &key(name), *driver, epoch)?;
            Ok(Some(epoch))
        }
    }
}

/// The run is over or is held; nobody executes it.
pub(crate) fn end(connection: &Connection, run_id: &RunId) -> Result<()> {
    remove(connection, run_id.as_str())
}

/// Leaves runs as a driver does that has died while it executed them.
pub(crate) fn abandon(connection: &Connection, run_ids: &[RunId]) -> Result<()> {
    for run_id in run_ids {
        insert(connection, run_id.as_str(), 0, 0)?;
    }
    Ok(())
}

/// The lease of a name.
pub(crate) fn of(
    connection: &Connection,
    drivers: &Drivers,
    name: &LeaseName,
) -> Result<Option<LeaseRecord>> {
    let row = find(connection, &key(name))?;
    Ok(row.map(|row| row.into_record(drivers, name.clone())))
}

/// Every lease on a run, oldest first.
pub(crate) fn of_runs(connection: &Connection, drivers: &Drivers) -> Result<Vec<LeaseRecord>> {
    let mut statement =
        connection.prepare_cached("SELECT name, driver, epoch, sum FROM leases ORDER BY epoch")?;
    let mut rows = statement.query([])?;
    let mut leases = Vec::new();
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        let found = LeaseRow::checked(&name, row.get(1)?, row.get(2)?, row.get(3)?)?;
        if !name.starts_with(DELIVERY) {
            let name = LeaseName::Run(parse_id(&name)?);
            leases.push(found.into_record(drivers, name));
        }
    }
    Ok(leases)
}

/// The drivers that hold something.
pub(crate) fn owners(connection: &Connection) -> Result<Vec<u64>> {
    let mut statement = connection.prepare_cached("SELECT DISTINCT driver FROM leases")?;
    let drivers = statement.query_map([], |row| row.get(0))?;
    Ok(drivers.collect::<rusqlite::Result<_>>()?)
}

struct LeaseRow {
    driver: u64,
    epoch: u64,
}

impl LeaseRow {
    fn checked(name: &str, driver: u64, epoch: u64, stored: i64) -> Result<Self> {
        seal::check(TABLE, name, stored, sum(name, driver, epoch))?;
        Ok(Self { driver, epoch })
    }

    fn into_record(self, drivers: &Drivers, name: LeaseName) -> LeaseRecord {
        LeaseRecord {
            name,
            driver: self.driver,
            epoch: self.epoch,
            is_alive: drivers.is_alive(self.driver),
        }
    }
}

fn find(connection: &Connection, name: &str) -> Result<Option<LeaseRow>> {
    let found: Option<(u64, u64, i64)> = connection
        .prepare_cached("SELECT driver, epoch, sum FROM leases WHERE name = ?1")?
        .query_row([name], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()
        .map_err(Failure::from)?;
    found
        .map(|(driver, epoch, stored)| LeaseRow::checked(name, driver, epoch, stored))
        .transpose()
}

fn insert(connection: &Connection, name: &str, driver: u64, epoch: u64) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO leases (name, driver, epoch, sum) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (name) \
             DO UPDATE SET driver = excluded.driver, epoch = excluded.epoch, sum = excluded.sum",
        )?
        .execute(params![name, driver, epoch, sum(name, driver, epoch)])?;
    Ok(())
}

fn remove(connection: &Connection, name: &str) -> Result<()> {
    connection
        .prepare_cached("DELETE FROM leases WHERE name = ?1")?
        .execute([name])?;
    Ok(())
}

fn key(name: &LeaseName) -> String {
    match name {
        LeaseName::Run(run_id) => run_id.as_str().to_owned(),
        LeaseName::Delivery(delivery) => format!("{DELIVERY}{delivery}"),
    }
}

fn sum(name: &str, driver: u64, epoch: u64) -> i64 {
    seal::seal(
        TABLE,
        &[name.as_bytes(), &driver.to_be_bytes(), &epoch.to_be_bytes()],
    )
}
