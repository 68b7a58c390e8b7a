//! Webhook secrets: one per caller, made once, shown once, kept encrypted in a journal.
//!
//! A rotation makes a new secret while the one before it signs as well for a while, so that
//! receivers can change over without losing a delivery.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windlass_ports::entropy::random;
use windlass_types::{
    Body, Event, Principal, PrincipalKind, Problem, RunId, Secret, Timestamp, code,
    journal::{WebhookSecretSet, WebhookSecretSettled},
};

use super::vault;
use crate::{Engine, engine::commit_problem};

const JOURNAL: &str = "sys_webhook_secrets";
const PAGE: usize = 500;
/// Whom the secret of the local user, and of every program of theirs, belongs to.
const LOCAL: &str = "local";

/// The secrets a delivery is signed with.
#[derive(Clone, Debug)]
pub struct SigningSecrets {
    /// The present one.
    pub current: Secret<String>,
    /// The one before it, as long as both sign.
    pub previous: Option<Secret<String>>,
}

impl SigningSecrets {
    /// One secret and no rotation.
    pub const fn one(current: Secret<String>) -> Self {
        Self {
            current,
            previous: None,
        }
    }
}

/// A webhook secret, as shown; never the secret itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SecretView {
    /// Whose: `local`, or the id of a key's principal.
    pub owner: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// Until when the one before it signs as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_until: Option<Timestamp>,
}

/// A secret that was made; shown this once.
#[derive(Debug)]
pub struct MadeSecret {
    /// Its record.
    pub view: SecretView,
    /// The secret.
    pub secret: Secret<String>,
}

/// Whose secret signs what a caller asks for.
pub fn owner_of(principal: &Principal) -> String {
    match principal.kind {
        PrincipalKind::Key => principal.id(),
        PrincipalKind::Local | PrincipalKind::System => LOCAL.to_owned(),
    }
}

/// Whose secret a delivery names.
fn owner_named(name: &str) -> &str {
    let is_local = name.starts_with("local:") || name.starts_with("system:");
    if is_local { LOCAL } else { name }
}

/// What the journal says, as far as it was read.
#[derive(Default)]
pub(crate) struct SecretBook(Mutex<Book>);

#[derive(Default)]
struct Book {
    seq: u64,
    owners: BTreeMap<String, Owned>,
}

#[derive(Clone)]
struct Owned {
    sealed: String,
    created_at: Timestamp,
    previous: Option<(String, Timestamp)>,
}

impl Owned {
    /// The secret before, as long as it signs.
    fn previous_at(&self, now: Timestamp) -> Option<&(String, Timestamp)> {
        self.previous.as_ref().filter(|(_, until)| *until > now)
    }

    fn view(&self, owner: &str, now: Timestamp) -> SecretView {
        SecretView {
            owner: owner.to_owned(),
            created_at: self.created_at,
            previous_until: self.previous_at(now).map(|(_, until)| *until),
        }
    }
}

impl SecretBook {
    fn lock(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    /// Takes one more event in; one that was read twice counts once.
    fn hear(&mut self, event: &Event) -> Result<(), Problem> {
        if event.seq <= self.seq {
            return Ok(());
        }
        self.seq = event.seq;
        let body = Body::decode(&event.event_type, &event.payload)
            .map_err(|error| Problem::internal("webhook secrets", error))?;
        match body {
            Some(Body::WebhookSecretSet(set)) => {
                let before = self.owners.remove(&set.owner);
                let previous = before.and_then(|before| Some((before.sealed, set.previous_until?)));
                let owned = Owned {
                    sealed: set.sealed,
                    created_at: event.time,
                    previous,
                };
                self.owners.insert(set.owner, owned);
            }
            Some(Body::WebhookSecretSettled(settled)) => {
                if let Some(owned) = self.owners.get_mut(&settled.owner) {
                    owned.previous = None;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

pub(crate) fn journal() -> Result<RunId, Problem> {
    JOURNAL
        .parse()
        .map_err(|error| Problem::internal("journal name", error))
}

/// A new secret, and the event that gives it an owner.
pub(crate) fn make(
    engine: &Engine,
    by: &Principal,
    owner: &str,
    previous_until: Option<Timestamp>,
) -> Result<(Secret<String>, Body), Problem> {
    let encoded = STANDARD.encode(random::<32>(&*engine.entropy));
    let secret = Secret::new(format!("whsec_{encoded}"));
    engine.redactor.register(&secret);
    let set = WebhookSecretSet {
        owner: owner.to_owned(),
        sealed: vault::seal(&engine.outbox.sealing_key, &*engine.entropy, owner, &secret)?,
        previous_until,
        principal: by.clone(),
    };
    Ok((secret, set.into()))
}

impl Engine {
    /// Reads what was written since the last look, by this process or another.
    async fn read_secrets(&self) -> Result<(), Problem> {
        let journal = journal()?;
        loop {
            let after = self.secret_book().lock().seq;
            let page = self.store.events(&journal, after, PAGE).await?;
            let is_last = page.len() < PAGE;
            let mut book = self.secret_book().lock();
            for event in &page {
                book.hear(event)?;
            }
            if is_last {
                return Ok(());
            }
        }
    }

    async fn owned(&self, owner: &str) -> Result<Option<Owned>, Problem> {
        self.read_secrets().await?;
        Ok(self.secret_book().lock().owners.get(owner).cloned())
    }

    /// Every webhook secret's record.
    pub async fn webhook_secrets(&self) -> Result<Vec<SecretView>, Problem> {
        self.read_secrets().await?;
        let now = self.now();
        let book = self.secret_book().lock();
        let views = book.owners.iter();
        Ok(views.map(|(owner, owned)| owned.view(owner, now)).collect())
    }

    /// Creates the first secret of an owner who has none.
    pub async fn create_webhook_secret(
        &self,
        by: &Principal,
        owner: &str,
    ) -> Result<MadeSecret, Problem> {
        if let Some(owned) = self.owned(owner).await? {
            return Err(Problem::new(
                &code::ILLEGAL_STATE,
                format!(
                    "{owner} has had a webhook secret since {}",
                    owned.created_at
                ),
            )
            .next("windlass webhooks secret rotate"));
        }
        self.set_secret(by, owner, None).await
    }

    /// Makes a new secret; the present one signs as well for `overlap`, or no more when that is
    /// nothing.
    pub async fn rotate_webhook_secret(
        &self,
        by: &Principal,
        owner: &str,
        overlap: Duration,
    ) -> Result<MadeSecret, Problem> {
        let now = self.now();
        let Some(owned) = self.owned(owner).await? else {
            return Err(no_secret(owner));
        };
        let until = (!overlap.is_zero()).then(|| now.after(overlap));
        if let Some((_, running)) = owned.previous_at(now).filter(|_| until.is_some()) {
            return Err(Problem::new(
                &code::ILLEGAL_STATE,
                format!("{owner} is in a rotation until {running}; a third secret would shut out receivers that have the first"),
            )
            .next("windlass webhooks secret finish")
            .next("windlass webhooks secret rotate --now"));
        }
        self.set_secret(by, owner, until).await
    }

    /// Ends a rotation: from now on the present secret signs alone.
    pub async fn finish_webhook_rotation(
        &self,
        by: &Principal,
        owner: &str,
    ) -> Result<SecretView, Problem> {
        let Some(owned) = self.owned(owner).await? else {
            return Err(no_secret(owner));
        };
        let now = self.now();
        if owned.previous_at(now).is_none() {
            return Err(
                Problem::new(&code::ILLEGAL_STATE, format!("{owner} is in no rotation"))
                    .next("windlass webhooks secret list"),
            );
        }
        let settled = WebhookSecretSettled {
            owner: owner.to_owned(),
            principal: by.clone(),
        };
        self.append_each(vec![(journal()?, settled.into())])
            .await
            .map_err(commit_problem)?;
        Ok(SecretView {
            previous_until: None,
            ..owned.view(owner, now)
        })
    }

    async fn set_secret(
        &self,
        by: &Principal,
        owner: &str,
        previous_until: Option<Timestamp>,
    ) -> Result<MadeSecret, Problem> {
        let (secret, set) = make(self, by, owner, previous_until)?;
        self.append_each(vec![(journal()?, set)])
            .await
            .map_err(commit_problem)?;
        let view = SecretView {
            owner: owner.to_owned(),
            created_at: self.now(),
            previous_until,
        };
        Ok(MadeSecret { view, secret })
    }

    /// What deliveries that name this secret are signed with: a secret of the settings, or of the
    /// principal of that id. Without a name, the home's own.
    pub(super) async fn signing_secrets(
        &self,
        name: Option<&str>,
    ) -> Result<Option<SigningSecrets>, Problem> {
        let Some(name) = name else {
            let own = self.outbox.default_secret.clone();
            return Ok(Some(SigningSecrets::one(own)));
        };
        if let Some(secret) = self.outbox.secrets.get(name) {
            return Ok(Some(SigningSecrets::one(secret.clone())));
        }
        let owner = owner_named(name);
        let Some(owned) = self.owned(owner).await? else {
            return Ok(None);
        };
        let open = |sealed: &str| {
            let secret = vault::open(&self.outbox.sealing_key, owner, sealed)?;
            self.redactor.register(&secret);
            Ok::<_, Problem>(secret)
        };
        let previous = owned.previous_at(self.now());
        Ok(Some(SigningSecrets {
            current: open(&owned.sealed)?,
            previous: previous.map(|(sealed, _)| open(sealed)).transpose()?,
        }))
    }

    /// Whether webhooks of this caller can be signed.
    pub async fn has_webhook_secret(&self, principal: &Principal) -> Result<bool, Problem> {
        Ok(self.owned(&owner_of(principal)).await?.is_some())
    }
}

fn no_secret(owner: &str) -> Problem {
    Problem::new(
        &code::NOT_FOUND,
        format!("{owner} has no webhook secret yet"),
    )
    .next("windlass webhooks secret create")
}
