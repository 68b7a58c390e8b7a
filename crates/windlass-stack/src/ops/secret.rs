//! Operations on secrets that are runs. Called, judged and answered as every question; the run is
//! their record and what makes them whole after a crash.

use std::time::Duration;

use serde_json::{Map, Value, json};
use windlass_engine::operation::{Answer, CallContext};
use windlass_engine::run::NewRun;
use windlass_ports::entropy::random;
use windlass_stack_diagnose::{Operation as Question, require_secret_consent, secret_region};
use windlass_types::{Problem, TokenId};

use super::{Verb, arguments, ask, outcome};
use crate::desk::Desk;
use crate::fault;
use crate::handover;
use crate::place::Place;
use crate::run::{Job, Kind};
use crate::values::SecretArgument;

/// How long AWS is waited for where the call says nothing, in seconds.
const USUAL_WAIT: u64 = 120;
/// What the run itself may take beside.
const MARGIN: u64 = 60;

/// The run that an operation is, where it is one.
pub(super) const fn kind(question: Question) -> Option<Kind> {
    match question {
        Question::SecretCreate => Some(Kind::SecretCreate),
        Question::SecretDelete => Some(Kind::SecretDelete),
        _ => None,
    }
}

/// Starts the run and waits for it, whatever the call says about waiting.
pub(super) async fn call(
    desk: &Desk,
    context: &CallContext,
    question: Question,
    kind: Kind,
    given: Map<String, Value>,
) -> Result<Answer, Problem> {
    let mut place = Place::read(context, &given)?;
    let stack = match given.get("stackName").and_then(Value::as_str) {
        Some(stack) => stack.to_owned(),
        None => place.policy_target(),
    };
    let mut arguments = arguments::plain(Verb::Ask(question), &given);
    if kind == Kind::SecretDelete {
        require_secret_consent(&Value::Object(arguments.clone()))?;
    }
    let argument = SecretArgument::take(&mut arguments);
    place.region = Some(region(desk, context, &arguments).await?);
    arguments.insert("region".to_owned(), json!(place.region));
    // The place has it, joined to where the caller is.
    arguments.remove("currentWorkingDirectory");
    let wait = arguments::number(&arguments, "timeoutSeconds").unwrap_or(USUAL_WAIT);
    let slot = argument
        .as_ref()
        .map(|_| TokenId::from_random(random(desk.engine.entropy.as_ref())).to_string());
    let name = given.get("secretName").and_then(Value::as_str);
    let title = format!("{} {}", kind.operation(), name.unwrap_or_default());
    let job = Job {
        stack,
        place,
        arguments,
        confirm: false,
        confirmed: None,
        slot,
    };
    let held = match (&job.slot, argument) {
        (Some(slot), Some(argument)) => Some(desk.outside.values.hold(slot, argument)),
        _ => None,
    };
    let run_id = desk
        .engine
        .create_run(NewRun {
            kind: kind.name().to_owned(),
            title,
            context: context.clone(),
            input: fault::json(&job)?,
            plan_digest: None,
            confirm_token: None,
            approval: None,
            idempotency_key: None,
            run_id: None,
            holds: windlass_engine::run::Holds::default(),
        })
        .await?;
    if let Some(held) = held {
        // Whoever drives the run may have to ask this process for the value.
        tokio::spawn(handover::serve(desk.clone(), run_id.clone(), job, held));
    }
    if context.terms.may_defer {
        return Ok(Answer {
            ticket: Some(run_id.to_string()),
            run_id: Some(run_id),
            ..Answer::plain(json!({}))
        });
    }
    let patience = Duration::from_secs(2 * wait + MARGIN);
    let record = desk.engine.settle(&run_id, patience).await?;
    match outcome::of(desk, context, &record).await? {
        Some(answer) => Ok(answer),
        None => Err(outcome::unfinished(&record, patience)),
    }
}

async fn region(
    desk: &Desk,
    context: &CallContext,
    arguments: &Map<String, Value>,
) -> Result<String, Problem> {
    let mut place = arguments.clone();
    place.retain(|name, _| ["secretName", "region", "profile"].contains(&name.as_str()));
    secret_region(&ask::outside(desk, context), &Value::Object(place)).await
}
