//! What a server asks during a call, and the user's answer.

use std::sync::Arc;

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::Value;
use windlass_ports::{QuestionAnswer, Questions, ServerQuestion};

use crate::clean;

/// Who answers for a server.
#[derive(Clone)]
pub(crate) struct Answers {
    pub server: String,
    pub questions: Option<Arc<dyn Questions>>,
}

impl Answers {
    /// Asks the user. Without one, and for what is no form, the answer is no: an address to open
    /// would be a way out for the author of the server.
    pub async fn elicit(&self, asked: ElicitRequestParams) -> ElicitResult {
        let ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } = asked
        else {
            return ElicitResult::new(ElicitationAction::Decline);
        };
        let Some(questions) = &self.questions else {
            return ElicitResult::new(ElicitationAction::Decline);
        };
        let question = ServerQuestion {
            server: self.server.clone(),
            message: clean::block(&message, clean::LONGEST_DESCRIPTION),
            schema: serde_json::to_value(requested_schema).unwrap_or_default(),
        };
        match questions.ask(question).await {
            QuestionAnswer::Accept(form) => {
                ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(form))
            }
            QuestionAnswer::Decline => ElicitResult::new(ElicitationAction::Decline),
            QuestionAnswer::Cancel => ElicitResult::new(ElicitationAction::Cancel),
        }
    }
}
