//! A client over scripted servers, and its stores in memory.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Map, Value, json};
use tempfile::TempDir;
use windlass_mcp_client::{
    Environment, McpClient, McpClientParts, ServerConfig, ServerTarget, StdioConfig, Timing,
};
use windlass_net::{HttpOutbound, OutboundPolicy};
use windlass_ports::{
    CallLimits, Confinement, Part, Sandbox, ServerCall, ServerError, ServerReply, ServerState,
    ServerTokens, ServerView, ToolPins, ToolServers,
};
use windlass_types::Secret;

#[derive(Default)]
pub struct Memory(Mutex<BTreeMap<String, String>>);

impl ServerTokens for Memory {
    fn load(&self, server: &str) -> Result<Option<Secret<String>>, String> {
        Ok(self.0.lock().unwrap().get(server).cloned().map(Secret::new))
    }
    fn save(&self, server: &str, tokens: Secret<String>) -> Result<(), String> {
        let text = tokens.expose_secret().clone();
        self.0.lock().unwrap().insert(server.to_owned(), text);
        Ok(())
    }
    fn clear(&self, server: &str) -> Result<(), String> {
        self.0.lock().unwrap().remove(server);
        Ok(())
    }
}

impl ToolPins for Memory {
    fn load(&self, server: &str) -> Result<Option<String>, String> {
        Ok(self.0.lock().unwrap().get(server).cloned())
    }
    fn save(&self, server: &str, pins: String) -> Result<(), String> {
        self.0.lock().unwrap().insert(server.to_owned(), pins);
        Ok(())
    }
}

/// A directory, and a client of scripted servers in it.
pub struct Place {
    pub folder: TempDir,
    pub pins: Arc<Memory>,
    pub servers: Vec<ServerConfig>,
    pub sandbox: Option<(Arc<dyn Sandbox>, Confinement)>,
}

impl Place {
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            pins: Arc::default(),
            servers: Vec::new(),
            sandbox: None,
        }
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Adds a scripted server.
    pub fn server(mut self, name: &str, flags: &[&str]) -> Self {
        self.servers.push(scripted(name, flags, self.folder.path()));
        self
    }

    pub fn limit(mut self, start: Duration) -> Self {
        self.servers
            .iter_mut()
            .for_each(|server| server.start_limit = start);
        self
    }

    pub fn client(&self) -> McpClient {
        let policy = OutboundPolicy {
            allow_private: true,
            allow_http: true,
            allowed_hosts: None,
        };
        self.client_with(policy)
    }

    pub fn client_with(&self, policy: OutboundPolicy) -> McpClient {
        McpClient::new(McpClientParts {
            servers: self.servers.clone(),
            outbound: Arc::new(HttpOutbound::new(policy)),
            tokens: Arc::<Memory>::default(),
            pins: Arc::clone(&self.pins) as Arc<dyn ToolPins>,
            questions: None,
            sandbox: self.sandbox.clone(),
            environment: environment(),
            directory: self.folder.path().to_owned(),
            timing: Timing {
                first: Duration::from_millis(50),
                most: Duration::from_millis(400),
            },
        })
    }
}

pub fn environment() -> Environment {
    let path = std::env::var_os("PATH").unwrap();
    [
        ("PATH".into(), path),
        ("HOME".into(), "/nonexistent".into()),
        ("AWS_SECRET_ACCESS_KEY".into(), "hidden".into()),
    ]
    .into_iter()
    .collect()
}

fn scripted(name: &str, flags: &[&str], folder: &Path) -> ServerConfig {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/server.py");
    let mut arguments = vec!["-u".to_owned(), script.display().to_string()];
    // `@` is the test's directory.
    let folder = format!("{}/", folder.display());
    arguments.extend(flags.iter().map(|flag| flag.replace('@', &folder)));
    ServerConfig {
        name: name.to_owned(),
        target: ServerTarget::Stdio(StdioConfig {
            command: "python3".to_owned(),
            arguments,
            environment: BTreeMap::new(),
            pass: Vec::new(),
            directory: None,
        }),
        enabled: true,
        start_limit: Duration::from_secs(20),
        call_limit: None,
        only_tools: Vec::new(),
        without_tools: Vec::new(),
    }
}

pub fn arguments(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

pub async fn call(client: &McpClient, tool: &str, with: Value) -> Result<ServerReply, ServerError> {
    let call = ServerCall {
        tool,
        arguments: arguments(with),
        limits: CallLimits {
            time: Duration::from_secs(30),
            ..CallLimits::default()
        },
        listener: None,
    };
    client.call(call).await
}

pub async fn echo(client: &McpClient, server: &str) -> String {
    let reply = call(
        client,
        &format!("{server}__echo"),
        json!({ "text": "hello" }),
    )
    .await;
    text(&reply.unwrap())
}

pub fn text(reply: &ServerReply) -> String {
    let texts = reply.parts.iter().map(|part| match part {
        Part::Text { text } => text.clone(),
        other => format!("{other:?}"),
    });
    texts.collect()
}

pub fn view(client: &McpClient, server: &str) -> ServerView {
    let views = client.servers().into_iter();
    let mut found = views.filter(|view| view.name == server);
    found.next().unwrap()
}

/// Waits until a server is as wanted.
pub async fn until(
    client: &McpClient,
    server: &str,
    wanted: impl Fn(&ServerView) -> bool,
) -> ServerView {
    for _ in 0..600 {
        let view = view(client, server);
        if wanted(&view) {
            return view;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("never: {:?}", view(client, server));
}

pub fn is_ready(view: &ServerView) -> bool {
    view.state == ServerState::Ready
}
