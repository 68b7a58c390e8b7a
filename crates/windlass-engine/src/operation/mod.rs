//! Operations: what Windlass can do, described once and offered by every surface.
//!
//! A domain exports operations; the catalogue collects them. MCP makes tools of them, HTTP
//! routes, the CLI `--json` answers. No surface plans, validates or decides on its own.

mod call;
mod catalogue;
mod change;
mod declared;
mod defect;
mod define;
mod entries;
mod fields;
mod permit;
mod plainly_valid;
mod policy_names;
mod reply;
mod schema;
mod told;
mod validate;
mod waiting;

pub use call::{CallContext, CallRequest, Delegated, Terms, TraceParent};
pub use catalogue::Catalogue;
pub(crate) use catalogue::WeakCatalogue;
pub use change::{ApplyAnswer, Change, ChangeInfo, PlanAnswer, change_operations};
pub use declared::Declared;
pub use defect::CatalogueError;
pub use define::{OperationBuilder, operation};
pub use fields::{Field, fields};
pub use permit::{Grant, Permit};
pub use reply::{
    Answer, AnswerWhen, Awaited, Begun, Explain, OnCreated, Pending, ProposedRun, Render, Reply,
    Timing,
};
pub use schema::{LazySchema, input_schema_of, output_schema_of};
pub(crate) use waiting::WaitingCall;
pub use waiting::approval_pending;

use std::path::PathBuf;

use futures::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;
use windlass_policy::WithoutRule;
use windlass_types::{Digest, EffectClass, Problem, RunRecord, code};

use crate::contract::Contract;

/// How an operation goes about its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Flow {
    /// Answers from what is known; changes nothing.
    Query,
    /// Says what would change and hands out a confirm token.
    Plan,
    /// Proposes a run, which the gate judges by its plan.
    Apply,
    /// Tells a run something.
    Signal,
    /// Changes something at once: a key, a backup.
    Command,
}

impl Flow {
    /// Whether nothing is changed, so that there is nothing that could wait for an approval.
    pub const fn is_reading(self) -> bool {
        matches!(self, Self::Query | Self::Plan)
    }

    /// The name, as on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Plan => "plan",
            Self::Apply => "apply",
            Self::Signal => "signal",
            Self::Command => "command",
        }
    }
}

/// An input that works, for documentation, tests and models.
#[derive(Clone, Debug, Serialize)]
pub struct Example {
    /// What it shows.
    pub title: String,
    /// The input.
    pub input: Value,
    /// What it may give, before the envelope; contracts ask for such samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
}

/// The description of an operation.
#[derive(Clone, Debug, Serialize)]
pub struct OperationInfo {
    /// The name, `<toolset>.<verb>`.
    pub name: String,
    /// The MCP tool name; the contract's where one prescribes it.
    pub tool: String,
    /// The toolset, which is also the scope an API key needs.
    pub toolset: String,
    /// A few words for people.
    pub title: String,
    /// What it does and when to use it; written for people and for models.
    pub description: String,
    /// What it may do to the world.
    pub effect: EffectClass,
    /// How it goes about it.
    pub flow: Flow,
    /// The scope an API key needs.
    pub scope: String,
    /// JSON Schema (2020-12) of the input.
    pub input_schema: LazySchema,
    /// JSON Schema (2020-12) of the output, inside the envelope.
    pub output_schema: LazySchema,
    /// Inputs that work.
    pub examples: Vec<Example>,
    /// Output fields that redaction leaves alone: secrets that are meant to be shown once (a
    /// token, a new key), long lists that can hold none (paths with their digests), and content
    /// that the caller asked for (an artifact, a template), which must be what its hash says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub discloses: Vec<String>,
    /// Whether the whole output is content that the caller asked for, so that redaction leaves
    /// all of it alone.
    #[serde(skip)]
    pub is_content: bool,
    /// Whether its answer holds a secret that is shown once, so that it cannot come later.
    #[serde(skip)]
    pub shows_secret: bool,
    /// Input fields that name what it acts on, for policy.
    #[serde(skip)]
    pub target_inputs: Vec<String>,
    /// Input fields that hold a secret whatever its text looks like: never kept, never hashed.
    #[serde(skip)]
    pub secret_inputs: Vec<String>,
    /// Whether MCP clients are offered it; the contract of a toolset may name its tools.
    pub is_tool: bool,
    /// Whether it calls services outside this machine and its home: a cloud, a code host.
    #[serde(skip)]
    pub reaches_out: bool,
    /// What people say when they want it, where the title and the description do not have those
    /// words; the search over tools reads them.
    #[serde(skip)]
    pub search_words: Vec<String>,
    /// What policy decides where no rule matches.
    #[serde(skip)]
    pub without_rule: WithoutRule,
    /// Whether it answers an approval: a call that would itself wait for one is refused.
    #[serde(skip)]
    pub answers_approval: bool,
    /// Whether the gate judges it by the plan that the call makes, not by the call.
    #[serde(skip)]
    pub is_judged_by_plan: bool,
    /// Whether it answers for bad input itself, because its contract prescribes the order and
    /// the codes of refusals.
    #[serde(skip)]
    pub validates_itself: bool,
    /// How answers and failures look on the wire.
    #[serde(skip)]
    pub contract: &'static dyn Contract,
}

impl OperationInfo {
    /// What the envelope wants to know of the input: nothing, for most.
    pub fn input_for_envelope(&self, input: &Value) -> Value {
        if self.contract.shows_input() {
            input.clone()
        } else {
            Value::Null
        }
    }
}

/// What a person is asked about before a call is made.
#[derive(Clone, Debug)]
pub struct CallPlan {
    /// What it would do, line by line.
    pub lines: Vec<String>,
    /// What stands for it: the digest that the caller and every approver see.
    pub digest: Digest,
}

/// Something Windlass can do.
pub trait Operation: Send + Sync + 'static {
    /// Its description.
    fn info(&self) -> &OperationInfo;

    /// Another operation that a call of this one means, with the input of that one: contracts
    /// have tools that stand for several operations. Everything from the scope on is the other
    /// operation's business.
    fn delegate(&self, _input: &Value) -> Result<Option<Delegated>, Problem> {
        Ok(None)
    }

    /// What a call is about, for policy; `None` while only the plan can tell. An operation that
    /// validates itself checks its input here, so that bad input is told before policy is asked.
    fn targets(
        &self,
        _context: &CallContext,
        _input: &Value,
    ) -> Result<Option<Vec<String>>, Problem> {
        Ok(Some(Vec::new()))
    }

    /// The files and directories that the input names: a caller with a key may name those below
    /// `server.roots` only.
    fn places(&self, _context: &CallContext, _input: &Value) -> Result<Vec<PathBuf>, Problem> {
        Ok(Vec::new())
    }

    /// Whether the caller says yes to exactly this: the field that a contract has for it, or the
    /// call itself.
    fn says_yes(&self, _input: &Value) -> bool {
        true
    }

    /// What a person is asked about before the call is made, where the input alone does not say it.
    fn plan_of_call(
        &self,
        _context: &CallContext,
        _input: &Value,
    ) -> Result<Option<CallPlan>, Problem> {
        Ok(None)
    }

    /// Does it. The input has been validated; scope and policy have been checked.
    fn call<'a>(
        &'a self,
        context: CallContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Reply, Problem>>;

    /// The answer that a ticket stands for, once it is there.
    fn settled<'a>(
        &'a self,
        _context: CallContext,
        _ticket: &'a str,
    ) -> BoxFuture<'a, Result<Option<Answer>, Problem>> {
        Box::pin(async { Ok(None) })
    }

    /// The answer of a caller who waited as long as it wanted to.
    fn unsettled(&self, record: RunRecord, _ticket: &str) -> Result<Answer, Problem> {
        let run_id = &record.run_id;
        Err(Problem::new(
            &code::TIMEOUT,
            format!("run {run_id} is {} and continues", record.state.as_str()),
        )
        .with("run_id", run_id.as_str())
        .with("state", record.state.as_str())
        .next(format!("windlass runs watch {run_id}")))
    }
}
