//! What a server says by itself: progress, changed lists, questions.
//!
//! Sampling and roots are not offered: a server gets no model and learns no directories.

use std::sync::Arc;

use rmcp::{
    ClientHandler,
    model::{
        ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationCapability,
        ErrorData, FormElicitationCapability, Implementation, ProgressNotificationParam,
        ProtocolVersion,
    },
    service::{NotificationContext, RequestContext, RoleClient},
};
use tokio::sync::{Notify, broadcast};

use crate::answer::Answers;

/// Notices of progress that a slow listener may be behind.
const PROGRESS_ROOM: usize = 256;

/// One connection's side.
#[derive(Clone)]
pub(crate) struct Handler {
    pub answers: Answers,
    pub progress: broadcast::Sender<ProgressNotificationParam>,
    pub tools_changed: Arc<Notify>,
}

impl Handler {
    pub fn new(answers: Answers) -> Self {
        Self {
            answers,
            progress: broadcast::Sender::new(PROGRESS_ROOM),
            tools_changed: Arc::new(Notify::new()),
        }
    }
}

impl ClientHandler for Handler {
    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(self.answers.elicit(request).await)
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        // Nobody may be listening.
        let _ = self.progress.send(params);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
    }

    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if self.answers.questions.is_some() {
            let mut form = FormElicitationCapability::new();
            form.schema_validation = Some(true);
            capabilities.elicitation = Some(ElicitationCapability::new().with_form(form));
        }
        let software =
            Implementation::new("windlass", env!("CARGO_PKG_VERSION")).with_title("Windlass");
        ClientConfig::new(capabilities, software)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }
}
