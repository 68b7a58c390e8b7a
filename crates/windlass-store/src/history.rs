//! The history of the store as two numbers that can be kept outside it: how many events were ever
//! written, and the sum of a keyed hash of each.
//!
//! The sum does not depend on order, so events that prune removes can be counted apart: what is
//! there and what was pruned must add up to what was sealed. Without the key nobody can say what
//! an event adds, so nobody can replace, remove or insert one and keep the sum.

use hmac::{Hmac, KeyInit, Mac};
use rusqlite::{Connection, OptionalExtension, params};
use sha2::Sha256;
use windlass_types::{Digest, Secret};

use crate::error::{Failure, Result};

const EVENT: &[u8] = b"windlass.seal.event.v1\0";
const PRUNED: &[u8] = b"windlass.seal.pruned.v1\0";
const NAME: &[u8] = b"windlass.seal.name.v1\0";

/// The key that seals the history. It lies beside the store, in a file of its own.
#[derive(Clone)]
pub(crate) struct SealKey {
    keyed: Hmac<Sha256>,
}

impl SealKey {
    /// Without a key the seal is a checksum: it shows damage, not forgery.
    pub(crate) fn new(key: Option<&Secret<Vec<u8>>>) -> Self {
        let bytes = key.map_or(&[][..], |key| key.expose_secret().as_slice());
        // HMAC takes keys of any length, so the error cannot happen.
        let keyed = Hmac::<Sha256>::new_from_slice(bytes)
            .unwrap_or_else(|_| Hmac::<Sha256>::new(&Default::default()));
        Self { keyed }
    }

    /// Says which key it is and nothing about it.
    pub(crate) fn name(&self) -> [u8; 8] {
        let mut name = [0; 8];
        name.copy_from_slice(&self.mac(NAME, &[])[..8]);
        name
    }

    pub(crate) fn mac(&self, purpose: &[u8], parts: &[&[u8]]) -> [u8; 32] {
        self.begin(purpose, parts).finalize().into_bytes().into()
    }

    /// Compares in constant time.
    pub(crate) fn is_mac(&self, purpose: &[u8], parts: &[&[u8]], mac: &[u8]) -> bool {
        self.begin(purpose, parts).verify_slice(mac).is_ok()
    }

    fn begin(&self, purpose: &[u8], parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac = self.keyed.clone();
        mac.update(purpose);
        for part in parts {
            mac.update(part);
        }
        mac
    }
}

/// A number of events, and the sum of their keyed hashes modulo 2^256.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) events: u64,
    sum: [u64; 4],
}

impl Tally {
    fn count(&mut self, key: &SealKey, event: &TalliedEvent) {
        let mac = key.mac(
            EVENT,
            &[
                &event.position.to_be_bytes(),
                event.hash.as_bytes(),
                &[u8::from(event.is_imported)],
            ],
        );
        self.events += 1;
        self.add_sum(limbs(&mac));
    }

    /// Both together.
    pub(crate) fn plus(mut self, other: Self) -> Self {
        self.events += other.events;
        self.add_sum(other.sum);
        self
    }

    fn add_sum(&mut self, other: [u64; 4]) {
        let mut carry = false;
        for (limb, added) in self.sum.iter_mut().zip(other) {
            let (sum, over) = limb.overflowing_add(added);
            let (sum, over_by_carry) = sum.overflowing_add(u64::from(carry));
            *limb = sum;
            carry = over || over_by_carry;
        }
    }

    pub(crate) fn sum_bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (chunk, limb) in bytes.chunks_exact_mut(8).zip(self.sum) {
            chunk.copy_from_slice(&limb.to_le_bytes());
        }
        bytes
    }

    pub(crate) fn from_parts(events: u64, sum: &[u8; 32]) -> Self {
        Self {
            events,
            sum: limbs(sum),
        }
    }
}

fn limbs(bytes: &[u8; 32]) -> [u64; 4] {
    let mut limbs = [0; 4];
    for (limb, chunk) in limbs.iter_mut().zip(bytes.chunks_exact(8)) {
        let mut eight = [0; 8];
        eight.copy_from_slice(chunk);
        *limb = u64::from_le_bytes(eight);
    }
    limbs
}

struct TalliedEvent {
    position: i64,
    hash: Digest,
    is_imported: bool,
}

/// Events that were counted: how many, their sum, and the place of the last.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stretch {
    pub(crate) tally: Tally,
    pub(crate) last: Option<(i64, Digest)>,
}

/// Counts the stored events after one position and up to another.
pub(crate) fn stretch(
    connection: &Connection,
    key: &SealKey,
    after: i64,
    by: i64,
) -> Result<Stretch> {
    count(
        connection,
        key,
        "position > ?1 AND position <= ?2",
        (after, by),
    )
}

/// Counts the events of a journal up to a place: those that prune is about to remove.
pub(crate) fn of_journal(
    connection: &Connection,
    key: &SealKey,
    journal: i64,
    through: i64,
) -> Result<Tally> {
    let counted = count(
        connection,
        key,
        "journal = ?1 AND seq <= ?2",
        (journal, through),
    )?;
    Ok(counted.tally)
}

fn count(
    connection: &Connection,
    key: &SealKey,
    which: &str,
    bounds: (i64, i64),
) -> Result<Stretch> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT position, hash, seq <= ifnull((SELECT imported_seq FROM journals WHERE id = journal), 0) \
         FROM events WHERE {which} ORDER BY position"
    ))?;
    let mut rows = statement.query(bounds)?;
    let mut counted = Stretch::default();
    while let Some(row) = rows.next()? {
        let event = TalliedEvent {
            position: row.get(0)?,
            hash: Digest::from_bytes(row.get(1)?),
            is_imported: row.get(2)?,
        };
        counted.tally.count(key, &event);
        counted.last = Some((event.position, event.hash));
    }
    Ok(counted)
}

/// What prune has removed so far. `None` before the store was sealed for the first time.
pub(crate) fn pruned(connection: &Connection, key: &SealKey) -> Result<Option<Tally>> {
    let row = connection
        .query_row(
            "SELECT events, sum, seal FROM pruned WHERE id = 1",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, Vec<u8>>(2)?)),
        )
        .optional()?;
    let Some((events, sum, seal)): Option<(u64, [u8; 32], Vec<u8>)> = row else {
        return Ok(None);
    };
    if !key.is_mac(PRUNED, &[&events.to_be_bytes(), &sum], &seal) {
        return Err(Failure::damaged(
            "the count of pruned events was altered, or sealed with another key",
        ));
    }
    Ok(Some(Tally::from_parts(events, &sum)))
}

pub(crate) fn set_pruned(connection: &Connection, key: &SealKey, pruned: Tally) -> Result<()> {
    let sum = pruned.sum_bytes();
    let seal = key.mac(PRUNED, &[&pruned.events.to_be_bytes(), &sum]);
    connection.execute(
        "INSERT INTO pruned (id, events, sum, seal) VALUES (1, ?1, ?2, ?3) ON CONFLICT (id) \
         DO UPDATE SET events = excluded.events, sum = excluded.sum, seal = excluded.seal",
        params![pruned.events, sum, seal],
    )?;
    Ok(())
}

/// Adds what a transaction is about to remove.
pub(crate) fn add_pruned(connection: &Connection, key: &SealKey, removed: Tally) -> Result<()> {
    let before = pruned(connection, key)?
        .ok_or_else(|| Failure::damaged("the count of pruned events is missing"))?;
    set_pruned(connection, key, before.plus(removed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_carry_and_wrap() {
        let mut tally = Tally {
            events: 1,
            sum: [u64::MAX; 4],
        };
        tally.add_sum([1, 0, 0, 0]);
        assert_eq!(tally.sum, [0; 4]);
        let tally = Tally {
            events: 2,
            sum: [u64::MAX, 1, 2, 3],
        };
        let doubled = tally.plus(tally);
        assert_eq!(doubled.sum, [u64::MAX - 1, 3, 4, 6]);
        assert_eq!(
            Tally::from_parts(doubled.events, &doubled.sum_bytes()),
            doubled
        );
    }

    #[test]
    fn another_key_is_another_seal() {
        let key = |bytes: &[u8]| SealKey::new(Some(&Secret::new(bytes.to_vec())));
        let (one, two) = (key(&[1; 32]), key(&[2; 32]));
        assert_ne!(one.name(), two.name());
        let mac = one.mac(PRUNED, &[b"a"]);
        assert!(one.is_mac(PRUNED, &[b"a"], &mac));
        assert!(!two.is_mac(PRUNED, &[b"a"], &mac));
        assert!(!one.is_mac(EVENT, &[b"a"], &mac));
    }
}
