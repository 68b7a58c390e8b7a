//! LINKING → VALIDATING → READY_FOR_PR: every gate looks, each as a step of its own.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_engine::run::{RunError, Step};
use windlass_launch_model::{
    Issue, IssueStatus, LaunchState, Location, PagePlan, PatchBundle, PatchConflicts,
    ResolvedConfig, SectionState, Severity, ValidationReport, Worker, artifact,
    config::CiStrictness,
};
use windlass_launch_pages::{
    gates::{
        ArtifactFile, GateFault, GateInput, GateOutcome, ProductFiles, RefusedRewrite, Settings,
        SiteTree, Strictness, Subject, check_gate, gate_names, report, truth_lock_report,
    },
    registered_sentences,
};
use windlass_types::{ArtifactRef, Problem};

use super::{
    Launch, Tools,
    clone::{Inputs, blocking},
    record::{Item, counted},
};
use crate::{event, fault};

/// What a gate's step keeps.
#[derive(Debug, Serialize, Deserialize)]
struct Looked {
    outcome: GateOutcome,
    ms: u64,
}

/// What the gates look at, gathered when the first one does.
#[derive(Clone)]
pub(super) struct Sight {
    tools: Tools,
    site_sha: String,
    artifacts: BTreeMap<String, ArtifactRef>,
    edited: Vec<String>,
    refused_rewrites: Vec<RefusedRewrite>,
    gathered: Arc<Mutex<Option<GateInput>>>,
}

impl Launch<'_> {
    /// The first validation, which comes by itself.
    pub(super) async fn first_validation(&mut self, inputs: &Inputs) -> Result<(), RunError> {
        self.enter(LaunchState::Validating)?;
        self.commit().await?;
        match self.validate(inputs, &[]).await? {
            Ok(()) => self.settle_validation().await,
            // It waits until the tool is installed.
            Err(_missing) => Ok(()),
        }
    }

    /// A good report makes a run that is validating ready.
    pub(super) async fn settle_validation(&mut self) -> Result<(), RunError> {
        let ok = self.report.as_ref().is_some_and(|report| report.ok);
        if ok && self.state == LaunchState::Validating {
            self.enter(LaunchState::ReadyForPr)?;
            self.commit().await?;
            return self.flush_telemetry(None).await;
        }
        self.commit().await
    }

    /// Runs every gate. `Err` inside: a tool is missing, and there is no report.
    pub(super) async fn validate(
        &mut self,
        inputs: &Inputs,
        edited: &[String],
    ) -> Result<Result<(), Problem>, RunError> {
        let number = self.validations_begun() + 1;
        let scope = format!("validation-{number}");
        let item = Item {
            worker: Worker::Validator,
            scope: &scope,
            inputs: self.hashes(&["patch_bundle.json"])?,
            message: String::new(),
        };
        let first = gate_key(number, gate_names()[0]);
        let attempt = 1 + self.take_up(&first);
        let begun = self.begin(&item, attempt);
        self.commit().await?;
        let sight = Sight {
            edited: edited.to_vec(),
            ..Sight::of(self, inputs)
        };
        let mut outcomes = Vec::new();
        for gate in gate_names() {
            match self.gate(number, gate, &sight).await {
                Ok(outcome) => outcomes.push(outcome),
                Err(RunError::Failed(problem)) => {
                    self.give_up(&begun, &problem);
                    self.commit().await?;
                    return if problem.code().name == "TOOLCHAIN_MISSING" {
                        Ok(Err(problem))
                    } else {
                        Err(problem.into())
                    };
                }
                Err(other) => return Err(other),
            }
        }
        let report = self.keep_report(number, outcomes, sight).await?;
        self.follow_issues(&report);
        self.follow_sections(&report).await?;
        let outputs = json!({
            "ok": report.ok,
            "artifacts": ["truth_lock_report.json", "validation_report.json"],
        });
        let failing = report
            .issues
            .iter()
            .filter(|issue| issue.is_failing())
            .count();
        let message = if report.ok {
            "every gate passes".to_owned()
        } else {
            let verb = if failing == 1 { "stands" } else { "stand" };
            format!("{} {verb} in the way", counted(failing, "issue"))
        };
        self.finish(&begun, outputs, &message);
        self.report = Some(report);
        self.validations += 1;
        self.commit().await?;
        Ok(Ok(()))
    }

    /// How many validations were begun: those that ended without a report count too.
    fn validations_begun(&mut self) -> u32 {
        let begun = self.begun_validations;
        self.begun_validations += 1;
        begun
    }

    async fn gate(
        &mut self,
        number: u32,
        gate: &'static str,
        sight: &Sight,
    ) -> Result<GateOutcome, RunError> {
        let key = gate_key(number, gate);
        self.take_up(&key);
        let started = json!({ "gate": gate, "validation": number });
        self.queue(format!("begun:{key}"), event::GATE_RUN_STARTED, started);
        self.commit().await?;
        let looked: Looked = Step::pure(&key)
            .run(self.context, async |_| {
                let clock = sight.tools.engine.upgrade()?.clock.clone();
                let began = clock.now();
                let input = sight.gather().await?;
                let busy = sight.tools.folder.busy().await;
                let outcome = blocking(move || {
                    let _busy = busy;
                    check_gate(gate, &input).map_err(gate_problem)
                })
                .await?;
                let took = clock.now().as_millis() - began.as_millis();
                Ok(Looked {
                    outcome,
                    ms: u64::try_from(took).unwrap_or_default(),
                })
            })
            .await?;
        self.taken_up = self.context.resumptions(&key);
        self.worked_ms += looked.ms;
        let outcome = looked.outcome;
        let count = |severity: Severity| {
            let issues = outcome.issues.iter();
            issues.filter(|issue| issue.severity == severity).count()
        };
        let word = match (&outcome.result.reason, outcome.result.ok) {
            (Some(reason), _) => format!("skipped ({reason})"),
            (None, true) => "passed".to_owned(),
            (None, false) => "failed".to_owned(),
        };
        let data = json!({
            "gate": gate,
            "validation": number,
            "ok": outcome.result.ok,
            "skipped": outcome.result.skipped,
            "issues": {
                "blocker": count(Severity::Blocker),
                "error": count(Severity::Error),
                "warn": count(Severity::Warn),
                "info": count(Severity::Info),
            },
            "duration_ms": looked.ms,
            "message": format!("{gate}: {word}"),
        });
        self.queue(format!("ended:{key}"), event::GATE_RUN_FINISHED, data);
        Ok(outcome)
    }

    async fn keep_report(
        &mut self,
        number: u32,
        outcomes: Vec<GateOutcome>,
        sight: Sight,
    ) -> Result<ValidationReport, RunError> {
        let profile = self.tools.accepted.config().validation_profile;
        let key = format!("W7:report:{number}");
        self.take_up(&key);
        self.commit().await?;
        let (kept, report): (Vec<ArtifactRef>, ValidationReport) = Step::pure(&key)
            .run(self.context, async |_| {
                let mut outcomes = outcomes.clone();
                let mut kept = Vec::new();
                for outcome in &mut outcomes {
                    if let Some(log) = outcome.log.take() {
                        let name = format!("logs/{}.log", outcome.result.name);
                        kept.push(sight.tools.keep_text(&name, "text/plain", log).await?);
                        outcome.result.log_path = Some(name);
                    }
                }
                let conflicts: PatchConflicts = sight.json("patch_conflicts.json").await?;
                add_conflicts(&mut outcomes, &conflicts);
                let report = report(profile, outcomes, &sight.edited);
                let truth = truth_lock_report(&sight.gather().await?, &report);
                let tools = &sight.tools;
                kept.push(tools.keep_json("truth_lock_report.json", &truth).await?);
                kept.push(tools.keep_json("validation_report.json", &report).await?);
                Ok((kept, report))
            })
            .await?;
        self.taken_up = self.context.resumptions(&key);
        for artifact in &kept {
            self.index(artifact, Worker::Validator);
        }
        Ok(report)
    }

    /// Opens what is new and resolves what is gone.
    fn follow_issues(&mut self, report: &ValidationReport) {
        let now: BTreeMap<String, Issue> = report
            .open_issues()
            .map(|issue| (issue.issue_id.clone(), issue.clone()))
            .collect();
        let before = std::mem::replace(&mut self.open, now.clone());
        for id in before.keys().filter(|id| !now.contains_key(*id)) {
            self.transitions += 1;
            let key = format!("issue:{}:{id}", self.transitions);
            self.queue(key, event::ISSUE_RESOLVED, json!({ "issue_id": id }));
        }
        let mut opened: Vec<&Issue> = now
            .values()
            .filter(|issue| before.get(&issue.issue_id) != Some(issue))
            .collect();
        opened.sort_by(|a, b| a.fix_order(b));
        for issue in opened {
            self.transitions += 1;
            let key = format!("issue:{}:{}", self.transitions, issue.issue_id);
            let message = format!(
                "{} ({}): {}",
                issue.severity.as_str(),
                issue.gate,
                issue.title
            );
            let data = json!({ "issue": issue, "message": message });
            self.queue(key, event::ISSUE_OPENED, data);
        }
    }

    /// A section whose pages have no failing issue is done; one with an issue nobody can fix is
    /// blocked.
    async fn follow_sections(&mut self, report: &ValidationReport) -> Result<(), RunError> {
        let plan: PagePlan = self.load("page_plan.json").await?;
        let sections: Vec<_> = self.sections.keys().copied().collect();
        for section in sections {
            let state = self.sections.get(&section).copied().unwrap_or_default();
            if state < SectionState::MergedInWorktree || self.is_in_conflict(section, &plan).await?
            {
                continue;
            }
            let paths: BTreeSet<&str> = plan
                .pages
                .iter()
                .filter(|page| page.section == section)
                .map(|page| page.output_path.as_str())
                .collect();
            let failing: Vec<&Issue> = report
                .issues
                .iter()
                .filter(|issue| issue.is_failing() && paths.contains(issue.path()))
                .collect();
            let unfixable = |issue: &&Issue| issue.severity == Severity::Blocker && !issue.fixable;
            let next = if failing.is_empty() {
                SectionState::Done
            } else if failing.iter().any(unfixable) {
                SectionState::Blocked
            } else {
                SectionState::MergedInWorktree
            };
            self.section(section, next);
        }
        Ok(())
    }

    /// Whether one of a section's pages could not be patched in.
    async fn is_in_conflict(
        &self,
        section: windlass_launch_model::Section,
        plan: &PagePlan,
    ) -> Result<bool, Problem> {
        let conflicts: PatchConflicts = self.load("patch_conflicts.json").await?;
        Ok(plan
            .pages
            .iter()
            .filter(|page| page.section == section)
            .any(|page| {
                conflicts
                    .conflicts
                    .iter()
                    .any(|c| c.path == page.output_path)
            }))
    }
}

/// A page that could not be patched in stands in the way: it was planned, and it is not there.
fn add_conflicts(outcomes: &mut [GateOutcome], conflicts: &PatchConflicts) {
    const GATE: &str = "ContentDistribution";
    const CODE: &str = "GATE_DISTRIBUTION_PATCH_CONFLICT";
    let Some(outcome) = outcomes.iter_mut().find(|one| one.result.name == GATE) else {
        return;
    };
    for conflict in &conflicts.conflicts {
        let message = format!(
            "{} could not be patched in: expected {}, found {}.",
            conflict.path, conflict.expected_state, conflict.actual_state
        );
        outcome.result.ok = false;
        outcome.issues.push(Issue {
            issue_id: Issue::id(GATE, CODE, &conflict.path, &conflict.actual_state, 0),
            gate: GATE.to_owned(),
            severity: Severity::Blocker,
            title: "A planned page could not be patched in".to_owned(),
            message,
            status: IssueStatus::Open,
            error_code: Some(CODE.to_owned()),
            files: vec![conflict.path.clone()],
            location: Some(Location {
                path: conflict.path.clone(),
                line: None,
            }),
            occurrences: Vec::new(),
            suggested_fix: None,
            fixable: false,
        });
    }
}

fn gate_key(number: u32, gate: &str) -> String {
    format!("gate:{number}:{gate}")
}

fn gate_problem(gate_fault: GateFault) -> Problem {
    match &gate_fault {
        GateFault::ToolchainMissing(missing) => fault::toolchain_missing(missing),
        // The engine waits for what is short and repeats the step; the run does not fail.
        GateFault::Short { shortage, .. } => shortage.note(Problem::internal("gate", gate_fault)),
        other => Problem::internal("gate", other),
    }
}

impl Sight {
    /// Everything the gates look at; the same for all of one validation.
    pub(super) async fn gather(&self) -> Result<GateInput, Problem> {
        let lock = || self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(input) = &*lock() {
            return Ok(input.clone());
        }
        let input = self.read().await?;
        Ok(lock().get_or_insert(input).clone())
    }

    fn artifact(&self, name: &str) -> Result<&ArtifactRef, Problem> {
        let found = self.artifacts.get(name);
        found.ok_or_else(|| Problem::internal("launch", format!("{name} is not there")))
    }

    async fn json<T: serde::de::DeserializeOwned>(&self, name: &str) -> Result<T, Problem> {
        self.tools.read_json(self.artifact(name)?).await
    }

    async fn read(&self) -> Result<GateInput, Problem> {
        let tools = &self.tools;
        let config = tools.accepted.config();
        let bundle: PatchBundle = self.json("patch_bundle.json").await?;
        let resolved: ResolvedConfig = self.json("resolved_config.json").await?;
        let mut artifacts = Vec::new();
        for (name, stored) in &self.artifacts {
            if let Some(schema) = artifact::schema_of(name) {
                artifacts.push(ArtifactFile {
                    name: name.clone(),
                    bytes: tools.read(stored).await?,
                    schema: schema.clone(),
                });
            }
        }
        let busy = tools.folder.busy().await;
        let (own, at) = (tools.clone(), self.site_sha.clone());
        let (site, changed) = blocking(move || {
            let _busy = busy;
            let worktree = own.worktree(&at, &bundle)?;
            own.folder.clear_rendered();
            let site = SiteTree::load(&own.folder.site())
                .map_err(|error| Problem::internal("site worktree", error))?;
            Ok((site, worktree.before.clone()))
        })
        .await?;
        let hugo_out = tools.folder.fresh_rendered();
        Ok(GateInput::new(Subject {
            profile: config.validation_profile,
            strictness: match config.ci_strictness {
                CiStrictness::Relaxed => Strictness::Relaxed,
                CiStrictness::Strict => Strictness::Strict,
            },
            settings: Settings {
                required_sections: resolved.required_sections.clone(),
                canonical_urls: config.canonical_urls.by_name(),
                allow_inference: config.allow_inference,
                skip_hugo_config: !config.hugo.use_config_gate,
                hugo_version: None,
                hugo_config_dir: config.hugo.config_dir.clone(),
                // The settings may have changed since the run was started.
                hugo_exec_allow: config
                    .hugo
                    .exec_allow
                    .iter()
                    .filter(|named| tools.outside.may_start(named))
                    .cloned()
                    .collect(),
                hugo_http_allow: config.hugo.http_allow.clone(),
                hugo_module_proxy: config.hugo.module_proxy.clone(),
                token_values: BTreeMap::from([
                    ("product_name".to_owned(), config.product_name.clone()),
                    ("product_slug".to_owned(), config.product_slug.clone()),
                    ("family".to_owned(), config.family.clone()),
                ]),
            },
            site_dir: tools.folder.site(),
            hugo_out,
            site,
            changed,
            refused_rewrites: self.refused_rewrites.clone(),
            manual_edited_files: self.edited.clone(),
            context: self.json("site_context.json").await?,
            contract: self.json("frontmatter_contract.json").await?,
            facts: self.json("product_facts.json").await?,
            evidence: self.json("evidence_map.json").await?,
            snippets: self.json("snippet_catalog.json").await?,
            plan: self.json("page_plan.json").await?,
            artifacts,
            registered: registered_sentences().clone(),
            toolchain: Arc::clone(&tools.outside.toolchain),
            links: (tools.outside.links)(config.allowed_hosts()),
            product: Arc::new(Product(tools.folder.product())),
        }))
    }

    /// What the fixers work on: the same as the gates.
    pub(super) fn of(launch: &Launch<'_>, inputs: &Inputs) -> Self {
        Self {
            tools: launch.tools.clone(),
            site_sha: inputs.site_sha.clone(),
            artifacts: launch.artifacts.clone(),
            edited: Vec::new(),
            refused_rewrites: launch.refused_rewrites.clone(),
            gathered: Arc::default(),
        }
    }
}

/// The product's files at the recorded commit, beneath their folder.
struct Product(std::path::PathBuf);

impl ProductFiles for Product {
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        let mut file = self.0.clone();
        for part in path.split('/') {
            // As git lists it: any name, such as one with a line break, but no way out.
            if matches!(part, "" | "." | "..") || part.contains('\0') {
                return None;
            }
            file.push(part);
            // A link could lead anywhere.
            if fs_err::symlink_metadata(&file).ok()?.is_symlink() {
                return None;
            }
        }
        fs_err::read(file).ok()
    }
}
