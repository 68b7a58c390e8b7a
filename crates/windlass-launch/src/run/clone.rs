//! CREATED → the repositories are here: fetched at their commits and written out as plain files.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_engine::run::{RunError, Step};
use windlass_launch_model::{Worker, repo_url::RepoUrl};
use windlass_types::{Problem, Timestamp};

use super::{
    Launch, Tools,
    folder::remove,
    record::{Done, Item},
};
use crate::{event, fault};

/// What is known of the repositories once they are here.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Inputs {
    pub(super) repo_sha: String,
    pub(super) site_sha: String,
    pub(super) workflows_sha: Option<String>,
    /// The product's default branch and newest release, where they are known.
    pub(super) default_branch: Option<String>,
    pub(super) latest_release_tag: Option<String>,
    /// The site's default branch, which a pull request goes to.
    pub(super) site_branch: Option<String>,
    /// The day of the product's commit.
    pub(super) date: String,
}

impl Launch<'_> {
    /// Makes the folder of the run; a run that is taken back takes it along.
    pub(super) async fn open_folder(&mut self) -> Result<(), RunError> {
        let (folder, taken) = (&self.tools.folder, self.tools.folder.clone());
        Step::effect("folder", "the run's folder")
            .undo(move |_: Value| taken.clone().remove())
            .run(self.context, async |_| folder.make())
            .await?;
        let tools = self.tools.clone();
        let item = Item {
            worker: Worker::Engine,
            scope: "accept",
            inputs: json!({ "config_hash": tools.accepted.hash() }),
            message: "configuration accepted".to_owned(),
        };
        self.work(item, async |_| {
            let kept = tools
                .keep_json("run_config.json", tools.accepted.json())
                .await?;
            Ok(Done::new(vec![kept], ()))
        })
        .await?;
        self.commit().await
    }

    pub(super) async fn clone_inputs(&mut self) -> Result<Inputs, RunError> {
        let config = self.tools.accepted.config();
        let item = Item {
            worker: Worker::Scout,
            scope: "clone",
            inputs: json!({
                "github_repo_url": config.github_repo_url,
                "github_ref": config.github_ref,
                "site_repo_url": config.site_repo_url,
                "site_ref": config.site_ref,
            }),
            message: "both repositories are here".to_owned(),
        };
        let tools = self.tools.clone();
        let inputs: Inputs = self
            .work(item, async |_| {
                let (tools, busy) = (tools.clone(), tools.folder.busy().await);
                let inputs = blocking(move || {
                    let _busy = busy;
                    fetch(&tools)
                })
                .await?;
                Ok(Done::new(Vec::new(), inputs))
            })
            .await?;
        self.queue(
            "inputs",
            event::INPUTS_CLONED,
            json!({
                "repo_sha": inputs.repo_sha,
                "site_sha": inputs.site_sha,
                "workflows_sha": inputs.workflows_sha,
                "message": format!(
                    "product {} and site {}",
                    short(&inputs.repo_sha),
                    short(&inputs.site_sha)
                ),
            }),
        );
        self.commit().await?;
        Ok(inputs)
    }
}

fn short(sha: &str) -> &str {
    sha.get(..12).unwrap_or(sha)
}

fn fetch(tools: &Tools) -> Result<Inputs, Problem> {
    let config = tools.accepted.config();
    let git = &tools.outside.git;
    let folder = &tools.folder;
    folder.make()?;

    let product = address(&config.github_repo_url)?;
    get(
        tools,
        "product",
        "repo",
        &product,
        &config.github_ref,
        &folder.product(),
    )?;
    // Nice to know, and no reason to stop: a host may not say.
    let head = git.head_of(&product).ok();
    let latest_release_tag = git.latest_release_tag(&product).ok().flatten();
    let at = git
        .commit_time(&folder.bare("repo"), &config.github_ref)
        .map_err(|error| fault::repository("product", &product, &error))?;

    let site = address(&config.site_repo_url)?;
    let site_head = git.head_of(&site);
    let (site_sha, site_branch) = match (&config.site_ref, site_head) {
        (Some(commit), head) => (commit.clone(), head.ok().and_then(|head| head.branch)),
        (None, Ok(head)) => (head.commit, head.branch),
        (None, Err(error)) => return Err(fault::repository("site", &site, &error)),
    };
    get(tools, "site", "site", &site, &site_sha, &folder.site())?;

    let workflows_sha = match &config.workflows_repo_url {
        Some(url) => {
            let url = address(url)?;
            let commit = match &config.workflows_ref {
                Some(commit) => commit.clone(),
                None => {
                    let head = git.head_of(&url);
                    head.map_err(|error| fault::repository("workflows", &url, &error))?
                        .commit
                }
            };
            get(
                tools,
                "workflows",
                "workflows",
                &url,
                &commit,
                &folder.workflows(),
            )?;
            Some(commit)
        }
        None => None,
    };
    Ok(Inputs {
        repo_sha: config.github_ref.clone(),
        site_sha,
        workflows_sha,
        default_branch: head.and_then(|head| head.branch),
        latest_release_tag,
        site_branch,
        date: day(at),
    })
}

fn day(at: Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}

/// Fetches one commit and writes its files into an empty folder.
fn get(
    tools: &Tools,
    what: &str,
    bare: &str,
    url: &str,
    commit: &str,
    to: &Path,
) -> Result<(), Problem> {
    let git = &tools.outside.git;
    let failed = |error| fault::repository(what, url, &error);
    let bare = tools.folder.bare(bare);
    git.fetch_commit(&bare, url, commit).map_err(failed)?;
    remove(to)?;
    git.export(&bare, commit, to).map_err(failed)?;
    Ok(())
}

/// The address git is given: a path becomes a file address.
pub(super) fn address(url: &str) -> Result<String, Problem> {
    let parsed = RepoUrl::parse(url).map_err(|reason| {
        Problem::invalid("repository", "address", format!("{url:?}: {reason}"))
    })?;
    Ok(match parsed.local_path() {
        Some(path) => format!("file://{path}"),
        None => url.to_owned(),
    })
}

/// Work that blocks, off the threads that must not.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(Problem::internal("launch work", error)))
}
