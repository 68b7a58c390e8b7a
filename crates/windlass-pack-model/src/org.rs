//! The governance files `agentpack.org.yaml` and `agentpack.org.lock.json`. Only `policy`
//! commands read them.

use serde::{Deserialize, Serialize};
use windlass_types::{Digest, Problem};

use crate::{
    FileRecord, GitSource, ResolvedSource, Source, fault, json,
    reader::{FileWarning, Reader},
    source::{OutsidePaths, parse_source},
};

/// The name of the configuration.
pub const ORG_FILE: &str = "agentpack.org.yaml";

/// The name of the lockfile.
pub const ORG_LOCKFILE: &str = "agentpack.org.lock.json";

/// The one version of both.
pub const ORG_VERSION: u32 = 1;

/// What an organisation demands of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrgConfig {
    /// The version of the format.
    pub version: u32,
    /// The source spec of the policy pack.
    pub policy_pack: Option<PolicyPack>,
    /// What every repository deploys.
    pub distribution_policy: Option<DistributionPolicy>,
    /// Where modules may come from.
    pub supply_chain_policy: Option<SupplyChainPolicy>,
}

/// The policy pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyPack {
    /// Its source spec.
    pub source: String,
}

/// What every repository deploys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DistributionPolicy {
    /// Targets that must be configured, by name.
    pub required_targets: Vec<String>,
    /// Modules that must be there and enabled.
    pub required_modules: Vec<String>,
}

/// Where modules may come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SupplyChainPolicy {
    /// The beginnings of allowed git addresses; empty allows all.
    pub allowed_git_remotes: Vec<String>,
    /// Whether git modules must be locked.
    pub require_lockfile: bool,
}

/// Reads `agentpack.org.yaml`.
pub fn parse_org(text: &str) -> Result<(OrgConfig, Vec<FileWarning>), Problem> {
    let mut reader = Reader::new(ORG_FILE, fault::policy_config_invalid);
    let tree = reader.tree(text)?;
    let top = reader.fields(
        &tree,
        "the policy configuration",
        &[
            "version",
            "policy_pack",
            "distribution_policy",
            "supply_chain_policy",
        ],
    )?;
    let version = reader.version(&top, ORG_VERSION, fault::policy_config_unsupported_version)?;
    let texts = |reader: &Reader, fields: &_, key| -> Result<Vec<String>, Problem> {
        let texts = reader.texts(fields, key)?;
        Ok(texts.into_iter().map(|(text, _)| text).collect())
    };
    let policy_pack = match top.get("policy_pack") {
        Some(node) => {
            let fields = reader.fields(node, "policy_pack", &["source"])?;
            Some(PolicyPack {
                source: reader.text(&fields, "source")?,
            })
        }
        None => None,
    };
    let distribution_policy = match top.get("distribution_policy") {
        Some(node) => {
            let fields = reader.fields(
                node,
                "distribution_policy",
                &["required_targets", "required_modules"],
            )?;
            Some(DistributionPolicy {
                required_targets: texts(&reader, &fields, "required_targets")?,
                required_modules: texts(&reader, &fields, "required_modules")?,
            })
        }
        None => None,
    };
    let supply_chain_policy = match top.get("supply_chain_policy") {
        Some(node) => {
            let fields = reader.fields(
                node,
                "supply_chain_policy",
                &["allowed_git_remotes", "require_lockfile"],
            )?;
            Some(SupplyChainPolicy {
                allowed_git_remotes: texts(&reader, &fields, "allowed_git_remotes")?,
                require_lockfile: reader.boolean(&fields, "require_lockfile", false)?,
            })
        }
        None => None,
    };
    Ok((
        OrgConfig {
            version,
            policy_pack,
            distribution_policy,
            supply_chain_policy,
        },
        reader.warnings,
    ))
}

impl OrgConfig {
    /// The source of the policy pack, checked.
    pub fn policy_source(&self) -> Result<Source, Problem> {
        let Some(pack) = &self.policy_pack else {
            return Err(fault::policy_config_invalid(format!(
                "{ORG_FILE} has no policy_pack; add policy_pack.source (local:… or git:…)"
            ))
            .with("missing", vec!["policy_pack"]));
        };
        let spec = pack.source.trim();
        parse_source(spec, OutsidePaths::Allow).map_err(|error| {
            fault::policy_config_invalid(format!("{ORG_FILE}: policy_pack.source: {error}"))
                .with("field", "policy_pack.source")
                .with("value", spec)
                .with("error", error.to_string())
        })
    }
}

/// Whether a git address begins with one of the allowed ones, at a `/`. https, ssh and scp-like
/// forms of one address count as the same. An empty list allows everything.
pub fn is_allowed_remote(url: &str, allowed: &[String]) -> bool {
    let url = normalise_remote(url);
    let mut entries = allowed
        .iter()
        .map(|entry| normalise_remote(entry))
        .filter(|entry| !entry.is_empty())
        .peekable();
    if entries.peek().is_none() {
        return true;
    }
    entries.any(|entry| match url.strip_prefix(&entry) {
        Some(rest) => rest.is_empty() || entry.ends_with('/') || rest.starts_with('/'),
        None => false,
    })
}

/// A git address as allow-lists compare it: no scheme, no user, no `.git`, lower-case.
pub fn normalise_remote(url: &str) -> String {
    let url = url.trim().trim_end_matches(".git");
    let rest = if let Some(rest) = url.strip_prefix("git@") {
        rest.replace(':', "/")
    } else if let Some(rest) = url.strip_prefix("ssh://") {
        let host = rest.split_once('@').map_or(rest, |(_, host)| host);
        host.replace(':', "/")
    } else {
        url.strip_prefix("https://")
            .or_else(|| url.strip_prefix("http://"))
            .unwrap_or(url)
            .to_owned()
    };
    rest.trim_start_matches('/').to_lowercase()
}

/// The lockfile of the policy pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrgLockfile {
    /// The version of the format.
    pub version: u32,
    /// The pack.
    pub policy_pack: LockedPolicyPack,
}

/// A policy pack with its content settled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockedPolicyPack {
    /// The source as configured then.
    pub source: SourceRecord,
    /// Where the content came from.
    pub resolved_source: ResolvedSource,
    /// The commit, or `local`.
    pub resolved_version: String,
    /// The hash over its files, as for modules.
    pub sha256: Digest,
    /// The files, by path.
    pub file_manifest: Vec<FileRecord>,
}

/// A source as the lockfile has it: one of the two, the other null.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRecord {
    #[serde(default)]
    local_path: Option<LocalRecord>,
    #[serde(default)]
    git: Option<GitRecord>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct LocalRecord {
    path: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct GitRecord {
    url: String,
    #[serde(rename = "ref", default = "default_reference")]
    reference: String,
    #[serde(default)]
    subdir: String,
    #[serde(default = "default_shallow")]
    shallow: bool,
}

fn default_reference() -> String {
    GitSource::DEFAULT_REFERENCE.to_owned()
}

fn default_shallow() -> bool {
    true
}

impl From<&Source> for SourceRecord {
    fn from(source: &Source) -> Self {
        match source {
            Source::LocalPath { path } => Self {
                local_path: Some(LocalRecord { path: path.clone() }),
                git: None,
            },
            Source::Git(git) => Self {
                local_path: None,
                git: Some(GitRecord {
                    url: git.url.clone(),
                    reference: git.reference.clone(),
                    subdir: git.subdir.clone(),
                    shallow: git.shallow,
                }),
            },
        }
    }
}

/// Why the lockfile cannot be used; `policy lint` reports it as an issue.
#[derive(Debug, thiserror::Error)]
pub enum OrgLockError {
    /// The file is not a lockfile.
    #[error("{ORG_LOCKFILE} is not a policy lockfile: {0}")]
    Invalid(#[from] serde_json::Error),
    /// It is one of another version.
    #[error("{ORG_LOCKFILE} has version {0}; this program knows {ORG_VERSION}")]
    Version(u32),
}

impl OrgLockfile {
    /// Reads the lockfile.
    pub fn parse(text: &str) -> Result<Self, OrgLockError> {
        let lockfile: Self = serde_json::from_str(text)?;
        if lockfile.version == ORG_VERSION {
            Ok(lockfile)
        } else {
            Err(OrgLockError::Version(lockfile.version))
        }
    }

    /// The bytes of the file.
    pub fn render(&self) -> String {
        json::pretty(self)
    }
}

#[cfg(test)]
#[path = "org_tests.rs"]
mod tests;
