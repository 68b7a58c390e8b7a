//! Verifying everything: the file, every chain, every index against the journals it is
//! derived from, every content against its digest.

use std::collections::BTreeMap;

use fs_err as fs;
use rusqlite::{Connection, types::ValueRef};
use windlass_ports::{StoreError, store::CheckReport};
use windlass_types::{Body, Digest, Event, RunRecord, Timestamp};

use crate::{
    blob,
    error::{Failure, Result},
    home::Home,
    index::{self, DERIVED_TABLES, artifacts, runs},
    journal::Journal,
    migrate, rebuild,
};

const PAGE: usize = 1000;
/// A badly damaged store has more to say than anybody reads.
const MAX_FINDINGS: usize = 200;

/// Checks the store. Damage is a finding; an error means that the check could not be made.
pub(crate) fn check(home: &Home, connection: &Connection) -> Result<CheckReport> {
    let mut report = CheckReport::default();
    let snapshot = connection.unchecked_transaction()?;
    note(&mut report, check_file)(&snapshot)?;
    let journals = match Journal::all(&snapshot) {
        Ok(journals) => journals,
        Err(failure) => {
            finding(&mut report, failure)?;
            Vec::new()
        }
    };
    for journal in &journals {
        match check_journal(&snapshot, journal) {
            Ok(events) => report.events += events,
            Err(failure) => finding(&mut report, failure)?,
        }
        report.journals += 1;
    }
    if let Err(failure) = check_count(&snapshot, report.events) {
        finding(&mut report, failure)?;
    }
    match compare_indexes(&snapshot, &journals) {
        Ok(differences) => report.findings.extend(differences),
        Err(failure) => finding(&mut report, failure)?,
    }
    check_contents(home, &snapshot, &mut report)?;
    report.findings.dedup();
    report.findings.truncate(MAX_FINDINGS);
    Ok(report)
}
