//! A run, as the telemetry interface shows it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use windlass_types::Timestamp;

/// How a run stands.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Running,
    Success,
    Failure,
    Partial,
    Timeout,
    Cancelled,
}

impl Status {
    pub(crate) const ALL: [Self; 6] = [
        Self::Running,
        Self::Success,
        Self::Failure,
        Self::Partial,
        Self::Timeout,
        Self::Cancelled,
    ];
    /// Words that are understood besides.
    pub(crate) const ALIASES: [(&'static str, Self); 3] = [
        ("failed", Self::Failure),
        ("completed", Self::Success),
        ("succeeded", Self::Success),
    ];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Partial => "partial",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
        }
    }

    /// The status of a word.
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        let own = Self::ALL
            .into_iter()
            .map(|status| (status.as_str(), status));
        own.chain(Self::ALIASES)
            .find(|(word, _)| *word == name)
            .map(|(_, status)| status)
    }
}

/// What kind of work a run is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JobType {
    Launch,
    OrchestratorNode,
    Worker,
    Gate,
    LlmCall,
    CommitService,
    McpToolCall,
}

impl JobType {
    pub(crate) const ALL: [Self; 7] = [
        Self::Launch,
        Self::OrchestratorNode,
        Self::Worker,
        Self::Gate,
        Self::LlmCall,
        Self::CommitService,
        Self::McpToolCall,
    ];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Launch => "launch",
            Self::OrchestratorNode => "orchestrator_node",
            Self::Worker => "worker",
            Self::Gate => "gate",
            Self::LlmCall => "llm_call",
            Self::CommitService => "commit_service",
            Self::McpToolCall => "mcp_tool_call",
        }
    }

    pub(crate) fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// Who said which commit came of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CommitSource {
    Manual,
    Llm,
    Ci,
}

impl CommitSource {
    pub(crate) const ALL: [Self; 3] = [Self::Manual, Self::Llm, Self::Ci];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Llm => "llm",
            Self::Ci => "ci",
        }
    }
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Run {
    /// What it is reported under; the same run is never there twice.
    pub(crate) event_id: String,
    pub(crate) run_id: String,
    pub(crate) agent_name: String,
    pub(crate) job_type: JobType,
    pub(crate) status: Status,
    pub(crate) start_time: Timestamp,
    #[serde(default)]
    pub(crate) end_time: Option<Timestamp>,
    #[serde(default)]
    pub(crate) duration_ms: Option<u64>,
    /// The run it is a part of.
    #[serde(default)]
    pub(crate) parent_run_id: Option<String>,
    #[serde(default)]
    pub(crate) product: Option<String>,
    #[serde(default)]
    pub(crate) product_family: Option<String>,
    #[serde(default)]
    pub(crate) platform: Option<String>,
    #[serde(default)]
    pub(crate) subdomain: Option<String>,
    #[serde(default)]
    pub(crate) website_section: Option<String>,
    #[serde(default)]
    pub(crate) item_name: Option<String>,
    #[serde(default)]
    pub(crate) git_repo: Option<String>,
    #[serde(default)]
    pub(crate) git_branch: Option<String>,
    /// The commit that came of it.
    #[serde(default)]
    pub(crate) commit_hash: Option<String>,
    #[serde(default)]
    pub(crate) commit_source: Option<CommitSource>,
    #[serde(default)]
    pub(crate) items_discovered: Option<u64>,
    #[serde(default)]
    pub(crate) items_succeeded: Option<u64>,
    #[serde(default)]
    pub(crate) items_failed: Option<u64>,
    #[serde(default)]
    pub(crate) items_skipped: Option<u64>,
    #[serde(default)]
    pub(crate) output_summary: Option<String>,
    #[serde(default)]
    pub(crate) error_summary: Option<String>,
    /// A text or an object.
    #[serde(default)]
    pub(crate) error_details: Option<Value>,
    /// Figures; an object.
    #[serde(default)]
    pub(crate) metrics_json: Option<Value>,
    /// Particulars, the trace and span among them; an object.
    #[serde(default)]
    pub(crate) context_json: Option<Value>,
}

impl Run {
    /// A run that has started, with nothing known about it besides.
    pub(crate) const fn begun(
        event_id: String,
        run_id: String,
        agent_name: String,
        job_type: JobType,
        start_time: Timestamp,
    ) -> Self {
        Self {
            event_id,
            run_id,
            agent_name,
            job_type,
            status: Status::Running,
            start_time,
            end_time: None,
            duration_ms: None,
            parent_run_id: None,
            product: None,
            product_family: None,
            platform: None,
            subdomain: None,
            website_section: None,
            item_name: None,
            git_repo: None,
            git_branch: None,
            commit_hash: None,
            commit_source: None,
            items_discovered: None,
            items_succeeded: None,
            items_failed: None,
            items_skipped: None,
            output_summary: None,
            error_summary: None,
            error_details: None,
            metrics_json: None,
            context_json: None,
        }
    }

    /// Notes how it ended.
    pub(crate) fn end(&mut self, status: Status, at: Timestamp) {
        self.status = status;
        self.end_time = Some(at);
        self.settle_duration();
    }

    /// How long it took, where only its ends are known.
    pub(crate) fn settle_duration(&mut self) {
        if let (None, Some(end)) = (self.duration_ms, self.end_time)
            && end >= self.start_time
        {
            let took = end.since(self.start_time).as_millis();
            self.duration_ms = u64::try_from(took).ok();
        }
    }

    /// Takes over what has changed.
    pub(crate) fn apply(&mut self, changes: Changes) {
        macro_rules! take {
            ($($field:ident),* $(,)?) => {$(
                if changes.$field.is_some() {
                    self.$field = changes.$field;
                }
            )*};
        }
        if let Some(status) = changes.status {
            self.status = status;
        }
        take!(
            end_time,
            duration_ms,
            items_discovered,
            items_succeeded,
            items_failed,
            items_skipped,
            output_summary,
            error_summary,
            error_details,
            metrics_json,
            context_json,
            commit_hash,
            commit_source,
        );
        self.settle_duration();
    }
}

/// What may change about a reported run. What is not given stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Changes {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<Status>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) end_time: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) duration_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) items_discovered: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) items_succeeded: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) items_failed: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) items_skipped: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) output_summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error_summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error_details: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) metrics_json: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) context_json: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) commit_hash: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) commit_source: Option<CommitSource>,
}
