//! What a server may offer besides operations and runs: further resources and prompts, lists that
//! change, and operations that talk to the client while they work.
//!
//! The product has no extension. The fixtures of the conformance suite are one, and everything
//! else of a call is the product's: listing, finding, scope, policy, rendering, rounds, tasks.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use futures::future::BoxFuture;
use rmcp::{
    ErrorData, RoleServer,
    model::{
        ClientCapabilities, GetPromptRequestParams, GetPromptResponse, InputRequests,
        InputRequiredResult, InputResponses, LoggingLevel, Prompt, ReadResourceResult, Resource,
        ResourceTemplate,
    },
    service::RequestContext,
};
use serde_json::Value;
use tokio::sync::broadcast;
use windlass_engine::operation::Begun;
use windlass_types::{Problem, code};

use super::{progress::Reporter, rounds};
use crate::negotiate::Era;

/// A list that a client has is out of date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// Tools.
    Tools,
    /// Prompts.
    Prompts,
}

/// What a call comes to.
pub type Beginning<'a> = BoxFuture<'a, Result<Begun, Problem>>;

/// What a server offers besides operations and runs.
pub trait Extension: fmt::Debug + Send + Sync + 'static {
    /// Its resources.
    fn resources(&self) -> Vec<Resource>;

    /// Its resource templates.
    fn templates(&self) -> Vec<ResourceTemplate>;

    /// One of its resources; `None` for the URI of another.
    fn read(&self, uri: &str) -> Option<ReadResourceResult>;

    /// Its prompts.
    fn prompts(&self) -> Vec<Prompt>;

    /// One of its prompts; `None` for the name of another.
    fn prompt(
        &self,
        request: &GetPromptRequestParams,
    ) -> Option<Result<GetPromptResponse, ErrorData>>;

    /// Tells of lists that change, from now on.
    fn changes(&self) -> broadcast::Receiver<Changed>;

    /// Makes the client known to operations while a call of one begins.
    fn during<'a>(&self, link: Arc<ClientLink>, call: Beginning<'a>) -> Beginning<'a>;
}

/// What a call does instead of giving an answer.
enum Instead {
    Ask(InputRequests, Option<String>),
    Refuse(ErrorData),
}

/// The client of one call.
pub struct ClientLink {
    context: RequestContext<RoleServer>,
    reporter: Reporter,
    answers: InputResponses,
    state: Option<String>,
    instead: Mutex<Option<Instead>>,
}

impl ClientLink {
    pub(super) fn new(
        context: &RequestContext<RoleServer>,
        reporter: Reporter,
        answers: Option<&InputResponses>,
        state: Option<String>,
    ) -> Self {
        Self {
            context: context.clone(),
            reporter,
            answers: answers.cloned().unwrap_or_default(),
            state,
            instead: Mutex::default(),
        }
    }

    /// The request.
    pub fn context(&self) -> &RequestContext<RoleServer> {
        &self.context
    }

    /// What the client can do.
    pub fn capabilities(&self) -> ClientCapabilities {
        self.context.client_capabilities().unwrap_or_default()
    }

    /// The era of the request.
    pub fn era(&self) -> Era {
        Era::of(&self.context)
    }

    /// The answers this round brought.
    pub fn answers(&self) -> &InputResponses {
        &self.answers
    }

    /// What the round before left.
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// Asks, and gives the answers: at once in the legacy era, in the round that brings them in the
    /// modern one. Until then the operation ends with what this returns.
    pub async fn ask(&self, questions: InputRequests) -> Result<InputResponses, Problem> {
        if self.era() == Era::Legacy {
            let asked = rounds::ask(&self.context, questions).await;
            return asked.map_err(|error| {
                let message = format!("the client did not answer: {error}");
                self.refuse(ErrorData::internal_error(message, None))
            });
        }
        match questions.keys().all(|key| self.answers.contains_key(key)) {
            true => Ok(self.answers.clone()),
            false => Err(self.ask_again(questions, None)),
        }
    }

    /// Ends this round with questions, and with a state that the next one finds.
    pub fn ask_again(&self, questions: InputRequests, state: Option<&str>) -> Problem {
        self.end(Instead::Ask(questions, state.map(str::to_owned)))
    }

    /// Ends the call with an error of the protocol.
    pub fn refuse(&self, error: ErrorData) -> Problem {
        self.end(Instead::Refuse(error))
    }

    /// Reports progress, where it is wanted.
    pub async fn progress(&self, done: f64, total: f64) {
        self.reporter.progress(done, Some(total), None).await;
    }

    /// Sends a log message, where it is wanted.
    pub async fn log(&self, level: LoggingLevel, data: Value) {
        self.reporter.log(level, None, data).await;
    }

    fn end(&self, instead: Instead) -> Problem {
        *self.instead.lock().unwrap_or_else(PoisonError::into_inner) = Some(instead);
        Problem::new(&code::ILLEGAL_STATE, "the call ended without an answer")
    }

    /// What the call does instead of giving an answer; `seal` makes the state of the next round.
    pub(super) fn take(
        &self,
        seal: impl FnOnce(&str) -> Result<String, ErrorData>,
    ) -> Option<Result<InputRequiredResult, ErrorData>> {
        let mut instead = self.instead.lock().unwrap_or_else(PoisonError::into_inner);
        Some(match instead.take()? {
            Instead::Refuse(error) => Err(error),
            Instead::Ask(questions, state) => state
                .map(|state| seal(&state))
                .transpose()
                .map(|state| InputRequiredResult::new(Some(questions), state)),
        })
    }
}
