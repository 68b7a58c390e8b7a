//! One change of a stack: its change set made, proved to be the confirmed one, executed, followed.
//!
//! The same for a deployment of the config and for going back to an earlier version.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_engine::run::{Entry, RunContext, RunError, Step};
use windlass_ports::aws::TemplateStage;
use windlass_stack_lifecycle::assets::{AssetStore, TemplatePlace, place_template};
use windlass_stack_lifecycle::change_set;
use windlass_stack_lifecycle::execute::{self, Begun, Cancelled, ExecuteIntent, OnFailure};
use windlass_stack_lifecycle::follow::Trail;
use windlass_stack_lifecycle::plan::Plan;
use windlass_stack_lifecycle::preview::{self, PreviewIntent, planned};
use windlass_stack_lifecycle::situation::Situation;
use windlass_stack_lifecycle::{Access, Fault, FaultKind, Proposal, policy};
use windlass_types::{ArtifactRef, Problem, RunId, Timestamp, code};

use super::{Job, PLAN, follow, recreate, report};
use crate::desk::Desk;
use crate::fault;

/// How long CloudFormation may take to make a change set, and AWS to answer single calls.
const CALL_TIME: Duration = Duration::from_secs(300);

/// A change set that stands ready.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Ready {
    intent: ExecuteIntent,
    /// How it is thrown away again.
    cleaning: PreviewIntent,
    plan: ArtifactRef,
}

/// What is changed, and how.
pub(super) struct Change<'a> {
    pub desk: &'a Desk,
    pub job: &'a Job,
    /// The proposal, kept.
    pub proposal: Proposal,
    pub store: AssetStore,
    pub on_failure: OnFailure,
    /// The confirmed plan of a stack that is created again; its failed one is gone.
    pub recreated: Option<Plan>,
}

/// What came of it.
pub(super) enum Changed {
    /// There was nothing to change.
    Nothing { plan: Plan, stack_id: String },
    /// CloudFormation is through with it, well or not.
    Ended { plan: Plan, trail: Box<Trail> },
}

impl Change<'_> {
    /// Makes the change.
    pub async fn make(&self, context: &dyn RunContext) -> Result<Changed, RunError> {
        let ready = self.change_set(context).await?;
        let plan: Plan = self.desk.load(&ready.plan).await?;
        context
            .record(vec![Entry::Artifact(ready.plan.clone())])
            .await?;
        // Also where nothing is left to change: something else was confirmed.
        self.prove(context, &plan).await?;
        let plan = self.recreated.clone().unwrap_or(plan);
        if plan.no_changes {
            self.discard(context, &ready).await?;
            let stack_id = ready.intent.stack_id;
            return Ok(Changed::Nothing { plan, stack_id });
        }
        self.gate(context, &plan)?;
        if plan.loses_data() {
            self.lift(context, &ready, &plan).await?;
        }
        let begun = self.execute(context, &ready).await?;
        if begun == Begun::Replan {
            return Err(Problem::new(
                &code::CONFIRM_REQUIRED,
                format!(
                    "the change set of {} is gone: the stack was changed in the meantime",
                    plan.stack_name
                ),
            )
            .with("reason", "plan_changed")
            .with("stackName", plan.stack_name.as_str())
            .next("preview again and repeat with the new confirmToken")
            .into());
        }
        let access = self.access();
        let trail = follow::follow(context, self.desk, &access, ready.intent.trail()).await?;
        let trail = Box::new(trail);
        Ok(Changed::Ended { plan, trail })
    }

    fn access(&self) -> Access {
        self.desk.access(self.job.place.target())
    }

    async fn change_set(&self, context: &dyn RunContext) -> Result<Ready, RunError> {
        let message = "Making the change set";
        report::progress(context, "deploying", message, Some(0)).await?;
        let (access, undo_access) = (self.access(), self.access());
        Step::effect("change-set", self.proposal.stack_name.as_str())
            .undo(move |ready: Ready| {
                let access = undo_access.clone();
                // One that was executed is gone, and cleaning leaves a stack with resources alone.
                async move {
                    let deadline = access.clock.now().after(CALL_TIME);
                    preview::clean(&access, &ready.cleaning, deadline)
                        .await
                        .map_err(fault::problem)
                }
            })
            .run(context, async |_| {
                self.make_ready(&access, context.run_id().as_str()).await
            })
            .await
    }

    async fn make_ready(&self, access: &Access, run_id: &str) -> Result<Ready, Problem> {
        let (desk, proposal, store) = (self.desk, &self.proposal, &self.store);
        let deadline = access.clock.now().after(CALL_TIME);
        let stack = &proposal.stack_name;
        let situation = Situation::find(access, stack)
            .await
            .map_err(fault::problem)?;
        // Refused before anything is made, so there is nothing to clean up.
        situation
            .require_deployable(access)
            .await
            .map_err(fault::problem)?;
        let name = change_set::name("deploy", run_id);
        let cleaning = preview::intend(&situation, &name);
        let made = async {
            let template = match place_template(access, store, proposal).await? {
                TemplatePlace::At(template) => template,
                TemplatePlace::Nowhere => {
                    let message = "the asset store was not made";
                    return Err(Fault::new(
                        FaultKind::Internal,
                        "asset_store_missing",
                        message,
                    ));
                }
            };
            let kind = situation.kind();
            let made = change_set::make(access, proposal, &name, kind, &template, deadline).await?;
            let plan = planned(access, proposal, &situation, &made, &desk.engine.redactor).await?;
            let intent =
                execute::intend(access, made.set(), &plan, run_id, self.on_failure).await?;
            Ok((plan, intent))
        };
        match made.await {
            Ok((plan, intent)) => Ok(Ready {
                intent,
                cleaning,
                plan: desk.keep(PLAN, &plan).await?,
            }),
            Err(fault) => Err(tidied(access, &cleaning, deadline, fault::problem(fault)).await),
        }
    }

    /// Only what was confirmed.
    async fn prove(&self, context: &dyn RunContext, plan: &Plan) -> Result<(), RunError> {
        if let Some(recreated) = &self.recreated {
            return recreated
                .prove_fulfilled(plan, &self.proposal.template)
                .map_err(|fault| with_plan(fault::problem(fault), context, plan).into());
        }
        if let Some(confirmed) = &self.job.confirmed {
            let seen = confirmed_plan(self.desk, &confirmed.run_id).await?;
            if let Err(fault) = plan.prove_equal(&seen) {
                return Err(with_plan(fault::problem(fault), context, plan).into());
            }
        }
        Ok(())
    }

    /// No loss without an explicit yes to it.
    fn gate(&self, context: &dyn RunContext, plan: &Plan) -> Result<(), RunError> {
        let is_confirmed = self.job.confirm && self.job.confirmed.is_some();
        if plan.needs_confirm() && !is_confirmed {
            return Err(with_plan(unconfirmed(plan), context, plan).into());
        }
        Ok(())
    }

    async fn lift(
        &self,
        context: &dyn RunContext,
        ready: &Ready,
        plan: &Plan,
    ) -> Result<bool, RunError> {
        let access = self.access();
        let (undo_access, undo_stack) = (self.access(), ready.intent.stack_id.clone());
        Step::effect("lift-protection", self.proposal.stack_name.as_str())
            .undo(move |_: bool| {
                let (access, stack_id) = (undo_access.clone(), undo_stack.clone());
                async move { protect_again(&access, &stack_id).await }
            })
            .run(context, async |_| {
                policy::lift(&access, &ready.intent.stack_id, &plan.changes)
                    .await
                    .map_err(fault::problem)
            })
            .await
    }

    async fn execute(&self, context: &dyn RunContext, ready: &Ready) -> Result<Begun, RunError> {
        let access = self.access();
        let (undo_access, undo_intent) = (self.access(), ready.intent.clone());
        Step::effect("execute", self.proposal.stack_name.as_str())
            .input(&ready.intent)
            .undo(move |_: Begun| {
                let (access, intent) = (undo_access.clone(), undo_intent.clone());
                async move { take_back(&access, &intent).await }
            })
            .run(context, async |_| {
                let deadline = access.clock.now().after(CALL_TIME);
                execute::begin(&access, &ready.intent, deadline)
                    .await
                    .map_err(fault::problem)
            })
            .await
    }

    async fn discard(&self, context: &dyn RunContext, ready: &Ready) -> Result<(), RunError> {
        let access = self.access();
        let _: bool = Step::effect("discard", self.proposal.stack_name.as_str())
            .undo(|_: bool| async { Ok(()) })
            .run(context, async |_| {
                let deadline = access.clock.now().after(CALL_TIME);
                preview::clean(&access, &ready.cleaning, deadline)
                    .await
                    .map_err(fault::problem)?;
                Ok(true)
            })
            .await?;
        Ok(())
    }
}

/// The plan that a run made and that its token confirms.
pub(crate) async fn confirmed_plan(desk: &Desk, run_id: &RunId) -> Result<Plan, Problem> {
    let artifacts = desk.engine.store.artifacts(run_id).await?;
    let kept = artifacts.iter().find(|artifact| artifact.name == PLAN);
    match kept {
        Some(kept) => desk.load(kept).await,
        None => Err(Problem::internal("stack", "the confirmed plan is not kept")),
    }
}

/// The refusal of a plan that nobody said an explicit yes to.
pub(crate) fn unconfirmed(plan: &Plan) -> Problem {
    if plan.recreate.is_some() {
        return recreate::stuck(plan);
    }
    let lost = plan.stateful().iter().filter(|it| it.needs_confirm).count();
    Problem::new(
        &code::CONFIRM_REQUIRED,
        format!(
            "{} would lose the data of {lost} {}",
            plan.stack_name,
            if lost == 1 { "resource" } else { "resources" }
        ),
    )
    .with("reason", "stateful_loss")
    .next("show the plan to the user; repeat with confirm=true and this confirmToken")
}

/// The failure, after what was half made is thrown away.
async fn tidied(
    access: &Access,
    cleaning: &PreviewIntent,
    deadline: Timestamp,
    problem: Problem,
) -> Problem {
    match preview::clean(access, cleaning, deadline).await {
        Ok(()) => problem,
        Err(fault) => problem.with("cleaningFailed", fault.message),
    }
}

/// Undoing a lifted protection: the databases of the deployed template are protected again.
async fn protect_again(access: &Access, stack_id: &str) -> Result<(), Problem> {
    let is_running = execute::is_running(access, stack_id).await;
    if is_running.map_err(fault::problem)? {
        return Err(Problem::new(
            &code::ILLEGAL_STATE,
            format!(
                "{stack_id} is being changed; its databases are not protected until the next deploy"
            ),
        )
        .with("stackId", stack_id)
        .next("deploy again once the stack has settled"));
    }
    let template = access
        .cloud
        .get_template(&access.target, stack_id, TemplateStage::Original)
        .await
        .map_err(|failure| fault::problem(failure.into()))?;
    let template: Value = serde_json::from_str(&template)
        .map_err(|error| Problem::internal("deployed template", error))?;
    policy::protect(access, stack_id, &policy::databases(&template))
        .await
        .map_err(fault::problem)
}

/// Undoing an execution: an update under way is cancelled; what has ended stays as it is.
async fn take_back(access: &Access, intent: &ExecuteIntent) -> Result<(), Problem> {
    let cancelled = execute::cancel(access, intent)
        .await
        .map_err(fault::problem)?;
    match cancelled {
        Cancelled::Requested => Ok(()),
        Cancelled::TooLate { status } if status.contains("ROLLBACK") => Ok(()),
        Cancelled::TooLate { status } => Err(Problem::new(
            &code::ILLEGAL_STATE,
            format!("the stack is {status}; what was deployed stays"),
        )
        .with("stackStatus", status)
        .next("windlass stack rollback deploys an earlier version")),
    }
}

/// The problem with the plan it is about, for the caller to confirm.
pub(super) fn with_plan(problem: Problem, context: &dyn RunContext, plan: &Plan) -> Problem {
    about(problem, plan).with("planRunId", context.run_id().as_str())
}

/// The problem with what a plan would do.
pub(crate) fn about(problem: Problem, plan: &Plan) -> Problem {
    let members: [(&str, Value); 5] = [
        ("stackName", json!(plan.stack_name)),
        ("planDigest", json!(plan.digest().to_string())),
        ("resourceChanges", json!(plan.changes)),
        ("counts", json!(plan.counts())),
        ("statefulChanges", json!(plan.stateful())),
    ];
    members
        .into_iter()
        .fold(problem, |problem, (key, value)| problem.with(key, value))
}
