//! How a run gets something done with a value that another process holds.
//!
//! One process drives the runs of a home, and it need not be the one that was called. The value
//! stays where it is: the driver asks on the run's record, the process that was called does that
//! part and puts on record what came of it. Whether an asking was heard or given up is decided by
//! which of the two stands first in the journal, so no part is done after its run has failed.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_types::journal::DomainEvent;
use windlass_types::{Body, Event, Problem, RunId};

use crate::desk::Desk;
use crate::run::Job;
use crate::run::secret::{Came, Part, perform};
use crate::values::{HeldValue, SecretArgument};

const ASKED: &str = "stack.secret_asked";
const HEARD: &str = "stack.secret_heard";
const GIVEN_UP: &str = "stack.secret_given_up";
const ANSWERED: &str = "stack.secret_answered";

/// How long a process may take to say that it holds the value.
const HEARING: Duration = Duration::from_secs(10);
/// How long the one who holds it may take: longer than AWS is waited for.
const WORKING: Duration = Duration::from_secs(3_700);
/// How long a process looks after a run that it holds a value for.
const HOLDING: Duration = Duration::from_secs(2 * 3_600);
const PAGE: usize = 500;

/// One asking: tries of a step are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Turn {
    pub part: Part,
    pub attempt: u32,
}

/// What the holder says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Reply {
    Came(Came),
    Failed(Problem),
}

/// Asks the process that holds the value. `None` if nobody does, or if they were stopped on the way.
pub(crate) async fn ask(desk: &Desk, run_id: &RunId, turn: Turn) -> Result<Option<Came>, Problem> {
    note(desk, run_id, ASKED, turn, Value::Null).await?;
    let mut deadline = desk.engine.now().after(HEARING);
    let (mut heard, mut given_up, mut after) = (false, false, 0);
    loop {
        let timeout = deadline.since(desk.engine.now());
        let events = desk
            .engine
            .events_after(run_id, after, PAGE, timeout)
            .await?;
        for event in &events {
            after = event.seq;
            match said(event, turn) {
                Some((HEARD, _)) if !given_up => {
                    heard = true;
                    deadline = desk.engine.now().after(WORKING);
                }
                Some((GIVEN_UP, _)) => given_up = true,
                Some((ANSWERED, reply)) => {
                    return match serde_json::from_value(reply) {
                        Ok(Reply::Came(came)) => Ok(Some(came)),
                        Ok(Reply::Failed(problem)) => Err(problem),
                        Err(error) => Err(Problem::internal("secret", error)),
                    };
                }
                _ => {}
            }
        }
        if given_up && !heard {
            return Ok(None);
        }
        if desk.engine.now() >= deadline {
            if heard {
                return Ok(None);
            }
            note(desk, run_id, GIVEN_UP, turn, Value::Null).await?;
        }
    }
}

/// Does what a run asks for until it has ended; the value is held no longer than that.
pub(crate) async fn serve(desk: Desk, run_id: RunId, job: Job, held: HeldValue) {
    let _held = held;
    let Some(argument) = job
        .slot
        .as_deref()
        .and_then(|slot| desk.outside.values.get(slot))
    else {
        return;
    };
    let deadline = desk.engine.now().after(HOLDING);
    let mut after = 0;
    while desk.engine.now() < deadline {
        let timeout = deadline.since(desk.engine.now());
        let events = desk
            .engine
            .events_after(&run_id, after, PAGE, timeout)
            .await;
        let Ok(events) = events else {
            return;
        };
        for event in &events {
            after = event.seq;
            match Body::decode(&event.event_type, &event.payload) {
                Ok(Some(Body::Domain(name, asked))) if name == ASKED => {
                    let turn = serde_json::from_value(asked.data["turn"].clone());
                    let Ok(turn) = turn else {
                        continue;
                    };
                    if let Err(problem) = serve_turn(&desk, &run_id, &job, &argument, turn).await {
                        tracing::warn!(%run_id, %problem, "requests of runs for values cannot be received");
                    }
                }
                Ok(Some(Body::RunCompleted(_) | Body::RunFailed(_) | Body::RunCancelled(_))) => {
                    return;
                }
                _ => {}
            }
        }
    }
}

async fn serve_turn(
    desk: &Desk,
    run_id: &RunId,
    job: &Job,
    argument: &SecretArgument,
    turn: Turn,
) -> Result<(), Problem> {
    note(desk, run_id, HEARD, turn, Value::Null).await?;
    let events = desk.engine.store.events(run_id, 0, PAGE).await?;
    let mut first = events.iter().filter_map(|event| said(event, turn));
    let first = first.find(|(name, _)| *name == HEARD || *name == GIVEN_UP);
    if first.is_none_or(|(name, _)| name != HEARD) {
        return Ok(());
    }
    let reply = match perform(desk, run_id, job, turn.part, argument).await {
        Ok(came) => Reply::Came(came),
        Err(problem) => Reply::Failed(problem),
    };
    let reply = serde_json::to_value(reply).map_err(|error| Problem::internal("secret", error))?;
    note(desk, run_id, ANSWERED, turn, reply).await
}

/// What an event says about a turn.
fn said(event: &Event, turn: Turn) -> Option<(&'static str, Value)> {
    let Ok(Some(Body::Domain(name, told))) = Body::decode(&event.event_type, &event.payload) else {
        return None;
    };
    let name = [ASKED, HEARD, GIVEN_UP, ANSWERED]
        .into_iter()
        .find(|known| *known == name)?;
    let about: Turn = serde_json::from_value(told.data["turn"].clone()).ok()?;
    (about == turn).then(|| (name, told.data["reply"].clone()))
}

async fn note(
    desk: &Desk,
    run_id: &RunId,
    name: &str,
    turn: Turn,
    reply: Value,
) -> Result<(), Problem> {
    let event = DomainEvent {
        key: format!("{name}:{}:{}", turn.part.name(), turn.attempt),
        data: json!({ "turn": turn, "reply": reply }),
    };
    desk.note(run_id, vec![(name.to_owned(), event)]).await
}
