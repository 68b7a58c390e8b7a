//! A small server and clients for both transports.

use std::{borrow::Cow, sync::Arc, time::Duration};

use axum::body::Body;
use http::{HeaderMap, Request, StatusCode};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
        CustomResult, ElicitRequestParams, InitializeRequestParams, InitializeResult,
        ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion,
        ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf},
    sync::Notify,
    task::JoinHandle,
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use windlass_mcp::{
    http::{HttpOptions, McpEndpoint, endpoint},
    negotiate,
    transport::{StdioOptions, serve},
};

/// Long enough for a loaded machine, short enough to notice a hang.
pub const TIMEOUT: Duration = Duration::from_secs(20);

/// A server with a handful of tools that are hard on a transport.
#[derive(Clone, Default)]
pub struct TestHandler {
    pub started: Arc<Notify>,
    pub dropped: Arc<Notify>,
}

/// Tells when the future that holds it is dropped.
struct DropBell(Arc<Notify>);

impl Drop for DropBell {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

impl ServerHandler for TestHandler {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_protocol_version(negotiate::FALLBACK)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        negotiate::supported_versions()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        negotiate::initialize(self, &request, &context)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(negotiate::refuse_custom(request, &context))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tool = |name: &'static str| Tool::new(name, "A test tool", Arc::default());
        Ok(ListToolsResult::with_all_items(vec![
            tool("ask"),
            tool("echo"),
            tool("hang"),
            tool("progress"),
        ]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let said =
            |text: String| Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into());
        match request.name.as_ref() {
            "echo" => said(Value::Object(request.arguments.unwrap_or_default()).to_string()),
            "hang" => {
                let _bell = DropBell(Arc::clone(&self.dropped));
                self.started.notify_one();
                context.ct.cancelled().await;
                Err(ErrorData::internal_error("cancelled", None))
            }
            "progress" => {
                for step in 1..=3 {
                    if let Some(token) = context.meta.get_progress_token() {
                        let note =
                            ProgressNotificationParam::new(token, f64::from(step)).with_total(3.0);
                        let _ = context.peer.notify_progress(note).await;
                    }
                }
                said("done".to_owned())
            }
            "ask" => {
                let question: ElicitRequestParams = serde_json::from_value(json!({
                    "mode": "form",
                    "message": "Go on?",
                    "requestedSchema": { "type": "object", "properties": { "ok": { "type": "boolean" } } },
                }))
                .unwrap();
                match context.peer.create_elicitation(question).await {
                    Ok(answer) => said(json!(answer.action).to_string()),
                    Err(error) => said(error.to_string()),
                }
            }
            name => Err(ErrorData::invalid_params(
                format!("unknown tool: {name}"),
                None,
            )),
        }
    }
}

/// The modern `_meta`.
pub fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// An `initialize` request.
pub fn initialize(id: impl Into<Value>, version: &str) -> Value {
    json!({
        "jsonrpc": "2.0", "id": id.into(), "method": "initialize",
        "params": {
            "protocolVersion": version,
            "capabilities": { "elicitation": {} },
            "clientInfo": { "name": "test", "version": "1" },
        },
    })
}

/// A `tools/call` request.
pub fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
}

pub type Input = WriteHalf<DuplexStream>;
pub type Output = Lines<BufReader<ReadHalf<DuplexStream>>>;

/// A client on the other end of a stdio server.
pub struct StdioClient {
    input: Option<Input>,
    output: Output,
    pub server: JoinHandle<std::io::Result<()>>,
}

impl StdioClient {
    pub fn start<H: ServerHandler>(handler: H) -> Self {
        Self::start_with(
            handler,
            StdioOptions {
                max_line_bytes: 1 << 20,
                grace: Duration::from_millis(300),
            },
        )
    }

    pub fn start_with<H: ServerHandler>(handler: H, options: StdioOptions) -> Self {
        let (client, server) = tokio::io::duplex(64 * 1024);
        let (from_server, to_server) = tokio::io::split(client);
        let (input, output) = tokio::io::split(server);
        let server = tokio::spawn(serve(
            handler,
            Box::new(input),
            Box::new(output),
            options,
            CancellationToken::new(),
        ));
        Self {
            input: Some(to_server),
            output: BufReader::new(from_server).lines(),
            server,
        }
    }

    /// Starts a server and opens a legacy session.
    pub async fn initialized(version: &str) -> Self {
        let mut client = Self::start(TestHandler::default());
        client.send(&initialize("init", version)).await;
        assert_eq!(client.receive().await["result"]["protocolVersion"], version);
        client
    }

    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        self.input
            .as_mut()
            .expect("input is open")
            .write_all(bytes)
            .await
            .unwrap();
    }

    pub async fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes()).await;
    }

    pub async fn receive_line(&mut self) -> Option<String> {
        timeout(TIMEOUT, self.output.next_line())
            .await
            .expect("the server answers in time")
            .unwrap()
    }

    pub async fn receive(&mut self) -> Value {
        let line = self.receive_line().await.expect("the server is up");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    pub async fn ask(&mut self, message: &Value) -> Value {
        self.send(message).await;
        self.receive().await
    }

    /// Everything the server says until it answers a ping sent now.
    pub async fn until_ping(&mut self, id: &str) -> Vec<Value> {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }))
            .await;
        let mut seen = Vec::new();
        loop {
            let message = self.receive().await;
            if message["id"] == id {
                return seen;
            }
            seen.push(message);
        }
    }

    /// Both ends by themselves. The server goes on.
    pub fn split(self) -> (Input, Output) {
        (self.input.expect("input is open"), self.output)
    }

    pub async fn close_input(&mut self) {
        self.input
            .take()
            .expect("input is open")
            .shutdown()
            .await
            .unwrap();
    }
}

/// An answer over HTTP.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub messages: Vec<Value>,
    pub text: String,
}

/// A client of an endpoint, without a socket in between.
pub struct HttpClient<H: ServerHandler> {
    pub endpoint: McpEndpoint<H>,
    pub headers: Vec<(&'static str, String)>,
}

impl HttpClient<TestHandler> {
    pub fn start() -> Self {
        Self::over(endpoint(
            TestHandler::default,
            HttpOptions {
                max_body_bytes: 1 << 20,
                ..HttpOptions::default()
            },
        ))
    }

    /// Opens a legacy session.
    pub async fn initialized(version: &str) -> Self {
        let mut client = Self::start();
        let reply = client.post(&initialize("init", version)).await;
        assert_eq!(reply.status, 200);
        client.header(
            "mcp-session-id",
            reply.headers["mcp-session-id"].to_str().unwrap(),
        );
        if version != "2025-03-26" {
            client.header("mcp-protocol-version", version);
        }
        client
    }
}

impl<H: ServerHandler> HttpClient<H> {
    pub fn over(endpoint: McpEndpoint<H>) -> Self {
        let headers = [
            ("host", "localhost"),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        Self {
            endpoint,
            headers: headers
                .map(|(name, value)| (name, value.to_owned()))
                .to_vec(),
        }
    }

    pub fn header(&mut self, name: &'static str, value: &str) -> &mut Self {
        self.headers.retain(|(other, _)| *other != name);
        self.headers.push((name, value.to_owned()));
        self
    }

    pub fn request(&self, method: &str, body: impl Into<Body>) -> Request<Body> {
        let mut request = Request::builder().method(method).uri("/mcp");
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        request.body(body.into()).unwrap()
    }

    pub async fn send(&self, request: Request<Body>) -> Reply {
        let response = timeout(TIMEOUT, self.endpoint.handle(request))
            .await
            .expect("an answer in time");
        let (parts, body) = response.into_parts();
        let body = timeout(TIMEOUT, axum::body::to_bytes(body, usize::MAX))
            .await
            .expect("a body in time")
            .unwrap();
        let text = String::from_utf8(body.to_vec()).unwrap();
        let kind = parts
            .headers
            .get("content-type")
            .map(|kind| kind.to_str().unwrap().to_owned())
            .unwrap_or_default();
        let messages = if kind.starts_with("application/json") {
            vec![serde_json::from_str(&text).unwrap()]
        } else {
            text.lines()
                .filter_map(|line| line.strip_prefix("data:"))
                .filter(|data| !data.trim().is_empty())
                .map(|data| serde_json::from_str(data).unwrap())
                .collect()
        };
        Reply {
            status: parts.status,
            headers: parts.headers,
            messages,
            text,
        }
    }

    pub async fn post_bytes(&self, body: &[u8]) -> Reply {
        self.send(self.request("POST", body.to_vec())).await
    }

    pub async fn post(&self, message: &Value) -> Reply {
        self.post_bytes(message.to_string().as_bytes()).await
    }
}
