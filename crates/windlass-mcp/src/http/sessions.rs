//! Sessions of legacy clients: whose they are, and how many there may be.
//!
//! A session id is a handle, not a password: it works only for the principal that opened
//! it. Built over rmcp's local manager, which does the work of a session and ends the idle
//! ones. Called by the guard and, through rmcp's trait, by its HTTP service.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use futures::Stream;
use rmcp::{
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::streamable_http_server::session::{
        ServerSseMessage, SessionId, SessionManager,
        local::{LocalSessionManager, LocalSessionManagerError},
    },
};
use tokio_stream::wrappers::ReceiverStream;
use windlass_types::Principal;

/// The sessions open on one endpoint.
pub struct Sessions {
    local: LocalSessionManager,
    owners: Mutex<HashMap<SessionId, Owner>>,
    limit: usize,
}

struct Owner {
    principal: Option<String>,
    used: Instant,
}

impl Sessions {
    /// No sessions yet; at most `limit`, each at most `idle` without use.
    pub fn new(limit: usize, idle: Duration) -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(idle);
        Self {
            local,
            owners: Mutex::default(),
            limit,
        }
    }

    /// Notes who opened a session. Where there are too many, one is closed: of this caller, who has
    /// a quarter of the places at most, and otherwise of the caller who has most; always the one
    /// idle longest.
    pub async fn opened(&self, id: &str, principal: Option<&Principal>) {
        let principal = principal.map(Principal::id);
        let evicted = {
            let mut owners = self.owners();
            let evicted = self.evicted(&owners, principal.as_deref());
            let owner = Owner {
                principal,
                used: Instant::now(),
            };
            owners.insert(id.into(), owner);
            evicted
        };
        if let Some(evicted) = evicted {
            tracing::info!(
                limit = self.limit,
                "closed an idle MCP session to make room"
            );
            let _ = self.close_session(&evicted).await;
        }
    }

    /// Whether this principal may use the session. An unknown session is let through: the
    /// inner service says that it does not exist.
    pub fn may_use(&self, id: &str, principal: Option<&Principal>) -> bool {
        let mut owners = self.owners();
        let Some(owner) = owners.get_mut(id) else {
            return true;
        };
        owner.used = Instant::now();
        owner.principal == principal.map(Principal::id)
    }

    /// The session that makes room for a new one of this caller.
    fn evicted(
        &self,
        owners: &HashMap<SessionId, Owner>,
        caller: Option<&str>,
    ) -> Option<SessionId> {
        let mut counts: HashMap<Option<&str>, usize> = HashMap::new();
        for owner in owners.values() {
            *counts.entry(owner.principal.as_deref()).or_default() += 1;
        }
        let own = counts.get(&caller).copied().unwrap_or_default();
        let payer = if own >= (self.limit / 4).max(1) {
            caller
        } else if owners.len() >= self.limit {
            let most = counts.iter().max_by_key(|(name, count)| (**count, **name));
            most.and_then(|(name, _)| *name)
        } else {
            return None;
        };
        owners
            .iter()
            .filter(|(_, owner)| owner.principal.as_deref() == payer)
            .min_by_key(|(_, owner)| owner.used)
            .map(|(id, _)| id.clone())
    }

    fn owners(&self) -> MutexGuard<'_, HashMap<SessionId, Owner>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        self.local.create_session().await
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.local.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.local.has_session(id).await
    }

    // Also called when a session ends by itself, so an owner never outlives its session.
    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.owners().remove(id);
        self.local.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let session = self.local.sessions.read().await.get(id).cloned();
        let session =
            session.ok_or_else(|| LocalSessionManagerError::SessionNotFound(id.clone()))?;
        let receiver = session.establish_request_wise_channel().await?;
        message.insert_extension(StreamHandle {
            session: session.clone(),
            stream: receiver.http_request_id,
        });
        session
            .push_message(message, receiver.http_request_id)
            .await?;
        Ok(ReceiverStream::new(receiver.inner))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        self.local.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.local.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.local.resume(id, last_event_id).await
    }
}

/// The event stream a legacy request is answered on. A handler may close it while it works
/// on; the client comes back for the answer with `Last-Event-ID`.
#[derive(Clone)]
pub struct StreamHandle {
    session: rmcp::transport::streamable_http_server::session::local::LocalSessionHandle,
    stream: Option<u64>,
}

impl StreamHandle {
    /// Closes the stream and asks the client to come back after `retry`.
    pub async fn close(&self, retry: Duration) {
        if let Some(stream) = self.stream {
            let _ = self.session.close_sse_stream(stream, Some(retry)).await;
        }
    }
}
