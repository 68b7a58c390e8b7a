//! The client under the official conformance suite: one scenario per start.
//!
//! The suite appends its server's address to the command and names the scenario in variables. Every
//! scenario takes the same way that the agent takes: list the tools, call each, and sign in when
//! the server asks for it. Consent is given by following the sign-in page's redirect.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a program for one test, which has the environment and the streams to itself"
)]

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use anyhow::{Context as _, Result, bail};
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use windlass_mcp_client::{
    ClientCredentials, McpClient, McpClientParts, RemoteConfig, ServerConfig, ServerTarget, SignIn,
    Timing,
};
use windlass_net::{HttpOutbound, OutboundPolicy};
use windlass_ports::{
    CallLimits, Consent, Outbound, OutboundRequest, QuestionAnswer, Questions, ServerCall,
    ServerError, ServerQuestion, ServerReply, ServerState, ServerTokens, ToolPins,
    ToolServers as _,
};
use windlass_types::Secret;

const SERVER: &str = "suite";
const REDIRECT: &str = "http://localhost:3000/callback";
/// Where a client of the suite says that it describes itself.
const METADATA: &str = "https://conformance-test.local/client-metadata.json";
/// How often a call may ask to sign in before that is the result.
const MOST_SIGN_INS: usize = 5;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let url = std::env::args()
        .next_back()
        .context("the server's address is missing")?;
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context: Value = serde_json::from_str(&context).unwrap_or_default();
    let outbound: Arc<dyn Outbound> = Arc::new(HttpOutbound::new(OutboundPolicy {
        allow_private: true,
        allow_http: true,
        allowed_hosts: None,
    }));
    let client = McpClient::new(McpClientParts {
        servers: vec![config(url, &context)],
        outbound: Arc::clone(&outbound),
        tokens: Arc::<Memory>::default(),
        pins: Arc::new(Forgetful),
        questions: Some(Arc::new(Defaults)),
        sandbox: None,
        environment: std::env::vars_os().collect(),
        directory: std::env::current_dir()?,
        timing: Timing::default(),
    });
    let outcome = run(&client, &Browser(outbound), &scenario, &context).await;
    client.stop().await;
    outcome
}

async fn run(client: &McpClient, browser: &Browser, scenario: &str, context: &Value) -> Result<()> {
    let mut tools = client.tools().await;
    for _ in 0..MOST_SIGN_INS {
        if client.servers().remove(0).state != ServerState::SignInRequired {
            break;
        }
        match client.sign_in(SERVER, browser).await {
            // It asks again: its sign-in service may have changed meanwhile.
            Ok(()) | Err(ServerError::SignInRequired { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        tools = client.tools().await;
    }
    let view = client.servers().remove(0);
    if view.state != ServerState::Ready {
        bail!("{view:?}");
    }
    // What to call is said by the scenarios that are about arguments.
    if let Some(calls) = context["toolCalls"].as_array() {
        for planned in calls {
            let name = planned["name"].as_str().unwrap_or_default();
            let arguments = planned["arguments"]
                .as_object()
                .cloned()
                .unwrap_or_default();
            let tool = tools.iter().find(|tool| tool.tool == name);
            if let Some(tool) = tool {
                let done = call(client, browser, &tool.name, arguments).await;
                eprintln!("{name}: {done:?}");
            }
        }
        return Ok(());
    }
    for tool in &tools {
        let mut arguments = arguments(&tool.input_schema);
        if tool.tool == "json_schema_echo" {
            // It wants to see the schema of its neighbour as this client received it.
            let other = tools
                .iter()
                .find(|tool| tool.tool == "json_schema_2020_12_tool");
            let schema = other.map(|tool| tool.input_schema.clone());
            arguments.insert("schema".to_owned(), schema.unwrap_or_default());
        }
        match call(client, browser, &tool.name, arguments).await {
            Ok(reply) => eprintln!("{}: {reply:?}", tool.tool),
            Err(error) if scenario.starts_with("auth/") => return Err(error.into()),
            Err(error) => eprintln!("{}: {error}", tool.tool),
        }
    }
    for prompt in client.prompts(SERVER).await.unwrap_or_default() {
        let given = prompt
            .arguments
            .iter()
            .map(|(name, _)| (name.clone(), json!("test")));
        let _ = client.prompt(SERVER, &prompt.name, given.collect()).await;
    }
    for resource in client.resources(SERVER).await.unwrap_or_default() {
        let _ = client.read_resource(SERVER, &resource.uri).await;
    }
    Ok(())
}

/// Calls a tool, and signs in as often as the server asks for it and the client agrees.
async fn call(
    client: &McpClient,
    browser: &Browser,
    tool: &str,
    arguments: Map<String, Value>,
) -> Result<ServerReply, ServerError> {
    let mut times = 0;
    loop {
        let called = client
            .call(ServerCall {
                tool,
                arguments: arguments.clone(),
                limits: CallLimits {
                    time: Duration::from_secs(20),
                    ..CallLimits::default()
                },
                listener: None,
            })
            .await;
        match called {
            Err(ServerError::SignInRequired { .. }) if times < MOST_SIGN_INS => {
                times += 1;
                client.sign_in(SERVER, browser).await?;
            }
            other => return other,
        }
    }
}

fn config(url: String, context: &Value) -> ServerConfig {
    let text = |key: &str| context[key].as_str().map(str::to_owned);
    let is_alone = std::env::var("MCP_CONFORMANCE_SCENARIO")
        .is_ok_and(|scenario| scenario.starts_with("auth/client-credentials"));
    let credentials = match (is_alone, text("private_key_pem")) {
        (false, _) => None,
        (true, Some(pem)) => Some(ClientCredentials::PrivateKey {
            pem,
            algorithm: text("signing_algorithm").unwrap_or_else(|| "ES256".to_owned()),
        }),
        (true, None) => Some(ClientCredentials::Secret),
    };
    ServerConfig {
        name: SERVER.to_owned(),
        target: ServerTarget::Remote(RemoteConfig {
            url,
            headers: BTreeMap::new(),
            sign_in: SignIn {
                client_id: text("client_id"),
                client_secret: text("client_secret"),
                client_metadata_url: Some(METADATA.to_owned()),
                scopes: Vec::new(),
                credentials,
            },
        }),
        enabled: true,
        start_limit: Duration::from_secs(15),
        call_limit: None,
        only_tools: Vec::new(),
        without_tools: Vec::new(),
    }
}

/// Something for every argument that must be there.
fn arguments(schema: &Value) -> Map<String, Value> {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let named = required.iter().filter_map(Value::as_str);
    named
        .map(|name| {
            let value = match schema["properties"][name]["type"].as_str() {
                Some("number" | "integer") => json!(1),
                Some("boolean") => json!(true),
                Some("array") => json!([]),
                Some("object") => json!({}),
                _ => json!("test"),
            };
            (name.to_owned(), value)
        })
        .collect()
}

/// Opens the sign-in page, which sends back at once.
struct Browser(Arc<dyn Outbound>);

impl Consent for Browser {
    fn redirect_address(&self) -> String {
        REDIRECT.to_owned()
    }

    fn ask<'a>(&'a self, address: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            let answer = self.0.send(OutboundRequest {
                method: "GET".to_owned(),
                url: address.to_owned(),
                headers: Vec::new(),
                body: Vec::new(),
                timeout: Duration::from_secs(10),
            });
            let answer = answer.await.map_err(|error| error.to_string())?;
            let back = answer.header("location").map(str::to_owned);
            back.ok_or_else(|| format!("no way back, status {}", answer.status))
        })
    }
}

/// Fills in what a form proposes.
struct Defaults;

impl Questions for Defaults {
    fn ask(&self, question: ServerQuestion) -> BoxFuture<'_, QuestionAnswer> {
        Box::pin(async move {
            let properties = question.schema["properties"].as_object().cloned();
            let defaults = properties.unwrap_or_default().into_iter();
            let filled = defaults.filter_map(|(name, field)| {
                let default = field.get("default").cloned();
                let typed = match field["type"].as_str() {
                    Some("boolean") => json!(true),
                    Some("number" | "integer") => json!(1),
                    _ => json!("test"),
                };
                let required = question.schema["required"].as_array();
                let must = required.is_some_and(|names| names.contains(&json!(name)));
                default.or(must.then_some(typed)).map(|value| (name, value))
            });
            QuestionAnswer::Accept(filled.collect())
        })
    }
}

#[derive(Default)]
struct Memory(std::sync::Mutex<BTreeMap<String, String>>);

impl Memory {
    fn kept(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, String>> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl ServerTokens for Memory {
    fn load(&self, server: &str) -> Result<Option<Secret<String>>, String> {
        Ok(self.kept().get(server).cloned().map(Secret::new))
    }
    fn save(&self, server: &str, tokens: Secret<String>) -> Result<(), String> {
        let text = tokens.expose_secret().clone();
        self.kept().insert(server.to_owned(), text);
        Ok(())
    }
    fn clear(&self, server: &str) -> Result<(), String> {
        self.kept().remove(server);
        Ok(())
    }
}

/// One start, one scenario: there is nothing to compare with.
struct Forgetful;

impl ToolPins for Forgetful {
    fn load(&self, _: &str) -> Result<Option<String>, String> {
        Ok(None)
    }
    fn save(&self, _: &str, _: String) -> Result<(), String> {
        Ok(())
    }
}
