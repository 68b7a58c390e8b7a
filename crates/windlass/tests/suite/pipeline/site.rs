//! A server with pipelines and keys for them.

use std::{
    sync::{Arc, Condvar, Mutex},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::suite::support::{
    binary::{Daemon, free_address, say},
    home::Place,
    http::Ask,
    loopback::{Loopback, json_answer},
};

pub(super) const SPEC: &str = "Knots is a shop for sailors. Sailors can create, edit and delete \
    their own listings. A listing has a title, a price and a status (draft, published). Visitors \
    can browse published listings. Pages load in under 2s. The primary color is #0F766E.";
/// So that the tables decide, and not the limits.
pub(super) const NO_LIMITS: &str = "
[limits.tiers.pro]
per_minute = 100000
concurrent_jobs = 0
pipelines_per_hour = 0
";
/// Long enough for a loaded machine, short enough to notice a hang.
const WAIT_LIMIT: Duration = Duration::from_secs(60);

/// A key, as it was shown once.
pub(super) struct Key {
    pub(super) id: String,
    pub(super) text: String,
    pub(super) webhook_secret: String,
}

/// A daemon that asks for keys.
pub(super) struct Site {
    pub(super) place: Place,
    pub(super) daemon: Daemon,
    /// May use pipelines, tier `pro`.
    pub(super) key: Key,
}

impl Site {
    pub(super) fn open(settings: &str) -> Self {
        Self::open_after(settings, |_| {})
    }

    /// The same with something done to the home before the daemon starts.
    pub(super) fn open_after(settings: &str, prepare: impl FnOnce(&Place)) -> Self {
        let place = Place::new();
        fs_err::write(place.home().join("config.toml"), settings).unwrap();
        let key = make_key(&place, &[]);
        prepare(&place);
        let daemon = start(&place);
        Self { place, daemon, key }
    }

    /// Sends a request with the key.
    pub(super) fn ask(&self, ask: Ask) -> crate::suite::support::http::Reply {
        let ask = ask.with("authorization", format!("Bearer {}", self.key.text));
        ask.send(self.daemon.address).unwrap()
    }

    /// Begins a job; its id.
    #[track_caller]
    pub(super) fn begin(&self, input: &Value) -> String {
        let reply = self.ask(Ask::post("/v1/pipelines", input.to_string()));
        assert_eq!(reply.status, 202, "{}", reply.text());
        reply.json()["job_id"].as_str().unwrap().to_owned()
    }

    /// Looks until the job has ended; its status.
    #[track_caller]
    pub(super) fn ended(&self, job: &str) -> Value {
        let started = Instant::now();
        loop {
            let status = self.ask(Ask::get(&format!("/v1/pipelines/{job}"))).json();
            if status["status"] != "running" {
                return status;
            }
            assert!(started.elapsed() < WAIT_LIMIT, "it stays {status:#}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Starts a daemon on a home that asks for keys.
pub(super) fn start(place: &Place) -> Daemon {
    let mut daemon = Daemon::spawn(&place.home(), free_address(), &[]);
    daemon.wait_until_ready();
    daemon
}

/// Makes a key for pipelines.
pub(super) fn make_key(place: &Place, more: &[&str]) -> Key {
    let create = ["--json", "keys", "create", "shop", "--scope", "pipeline"];
    let said = say(&place.home(), &[&create, more].concat())
        .worked()
        .json();
    let text = |name: &str| find(&said, name).unwrap_or_else(|| panic!("{said:#}"));
    Key {
        id: text("key_id"),
        text: text("api_key"),
        webhook_secret: text("webhook_secret"),
    }
}

/// A text wherever it is in an answer.
fn find(answer: &Value, name: &str) -> Option<String> {
    let members = answer.as_object()?;
    match members.get(name) {
        Some(found) => found.as_str().map(str::to_owned),
        None => members.values().find_map(|value| find(value, name)),
    }
}

/// A model that answers nothing until it is let go, and then that it may not be asked.
pub(super) struct SilentModel {
    server: Loopback,
    go: Arc<(Mutex<bool>, Condvar)>,
}

impl SilentModel {
    pub(super) fn start() -> Self {
        let go = Arc::new((Mutex::new(false), Condvar::new()));
        let wait = Arc::clone(&go);
        let server = Loopback::start(move |_| {
            let (ready, changed) = &*wait;
            let ready = ready.lock().unwrap();
            drop(changed.wait_while(ready, |ready| !*ready).unwrap());
            json_answer(401, &serde_json::json!({ "error": { "message": "no" } }))
        });
        Self { server, go }
    }

    /// Lets it answer, now and from now on.
    pub(super) fn let_go(&self) {
        *self.go.0.lock().unwrap() = true;
        self.go.1.notify_all();
    }

    /// Settings of a server that asks it.
    pub(super) fn settings(&self, more: &str) -> String {
        format!(
            "[models]\nallow_private_targets = true\nallow_http = true\n\
             [pipeline]\ngenerator = \"llm\"\n\
             [pipeline.model]\napi_base_url = \"http://{}/v1\"\nmodel = \"silent\"\n{more}",
            self.server.address
        )
    }
}

impl Drop for SilentModel {
    fn drop(&mut self) {
        self.let_go();
    }
}
