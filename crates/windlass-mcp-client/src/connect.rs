//! From settings to a connection: the program started or the address reached, the era chosen.

use std::{
    collections::HashMap, error::Error, ffi::OsString, path::PathBuf, sync::Arc, time::Duration,
};

use http::{HeaderName, HeaderValue};
use rmcp::{
    model::{ProtocolVersion, ServerPeerInfo, SubscriptionFilter},
    service::{
        ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, Peer, RoleClient,
        RunningService, ServiceError,
    },
    transport::{
        StreamableHttpClientTransport,
        auth::AuthClient,
        streamable_http_client::{
            AuthRequiredError, InsufficientScopeError, StreamableHttpClientTransportConfig,
            StreamableHttpError,
        },
    },
};
use tokio::task::JoinHandle;
use windlass_ports::{
    Confinement, Outbound, OutboundError, Questions, Sandbox, SandboxRequest, ServerTokens,
    ToolPins,
};

use crate::{
    Timing,
    answer::Answers,
    clean,
    config::{RemoteConfig, ServerConfig, ServerTarget, StdioConfig},
    environment::{Environment, Spelling},
    handler::Handler,
    http::HttpDoor,
    oauth::Account,
    stdio::{self, Child, Program},
};

/// The longest event of a remote server.
const LONGEST_EVENT: usize = 64 * 1024 * 1024;

/// What connections are made with.
pub(crate) struct Means {
    pub outbound: Arc<dyn Outbound>,
    pub tokens: Arc<dyn ServerTokens>,
    pub pins: Arc<dyn ToolPins>,
    pub questions: Option<Arc<dyn Questions>>,
    pub sandbox: Option<(Arc<dyn Sandbox>, Confinement)>,
    pub environment: Environment,
    pub directory: PathBuf,
    pub timing: Timing,
}

/// A connection.
pub(crate) struct Live {
    pub peer: Peer<RoleClient>,
    pub handler: Handler,
    pub info: Arc<ServerPeerInfo>,
    pub child: Option<Child>,
    /// Hears of changed lists, in the modern era.
    listening: Option<JoinHandle<()>>,
}

impl Drop for Live {
    fn drop(&mut self) {
        if let Some(listening) = &self.listening {
            listening.abort();
        }
    }
}

/// Why there is no connection.
#[derive(Debug)]
pub(crate) enum ConnectFailure {
    /// The server asks to sign in, with its challenge.
    SignIn(Option<String>),
    /// Something else.
    Other(String),
}

/// Which era a server is spoken to in. What it turned out to speak is tried first next time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Era {
    /// The modern one first, then the older one.
    #[default]
    Unknown,
    /// The older one.
    Older,
}

type Service = RunningService<RoleClient, Handler>;

/// Connects, and says which era it was.
pub(crate) async fn connect(
    config: &ServerConfig,
    means: &Means,
    era: Era,
) -> Result<(Service, Live, Era), ConnectFailure> {
    let (first, child) = attempt(config, means, era).await?;
    let (outcome, child) = match first {
        // A program that ends on a question it does not know, a server that answers it with
        // nonsense or only knows older revisions: asked again in their way.
        Err(error) if era == Era::Unknown && !asks_to_sign_in(&error) => {
            attempt(config, means, Era::Older).await?
        }
        outcome => (outcome, child),
    };
    let service = match outcome {
        Ok(service) => service,
        Err(error) => return Err(explain(error, child).await),
    };
    let Some(info) = service.peer().peer_info() else {
        return Err(ConnectFailure::Other(
            "it did not introduce itself".to_owned(),
        ));
    };
    let spoken = match info.protocol_version.has_initialize() {
        true => Era::Older,
        false => Era::Unknown,
    };
    let handler = service.service().clone();
    let live = Live {
        peer: service.peer().clone(),
        listening: listen(&service, &info, &handler),
        handler,
        info,
        child,
    };
    Ok((service, live, spoken))
}

/// In the modern era a server tells of changed lists only to who asked for it.
fn listen(service: &Service, info: &ServerPeerInfo, handler: &Handler) -> Option<JoinHandle<()>> {
    let tools = info.capabilities.tools.as_ref();
    let tells = tools.and_then(|tools| tools.list_changed).unwrap_or(false);
    if info.protocol_version.has_initialize() || !tells {
        return None;
    }
    let peer = service.peer().clone();
    let changed = Arc::clone(&handler.tools_changed);
    Some(tokio::spawn(async move {
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        let Ok(mut subscription) = peer.listen(filter).await else {
            return;
        };
        while let Ok(Some(_)) = subscription.next().await {
            changed.notify_one();
        }
    }))
}

async fn attempt(
    config: &ServerConfig,
    means: &Means,
    era: Era,
) -> Result<(Result<Service, ClientInitializeError>, Option<Child>), ConnectFailure> {
    let handler = Handler::new(Answers {
        server: config.name.clone(),
        questions: means.questions.clone(),
    });
    let lifecycle = match era {
        Era::Unknown => ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        },
        Era::Older => ClientLifecycleMode::Initialize,
    };
    match &config.target {
        ServerTarget::Stdio(program) => {
            let program = prepare(&config.name, program, means).await?;
            let patience = patience(config.start_limit);
            let started = stdio::start(&program, patience);
            let (transport, child) = started.map_err(|error| {
                ConnectFailure::Other(format!("it could not be started: {error}"))
            })?;
            let service = handler.serve_with_lifecycle(transport, lifecycle).await;
            Ok((service, Some(child)))
        }
        ServerTarget::Remote(remote) => {
            let transport = reach(&config.name, remote, means).await?;
            let service = handler.serve_with_lifecycle(transport, lifecycle).await;
            Ok((service, None))
        }
    }
}

/// How long silence on the modern era's first question is waited out: long enough for a slow
/// start, and what is left is enough for the older handshake.
fn patience(start_limit: Duration) -> Duration {
    start_limit * 2 / 5
}

/// What to start, confined where there is a sandbox.
async fn prepare(
    name: &str,
    config: &StdioConfig,
    means: &Means,
) -> Result<Program, ConnectFailure> {
    let other = |cause: String| ConnectFailure::Other(cause);
    let environment = means
        .environment
        .for_child(&config.pass, &config.environment)
        .map_err(|error| other(error.to_string()))?;
    let directory = match &config.directory {
        Some(directory) => means.directory.join(directory),
        None => means.directory.clone(),
    };
    let path = match config.command.contains('/') {
        true => directory.join(&config.command),
        false => {
            let path = environment.get(std::ffi::OsStr::new("PATH"));
            let found = path.and_then(|path| windlass_process::find(&config.command, path));
            found.ok_or_else(|| {
                other(format!(
                    "the program `{}` is not installed: it is in no directory of PATH",
                    clean::line(&config.command, 200)
                ))
            })?
        }
    };
    let mut arguments = Vec::with_capacity(config.arguments.len());
    for argument in &config.arguments {
        let expanded = means.environment.expand(argument, Spelling::Braces);
        arguments.push(OsString::from(
            expanded.map_err(|error| other(error.to_string()))?,
        ));
    }
    let program = Program {
        name: name.to_owned(),
        path,
        arguments,
        environment: environment.into_iter().collect(),
        directory,
    };
    let Some((sandbox, confinement)) = &means.sandbox else {
        return Ok(program);
    };
    let (sandbox, mut confinement) = (Arc::clone(sandbox), confinement.clone());
    confinement.directory.clone_from(&program.directory);
    // Only what was allowed above is in its environment; the sandbox need not choose again.
    let names = program.environment.iter();
    confinement.variables = names
        .filter_map(|(name, _)| name.to_str().map(str::to_owned))
        .collect();
    let confined = tokio::task::spawn_blocking(move || {
        let command = sandbox.prepare(SandboxRequest {
            program: program.path.as_os_str(),
            arguments: &program.arguments,
            environment: &program.environment,
            confinement: &confinement,
        })?;
        Ok::<_, windlass_ports::SandboxRefusal>(Program {
            name: program.name,
            path: command.program,
            arguments: command.arguments,
            environment: command.environment,
            directory: command.directory,
        })
    });
    match confined.await {
        Ok(Ok(program)) => Ok(program),
        Ok(Err(refusal)) => Err(other(refusal.to_string())),
        Err(error) => Err(other(error.to_string())),
    }
}

type RemoteTransport = StreamableHttpClientTransport<AuthClient<HttpDoor>>;

async fn reach(
    name: &str,
    remote: &RemoteConfig,
    means: &Means,
) -> Result<RemoteTransport, ConnectFailure> {
    let other = |cause: String| ConnectFailure::Other(cause);
    let account = account(name, remote, means).map_err(other)?;
    means
        .outbound
        .check(&account.url)
        .map_err(|error| other(error.to_string()))?;
    let mut headers = HashMap::new();
    for (name, value) in &remote.headers {
        let expanded = means.environment.expand(value, Spelling::Both);
        let expanded = expanded.map_err(|error| other(format!("header `{name}`: {error}")))?;
        let (Ok(key), Ok(value)) = (
            HeaderName::from_bytes(name.as_bytes()),
            HeaderValue::from_str(&expanded),
        ) else {
            return Err(other(format!("the header `{name}` cannot be sent")));
        };
        headers.insert(key, value);
    }
    let manager = account.manager().await;
    let manager = manager.map_err(|error| other(clean::line(&error.to_string(), 500)))?;
    let client = AuthClient::new(HttpDoor(Arc::clone(&means.outbound)), manager);
    let transport = StreamableHttpClientTransportConfig::with_uri(account.url)
        .custom_headers(headers)
        .max_sse_event_size(LONGEST_EVENT)
        .reinit_on_expired_session(true);
    Ok(StreamableHttpClientTransport::with_client(
        client, transport,
    ))
}

/// The account of a remote server.
pub(crate) fn account(name: &str, remote: &RemoteConfig, means: &Means) -> Result<Account, String> {
    let url = means.environment.expand(&remote.url, Spelling::Braces);
    Ok(Account {
        server: name.to_owned(),
        url: url.map_err(|error| error.to_string())?,
        sign_in: remote.sign_in.clone(),
        outbound: Arc::clone(&means.outbound),
        tokens: Arc::clone(&means.tokens),
        environment: means.environment.clone(),
    })
}

fn asks_to_sign_in(error: &ClientInitializeError) -> bool {
    error.is_authorization_required() || error.auth_challenge().is_some()
}

async fn explain(error: ClientInitializeError, child: Option<Child>) -> ConnectFailure {
    if asks_to_sign_in(&error) {
        return ConnectFailure::SignIn(error.auth_challenge().map(str::to_owned));
    }
    let cause = match (&error, child) {
        (
            ClientInitializeError::ConnectionClosed(_)
            | ClientInitializeError::TransportError { .. },
            Some(child),
        ) => child.obituary().await,
        _ => causes(&error),
    };
    ConnectFailure::Other(cause)
}

/// An error with its causes, in one line.
pub(crate) fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut texts: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(cause) = next {
        let text = cause.to_string();
        if !texts.iter().any(|known| known.contains(&text)) {
            texts.push(text);
        }
        next = cause.source();
    }
    clean::line(&texts.join(": "), clean::LONGEST_MESSAGE)
}

/// Whether a remote server could not be reached at all; an answer that refuses is no reason to
/// connect again.
pub(crate) fn is_unreachable(error: &ServiceError) -> bool {
    causes_of(error).any(|cause| {
        // The SDK's error says what failed in its text, and not as its cause.
        matches!(
            cause.downcast_ref::<StreamableHttpError<OutboundError>>(),
            Some(StreamableHttpError::Client(
                OutboundError::Unreachable(_) | OutboundError::TimedOut(_)
            ))
        )
    })
}

/// What a server asks for with an answer that means "sign in".
pub(crate) fn challenge_of(error: &ServiceError) -> Option<String> {
    causes_of(error).find_map(|cause| {
        if let Some(asked) = cause.downcast_ref::<AuthRequiredError>() {
            return Some(asked.www_authenticate_header.clone());
        }
        let asked = cause.downcast_ref::<InsufficientScopeError>()?;
        Some(asked.www_authenticate_header.clone())
    })
}

/// What the transport reported, and its causes.
fn causes_of(error: &ServiceError) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let first: Option<&(dyn Error + 'static)> = match error {
        ServiceError::TransportSend(error) => Some(error.error.as_ref()),
        _ => None,
    };
    std::iter::successors(first, |&error| error.source())
}
