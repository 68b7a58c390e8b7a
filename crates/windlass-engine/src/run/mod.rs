//! Runs: the context their code sees, how they are created, steered, watched and kept.

mod artifact;
mod asked;
mod call;
mod context;
mod create;
mod export;
mod gate;
mod kind;
mod model;
mod origin;
mod signal;
mod signature;
mod step;
mod step_context;
mod verify;
mod view;
mod watch;

pub use crate::notices::NoticeStream;
pub use artifact::ArtifactContent;
pub use asked::{Asked, question, without_approvers};
pub(crate) use call::call_granted;
pub use call::{OperationCall, call_operation};
pub use context::{ChildRequest, Entry, RunContext, RunError, Signal, WaitRequest, WebhookRequest};
pub use create::{Holds, NewRun};
pub(crate) use create::{NotCreated, config_hash};
pub use export::{ExportedContent, ExportedEvent, ExportedFile, RunExport};
pub use gate::{GateOutcome, GateRequest, ask_gate, pass_gate};
pub use kind::{Ended, RunKind, RunKinds, Sweep};
pub use model::{PaidModels, THINKING};
pub use origin::RunOrigin;
pub(crate) use signal::{ANSWERED_WAIT, GATE_WAIT};
pub use signal::{
    ApprovalDecision, SIGNAL_APPROVAL, SIGNAL_CANCEL, SIGNAL_ROLLBACK, can_roll_back,
};
pub use signature::ExportSignature;
pub use step::{RetryPolicy, Step, StepMode, StepRequest, StepWork, UndoFn, WorkFn};
pub use step_context::{PaidFn, PaidRequest, StepAttempt, StepCalls, StepContext};
pub use verify::VerifyReport;
pub use view::{EventView, ImportedView, RunView};
pub use watch::RunStream;
