//! What a schema cannot express: addresses, paths, and fields that depend on each other.

use std::path::{Component, Path};

use super::{Caller, CommitAdapter, LocalRepos, RunConfig, service::unknown_placeholders};
use crate::{
    AllowedPaths, Profile,
    repo_url::{RepoUrl, Scheme, is_host, web_host},
    schema::{SchemaError, child},
    site_path,
};

/// What is wrong with the languages as they were given.
pub(super) fn locales(config: &RunConfig) -> Vec<SchemaError> {
    match &config.locale {
        Some(locale) if !config.locales.is_empty() && config.locales != [locale.as_str()] => {
            vec![SchemaError::new(
                "/locales",
                "const",
                "/locales must have one entry equal to /locale when both are given",
            )]
        }
        _ => Vec::new(),
    }
}

/// The rule of what may be written, or what is wrong with its entries.
pub(super) fn allowed(config: &RunConfig) -> Result<AllowedPaths, Vec<SchemaError>> {
    AllowedPaths::new(&config.allowed_paths).map_err(|faults| {
        let mut found = Findings::default();
        for (index, fault) in faults {
            found.add(&format!("/allowed_paths/{index}"), "format", fault);
        }
        found.errors
    })
}

/// Everything else that is wrong.
pub(super) fn all(config: &RunConfig, caller: &Caller) -> Vec<SchemaError> {
    let mut found = Findings::default();
    repositories(config, caller, &mut found);
    paths(config, &mut found);
    addresses(config, &mut found);
    commit_service(config, &mut found);
    found.errors
}

#[derive(Default)]
struct Findings {
    errors: Vec<SchemaError>,
}

impl Findings {
    fn add(&mut self, pointer: &str, keyword: &str, reason: impl std::fmt::Display) {
        let message = format!("{pointer}: {reason}");
        self.errors
            .push(SchemaError::new(pointer, keyword, message));
    }

    fn folder(&mut self, pointer: &str, path: &str) {
        if let Err(fault) = site_path::check_folder(path) {
            self.add(pointer, "format", fault);
        }
    }

    fn folders(&mut self, pointer: &str, paths: &[String]) {
        for (index, path) in paths.iter().enumerate() {
            self.folder(&format!("{pointer}/{index}"), path);
        }
    }

    fn web(&mut self, pointer: &str, address: Option<&String>, scheme: Scheme) {
        if let Some(Err(reason)) = address.map(|address| web_host(address, scheme)) {
            self.add(pointer, "format", reason);
        }
    }
}

fn repositories(config: &RunConfig, caller: &Caller, found: &mut Findings) {
    repository(
        "/github_repo_url",
        &config.github_repo_url,
        config,
        caller,
        found,
    );
    repository(
        "/site_repo_url",
        &config.site_repo_url,
        config,
        caller,
        found,
    );
    if let Some(url) = &config.workflows_repo_url {
        repository("/workflows_repo_url", url, config, caller, found);
        if config.workflows_ref.is_none() {
            found.add(
                "/workflows_ref",
                "dependentRequired",
                "is required with /workflows_repo_url",
            );
        }
    } else if config.workflows_ref.is_some() {
        found.add(
            "/workflows_repo_url",
            "dependentRequired",
            "is required with /workflows_ref",
        );
    }
}

fn repository(
    pointer: &str,
    text: &str,
    config: &RunConfig,
    caller: &Caller,
    found: &mut Findings,
) {
    let path = match RepoUrl::parse(text) {
        Ok(RepoUrl::Local { path }) => path,
        Ok(_) => return,
        Err(reason) => return found.add(pointer, "format", reason),
    };
    if config.validation_profile != Profile::Local {
        return found.add(
            pointer,
            "format",
            "a path of this machine is taken in profile local only; use https:// or ssh://",
        );
    }
    if let LocalRepos::Below(roots) = &caller.local_repos
        && !roots.iter().any(|root| lies_below(Path::new(&path), root))
    {
        found.add(
            pointer,
            "format",
            "this server reads no repository there; use https:// or ssh://, or have the folder allowed in its settings",
        );
    }
}

/// By components and without the file system; links are looked at when the repository is opened.
fn lies_below(path: &Path, root: &Path) -> bool {
    path.is_absolute()
        && path.starts_with(root)
        && path
            .components()
            .all(|component| component != Component::ParentDir)
}

fn paths(config: &RunConfig, found: &mut Findings) {
    found.folder("/family", &config.family);
    let layout = &config.site_layout;
    if let Some(root) = &layout.content_root {
        found.folder("/site_layout/content_root", root);
    }
    for (section, root) in &layout.subdomain_roots {
        let pointer = child("/site_layout/subdomain_roots", section.as_str());
        found.folder(&pointer, root);
    }
    if let Some(folder) = &config.hugo.config_dir {
        found.folder("/hugo/config_dir", folder);
    }
    if let Some(folder) = &config.hugo.config_snapshot_dir {
        found.folder("/hugo/config_snapshot_dir", folder);
    }
    let hints = &config.repo_hints;
    found.folders(
        "/repo_hints/preferred_source_roots",
        &hints.preferred_source_roots,
    );
    found.folders(
        "/repo_hints/preferred_docs_roots",
        &hints.preferred_docs_roots,
    );
    found.folders(
        "/repo_hints/preferred_examples_roots",
        &hints.preferred_examples_roots,
    );
    let ingestion = &config.ingestion;
    found.folders("/ingestion/scan_directories", &ingestion.scan_directories);
    found.folders(
        "/ingestion/example_directories",
        &ingestion.example_directories,
    );
}

fn addresses(config: &RunConfig, found: &mut Findings) {
    let urls = &config.canonical_urls;
    found.web(
        "/canonical_urls/product",
        urls.product.as_ref(),
        Scheme::HttpToo,
    );
    found.web("/canonical_urls/docs", urls.docs.as_ref(), Scheme::HttpToo);
    found.web(
        "/canonical_urls/reference",
        urls.reference.as_ref(),
        Scheme::HttpToo,
    );
    if let Some(llm) = &config.llm {
        found.web(
            "/llm/api_base_url",
            Some(&llm.api_base_url),
            Scheme::HttpToo,
        );
        let fallback = llm.fallback.as_ref().map(|fallback| &fallback.api_base_url);
        found.web("/llm/fallback/api_base_url", fallback, Scheme::HttpToo);
    }
    if let Some(telemetry) = &config.telemetry {
        found.web(
            "/telemetry/endpoint_url",
            telemetry.endpoint_url.as_ref(),
            Scheme::HttpToo,
        );
    }
    for (index, url) in config.hugo.http_allow.iter().enumerate() {
        let pointer = format!("/hugo/http_allow/{index}");
        found.web(&pointer, Some(url), built_with(config));
        if url.matches('/').count() < 3 {
            found.add(
                &pointer,
                "format",
                "end the host with a slash, as in https://files.acme.dev/",
            );
        }
    }
    let proxy = config.hugo.module_proxy.as_ref();
    found.web("/hugo/module_proxy", proxy, built_with(config));
    if proxy.is_some() && config.hugo.exec_allow.is_empty() {
        found.add(
            "/hugo/exec_allow",
            "dependentRequired",
            "needs \"^go$\" with /hugo/module_proxy: Hugo downloads modules by the go program",
        );
    }
    if !config.extra_evidence_urls.is_empty() {
        found.add(
            "/extra_evidence_urls",
            "maxItems",
            "facts are read from the product's repository only, so this must be empty; put the text into the repository, for example below docs/",
        );
    }
    for (index, host) in config.network.allowed_hosts.iter().enumerate() {
        if !is_host(host) {
            found.add(
                &format!("/network/allowed_hosts/{index}"),
                "format",
                "give a host alone, without scheme, port or path",
            );
        }
    }
}

/// Only on this machine is a site built with files that come unencrypted.
fn built_with(config: &RunConfig) -> Scheme {
    match config.validation_profile {
        Profile::Local => Scheme::HttpToo,
        _ => Scheme::HttpsOnly,
    }
}

fn commit_service(config: &RunConfig, found: &mut Findings) {
    let service = &config.commit_service;
    let endpoint = "/commit_service/endpoint_url";
    found.web(endpoint, service.endpoint_url.as_ref(), Scheme::HttpToo);
    if service.adapter() == CommitAdapter::Http && service.endpoint_url.is_none() {
        found.add(
            endpoint,
            "dependentRequired",
            "is required with adapter http",
        );
    }
    for (pointer, template) in [
        (
            "/commit_service/commit_message_template",
            &service.commit_message_template,
        ),
        (
            "/commit_service/commit_body_template",
            &service.commit_body_template,
        ),
    ] {
        for name in unknown_placeholders(template) {
            let known = super::PLACEHOLDERS.join("}, {");
            found.add(
                pointer,
                "format",
                format!("{{{name}}} is not a placeholder; known: {{{known}}}"),
            );
        }
    }
    for (pointer, line) in [
        (
            "/commit_service/commit_message_template",
            &service.commit_message_template,
        ),
        ("/commit_service/author_name", &service.author_name),
    ] {
        if line.chars().any(char::is_control) {
            found.add(pointer, "format", "must be one line");
        }
    }
    if service.author_name.contains(['<', '>']) {
        found.add(
            "/commit_service/author_name",
            "format",
            "must not contain '<' or '>'",
        );
    }
}
