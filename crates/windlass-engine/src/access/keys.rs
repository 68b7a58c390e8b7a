//! API keys: made once, shown once, kept as a digest, compared in constant time.
//!
//! The text is `wlk_<id>_<secret>`; keys made before are `wk_<id>_<secret>`. The id finds the
//! record; only the SHA-256 of the secret is stored. A secret has 256 random bits, so a plain
//! digest is as good as a slow one. With a key comes the secret its webhooks are signed with.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;
use windlass_ports::{ApiKeyRecord, Expect, entropy::random};
use windlass_types::{
    Body, Digest, KeyId, Principal, Problem, RunId, Scope, Secret, Timestamp, code,
    event::SpanIds,
    journal::{KeyCreated, KeyRevoked, KeyUsed},
};

use crate::{Engine, engine::commit_problem, outbox::secrets};

const JOURNAL: &str = "sys_keys";
/// Apart from the journal that makes and revokes keys, so that it can be cut short.
const USES: &str = "sys_key_uses";
/// How long another process's revocation may go unnoticed.
const FRESH_FOR: Duration = Duration::from_secs(1);
/// A use is noted only so long after the one before.
const NOTED_EVERY: Duration = Duration::from_secs(5 * 60);

/// The one thing a caller without a key that works is told.
pub fn unauthorized() -> Problem {
    Problem::new(&code::UNAUTHORIZED, "invalid or expired API key").next("windlass keys create")
}

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

/// A key that was made. Its two secrets are returned this once.
#[derive(Debug)]
pub struct MadeKey {
    /// Its record.
    pub view: KeyView,
    /// What its holder sends.
    pub api_key: String,
    /// What its webhooks are signed with.
    pub webhook_secret: Secret<String>,
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
    /// When it was last used, to within five minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
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
            last_used_at: record.last_used_at,
        }
    }
}

/// The keys of a home, with a short memory.
pub struct ApiKeys {
    engine: Engine,
    known: Mutex<Known>,
    /// When uses were last noted.
    noted: Mutex<HashMap<KeyId, Timestamp>>,
}

#[derive(Default)]
struct Known {
    read_at: Option<Timestamp>,
    keys: HashMap<KeyId, ApiKeyRecord>,
}

/// A key's text, taken apart. The digest is made whatever the text is, so that nonsense takes as
/// long as a key.
struct Presented {
    key_id: Option<KeyId>,
    digest: Digest,
}

impl Presented {
    fn read(text: &str) -> Self {
        let rest = text
            .strip_prefix("wlk_")
            .or_else(|| text.strip_prefix("wk_"));
        let parts = rest.and_then(|rest| rest.split_once('_'));
        let (key_id, secret) = match parts {
            Some((id, secret)) => (format!("key_{id}").parse().ok(), secret),
            None => (None, text),
        };
        Self {
            key_id,
            digest: Digest::of(secret.as_bytes()),
        }
    }

    /// The record this key opens. An unknown id is compared as well, with a digest that nothing
    /// has.
    fn opens<'a>(
        &self,
        keys: &'a HashMap<KeyId, ApiKeyRecord>,
        now: Timestamp,
    ) -> Option<&'a ApiKeyRecord> {
        let record = self.key_id.as_ref().and_then(|key_id| keys.get(key_id));
        let expected = record.map_or(Digest::ZERO, |record| record.secret_hash);
        let same = self.digest.as_bytes().ct_eq(expected.as_bytes());
        record.filter(|record| {
            let expired = record.expires_at.is_some_and(|moment| moment <= now);
            bool::from(same) && !expired && record.revoked_at.is_none()
        })
    }
}

impl ApiKeys {
    /// The keys behind an engine.
    pub fn new(engine: &Engine) -> Self {
        Self {
            engine: engine.clone(),
            known: Mutex::default(),
            noted: Mutex::default(),
        }
    }

    /// Makes a key and its webhook secret, in one commit.
    pub async fn create(&self, by: &Principal, new: NewKey) -> Result<MadeKey, Problem> {
        let key_id = KeyId::from_random(random(&*self.engine.entropy));
        let secret = URL_SAFE_NO_PAD.encode(random::<32>(&*self.engine.entropy));
        let now = self.engine.now();
        let created = KeyCreated {
            key_id: key_id.clone(),
            name: new.name,
            secret_hash: Digest::of(secret.as_bytes()),
            tier: new.tier,
            scopes: new.scopes,
            expires_at: new
                .lifetime
                .map(|lifetime| self.engine.steady().after(lifetime)),
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
            last_used_at: None,
        };
        let owner = Principal::key(key_id.as_str(), Vec::new()).id();
        let (webhook_secret, set) = secrets::make(&self.engine, by, &owner, None)?;
        let writes = vec![
            (journal(JOURNAL)?, created.into()),
            (secrets::journal()?, set),
        ];
        let committed = self.engine.append_each(writes).await;
        committed.map_err(commit_problem)?;
        self.lock().read_at = None;
        let id = key_id.as_str().trim_start_matches("key_");
        Ok(MadeKey {
            view,
            api_key: format!("wlk_{id}_{secret}"),
            webhook_secret,
        })
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
        let revoked = KeyRevoked {
            key_id: key_id.clone(),
            principal: by.clone(),
        };
        let writes = vec![(journal(JOURNAL)?, revoked.into())];
        let committed = self.engine.append_each(writes).await;
        committed.map_err(commit_problem)?;
        self.lock().read_at = None;
        Ok(())
    }

    /// The principal and the tier behind a key's text.
    pub async fn authenticate(&self, text: &str) -> Result<(Principal, String), Problem> {
        let presented = Presented::read(text);
        let now = self.engine.steady();
        let remembered = {
            let known = self.lock();
            let is_fresh = known
                .read_at
                .is_some_and(|read_at| now.since(read_at) < FRESH_FOR && read_at <= now);
            let record = presented.opens(&known.keys, now);
            record.filter(|_| is_fresh).cloned()
        };
        // Whatever the reason a key does not open, it is looked for once more: another process
        // may have just made it.
        let record = match remembered {
            Some(record) => record,
            None => {
                let keys = self.engine.store.api_keys().await?;
                let mut known = self.lock();
                known.keys = keys
                    .into_iter()
                    .map(|key| (key.key_id.clone(), key))
                    .collect();
                known.read_at = Some(now);
                let record = presented.opens(&known.keys, now);
                record.cloned().ok_or_else(unauthorized)?
            }
        };
        self.note_use(&record, now);
        Ok((
            Principal::key(record.key_id.as_str(), record.scopes),
            record.tier,
        ))
    }

    /// Puts on record that a key is in use, without making its caller wait.
    fn note_use(&self, record: &ApiKeyRecord, now: Timestamp) {
        {
            let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
            let last = noted.get(&record.key_id).copied().max(record.last_used_at);
            if last.is_some_and(|last| now.since(last) < NOTED_EVERY) {
                return;
            }
            noted.insert(record.key_id.clone(), now);
        }
        let engine = self.engine.clone();
        let used = KeyUsed {
            key_id: record.key_id.clone(),
        };
        tokio::spawn(async move {
            let Ok(journal) = journal(USES) else { return };
            let noted = engine.append_each(vec![(journal, used.into())]).await;
            if let Err(error) = noted {
                tracing::debug!(%error, "the use of a key is not on record");
            }
        });
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn journal(name: &str) -> Result<RunId, Problem> {
    name.parse()
        .map_err(|error| Problem::internal("journal name", error))
}

impl Engine {
    /// Appends one event to each of several journals of the store's own, in one commit.
    pub(crate) async fn append_each(
        &self,
        events: Vec<(RunId, Body)>,
    ) -> Result<(), windlass_ports::CommitError> {
        let mut writes = Vec::with_capacity(events.len());
        for (journal, body) in events {
            let spans = SpanIds::default();
            writes.push(self.journal_write(&journal, Expect::Any, vec![body], spans)?);
        }
        let commit = windlass_ports::Commit {
            writes,
            lease: None,
        };
        self.store.commit(commit).await.map(drop)
    }
}
