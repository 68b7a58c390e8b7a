//! The gate before a run of a stack changes anything: asked with the stack's real name, once the
//! config was read, and with the plan where another person has to approve it.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use windlass_engine::run::{
    ChildRequest, GateOutcome, GateRequest, RunContext, RunError, SIGNAL_APPROVAL, Step,
    WaitRequest, ask_gate, pass_gate,
};
use windlass_policy::WithoutRule;
use windlass_stack_lifecycle::change::{Action, Change};
use windlass_types::journal::ChangeSubject;
use windlass_types::{Digest, EffectClass, Problem, code};

use super::{Confirmed, Job, Kind, confirmed_plan};
use crate::desk::Desk;
use crate::ops::Verb;
use crate::project::Project;

/// How long an approval may take.
const APPROVAL_TIME: Duration = Duration::from_secs(7 * 24 * 3600);

/// The stack that a run is about, as the call says it, or as its config does; and the job for it.
/// The config is read again later, and may be a program or changed by a hook: from here on it must
/// name this stack.
pub(super) async fn name_stack(
    context: &dyn RunContext,
    desk: &Desk,
    job: &Job,
    command: &'static str,
) -> Result<(String, Job), RunError> {
    let stack = match job.place.stack_name() {
        Some(name) => name,
        None => {
            Step::pure("stack-name")
                .run(context, async |_| {
                    let project = Project::load(desk, &job.place, &job.arguments, command).await?;
                    Ok(project.stack_name())
                })
                .await?
        }
    };
    let mut job = job.clone();
    job.place.judged_stack = Some(stack.clone());
    Ok((stack, job))
}

fn request<T: Serialize>(
    context: &dyn RunContext,
    kind: Kind,
    job: &Job,
    stack: &str,
    plan: &T,
    lines: Vec<String>,
) -> GateRequest {
    let region = job.place.region.as_deref().unwrap_or_default();
    GateRequest {
        name: "gate".to_owned(),
        subject: ChangeSubject {
            operation: format!("stack.{}", kind.operation()),
            targets: vec![stack.to_owned(), format!("{region}/{stack}")],
            effect: Verb::Change(kind).effect(),
            lines,
            yes: context.subject().is_some_and(|subject| subject.yes),
        },
        principal: None,
        plan_digest: Digest::of_json(&serde_json::to_value(plan).unwrap_or_default()),
        without_rule: WithoutRule::ConfirmedByCall,
    }
}

/// Passes the gate with a plan that is known, waiting for an approval where one is wanted.
pub(super) async fn pass<T: Serialize>(
    context: &dyn RunContext,
    desk: &Desk,
    kind: Kind,
    job: &Job,
    stack: &str,
    plan: &T,
    lines: Vec<String>,
) -> Result<(), RunError> {
    let request = request(context, kind, job, stack, plan, lines);
    pass_gate(context, &desk.engine.downgrade(), request).await
}

/// Passes the gate of something that only reads: it cannot wait.
pub(super) async fn require(
    context: &dyn RunContext,
    desk: &Desk,
    kind: Kind,
    job: &Job,
    stack: &str,
) -> Result<(), RunError> {
    let request = request(context, kind, job, stack, &Value::Null, Vec::new());
    match ask_gate(context, &desk.engine.downgrade(), &request).await? {
        GateOutcome::Open { .. } => Ok(()),
        GateOutcome::Wanted { terms, rule } => Err(Problem::new(
            &code::APPROVAL_REQUIRED,
            format!(
                "{} of {stack} needs an approval that {} may not give; it can be called by {}",
                kind.operation(),
                context.principal(),
                terms.approvers.join(" or ")
            ),
        )
        .with("reason", "approval_required")
        .with_approval(&terms)
        .with("rule", rule)
        .into()),
    }
}

/// Passes the gate of a deployment. Where another person has to approve it, that person is shown
/// the plan that its token confirmed, or one that is made for the purpose, and exactly that plan
/// is deployed. Returns the job as it may go on.
pub(super) async fn pass_deployment(
    context: &dyn RunContext,
    desk: &Desk,
    job: &Job,
    stack: &str,
) -> Result<Job, RunError> {
    let asked = request(
        context,
        Kind::Deploy,
        job,
        stack,
        &job.confirmed,
        Vec::new(),
    );
    let outcome = ask_gate(context, &desk.engine.downgrade(), &asked).await?;
    let GateOutcome::Wanted { terms, .. } = outcome else {
        return Ok(job.clone());
    };
    let confirmed = match &job.confirmed {
        Some(confirmed) => confirmed.clone(),
        None => planned(context, job, stack).await?,
    };
    let plan = confirmed_plan(desk, &confirmed.run_id).await?;
    let wait = WaitRequest {
        prompt: Some(format!(
            "stack.deploy on {stack} (approvers: {})",
            terms.approvers.join(", ")
        )),
        plan_digest: Some(confirmed.plan_digest),
        terms,
        lines: plan.changes.iter().map(line).collect(),
        timeout: Some(APPROVAL_TIME),
        ..WaitRequest::new("gate: approval", SIGNAL_APPROVAL)
    };
    match context.wait_for(wait).await? {
        Some(signal) => signal.require_approval()?,
        None => {
            let message = "nobody answered the approval in time";
            return Err(Problem::new(&code::TIMEOUT, message).into());
        }
    }
    Ok(Job {
        confirmed: Some(confirmed),
        // The approver saw what would be lost, and said yes to it.
        confirm: true,
        ..job.clone()
    })
}

/// The plan of a deployment that nobody previewed.
async fn planned(context: &dyn RunContext, job: &Job, stack: &str) -> Result<Confirmed, RunError> {
    let preview = Job {
        confirm: false,
        confirmed: None,
        ..job.clone()
    };
    let request = ChildRequest {
        name: "plan".to_owned(),
        operation: format!("stack.{}", Kind::Preview.operation()),
        targets: vec![stack.to_owned()],
        effect: EffectClass::Read,
        kind: Kind::Preview.name().to_owned(),
        input: crate::fault::json(&preview)?,
        title: format!("{} {stack}", Kind::Preview.operation()),
    };
    let output = context.child(request).await?;
    let read = |key: &str| output.get(key).and_then(Value::as_str);
    let digest = read("planDigest").and_then(|digest| digest.parse().ok());
    let run_id = read("runId").and_then(|run_id| run_id.parse().ok());
    match (digest, run_id) {
        (Some(plan_digest), Some(run_id)) => Ok(Confirmed {
            plan_digest,
            run_id,
        }),
        _ => Err(Problem::internal("stack", "the preview names no plan").into()),
    }
}

/// A change as a line for an approver.
pub(super) fn line(change: &Change) -> String {
    let sign = match change.action {
        Action::Create => "+",
        Action::Delete => "-",
        Action::Retain => "=",
        _ => "~",
    };
    let highlights = match change.highlights.is_empty() {
        true => String::new(),
        false => format!(": {}", change.highlights.join(", ")),
    };
    format!(
        "{sign} {} ({}){highlights}",
        change.resource_name, change.resource_type
    )
}
