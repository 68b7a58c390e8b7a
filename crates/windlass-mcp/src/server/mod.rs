//! The product's MCP server: the operation catalogue, runs and artifacts, as MCP shows them.
//!
//! Renders and asks; plans, checks and decides nothing by itself. Every read and every change
//! goes through the catalogue, so scope, policy, redaction and audit are the same as on every
//! other surface. Made by the binary, served by the transports.

#![expect(
    deprecated,
    reason = "legacy clients still set log levels and subscribe one by one"
)]

mod approve;
mod call;
mod complete;
mod errors;
mod extension;
mod handler;
mod lean;
mod progress;
mod prompts;
mod render;
mod resources;
mod rounds;
mod schema;
mod subscribe;
mod tasks;
mod tools;

use std::{
    collections::VecDeque,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use rmcp::{
    ErrorData, RoleServer,
    model::{ClientCapabilities, ServerConfig, Tool},
    service::RequestContext,
};
use serde_json::Value;
use windlass_engine::{
    Engine,
    contract::mcp::McpIdentity,
    operation::{
        Answer, Begun, CallContext, CallRequest, Catalogue, OperationInfo, Terms, TraceParent,
    },
};
use windlass_ports::entropy::random;
use windlass_types::{Principal, Problem, Surface};

use approve::Subject;

pub use extension::{Beginning, Changed, ClientLink, Extension};
pub use handler::McpHandler;
pub use lean::{ToolEntry, ToolSearch};

/// A server of several toolsets.
const WINDLASS: McpIdentity = McpIdentity {
    name: "windlass",
    title: "Windlass",
    instructions: "Windlass runs changes durably. A change is planned first: a *_plan tool shows what would \
        change and returns a confirm_token; the matching *_apply tool takes the same input and that token, starts a run and \
        returns its run_id. Show plans to the user before applying. Runs go on when you disconnect: follow them with \
        runs_watch, or read windlass://runs/{run_id}. Failures name a code, the cause and next_actions.",
};

/// What the instructions of the lean list begin with.
const LEAN: &str = "Three tools find and call all others: search with what you want to do, describe the best match \
    for its input schema, then call it with its name and arguments. ";
/// Dismissed forms that are remembered.
const MOST_DISMISSED: usize = 1000;

/// How tools are offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolMode {
    /// Every operation is a tool.
    #[default]
    Full,
    /// A few tools that find and call the others, for clients with little room.
    Lean,
}

/// What a server offers, and to whom.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// The toolsets offered; when absent, all but those that are offered on request.
    pub toolsets: Option<Vec<String>>,
    /// How tools are offered.
    pub tools: ToolMode,
    /// The caller, where the transport does not say who calls: the local user on stdio.
    pub principal: Option<Principal>,
    /// The person who answers the forms such a client shows. A client's forms are answered by
    /// its user, not by the program that calls tools, so an approval given there is this
    /// person's. The caller's own when absent.
    pub person: Option<Principal>,
    /// The directory calls work in, where the server was started for one.
    pub directory: Option<PathBuf>,
    /// What finds a tool by what a model wants to do, for the lean list.
    pub search: Option<ToolSearch>,
    /// What is offered besides operations and runs.
    pub extension: Option<Arc<dyn Extension>>,
}

/// A toolset that does not exist was asked for.
#[derive(Debug, thiserror::Error)]
#[error("there is no toolset {name:?}; there are: {known}")]
pub struct UnknownToolset {
    /// What was asked for.
    pub name: String,
    /// What there is.
    pub known: String,
}

/// What all sessions of a server share.
struct Server {
    catalogue: Catalogue,
    options: ServerOptions,
    /// Built when first asked for: a client's first word is not about tools.
    tools: OnceLock<Vec<Tool>>,
    /// Runs whose form was dismissed in a task, by what it showed: they are not asked again.
    dismissed: Mutex<VecDeque<Subject>>,
    /// What the server says about itself, asked for with every request.
    config: OnceLock<ServerConfig>,
}

/// Who calls, for one request.
struct Caller {
    context: CallContext,
    /// Who answers what the client is asked.
    person: Principal,
    capabilities: ClientCapabilities,
}

impl Caller {
    fn principal(&self) -> &Principal {
        &self.context.principal
    }

    /// Whether the client can show a form to its user.
    fn can_ask(&self) -> bool {
        // A bare declaration means forms; only a client that lists modes may leave them out.
        self.capabilities
            .elicitation
            .as_ref()
            .is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
    }

    fn has_tasks(&self) -> bool {
        self.capabilities.supports_tasks()
    }
}

impl Server {
    fn new(catalogue: Catalogue, options: ServerOptions) -> Result<Self, UnknownToolset> {
        let known = catalogue.toolsets();
        for name in options.toolsets.iter().flatten() {
            if !known.contains(&name.as_str()) {
                return Err(UnknownToolset {
                    name: name.clone(),
                    known: known.join(", "),
                });
            }
        }
        Ok(Self {
            catalogue,
            options,
            tools: OnceLock::new(),
            dismissed: Mutex::default(),
            config: OnceLock::new(),
        })
    }

    fn engine(&self) -> &Engine {
        self.catalogue.engine()
    }

    /// Whether the operation belongs to a toolset this server offers.
    fn offers(&self, info: &OperationInfo) -> bool {
        let toolset = &info.toolset;
        info.is_tool
            && match &self.options.toolsets {
                Some(toolsets) => toolsets.contains(toolset),
                None => !self.catalogue.declared().is_on_request(toolset),
            }
    }

    /// Remembers that a form was dismissed, so that the task which showed it does not ask again.
    fn dismiss(&self, subject: Subject) {
        let mut dismissed = self.dismissed();
        if dismissed.len() == MOST_DISMISSED {
            dismissed.pop_front();
        }
        dismissed.push_back(subject);
    }

    fn is_dismissed(&self, subject: &Subject) -> bool {
        self.dismissed().contains(subject)
    }

    fn dismissed(&self) -> MutexGuard<'_, VecDeque<Subject>> {
        self.dismissed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// How the server introduces itself: as Windlass, unless it offers one toolset alone whose
    /// contract prescribes an identity.
    fn identity(&self) -> McpIdentity {
        let toolsets = self.options.toolsets.as_deref().unwrap_or_default();
        let declared = self.catalogue.declared();
        declared.mcp_identity(toolsets).unwrap_or(WINDLASS)
    }

    /// The operation behind a tool name, if it is offered here.
    fn find(&self, tool: &str) -> Option<&OperationInfo> {
        self.catalogue
            .find(tool)
            .filter(|info| info.tool == tool && self.offers(info))
    }

    /// Who sent the request.
    fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        let options = &self.options;
        let (principal, person) = match crate::http::principal(context) {
            Some(principal) => (principal, principal),
            None => {
                let Some(principal) = options.principal.as_ref() else {
                    let reason = "the request reached MCP without a caller";
                    return Err(ErrorData::internal_error(reason, None));
                };
                (principal, options.person.as_ref().unwrap_or(principal))
            }
        };
        let request_id = crate::http::request_id(context).map_or_else(
            || {
                let random = random(&*self.engine().entropy);
                format!("req_{}", windlass_types::id::base32(random))
            },
            str::to_owned,
        );
        Ok(Caller {
            context: CallContext {
                principal: principal.clone(),
                surface: Surface::Mcp,
                request_id,
                directory: options.directory.clone(),
                terms: Terms {
                    trace: traceparent(context),
                    ..Terms::default()
                },
            },
            person: person.clone(),
            capabilities: context.client_capabilities().unwrap_or_default(),
        })
    }

    /// Calls an operation through the catalogue.
    async fn operate(
        &self,
        caller: &Caller,
        operation: &str,
        input: Value,
    ) -> Result<Answer, Problem> {
        self.operate_in(caller.context.clone(), operation, input)
            .await
    }

    /// Calls an operation on behalf of the person at the client.
    async fn operate_for_person(
        &self,
        caller: &Caller,
        operation: &str,
        input: Value,
    ) -> Result<Answer, Problem> {
        let context = CallContext {
            principal: caller.person.clone(),
            ..caller.context.clone()
        };
        self.operate_in(context, operation, input).await
    }

    /// Calls an operation without waiting for its run.
    async fn begin_in(
        &self,
        context: CallContext,
        operation: &str,
        input: Value,
    ) -> Result<Begun, Problem> {
        let operation = operation.to_owned();
        self.catalogue
            .begin(CallRequest {
                operation,
                input,
                context,
            })
            .await
    }

    async fn operate_in(
        &self,
        context: CallContext,
        operation: &str,
        input: Value,
    ) -> Result<Answer, Problem> {
        let operation = operation.to_owned();
        self.catalogue
            .call(CallRequest {
                operation,
                input,
                context,
            })
            .await
    }
}

/// The trace a request is part of, if it says so.
fn traceparent(context: &RequestContext<RoleServer>) -> Option<TraceParent> {
    let text = context.meta.get("traceparent")?.as_str()?;
    TraceParent::parse(text)
}

/// Builds the handler over a catalogue.
pub fn handler(catalogue: Catalogue, options: ServerOptions) -> Result<McpHandler, UnknownToolset> {
    Server::new(catalogue, options).map(|server| McpHandler::new(Arc::new(server)))
}
