//! The handler rmcp calls: every method, handed to the file that answers it.

use std::{
    borrow::Cow,
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
        CompleteResult, CustomRequest, CustomResult, GetPromptRequestParams, GetPromptResponse,
        GetTaskParams, GetTaskResult, Implementation, InitializeRequestParams, InitializeResult,
        ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        LoggingLevel, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
        ReadResourceResponse, ResourceUpdatedNotificationParam, ServerCapabilities, ServerConfig,
        SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
        UnsubscribeRequestParams, UpdateTaskParams,
    },
    service::{Peer, RequestContext, SubscriptionContext},
};
use tokio::sync::broadcast;
use tokio_util::task::AbortOnDropHandle;

use super::{
    Changed, LEAN, Server, ToolMode, call, complete, prompts, resources, subscribe::Watched, tasks,
};
use crate::negotiate::{self, Era};

/// How long a client may keep the tool list, which changes only with the program.
const TOOLS_TTL_MS: u64 = 300_000;

/// One session of the server. `session` makes the next one.
pub struct McpHandler {
    server: Arc<Server>,
    session: Arc<Session>,
}

/// What a legacy session has set. Empty for modern requests, which carry it themselves.
#[derive(Default)]
pub(super) struct Session {
    level: Mutex<Option<LoggingLevel>>,
    watched: Arc<Watched>,
    watcher: Mutex<Option<AbortOnDropHandle<()>>>,
    /// Of subscriptions that are accepted and not listening yet: a list may change in between.
    accepted: Mutex<VecDeque<broadcast::Receiver<Changed>>>,
}

impl Session {
    /// The least level of log messages the session wants.
    pub(super) fn level(&self) -> Option<LoggingLevel> {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    fn accept(&self, changes: broadcast::Receiver<Changed>) {
        self.lists().push_back(changes);
    }

    fn accepted(&self) -> Option<broadcast::Receiver<Changed>> {
        self.lists().pop_front()
    }

    fn lists(&self) -> MutexGuard<'_, VecDeque<broadcast::Receiver<Changed>>> {
        self.accepted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for a list that changes; for ever where none does.
async fn list_changed(changes: &mut Option<broadcast::Receiver<Changed>>) -> Changed {
    while let Some(receiver) = changes {
        match receiver.recv().await {
            Ok(changed) => return changed,
            Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => *changes = None,
        }
    }
    std::future::pending().await
}

impl McpHandler {
    pub(super) fn new(server: Arc<Server>) -> Self {
        Self {
            server,
            session: Arc::default(),
        }
    }

    /// A handler for another session of the same server.
    #[must_use]
    pub fn session(&self) -> Self {
        Self::new(Arc::clone(&self.server))
    }

    /// Tells the client about changes of what it subscribed to, from the first subscription on
    /// and for as long as the session lasts.
    fn start_watching(&self, peer: Peer<RoleServer>) {
        let mut watcher = self
            .session
            .watcher
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if watcher.is_some() {
            return;
        }
        let (server, watched) = (Arc::clone(&self.server), Arc::clone(&self.session.watched));
        *watcher = Some(AbortOnDropHandle::new(tokio::spawn(async move {
            loop {
                for uri in watched.changed(server.engine()).await {
                    if peer
                        .notify_resource_updated(ResourceUpdatedNotificationParam::new(uri))
                        .await
                        .is_err()
                    {
                        return;
                    }
                }
            }
        })));
    }
}

fn server_config(server: &Server) -> ServerConfig {
    let identity = server.identity();
    let instructions = match server.options.tools {
        ToolMode::Full => identity.instructions.to_owned(),
        ToolMode::Lean => format!("{LEAN}{}", identity.instructions),
    };
    let mut capabilities = ServerCapabilities::builder()
        .enable_completions()
        .enable_logging()
        .enable_prompts()
        .enable_resources()
        .enable_resources_subscribe()
        .enable_tools()
        .enable_tasks()
        .build();
    if server.options.extension.is_some() {
        if let Some(tools) = &mut capabilities.tools {
            tools.list_changed = Some(true);
        }
        if let Some(prompts) = &mut capabilities.prompts {
            prompts.list_changed = Some(true);
        }
    }
    let implementation =
        Implementation::new(identity.name, env!("CARGO_PKG_VERSION")).with_title(identity.title);
    ServerConfig::new(capabilities)
        .with_server_info(implementation)
        .with_protocol_version(negotiate::FALLBACK)
        .with_instructions(instructions)
}

impl ServerHandler for McpHandler {
    fn get_info(&self) -> ServerConfig {
        let server = &self.server;
        let config = server.config.get_or_init(|| server_config(server));
        config.clone()
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

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        negotiate::legacy_only("logging/setLevel", &context)?;
        *self
            .session
            .level
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(request.level);
        Ok(())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(complete::complete(&self.server, &self.server.caller(&context)?, &request).await)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.server.tools_for(&self.server.caller(&context)?);
        let mut result = ListToolsResult::with_all_items(tools);
        (result.ttl_ms, result.cache_scope) = resources::hints(Era::of(&context), TOOLS_TTL_MS);
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        // Asked for to check parameters that headers repeat.
        self.server.tool(name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // Ending the call here drops it, not the run it started.
        tokio::select! {
            response = call::call_tool(&self.server, &self.session, request, &context) => response,
            () = context.ct.cancelled() => Err(ErrorData::internal_error("the call was cancelled", None)),
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        resources::list(
            &self.server,
            &self.server.caller(&context)?,
            Era::of(&context),
            cursor,
        )
        .await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates(&self.server, Era::of(&context)))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let caller = self.server.caller(&context)?;
        resources::read(&self.server, &caller, Era::of(&context), &request.uri)
            .await
            .map(Into::into)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        negotiate::legacy_only("resources/subscribe", &context)?;
        let caller = self.server.caller(&context)?;
        self.session
            .watched
            .add(self.server.engine(), caller.principal(), &request.uri)
            .await;
        self.start_watching(context.peer);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        negotiate::legacy_only("resources/unsubscribe", &context)?;
        self.session.watched.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = SubscriptionFilter::new();
        accepted.resource_subscriptions = requested.resource_subscriptions.as_ref().map(|uris| {
            uris.iter()
                .filter(|uri| resources::Address::parse(uri).is_some())
                .cloned()
                .collect()
        });
        if let Some(extension) = &self.server.options.extension {
            accepted.tools_list_changed = requested.tools_list_changed;
            accepted.prompts_list_changed = requested.prompts_list_changed;
            self.session.accept(extension.changes());
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let caller = self.server.caller(context.request_context())?;
        let watched = Watched::default();
        for uri in context.accepted().resource_subscriptions.iter().flatten() {
            watched
                .add(self.server.engine(), caller.principal(), uri)
                .await;
        }
        let mut lists = self.session.accepted();
        loop {
            let changed = tokio::select! {
                changed = watched.changed(self.server.engine()) => changed,
                list = list_changed(&mut lists) => {
                    // A list that was not asked for is refused by the sink, as it should be.
                    let _ = match list {
                        Changed::Tools => context.sink().notify_tool_list_changed().await,
                        Changed::Prompts => context.sink().notify_prompt_list_changed().await,
                    };
                    continue;
                }
                () = context.cancelled() => return Ok(()),
            };
            for uri in changed {
                if context.sink().notify_resource_updated(uri).await.is_err() {
                    return Ok(());
                }
            }
        }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(prompts::list(&self.server, Era::of(&context)))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&self.server, &self.server.caller(&context)?, &request).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        tasks::get(
            &self.server,
            &self.server.caller(&context)?,
            &request.task_id,
        )
        .await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let caller = self.server.caller(&context)?;
        tasks::update(
            &self.server,
            &caller,
            &request.task_id,
            &request.input_responses,
        )
        .await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        tasks::cancel(
            &self.server,
            &self.server.caller(&context)?,
            &request.task_id,
        )
        .await
    }
}
