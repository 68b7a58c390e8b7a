//! Plan → confirm → apply in one go, for every operation pair made from a planner.

use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_engine::run::RunView;
use windlass_types::{ChangeAction, Digest, EffectClass, Plan, Problem, RunId, Timestamp};

use super::{
    asked::says_it_waits,
    conclude::{Wanted, conclude},
    consent::{Consent, ConsentView, PolicyView, Question, refused, table_lines},
    follow::{Channel, Follow},
};
use crate::{
    output::{Table, Tone, counted, counts, duration},
    session::{Report, Session},
};

/// The two operations of a change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChangeOperations {
    /// The planning one.
    pub(crate) plan: &'static str,
    /// The applying one.
    pub(crate) apply: &'static str,
}

// Flags of every applying command.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ApplyArgs {
    /// Apply without asking. Counts as your approval where policy asks you.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Apply the plan this confirm token was issued for, without planning again.
    #[arg(long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
    /// Start the run and return; do not wait for it to end.
    #[arg(long)]
    pub(crate) detach: bool,
    /// Repeating the command with the same key starts no second run.
    #[arg(long, value_name = "KEY")]
    pub(crate) idempotency_key: Option<String>,
}

/// What planning answered, as far as people are shown it.
#[derive(Deserialize)]
struct Planned {
    plan: Plan,
    plan_digest: Digest,
    confirm_token: String,
    confirm_token_expires_at: Timestamp,
    policy: PolicyView,
}

/// Plans and shows the plan with its token.
pub(crate) async fn plan(
    session: &Session,
    operations: ChangeOperations,
    input: Value,
    apply_command: &str,
) -> Result<Report, Problem> {
    let answer = session.call(operations.plan, input).await?;
    let planned: Planned = parse(answer.output.clone())?;
    let printer = &session.printer;
    let view = view(session, &planned, Channel::Data);
    if planned.plan.is_empty() {
        printer.data(&view.headline());
        return Ok(Report::new(view.headline(), answer.output));
    }
    view.show(session, Channel::Data);
    printer.data(&format!("confirm token: {}", planned.confirm_token));
    let now = session.engine().now();
    let valid = duration(planned.confirm_token_expires_at.since(now));
    printer.notice(&format!("The token works once, for {valid}."));
    // Where policy asks and the yes of this user counts, the command that works says it.
    let asks = planned.policy.verdict == "ask" && planned.policy.caller_may_approve;
    let yes = if asks { " --yes" } else { "" };
    printer.hint(&format!("{apply_command} --token TOKEN{yes}"));
    Ok(Report::new(view.headline(), answer.output))
}

/// How applying went.
pub(crate) enum Applied {
    /// Nothing was to be done, or the run continues without this command.
    Early(Report),
    /// The run ended or waits.
    Settled(Box<RunView>),
}

/// Plans, asks, applies and follows the run to its end.
pub(crate) async fn apply(
    session: &Session,
    operations: ChangeOperations,
    input: Value,
    args: &ApplyArgs,
) -> Result<Report, Problem> {
    match apply_change(session, operations, input, args, None).await? {
        Applied::Early(report) => Ok(report),
        Applied::Settled(run) => conclude(session, &run, Wanted::Completed),
    }
}

/// The same, leaving the conclusion to the caller. `other_run` is another run whose events, from a
/// position on, are shown too.
pub(crate) async fn apply_change(
    session: &Session,
    operations: ChangeOperations,
    input: Value,
    args: &ApplyArgs,
    other_run: Option<(RunId, u64)>,
) -> Result<Applied, Problem> {
    let (token, yes) = match &args.token {
        Some(token) => (token.clone(), args.yes),
        None => {
            let answer = session.call(operations.plan, input.clone()).await?;
            let planned: Planned = parse(answer.output.clone())?;
            let view = view(session, &planned, Channel::Notice);
            // With a key the call is made even so: its first run may be what is asked for.
            if planned.plan.is_empty() && args.idempotency_key.is_none() {
                session.printer.notice(&view.headline());
                return Ok(Applied::Early(Report::new(view.headline(), answer.output)));
            }
            let consent = view.ask(session, args.yes).await?;
            agreed(consent, planned.plan_digest)?;
            (planned.confirm_token, true)
        }
    };
    let input = with_apply_fields(input, &token, yes, args.idempotency_key.as_deref())?;
    let answer = session.call(operations.apply, input).await?;
    let run_id = answer
        .run_id
        .ok_or_else(|| Problem::internal(operations.apply, "no run was started"))?;
    if args.detach {
        let report = detached(session, "windlass runs", &run_id, answer.output).await?;
        return Ok(Applied::Early(report));
    }
    let follow = Follow {
        other_run,
        ..Follow::new(&run_id)
    };
    Ok(Applied::Settled(Box::new(follow.run(session).await?)))
}

/// Says that a run was started and what drives it. `program` has the commands for such runs.
pub(crate) async fn detached(
    session: &Session,
    program: &str,
    run_id: &RunId,
    output: Value,
) -> Result<Report, Problem> {
    let printer = &session.printer;
    printer.data(run_id.as_str());
    if says_it_waits(session, run_id).await? {
        return Ok(Report::new(
            format!("run {run_id} was started and waits for an approval"),
            output,
        ));
    }
    if session.engine().driven_by(run_id).await?.is_some() {
        printer.hint(&format!("{program} watch {run_id}"));
    } else {
        printer.notice("No driver is running, so this run is paused.");
        printer.hint(&format!("{program} resume {run_id}"));
    }
    Ok(Report::new(format!("run {run_id} was started"), output))
}

/// Warns that a run could continue but no process drives it.
pub(crate) async fn stalled(
    session: &Session,
    program: &str,
    run_id: &RunId,
) -> Result<bool, Problem> {
    let is_stalled = session.engine().driven_by(run_id).await?.is_none();
    if is_stalled {
        let printer = &session.printer;
        printer
            .notice("No driver is running, so this run is paused; it continues when one starts.");
        printer.hint(&format!("{program} resume {run_id}"));
    }
    Ok(is_stalled)
}

/// Refuses what was not agreed to.
fn agreed(consent: Consent, digest: Digest) -> Result<(), Problem> {
    match consent {
        Consent::Given => Ok(()),
        Consent::Declined => {
            Err(refused(consent).next("repeat the command and answer y, or add --yes"))
        }
        Consent::CannotAsk => Err(refused(consent)
            .with("plan_digest", digest.to_string())
            .next("repeat the command with --yes")
            .next("or plan first, review, and pass --token")),
    }
}

fn with_apply_fields(
    mut input: Value,
    token: &str,
    yes: bool,
    key: Option<&str>,
) -> Result<Value, Problem> {
    let map = input
        .as_object_mut()
        .ok_or_else(|| Problem::invalid("", "type", "the input must be an object"))?;
    map.insert("confirm_token".to_owned(), json!(token));
    map.insert("yes".to_owned(), json!(yes));
    if let Some(key) = key {
        map.insert("idempotency_key".to_owned(), json!(key));
    }
    Ok(input)
}

fn parse(output: Value) -> Result<Planned, Problem> {
    serde_json::from_value(output).map_err(|error| Problem::internal("plan answer", error))
}

fn view(session: &Session, planned: &Planned, channel: Channel) -> ConsentView {
    let plan = &planned.plan;
    let mut table = Table::new(&["ACTION", "TARGET", "DETAIL"]);
    for change in &plan.changes {
        let (tone, action) = action(change.action);
        table.toned_row([
            (tone, action.to_owned()),
            (Tone::Plain, change.target.clone()),
            (Tone::Dim, change.summary.clone()),
        ]);
    }
    let changes = counted(plan.changes.len(), "change");
    let question = match plan.effect {
        EffectClass::Destructive => format!("Apply {changes}, some of which remove things?"),
        EffectClass::Read | EffectClass::Write => format!("Apply {changes}?"),
    };
    ConsentView {
        operation: plan.operation.clone(),
        target: plan.target.clone(),
        effect: plan.effect,
        lines: table_lines(session, channel, &table),
        summary: summary(plan),
        policy: Some(planned.policy.clone()),
        digest: Some(planned.plan_digest),
        question: Question::Yes(question),
    }
}

fn action(action: ChangeAction) -> (Tone, &'static str) {
    match action {
        ChangeAction::Create => (Tone::Good, "+ create"),
        ChangeAction::Update => (Tone::Warn, "~ update"),
        ChangeAction::Delete => (Tone::Bad, "- delete"),
        ChangeAction::Execute => (Tone::Active, "> execute"),
    }
}

fn summary(plan: &Plan) -> String {
    let count = |action: ChangeAction| {
        let changes = plan.changes.iter();
        changes.filter(|change| change.action == action).count() as u64
    };
    let parts = counts(&[
        (count(ChangeAction::Create), "to create"),
        (count(ChangeAction::Update), "to update"),
        (count(ChangeAction::Delete), "to delete"),
        (count(ChangeAction::Execute), "to execute"),
    ]);
    match parts.is_empty() {
        true => "nothing to do".to_owned(),
        false => parts,
    }
}
