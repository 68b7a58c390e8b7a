//! Checksums of index rows. SQLite checks its log but not its pages; an index row that no
//! longer says what the journal said must not be answered with.

use windlass_types::Digest;

use crate::error::{Failure, Result};

/// The checksum of a row: its table and every column, each with its length.
pub(crate) fn seal(table: &str, columns: &[&[u8]]) -> i64 {
    let mut parts = Vec::with_capacity(columns.len() + 1);
    parts.push(table.as_bytes());
    parts.extend_from_slice(columns);
    let digest = Digest::of_parts(&parts);
    let mut head = [0; 8];
    head.copy_from_slice(&digest.as_bytes()[..8]);
    i64::from_be_bytes(head)
}

/// Checks a row that was read: `sum` is what it holds, `expected` what its content gives.
pub(crate) fn check(table: &str, key: &str, sum: i64, expected: i64) -> Result<()> {
    if sum == expected {
        Ok(())
    } else {
        Err(Failure::damaged(format!(
            "the row {key} of {table} was altered"
        )))
    }
}

/// An optional text as bytes in which absent and empty differ.
pub(crate) fn optional(text: Option<&str>) -> Vec<u8> {
    match text {
        Some(text) => [b"+", text.as_bytes()].concat(),
        None => b"-".to_vec(),
    }
}
