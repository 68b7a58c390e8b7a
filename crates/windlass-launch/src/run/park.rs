//! A run with nothing left to do by itself waits to be told: validate, fix, go on, open the pull
//! request. Tools ask by a signal; the answer is an event they wait for.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_engine::run::{
    GateOutcome, GateRequest, RunError, SIGNAL_APPROVAL, WaitRequest, ask_gate,
};
use windlass_launch_model::{LaunchState, PatchBundle, Profile, Worker};
use windlass_policy::WithoutRule;
use windlass_types::{Digest, EffectClass, Principal, Problem, journal::ChangeSubject};

use super::{
    Launch,
    clone::{Inputs, blocking},
    record::{Done, Item},
};
use crate::{
    event,
    fault::{self, Exhausted},
    view,
};

/// What a parked run can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Action {
    Validate,
    FixNext,
    Resume,
    OpenPr,
}

impl Action {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Validate => "validate",
            Self::FixNext => "fix_next",
            Self::Resume => "resume",
            Self::OpenPr => "open_pr",
        }
    }

    /// The tool that asks for it.
    pub(crate) const fn tool(self) -> &'static str {
        match self {
            Self::Validate => "launch_validate",
            Self::FixNext => "launch_fix_next",
            Self::Resume => "launch_resume",
            Self::OpenPr => "launch_open_pr",
        }
    }
}

/// One request, and how much of the run its sender had seen. A request that was sent before
/// something of its kind ended is answered with that: nothing is done twice for two callers who
/// asked at the same time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(crate) action: Action,
    pub(crate) call_id: String,
    pub(crate) seen_validations: u32,
    pub(crate) seen_fixes: u32,
}

/// Why something asked for was not done.
enum Refused {
    /// The run goes on waiting.
    Stays(Problem),
    /// The run is over, or suspended.
    Ends(RunError),
}

impl From<RunError> for Refused {
    fn from(error: RunError) -> Self {
        Self::Ends(error)
    }
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self::Ends(problem.into())
    }
}

impl Launch<'_> {
    /// Waits and does what it is told, until the pull request is open.
    pub(super) async fn park(&mut self, inputs: &Inputs) -> Result<(), RunError> {
        let mut turn = 0_u32;
        while self.state != LaunchState::Done {
            turn += 1;
            let name = format!("turn {turn}");
            let signal = self.context.wait_for(self.wait(&name, inputs)?).await?;
            self.taken_up = self.context.resumptions(&name);
            let Some(signal) = signal else { continue };
            if signal.name == SIGNAL_APPROVAL {
                let digest = self.plan_digest(inputs)?;
                let approved = signal.require_approval().is_ok();
                self.approved = approved.then_some(digest);
                let data = json!({
                    "approved": approved,
                    "principal": signal.principal.id(),
                    "plan_digest": digest,
                });
                self.queue(format!("approval:{turn}"), event::PR_APPROVED, data);
                self.commit().await?;
                continue;
            }
            // A signal that is not understood was not sent by a tool of ours.
            let Ok(asked) = serde_json::from_value::<Asked>(signal.payload) else {
                continue;
            };
            let outcome = self.act(&asked, signal.principal, inputs, turn).await;
            let (action, call_id) = (asked.action.as_str(), asked.call_id.as_str());
            let key = format!("answer:{turn}");
            match outcome {
                Ok(result) => {
                    let data = json!({ "action": action, "call_id": call_id, "result": result });
                    self.queue(key, event::ACTION_FINISHED, data);
                    self.commit().await?;
                }
                Err(Refused::Stays(problem) | Refused::Ends(RunError::Failed(problem)))
                    if !ends(&problem) =>
                {
                    let data = json!({ "action": action, "call_id": call_id, "problem": problem });
                    self.queue(key, event::ACTION_FINISHED, data);
                    self.commit().await?;
                }
                Err(Refused::Stays(problem) | Refused::Ends(RunError::Failed(problem))) => {
                    let data = json!({ "action": action, "call_id": call_id, "problem": problem });
                    self.queue(key, event::ACTION_FINISHED, data);
                    return Err(problem.into());
                }
                Err(Refused::Ends(other)) => return Err(other),
            }
        }
        Ok(())
    }

    /// What is waited for: an action, and an approval as well where one is wanted.
    fn wait(&self, name: &str, inputs: &Inputs) -> Result<WaitRequest, Problem> {
        let ready = self.state == LaunchState::ReadyForPr && self.report_ok();
        let profile = self.tools.accepted.config().validation_profile;
        if !ready || !(self.terms.is_some() || profile == Profile::Prod) {
            return Ok(WaitRequest::new(name, event::ACTION_SIGNAL));
        }
        let digest = self.plan_digest(inputs)?;
        if self.approved == Some(digest) {
            return Ok(WaitRequest::new(name, event::ACTION_SIGNAL));
        }
        Ok(WaitRequest {
            also: Some(event::ACTION_SIGNAL.to_owned()),
            question: Some(format!("open the pull request {digest}")),
            prompt: Some(format!(
                "Open the pull request of {}? diff_report.md shows what it changes.",
                self.tools.accepted.config().product_name,
            )),
            plan_digest: Some(digest),
            terms: self.terms.clone().unwrap_or_default(),
            ..WaitRequest::new(name, SIGNAL_APPROVAL)
        })
    }

    pub(super) fn report_ok(&self) -> bool {
        self.report.as_ref().is_some_and(|report| report.ok)
    }

    /// What an approval approves: the patches, what they change, and what they stand on.
    pub(super) fn plan_digest(&self, inputs: &Inputs) -> Result<Digest, Problem> {
        Ok(Digest::of_json(&json!({
            "patch_bundle": self.artifact("patch_bundle.json")?.sha256,
            "diff_report": self.artifact("diff_report.md")?.sha256,
            "base_ref": inputs.site_sha,
        })))
    }

    async fn act(
        &mut self,
        asked: &Asked,
        asker: Principal,
        inputs: &Inputs,
        turn: u32,
    ) -> Result<Value, Refused> {
        match asked.action {
            Action::Validate => {
                if asked.seen_validations == self.validations {
                    self.validate_again(inputs, turn).await?;
                }
                Ok(json!({ "report": self.artifact("validation_report.json")?.sha256 }))
            }
            Action::FixNext => {
                if asked.seen_fixes as usize == self.fixes.len() {
                    self.fix_next(inputs).await?;
                }
                let Some(last) = self.fixes.last() else {
                    return Err(self.illegal("no_attempt", "no fix was attempted"));
                };
                let blockers = self.report.as_ref().map(|report| report.open_blockers());
                Ok(json!({
                    "fixed_issue_id": last.issue_id,
                    "applied_patch_ids": last.patch_ids,
                    "remaining_blockers": blockers.unwrap_or_default(),
                    "report": self.artifact("validation_report.json")?.sha256,
                }))
            }
            Action::Resume => {
                self.go_on(inputs, turn).await?;
                Ok(json!({}))
            }
            Action::OpenPr => {
                if self.pr.is_none() {
                    self.open_pr(asker, inputs, turn).await?;
                }
                Ok(json!(self.pr))
            }
        }
    }

    /// Asks the gate whether the pull request may be opened for this caller.
    async fn judge(
        &self,
        asker: Principal,
        plan_digest: Digest,
        turn: u32,
    ) -> Result<GateOutcome, RunError> {
        let config = self.tools.accepted.config();
        let run_id = self.context.run_id();
        let repositories = [config.github_repo_url.clone(), config.site_repo_url.clone()];
        let request = GateRequest {
            name: format!("gate:{turn}"),
            subject: ChangeSubject {
                operation: "launch.open_pr".to_owned(),
                targets: view::targets(run_id, &config.product_slug, &repositories),
                effect: EffectClass::Write,
                lines: vec![format!("> open a pull request in {}", config.site_repo_url)],
                yes: true,
            },
            principal: Some(asker),
            plan_digest,
            // In production the call is not enough: a second look is the point of the profile.
            without_rule: match config.validation_profile {
                Profile::Prod => WithoutRule::Ask,
                _ => WithoutRule::ConfirmedByCall,
            },
        };
        ask_gate(self.context, &self.tools.engine, &request).await
    }

    fn illegal(&self, reason: &str, message: &str) -> Refused {
        Refused::Stays(fault::illegal_state(
            self.context.run_id(),
            self.state,
            &[LaunchState::Validating],
            reason,
            message,
        ))
    }

    async fn validate_again(&mut self, inputs: &Inputs, turn: u32) -> Result<(), Refused> {
        let edited = self.take_edits(inputs, turn).await?;
        // What was not taken in is not part of the launch, and is not judged.
        self.tools.folder.distrust();
        match self.validate(inputs, &edited).await? {
            Ok(()) => Ok(self.settle_validation().await?),
            Err(missing) => Err(Refused::Stays(missing)),
        }
    }

    /// What a person has edited in the worktree becomes part of the bundle.
    async fn take_edits(&mut self, inputs: &Inputs, turn: u32) -> Result<Vec<String>, RunError> {
        if !self.tools.accepted.config().allow_manual_edits {
            return Ok(Vec::new());
        }
        let bundle = self.artifact("patch_bundle.json")?;
        let scope = format!("edits-{turn}");
        let item = Item {
            worker: Worker::Linker,
            scope: &scope,
            inputs: json!({ "patch_bundle.json": bundle.sha256 }),
            message: "edits by hand are taken in".to_owned(),
        };
        let (tools, site_sha) = (self.tools.clone(), &inputs.site_sha);
        let edited = self
            .work(item, async |_| {
                let mut bundle: PatchBundle = tools.read_json(&bundle).await?;
                let busy = tools.folder.busy().await;
                let (own, at, before) = (tools.clone(), site_sha.clone(), bundle.clone());
                let patches = blocking(move || {
                    let _busy = busy;
                    own.edits(&at, &before)
                })
                .await?;
                if patches.is_empty() {
                    return Ok(Done::new(Vec::new(), Vec::new()));
                }
                let files: Vec<String> = patches.iter().map(|p| p.path.clone()).collect();
                bundle.patches.extend(patches);
                Ok(Done::new(
                    tools.keep_bundle(site_sha, &bundle).await?,
                    files,
                ))
            })
            .await?;
        self.commit().await?;
        Ok(edited)
    }

    async fn fix_next(&mut self, inputs: &Inputs) -> Result<(), Refused> {
        if self.state != LaunchState::Validating || self.report.is_none() {
            return Err(self.illegal("not_validating", "the run is not waiting to be fixed"));
        }
        if self.report_ok() {
            return Err(self.illegal("report_ok", "there is nothing to fix"));
        }
        match self.next_to_fix() {
            Ok(issue) => match self.fix(issue, inputs).await? {
                Ok(()) => Ok(()),
                Err(missing) => Err(Refused::Stays(missing)),
            },
            Err(reason) => Err(self.exhausted(reason)),
        }
    }

    fn exhausted(&self, reason: Exhausted) -> Refused {
        let problem = fault::fix_exhausted(reason, &self.failing_issues())
            .with("run_id", self.context.run_id().as_str());
        let waits_for_a_person =
            reason == Exhausted::NoFixableIssue && self.tools.accepted.config().allow_manual_edits;
        if waits_for_a_person {
            // Marked, so that the run is not taken for failed.
            Refused::Stays(problem.with("waits", true))
        } else {
            Refused::Ends(problem.into())
        }
    }

    /// On to where the run may rest: fixes what can be fixed, validates what was not.
    async fn go_on(&mut self, inputs: &Inputs, turn: u32) -> Result<(), Refused> {
        if self.state == LaunchState::ReadyForPr {
            if self.report_ok() {
                return Ok(());
            }
            // A later look found something: back to where the pages are linked.
            let rest = LaunchState::DraftReady;
            let data = json!({
                "from_state": self.state,
                "to_state": rest,
                "reason": "the last report is not ok",
            });
            self.queue(format!("rewind:turn:{turn}"), event::RESUME_REWIND, data);
            self.state = rest;
            self.enter(LaunchState::Linking)?;
            self.enter(LaunchState::Validating)?;
            self.commit().await?;
        }
        if self.report.is_none() {
            self.validate_again(inputs, turn).await?;
        }
        while self.state == LaunchState::Validating && !self.report_ok() {
            self.fix_next(inputs).await?;
        }
        Ok(())
    }

    async fn open_pr(
        &mut self,
        asker: Principal,
        inputs: &Inputs,
        turn: u32,
    ) -> Result<(), Refused> {
        let required = [LaunchState::ReadyForPr];
        let refuse = |state, reason, message: String| {
            let run_id = self.context.run_id();
            fault::illegal_state(run_id, state, &required, reason, message)
        };
        if self.state != LaunchState::ReadyForPr {
            let message = format!("the run is {}", self.state.as_str());
            return Err(Refused::Stays(refuse(self.state, "not_ready", message)));
        }
        if !self.report_ok() {
            let message = "the last validation found something".to_owned();
            return Err(Refused::Stays(refuse(self.state, "report_not_ok", message)));
        }
        let digest = self.plan_digest(inputs)?;
        if self.approved != Some(digest)
            && let GateOutcome::Wanted { terms, .. } = self.judge(asker, digest, turn).await?
        {
            let run_id = self.context.run_id();
            let message = format!(
                "this pull request needs an approval by {} first (plan {})",
                terms.approvers.join(" or "),
                digest.short()
            );
            let problem = refuse(self.state, "approval_required", message)
                .with("plan_digest", digest.to_string())
                .next(format!("windlass runs approve {run_id}"));
            self.terms = Some(terms);
            return Err(Refused::Stays(problem));
        }
        match self.pull_request(inputs).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(problem)) => Err(Refused::Stays(problem)),
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether a problem ends the run: everything but what a person or a service can still fix.
fn ends(problem: &Problem) -> bool {
    let stays = [
        "ILLEGAL_STATE",
        "TOOLCHAIN_MISSING",
        "COMMIT_SERVICE_ERROR",
        "POLICY_DENIED",
        "APPROVAL_REQUIRED",
    ];
    !stays.contains(&problem.code().name) && !problem.details().contains_key("waits")
}
