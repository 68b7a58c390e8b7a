//! Builds the engine: adapters behind ports, domains next to each other.
//!
//! A new capability is one more line in `domains`.

use std::{collections::HashMap, sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use windlass_cli::{OpenOptions, Opened};
use windlass_config::StoreSettings;
use windlass_engine::{
    AnchorOptions, Domain, Engine, EngineParts, RetentionOptions,
    access::{Roots, Tiers},
    confirm::Sealer,
    operation::Catalogue,
    outbox::{OutboxOptions, Schedule},
};
use windlass_net::{HttpOutbound, OutboundPolicy};
use windlass_policy::Policy;
use windlass_ports::{AnchorSink, BlobStore, Lease, RunStore, StoreMaintenance, Trust};
use windlass_secrets::Redactor;
use windlass_store::{Access, SqliteStore, SqliteStoreOptions};
use windlass_system::{AnchorFile, AnchorSyslog, OsEntropy, SystemClock};
use windlass_trust::TrustFile;
use windlass_types::{Problem, Scope, Secret, code};

use crate::{key_file::Keys, launch, pack, pipeline, stack, user};

/// A webhook receiver that takes longer to accept a connection is not there.
const WEBHOOK_CONNECT: Duration = Duration::from_secs(5);

/// The keys that every start needs.
const KEY_FILES: [&str; 5] = [
    "store.key",
    "confirm.key",
    "export.key",
    "webhook.key",
    "webhook-secrets.key",
];

/// Every capability of this binary.
fn domains(
    options: &OpenOptions,
    entropy: &Arc<OsEntropy>,
    bound: &pipeline::Bound,
) -> Result<Vec<Box<dyn Domain>>, Problem> {
    let settings = &options.settings;
    let trust: Arc<dyn Trust> = Arc::new(TrustFile::at(options.home.trust()));
    let keys = windlass_admin::KeyDefaults {
        tiers: windlass_admin::Tiers {
            names: settings.limits.tiers.keys().cloned().collect(),
            default: settings.limits.default_tier.clone(),
        },
        scopes: ["runs", "demo", "pipeline"].map(Scope::new).to_vec(),
    };
    Ok(vec![
        windlass_runs::domain(),
        windlass_demo::domain(),
        pack::domain(options, &trust),
        launch::domain(options, entropy, &trust),
        pipeline::domain(options, entropy, bound)?,
        stack::domain(options, entropy, &trust),
        windlass_docs::domain(&stack::DOCS_CONTRACT),
        windlass_admin::domain(keys, trust),
        #[cfg(feature = "conformance-fixtures")]
        windlass_mcp::fixtures::domain(),
    ])
}

/// Where callers with a key may work.
fn roots(options: &OpenOptions) -> Roots {
    let configured = &options.settings.server.roots;
    Roots {
        allowed: Some(match configured.is_empty() {
            true => std::env::current_dir().into_iter().collect(),
            false => configured.clone(),
        }),
        home: Some(options.home.root().to_owned()),
    }
}

/// Opens the installation. Fails on a policy or a secret that is not understood: nothing starts
/// half protected.
pub(crate) fn open(options: &OpenOptions, bound: &pipeline::Bound) -> Result<Opened, Problem> {
    let settings = &options.settings;
    let home = &options.home;
    windlass_config::file::check_writers(home.root())
        .map_err(|error| Problem::new(&code::CONFIG_INVALID, error.to_string()))?;
    let policy = Policy::load(&home.policy())?.load_rules(&home.rules())?;
    let entropy = Arc::new(OsEntropy);
    let keys = match options.reads_only {
        true => Keys::LookOnly,
        false => Keys::Make,
    };
    let file = |name: &str| home.keys_dir().join(name);
    let key = |name: &str| keys.load(&file(name), &*entropy);
    let seal_key = key("store.key")?;
    let store = Arc::new(SqliteStore::open(
        home.root(),
        SqliteStoreOptions {
            seal_key: Some(seal_key),
            sealed_note: Some(file("store.sealed")),
            access: match options.reads_only {
                true => Access::ReadOnly,
                false => Access::ReadWrite,
            },
            key_files: KEY_FILES.iter().map(|name| file(name)).collect(),
            ..SqliteStoreOptions::default()
        },
    )?);
    // Deadlines then outlast a clock that is set back between two commands. Nothing else needs it.
    let clock = home.root().join("windlass.clock");
    let shared = match options.reads_only {
        true => SystemClock.look_at_steady(&clock),
        false => SystemClock.keep_steady(&clock),
    };
    if let Err(error) = shared {
        tracing::debug!(%error, "the steady clock is not shared with other processes");
    }
    let redactor = Arc::clone(&options.redactor);
    let parts = EngineParts {
        store: Arc::clone(&store) as Arc<dyn RunStore>,
        maintenance: Arc::clone(&store) as Arc<dyn StoreMaintenance>,
        blobs: Arc::clone(&store) as Arc<dyn BlobStore>,
        lease: store as Arc<dyn Lease>,
        clock: Arc::new(SystemClock),
        outbound: Arc::new(
            HttpOutbound::new(OutboundPolicy {
                allow_private: settings.webhooks.allow_private_targets,
                allow_http: settings.webhooks.allow_http,
                allowed_hosts: settings.webhooks.allowed_hosts.clone(),
            })
            .connecting_within(WEBHOOK_CONNECT)
            .without_reuse(),
        ),
        policy: Arc::new(policy),
        sealer: Sealer::new(key("confirm.key")?),
        export_key: key("export.key")?,
        outbox: outbox(options, &redactor, &key)?,
        entropy: Arc::clone(&entropy) as Arc<dyn windlass_ports::Entropy>,
        redactor,
        anchors: anchors(&settings.store),
        retention: retention(&settings.store),
        tiers: Tiers::from(&settings.limits),
        roots: roots(options),
        probe: None,
    };
    let domains = domains(options, &entropy, bound)?;
    let engine = Engine::new(parts, &domains);
    let catalogue = Catalogue::new(&engine, domains)
        .map_err(|error| Problem::internal("operation catalogue", error))?;
    catalogue.check_policy()?;
    engine.check_retention()?;
    Ok(Opened {
        catalogue,
        principal: user::local_principal(),
    })
}

/// Where anchors of the history go.
fn anchors(settings: &StoreSettings) -> AnchorOptions {
    let mut sinks: Vec<Arc<dyn AnchorSink>> = Vec::new();
    if let Some(path) = &settings.anchor_file {
        sinks.push(Arc::new(AnchorFile(path.clone())));
    }
    if settings.anchor_syslog {
        sinks.push(Arc::new(AnchorSyslog::default()));
    }
    AnchorOptions {
        sinks,
        url: settings.anchor_url.clone(),
        interval: Duration::from_secs(settings.anchor_interval_seconds.get()),
    }
}

/// How long what has ended is kept; zero days mean for ever.
fn retention(settings: &StoreSettings) -> RetentionOptions {
    const DAY: u64 = 24 * 60 * 60;
    let days = |days: u32| Duration::from_secs(u64::from(days) * DAY);
    let limit = |count: u32| (count > 0).then(|| days(count));
    let kinds = settings.keep_kinds_days.iter();
    RetentionOptions {
        runs: limit(settings.keep_runs_days),
        kinds: kinds
            .map(|(kind, count)| (kind.clone(), limit(*count).unwrap_or(Duration::MAX)))
            .collect(),
        rollback: days(settings.keep_rollback_days),
        audit: limit(settings.keep_audit_days),
    }
}

/// Gives the key in the file of a name.
type LoadKey<'a> = dyn Fn(&str) -> Result<Secret<Vec<u8>>, Problem> + 'a;

/// The outbox's secrets and timing. Every secret is made known to redaction before anything
/// else can see it.
fn outbox(
    options: &OpenOptions,
    redactor: &Redactor,
    key: &LoadKey<'_>,
) -> Result<OutboxOptions, Problem> {
    let settings = &options.settings.webhooks;
    let mut secrets = HashMap::new();
    for (name, source) in &settings.secrets {
        let secret = source.read(&options.environment).map_err(|error| {
            Problem::new(
                &code::CONFIG_INVALID,
                format!("webhook secret {name:?}: {error}"),
            )
        })?;
        redactor.register(&secret);
        secrets.insert(name.clone(), secret);
    }
    let own = key("webhook.key")?;
    let default_secret = Secret::new(format!("whsec_{}", STANDARD.encode(own.expose_secret())));
    redactor.register(&default_secret);
    Ok(OutboxOptions {
        secrets,
        default_secret,
        sealing_key: key("webhook-secrets.key")?,
        schedule: Schedule(
            settings
                .retry_seconds
                .iter()
                .copied()
                .map(Duration::from_secs)
                .collect(),
        ),
        timeout: Duration::from_secs(settings.timeout_seconds.get()),
        rotation_overlap: Duration::from_secs(settings.rotation_overlap_seconds),
    })
}
