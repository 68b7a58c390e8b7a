//! Operations that are runs: the token, what is proposed, and the run that is there already.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use windlass_engine::confirm::{ReturnedToken, TokenPurpose, TokenRefusal};
use windlass_engine::operation::{
    Answer, AnswerWhen, Awaited, CallContext, OperationInfo, ProposedRun, Reply, Timing,
};
use windlass_ports::store::RunFilter;
use windlass_stack_lifecycle::assets::AssetStore;
use windlass_stack_lifecycle::{delete, versions};
use windlass_types::journal::ChangeSubject;
use windlass_types::{Body, Digest, Problem, RunId, RunRecord, RunState, code};

use super::arguments;
use crate::desk::Desk;
use crate::dev::RunningSession;
use crate::fault;
use crate::known;
use crate::place::Place;
use crate::run::{CREDENTIALS, Confirmed, Job, Kind, about, confirmed_plan, unconfirmed};

/// How long the driver of a run may take to wake it.
const WAKING: Duration = Duration::from_secs(5);

/// What a token remembers of its plan.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Note {
    pub run_id: RunId,
    pub stack_name: String,
    pub region: Option<String>,
}

/// Proposes the run.
pub(super) async fn call(
    desk: &Desk,
    context: &CallContext,
    info: &OperationInfo,
    kind: Kind,
    mut arguments: Map<String, Value>,
) -> Result<Reply, Problem> {
    let place = Place::read(context, &arguments)?;
    let confirm = arguments.remove("confirm").and_then(|it| it.as_bool()) == Some(true);
    let token = match arguments.remove("confirmToken") {
        Some(Value::String(token)) => Some(token),
        _ => None,
    };
    let wait = arguments.remove("wait").and_then(|it| it.as_bool()) != Some(false);
    let timeout = arguments::number(&arguments, "timeoutSeconds");
    let timeout = Duration::from_secs(timeout.unwrap_or(usual_wait(kind)));
    let listing = arguments.get("listVersions").and_then(Value::as_bool) == Some(true);
    if kind == Kind::Rollback && listing {
        context.require_target(&place.shown_stack())?;
        return Ok(list_versions(desk, place).await?.into());
    }
    let returned = match &token {
        Some(token) => Some(take_token(desk, context, info, token, &place).await?),
        None => None,
    };
    if let (Some((_, note)), Some(token), false) = (&returned, &token, confirm) {
        require_yes(desk, note, token).await?;
    }
    if kind == Kind::Script {
        refuse_secrets(desk, &arguments)?;
    }
    if kind == Kind::Delete && !confirm {
        return Err(unconfirmed_delete(desk, place).await);
    }
    let place = match kind {
        Kind::Script => with_session(desk, place, &arguments).await?,
        _ => desk.located(kind.operation(), place).await?,
    };
    let stack = match &returned {
        Some((_, note)) => note.stack_name.clone(),
        None => place.shown_stack(),
    };
    if kind.is_exclusive()
        && let Some(busy) = unfinished(desk, &stack, place.region.as_deref()).await?
    {
        let timeout = wait.then_some(timeout);
        return reattach(desk, context, kind, busy, &place, &arguments, timeout).await;
    }
    let confirmed = returned.as_ref().map(|(returned, note)| Confirmed {
        plan_digest: returned.purpose.plan_digest,
        run_id: note.run_id.clone(),
    });
    let plan_digest = match &confirmed {
        Some(confirmed) => confirmed.plan_digest,
        None => digest_of(&place, &arguments),
    };
    let title = format!("{} {stack}", kind.operation());
    let job = Job {
        stack: stack.clone(),
        place,
        arguments,
        confirm,
        confirmed,
        slot: None,
    };
    let proposed = ProposedRun::new(&info.name, info.effect, kind.name(), fault::json(&job)?);
    let subject = ChangeSubject {
        targets: vec![stack],
        yes: confirm,
        ..proposed.subject
    };
    let proposed = ProposedRun {
        title,
        subject,
        plan_digest: Some(plan_digest),
        timing: Timing::WhenPlanned,
        token: returned.map(|(returned, _)| returned),
        timeout,
        ..proposed
    };
    if wait {
        return Ok(proposed.into());
    }
    let operation = kind.operation();
    Ok(ProposedRun {
        answer_when: AnswerWhen::Created,
        render: Some(Box::new(move |record| {
            Box::pin(async move { Ok(started(operation, record.run_id)) })
        })),
        ..proposed
    }
    .into())
}

/// The place of a script. A session of local development that it runs with knows what the call
/// leaves out.
async fn with_session(
    desk: &Desk,
    place: Place,
    arguments: &Map<String, Value>,
) -> Result<Place, Problem> {
    let place = match RunningSession::of(&place, arguments) {
        Some(RunningSession { session, .. }) => Place {
            project_name: place.project_name.or(Some(session.project_name)),
            region: place.region.or(Some(session.region)),
            ..place
        },
        None => place,
    };
    desk.located(Kind::Script.operation(), place).await
}

/// The answer of a caller who does not want to wait.
fn started(operation: &str, run_id: RunId) -> Answer {
    let message = format!("{operation} was started as {run_id}");
    let next = [format!("windlass runs watch {run_id}")];
    let output = json!({
        "message": message, "runId": run_id, "state": "running", "nextActions": next,
    });
    Answer::of_run(output, run_id)
}

/// The run that changes a stack, also one whose process died.
async fn unfinished(
    desk: &Desk,
    stack: &str,
    region: Option<&str>,
) -> Result<Option<(Kind, RunRecord, Job)>, Problem> {
    for kind in Kind::ALL.into_iter().filter(|kind| kind.is_exclusive()) {
        let filter = RunFilter {
            kind: Some(kind.name().to_owned()),
            states: vec![RunState::Queued, RunState::Running, RunState::Waiting],
            limit: 100,
            ..RunFilter::default()
        };
        for record in desk.engine.store.runs(filter).await?.runs {
            let job: Option<Job> = serde_json::from_value(record.input.clone()).ok();
            if let Some(job) = job.filter(|job| job.stack == stack)
                && job.place.region.as_deref() == region
            {
                return Ok(Some((kind, record, job)));
            }
        }
    }
    Ok(None)
}

/// A command that was interrupted and is given again finds its run; any other has to wait.
async fn reattach(
    desk: &Desk,
    context: &CallContext,
    kind: Kind,
    (busy_kind, record, job): (Kind, RunRecord, Job),
    place: &Place,
    arguments: &Map<String, Value>,
    timeout: Option<Duration>,
) -> Result<Reply, Problem> {
    let is_same =
        busy_kind == kind && job.place == *place && same_but_timeout(&job.arguments, arguments);
    let is_visible = desk
        .engine
        .visible_run(&context.principal, &record.run_id)
        .await
        .is_ok();
    if is_same && is_visible {
        try_credentials(desk, context, &record).await?;
        return Ok(match timeout {
            Some(timeout) => Reply::Await(Awaited::run(record.run_id, timeout)),
            None => started(kind.operation(), record.run_id).into(),
        });
    }
    let run_id = &record.run_id;
    Err(Problem::new(
        &code::INVALID_INPUT,
        format!(
            "{} is busy: {} of {} is still running ({run_id})",
            job.stack,
            busy_kind.operation(),
            record.principal.id(),
        ),
    )
    .with("reason", "stack_busy")
    .with("stackName", job.stack.as_str())
    .with("operation", busy_kind.operation())
    .with("runId", run_id.as_str())
    .next(format!("windlass runs resume {run_id}"))
    .next(format!("windlass runs cancel {run_id}")))
}

/// A command that is given again may come with renewed credentials that its run waits for: the run
/// tries them now, not when its wait is over.
async fn try_credentials(
    desk: &Desk,
    context: &CallContext,
    record: &RunRecord,
) -> Result<(), Problem> {
    let (engine, run_id) = (&desk.engine, &record.run_id);
    let mut waits = record.waiting_on.iter().map(|(key, _)| key);
    let Some(key) = waits.find(|key| key.starts_with(CREDENTIALS)) else {
        return Ok(());
    };
    engine
        .send_signal(&context.principal, run_id, CREDENTIALS, Value::Null)
        .await?;
    let deadline = engine.now().after(WAKING);
    let mut after = record.last_seq;
    while engine.now() < deadline {
        let timeout = deadline.since(engine.now());
        let events = engine.events_after(run_id, after, 100, timeout).await?;
        for event in &events {
            after = event.seq;
            if let Ok(Some(Body::WaitCompleted(done))) =
                Body::decode(&event.event_type, &event.payload)
                && done.key == *key
            {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Whether two calls want the same, however long their callers wait.
fn same_but_timeout(left: &Map<String, Value>, right: &Map<String, Value>) -> bool {
    let rest = |arguments: &Map<String, Value>| {
        let mut rest = arguments.clone();
        rest.remove("timeoutSeconds");
        rest
    };
    rest(left) == rest(right)
}

/// How long a caller waits who says nothing, in seconds.
const fn usual_wait(kind: Kind) -> u64 {
    match kind {
        Kind::Preview => 300,
        _ => 3600,
    }
}

fn digest_of(place: &Place, arguments: &Map<String, Value>) -> Digest {
    Digest::of_json(&json!({ "place": place, "arguments": arguments }))
}

/// Takes a token back; one for another stack, operation or caller is refused.
async fn take_token(
    desk: &Desk,
    context: &CallContext,
    info: &OperationInfo,
    token: &str,
    place: &Place,
) -> Result<(ReturnedToken, Note), Problem> {
    let returned = desk
        .engine
        .return_token(&context.principal, &info.name, token)
        .await
        .map_err(refused)?;
    let note: Note = serde_json::from_value(returned.purpose.note.clone())
        .map_err(|error| Problem::internal("confirm token", error))?;
    let same_stack = place
        .stack_name()
        .is_none_or(|stack| stack == note.stack_name);
    let same_stage = place
        .stage
        .as_ref()
        .is_none_or(|stage| note.stack_name.ends_with(&format!("-{stage}")));
    let same_region = match (&place.region, &note.region) {
        (Some(asked), Some(seen)) => asked == seen,
        _ => true,
    };
    if !(same_stack && same_stage && same_region) {
        let message = format!("the confirm token is for a plan of {}", note.stack_name);
        return Err(mismatch(&message).with("stackName", note.stack_name));
    }
    Ok((returned, note))
}

/// A plan that loses data or deletes a failed stack needs a yes beside its token, and the token
/// stays good until then.
async fn require_yes(desk: &Desk, note: &Note, token: &str) -> Result<(), Problem> {
    let plan = confirmed_plan(desk, &note.run_id).await?;
    if !plan.needs_confirm() {
        return Ok(());
    }
    Err(about(unconfirmed(&plan), &plan).with("confirmToken", token))
}

/// A run keeps its arguments, so secrets must not be among them.
fn refuse_secrets(desk: &Desk, arguments: &Map<String, Value>) -> Result<(), Problem> {
    let pairs = arguments.get("env").map(crate::package::texts);
    for pair in pairs.unwrap_or_default() {
        let (name, value) = pair.split_once('=').unwrap_or((pair.as_str(), ""));
        let shown = json!({ name: value });
        if desk.engine.redactor.redact_value(shown.clone()) != shown {
            return Err(fault::invalid(
                "env",
                format!("the value of {name} is a secret, and runs keep what they are called with"),
            )
            .next("windlass stack secret create NAME --value-file FILE")
            .next(format!(
                "write $Secret('NAME') as the value of {name} in the script's environment"
            )));
        }
    }
    Ok(())
}

fn mismatch(message: &str) -> Problem {
    Problem::new(&code::CONFIRM_TOKEN_MISMATCH, message)
        .with("reason", "confirm_token_mismatch")
        .next("preview again and repeat with the new confirmToken")
}

fn refused(refusal: TokenRefusal) -> Problem {
    let message = refusal.to_string();
    match refusal {
        TokenRefusal::Unknown | TokenRefusal::OtherOperation => mismatch(&message),
        TokenRefusal::Expired => Problem::new(&code::CONFIRM_TOKEN_EXPIRED, message)
            .with("reason", "confirm_token_expired")
            .next("preview again and repeat with the new confirmToken"),
        TokenRefusal::Used(run_id) => Problem::new(&code::CONFIRM_TOKEN_USED, message)
            .with("reason", "confirm_token_used")
            .with("runId", run_id.as_str())
            .next(format!("windlass runs watch {run_id}")),
        TokenRefusal::Failed(problem) => problem,
    }
}

/// The token of a plan that a run has made; what it confirms is among the run's artifacts.
pub(super) async fn issue(
    desk: &Desk,
    context: &CallContext,
    operation: &str,
    note: Note,
    plan_digest: Digest,
) -> Result<Map<String, Value>, Problem> {
    let purpose = TokenPurpose {
        operation: operation.to_owned(),
        plan_digest,
        targets: vec![note.stack_name.clone()],
        note: fault::json(&note)?,
    };
    let issued = desk.engine.issue_token(&context.principal, purpose).await?;
    Ok(Map::from_iter([
        ("confirmToken".to_owned(), json!(issued.token)),
        (
            "confirmTokenExpiresAt".to_owned(),
            json!(issued.expires_at.to_string()),
        ),
    ]))
}

/// A delete that nobody confirmed changes nothing and needs no credentials; what would be lost is
/// said where it can be found out.
async fn unconfirmed_delete(desk: &Desk, place: Place) -> Problem {
    let stack = place.stack_name().unwrap_or_default();
    let found = match desk.located("delete", place).await {
        Ok(place) => {
            let access = desk.access(place.target());
            let names = known::names_of(&access, &stack).await;
            delete::plan(&access, &stack, &[], &names).await.ok()
        }
        Err(_) => None,
    };
    let lost = found.iter().flat_map(|deletion| &deletion.stateful);
    let lost = lost.filter(|change| change.needs_confirm).count();
    let message = match lost {
        1 => format!("Deleting {stack} removes 1 stateful resource"),
        2.. => format!("Deleting {stack} removes {lost} stateful resources"),
        _ => format!("Deleting {stack} needs confirm=true"),
    };
    Problem::new(&code::CONFIRM_REQUIRED, message)
        .with("reason", "confirm_missing")
        .with("stackName", stack)
        .with(
            "statefulChanges",
            found.map_or(Value::Null, |deletion| json!(deletion.stateful)),
        )
        .next("repeat with confirm=true")
}

async fn list_versions(desk: &Desk, place: Place) -> Result<Answer, Problem> {
    let stack = place.stack_name().unwrap_or_default();
    let place = desk.located("rollback", place).await?;
    let access = desk.access(place.target());
    let store = AssetStore::of_caller(&access)
        .await
        .map_err(fault::problem)?;
    let mut kept = Vec::new();
    for version in versions::list(&access, &store, &stack)
        .await
        .map_err(fault::problem)?
    {
        let record = versions::read(&access, &store, &stack, version)
            .await
            .map_err(fault::problem)?;
        kept.push(json!({
            "version": version.to_string(),
            "createdAt": record.created_at,
            "runId": record.run_id,
            "planDigest": record.plan_digest,
            "notRestored": record.not_restored,
        }));
    }
    let message = format!("{} versions of {stack}", kept.len());
    Ok(Answer::plain(
        json!({ "message": message, "stackName": stack, "versions": kept }),
    ))
}
