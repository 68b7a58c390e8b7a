//! Plan → confirm → apply in one go, for every operation pair made from a planner.

use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_engine::run::RunView;
use windlass_types::{ChangeAction, Digest, EffectClass, Plan, Problem, RunId, Timestamp, code};

use super::{
    ask::confirm,
    conclude::{Wanted, conclude},
    follow::{Channel, Follow},
};
use crate::{
    output::{Table, Tone, duration},
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
    /// Apply the plan this confirm token was given for, without planning anew.
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
    policy: Policy,
}

#[derive(Deserialize)]
struct Policy {
    verdict: String,
    rule: String,
    #[serde(default)]
    approvers: Vec<String>,
    caller_may_approve: bool,
}

/// Plans and shows the plan with its token.
pub(crate) async fn plan(
    session: &Session,
    operations: ChangeOperations,
    input: Value,
    apply_command: &str,
) -> Result<Report, Problem> {
    let answer = session.call(operations.plan, input).await?;
    let planned: Planned = parse(&answer.output)?;
    show(session, &planned, Channel::Data);
    if !planned.plan.is_empty() {
        session
            .printer
            .data(&format!("confirm token: {}", planned.confirm_token));
        let valid = planned
            .confirm_token_expires_at
            .since(session.engine().now());
        session
            .printer
            .notice(&format!("The token works once, for {}.", duration(valid)));
        // Where policy asks and the yes of this user counts, the command that works says it.
        let asks = planned.policy.verdict == "ask" && planned.policy.caller_may_approve;
        let yes = if asks { " --yes" } else { "" };
        session
            .printer
            .hint(&format!("{apply_command} --token TOKEN{yes}"));
    }
    Ok(Report::new(summary(&planned.plan), answer.output))
}

/// How applying went.
pub(crate) enum Applied {
    /// Nothing was to be done, or the run goes on without this command.
    Early(Report),
    /// The run came to rest.
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

/// The same, leaving the conclusion to the caller. `beside` is a run whose events, from a place
/// on, belong to the story.
pub(crate) async fn apply_change(
    session: &Session,
    operations: ChangeOperations,
    input: Value,
    args: &ApplyArgs,
    beside: Option<(RunId, u64)>,
) -> Result<Applied, Problem> {
    let (token, yes) = match &args.token {
        Some(token) => (token.clone(), args.yes),
        None => {
            let answer = session.call(operations.plan, input.clone()).await?;
            let planned: Planned = parse(&answer.output)?;
            show(session, &planned, Channel::Notice);
            if planned.plan.is_empty() {
                return Ok(Applied::Early(Report::new(
                    summary(&planned.plan),
                    answer.output,
                )));
            }
            agree(session, &planned, args.yes).await?;
            (planned.confirm_token, true)
        }
    };
    let input = with_apply_fields(input, &token, yes, args.idempotency_key.as_deref())?;
    let answer = session.call(operations.apply, input).await?;
    let run_id = answer
        .run_id
        .ok_or_else(|| Problem::internal(operations.apply, "no run was started"))?;
    if args.detach {
        return Ok(Applied::Early(detached(session, &run_id, answer.output)));
    }
    let follow = Follow {
        run_id: &run_id,
        after_seq: 0,
        beside,
        channel: Channel::Notice,
    };
    let followed = follow.run(session).await?;
    Ok(Applied::Settled(Box::new(followed.run)))
}

/// Says that a run was started and what drives it.
pub(crate) fn detached(session: &Session, run_id: &RunId, output: Value) -> Report {
    session.printer.data(run_id.as_str());
    if session.engine().lease.holder().is_some() {
        session
            .printer
            .hint(&format!("windlass runs watch {run_id}"));
    } else {
        session
            .printer
            .notice("No process drives this home; the run waits for one.");
        session
            .printer
            .hint(&format!("windlass runs resume {run_id}"));
    }
    Report::new(format!("run {run_id} goes on by itself"), output)
}

async fn agree(session: &Session, planned: &Planned, yes: bool) -> Result<(), Problem> {
    if yes {
        return Ok(());
    }
    let count = planned.plan.changes.len();
    let noun = if count == 1 { "change" } else { "changes" };
    let question = match planned.plan.effect {
        EffectClass::Destructive => format!("Apply {count} {noun}, some of which remove things?"),
        EffectClass::Read | EffectClass::Write => format!("Apply {count} {noun}?"),
    };
    match confirm(session, &question).await? {
        Some(true) => Ok(()),
        Some(false) => Err(Problem::new(
            &code::CONFIRM_REQUIRED,
            "not confirmed; nothing was changed",
        )
        .next("repeat the command and answer y, or add --yes")),
        None => Err(Problem::new(
            &code::CONFIRM_REQUIRED,
            "the plan needs a yes, and there is no terminal to ask on; nothing was changed",
        )
        .with("plan_digest", planned.plan_digest.to_string())
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

fn parse(output: &Value) -> Result<Planned, Problem> {
    serde_json::from_value(output.clone()).map_err(|error| Problem::internal("plan answer", error))
}

fn show(session: &Session, planned: &Planned, channel: Channel) {
    let printer = &session.printer;
    let say = |text: &str| match channel {
        Channel::Data => printer.data(text),
        Channel::Notice => printer.notice(text),
    };
    if planned.plan.is_empty() {
        say(&summary(&planned.plan));
        return;
    }
    let mut table = Table::new(&["ACTION", "TARGET", "DETAIL"]);
    for change in &planned.plan.changes {
        let (tone, action) = action(change.action);
        table.toned_row([
            (tone, action.to_owned()),
            (Tone::Plain, change.target.clone()),
            (Tone::Dim, change.summary.clone()),
        ]);
    }
    match channel {
        Channel::Data => printer.table(&table),
        Channel::Notice => printer.notice_table(&table),
    }
    say(&summary(&planned.plan));
    say(&format!("policy: {}", verdict(&planned.policy)));
    say(&format!("plan digest: {}", planned.plan_digest));
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
    if plan.is_empty() {
        return format!("{} on {}: nothing to do", plan.operation, plan.target);
    }
    let words = [
        (ChangeAction::Create, "create"),
        (ChangeAction::Update, "update"),
        (ChangeAction::Delete, "delete"),
        (ChangeAction::Execute, "execute"),
    ];
    let parts: Vec<String> = words
        .into_iter()
        .map(|(action, word)| {
            (
                plan.changes
                    .iter()
                    .filter(|change| change.action == action)
                    .count(),
                word,
            )
        })
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} to {word}"))
        .collect();
    format!(
        "{} on {}: {}",
        plan.operation,
        plan.target,
        parts.join(", ")
    )
}

fn verdict(policy: &Policy) -> String {
    let approver = match (policy.verdict.as_str(), policy.caller_may_approve) {
        ("ask", true) => ", your yes counts".to_owned(),
        ("ask", false) => format!(", one of {} must approve", policy.approvers.join(", ")),
        _ => String::new(),
    };
    format!("{} ({}){approver}", policy.verdict, policy.rule)
}
