//! Requests, a clock that does not wait, and services at a server's address.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use windlass_commit::Services;
use windlass_git::GitProgram;
use windlass_net::{HttpOutbound, OutboundPolicy};
use windlass_ports::commit_service::{
    Author, CommitRequest, CommitService, CommitServices as _, FileChange, PullRequest,
    ServiceAddress, ServiceFault, ServiceKind,
};
use windlass_ports::{BoxFuture, Clock};
use windlass_types::Timestamp;

pub const TOKEN: &str = "tok_s3cret";
pub const BASE: &str = "1111111111111111111111111111111111111111";
pub const BRANCH: &str = "launch/r_1/acme";

/// Returns at once and remembers how long it was asked to wait.
pub struct Leap {
    now: Mutex<Timestamp>,
    pauses: Mutex<Vec<u64>>,
}

impl Leap {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            now: Mutex::new(Timestamp::from_millis(1_750_000_000_000)),
            pauses: Mutex::default(),
        })
    }

    /// The pauses since the last look, in seconds.
    pub fn pauses(&self) -> Vec<u64> {
        std::mem::take(&mut self.pauses.lock().unwrap())
    }
}

impl Clock for Leap {
    fn now(&self) -> Timestamp {
        *self.now.lock().unwrap()
    }

    fn sleep_until(&self, deadline: Timestamp) -> BoxFuture<'static, ()> {
        let mut now = self.now.lock().unwrap();
        let pause = deadline.since(*now).as_secs();
        self.pauses.lock().unwrap().push(pause);
        *now = deadline;
        Box::pin(std::future::ready(()))
    }
}

/// A service and the clock it waits with.
pub struct World {
    pub service: Arc<dyn CommitService>,
    pub clock: Arc<Leap>,
}

pub fn address(kind: ServiceKind, endpoint: Option<String>) -> ServiceAddress {
    ServiceAddress {
        kind,
        endpoint_url: endpoint,
        token: Some(TOKEN.to_owned().into()),
        repository: PathBuf::from("/nowhere"),
        record_dir: PathBuf::from("/nowhere"),
        allowed: Arc::new(|path| path.starts_with("content/")),
    }
}

pub fn open(address: ServiceAddress, timeout: Duration) -> Result<World, ServiceFault> {
    let clock = Leap::new();
    let policy = OutboundPolicy {
        allow_private: true,
        allow_http: true,
        allowed_hosts: None,
    };
    let services = Services::new(
        Arc::new(GitProgram::new(Vec::new())),
        Arc::new(HttpOutbound::new(policy)),
        Arc::clone(&clock) as Arc<dyn Clock>,
    );
    let service = services.with_timeout(timeout).open(address)?;
    Ok(World { service, clock })
}

/// A service at a server of this machine.
pub fn world(kind: ServiceKind, endpoint: String) -> World {
    open(address(kind, Some(endpoint)), Duration::from_secs(30)).unwrap()
}

pub fn write(path: &str, content: &str) -> FileChange {
    FileChange {
        path: path.to_owned(),
        content: Some(content.as_bytes().to_owned()),
    }
}

pub fn commit_request(repo_url: &str) -> CommitRequest {
    CommitRequest {
        run_id: "r_1".to_owned(),
        idempotency_key: "key-commit".to_owned(),
        repo_url: repo_url.to_owned(),
        base_ref: BASE.to_owned(),
        base_branch: None,
        branch_name: BRANCH.to_owned(),
        allowed_paths: vec!["content/".to_owned()],
        commit_message: "Launch Acme".to_owned(),
        commit_body: "All of it.".to_owned(),
        author: Author {
            name: "Windlass".to_owned(),
            email: "windlass@example.com".to_owned(),
        },
        time: Timestamp::from_millis(1_700_000_000_000),
        files: vec![
            write("content/new.md", "# New\n"),
            write("content/old.md", "# Changed\n"),
            FileChange {
                path: "content/gone.md".to_owned(),
                content: None,
            },
        ],
        patch_bundle: json!({ "patches": [] }),
        require_clean_base: true,
    }
}

pub fn pull_request(repo_url: &str, commit_sha: &str) -> PullRequest {
    PullRequest {
        run_id: "r_1".to_owned(),
        idempotency_key: "key-pull".to_owned(),
        repo_url: repo_url.to_owned(),
        base_ref: BASE.to_owned(),
        base_branch: None,
        branch_name: BRANCH.to_owned(),
        commit_sha: commit_sha.to_owned(),
        pr_title: "Launch Acme".to_owned(),
        pr_body: "Pages.\n".to_owned(),
        draft: false,
    }
}
