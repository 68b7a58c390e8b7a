//! The artifacts a journal names, and through them which contents are still wanted.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, Row, params};
use windlass_types::{ArtifactRef, Digest, Timestamp};

use crate::{
    error::Result,
    journal::Journal,
    row::{from_json, to_json},
    seal,
};

const TABLE: &str = "artifacts";

pub(crate) fn store(
    connection: &Connection,
    journal: &Journal,
    seq: u64,
    artifact: &ArtifactRef,
) -> Result<()> {
    let record = to_json(artifact)?;
    let row = ArtifactRow {
        journal: journal.id,
        seq,
        record,
    };
    connection
        .prepare_cached(
            "INSERT INTO artifacts (journal, seq, record, sum) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![row.journal, seq, row.record, row.sum()])?;
    Ok(())
}

/// The latest artifact of each name, in the order of names.
pub(crate) fn latest(connection: &Connection, journal: &Journal) -> Result<Vec<ArtifactRef>> {
    let mut statement = connection.prepare_cached(
        "SELECT journal, seq, record, sum FROM artifacts WHERE journal = ?1 ORDER BY seq",
    )?;
    let mut rows = statement.query([journal.id])?;
    let mut latest = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let artifact = ArtifactRow::read(row)?;
        latest.insert(artifact.name.clone(), artifact);
    }
    Ok(latest.into_values().collect())
}

/// Every content that an artifact names which has not expired at `now`.
pub(crate) fn wanted_contents(
    connection: &Connection,
    now: Timestamp,
    without: &BTreeSet<i64>,
) -> Result<BTreeSet<Digest>> {
    let mut statement = connection.prepare("SELECT journal, seq, record, sum FROM artifacts")?;
    let mut rows = statement.query([])?;
    let mut digests = BTreeSet::new();
    while let Some(row) = rows.next()? {
        let journal: i64 = row.get(0)?;
        let artifact = ArtifactRow::read(row)?;
        if artifact
            .expires_at
            .is_none_or(|expires_at| expires_at > now)
            && !without.contains(&journal)
        {
            digests.insert(artifact.sha256);
        }
    }
    Ok(digests)
}

struct ArtifactRow {
    journal: i64,
    seq: u64,
    record: String,
}

impl ArtifactRow {
    fn sum(&self) -> i64 {
        seal::seal(
            TABLE,
            &[
                &self.journal.to_be_bytes(),
                &self.seq.to_be_bytes(),
                self.record.as_bytes(),
            ],
        )
    }

    fn read(row: &Row<'_>) -> Result<ArtifactRef> {
        let found = Self {
            journal: row.get(0)?,
            seq: row.get(1)?,
            record: row.get(2)?,
        };
        let key = format!("{}/{}", found.journal, found.seq);
        seal::check(TABLE, &key, row.get(3)?, found.sum())?;
        from_json(TABLE, &key, &found.record)
    }
}
