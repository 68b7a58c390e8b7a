//! Language models inside steps: every call is paid work of its own.
//!
//! A call whose answer is known is never made again, also where the step around it is. An error
//! of the server is an answer too: the step takes the same way when it is done again.

use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use windlass_ports::{
    BoxFuture, Heard, LanguageModel, ModelAddress, ModelError, ModelReply, ModelRequest,
};
use windlass_types::Digest;

use super::StepContext;
use crate::driver::lock;

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

    /// Asks; a stream that breaks off is asked for again in one piece.
    async fn ask(
        &self,
        address: &ModelAddress,
        request: &ModelRequest,
        heard: &Mutex<Option<Heard<'_>>>,
    ) -> Answer {
        let hear: Heard<'_> = Box::new(|piece| {
            self.step.text(piece);
            if let Some(heard) = &mut *lock(heard) {
                heard(piece);
            }
        });
        let answered = self.models.complete(address, request, Some(hear)).await;
        match answered {
            Ok(reply) => Answer::Reply(reply),
            Err(ModelError::Cut(_)) => match self.models.complete(address, request, None).await {
                Ok(reply) => Answer::Reply(reply),
                Err(error) => Answer::Error(error),
            },
            Err(error) => Answer::Error(error),
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
        heard: Option<Heard<'b>>,
    ) -> BoxFuture<'b, Result<ModelReply, ModelError>> {
        Box::pin(async move {
            // Another question, or the same one elsewhere, is another call: the name says which.
            let question = request.prompt_hash(&address.model);
            let server = address.shown();
            let call = Digest::of_parts(&[question.as_bytes(), server.as_bytes()]);
            let name = format!("model:{}", call.short());
            let message = format!("asking {}", address.model);
            self.step.progress(0, None, message);
            let heard = Mutex::new(heard);
            let answer: Result<Answer, _> = self
                .step
                .paid(name, &Value::Null, async |attempt| {
                    let request = ModelRequest {
                        idempotency_key: Some(attempt.idempotency_key),
                        ..request.clone()
                    };
                    Ok(self.ask(address, &request, &heard).await)
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
