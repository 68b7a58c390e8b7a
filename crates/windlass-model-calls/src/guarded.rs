//! Models behind one breaker per server, so that a server that is down costs a job no more
//! waiting than it takes to say so.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use windlass_ports::{
    BoxFuture, Clock, LanguageModel, Listener, ModelAddress, ModelError, ModelReply, ModelRequest,
};
use windlass_types::Timestamp;

use crate::breaker::{Breaker, Ending, Leave};

/// A caller that gives up after this long gave up on the server; earlier, on the question.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Models of which those on failing servers are not asked for a while.
pub struct Guarded {
    models: Arc<dyn LanguageModel>,
    clock: Arc<dyn Clock>,
    /// By base address: one for every server that the settings name.
    breakers: Mutex<HashMap<String, Breaker>>,
}

impl Guarded {
    /// Guards these models.
    pub fn new(models: Arc<dyn LanguageModel>, clock: Arc<dyn Clock>) -> Self {
        Self {
            models,
            clock,
            breakers: Mutex::default(),
        }
    }

    fn breakers(&self) -> MutexGuard<'_, HashMap<String, Breaker>> {
        self.breakers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, server: String) -> Result<Call<'_>, ModelError> {
        let began = self.clock.now();
        let admitted = self
            .breakers()
            .entry(server.clone())
            .or_default()
            .admit(began);
        match admitted {
            Ok(leave) => Ok(Call {
                guarded: self,
                server,
                leave,
                began,
                ending: None,
            }),
            Err(retry_after) => Err(ModelError::Suspended { retry_after }),
        }
    }
}

impl LanguageModel for Guarded {
    fn complete<'a>(
        &'a self,
        address: &'a ModelAddress,
        request: &'a ModelRequest,
        listener: Option<Listener<'a>>,
    ) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        Box::pin(async move {
            let mut call = self.begin(address.shown())?;
            let outcome = self.models.complete(address, request, listener).await;
            call.ending = Some(ending_of(&outcome));
            outcome
        })
    }
}

/// What an outcome says about the server.
fn ending_of(outcome: &Result<ModelReply, ModelError>) -> Ending {
    match outcome {
        Ok(_) => Ending::Answered,
        // A page of a proxy instead of a completion.
        Err(ModelError::Malformed(_)) => Ending::Failed,
        Err(error) if error.is_retryable() => Ending::Failed,
        Err(_) => Ending::Unknown,
    }
}

/// A call under way. Told to the breaker when it is dropped, so that also a call that nobody
/// waits for any more ends.
struct Call<'a> {
    guarded: &'a Guarded,
    server: String,
    leave: Leave,
    began: Timestamp,
    ending: Option<Ending>,
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        let now = self.guarded.clock.now();
        let ending = self.ending.unwrap_or({
            if now.since(self.began) >= TIMEOUT {
                Ending::Failed
            } else {
                Ending::Unknown
            }
        });
        if let Some(breaker) = self.guarded.breakers().get_mut(&self.server) {
            breaker.end(self.leave, ending, now);
        }
    }
}

#[cfg(test)]
#[path = "guarded_tests.rs"]
mod tests;
