//! A server with real pipelines behind it, by rules alone.

use std::{sync::Arc, time::Duration};

use http::StatusCode;
use serde_json::{Value, json};
use windlass_engine::{Domain, access::Tiers};
use windlass_http::{HttpState, SignedAddresses};
use windlass_pipeline::{GeneratorChoice, PipelineOutside, SignedUntil, Timeouts, admits_path};
use windlass_ports::{
    BoxFuture, LanguageModel, ModelError, ModelReply, ModelRequest,
    language_model::{Listener, ModelAddress},
};
use windlass_types::{Secret, Timestamp};

use super::support::{Ask, Gates, Reply, Server, get, make_key, post, server_on, world};

pub const SPEC: &str = "Knots is a shop for sailors. Sailors can create, edit and delete their own \
    listings. A listing has a title, a price and a status (draft, published). Visitors can browse \
    published listings. Pages load in under 2s. The primary color is #0F766E.";
pub const SIGNING_KEY: &[u8] = b"signs addresses in tests";
pub const DAY: Duration = Duration::from_secs(24 * 3600);

struct NoModel;

impl LanguageModel for NoModel {
    fn complete<'a>(
        &'a self,
        _: &'a ModelAddress,
        _: &'a ModelRequest,
        _: Option<Listener<'a>>,
    ) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        Box::pin(async { Err(ModelError::Unreachable("there is none".to_owned())) })
    }
}

fn domains() -> Vec<Box<dyn Domain>> {
    vec![windlass_pipeline::domain(PipelineOutside {
        generator: GeneratorChoice::Offline,
        model: None,
        models: Arc::new(NoModel),
        timeouts: Timeouts::default(),
        retention: 7 * DAY,
        public_base: Arc::new(|| "https://w.example".to_owned()),
        signing_key: Arc::new(Secret::new(SIGNING_KEY.to_vec())),
    })]
}

struct TestAddresses;

impl SignedAddresses for TestAddresses {
    fn admits(&self, path: &str, exp: i64, sig: &str, now: Timestamp) -> bool {
        let until = SignedUntil {
            exp,
            sig: sig.to_owned(),
        };
        admits_path(SIGNING_KEY, path, &until, now)
    }
}

/// A server with a key for pipelines.
pub struct Shop {
    pub server: Server,
    /// May use pipelines, tier `pro`.
    pub key: String,
    /// The same of another caller.
    pub other: String,
    /// The same, tier `free`.
    pub free: String,
}

/// Whether jobs go on or stay where they were begun.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Jobs {
    GoOn,
    Stay,
}

pub async fn shop(jobs: Jobs, change: impl FnOnce(&mut HttpState)) -> Shop {
    let gates = Gates::new();
    let world = world(&gates, domains).with_threads();
    let mut process = world.process();
    if jobs == Jobs::GoOn {
        process.drive().await;
    }
    let tiers = Tiers::default();
    let server = server_on(world, process, gates, |state| {
        state.body_limit = 8 * 1024 * 1024;
        state.signed_addresses = Some(Arc::new(TestAddresses));
        state.tiers = tiers
            .iter()
            .map(|(name, tier)| (name.to_owned(), tier))
            .collect();
        change(state);
    })
    .await;
    let keys = &server.state.keys;
    let key = make_key(keys, "shop", "pro", &["pipeline"]).await;
    let other = make_key(keys, "other", "pro", &["pipeline"]).await;
    let free = make_key(keys, "free", "free", &["pipeline"]).await;
    Shop {
        server,
        key,
        other,
        free,
    }
}

impl Shop {
    pub async fn ask(&self, ask: Ask) -> Reply {
        self.server.ask(ask).await
    }

    /// Begins a job.
    pub async fn begin(&self, key: &str, input: Value) -> Reply {
        self.ask(post("/v1/pipelines", input.to_string()).key(key))
            .await
    }

    /// Begins a job of these phases and waits for its end; its id.
    pub async fn done(&self, phases: &[&str]) -> String {
        let begun = self
            .begin(&self.key, json!({ "spec": SPEC, "phases": phases }))
            .await;
        assert_eq!(begun.status, StatusCode::ACCEPTED, "{}", begun.text());
        let job = begun.json()["job_id"].as_str().unwrap().to_owned();
        self.ended(&job).await;
        job
    }

    /// Waits for a job's end. Real work takes real time, so the clock of the test stands still.
    pub async fn ended(&self, job: &str) {
        let run_id = job.parse().unwrap();
        let engine = &self.server.process.engine;
        let settled = engine.settle(&run_id, DAY);
        let settled = tokio::time::timeout(Duration::from_secs(60), settled).await;
        assert!(settled.unwrap().unwrap().state.is_final());
    }

    pub async fn show(&self, path: &str) -> Reply {
        self.ask(get(path).key(&self.key)).await
    }
}
