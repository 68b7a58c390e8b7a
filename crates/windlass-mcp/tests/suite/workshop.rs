//! The product's server over an engine on fakes, with the demo and runs domains.

use std::future::Future;

use serde_json::{Value, json};
use tempfile::TempDir;
use windlass_mcp::{McpHandler, ServerOptions, ToolMode, handler};
use windlass_testkit::{Process, TestWorld, local};
use windlass_types::{Principal, RunId};

use super::support::{StdioClient, call, initialize, modern_meta};

/// Whatever the demo asks for is asked of the local user first.
pub const ASK: &str = r#"
version = 1
[[rule]]
decision = "allow"
reason = "tests"
[[rule]]
operation = "demo.*"
effect = "write"
decision = "ask"
approvers = ["local:ada"]
"#;

/// A driving process and a scratch directory.
pub struct Workshop {
    pub world: TestWorld,
    pub process: Process,
    pub scratch: TempDir,
}

impl Workshop {
    pub async fn new() -> Self {
        Self::under(None).await
    }

    pub async fn under(policy: Option<&str>) -> Self {
        let world = TestWorld::new(|| vec![windlass_demo::domain(), windlass_runs::domain()])
            .with_threads();
        let world = match policy {
            Some(policy) => world.with_policy(policy),
            None => world,
        };
        let process = world.driving().await;
        Self {
            world,
            process,
            scratch: tempfile::tempdir().unwrap(),
        }
    }

    pub fn handler(&self, options: ServerOptions) -> McpHandler {
        handler(self.process.catalogue.clone(), options).unwrap()
    }

    /// A client that the given caller sits at.
    pub fn client_of(&self, principal: Principal) -> StdioClient {
        let options = ServerOptions {
            principal: Some(principal),
            ..ServerOptions::default()
        };
        StdioClient::start(self.handler(options))
    }

    pub fn client(&self) -> StdioClient {
        self.client_of(local())
    }

    pub fn lean_client(&self) -> StdioClient {
        let options = ServerOptions {
            principal: Some(local()),
            tools: ToolMode::Lean,
            ..ServerOptions::default()
        };
        StdioClient::start(self.handler(options))
    }

    /// A client with an open session of the legacy era.
    pub async fn legacy_client(&self) -> StdioClient {
        let mut client = self.client();
        client.ask(&initialize("init", "2025-11-25")).await;
        client
    }

    /// Does the work while time goes on by itself.
    pub async fn run<T>(&self, work: impl Future<Output = T>) -> T {
        self.world.clock.run(work).await
    }

    /// Input for the demo: two files, and what a test adds.
    pub fn demo(&self, extra: &Value) -> Value {
        let mut input = json!({
            "dir": self.scratch.path(),
            "files": { "a.txt": "a\n", "b.txt": "b\n" },
        });
        for (key, value) in extra.as_object().into_iter().flatten() {
            input[key] = value.clone();
        }
        input
    }

    /// Input that applies a plan made now.
    pub async fn confirmed(&self, extra: &Value) -> Value {
        let mut input = self.demo(extra);
        let plan = self
            .process
            .call("demo.plan", input.clone())
            .await
            .unwrap()
            .output;
        input["confirm_token"] = plan["confirm_token"].clone();
        input
    }

    pub async fn settled(&self, run_id: &RunId) -> String {
        self.process.settle(run_id).await.state.as_str().to_owned()
    }
}

/// A modern request with these client capabilities.
pub fn modern(mut request: Value, capabilities: Value) -> Value {
    request["params"]["_meta"] = modern_meta();
    request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities;
    request
}

/// A modern call of a tool.
pub fn modern_call(id: i64, tool: &str, arguments: Value, capabilities: Value) -> Value {
    modern(call(id, tool, arguments), capabilities)
}

/// The run an answer is about.
pub fn run_of(answer: &Value) -> RunId {
    let id = answer["result"]["structuredContent"]["run"]["run_id"].as_str();
    id.unwrap_or_else(|| panic!("no run in {answer}"))
        .parse()
        .unwrap()
}
