//! moto in server mode: an independent implementation of AWS's APIs, on a port of its own.
//!
//! Needs moto's server program in `WINDLASS_TEST_MOTO`; `cargo xtask test` sets it.

use std::sync::Arc;

use serde_json::Value;
use windlass_aws::Aws;
use windlass_config::env::Environment;
use windlass_ports::Clock as _;
use windlass_ports::aws::{ActionShape, AwsCalls as _, AwsFailure, SignedCall, Target};
use windlass_system::{OsEntropy, SystemClock};
use windlass_testkit::servers;
use windlass_types::Timestamp;

/// A running server, ended with the test.
pub struct Moto {
    _server: servers::Moto,
    pub url: String,
    home: tempfile::TempDir,
}

impl Moto {
    /// A fresh server, or `None` with a loud word when there is none to start.
    pub fn start() -> Option<Self> {
        let server = servers::Moto::start()?;
        Some(Self {
            url: server.url().to_owned(),
            _server: server,
            home: tempfile::tempdir().unwrap(),
        })
    }

    /// The adapter with these keys.
    pub fn aws(&self, key_id: &str, key: &str) -> Aws {
        let home = self.home.path().display().to_string();
        let environment = Environment::from_pairs([
            ("AWS_ACCESS_KEY_ID", key_id),
            ("AWS_SECRET_ACCESS_KEY", key),
            ("AWS_REGION", "eu-west-1"),
            ("AWS_ENDPOINT_URL", self.url.as_str()),
            ("AWS_EC2_METADATA_DISABLED", "true"),
            ("HOME", home.as_str()),
        ]);
        Aws::new(&environment, Arc::new(SystemClock), Arc::new(OsEntropy))
    }

    /// Posts to moto's own interface.
    pub async fn control(&self, path: &str, body: &'static str) {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let answer = client
            .post(format!("{}{path}", self.url))
            .body(body)
            .send()
            .await
            .unwrap();
        assert!(answer.status().is_success(), "{}", answer.status());
    }
}

pub async fn call(aws: &Aws, shape: ActionShape, input: Value) -> Result<Value, AwsFailure> {
    aws.call(&Target::default(), SignedCall::new(shape, input))
        .await
}

pub fn now() -> Timestamp {
    SystemClock.now()
}
