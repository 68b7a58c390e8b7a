//! Language models inside steps: every call is paid work of its own.
//!
//! A call whose answer is known is never made again, also where the step around it is. An error
//! of the server is an answer too: the step takes the same way when it is done again.

use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use windlass_ports::{
    BoxFuture, LanguageModel, Listener, ModelAddress, ModelError, ModelReply, ModelRequest, Piece,
};
use windlass_types::Digest;

use super::StepContext;
use crate::driver::lock;

/// The stream of a step's text that holds what the model thinks.
pub const THINKING: &str = "thinking";

/// Models as a step may ask them. What they say is shown to watchers while they say it.
pub struct PaidModels<'a> {
    step: &'a StepContext<'a>,
    models: &'a dyn LanguageModel,
}

impl<'a> PaidModels<'a> {
    /// These models, asked from inside a step.
    pub fn new(step: &'a StepContext<'a>, models: &'a dyn LanguageModel) -> Self {
        Self { step, models }
    }

    /// Asks, and shows what is said while it is said.
    async fn ask(
        &self,
        address: &ModelAddress,
        request: &ModelRequest,
        listener: &Mutex<Option<Listener<'_>>>,
    ) -> Answer {
        let both: Listener<'_> = Box::new(|piece| {
            self.show(piece);
            if let Some(listener) = &mut *lock(listener) {
                listener(piece);
            }
        });
        match self.models.complete(address, request, Some(both)).await {
            Ok(reply) => Answer::Reply(reply),
            Err(error) => Answer::Error(error),
        }
    }

    fn show(&self, piece: Piece<'_>) {
        match piece {
            Piece::Text(text) => self.step.text(text),
            Piece::Thinking(text) => self.step.text_of(THINKING, text),
            Piece::Call { name, .. } => self.step.progress(0, None, format!("calls {name}")),
            Piece::Retry {
                attempt,
                wait,
                reason,
            } => {
                let seconds = wait.as_secs_f64();
                let message = format!("try {attempt} failed ({reason}); again in {seconds:.1} s");
                self.step.again(message);
            }
        }
    }
}

/// What came of a call, on record.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Reply(ModelReply),
    Error(ModelError),
}

impl LanguageModel for PaidModels<'_> {
    fn complete<'b>(
        &'b self,
        address: &'b ModelAddress,
        request: &'b ModelRequest,
        listener: Option<Listener<'b>>,
    ) -> BoxFuture<'b, Result<ModelReply, ModelError>> {
        Box::pin(async move {
            // Another question, or the same one elsewhere, is another call: the name says which.
            let question = request.prompt_hash(&address.model);
            let server = address.shown();
            let call = Digest::of_parts(&[question.as_bytes(), server.as_bytes()]);
            let name = format!("model:{}", call.short());
            let message = format!("asking {}", address.model);
            self.step.progress(0, None, message);
            let listener = Mutex::new(listener);
            let answer: Result<Answer, _> = self
                .step
                .paid(name, &Value::Null, async |attempt| {
                    let request = ModelRequest {
                        idempotency_key: Some(attempt.idempotency_key),
                        ..request.clone()
                    };
                    Ok(self.ask(address, &request, &listener).await)
                })
                .await;
            match answer {
                Ok(Answer::Reply(reply)) => Ok(reply),
                Ok(Answer::Error(error)) => Err(error),
                Err(problem) => Err(ModelError::Unreachable(problem.message().to_owned())),
            }
        })
    }
}
