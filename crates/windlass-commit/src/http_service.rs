//! A commit service of the user's own: two calls, each with a key that makes it one effect.
//!
//! The service applies the patches itself. Repeating a call with its key gives the first answer,
//! which is why nothing needs to be looked up after a crash.

use serde_json::json;
use windlass_ports::BoxFuture;
use windlass_ports::commit_service::{
    CommitRequest, CommitService, Committed, FoundBranch, OpenedPull, PathRule, PullRequest,
    ServiceFault, Stage,
};
use windlass_ports::git::is_object_id;

use crate::exchange::{Api, Ask};
use crate::guard::{check_branch, check_commit, fault};

const SCHEMA_VERSION: &str = "1.0";

/// The client of a commit service.
pub struct HttpService {
    api: Api,
    allowed: PathRule,
}

impl HttpService {
    pub(crate) const NAME: &'static str = "http";

    pub(crate) fn new(mut api: Api, allowed: PathRule) -> Self {
        api.headers
            .push(("accept".to_owned(), "application/json".to_owned()));
        Self { api, allowed }
    }

    async fn do_commit(&self, request: CommitRequest) -> Result<Committed, ServiceFault> {
        check_commit(Self::NAME, &self.allowed, &request)?;
        let mut ask = Ask::new(Stage::Commit, "POST", "/v1/commit").with(json!({
            "schema_version": SCHEMA_VERSION,
            "run_id": request.run_id,
            "idempotency_key": request.idempotency_key,
            "repo_url": request.repo_url,
            "base_ref": request.base_ref,
            "branch_name": request.branch_name,
            "allowed_paths": request.allowed_paths,
            "commit_message": request.commit_message,
            "commit_body": request.commit_body,
            "require_clean_base": request.require_clean_base,
            "patch_bundle": request.patch_bundle,
        }));
        ask.idempotency_key = Some(&request.idempotency_key);
        let answer = self.api.send(ask).await?.success()?;
        let commit_sha = answer.text("commit_sha")?;
        if !is_object_id(&commit_sha) {
            return Err(answer.not_understood("commit_sha"));
        }
        Ok(Committed {
            commit_sha: commit_sha.to_ascii_lowercase(),
            // A repeated key is answered with 200, a new commit with 201 or 200: not distinguished.
            reused: false,
        })
    }

    async fn do_open_pr(&self, request: PullRequest) -> Result<OpenedPull, ServiceFault> {
        check_branch(Self::NAME, Stage::OpenPr, &request.branch_name)?;
        let mut ask = Ask::new(Stage::OpenPr, "POST", "/v1/open_pr").with(json!({
            "schema_version": SCHEMA_VERSION,
            "run_id": request.run_id,
            "idempotency_key": request.idempotency_key,
            "repo_url": request.repo_url,
            // Merged into the branch where it is known; the commit says which one it was.
            "base_ref": request.base_branch.as_ref().unwrap_or(&request.base_ref),
            "branch_name": request.branch_name,
            "pr_title": request.pr_title,
            "pr_body": request.pr_body,
            "draft": request.draft,
        }));
        ask.idempotency_key = Some(&request.idempotency_key);
        let answer = self.api.send(ask).await?.success()?;
        Ok(OpenedPull {
            pr_url: answer.text("pr_url")?,
            pr_number: answer.fields().get("pr_number").and_then(|n| n.as_u64()),
        })
    }
}

impl CommitService for HttpService {
    fn adapter(&self) -> &'static str {
        Self::NAME
    }

    fn commit(&self, request: CommitRequest) -> BoxFuture<'_, Result<Committed, ServiceFault>> {
        Box::pin(self.do_commit(request))
    }

    fn open_pr(&self, request: PullRequest) -> BoxFuture<'_, Result<OpenedPull, ServiceFault>> {
        Box::pin(self.do_open_pr(request))
    }

    fn find<'a>(
        &'a self,
        _: &'a str,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<FoundBranch>, ServiceFault>> {
        Box::pin(async { Ok(None) })
    }

    fn withdraw<'a>(
        &'a self,
        _: &'a str,
        branch: &'a str,
        _: &'a str,
        pull: Option<&'a OpenedPull>,
    ) -> BoxFuture<'a, Result<(), ServiceFault>> {
        Box::pin(async move {
            let pull = pull.map_or(String::new(), |pull| format!("close {} and ", pull.pr_url));
            Err(fault(
                Self::NAME,
                Stage::OpenPr,
                format!(
                    "a commit service cannot undo this; {pull}delete the branch `{branch}` by hand"
                ),
            ))
        })
    }
}
