//! `runs.cancel`, `runs.approve`, `runs.reject`, `runs.resume`: signals to a run.

use std::{future::Future, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_engine::{
    Engine,
    operation::{CallContext, Operation, operation as define},
    run::{ApprovalDecision, RunView},
};
use windlass_types::{Digest, Problem, RunId};

use crate::TOOLSET;

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The run.
    run_id: RunId,
    /// Why, in a sentence; kept in the journal.
    #[serde(default)]
    #[schemars(length(max = 2000))]
    reason: Option<String>,
}

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AnswerInput {
    /// The run.
    run_id: RunId,
    /// The digest of the plan that was looked at; refused when the run waits for another.
    #[serde(default)]
    plan_digest: Option<Digest>,
    /// Why, in a sentence; kept in the journal.
    #[serde(default)]
    #[schemars(length(max = 2000))]
    reason: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The run, right after the signal; what it does about it follows.
    run: RunView,
    /// What to do next.
    next_actions: Vec<String>,
}

pub(crate) fn operations(engine: &Engine) -> Vec<Arc<dyn Operation>> {
    vec![
        cancel(engine),
        answer(engine, true),
        answer(engine, false),
        resume(engine),
    ]
}

fn cancel(engine: &Engine) -> Arc<dyn Operation> {
    let engine = engine.clone();
    define(TOOLSET, "cancel")
        .target("run_id")
        .describe("Cancel a run", "Asks a run to stop and undo what it did. The undo is journaled like everything else.")
        .found_by(&["stop it right now", "abort", "kill", "give up"])
        .signal()
        .judged_by_plan()
        .example("One run", json!({ "run_id": "run_0123456789abcdef0123456789abcdef", "reason": "wrong directory" }))
        .handle_run(move |context, input: Input| {
            let engine = engine.clone();
            steered(engine.clone(), context.clone(), input.run_id.clone(), async move {
                engine.cancel(&context.principal, &input.run_id, input.reason.as_deref()).await
            })
        })
}

fn answer(engine: &Engine, approved: bool) -> Arc<dyn Operation> {
    let engine = engine.clone();
    let (verb, title, words, found_by) = if approved {
        (
            "approve",
            "Approve a run",
            "Approves what a run waits for; records who and which plan.",
            ["say yes", "allow the pending change", "accept"],
        )
    } else {
        (
            "reject",
            "Reject a run",
            "Rejects what a run waits for; the run undoes what it did and fails.",
            ["say no", "refuse the pending change", "decline"],
        )
    };
    define(TOOLSET, verb)
        .target("run_id")
        .describe(title, words)
        .found_by(&found_by)
        .signal()
        .judged_by_plan()
        // Who may answer is decided by the run that asks.
        .confirmed_by_call()
        .answers_approval()
        .example(
            "The run's current plan",
            json!({ "run_id": "run_0123456789abcdef0123456789abcdef" }),
        )
        .handle_run(move |context, input: AnswerInput| {
            let engine = engine.clone();
            steered(
                engine.clone(),
                context.clone(),
                input.run_id.clone(),
                async move {
                    let decision = ApprovalDecision {
                        approved,
                        plan_digest: input.plan_digest,
                        reason: input.reason,
                    };
                    engine
                        .answer_approval(&context.principal, &input.run_id, decision)
                        .await
                },
            )
        })
}

fn resume(engine: &Engine) -> Arc<dyn Operation> {
    let engine = engine.clone();
    define(TOOLSET, "resume")
        .target("run_id")
        .describe("Resume a run", "Lets a held run try again. Runs cut off by a crash resume by themselves when a driver starts.")
        .found_by(&["retry", "it hangs", "stuck", "continue"])
        .signal()
        .judged_by_plan()
        .example("One run", json!({ "run_id": "run_0123456789abcdef0123456789abcdef" }))
        .handle_run(move |context, input: Input| {
            let engine = engine.clone();
            steered(engine.clone(), context.clone(), input.run_id.clone(), async move {
                engine.resume(&context.principal, &input.run_id).await.map(drop)
            })
        })
}

async fn steered(
    engine: Engine,
    context: CallContext,
    run_id: RunId,
    signal: impl Future<Output = Result<(), Problem>>,
) -> Result<(Output, Option<RunId>), Problem> {
    // What cannot work is refused now, not after an approver was asked.
    engine.visible_run(&context.principal, &run_id).await?;
    context.require_target(run_id.as_str())?;
    signal.await?;
    // Seen when the signal was given; an approver does not see the run after that.
    let record = match engine.store.run(&run_id).await? {
        Some(record) => record,
        None => engine.visible_run(&context.principal, &run_id).await?,
    };
    let run = RunView::from(record);
    let next_actions = vec![format!("windlass runs watch {run_id}")];
    Ok((Output { run, next_actions }, Some(run_id)))
}
