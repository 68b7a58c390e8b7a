//! GitLab over its REST interface: one call makes branch and commit, one opens the merge request.
//!
//! A repeated call is answered with "exists"; what exists is then compared, file by file, with
//! what was asked for.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use windlass_ports::BoxFuture;
use windlass_ports::commit_service::{
    CommitRequest, CommitService, Committed, FoundBranch, OpenedPull, PathRule, PullRequest,
    ServiceFault, Stage,
};

use crate::answer::Answer;
use crate::exchange::{Api, Ask};
use crate::guard::{branch_taken, check_branch, check_commit, fault};
use crate::percent;
use crate::project::Project;

/// Commits and merge requests on GitLab.
pub struct GitLab {
    api: Api,
    /// Whether the interface's address was given, and any host's project may be meant.
    any_host: bool,
    allowed: PathRule,
}

impl GitLab {
    pub(crate) const NAME: &'static str = "gitlab";
    pub(crate) const PUBLIC: &'static str = "https://gitlab.com/api/v4";
    const HOST: &'static str = "gitlab.com";

    pub(crate) fn new(api: Api, any_host: bool, allowed: PathRule) -> Self {
        Self {
            api,
            any_host,
            allowed,
        }
    }

    fn project(&self, stage: Stage, repo_url: &str) -> Result<Place, ServiceFault> {
        let refuse = |message: String| Err(fault(Self::NAME, stage, message));
        let shown = windlass_ports::git::hide_credentials(repo_url);
        let Some(project) = Project::of(repo_url) else {
            return refuse(format!("`{shown}` is not the address of a GitLab project"));
        };
        if !self.any_host && project.host != Self::HOST {
            return refuse(format!(
                "`{shown}` is not on {}; set commit_service.endpoint_url to https://{}/api/v4",
                Self::HOST,
                project.host
            ));
        }
        Ok(Place {
            path: format!("/projects/{}", percent::part(&project.path)),
        })
    }

    async fn do_commit(&self, request: CommitRequest) -> Result<Committed, ServiceFault> {
        check_commit(Self::NAME, &self.allowed, &request)?;
        let place = self.project(Stage::Commit, &request.repo_url)?;
        if let Some(found) = self.branch(&place, &request.branch_name).await? {
            return self.reuse(&place, &request, &found).await;
        }
        let mut actions = Vec::new();
        for file in &request.files {
            let exists = self
                .digest_at(&place, &file.path, &request.base_ref)
                .await?;
            actions.push(match (&file.content, exists) {
                (None, _) => json!({ "action": "delete", "file_path": file.path }),
                (Some(content), exists) => json!({
                    "action": if exists.is_some() { "update" } else { "create" },
                    "file_path": file.path,
                    "content": STANDARD.encode(content),
                    "encoding": "base64",
                }),
            });
        }
        let path = format!("{}/repository/commits", place.path);
        let ask = Ask::new(Stage::Commit, "POST", path).with(json!({
            "branch": request.branch_name,
            "start_sha": request.base_ref,
            "commit_message": request.message(),
            "author_name": request.author.name,
            "author_email": request.author.email,
            "actions": actions,
        }));
        let answer = self.api.send(ask).await?;
        if matches!(answer.status(), 400 | 409)
            && let Some(found) = self.branch(&place, &request.branch_name).await?
        {
            // Created in the meantime, or by an earlier attempt whose answer was lost.
            return self.reuse(&place, &request, &found).await;
        }
        Ok(Committed {
            commit_sha: answer.success()?.text("id")?,
            reused: false,
        })
    }

    /// GitLab does not report the tree of a commit, so base, number of changed files and the
    /// content of each are compared.
    async fn reuse(
        &self,
        place: &Place,
        request: &CommitRequest,
        found: &Branch,
    ) -> Result<Committed, ServiceFault> {
        let taken = || branch_taken(Self::NAME, &request.branch_name, &found.commit);
        if found.parents != [request.base_ref.as_str()] {
            return Err(taken());
        }
        for file in &request.files {
            let at = self.digest_at(place, &file.path, &found.commit).await?;
            let wanted = file
                .content
                .as_ref()
                .map(|content| hex::encode(Sha256::digest(content)));
            if at != wanted {
                return Err(taken());
            }
        }
        // One change per page: the header counts them, and a file removed here and added there
        // may count as one.
        let path = format!(
            "{}/repository/commits/{}/diff?per_page=1",
            place.path, found.commit
        );
        let answer = self.get(Stage::Commit, path).await?.success()?;
        let changed = answer.response.header("x-total").map(str::parse::<usize>);
        if matches!(changed, Some(Ok(changed)) if changed > request.files.len()) {
            return Err(taken());
        }
        Ok(Committed {
            commit_sha: found.commit.clone(),
            reused: true,
        })
    }

    /// The SHA-256 of a file's content at a commit; `None` when there is no such file.
    async fn digest_at(
        &self,
        place: &Place,
        file: &str,
        commit: &str,
    ) -> Result<Option<String>, ServiceFault> {
        let path = format!(
            "{}/repository/files/{}?ref={commit}",
            place.path,
            percent::part(file)
        );
        let ask = Ask::new(Stage::Commit, "HEAD", path);
        match self.api.send(ask).await?.found()? {
            None => Ok(None),
            Some(answer) => match answer.response.header("x-gitlab-content-sha256") {
                Some(digest) => Ok(Some(digest.to_ascii_lowercase())),
                None => Err(answer.not_understood("X-Gitlab-Content-Sha256")),
            },
        }
    }

    async fn branch(&self, place: &Place, branch: &str) -> Result<Option<Branch>, ServiceFault> {
        let path = format!(
            "{}/repository/branches/{}",
            place.path,
            percent::part(branch)
        );
        let Some(answer) = self.get(Stage::Commit, path).await?.found()? else {
            return Ok(None);
        };
        let commit = answer.text("commit/id")?;
        let fields = Value::Object(answer.fields());
        let parents = fields.pointer("/commit/parent_ids");
        let parents = parents.and_then(Value::as_array).into_iter().flatten();
        Ok(Some(Branch {
            commit,
            parents: parents
                .filter_map(|parent| parent.as_str().map(str::to_owned))
                .collect(),
        }))
    }

    /// The merge request of a branch: the open one, or with `closed` the newest of any state.
    async fn merge_request(
        &self,
        place: &Place,
        branch: &str,
        closed: bool,
    ) -> Result<Option<OpenedPull>, ServiceFault> {
        let branch = percent::part(branch);
        let states: &[&str] = if closed {
            &["opened", "all"]
        } else {
            &["opened"]
        };
        for state in states {
            let path = format!(
                "{}/merge_requests?source_branch={branch}&state={state}&per_page=1",
                place.path
            );
            let answer = self.get(Stage::OpenPr, path).await?.success()?;
            if !answer.fields().is_empty() {
                return opened(&answer).map(Some);
            }
        }
        Ok(None)
    }

    async fn do_open_pr(&self, request: PullRequest) -> Result<OpenedPull, ServiceFault> {
        check_branch(Self::NAME, Stage::OpenPr, &request.branch_name)?;
        let place = self.project(Stage::OpenPr, &request.repo_url)?;
        let branch = &request.branch_name;
        if let Some(pull) = self.merge_request(&place, branch, false).await? {
            return Ok(pull);
        }
        let target = match request.base_branch {
            Some(base) => base,
            None => {
                let answer = self.get(Stage::OpenPr, place.path.clone()).await?;
                answer.success()?.text("default_branch")?
            }
        };
        let draft = if request.draft { "Draft: " } else { "" };
        let path = format!("{}/merge_requests", place.path);
        let ask = Ask::new(Stage::OpenPr, "POST", path).with(json!({
            "source_branch": branch,
            "target_branch": target,
            "title": format!("{draft}{}", request.pr_title),
            "description": request.pr_body,
        }));
        let answer = self.api.send(ask).await?;
        if answer.status() == 409
            && let Some(pull) = self.merge_request(&place, branch, false).await?
        {
            // Opened in the meantime, or by an earlier attempt whose answer was lost.
            return Ok(pull);
        }
        opened(&answer.success()?)
    }

    async fn do_find(
        &self,
        repo_url: &str,
        branch: &str,
    ) -> Result<Option<FoundBranch>, ServiceFault> {
        check_branch(Self::NAME, Stage::Commit, branch)?;
        let place = self.project(Stage::Commit, repo_url)?;
        let Some(found) = self.branch(&place, branch).await? else {
            return Ok(None);
        };
        Ok(Some(FoundBranch {
            commit_sha: found.commit,
            pull: self.merge_request(&place, branch, true).await?,
        }))
    }

    async fn do_withdraw(
        &self,
        repo_url: &str,
        branch: &str,
        commit_sha: &str,
        pull: Option<&OpenedPull>,
    ) -> Result<(), ServiceFault> {
        check_branch(Self::NAME, Stage::Commit, branch)?;
        let place = self.project(Stage::Commit, repo_url)?;
        // Only an open one can be closed; a merged one stays what it is.
        let open = self.merge_request(&place, branch, false).await?;
        let number = open.and_then(|open| match pull {
            Some(pull) if pull.pr_number != open.pr_number => None,
            _ => open.pr_number,
        });
        if let Some(number) = number {
            let path = format!("{}/merge_requests/{number}", place.path);
            let ask = Ask::new(Stage::OpenPr, "PUT", path).with(json!({ "state_event": "close" }));
            self.api.send(ask).await?.success()?;
        }
        match self.branch(&place, branch).await? {
            Some(found) if found.commit == commit_sha => {}
            _ => return Ok(()),
        }
        let path = format!(
            "{}/repository/branches/{}",
            place.path,
            percent::part(branch)
        );
        let deleted = self
            .api
            .send(Ask::new(Stage::Commit, "DELETE", path))
            .await?;
        // Already gone is fine.
        deleted.found().map(drop)
    }

    async fn get(&self, stage: Stage, path: String) -> Result<Answer, ServiceFault> {
        self.api.send(Ask::new(stage, "GET", path)).await
    }
}

/// Where a project is in the interface.
struct Place {
    path: String,
}

fn opened(answer: &Answer) -> Result<OpenedPull, ServiceFault> {
    Ok(OpenedPull {
        pr_url: answer.text("web_url")?,
        pr_number: answer.fields().get("iid").and_then(Value::as_u64),
    })
}

/// A branch's commit.
struct Branch {
    commit: String,
    parents: Vec<String>,
}

commit_service!(GitLab);
