//! Which hosts a run may call: those its configuration names, and no other.

use std::collections::BTreeSet;

use super::{CommitAdapter, RunConfig};
use crate::repo_url::{RepoUrl, Scheme, web_host};

impl RunConfig {
    /// The hosts of the repositories and services, and those allowed outright, in lower case.
    pub fn allowed_hosts(&self) -> BTreeSet<String> {
        let repositories = [
            Some(&self.github_repo_url),
            Some(&self.site_repo_url),
            self.workflows_repo_url.as_ref(),
        ];
        let mut hosts: BTreeSet<String> = repositories
            .into_iter()
            .flatten()
            .filter_map(|url| RepoUrl::parse(url).ok())
            .filter_map(|url| url.host().map(str::to_owned))
            .collect();
        let llm = self.llm.as_ref();
        let fallback = llm.and_then(|llm| llm.fallback.as_ref());
        let telemetry = self.telemetry.as_ref();
        let services = [
            llm.map(|llm| &llm.api_base_url),
            fallback.map(|fallback| &fallback.api_base_url),
            telemetry.and_then(|telemetry| telemetry.endpoint_url.as_ref()),
            self.commit_service.endpoint_url.as_ref(),
        ];
        hosts.extend(
            services
                .into_iter()
                .flatten()
                .filter_map(|url| web_host(url, Scheme::HttpToo).ok()),
        );
        let service = &self.commit_service;
        match (service.adapter(), &service.endpoint_url) {
            (CommitAdapter::Github, None) => hosts.insert("api.github.com".to_owned()),
            (CommitAdapter::Gitlab, None) => hosts.insert("gitlab.com".to_owned()),
            _ => false,
        };
        hosts.extend(
            self.network
                .allowed_hosts
                .iter()
                .map(|host| host.to_ascii_lowercase()),
        );
        hosts
    }
}
