//! READY_FOR_PR → PR_OPENED → DONE: the commit and the pull request.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_engine::run::{RunError, Step};
use windlass_launch_model::{
    EvidenceMap, LaunchState, PagePlan, PatchBundle, PrPlan, PrRecord, ProductFacts,
    ValidationReport, Worker,
    config::{CommitAdapter, fill},
    ids,
    pr::ValidationSummary,
    repo_url::{RepoUrl, Scheme, web_host},
};
use windlass_launch_pages::{PrBodyInput, gates::SiteTree, pr_body};
use windlass_ports::{
    CommitService,
    commit_service::{
        CommitRequest, FileChange, OpenedPull, PullRequest, ServiceAddress, ServiceKind,
    },
    git::Author,
};
use windlass_types::{Digest, Problem, RunId, Timestamp, code};

use super::{
    Launch, Tools,
    clone::{Inputs, address, blocking},
    record::{Item, counted},
    telemetry::Ending,
};
use crate::{event, fault, uuid::uuid_of, view::OpenedPr};

/// Everything the two calls need, put together once.
#[derive(Clone)]
struct Publication {
    tools: Tools,
    run_id: RunId,
    created_at: Timestamp,
    branch: String,
    digest: Digest,
    site_sha: String,
    site_branch: Option<String>,
    /// Where the site's branch is by now, when that is elsewhere.
    moved_to: Option<String>,
}

/// What a look at the site's branch found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct SiteNow {
    /// Its commit, where that is another.
    moved_to: Option<String>,
    /// Files of the pull request that changed on the way there.
    both_changed: Vec<String>,
}

/// A pull request as the journal keeps it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Pull {
    commit_sha: String,
    pr_url: String,
    pr_number: Option<u64>,
}

impl Launch<'_> {
    /// Opens the pull request. `Err` inside: the service did not, and may be asked again.
    pub(super) async fn pull_request(
        &mut self,
        inputs: &Inputs,
    ) -> Result<Result<(), Problem>, RunError> {
        self.pr_attempts += 1;
        let scope = format!("pull-request-{}", self.pr_attempts);
        let digest = self.plan_digest(inputs)?;
        let config = self.tools.accepted.config();
        let mut publication = Publication {
            tools: self.tools.clone(),
            run_id: self.context.run_id().clone(),
            created_at: self.context.created_at(),
            branch: ids::branch_name(self.context.run_id(), &config.product_slug),
            digest,
            site_sha: inputs.site_sha.clone(),
            site_branch: inputs.site_branch.clone(),
            moved_to: None,
        };
        let item = Item {
            worker: Worker::PrManager,
            scope: &scope,
            inputs: json!({ "plan_digest": digest, "branch": publication.branch }),
            message: String::new(),
        };
        let begun = self.begin(&item, 1);
        self.commit().await?;
        match self.look_at_site(&mut publication, inputs).await {
            Ok(Ok(())) => {}
            Ok(Err(moved)) => {
                self.give_up(&begun, &moved);
                self.commit().await?;
                return Ok(Err(moved));
            }
            Err(error) => return Err(error),
        }
        match self.publish(&publication).await {
            Ok((pull, body)) => {
                let pr = self.keep_pr(&publication, &pull, body).await?;
                let message = format!("pull request: {}", pr.pr_url);
                let outputs = json!({ "artifacts": ["pr.json"], "pr_url": pr.pr_url });
                self.finish(&begun, outputs, &message);
                self.queue("pr", event::PR_OPENED, json!(pr));
                self.enter(LaunchState::PrOpened)?;
                self.pr = Some(pr);
                self.commit().await?;
                self.tidy().await?;
                self.flush_telemetry(Some(Ending::well())).await?;
                self.enter(LaunchState::Done)?;
                self.commit().await?;
                Ok(Ok(()))
            }
            Err(RunError::Failed(problem)) => {
                self.give_up(&begun, &problem);
                self.commit().await?;
                if problem.code() == &code::COMMIT_SERVICE_ERROR {
                    Ok(Err(problem))
                } else {
                    Err(problem.into())
                }
            }
            Err(other) => Err(other),
        }
    }

    /// Whether the site's branch is still where the run read it. A file that changed there and here
    /// would be a conflict; anything else is said in the pull request.
    async fn look_at_site(
        &mut self,
        publication: &mut Publication,
        inputs: &Inputs,
    ) -> Result<Result<(), Problem>, RunError> {
        if self.committed.is_some() || inputs.site_branch.is_none() {
            return Ok(Ok(()));
        }
        let plan: PrPlan = self.load("pr_plan.json").await?;
        let step = format!("W9:site:{}", self.pr_attempts);
        let (tools, site_sha) = (self.tools.clone(), inputs.site_sha.clone());
        let now: SiteNow = Step::pure(step)
            .run(self.context, async |_| {
                let (tools, site_sha) = (tools.clone(), site_sha.clone());
                let affected = plan.affected_paths.clone();
                let busy = tools.folder.busy().await;
                blocking(move || {
                    let _busy = busy;
                    Ok(site_now(&tools, &site_sha, &affected))
                })
                .await
            })
            .await?;
        let Some(moved_to) = now.moved_to else {
            return Ok(Ok(()));
        };
        let from = inputs.site_sha.get(..12).unwrap_or(&inputs.site_sha);
        let to = moved_to.get(..12).unwrap_or(&moved_to);
        let message = match now.both_changed.len() {
            0 => format!(
                "the site moved from {from} to {to}; no file of the pull request changed there"
            ),
            count => format!(
                "the site moved from {from} to {to}; {} of the pull request changed there, too",
                counted(count, "file")
            ),
        };
        let data = json!({
            "site_sha": inputs.site_sha,
            "moved_to": moved_to,
            "both_changed": now.both_changed,
            "message": message,
        });
        self.queue(
            format!("moved:{}", self.pr_attempts),
            event::SITE_MOVED,
            data,
        );
        self.commit().await?;
        if now.both_changed.is_empty() {
            publication.moved_to = Some(moved_to);
            return Ok(Ok(()));
        }
        Ok(Err(fault::site_moved(
            self.context.run_id(),
            &message,
            &now.both_changed,
        )))
    }

    async fn publish(&mut self, publication: &Publication) -> Result<(Pull, String), RunError> {
        let commit_sha = match &self.committed {
            Some(commit) => commit.clone(),
            None => {
                let commit = self.make_commit(publication).await?;
                self.committed = Some(commit.clone());
                commit
            }
        };
        let body = self.body(publication).await?;
        let step = format!("W9:open:{}", self.pr_attempts);
        let undo = publication.clone();
        let pull: Pull = Step::effect(step, publication.branch.clone())
            .input(&json!({ "key": publication.key("open_pr"), "commit_sha": commit_sha }))
            .undo(move |pull: Pull| {
                let publication = undo.clone();
                async move {
                    let opened = OpenedPull {
                        pr_url: pull.pr_url,
                        pr_number: pull.pr_number,
                    };
                    publication.withdraw(&pull.commit_sha, Some(&opened)).await
                }
            })
            .run(self.context, async |_| {
                publication.open(&commit_sha, body.clone()).await
            })
            .await?;
        Ok((pull, body))
    }

    async fn make_commit(&mut self, publication: &Publication) -> Result<String, RunError> {
        let bundle = self.artifact("patch_bundle.json")?;
        let step = format!("W9:commit:{}", self.pr_attempts);
        let undo = publication.clone();
        Step::effect(step, publication.branch.clone())
            .input(&json!({ "key": publication.key("commit"), "bundle": bundle.sha256 }))
            .undo(move |commit: String| {
                let publication = undo.clone();
                async move { publication.withdraw(&commit, None).await }
            })
            .run(self.context, async |_| {
                let bundle: PatchBundle = publication.tools.read_json(&bundle).await?;
                publication.commit(bundle).await
            })
            .await
    }

    /// The text of the pull request.
    async fn body(&self, publication: &Publication) -> Result<String, Problem> {
        let plan: PagePlan = self.load("page_plan.json").await?;
        let facts: ProductFacts = self.load("product_facts.json").await?;
        let evidence: EvidenceMap = self.load("evidence_map.json").await?;
        let report: ValidationReport = self.load("validation_report.json").await?;
        let pr_plan: PrPlan = self.load("pr_plan.json").await?;
        let truth = self.load("truth_lock_report.json").await?;
        let config = publication.tools.accepted.config();
        Ok(pr_body(&PrBodyInput {
            run_id: publication.run_id.as_str(),
            config,
            plan: &plan,
            facts: &facts,
            evidence: &evidence,
            truth: &truth,
            report: &report,
            pr_plan: &pr_plan,
            moved_to: publication.moved_to.as_deref(),
        }))
    }

    async fn keep_pr(
        &mut self,
        publication: &Publication,
        pull: &Pull,
        body: String,
    ) -> Result<OpenedPr, RunError> {
        let plan: PrPlan = self.load("pr_plan.json").await?;
        let report: ValidationReport = self.load("validation_report.json").await?;
        let count = |ok: bool| report.gates.iter().filter(|gate| gate.ok == ok).count() as u64;
        let record = PrRecord {
            schema_version: "1.0".to_owned(),
            run_id: publication.run_id.to_string(),
            base_ref: plan.base_ref,
            rollback_steps: plan.rollback_steps,
            affected_paths: plan.affected_paths,
            pr_number: pull.pr_number,
            pr_url: pull.pr_url.clone(),
            branch_name: publication.branch.clone(),
            commit_shas: vec![pull.commit_sha.clone()],
            pr_body: body,
            validation_summary: ValidationSummary {
                ok: report.ok,
                profile: report.profile,
                gates_passed: count(true),
                gates_failed: count(false),
            },
        };
        let tools = &self.tools;
        let kept = Step::pure("W9:record")
            .run(self.context, async |_| {
                tools.keep_json("pr.json", &record).await
            })
            .await?;
        self.index(&kept, Worker::PrManager);
        Ok(OpenedPr {
            pr_url: pull.pr_url.clone(),
            branch: publication.branch.clone(),
            commit_sha: pull.commit_sha.clone(),
        })
    }

    /// Takes away the checkouts, which nobody needs any more.
    async fn tidy(&mut self) -> Result<(), RunError> {
        let folder = &self.tools.folder;
        Step::pure("tidy")
            .run(self.context, async |_| folder.tidy().await)
            .await
    }
}

/// A host that does not answer says nothing about the branch; the commit service then decides.
fn site_now(tools: &Tools, site_sha: &str, affected: &[String]) -> SiteNow {
    let config = tools.accepted.config();
    let git = &tools.outside.git;
    let look = || -> Option<SiteNow> {
        let url = address(&config.site_repo_url).ok()?;
        let head = git.head_of(&url).ok()?;
        if head.commit == site_sha {
            return None;
        }
        let bare = tools.folder.bare("site");
        // What cannot be compared counts as changed.
        let names = git
            .fetch_commit(&bare, &url, &head.commit)
            .and_then(|()| git.diff_names(&bare, site_sha, Some(&head.commit)));
        let changed = |path: &String| match &names {
            Ok(names) => names
                .iter()
                .any(|name| name.as_path() == std::path::Path::new(path)),
            Err(_) => true,
        };
        Some(SiteNow {
            both_changed: affected
                .iter()
                .filter(|path| changed(path))
                .cloned()
                .collect(),
            moved_to: Some(head.commit),
        })
    };
    look().unwrap_or_default()
}

impl Publication {
    /// The key of a call: one per run, stage and plan, in the form of a random UUID.
    fn key(&self, stage: &str) -> String {
        uuid_of(&[
            self.run_id.as_str().as_bytes(),
            stage.as_bytes(),
            self.digest.as_bytes(),
        ])
    }

    fn service(&self) -> Result<Arc<dyn CommitService>, Problem> {
        let config = self.tools.accepted.config();
        let settings = &config.commit_service;
        let (kind, host) = match settings.adapter() {
            CommitAdapter::Local => (ServiceKind::Local, None),
            CommitAdapter::Github => (ServiceKind::GitHub, Some("api.github.com")),
            CommitAdapter::Gitlab => (ServiceKind::GitLab, Some("gitlab.com")),
            CommitAdapter::Http => (ServiceKind::Http, None),
        };
        let endpoint = settings.endpoint_url.as_ref();
        let host = endpoint
            .and_then(|url| web_host(url, Scheme::HttpToo).ok())
            .or_else(|| host.map(str::to_owned));
        let token = match (&settings.github_token_env, host) {
            (Some(variable), Some(host)) => {
                let token = self.tools.outside.tokens.token(variable, &host);
                Some(token.map_err(|error| {
                    Problem::new(&code::COMMIT_SERVICE_ERROR, error.to_string())
                        .with("run_id", self.run_id.as_str())
                        .with("adapter", json!(settings.adapter()))
                        .with("stage", "commit")
                        .with("http_status", json!(null))
                        .with("service_code", json!(null))
                        .with("retryable", false)
                })?)
            }
            _ => None,
        };
        let site = RepoUrl::parse(&config.site_repo_url).ok();
        let repository = site
            .as_ref()
            .and_then(|site| site.local_path().map(std::path::PathBuf::from))
            .unwrap_or_else(|| self.tools.folder.bare("site"));
        let accepted = Arc::clone(&self.tools.accepted);
        self.tools
            .outside
            .services
            .open(ServiceAddress {
                kind,
                endpoint_url: settings.endpoint_url.clone(),
                token,
                repository,
                record_dir: self.tools.folder.pull_requests(),
                allowed: Arc::new(move |path| accepted.allowed().admit(path).is_ok()),
            })
            .map_err(|refused| fault::service(&self.run_id, &refused))
    }

    fn filled(&self, template: &str) -> String {
        let config = self.tools.accepted.config();
        fill(template, |name| {
            Some(match name {
                "product_slug" => config.product_slug.clone(),
                "github_repo_url" => config.github_repo_url.clone(),
                "github_ref" => config.github_ref.clone(),
                "site_repo_url" => config.site_repo_url.clone(),
                "site_ref" => self.site_sha.clone(),
                "run_id" => self.run_id.to_string(),
                _ => return None,
            })
        })
    }

    async fn commit(&self, bundle: PatchBundle) -> Result<String, Problem> {
        let busy = self.tools.folder.busy().await;
        let (tools, at, applied) = (self.tools.clone(), self.site_sha.clone(), bundle.clone());
        let files = blocking(move || {
            let _busy = busy;
            // What is published is what the patches say, whatever has been done to the worktree.
            tools.folder.distrust();
            let worktree = tools.worktree(&at, &applied)?;
            let site = SiteTree::load(&tools.folder.site())
                .map_err(|error| Problem::internal("site worktree", error))?;
            let changed = worktree.before.iter().filter_map(|(path, before)| {
                let after = site.bytes(path).map(<[u8]>::to_vec);
                (after != *before).then(|| FileChange {
                    path: path.clone(),
                    content: after,
                })
            });
            Ok(changed.collect::<Vec<_>>())
        })
        .await?;
        let config = self.tools.accepted.config();
        let settings = &config.commit_service;
        let request = CommitRequest {
            run_id: self.run_id.to_string(),
            idempotency_key: self.key("commit"),
            repo_url: config.site_repo_url.clone(),
            base_ref: self.site_sha.clone(),
            base_branch: self.site_branch.clone(),
            branch_name: self.branch.clone(),
            allowed_paths: config.allowed_paths.clone(),
            commit_message: self.filled(&settings.commit_message_template),
            commit_body: self.filled(&settings.commit_body_template),
            author: Author {
                name: settings.author_name.clone(),
                email: settings.author_email.clone(),
            },
            time: self.created_at,
            files,
            patch_bundle: serde_json::to_value(bundle)
                .map_err(|error| Problem::internal("patch bundle", error))?,
            require_clean_base: true,
        };
        let committed = self.service()?.commit(request).await;
        Ok(committed
            .map_err(|refused| fault::service(&self.run_id, &refused))?
            .commit_sha)
    }

    async fn open(&self, commit_sha: &str, body: String) -> Result<Pull, Problem> {
        let config = self.tools.accepted.config();
        let request = PullRequest {
            run_id: self.run_id.to_string(),
            idempotency_key: self.key("open_pr"),
            repo_url: config.site_repo_url.clone(),
            base_ref: self.site_sha.clone(),
            base_branch: self.site_branch.clone(),
            branch_name: self.branch.clone(),
            commit_sha: commit_sha.to_owned(),
            pr_title: self.filled(&config.commit_service.commit_message_template),
            pr_body: body,
            draft: false,
        };
        let opened = self.service()?.open_pr(request).await;
        let opened = opened.map_err(|refused| fault::service(&self.run_id, &refused))?;
        Ok(Pull {
            commit_sha: commit_sha.to_owned(),
            pr_url: opened.pr_url,
            pr_number: opened.pr_number,
        })
    }

    async fn withdraw(&self, commit_sha: &str, pull: Option<&OpenedPull>) -> Result<(), Problem> {
        let url = &self.tools.accepted.config().site_repo_url;
        self.service()?
            .withdraw(url, &self.branch, commit_sha, pull)
            .await
            .map_err(|refused| fault::service(&self.run_id, &refused))
    }
}
