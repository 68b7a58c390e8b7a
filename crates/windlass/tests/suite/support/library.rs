//! An engine in this process, on the real store: what the binary assembles, with a hand in the
//! writer and a fixed key.

use std::{
    collections::HashMap,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    sync::{Arc, OnceLock},
    time::Duration,
};

use serde_json::Value;
use windlass_engine::{
    Domain, Engine, EngineParts,
    confirm::Sealer,
    operation::{Answer, CallContext, CallRequest, Catalogue},
    outbox::{OutboxOptions, Schedule},
};
use windlass_net::{HttpOutbound, OutboundPolicy};
use windlass_policy::Policy;
use windlass_ports::{RunFilter, StoreError};
use windlass_secrets::Redactor;
use windlass_store::{SqliteStore, SqliteStoreOptions, StoreFaults};
use windlass_system::{OsEntropy, SystemClock};
use windlass_types::{Event, Principal, Problem, RunId, RunRecord, Secret, Surface};

use super::home::ALLOW_ALL;

/// An open home.
pub(crate) struct Library {
    pub(crate) engine: Engine,
    /// Made when it is needed: many tests only look.
    catalogue: OnceLock<Catalogue>,
}

impl Library {
    /// Opens a home. Must be called inside a runtime.
    pub(crate) fn open(
        home: &Path,
        faults: Option<Arc<dyn StoreFaults>>,
    ) -> Result<Self, StoreError> {
        let options = SqliteStoreOptions {
            faults,
            seal_key: Some(seal_key(home)),
            ..SqliteStoreOptions::default()
        };
        let store = Arc::new(SqliteStore::open(home, options)?);
        Ok(Self {
            engine: Engine::new(parts(&store), &domains()),
            catalogue: OnceLock::new(),
        })
    }

    /// Calls an operation as the owner of the home.
    pub(crate) async fn call(&self, operation: &str, input: Value) -> Result<Answer, Problem> {
        let context = CallContext {
            principal: owner(),
            surface: Surface::Cli,
            request_id: "req_test".to_owned(),
            directory: None,
            terms: windlass_engine::operation::Terms::default(),
        };
        let catalogue = self
            .catalogue
            .get_or_init(|| Catalogue::new(&self.engine, Vec::from(domains())).unwrap());
        catalogue
            .call(CallRequest {
                operation: operation.to_owned(),
                input,
                context,
            })
            .await
    }

    /// Every run, oldest first.
    pub(crate) async fn runs(&self) -> Result<Vec<RunRecord>, StoreError> {
        let filter = RunFilter {
            limit: 10_000,
            ..RunFilter::default()
        };
        let mut runs = self.engine.store.runs(filter).await?.runs;
        runs.reverse();
        Ok(runs)
    }

    /// Every event of a journal.
    pub(crate) async fn events(&self, run_id: &RunId) -> Result<Vec<Event>, StoreError> {
        self.engine.store.events(run_id, 0, 100_000).await
    }
}

/// The key that seals the history; the binary uses the same file.
pub(crate) fn seal_key(home: &Path) -> Secret<Vec<u8>> {
    let path = home.join("keys/store.key");
    if !path.exists() {
        fs_err::create_dir_all(home.join("keys")).unwrap();
        fs_err::write(&path, [7; 32]).unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    Secret::new(fs_err::read(path).unwrap())
}

fn domains() -> [Box<dyn Domain>; 3] {
    [
        windlass_runs::domain(),
        windlass_demo::domain(),
        windlass_admin::domain(
            windlass_admin::KeyDefaults {
                tiers: windlass_admin::Tiers {
                    names: Vec::new(),
                    default: String::new(),
                },
                scopes: Vec::new(),
            },
            Arc::new(windlass_ports::TrustNothing),
        ),
    ]
}

/// Who owns the home.
pub(crate) fn owner() -> Principal {
    Principal::local("ada")
}

fn parts(store: &Arc<SqliteStore>) -> EngineParts {
    EngineParts {
        store: Arc::clone(store) as _,
        maintenance: Arc::clone(store) as _,
        blobs: Arc::clone(store) as _,
        lease: Arc::clone(store) as _,
        clock: Arc::new(SystemClock),
        entropy: Arc::new(OsEntropy),
        outbound: Arc::new(HttpOutbound::new(OutboundPolicy {
            allow_private: true,
            allow_http: true,
            allowed_hosts: None,
        })),
        policy: Arc::new(Policy::parse(ALLOW_ALL, "policy.toml").unwrap()),
        redactor: Arc::new(Redactor::new()),
        sealer: Sealer::new(Secret::new(vec![7; 32])),
        outbox: OutboxOptions {
            secrets: HashMap::new(),
            default_secret: Secret::new("test".to_owned()),
            sealing_key: Secret::new(vec![7; 32]),
            schedule: Schedule::default(),
            timeout: Duration::from_secs(10),
            rotation_overlap: Duration::from_secs(24 * 3600),
        },
        export_key: Secret::new(vec![7; 32]),
        anchors: Default::default(),
        retention: Default::default(),
        tiers: Default::default(),
        roots: Default::default(),
        probe: None,
    }
}

/// A runtime like the binary's.
pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}
