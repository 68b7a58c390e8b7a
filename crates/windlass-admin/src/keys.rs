//! `admin.keys_create`, `admin.keys_list`, `admin.keys_revoke`.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_engine::{
    Engine,
    access::{ApiKeys, KeyView, NewKey, nearest},
    contract::http::{
        HttpPaths,
        Output::Created,
        Route,
        Verb::{Delete, Get, Post},
    },
    operation::{Operation, input_schema_of, operation as define},
};
use windlass_types::{EffectClass, KeyId, Problem, Scope};

use crate::TOOLSET;

const DAY: u64 = 24 * 3600;

pub(crate) const PATHS: HttpPaths = HttpPaths {
    routes: &[
        Route::new(Get, "/v1/keys", "admin.keys_list", "list_keys"),
        Route::new(Post, "/v1/keys", "admin.keys_create", "create_key").gives(Created),
        Route::new(
            Delete,
            "/v1/keys/{key_id}",
            "admin.keys_revoke",
            "revoke_key",
        ),
    ],
    contracts: &[],
};

/// The limits an API key can have, by name.
#[derive(Clone, Debug)]
pub struct Tiers {
    /// Every name.
    pub names: Vec<String>,
    /// The one a key has that was made without a word about it.
    pub default: String,
}

/// What a key has that was made without a word about it.
#[derive(Clone, Debug)]
pub struct KeyDefaults {
    /// Its limits.
    pub tiers: Tiers,
    /// What it may touch.
    pub scopes: Vec<Scope>,
}

impl Tiers {
    fn choose(&self, wanted: Option<String>) -> Result<String, Problem> {
        let Some(wanted) = wanted else {
            return Ok(self.default.clone());
        };
        if self.names.contains(&wanted) {
            return Ok(wanted);
        }
        let message = match nearest(&wanted, self.names.iter().map(String::as_str)) {
            Some(near) => format!("no tier is called {wanted:?}; did you mean {near:?}?"),
            None => format!(
                "no tier is called {wanted:?}; known: {}",
                self.names.join(", ")
            ),
        };
        Err(Problem::invalid("tier", "enum", message))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateInput {
    /// The name of the key.
    #[schemars(length(min = 1, max = 100))]
    name: String,
    /// Which limits apply; those of the default tier when absent.
    #[serde(default)]
    tier: Option<String>,
    /// What it may touch: toolset names, `approve`, `admin`, or `*`.
    // Empty when absent: the schema refuses an empty list.
    #[serde(default)]
    #[schemars(length(min = 1, max = 50))]
    scopes: Vec<Scope>,
    /// How many days it is valid; no expiry when absent.
    #[serde(default)]
    #[schemars(range(min = 1, max = 3650))]
    days: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
struct CreateOutput {
    /// The key's record.
    record: KeyView,
    /// The key itself. Shown this once, stored nowhere.
    api_key: String,
    /// What webhooks of the key's jobs are signed with. Shown this once, stored encrypted.
    webhook_secret: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListInput {}

#[derive(Serialize, JsonSchema)]
struct ListOutput {
    /// The keys, without their secrets.
    keys: Vec<KeyView>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RevokeInput {
    /// The key.
    key_id: KeyId,
}

#[derive(Serialize, JsonSchema)]
struct RevokeOutput {
    /// The key that no longer works.
    revoked: KeyId,
}

pub(crate) fn operations(engine: &Engine, defaults: &KeyDefaults) -> Vec<Arc<dyn Operation>> {
    let keys = Arc::new(ApiKeys::new(engine));
    vec![
        create(engine, &keys, defaults.clone()),
        list(&keys),
        revoke(&keys),
    ]
}

/// Refuses scopes that let nobody do anything.
fn known_scopes(engine: &Engine, wanted: Vec<Scope>) -> Result<Vec<Scope>, Problem> {
    let known = engine.scopes()?;
    for scope in &wanted {
        let name = scope.as_str();
        if known.contains(name) {
            continue;
        }
        let message = match nearest(name, known.iter().map(String::as_str)) {
            Some(near) => format!("no scope is called {name:?}; did you mean {near:?}?"),
            None => {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                format!("no scope is called {name:?}; known: {}", known.join(", "))
            }
        };
        return Err(Problem::invalid("scopes", "enum", message));
    }
    Ok(wanted)
}

fn create(engine: &Engine, keys: &Arc<ApiKeys>, defaults: KeyDefaults) -> Arc<dyn Operation> {
    let engine = engine.clone();
    let keys = Arc::clone(keys);
    let mut input = input_schema_of::<CreateInput>();
    input["properties"]["scopes"]["default"] = json!(defaults.scopes);
    define(TOOLSET, "keys_create")
        .describe(
            "Create an API key",
            "Creates an API key with scopes and limits, and the secret that signs its webhooks. Both are shown once.",
        )
        .command(EffectClass::Write)
        .input_schema(input)
        .shows_once("api_key")
        .shows_once("webhook_secret")
        .example(
            "For a CI job",
            json!({ "name": "ci", "scopes": ["runs"], "days": 90 }),
        )
        .handle(move |context, input: CreateInput| {
            let (engine, keys) = (engine.clone(), Arc::clone(&keys));
            let defaults = defaults.clone();
            async move {
                let tier = defaults.tiers.choose(input.tier)?;
                let scopes = match input.scopes.is_empty() {
                    true => defaults.scopes,
                    false => known_scopes(&engine, input.scopes)?,
                };
                let lifetime = input.days.map(|days| Duration::from_secs(days * DAY));
                let new = NewKey {
                    name: input.name,
                    tier,
                    scopes,
                    lifetime,
                };
                let made = keys.create(&context.principal, new).await?;
                Ok(CreateOutput {
                    record: made.view,
                    api_key: made.api_key,
                    webhook_secret: made.webhook_secret.expose_secret().clone(),
                })
            }
        })
}

fn list(keys: &Arc<ApiKeys>) -> Arc<dyn Operation> {
    let keys = Arc::clone(keys);
    define(TOOLSET, "keys_list")
        .describe(
            "List API keys",
            "Lists API keys with scopes, limits and dates; never their secrets.",
        )
        .example("All", json!({}))
        .handle(move |_, ListInput {}| {
            let keys = Arc::clone(&keys);
            async move {
                Ok(ListOutput {
                    keys: keys.list().await?,
                })
            }
        })
}

fn revoke(keys: &Arc<ApiKeys>) -> Arc<dyn Operation> {
    let keys = Arc::clone(keys);
    define(TOOLSET, "keys_revoke")
        .describe(
            "Revoke an API key",
            "Stops an API key from working, within a second everywhere.",
        )
        .command(EffectClass::Destructive)
        .example(
            "One key",
            json!({ "key_id": "key_0123456789abcdef0123456789abcdef" }),
        )
        .handle(move |context, input: RevokeInput| {
            let keys = Arc::clone(&keys);
            async move {
                keys.revoke(&context.principal, &input.key_id).await?;
                Ok(RevokeOutput {
                    revoked: input.key_id,
                })
            }
        })
}
