//! API keys: made once, shown once, kept as a digest, compared in constant time.
//!
//! The text is `wk_<id>_<secret>`. The id finds the record; only the SHA-256 of the secret is
//! stored. A secret has 256 random bits, so a plain digest is as good as a slow one.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;
use windlass_ports::{ApiKeyRecord, Expect, entropy::random};
use windlass_types::{
    Digest, KeyId, Principal, Problem, RunId, Scope, Timestamp, code,
    event::SpanIds,
    journal::{KeyCreated, KeyRevoked},
};

use crate::{Engine, engine::commit_problem};

const JOURNAL: &str = "sys_keys";
/// How long another process's revocation may go unnoticed.
const FRESH_FOR: Duration = Duration::from_secs(1);

/// A key to be made.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// What people call it.
    pub name: String,
    /// Which limits apply.
    pub tier: String,
    /// What it may touch.
    pub scopes: Vec<Scope>,
    /// How long it works.
    pub lifetime: Option<Duration>,
}

/// A key, as shown; never its secret.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct KeyView {
    /// The public part.
    pub key_id: KeyId,
    /// What people call it.
    pub name: String,
    /// Which limits apply.
    pub tier: String,
    /// What it may touch.
    pub scopes: Vec<Scope>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it stops working.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
}

impl From<ApiKeyRecord> for KeyView {
    fn from(record: ApiKeyRecord) -> Self {
        Self {
            key_id: record.key_id,
            name: record.name,
            tier: record.tier,
            scopes: record.scopes,
            created_at: record.created_at,
            expires_at: record.expires_at,
            revoked_at: record.revoked_at,
        }
    }
}

/// The keys of a home, with a short memory.
pub struct ApiKeys {
    engine: Engine,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    read_at: Option<Timestamp>,
    keys: HashMap<KeyId, ApiKeyRecord>,
}

impl ApiKeys {
    /// The keys behind an engine.
    pub fn new(engine: &Engine) -> Self {
        Self {
            engine: engine.clone(),
            known: Mutex::default(),
        }
    }

    /// Makes a key; the text is returned this once.
    pub async fn create(&self, by: &Principal, new: NewKey) -> Result<(KeyView, String), Problem> {
        let key_id = KeyId::from_random(random(&*self.engine.entropy));
        let secret = hex::encode(random::<32>(&*self.engine.entropy));
        let now = self.engine.now();
        let created = KeyCreated {
            key_id: key_id.clone(),
            name: new.name,
            secret_hash: Digest::of(secret.as_bytes()),
            tier: new.tier,
            scopes: new.scopes,
            expires_at: new.lifetime.map(|lifetime| now.after(lifetime)),
            principal: by.clone(),
        };
        let view = KeyView {
            key_id: key_id.clone(),
            name: created.name.clone(),
            tier: created.tier.clone(),
            scopes: created.scopes.clone(),
            created_at: now,
            expires_at: created.expires_at,
            revoked_at: None,
        };
        self.write(created.into()).await?;
        let text = format!("wk_{}_{secret}", key_id.as_str().trim_start_matches("key_"));
        Ok((view, text))
    }

    /// Every key, revoked ones included.
    pub async fn list(&self) -> Result<Vec<KeyView>, Problem> {
        Ok(self
            .engine
            .store
            .api_keys()
            .await?
            .into_iter()
            .map(KeyView::from)
            .collect())
    }

    /// Stops a key from working, at once in this process and within a second in others.
    pub async fn revoke(&self, by: &Principal, key_id: &KeyId) -> Result<(), Problem> {
        if self
            .engine
            .store
            .api_keys()
            .await?
            .iter()
            .all(|key| key.key_id != *key_id)
        {
            return Err(Problem::new(&code::NOT_FOUND, format!("no key {key_id}"))
                .next("windlass keys list"));
        }
        self.write(
            KeyRevoked {
                key_id: key_id.clone(),
                principal: by.clone(),
            }
            .into(),
        )
        .await
    }

    /// The principal and the tier behind a key's text.
    pub async fn authenticate(&self, text: &str) -> Result<(Principal, String), Problem> {
        let refused = || {
            Problem::new(
                &code::UNAUTHORIZED,
                "the API key is unknown, revoked or expired",
            )
            .next("windlass keys create")
        };
        let mut parts = text.splitn(3, '_');
        let (Some("wk"), Some(id), Some(secret)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(refused());
        };
        let key_id: KeyId = format!("key_{id}").parse().map_err(|_| refused())?;
        let record = self.find(&key_id).await?.ok_or_else(refused)?;
        let matches = Digest::of(secret.as_bytes())
            .as_bytes()
            .ct_eq(record.secret_hash.as_bytes());
        let expired = record
            .expires_at
            .is_some_and(|moment| moment <= self.engine.now());
        if !bool::from(matches) || expired || record.revoked_at.is_some() {
            return Err(refused());
        }
        Ok((
            Principal::key(record.key_id.as_str(), record.scopes),
            record.tier,
        ))
    }

    async fn find(&self, key_id: &KeyId) -> Result<Option<ApiKeyRecord>, Problem> {
        let now = self.engine.now();
        {
            let known = self.lock();
            let is_fresh = known
                .read_at
                .is_some_and(|read_at| now.since(read_at) < FRESH_FOR && read_at <= now);
            // A key that is not known may have just been made by another process.
            if let Some(key) = known.keys.get(key_id).filter(|_| is_fresh) {
                return Ok(Some(key.clone()));
            }
        }
        let keys = self.engine.store.api_keys().await?;
        let mut known = self.lock();
        known.keys = keys
            .into_iter()
            .map(|key| (key.key_id.clone(), key))
            .collect();
        known.read_at = Some(now);
        Ok(known.keys.get(key_id).cloned())
    }

    async fn write(&self, body: windlass_types::Body) -> Result<(), Problem> {
        let journal: RunId = JOURNAL
            .parse()
            .map_err(|error| Problem::internal("journal name", error))?;
        let spans = SpanIds::default();
        self.engine
            .append(&journal, Expect::Any, vec![body], spans, None)
            .await
            .map_err(commit_problem)?;
        self.lock().read_at = None;
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
