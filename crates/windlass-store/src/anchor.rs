//! Anchors: taken from the mark, and compared with what the store holds later.

use std::{io::ErrorKind, path::Path};

use fs_err as fs;
use rusqlite::{Connection, OptionalExtension};
use windlass_files::{Access, Directory};
use windlass_ports::AnchorState;
use windlass_types::{Anchor, Digest, Timestamp};

use crate::{
    error::Result,
    history::{self, SealKey},
    home::Home,
    mark::read_mark,
    read,
};

/// How far the history went; nothing while the mark cannot be read.
pub(crate) fn take(
    home: &Home,
    connection: &Connection,
    key: &SealKey,
    now: Timestamp,
) -> Result<Option<Anchor>> {
    // Before the mark, which then covers everything that was pruned.
    let Some(pruned) = history::pruned(connection, key)? else {
        return Ok(None);
    };
    Ok(read_mark(home, key)?.ok().map(|mark| Anchor {
        time: now,
        position: mark.position.unsigned_abs(),
        hash: mark.hash,
        events: mark.tally.events,
        pruned: pruned.events,
        sum: Digest::from_bytes(mark.tally.sum_bytes()),
    }))
}

/// How the places outside the home took the last anchor. A record that cannot be read says nothing.
pub(crate) fn states(home: &Home) -> Result<Vec<AnchorState>> {
    match fs::read(home.anchor_states()) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).unwrap_or_default()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// Puts that on record.
pub(crate) fn note(home: &Home, states: &[AnchorState]) -> Result<()> {
    let text = serde_json::to_vec(states).map_err(std::io::Error::other)?;
    let path = home.anchor_states();
    let name = path.file_name().unwrap_or_default();
    let root = Directory::open(home.root()).map_err(std::io::Error::from)?;
    root.write(Path::new(name), &text, Access::Private)
        .map_err(std::io::Error::from)?;
    Ok(())
}

/// What the store does not hold of what was anchored, one line each. Exact for anchors since the
/// last prune; of older ones the newest event is compared.
pub(crate) fn compare(
    connection: &Connection,
    key: &SealKey,
    mut anchors: Vec<Anchor>,
) -> Result<Vec<String>> {
    anchors.sort_unstable_by_key(|anchor| anchor.position);
    let end = read::position(connection)?;
    let floor: u64 =
        connection.query_row("SELECT position FROM floors WHERE id = 1", [], |row| {
            row.get(0)
        })?;
    let Some(pruned) = history::pruned(connection, key)? else {
        return Ok(vec!["the count of pruned events is missing".to_owned()]);
    };
    let mut findings = Vec::new();
    let (mut counted, mut after) = (pruned, -1);
    for anchor in anchors {
        let position = i64::try_from(anchor.position).unwrap_or(i64::MAX);
        if anchor.position > end {
            findings.push(format!(
                "the anchor of {} covers events up to {}, and the store ends at {end}",
                anchor.time, anchor.position
            ));
            continue;
        }
        counted = counted.plus(history::stretch(connection, key, after, position)?.tally);
        after = after.max(position);
        let hash: Option<[u8; 32]> = connection
            .prepare_cached("SELECT hash FROM events WHERE position = ?1")?
            .query_row([position], |row| row.get(0))
            .optional()?;
        let is_there = match hash.map(Digest::from_bytes) {
            Some(hash) => hash == anchor.hash,
            None => anchor.position <= floor,
        };
        let adds_up = anchor.pruned != pruned.events
            || (anchor.events == counted.events && anchor.sum.as_bytes() == &counted.sum_bytes());
        if !is_there || !adds_up {
            findings.push(format!(
                "events up to {} are not those of the anchor of {}",
                anchor.position, anchor.time
            ));
        }
    }
    Ok(findings)
}
