//! The last event of every journal, sealed now and then. The history's seal says that something
//! was altered, cut or removed; these say of which journal.
//!
//! A chain leads from its last event to its first, so that a journal which still has the sealed event
//! at its place was not changed before it. Nothing is sealed again before that was compared.

use rusqlite::{Connection, OptionalExtension, params};

use crate::{error::Result, history::SealKey, maintenance::off_thread, open::SqliteStore};
use windlass_ports::StoreError;

const PURPOSE: &[u8] = b"windlass.seal.head.v1\0";
/// Journals sealed in a transaction.
const CHUNK: usize = 200;

struct Head {
    journal: i64,
    run_id: String,
    seq: i64,
    hash: [u8; 32],
}

impl Head {
    fn parts(&self) -> ([u8; 8], [u8; 8]) {
        (self.journal.to_be_bytes(), self.seq.to_be_bytes())
    }

    fn seal(&self, key: &SealKey) -> [u8; 32] {
        let (journal, seq) = self.parts();
        key.mac(
            PURPOSE,
            &[&journal, &seq, &self.hash, self.run_id.as_bytes()],
        )
    }

    fn has_seal(&self, key: &SealKey, seal: &[u8]) -> bool {
        let (journal, seq) = self.parts();
        let parts: [&[u8]; 4] = [&journal, &seq, &self.hash, self.run_id.as_bytes()];
        key.is_mac(PURPOSE, &parts, seal)
    }
}

/// Seals the heads of journals that have grown.
pub(crate) async fn seal_all(store: &SqliteStore) -> Result<(), StoreError> {
    let key = SealKey::new(store.options.seal_key.as_ref());
    let (readers, reading_key) = (store.readers.clone(), key.clone());
    let grown = off_thread(move || grown(&readers.connect()?, &reading_key)).await?;
    let mut grown = grown.into_iter().peekable();
    while grown.peek().is_some() {
        let chunk: Vec<Head> = grown.by_ref().take(CHUNK).collect();
        let key = key.clone();
        store
            .writer()?
            .alone(move |session| session.alone(|connection| write(connection, &key, &chunk)))
            .await?;
    }
    Ok(())
}

/// Journals whose last event is not sealed, without those that are not what was sealed.
fn grown(connection: &Connection, key: &SealKey) -> Result<Vec<Head>> {
    let mut statement = connection.prepare(
        "SELECT journals.id, journals.run_id, last.seq, last.hash FROM journals \
         JOIN events AS last ON last.journal = journals.id AND last.seq = \
         (SELECT max(seq) FROM events WHERE events.journal = journals.id) \
         LEFT JOIN journal_heads ON journal_heads.journal = journals.id \
         WHERE journal_heads.seq IS NULL OR journal_heads.seq < last.seq",
    )?;
    let heads: Vec<Head> = statement
        .query_map([], |row| {
            Ok(Head {
                journal: row.get(0)?,
                run_id: row.get(1)?,
                seq: row.get(2)?,
                hash: row.get(3)?,
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    let mut sound = Vec::with_capacity(heads.len());
    for head in heads {
        if finding(connection, key, Some(head.journal))?.is_empty() {
            sound.push(head);
        }
    }
    Ok(sound)
}

fn write(connection: &Connection, key: &SealKey, heads: &[Head]) -> Result<()> {
    for head in heads {
        connection
            .prepare_cached(
                "INSERT OR REPLACE INTO journal_heads (journal, run_id, seq, hash, seal) \
                 SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS (SELECT 1 FROM journals WHERE id = ?1)",
            )?
            .execute(params![
                head.journal,
                head.run_id,
                head.seq,
                head.hash,
                head.seal(key)
            ])?;
    }
    Ok(())
}

/// What is wrong with journals according to their sealed heads, one line each.
pub(crate) fn findings(connection: &Connection, key: &SealKey) -> Result<Vec<String>> {
    finding(connection, key, None)
}

fn finding(connection: &Connection, key: &SealKey, journal: Option<i64>) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(
        "SELECT journal, run_id, seq, hash, seal FROM journal_heads \
         WHERE ?1 IS NULL OR journal = ?1 ORDER BY journal",
    )?;
    let mut rows = statement.query([journal])?;
    let mut findings = Vec::new();
    while let Some(row) = rows.next()? {
        let head = Head {
            journal: row.get(0)?,
            run_id: row.get(1)?,
            seq: row.get(2)?,
            hash: row.get(3)?,
        };
        let name = &head.run_id;
        if !head.has_seal(key, &row.get::<_, Vec<u8>>(4)?) {
            findings.push(format!("the seal of journal {name} was altered"));
            continue;
        }
        let found: Option<(String, i64, Option<i64>)> = connection
            .prepare_cached(
                "SELECT run_id, anchor_seq, (SELECT max(seq) FROM events WHERE journal = ?1) \
                 FROM journals WHERE id = ?1",
            )?
            .query_row([head.journal], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .optional()?;
        let Some((now_named, anchor, last)) = found else {
            findings.push(format!(
                "journal {name} is missing: it had {} events",
                head.seq
            ));
            continue;
        };
        let last = last.unwrap_or(anchor);
        if now_named != *name {
            findings.push(format!("journal {name} was renamed to {now_named}"));
        } else if last < head.seq {
            findings.push(format!(
                "journal {name} was cut: it ends at event {last}, and event {} was sealed",
                head.seq
            ));
        } else if anchor < head.seq {
            let hash: Option<[u8; 32]> = connection
                .prepare_cached("SELECT hash FROM events WHERE journal = ?1 AND seq = ?2")?
                .query_row(params![head.journal, head.seq], |row| row.get(0))
                .optional()?;
            if hash != Some(head.hash) {
                findings.push(format!(
                    "journal {name} was altered: its event {} is not the one that was sealed",
                    head.seq
                ));
            }
        }
    }
    Ok(findings)
}
