//! `launch.prepare`: a partial configuration, completed.
//!
//! Names of branches and tags become commits, paths become repositories, and what is missing is
//! looked up where that is safe. What may be written is never decided here: it is suggested.
//! For the command line; contract 004 names no such tool.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use windlass_engine::operation::{CallContext, Operation, operation as define};
use windlass_launch_model::{
    Accepted, LocalRepos, ResolvedConfig, Section, config::Caller, ids, repo_url::RepoUrl,
};
use windlass_launch_scout::{Scout, ScoutInput};
use windlass_ports::{
    Git, GitError,
    entropy::random,
    git::{check_revision, hide_credentials, is_object_id},
};
use windlass_types::{Problem, Shortage, code};

use super::Desk;
use crate::{
    contract::LaunchContract,
    fault::{invalid, schema},
};

/// Manifests that name a product, and the table its name is in.
const MANIFESTS: [(&str, &str); 2] = [("pyproject.toml", "[project]"), ("Cargo.toml", "[package]")];
const NODE_MANIFEST: &str = "package.json";
const README: &str = "README.md";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PrepareInput {
    /// As much of a run_config as is known. `github_ref` and `site_ref` may name a branch or a
    /// tag, and anything that names a commit where the repository is on this machine.
    run_config: Map<String, Value>,
}

/// The answer.
#[derive(Debug, Serialize, JsonSchema)]
struct Prepared {
    /// The configuration, with commits in place of names.
    run_config: Map<String, Value>,
    /// What was looked up, in a sentence each.
    notes: Vec<String>,
    /// What `allowed_paths` could be; only where the configuration has none.
    suggested_paths: Vec<String>,
}

pub(super) fn operation(desk: &Desk) -> Arc<dyn Operation> {
    let desk = desk.clone();
    define("launch", "prepare")
        .describe(
            "Complete a run_config",
            "Completes as much of a run_config as is known: branches and tags become commits, the \
             product gets its name, and paths that could be allowed are suggested. Starts nothing.",
        )
        .contract(&LaunchContract)
        .not_a_tool()
        .example(
            "Two repositories on this machine",
            json!({ "run_config": {
                "github_repo_url": "./acme-pdf",
                "github_ref": "v1.2.0",
                "site_repo_url": "./site",
            } }),
        )
        .handle(move |context: CallContext, input: PrepareInput| {
            let desk = desk.clone();
            async move {
                let hugo = input.run_config.get("hugo");
                let named = hugo.and_then(|hugo| hugo.get("exec_allow")?.as_array());
                let named = named.into_iter().flatten().filter_map(Value::as_str);
                desk.outside.check_programs(named)?;
                let scratch = format!(
                    "prepare-{}",
                    windlass_types::Digest::of(&random::<16>(&*desk.engine.entropy)).short()
                );
                let look = Look {
                    git: Arc::clone(&desk.outside.git),
                    caller: desk.outside.caller(&context.principal),
                    directory: context.directory,
                    scratch: desk.outside.folder.join(scratch),
                };
                tokio::task::spawn_blocking(move || look.prepare(input.run_config))
                    .await
                    .unwrap_or_else(|error| Err(Problem::internal("launch prepare", error)))
            }
        })
}

/// What is looked with.
struct Look {
    git: Arc<dyn Git>,
    caller: Caller,
    directory: Option<PathBuf>,
    /// A folder that does not exist yet, for a copy of the site.
    scratch: PathBuf,
}

/// A repository that was named.
#[derive(Debug)]
struct Repository {
    /// As configurations name it.
    name: String,
    /// As git is given it.
    address: String,
    /// Where it is, if it is on this machine.
    local: Option<PathBuf>,
}

impl Look {
    fn prepare(&self, mut config: Map<String, Value>) -> Result<Prepared, Problem> {
        let mut notes = Vec::new();
        let product = self.repository("github_repo_url", &config, &mut notes)?;
        let site = self.repository("site_repo_url", &config, &mut notes)?;
        config.insert("github_repo_url".to_owned(), json!(product.name));
        config.insert("site_repo_url".to_owned(), json!(site.name));
        let commit = match text(&config, "github_ref")? {
            Some(given) => self.commit("github_ref", &product, given)?,
            None => self.head("github_repo_url", &product, &mut notes)?,
        };
        config.insert("github_ref".to_owned(), json!(commit));
        let site_commit = match text(&config, "site_ref")? {
            Some(given) => {
                let commit = self.commit("site_ref", &site, given)?;
                config.insert("site_ref".to_owned(), json!(commit));
                commit
            }
            // The run takes what the site offers first, and records it.
            None => self.head("site_repo_url", &site, &mut Vec::new())?,
        };
        if text(&config, "product_name")?.is_none() {
            let name = self.product_name(&product, &commit);
            notes.push(format!("the product is called {name}"));
            config.insert("product_name".to_owned(), json!(name));
        }
        let suggested_paths = match config.get("allowed_paths") {
            Some(_) => Vec::new(),
            None => self.suggest(&config, &site, &site_commit)?,
        };
        Ok(Prepared {
            run_config: config,
            notes,
            suggested_paths,
        })
    }

    fn repository(
        &self,
        field: &str,
        config: &Map<String, Value>,
        notes: &mut Vec<String>,
    ) -> Result<Repository, Problem> {
        let pointer = format!("/run_config/{field}");
        let given = text(config, field)?
            .ok_or_else(|| invalid(&pointer, "missing", format!("run_config has no {field}")))?;
        let parsed = RepoUrl::parse(given)
            .map_err(|reason| invalid(&pointer, "format", format!("{field}: {reason}")))?;
        let Some(path) = parsed.local_path() else {
            return Ok(Repository {
                name: given.to_owned(),
                address: given.to_owned(),
                local: None,
            });
        };
        if !matches!(self.caller.local_repos, LocalRepos::Any) {
            let message = format!("{field}: only a caller on this machine may name a path of it");
            return Err(invalid(&pointer, "local", message));
        }
        let absolute = match &self.directory {
            Some(directory) => directory.join(path),
            None => PathBuf::from(path),
        };
        let found = fs_err::canonicalize(&absolute).map_err(|error| {
            let at = absolute.display();
            let problem = match Shortage::of_io(&error) {
                Some(shortage) => shortage.note(Problem::new(
                    &code::STORE_UNAVAILABLE,
                    format!("the repository at {at} cannot be opened: {error}"),
                )),
                None => Problem::new(&code::NOT_FOUND, format!("there is no repository at {at}")),
            };
            problem.with("field", pointer.as_str())
        })?;
        // Around a checkout git knows its top; a bare repository is its own.
        let top = match self.git.toplevel(&found) {
            Ok(Some(top)) => top,
            Ok(None) | Err(GitError::Failed { .. }) => found.clone(),
            Err(error) => {
                let at = Repository {
                    name: found.display().to_string(),
                    address: String::new(),
                    local: Some(found),
                };
                return Err(unreadable(&pointer, &at, &error));
            }
        };
        if top != found {
            notes.push(format!(
                "{} is part of {}, which is read whole",
                found.display(),
                top.display()
            ));
        }
        let name = top.to_str().map(str::to_owned).ok_or_else(|| {
            let message = format!("{} is not a path in UTF-8", top.display());
            invalid(&pointer, "encoding", message)
        })?;
        Ok(Repository {
            address: format!("file://{name}"),
            name,
            local: Some(top),
        })
    }

    /// The commit a text names.
    fn commit(&self, field: &str, at: &Repository, given: &str) -> Result<String, Problem> {
        if is_object_id(given) {
            return Ok(given.to_ascii_lowercase());
        }
        let pointer = format!("/run_config/{field}");
        let found = match &at.local {
            Some(path) => check_revision(given)
                .map_err(GitError::from)
                .and_then(|()| self.git.commit_of(path, given)),
            None => match self.git.resolve(&at.address, given) {
                Err(GitError::Missing { .. }) => Ok(None),
                outcome => outcome.map(Some),
            },
        };
        found
            .map_err(|error| unreadable(&pointer, at, &error))?
            .ok_or_else(|| {
                Problem::new(
                    &code::NOT_FOUND,
                    format!(
                        "{} has no branch, tag or commit {given:?}",
                        hide_credentials(&at.name)
                    ),
                )
                .with("field", pointer.as_str())
                .next(format!("git ls-remote {}", hide_credentials(&at.name)))
            })
    }

    /// The commit a repository offers first.
    fn head(
        &self,
        field: &str,
        at: &Repository,
        notes: &mut Vec<String>,
    ) -> Result<String, Problem> {
        let pointer = format!("/run_config/{field}");
        let head = self
            .git
            .head_of(&at.address)
            .map_err(|error| unreadable(&pointer, at, &error))?;
        let short = head.commit.get(..12).unwrap_or(&head.commit);
        let branch = head.branch.as_deref().unwrap_or("HEAD");
        notes.push(format!("{branch} of the product is {short}"));
        Ok(head.commit)
    }

    /// What the product calls itself, or else its folder.
    fn product_name(&self, product: &Repository, commit: &str) -> String {
        let folder = folder_name(&product.name);
        let Some(path) = &product.local else {
            return folder;
        };
        let [python, rust] = MANIFESTS;
        let names = [python.0, rust.0, NODE_MANIFEST, README];
        let paths = names.map(Path::new);
        // A repository that cannot be read now says so when the run reads it.
        let Ok(files) = self.git.blobs(path, commit, &paths) else {
            return folder;
        };
        let texts: Vec<Option<String>> = files
            .into_iter()
            .map(|file| String::from_utf8(file?).ok())
            .collect();
        let [python_text, rust_text, node_text, readme] = texts.as_slice() else {
            return folder;
        };
        let named = table_name(python_text.as_deref(), python.1)
            .or_else(|| table_name(rust_text.as_deref(), rust.1))
            .or_else(|| node_name(node_text.as_deref()));
        let heading = heading(readme.as_deref());
        match (named, heading) {
            (Some(named), heading) => spelled(&named, heading),
            // Without a manifest the title of the README is the next best thing.
            (None, Some(heading)) if is_a_name(heading) => heading.to_owned(),
            (None, heading) => spelled(&folder, heading),
        }
    }

    /// Folders the product's pages would go to, for the sections the site has.
    fn suggest(
        &self,
        config: &Map<String, Value>,
        site: &Repository,
        commit: &str,
    ) -> Result<Vec<String>, Problem> {
        let mut everything = config.clone();
        everything.insert("allowed_paths".to_owned(), json!(["**"]));
        let accepted = Accepted::new(Value::Object(everything), &self.caller)
            .map_err(|errors| schema(&errors))?;
        let scratch = Scratch(self.scratch.clone());
        let failed = |error: GitError| unreadable("/run_config/site_repo_url", site, &error);
        let (bare, copy, nothing) = (
            scratch.0.join("site.git"),
            scratch.0.join("site"),
            scratch.0.join("product"),
        );
        fs_err::create_dir_all(&nothing).map_err(|error| Problem::internal("scratch", error))?;
        self.git
            .fetch_commit(&bare, &site.address, commit)
            .map_err(failed)?;
        self.git.export(&bare, commit, &copy).map_err(failed)?;
        let input = ScoutInput {
            config: accepted.config().clone(),
            site_sha: commit.to_owned(),
            workflows_sha: None,
            default_branch: None,
            latest_release_tag: None,
        };
        let scout = Scout::open(&nothing, &copy, input)?;
        let found = scout.inventory(&scout.site()).found;
        let resolved = ResolvedConfig::new(&accepted, found)
            .map_err(|error| invalid("/run_config", "no_section", error.to_string()))?;
        let paths = scout.site_paths();
        let there = |section: &Section| {
            let root = resolved.section_roots.get(section);
            root.is_some_and(|root| paths.iter().any(|path| Path::new(path).starts_with(root)))
        };
        let mut sections = resolved.required_sections.clone();
        if sections.iter().any(there) {
            sections.retain(there);
        }
        let family = &accepted.config().family;
        Ok(sections
            .iter()
            .flat_map(|section| {
                let root = resolved.section_roots.get(section);
                let mode = resolved.locale_modes.get(section);
                let locales = &accepted.config().locales;
                root.zip(mode).into_iter().flat_map(move |(root, mode)| {
                    locales
                        .iter()
                        .map(move |locale| mode.folder(root, family, locale))
                })
            })
            .collect())
    }
}

/// A folder that goes away with its creator.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed does no harm; nothing reads it again.
        let _ = fs_err::remove_dir_all(&self.0);
    }
}

fn text<'a>(config: &'a Map<String, Value>, field: &str) -> Result<Option<&'a str>, Problem> {
    match config.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(invalid(
            &format!("/run_config/{field}"),
            "type",
            format!("{field} is not a text"),
        )),
    }
}

fn unreadable(pointer: &str, at: &Repository, error: &GitError) -> Problem {
    let name = hide_credentials(&at.name);
    let (code, message) = match (error, &at.local) {
        (GitError::Refused(_), _) => (&code::INVALID_INPUT, error.to_string()),
        (GitError::Failed { stderr, .. }, Some(_)) => (
            &code::NOT_FOUND,
            format!(
                "{name} is not a git repository with a commit: {}",
                reason(stderr)
            ),
        ),
        (GitError::Missing { .. }, _) => (
            &code::NOT_FOUND,
            format!("the repository {name} has no commit yet"),
        ),
        (GitError::Failed { stderr, .. }, None) => (
            &code::UPSTREAM_ERROR,
            format!("the repository {name} cannot be read: {}", reason(stderr)),
        ),
        (other, _) => (
            &code::UPSTREAM_ERROR,
            format!("the repository {name} cannot be read: {other}"),
        ),
    };
    Problem::new(code, message)
        .with("field", pointer)
        .next(format!("git ls-remote {name}"))
}

/// What git gives as the reason: its first complaint.
fn reason(stderr: &str) -> &str {
    let complaint = stderr.lines().find_map(|line| {
        let line = line.trim();
        ["fatal: ", "error: "]
            .into_iter()
            .find_map(|start| line.strip_prefix(start))
    });
    complaint.unwrap_or_else(|| stderr.trim())
}

/// The last part of an address, without `.git`.
fn folder_name(name: &str) -> String {
    let last = name
        .trim_end_matches('/')
        .rsplit(['/', ':'])
        .next()
        .unwrap_or_default();
    let last = last.strip_suffix(".git").unwrap_or(last);
    if last.is_empty() { "product" } else { last }.to_owned()
}

/// `name = "…"` in a table of a TOML file.
fn table_name(text: Option<&str>, table: &str) -> Option<String> {
    text?
        .lines()
        .map(str::trim)
        .skip_while(|line| *line != table)
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .find_map(|line| {
            let value = line.strip_prefix("name")?.trim_start().strip_prefix('=')?;
            let value = value.split('#').next().unwrap_or_default().trim();
            let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            value.strip_prefix(quote)?.strip_suffix(quote)
        })
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
}

/// The name of a Node package, without its scope.
fn node_name(text: Option<&str>) -> Option<String> {
    let manifest: Value = serde_json::from_str(text?).ok()?;
    let name = manifest.get("name")?.as_str()?;
    let name = name.rsplit('/').next().unwrap_or(name);
    (!name.is_empty()).then(|| name.to_owned())
}

/// The first heading of a README.
fn heading(readme: Option<&str>) -> Option<&str> {
    let mut lines = readme?.lines();
    lines
        .find_map(|line| line.strip_prefix("# "))
        .map(str::trim)
}

/// Whether a heading can be a product's name: a few plain words.
fn is_a_name(heading: &str) -> bool {
    let plain = |letter: char| letter.is_alphanumeric() || " .+#&-_".contains(letter);
    !heading.is_empty()
        && heading.split_whitespace().count() <= 3
        && heading.chars().count() <= 40
        && heading.chars().all(plain)
}

/// A name as a heading spells it, where that is the same name.
fn spelled(name: &str, heading: Option<&str>) -> String {
    match heading {
        Some(heading) if ids::product_slug(heading) == ids::product_slug(name) => {
            heading.to_owned()
        }
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_part_of_an_address_is_a_name() {
        for (address, name) in [
            ("/srv/acme-pdf", "acme-pdf"),
            ("/srv/acme-pdf/", "acme-pdf"),
            ("/srv/site.git", "site"),
            ("https://git.example/acme/pdf.git", "pdf"),
            ("git@git.example:pdf", "pdf"),
            ("/", "product"),
        ] {
            assert_eq!(folder_name(address), name, "{address}");
        }
    }

    #[test]
    fn manifests_name_the_product() {
        let project = "[build-system]\nname = \"no\"\n\n[project]\n# name = \"x\"\nname = 'tide'  # our name\nversion = \"1\"\n[other]\nname = \"no\"\n";
        assert_eq!(
            table_name(Some(project), "[project]").as_deref(),
            Some("tide")
        );
        for (text, table) in [
            (
                "[project]\nversion = \"1\"\n[x]\nname = \"no\"",
                "[project]",
            ),
            ("[project]\nname = \"\"", "[project]"),
            ("[project]\nnamespace = \"no\"", "[project]"),
            ("name = \"no\"", "[package]"),
        ] {
            assert_eq!(table_name(Some(text), table), None, "{text}");
        }
        assert_eq!(table_name(None, "[project]"), None);
        assert_eq!(
            node_name(Some(r#"{"name":"@acme/pdf"}"#)).as_deref(),
            Some("pdf")
        );
        assert_eq!(node_name(Some("{")), None);
    }

    #[test]
    fn the_readme_decides_the_spelling() {
        for (name, readme, expected) in [
            ("tidemark", "# Tidemark\n\ntext", "Tidemark"),
            ("acme-pdf", "\n[badge]\n\n# Acme PDF\n", "Acme PDF"),
            ("acme-pdf", "# Welcome!\n", "acme-pdf"),
            ("acme-pdf", "no heading", "acme-pdf"),
        ] {
            assert_eq!(spelled(name, heading(Some(readme))), expected, "{readme}");
        }
        assert_eq!(spelled("x", heading(None)), "x");
    }

    #[test]
    fn a_heading_is_a_name_when_it_reads_like_one() {
        for (heading, is) in [
            ("Windlass", true),
            ("C++ Tools", true),
            ("Acme PDF 2", true),
            ("How to build this repository", false),
            ("Welcome!", false),
            ("[Acme](https://acme.example)", false),
            ("", false),
        ] {
            assert_eq!(is_a_name(heading), is, "{heading:?}");
        }
    }
}
