//! What happens to a run as a whole, and where it came from.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    ApprovalTerms, Digest, EffectClass, Principal, Problem, RunId, Surface, TokenId, TraceId,
};

body_structs! {
    /// A run came from another home. In a journal beside the run's own, which is stored as it came.
    RunImported {
        /// The run.
        run_id: RunId,
        /// The public key of the home that signed the export, and its signature.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signed_by: Option<String>,
        /// The signature.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    }
    /// The first event of every run: all that is needed to execute it.
    RunCreated {
        /// Which code executes it.
        kind: String,
        /// Who asked.
        principal: Principal,
        /// Through which surface.
        surface: Surface,
        /// The run that started this one, and under which key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<ParentRef>,
        /// The trace all its spans belong to.
        trace_id: TraceId,
        /// The caller's idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        idempotency_key: Option<String>,
        /// The digest of kind and input, which the key is bound to.
        config_hash: Digest,
        /// What the run's code receives: the payload of the confirmed plan, or plain input.
        input: Value,
        /// The confirmed plan.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        plan_digest: Option<Digest>,
        /// The redeemed token; no other run can name it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confirm_token: Option<TokenId>,
        /// Who approved where policy asked, or that an approval is still missing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approval: Option<ApprovalGate>,
        /// A short line for lists.
        #[serde(default)]
        title: String,
        /// What the gate admitted: the operation, what it touches, what its caller said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subject: Option<ChangeSubject>,
        /// What the run has for itself until it ends: one unfinished run per name.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        holds: Vec<String>,
        /// What happens where another run holds one of these names.
        #[serde(default, skip_serializing_if = "OnHeld::is_default")]
        on_held: OnHeld,
    }
    /// A process began (or, from the second time on, resumed) driving the run.
    RunStarted {
        /// The number of the driver: a later driver has a higher one.
        epoch: u64,
        /// How many times the run has been started, from 1.
        attempt: u32,
    }
    /// The run is undoing its effects, last one first.
    RunUnwinding {
        /// Why.
        reason: UnwindReason,
        /// The failure behind it, if one is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problem: Option<Problem>,
    }
    /// The run succeeded.
    RunCompleted {
        /// What it returned.
        output: Value,
    }
    /// The run failed; its effects were undone but for the residue.
    RunFailed {
        /// Why.
        problem: Problem,
        /// Steps whose effects remain.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        residue: Vec<String>,
    }
    /// The run was cancelled; its effects were undone but for the residue.
    RunCancelled {
        /// Steps whose effects remain.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        residue: Vec<String>,
    }
    /// A completed run was rolled back.
    RunRolledBack {
        /// Steps whose effects remain.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        residue: Vec<String>,
    }
    /// The run cannot continue with this version of the code; nothing was changed.
    RunHeld {
        /// Why.
        problem: Problem,
    }
    /// A change, as the gate sees it.
    ChangeSubject {
        /// The operation.
        operation: String,
        /// What it touches; empty where the plan is not known yet.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        targets: Vec<String>,
        /// What it does.
        effect: EffectClass,
        /// The lines of the plan that an approver is shown.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        lines: Vec<String>,
        /// Whether the caller said yes to exactly this.
        #[serde(default)]
        yes: bool,
    }
    /// The run that started another.
    ParentRef {
        /// The parent.
        run_id: RunId,
        /// The key of the child call in the parent.
        key: String,
    }
}

/// What becomes of a new run while another one holds what it names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnHeld {
    /// It is not created.
    #[default]
    Refuse,
    /// It is created and begins once the names are free, in the order of creation.
    Wait,
}

impl OnHeld {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde passes a reference"
    )]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Why a run undoes its effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnwindReason {
    /// A step failed.
    Failed,
    /// A caller cancelled it.
    Cancelled,
    /// A caller rolled back a completed run.
    Rollback,
}

/// How policy's question was answered when the run was created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ApprovalGate {
    /// The caller, who may approve, said yes.
    Given {
        /// Who.
        by: Principal,
        /// The plan they said yes to.
        plan_digest: Digest,
    },
    /// The run waits for one of these.
    Wanted {
        /// Who has to approve.
        #[serde(flatten)]
        terms: ApprovalTerms,
        /// The rule that asked.
        rule: String,
    },
}
