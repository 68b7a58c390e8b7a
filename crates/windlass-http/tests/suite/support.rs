//! A server on fakes, and a short way to ask it something.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::Arc,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::ConnectInfo,
};
use http::{HeaderMap, Method, Request, StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tower::ServiceExt as _;
use windlass_engine::{
    Domain, Engine, WeakEngine,
    access::{ApiKeys, NewKey, Tier},
    contract::{Contract, EnvelopeContext, Plain},
    operation::{Operation, operation},
    run::RunKind,
};
use windlass_http::{AuthMode, HttpState, router};
use windlass_testkit::{
    Process, TestWorld, local,
    program::{Ledger, ProgramDomain},
};
use windlass_types::{Code, EffectClass, Problem, Scope, code};

/// Operations that do what a test needs. `gates` lets a test decide when they go on.
#[derive(Clone)]
pub struct Gates {
    /// A permit for every call that has begun.
    pub begun: Arc<Semaphore>,
    /// A call waits here until the test adds a permit.
    pub go_on: Arc<Semaphore>,
    /// A permit for every call that has ended.
    pub ended: Arc<Semaphore>,
}

impl Gates {
    pub fn new() -> Self {
        let closed = || Arc::new(Semaphore::new(0));
        Self {
            begun: closed(),
            go_on: closed(),
            ended: closed(),
        }
    }

    async fn pass(self) {
        self.begun.add_permits(1);
        self.go_on.acquire().await.unwrap().forget();
        self.ended.add_permits(1);
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Text {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Serialize, JsonSchema)]
struct Said {
    said: String,
}

/// A contract that wraps answers and has a status of its own for failures.
#[derive(Debug)]
struct Wrapped;

impl Contract for Wrapped {
    fn number(&self) -> Option<&'static str> {
        Some("999")
    }

    fn success(&self, _: EnvelopeContext<'_>, output: Value) -> Value {
        json!({ "ok": true, "data": output })
    }

    fn failure(&self, context: EnvelopeContext<'_>, problem: &Problem) -> Value {
        json!({
            "ok": false,
            "code": self.code_name(problem.code()),
            "message": problem.message(),
            "operation": context.operation,
        })
    }

    fn code_name(&self, _: &'static Code) -> &'static str {
        "NO_LUCK"
    }

    fn http_status(&self, _: &Problem) -> u16 {
        418
    }

    fn failure_schema(&self) -> Value {
        json!({ "type": "object" })
    }
}

struct ProbeDomain {
    gates: Gates,
}

impl Domain for ProbeDomain {
    fn kinds(&self, _: &WeakEngine) -> Vec<Arc<dyn RunKind>> {
        Vec::new()
    }

    fn operations(&self, _: &Engine) -> Vec<Arc<dyn Operation>> {
        let echo = |verb: &str, contract: &'static dyn Contract| {
            operation("probe", verb)
                .describe("Echo", "Says what it was told.")
                .contract(contract)
                .example("hello", json!({ "text": "hello" }))
                .handle(|_, input: Text| async move {
                    if input.text == "fail" {
                        return Err(Problem::new(&code::ILLEGAL_STATE, "told to fail"));
                    }
                    Ok(Said { said: input.text })
                })
        };
        let gated = |verb: &str, effect: EffectClass| {
            let gates = self.gates.clone();
            operation("probe", verb)
                .describe("Gate", "Waits for the test.")
                .command(effect)
                .handle(move |_, _: Nothing| {
                    let gates = gates.clone();
                    async move {
                        gates.pass().await;
                        Ok(Said {
                            said: "done".to_owned(),
                        })
                    }
                })
        };
        let panics = |verb: &str, effect: EffectClass| {
            operation("probe", verb)
                .describe("Panic", "Panics.")
                .command(effect)
                .handle(
                    |_, _: Nothing| async move { panic!("told to panic") as Result<Said, Problem> },
                )
        };
        vec![
            echo("echo", &Plain),
            echo("wrapped", &Wrapped),
            echo("pipeline", &windlass_pipeline::PipelineContract),
            gated("wait", EffectClass::Read),
            gated("change", EffectClass::Write),
            panics("panic", EffectClass::Read),
            panics("panic_in_change", EffectClass::Write),
        ]
    }
}

/// A server, and the keys to it.
pub struct Server {
    pub world: TestWorld,
    pub process: Process,
    pub gates: Gates,
    pub state: HttpState,
    pub router: Router,
    /// A key that may do everything.
    pub root: String,
    /// A key that may use the toolset `probe`.
    pub probe: String,
    /// The same with the tier `tiny`.
    pub tiny: String,
    /// A key that may use the toolset `runs`, and see its own runs.
    pub runs: String,
}

pub const TINY: Tier = tier(3, 2);

/// A tier that limits requests only.
pub const fn tier(per_minute: u32, concurrency: u32) -> Tier {
    Tier {
        per_minute,
        concurrency,
        concurrent_jobs: None,
        jobs_per_hour: None,
    }
}

/// A server with API keys.
pub async fn server() -> Server {
    server_with(|_| {}).await
}

/// A server with API keys and other settings.
pub async fn server_with(change: impl FnOnce(&mut HttpState)) -> Server {
    let gates = Gates::new();
    let world = world(&gates, Vec::new);
    let process = world.driving().await;
    server_on(world, process, gates, change).await
}

/// A world with the operations of tests and of runs and keys, and some more.
pub fn world(
    gates: &Gates,
    more: impl Fn() -> Vec<Box<dyn Domain>> + Send + Sync + 'static,
) -> TestWorld {
    let gates = gates.clone();
    let ledger = Ledger::new();
    TestWorld::new(move || {
        let tiers = ["free", "pro", "tiny"].map(str::to_owned).to_vec();
        let mut domains: Vec<Box<dyn Domain>> = vec![
            Box::new(ProgramDomain::new(&ledger)),
            Box::new(ProbeDomain {
                gates: gates.clone(),
            }),
            windlass_runs::domain(),
            windlass_admin::domain(
                windlass_admin::KeyDefaults {
                    tiers: windlass_admin::Tiers {
                        names: tiers,
                        default: "pro".to_owned(),
                    },
                    scopes: vec![Scope::new("runs")],
                },
                Arc::new(windlass_ports::TrustNothing),
            ),
        ];
        domains.extend(more());
        domains
    })
}

/// Makes a key.
pub async fn make_key(keys: &ApiKeys, name: &str, tier: &str, scopes: &[&str]) -> String {
    let new = NewKey {
        name: name.to_owned(),
        tier: tier.to_owned(),
        scopes: scopes.iter().map(|scope| Scope::new(*scope)).collect(),
        lifetime: None,
    };
    keys.create(&local(), new).await.unwrap().api_key
}

/// A server in a process of a world.
pub async fn server_on(
    world: TestWorld,
    process: Process,
    gates: Gates,
    change: impl FnOnce(&mut HttpState),
) -> Server {
    let keys = Arc::new(ApiKeys::new(&process.engine));
    let root = make_key(&keys, "root", "pro", &["*", "approve"]).await;
    let probe = make_key(&keys, "probe", "pro", &["probe"]).await;
    let tiny = make_key(&keys, "tiny", "tiny", &["probe"]).await;
    let runs = make_key(&keys, "runs", "pro", &["runs"]).await;
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let mut state = HttpState::new(process.catalogue().clone(), keys, AuthMode::Keys, listen);
    state.tiers = [("pro", tier(300, 16)), ("tiny", TINY)]
        .map(|(name, tier)| (name.to_owned(), tier))
        .into();
    state.body_limit = 4096;
    change(&mut state);
    let router = router(state.clone());
    Server {
        world,
        process,
        gates,
        state,
        router,
        root,
        probe,
        tiny,
        runs,
    }
}

impl Server {
    pub async fn ask(&self, ask: Ask) -> Reply {
        let response = self.router.clone().oneshot(ask.build()).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        Reply {
            status: parts.status,
            headers: parts.headers,
            body,
        }
    }

    /// The answer's head and its body as a stream.
    pub async fn open(&self, ask: Ask) -> (StatusCode, HeaderMap, axum::body::BodyDataStream) {
        let response = self.router.clone().oneshot(ask.build()).await.unwrap();
        let (parts, body) = response.into_parts();
        (parts.status, parts.headers, body.into_data_stream())
    }
}

/// A request to be.
#[derive(Clone)]
pub struct Ask {
    pub method: Method,
    pub path: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Bytes,
    peer: IpAddr,
}

pub fn get(path: &str) -> Ask {
    Ask {
        method: Method::GET,
        path: path.to_owned(),
        headers: vec![("host".to_owned(), b"localhost:7717".to_vec())],
        body: Bytes::new(),
        peer: IpAddr::V4(Ipv4Addr::LOCALHOST),
    }
}

pub fn post(path: &str, body: impl Into<Bytes>) -> Ask {
    Ask {
        method: Method::POST,
        body: body.into(),
        ..get(path)
    }
    .with("content-type", "application/json")
}

/// A call through the generic door.
pub fn call(operation: &str, input: Value) -> Ask {
    post(&format!("/v1/operations/{operation}"), input.to_string())
}

impl Ask {
    pub fn key(self, key: &str) -> Self {
        self.with("authorization", format!("Bearer {key}"))
    }

    pub fn method(mut self, method: &str) -> Self {
        self.method = method.parse().unwrap();
        self
    }

    /// One more header.
    pub fn with(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers
            .push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    /// Without a header it would have.
    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(header, _)| header != name);
        self
    }

    pub fn host(self, host: &str) -> Self {
        self.without("host").with("host", host)
    }

    pub fn from(mut self, peer: &str) -> Self {
        self.peer = peer.parse().unwrap();
        self
    }

    fn build(self) -> Request<Body> {
        let mut request = Request::builder().method(self.method).uri(self.path);
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        let mut request = request.body(Body::from(self.body)).unwrap();
        request
            .extensions_mut()
            .insert(ConnectInfo(SocketAddr::new(self.peer, 50_000)));
        request
    }
}

/// An answer.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// The JSON in one spelling, whatever order keys came in.
    pub fn canonical(&self) -> String {
        windlass_types::canonical::canonical_json(&self.json())
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.to_vec()).unwrap()
    }

    /// The public code of a failure; empty for an answer.
    pub fn code(&self) -> String {
        if self.status.is_success() || self.body.is_empty() {
            return String::new();
        }
        self.json()["error"]["code"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    /// What every answer has, whatever it says.
    pub fn check_headers(&self, what: &str) {
        for name in [
            "x-request-id",
            "x-ratelimit-limit",
            "x-ratelimit-remaining",
            "x-ratelimit-reset",
            "ratelimit",
            "ratelimit-policy",
        ] {
            assert_ne!(self.header(name), "", "{what}: no {name}");
        }
        assert_eq!(self.header("x-content-type-options"), "nosniff", "{what}");
        assert_ne!(self.header("cache-control"), "", "{what}");
        if self.status.is_client_error() || self.status.is_server_error() {
            assert_eq!(self.header("content-type"), "application/json", "{what}");
        }
        assert_eq!(
            self.status == StatusCode::TOO_MANY_REQUESTS,
            self.headers.contains_key("retry-after"),
            "{what}"
        );
        assert_eq!(
            self.status == StatusCode::METHOD_NOT_ALLOWED,
            self.headers.contains_key("allow"),
            "{what}"
        );
        let challenged = self.headers.contains_key("www-authenticate");
        assert!(
            challenged || self.status != StatusCode::UNAUTHORIZED,
            "{what}: no challenge"
        );
    }
}
