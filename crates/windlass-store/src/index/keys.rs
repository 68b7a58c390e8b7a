//! API keys. Only journals that are not runs make them: a run's journal can be imported
//! from a file, and a file must not be able to bring a key.

use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};
use windlass_ports::ApiKeyRecord;
use windlass_types::{
    Digest, KeyId, Scope, Timestamp,
    journal::{KeyCreated, KeyRevoked, KeyUsed},
};

use super::runs;
use crate::{
    error::Result,
    journal::Journal,
    row::{from_json, parse_id, to_json},
    seal,
};

const TABLE: &str = "api_keys";

#[derive(Serialize, Deserialize)]
struct ApiKeyV1 {
    name: String,
    secret_hash: Digest,
    tier: String,
    scopes: Vec<Scope>,
    created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revoked_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_used_at: Option<Timestamp>,
}

pub(crate) fn create(
    connection: &Connection,
    journal: &Journal,
    at: Timestamp,
    created: &KeyCreated,
) -> Result<()> {
    if runs::exists(connection, journal)? {
        return Ok(());
    }
    let key = ApiKeyV1 {
        name: created.name.clone(),
        secret_hash: created.secret_hash,
        tier: created.tier.clone(),
        scopes: created.scopes.clone(),
        created_at: at,
        expires_at: created.expires_at,
        revoked_at: None,
        last_used_at: None,
    };
    // An id is given once; a second creation must not undo a revocation.
    let sql =
        "INSERT INTO api_keys (key_id, record, sum) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
    write(connection, created.key_id.as_str(), &key, sql)
}

pub(crate) fn revoke(
    connection: &Connection,
    journal: &Journal,
    at: Timestamp,
    revoked: &KeyRevoked,
) -> Result<()> {
    // The first revocation counts; a second one says nothing new.
    change(connection, journal, &revoked.key_id, |key| {
        key.revoked_at = key.revoked_at.or(Some(at));
    })
}

pub(crate) fn note_use(
    connection: &Connection,
    journal: &Journal,
    at: Timestamp,
    used: &KeyUsed,
) -> Result<()> {
    change(connection, journal, &used.key_id, |key| {
        key.last_used_at = key.last_used_at.max(Some(at));
    })
}

/// Whether a key's record rests on its use at this moment.
pub(crate) fn last_used(connection: &Connection, key_id: &KeyId, at: Timestamp) -> Result<bool> {
    let key = find(connection, key_id)?;
    Ok(key.is_some_and(|key| key.last_used_at == Some(at)))
}

fn change(
    connection: &Connection,
    journal: &Journal,
    key_id: &KeyId,
    change: impl FnOnce(&mut ApiKeyV1),
) -> Result<()> {
    if runs::exists(connection, journal)? {
        return Ok(());
    }
    let Some(mut key) = find(connection, key_id)? else {
        return Ok(());
    };
    change(&mut key);
    write(
        connection,
        key_id.as_str(),
        &key,
        "UPDATE api_keys SET record = ?2, sum = ?3 WHERE key_id = ?1",
    )
}

fn find(connection: &Connection, key_id: &KeyId) -> Result<Option<ApiKeyV1>> {
    let row: Option<(String, i64)> = connection
        .prepare_cached("SELECT record, sum FROM api_keys WHERE key_id = ?1")?
        .query_row([key_id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    row.map(|(record, sum)| read(key_id.as_str(), &record, sum))
        .transpose()
}

/// All keys, in the order of their ids.
pub(crate) fn all(connection: &Connection) -> Result<Vec<ApiKeyRecord>> {
    let mut statement =
        connection.prepare_cached("SELECT key_id, record, sum FROM api_keys ORDER BY key_id")?;
    let mut rows = statement.query([])?;
    let mut keys = Vec::new();
    while let Some(row) = rows.next()? {
        let (key_id, record, sum): (String, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let key = read(&key_id, &record, sum)?;
        keys.push(ApiKeyRecord {
            key_id: parse_id(&key_id)?,
            name: key.name,
            secret_hash: key.secret_hash,
            tier: key.tier,
            scopes: key.scopes,
            created_at: key.created_at,
            expires_at: key.expires_at,
            revoked_at: key.revoked_at,
            last_used_at: key.last_used_at,
        });
    }
    Ok(keys)
}

fn write(connection: &Connection, key_id: &str, key: &ApiKeyV1, sql: &str) -> Result<()> {
    let record = to_json(key)?;
    let sum = seal::seal(TABLE, &[key_id.as_bytes(), record.as_bytes()]);
    connection
        .prepare_cached(sql)?
        .execute(params![key_id, record, sum])?;
    Ok(())
}

fn read(key_id: &str, record: &str, sum: i64) -> Result<ApiKeyV1> {
    seal::check(
        TABLE,
        key_id,
        sum,
        seal::seal(TABLE, &[key_id.as_bytes(), record.as_bytes()]),
    )?;
    from_json(TABLE, key_id, record)
}
