//! The services a run may talk to. Secrets are never here: `*_env` names a variable.

use serde::{Deserialize, Serialize};

use super::{CommitAdapter, ENV_PATTERN, LARGEST, yes};

/// A language model that words sentences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Llm {
    /// The service.
    pub api_base_url: String,
    /// The model.
    #[schemars(length(min = 1))]
    pub model: String,
    /// How it answers.
    #[serde(default)]
    pub decoding: Decoding,
    /// The variable with the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = ENV_PATTERN))]
    pub api_key_env: Option<String>,
    /// How long a call may take, in seconds.
    #[serde(default = "two_minutes")]
    #[schemars(range(min = 1, max = LARGEST))]
    pub request_timeout_s: u64,
    /// How many pages of a section are asked about at once.
    #[serde(default = "four")]
    #[schemars(range(min = 1, max = 1000))]
    pub max_concurrency: u64,
    /// What is called when the first does not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<LlmFallback>,
}

/// How a model answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Decoding {
    /// 0 is the most repeatable.
    #[schemars(range(min = 0.0, max = 2.0))]
    pub temperature: f64,
    /// Of the likeliest words, the share of the total.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub top_p: Option<f64>,
    /// The longest answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = LARGEST))]
    pub max_tokens: Option<u64>,
}

/// A second language model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LlmFallback {
    /// The service.
    pub api_base_url: String,
    /// The model.
    #[schemars(length(min = 1))]
    pub model: String,
    /// The variable with the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = ENV_PATTERN))]
    pub api_key_env: Option<String>,
    /// How long a call may take, in seconds.
    #[serde(default = "five_minutes")]
    #[schemars(range(min = 1, max = LARGEST))]
    pub request_timeout_s: u64,
}

/// Taken for compatibility; the server's own settings win.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Mcp {
    /// Whether tools are served.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// Where.
    #[schemars(length(min = 1))]
    pub listen_host: String,
    /// Where.
    #[schemars(range(min = 1, max = 65_535))]
    pub listen_port: u16,
    /// The variable with the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = ENV_PATTERN))]
    pub auth_token_env: Option<String>,
}

impl Default for Mcp {
    fn default() -> Self {
        Self {
            enabled: true,
            listen_host: "127.0.0.1".to_owned(),
            listen_port: 8787,
            auth_token_env: None,
        }
    }
}

/// Where telemetry goes besides the local store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Telemetry {
    /// The service; without it, the local store only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint_url: Option<String>,
    /// The project runs are filed under.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub project: Option<String>,
    /// Tags to find runs by.
    #[schemars(inner(length(min = 1)))]
    pub run_tags: Vec<String>,
    /// The variable with the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = ENV_PATTERN))]
    pub auth_token_env: Option<String>,
}

/// How the result is committed. As accepted, the adapter is always given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CommitService {
    /// By which way; without it local, or http where endpoint_url is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapter: Option<CommitAdapter>,
    /// The service, or the base of GitHub's or GitLab's interface.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint_url: Option<String>,
    /// The variable with the token of the service.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = ENV_PATTERN))]
    pub github_token_env: Option<String>,
    /// The first line of the commit's message.
    #[schemars(length(min = 1, max = 200))]
    pub commit_message_template: String,
    /// The rest of it.
    #[schemars(length(max = 10_000))]
    pub commit_body_template: String,
    /// Who commits.
    #[schemars(length(min = 1, max = 200))]
    pub author_name: String,
    /// Their address.
    #[schemars(regex(pattern = r"^[^\s<>@]+@[^\s<>@]+$"))]
    pub author_email: String,
}

impl Default for CommitService {
    fn default() -> Self {
        Self {
            adapter: None,
            endpoint_url: None,
            github_token_env: None,
            commit_message_template: "Add launch pages for {product_slug}".to_owned(),
            commit_body_template:
                "Written from {github_repo_url} at {github_ref}.\n\nRun: {run_id}".to_owned(),
            author_name: "Windlass".to_owned(),
            author_email: "windlass@localhost".to_owned(),
        }
    }
}

impl CommitService {
    /// By which way.
    pub fn adapter(&self) -> CommitAdapter {
        match (self.adapter, &self.endpoint_url) {
            (Some(adapter), _) => adapter,
            (None, Some(_)) => CommitAdapter::Http,
            (None, None) => CommitAdapter::Local,
        }
    }
}

/// What may stand in braces in a commit's message.
pub const PLACEHOLDERS: &[&str] = &[
    "product_slug",
    "github_repo_url",
    "github_ref",
    "site_repo_url",
    "site_ref",
    "run_id",
];

/// A template with its placeholders filled in, once: a value that holds braces stays as it is.
pub fn fill(template: &str, value_of: impl Fn(&str) -> Option<String>) -> String {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, name, after)) = next_placeholder(rest) {
        filled.push_str(before);
        match value_of(name) {
            Some(value) => filled.push_str(&value),
            None => {
                filled.push('{');
                filled.push_str(name);
                filled.push('}');
            }
        }
        rest = after;
    }
    filled.push_str(rest);
    filled
}

/// The names in braces that are no placeholder, in order.
pub(super) fn unknown_placeholders(template: &str) -> Vec<&str> {
    let mut unknown = Vec::new();
    let mut rest = template;
    while let Some((_, name, after)) = next_placeholder(rest) {
        if !PLACEHOLDERS.contains(&name) {
            unknown.push(name);
        }
        rest = after;
    }
    unknown
}

/// The text before the next `{name}`, the name, and the text after it.
fn next_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(open) = text[from..].find('{').map(|at| from + at) {
        let inside = &text[open + 1..];
        let length = inside
            .bytes()
            .take_while(|byte| byte.is_ascii_lowercase() || *byte == b'_')
            .count();
        if length > 0 && inside[length..].starts_with('}') {
            return Some((&text[..open], &inside[..length], &inside[length + 1..]));
        }
        from = open + 1;
    }
    None
}

const fn two_minutes() -> u64 {
    120
}

const fn five_minutes() -> u64 {
    300
}

const fn four() -> u64 {
    4
}
