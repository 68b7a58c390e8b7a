//! Operations on secrets that are runs. Called, judged and answered as every question; the run is
//! their record and what makes them whole after a crash.

use std::time::Duration;

use serde_json::{Map, Value, json};
use windlass_engine::operation::{CallContext, ProposedRun, Reply};
use windlass_ports::entropy::random;
use windlass_stack_diagnose::{Operation as Question, require_secret_consent, secret_region};
use windlass_types::journal::ChangeSubject;
use windlass_types::{Digest, Problem, TokenId};

use super::{Verb, arguments, ask};
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

/// Proposes the run, whose answer the caller waits for whatever the call says about waiting.
pub(super) async fn call(
    desk: &Desk,
    context: &CallContext,
    question: Question,
    kind: Kind,
    given: Map<String, Value>,
) -> Result<Reply, Problem> {
    let mut place = Place::read(context, &given)?;
    let stack = match given.get("stackName").and_then(Value::as_str) {
        Some(stack) => stack.to_owned(),
        None => place.shown_stack(),
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
    let name = name.unwrap_or_default().to_owned();
    let title = format!("{} {name}", kind.operation());
    let job = Job {
        stack: stack.clone(),
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
    let verb = Verb::Change(kind);
    let operation = format!("stack.{}", verb.name());
    let effect = Verb::Ask(question).effect();
    let proposed = ProposedRun::new(&operation, effect, kind.name(), fault::json(&job)?);
    let targets = [name.clone(), stack].into_iter();
    let targets: Vec<String> = targets.filter(|it| !it.is_empty()).collect();
    if held.is_some() {
        // Nobody keeps a value until an approver has time: it goes on now, or not at all.
        context.require_targets(&targets)?;
    }
    let subject = ChangeSubject {
        targets,
        lines: vec![format!("> {} {name}", kind.operation())],
        ..proposed.subject
    };
    let own = desk.clone();
    Ok(ProposedRun {
        title,
        subject,
        plan_digest: Some(Digest::of_json(&proposed.input)),
        timeout: Duration::from_secs(2 * wait + MARGIN),
        on_created: Some(Box::new(move |run_id| {
            if let Some(held) = held {
                // The process that drives the run may have to ask this one for the value.
                tokio::spawn(handover::serve(own, run_id.clone(), job, held));
            }
        })),
        ..proposed
    }
    .into())
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
