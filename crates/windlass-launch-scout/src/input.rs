//! The scout's input: a run's configuration, and what the clones add.

use windlass_launch_model::{RunConfig, inventory::RepoRef};

/// What is read and how.
#[derive(Clone, Debug)]
pub struct ScoutInput {
    /// The configuration, static defaults filled in.
    pub config: RunConfig,
    /// The site's commit.
    pub site_sha: String,
    /// The workflows repository's commit, where there is one.
    pub workflows_sha: Option<String>,
    /// The branch people see first, where the clone knows it.
    pub default_branch: Option<String>,
    /// The newest release, where the clone knows it.
    pub latest_release_tag: Option<String>,
}

impl ScoutInput {
    pub(crate) fn product_name(&self) -> &str {
        &self.config.product_name
    }

    /// Folders that hold examples, besides the usual ones.
    pub(crate) fn example_folders(&self) -> impl Iterator<Item = &String> {
        let ingestion = &self.config.ingestion;
        let hints = &self.config.repo_hints;
        ingestion
            .example_directories
            .iter()
            .chain(&hints.preferred_examples_roots)
    }

    pub(crate) fn site(&self) -> RepoRef {
        RepoRef {
            repo_url: self.config.site_repo_url.clone(),
            requested_ref: self.config.site_ref.clone(),
            resolved_sha: self.site_sha.clone(),
        }
    }

    pub(crate) fn workflows(&self) -> Option<RepoRef> {
        Some(RepoRef {
            repo_url: self.config.workflows_repo_url.clone()?,
            requested_ref: self.config.workflows_ref.clone(),
            resolved_sha: self.workflows_sha.clone()?,
        })
    }
}
