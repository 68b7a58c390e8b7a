//! `admin.webhook_secret_create`, `_rotate`, `_finish` and `_list`: what webhooks are signed with.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_engine::{
    Engine,
    operation::{Operation, operation as define},
    outbox::{MadeSecret, SecretView},
};
use windlass_types::{EffectClass, KeyId, Principal, Problem, code};

use crate::TOOLSET;

const EXAMPLE: &str = "key_0123456789abcdef0123456789abcdef";

/// Whose secret.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OwnerInput {
    /// The key it belongs to; that of the local user and their programs when absent.
    #[serde(default)]
    key_id: Option<KeyId>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RotateInput {
    /// The key it belongs to; that of the local user and their programs when absent.
    #[serde(default)]
    key_id: Option<KeyId>,
    /// How long the current secret also signs, in seconds; as the settings say when absent, not
    /// at all when 0.
    #[serde(default)]
    #[schemars(range(max = 2_592_000))]
    overlap_seconds: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListInput {}

#[derive(Serialize, JsonSchema)]
struct MadeOutput {
    /// The secret's record.
    record: SecretView,
    /// The secret itself. Shown this once, stored encrypted.
    webhook_secret: String,
}

impl From<MadeSecret> for MadeOutput {
    fn from(made: MadeSecret) -> Self {
        Self {
            webhook_secret: made.secret.expose_secret().clone(),
            record: made.view,
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct FinishOutput {
    /// The secret that signs alone from now on.
    record: SecretView,
}

#[derive(Serialize, JsonSchema)]
struct ListOutput {
    /// Who has a secret; never the secrets.
    secrets: Vec<SecretView>,
}

/// The owner an input means, who must exist.
async fn owner(engine: &Engine, key_id: Option<KeyId>) -> Result<String, Problem> {
    let Some(key_id) = key_id else {
        return Ok("local".to_owned());
    };
    let keys = engine.store.api_keys().await?;
    let key = keys.iter().find(|key| key.key_id == key_id);
    match key {
        Some(key) if key.revoked_at.is_none() => {
            Ok(Principal::key(key_id.as_str(), Vec::new()).id())
        }
        Some(_) => Err(
            Problem::new(&code::ILLEGAL_STATE, format!("key {key_id} was revoked"))
                .next("windlass keys list"),
        ),
        None => {
            Err(Problem::new(&code::NOT_FOUND, format!("no key {key_id}"))
                .next("windlass keys list"))
        }
    }
}

pub(crate) fn operations(engine: &Engine) -> Vec<Arc<dyn Operation>> {
    vec![create(engine), rotate(engine), finish(engine), list(engine)]
}

fn create(engine: &Engine) -> Arc<dyn Operation> {
    let engine = engine.clone();
    define(TOOLSET, "webhook_secret_create")
        .describe(
            "Create a webhook secret",
            "Creates the secret that signs webhooks of the local user, or of a key that has none. It is shown once.",
        )
        .command(EffectClass::Write)
        .shows_once("webhook_secret")
        .example("The local user's", json!({}))
        .handle(move |context, input: OwnerInput| {
            let engine = engine.clone();
            async move {
                let owner = owner(&engine, input.key_id).await?;
                let made = engine.create_webhook_secret(&context.principal, &owner);
                Ok(MadeOutput::from(made.await?))
            }
        })
}

fn rotate(engine: &Engine) -> Arc<dyn Operation> {
    let engine = engine.clone();
    define(TOOLSET, "webhook_secret_rotate")
        .describe(
            "Rotate a webhook secret",
            "Creates a new webhook secret. The current one also signs until the overlap ends. The new one is shown once.",
        )
        .command(EffectClass::Write)
        .shows_once("webhook_secret")
        .example("A key's", json!({ "key_id": EXAMPLE }))
        .handle(move |context, input: RotateInput| {
            let engine = engine.clone();
            async move {
                let owner = owner(&engine, input.key_id).await?;
                let overlap = input
                    .overlap_seconds
                    .map_or(engine.outbox.rotation_overlap, Duration::from_secs);
                let made = engine.rotate_webhook_secret(&context.principal, &owner, overlap);
                Ok(MadeOutput::from(made.await?))
            }
        })
}

fn finish(engine: &Engine) -> Arc<dyn Operation> {
    let engine = engine.clone();
    define(TOOLSET, "webhook_secret_finish")
        .describe(
            "Finish a rotation",
            "Ends the overlap of a rotation: the old webhook secret no longer signs.",
        )
        .command(EffectClass::Destructive)
        .example("A key's", json!({ "key_id": EXAMPLE }))
        .handle(move |context, input: OwnerInput| {
            let engine = engine.clone();
            async move {
                let owner = owner(&engine, input.key_id).await?;
                let record = engine.finish_webhook_rotation(&context.principal, &owner);
                Ok(FinishOutput {
                    record: record.await?,
                })
            }
        })
}

fn list(engine: &Engine) -> Arc<dyn Operation> {
    let engine = engine.clone();
    define(TOOLSET, "webhook_secret_list")
        .describe(
            "List webhook secrets",
            "Lists who has a webhook secret and which rotations are in progress; never the secrets.",
        )
        .example("All", json!({}))
        .handle(move |_, ListInput {}| {
            let engine = engine.clone();
            async move {
                Ok(ListOutput {
                    secrets: engine.webhook_secrets().await?,
                })
            }
        })
}
