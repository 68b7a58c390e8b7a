//! One question to a server: sent, followed, repeated with answers, cancelled when nobody waits.

use std::time::Duration;

use rmcp::{
    model::{
        CancelledNotification, CancelledNotificationParam, ClientNotification, ClientRequest,
        InputRequest, InputRequiredResult, InputResponses, ProgressNotificationParam, ServerResult,
    },
    service::{Peer, PeerRequestOptions, RequestHandle, RoleClient, ServiceError},
};
use tokio::sync::broadcast::{Receiver, error::RecvError};
use windlass_ports::{ProgressListener, ServerProgress};

use crate::{clean, connect::Live};

/// How often a server may ask back during one question.
const MOST_ROUNDS: usize = 10;
/// Pauses before the same question is sent again because the server only wants it repeated.
const PAUSE: Duration = Duration::from_millis(100);

/// Asks, and answers what the server asks back. `question` builds the request of each round.
pub(crate) async fn ask(
    live: &Live,
    listener: Option<ProgressListener<'_>>,
    question: impl Fn(Option<InputResponses>, Option<String>) -> ClientRequest,
) -> Result<ServerResult, ServiceError> {
    let (mut responses, mut state) = (None, None);
    for _ in 0..MOST_ROUNDS {
        let progress = live.handler.progress.subscribe();
        let request = question(responses.take(), state.take());
        let handle = live
            .peer
            .send_request_with_option(request, PeerRequestOptions::no_options())
            .await?;
        match follow(handle, progress, listener).await? {
            ServerResult::InputRequiredResult(result) => {
                (responses, state) = answer(live, result).await?;
            }
            result => return Ok(result),
        }
    }
    Err(ServiceError::InputRequiredRoundsExceeded {
        max_rounds: MOST_ROUNDS,
    })
}

/// Waits for the answer and passes progress on.
async fn follow(
    handle: RequestHandle<RoleClient>,
    mut progress: Receiver<ProgressNotificationParam>,
    listener: Option<ProgressListener<'_>>,
) -> Result<ServerResult, ServiceError> {
    let mut waiting = Waiting {
        peer: handle.peer.clone(),
        id: Some(handle.id.clone()),
    };
    let token = handle.progress_token.clone();
    let answer = handle.await_response();
    tokio::pin!(answer);
    let mut is_open = listener.is_some();
    let result = loop {
        tokio::select! {
            result = &mut answer => break result,
            notice = progress.recv(), if is_open => match notice {
                Ok(notice) if notice.progress_token == token => {
                    if let Some(listener) = listener {
                        listener(told(&notice));
                    }
                }
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => is_open = false,
            },
        }
    };
    // What arrived together with the answer.
    while let (Some(listener), Ok(notice)) = (listener, progress.try_recv()) {
        if notice.progress_token == token {
            listener(told(&notice));
        }
    }
    waiting.id = None;
    result
}

fn told(notice: &ProgressNotificationParam) -> ServerProgress {
    let message = notice.message.as_deref();
    ServerProgress {
        progress: notice.progress,
        total: notice.total,
        message: message.map(|message| clean::line(message, clean::LONGEST_MESSAGE)),
    }
}

/// Tells the server when nobody waits for its answer any more.
struct Waiting {
    peer: Peer<RoleClient>,
    id: Option<rmcp::model::RequestId>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let params = CancelledNotificationParam::new(
                Some(id),
                Some("nobody waits for the answer".to_owned()),
            );
            let notice = CancelledNotification::new(params);
            let notice = ClientNotification::CancelledNotification(notice);
            // A connection that is gone has nothing left to cancel.
            let _ = peer.send_notification(notice).await;
        });
    }
}

/// Answers what a server needs to know before it goes on.
async fn answer(
    live: &Live,
    result: InputRequiredResult,
) -> Result<(Option<InputResponses>, Option<String>), ServiceError> {
    let requests = result.input_requests.unwrap_or_default();
    if requests.is_empty() {
        if result.request_state.is_none() {
            return Err(ServiceError::UnexpectedResponse);
        }
        tokio::time::sleep(PAUSE).await;
        return Ok((None, result.request_state));
    }
    let mut responses = InputResponses::new();
    for (key, request) in requests {
        // The others are not offered, so a server that asks for them does not keep to the rules.
        let InputRequest::Elicitation(request) = request else {
            return Err(ServiceError::UnexpectedResponse);
        };
        let answer = live.handler.answers.elicit(request.params).await;
        responses.insert(key, serde_json::to_value(answer).unwrap_or_default());
    }
    Ok((Some(responses), result.request_state))
}
