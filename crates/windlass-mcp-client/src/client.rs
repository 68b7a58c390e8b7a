//! Every configured server behind the port.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use futures::future::{BoxFuture, join_all};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, GetPromptRequest,
    GetPromptRequestParams, PaginatedRequestParams, ReadResourceRequest, ReadResourceRequestParams,
    ServerResult,
};
use rmcp::service::ServiceError;
use serde_json::{Map, Value};
use tokio::time::timeout;
use windlass_ports::{
    CallLimits, Confinement, Consent, Outbound, Questions, Sandbox, ServerCall, ServerError,
    ServerPrompt, ServerReply, ServerResource, ServerTokens, ServerTool, ServerView, ToolPins,
    ToolServers, ToolStanding,
};
use windlass_types::Digest;

use crate::{
    Environment, call, clean,
    config::ServerConfig,
    connect::{Live, Means},
    names,
    render::Reply,
    server::Server,
};

/// More resources or prompts than this are left out.
const MOST_LISTED: usize = 1000;
const MOST_PAGES: usize = 100;

/// How long a failed server is left alone.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// After the first failure; it doubles with every other.
    pub first: Duration,
    /// At most.
    pub most: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(1),
            most: Duration::from_secs(300),
        }
    }
}

impl Timing {
    pub(crate) fn backoff(&self, attempts: u32) -> Duration {
        let doubled = 2_u32.saturating_pow(attempts.saturating_sub(1));
        self.first.saturating_mul(doubled).min(self.most)
    }
}

/// What a client is made of.
pub struct McpClientParts {
    /// The servers. A name that is there twice is the last one's.
    pub servers: Vec<ServerConfig>,
    /// The way out, with its address policy.
    pub outbound: Arc<dyn Outbound>,
    /// Where tokens are kept.
    pub tokens: Arc<dyn ServerTokens>,
    /// Where accepted tools are kept.
    pub pins: Arc<dyn ToolPins>,
    /// Who answers what servers ask.
    pub questions: Option<Arc<dyn Questions>>,
    /// What programs may touch, and who enforces it. Without, they run unconfined.
    pub sandbox: Option<(Arc<dyn Sandbox>, Confinement)>,
    /// Windlass's own environment.
    pub environment: Environment,
    /// Where programs start.
    pub directory: PathBuf,
    /// How long a failed server is left alone.
    pub timing: Timing,
}

/// Configured MCP servers.
pub struct McpClient {
    servers: BTreeMap<String, Arc<Server>>,
}

impl McpClient {
    /// A client. Starts nothing.
    pub fn new(parts: McpClientParts) -> Self {
        let means = Arc::new(Means {
            outbound: parts.outbound,
            tokens: parts.tokens,
            pins: parts.pins,
            questions: parts.questions,
            sandbox: parts.sandbox,
            environment: parts.environment,
            directory: parts.directory,
            timing: parts.timing,
        });
        let servers = parts.servers.into_iter().map(|config| {
            let name = config.name.clone();
            (name, Arc::new(Server::new(config, Arc::clone(&means))))
        });
        Self {
            servers: servers.collect(),
        }
    }

    fn server(&self, name: &str) -> Result<&Arc<Server>, ServerError> {
        self.servers.get(name).ok_or_else(|| ServerError::Unknown {
            kind: "server",
            name: clean::line(name, 200),
        })
    }

    async fn call_tool(&self, call: ServerCall<'_>) -> Result<ServerReply, ServerError> {
        let unknown = || ServerError::Unknown {
            kind: "tool",
            name: clean::line(call.tool, 200),
        };
        let name = names::server_of(call.tool).ok_or_else(unknown)?;
        let server = self.servers.get(name).ok_or_else(unknown)?;
        let live = server.live().await?;
        let tool = server.tool(call.tool).ok_or_else(unknown)?;
        if tool.standing != ToolStanding::Pinned {
            return Err(ServerError::Quarantined {
                tool: call.tool.to_owned(),
            });
        }
        let question = |responses, state| {
            let mut params = CallToolRequestParams::new(tool.tool.clone())
                .with_arguments(call.arguments.clone());
            params.input_responses = responses;
            params.request_state = state;
            ClientRequest::CallToolRequest(CallToolRequest::new(params))
        };
        let limit = bounded(server, call.limits.time);
        let asked = call::ask(&live, call.listener, question);
        let result = within(server, &live, limit, asked).await?;
        let ServerResult::CallToolResult(result) = result else {
            return Err(unexpected(server));
        };
        server.is_satisfied();
        let mut reply = Reply::new(call.limits);
        reply.blocks(result.content);
        reply.structured(result.structured_content);
        reply.is_error(result.is_error == Some(true));
        Ok(reply.finish())
    }
}

/// The caller's limit, or the one in the settings when it is shorter.
fn bounded(server: &Server, limit: Duration) -> Duration {
    let configured = server.config.call_limit;
    configured.map_or(limit, |configured| configured.min(limit))
}

fn unexpected(server: &Server) -> ServerError {
    ServerError::Refused {
        server: server.config.name.clone(),
        code: 0,
        said: "it answered another question".to_owned(),
    }
}

/// Waits for an answer. When the time is up the future is dropped, which cancels the question.
async fn within<T>(
    server: &Server,
    live: &Live,
    limit: Duration,
    answer: impl Future<Output = Result<T, ServiceError>>,
) -> Result<T, ServerError> {
    match timeout(limit, answer).await {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(error)) => Err(server.explain(error, live).await),
        Err(_) => Err(ServerError::TimedOut {
            server: server.config.name.clone(),
            limit,
        }),
    }
}

/// Servers end with their client, also when nobody called `stop`.
impl Drop for McpClient {
    fn drop(&mut self) {
        self.servers.values().for_each(|server| server.halt());
    }
}

impl ToolServers for McpClient {
    fn servers(&self) -> Vec<ServerView> {
        self.servers.values().map(|server| server.view()).collect()
    }

    fn start(&self) -> BoxFuture<'_, Vec<ServerView>> {
        Box::pin(async {
            // What did not start says so in its view.
            join_all(self.servers.values().map(|server| server.live())).await;
            self.servers()
        })
    }

    fn tools(&self) -> BoxFuture<'_, Vec<ServerTool>> {
        Box::pin(async {
            join_all(self.servers.values().map(|server| server.live())).await;
            let tools = self.servers.values().flat_map(|server| server.tools());
            let mut tools: Vec<ServerTool> = tools.collect();
            tools.sort_by(|one, other| one.name.cmp(&other.name));
            tools
        })
    }

    fn call<'a>(&'a self, call: ServerCall<'a>) -> BoxFuture<'a, Result<ServerReply, ServerError>> {
        Box::pin(self.call_tool(call))
    }

    fn resources<'a>(
        &'a self,
        server: &'a str,
    ) -> BoxFuture<'a, Result<Vec<ServerResource>, ServerError>> {
        Box::pin(async move {
            let server = self.server(server)?;
            let live = server.live().await?;
            let mut found = Vec::new();
            let mut cursor: Option<String> = None;
            for _ in 0..MOST_PAGES {
                let page = live.peer.list_resources(page(&cursor));
                let limit = bounded(server, CallLimits::default().time);
                let page = within(server, &live, limit, page).await?;
                found.extend(page.resources.into_iter().map(|resource| {
                    ServerResource {
                        uri: clean::line(&resource.uri, clean::LONGEST_MESSAGE),
                        name: clean::line(&resource.name, 500),
                        description: resource
                            .description
                            .map(|text| clean::block(&text, clean::LONGEST_MESSAGE)),
                        media_type: resource.mime_type.map(|kind| clean::line(&kind, 100)),
                    }
                }));
                if !turns(&mut cursor, page.next_cursor, found.len()) {
                    break;
                }
            }
            found.truncate(MOST_LISTED);
            Ok(found)
        })
    }

    fn read_resource<'a>(
        &'a self,
        server: &'a str,
        uri: &'a str,
    ) -> BoxFuture<'a, Result<ServerReply, ServerError>> {
        Box::pin(async move {
            let server = self.server(server)?;
            let live = server.live().await?;
            let limits = CallLimits::default();
            let question = |responses, state| {
                let mut params = ReadResourceRequestParams::new(uri);
                params.input_responses = responses;
                params.request_state = state;
                ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
            };
            let asked = call::ask(&live, None, question);
            let result = within(server, &live, bounded(server, limits.time), asked).await?;
            let ServerResult::ReadResourceResult(result) = result else {
                return Err(unexpected(server));
            };
            let mut reply = Reply::new(limits);
            for contents in result.contents {
                reply.resource(contents);
            }
            Ok(reply.finish())
        })
    }

    fn prompts<'a>(
        &'a self,
        server: &'a str,
    ) -> BoxFuture<'a, Result<Vec<ServerPrompt>, ServerError>> {
        Box::pin(async move {
            let server = self.server(server)?;
            let live = server.live().await?;
            let mut found = Vec::new();
            let mut cursor: Option<String> = None;
            for _ in 0..MOST_PAGES {
                let page = live.peer.list_prompts(page(&cursor));
                let limit = bounded(server, CallLimits::default().time);
                let page = within(server, &live, limit, page).await?;
                found.extend(page.prompts.into_iter().map(|prompt| {
                    let arguments = prompt.arguments.unwrap_or_default().into_iter();
                    ServerPrompt {
                        name: clean::line(&prompt.name, 200),
                        description: prompt
                            .description
                            .map(|text| clean::block(&text, clean::LONGEST_MESSAGE)),
                        arguments: arguments
                            .map(|argument| {
                                let name = clean::line(&argument.name, 200);
                                (name, argument.required == Some(true))
                            })
                            .collect(),
                    }
                }));
                if !turns(&mut cursor, page.next_cursor, found.len()) {
                    break;
                }
            }
            found.truncate(MOST_LISTED);
            Ok(found)
        })
    }

    fn prompt<'a>(
        &'a self,
        server: &'a str,
        name: &'a str,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, Result<ServerReply, ServerError>> {
        Box::pin(async move {
            let server = self.server(server)?;
            let live = server.live().await?;
            let limits = CallLimits::default();
            let question = |responses, state| {
                let mut params =
                    GetPromptRequestParams::new(name).with_arguments(arguments.clone());
                params.input_responses = responses;
                params.request_state = state;
                ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
            };
            let asked = call::ask(&live, None, question);
            let result = within(server, &live, bounded(server, limits.time), asked).await?;
            let ServerResult::GetPromptResult(result) = result else {
                return Err(unexpected(server));
            };
            let mut reply = Reply::new(limits);
            for message in result.messages {
                let role = serde_json::to_value(&message.role).unwrap_or_default();
                reply.blocks(vec![rmcp::model::ContentBlock::text(format!(
                    "{}:",
                    role.as_str().unwrap_or("user")
                ))]);
                reply.blocks(vec![message.content]);
            }
            Ok(reply.finish())
        })
    }

    fn accept<'a>(
        &'a self,
        tool: &'a str,
        definition: Digest,
    ) -> BoxFuture<'a, Result<(), ServerError>> {
        Box::pin(async move {
            let server = names::server_of(tool).unwrap_or_default();
            self.server(server)?.accept(tool, definition)
        })
    }

    fn sign_in<'a>(
        &'a self,
        server: &'a str,
        consent: &'a dyn Consent,
    ) -> BoxFuture<'a, Result<(), ServerError>> {
        Box::pin(async move { self.server(server)?.sign_in(consent).await })
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            join_all(self.servers.values().map(|server| server.stop())).await;
        })
    }
}

fn page(cursor: &Option<String>) -> Option<PaginatedRequestParams> {
    let cursor = cursor.clone()?;
    Some(PaginatedRequestParams::default().with_cursor(Some(cursor)))
}

/// Whether there is another page to ask for.
fn turns(cursor: &mut Option<String>, next: Option<String>, found: usize) -> bool {
    let more = next.is_some() && *cursor != next && found < MOST_LISTED;
    *cursor = next;
    more
}
