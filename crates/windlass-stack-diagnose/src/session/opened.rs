//! A session as Systems Manager knows it: started, and ended whatever becomes of its user.

use serde_json::{Value, json};
use windlass_ports::aws::{ActionShape, AwsFailure, SignedCall, services};
use windlass_types::{Problem, Secret, code};

use crate::fault::Fault;
use crate::session::bastion::{Bastion, Reach};
use crate::session::channel::Session;
use crate::session::failure::broken;

const START: ActionShape = ActionShape::new(&services::SSM, "StartSession");
const TERMINATE: ActionShape = ActionShape::new(&services::SSM, "TerminateSession");
/// What auditors read in the history of sessions.
const REASON: &str = "windlass stack";

/// A session that was started. Dropped, it is ended as well.
pub(crate) struct Opened {
    reach: Reach,
    id: String,
    pub(crate) session: Session,
    is_over: bool,
}

impl Opened {
    /// Starts a session by a document of Systems Manager.
    pub(crate) async fn start(
        bastion: &Bastion,
        document: &str,
        parameters: Value,
    ) -> Result<Self, Problem> {
        let input = json!({
            "Target": bastion.instance,
            "DocumentName": document,
            "Parameters": parameters,
            "Reason": REASON,
        });
        let reach = &bastion.reach;
        let access = &reach.access;
        let call = SignedCall::new(START, input);
        let started = access.cloud.call(&access.target, call).await;
        let started = started.map_err(|failure| unstarted(bastion, failure))?;
        let text = |name: &str| {
            let text = started.get(name).and_then(Value::as_str);
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let (Some(id), Some(url), Some(token)) =
            (text("SessionId"), text("StreamUrl"), text("TokenValue"))
        else {
            return Err(broken("StartSession returned no address and token"));
        };
        let token = Secret::new(token);
        reach.redactor.register(&token);
        Ok(Self {
            reach: reach.clone(),
            id,
            session: Session {
                url: Secret::new(url),
                token,
            },
            is_over: false,
        })
    }

    /// Ends it.
    pub(crate) async fn close(mut self) {
        self.is_over = true;
        terminate(&self.reach, &self.id).await;
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        // Its user was dropped; outside of a runtime the session ends by its idle timeout.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (reach, id) = (self.reach.clone(), self.id.clone());
            runtime.spawn(async move { terminate(&reach, &id).await });
        }
    }
}

async fn terminate(reach: &Reach, id: &str) {
    let call = SignedCall::new(TERMINATE, json!({ "SessionId": id }));
    // One that cannot be ended ends by its idle time; what it was used for is done either way.
    let _ = reach.access.cloud.call(&reach.access.target, call).await;
}

fn unstarted(bastion: &Bastion, failure: AwsFailure) -> Problem {
    if failure.code != "TargetNotConnected" {
        return Fault::problem(failure).with("bastion", bastion.name.as_str());
    }
    Problem::new(
        &code::NOT_FOUND,
        format!(
            "the machine {} of the bastion {} is not connected to Systems Manager",
            bastion.instance, bastion.name
        ),
    )
    .with("reason", "bastion_not_connected")
    .with("bastion", bastion.name.as_str())
    .with("instanceId", bastion.instance.as_str())
    .next("wait a minute if it has just been started, then repeat")
    .next("else look at the logs of the bastion: its agent needs a way to the internet")
}
