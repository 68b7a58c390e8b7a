//! GitHub over its REST interface: blobs, tree, commit, reference, pull request.
//!
//! Everything up to the reference is invisible until the reference names it, so
//! repeating it is harmless; the reference and the pull request are looked up when they are
//! there already.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
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

/// Commits and pull requests on GitHub.
pub struct GitHub {
    api: Api,
    /// Whether the interface's address was given, and any host's repository may be meant.
    any_host: bool,
    allowed: PathRule,
}

/// A commit with the content it stands for.
struct Known {
    sha: String,
    tree: String,
    parents: Vec<String>,
}

impl GitHub {
    pub(crate) const NAME: &'static str = "github";
    pub(crate) const PUBLIC: &'static str = "https://api.github.com";
    const HOST: &'static str = "github.com";

    pub(crate) fn new(mut api: Api, any_host: bool, allowed: PathRule) -> Self {
        api.headers.extend(
            [
                ("accept", "application/vnd.github+json"),
                ("x-github-api-version", "2022-11-28"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned())),
        );
        Self {
            api,
            any_host,
            allowed,
        }
    }

    /// The beginning of every path about the repository.
    fn repository(&self, stage: Stage, repo_url: &str) -> Result<Repository, ServiceFault> {
        let refuse = |message: String| Err(fault(Self::NAME, stage, message));
        let shown = windlass_ports::git::hide_credentials(repo_url);
        let Some(project) = Project::of(repo_url) else {
            return refuse(format!(
                "`{shown}` is not the address of a GitHub repository"
            ));
        };
        if !self.any_host && project.host != Self::HOST {
            return refuse(format!(
                "`{shown}` is not on {}; set commit_service.endpoint_url to the address of its API",
                Self::HOST
            ));
        }
        match project.path.split_once('/') {
            Some((owner, name)) if !name.contains('/') => Ok(Repository {
                owner: owner.to_owned(),
                path: format!("/repos/{}/{}", percent::part(owner), percent::part(name)),
            }),
            _ => refuse(format!("`{shown}` is not `owner/name` on GitHub")),
        }
    }

    async fn do_commit(&self, request: CommitRequest) -> Result<Committed, ServiceFault> {
        check_commit(Self::NAME, &self.allowed, &request)?;
        let repository = self.repository(Stage::Commit, &request.repo_url)?;
        let base = self.commit_at(&repository, &request.base_ref).await?;
        let tree = self.make_tree(&repository, &base, &request).await?;
        if let Some(found) = self.branch(&repository, &request.branch_name).await? {
            return self.reuse(&repository, &request, &tree, found).await;
        }
        let date = jiff::Timestamp::from_second(request.time.as_seconds()).unwrap_or_default();
        let by = json!({
            "name": request.author.name,
            "email": request.author.email,
            "date": date.to_string(),
        });
        let made = self
            .post(
                format!("{}/git/commits", repository.path),
                json!({
                    "message": request.message(),
                    "tree": tree,
                    "parents": [request.base_ref],
                    "author": by,
                    "committer": by,
                }),
            )
            .await?
            .success()?;
        let commit_sha = made.text("sha")?;
        let reference = self
            .post(
                format!("{}/git/refs", repository.path),
                json!({
                    "ref": format!("refs/heads/{}", request.branch_name),
                    "sha": commit_sha,
                }),
            )
            .await?;
        if reference.status() == 422
            && let Some(found) = self.branch(&repository, &request.branch_name).await?
        {
            // Created in the meantime, or by an earlier attempt whose answer was lost.
            return self.reuse(&repository, &request, &tree, found).await;
        }
        reference.success()?;
        Ok(Committed {
            commit_sha,
            reused: false,
        })
    }

    async fn make_tree(
        &self,
        repository: &Repository,
        base: &Known,
        request: &CommitRequest,
    ) -> Result<String, ServiceFault> {
        let mut entries = Vec::new();
        for file in &request.files {
            let sha = match &file.content {
                None => Value::Null,
                Some(content) => {
                    let blob = json!({ "content": STANDARD.encode(content), "encoding": "base64" });
                    let path = format!("{}/git/blobs", repository.path);
                    self.post(path, blob).await?.success()?.text("sha")?.into()
                }
            };
            // Pages are ordinary files, also where an old one was executable by mistake.
            entries.push(json!({
                "path": file.path, "mode": "100644", "type": "blob", "sha": sha,
            }));
        }
        let tree = json!({ "base_tree": base.tree, "tree": entries });
        let path = format!("{}/git/trees", repository.path);
        self.post(path, tree).await?.success()?.text("sha")
    }

    async fn reuse(
        &self,
        repository: &Repository,
        request: &CommitRequest,
        tree: &str,
        found: String,
    ) -> Result<Committed, ServiceFault> {
        let known = self.commit_at(repository, &found).await?;
        if known.tree != tree || known.parents != [request.base_ref.as_str()] {
            return Err(branch_taken(Self::NAME, &request.branch_name, &found));
        }
        Ok(Committed {
            commit_sha: known.sha,
            reused: true,
        })
    }

    async fn commit_at(&self, repository: &Repository, sha: &str) -> Result<Known, ServiceFault> {
        let path = format!("{}/git/commits/{sha}", repository.path);
        let answer = self.get(Stage::Commit, path).await?.success()?;
        let fields = answer.fields();
        let parents = fields.get("parents").and_then(Value::as_array);
        Ok(Known {
            sha: answer.text("sha")?,
            tree: answer.text("tree/sha")?,
            parents: parents
                .into_iter()
                .flatten()
                .filter_map(|parent| parent.get("sha")?.as_str().map(str::to_owned))
                .collect(),
        })
    }

    /// The commit a branch is at.
    async fn branch(
        &self,
        repository: &Repository,
        branch: &str,
    ) -> Result<Option<String>, ServiceFault> {
        let branch = percent::path(branch.as_bytes());
        let path = format!("{}/git/ref/heads/{branch}", repository.path);
        match self.get(Stage::Commit, path).await?.found()? {
            Some(answer) => answer.text("object/sha").map(Some),
            None => Ok(None),
        }
    }

    /// The pull request of a branch: the open one, or with `closed` the newest of any state.
    async fn pull(
        &self,
        repository: &Repository,
        branch: &str,
        closed: bool,
    ) -> Result<Option<OpenedPull>, ServiceFault> {
        let head = percent::part(&format!("{}:{branch}", repository.owner));
        let states: &[&str] = if closed { &["open", "all"] } else { &["open"] };
        for state in states {
            let path = format!(
                "{}/pulls?head={head}&state={state}&per_page=1",
                repository.path
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
        let repository = self.repository(Stage::OpenPr, &request.repo_url)?;
        let branch = &request.branch_name;
        if let Some(pull) = self.pull(&repository, branch, false).await? {
            return Ok(pull);
        }
        let base = match request.base_branch {
            Some(base) => base,
            None => {
                let answer = self.get(Stage::OpenPr, repository.path.clone()).await?;
                answer.success()?.text("default_branch")?
            }
        };
        let ask = Ask::new(Stage::OpenPr, "POST", format!("{}/pulls", repository.path));
        let answer = self
            .api
            .send(ask.with(json!({
                "title": request.pr_title,
                "body": request.pr_body,
                "head": branch,
                "base": base,
                "draft": request.draft,
            })))
            .await?;
        if answer.status() == 422
            && let Some(pull) = self.pull(&repository, branch, false).await?
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
        let repository = self.repository(Stage::Commit, repo_url)?;
        let Some(commit_sha) = self.branch(&repository, branch).await? else {
            return Ok(None);
        };
        let pull = self.pull(&repository, branch, true).await?;
        Ok(Some(FoundBranch { commit_sha, pull }))
    }

    async fn do_withdraw(
        &self,
        repo_url: &str,
        branch: &str,
        commit_sha: &str,
        pull: Option<&OpenedPull>,
    ) -> Result<(), ServiceFault> {
        check_branch(Self::NAME, Stage::Commit, branch)?;
        let repository = self.repository(Stage::Commit, repo_url)?;
        // Only an open one can be closed; a merged one stays what it is.
        let open = self.pull(&repository, branch, false).await?;
        let number = open.and_then(|open| match pull {
            Some(pull) if pull.pr_number != open.pr_number => None,
            _ => open.pr_number,
        });
        if let Some(number) = number {
            let path = format!("{}/pulls/{number}", repository.path);
            let ask = Ask::new(Stage::OpenPr, "PATCH", path).with(json!({ "state": "closed" }));
            self.api.send(ask).await?.success()?;
        }
        if self.branch(&repository, branch).await?.as_deref() != Some(commit_sha) {
            return Ok(());
        }
        let path = percent::path(branch.as_bytes());
        let path = format!("{}/git/refs/heads/{path}", repository.path);
        let deleted = self
            .api
            .send(Ask::new(Stage::Commit, "DELETE", path))
            .await?;
        match deleted.status() {
            // Already gone.
            404 | 422 if self.branch(&repository, branch).await?.is_none() => Ok(()),
            _ => deleted.success().map(drop),
        }
    }

    async fn get(&self, stage: Stage, path: String) -> Result<Answer, ServiceFault> {
        self.api.send(Ask::new(stage, "GET", path)).await
    }

    async fn post(&self, path: String, body: Value) -> Result<Answer, ServiceFault> {
        let ask = Ask::new(Stage::Commit, "POST", path).with(body);
        self.api.send(ask).await
    }
}

/// Where a repository is in the interface.
struct Repository {
    owner: String,
    path: String,
}

fn opened(answer: &Answer) -> Result<OpenedPull, ServiceFault> {
    Ok(OpenedPull {
        pr_url: answer.text("html_url")?,
        pr_number: answer.fields().get("number").and_then(Value::as_u64),
    })
}

commit_service!(GitHub);
