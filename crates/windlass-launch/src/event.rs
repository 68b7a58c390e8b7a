//! The events of a launch, as the contract names them.
//!
//! The engine's own events (created, completed, failed, cancelled) are shown under the contract's
//! names by `view`; everything else is put on record by the run or by the tools, with these.

/// The repositories are here.
pub(crate) const INPUTS_CLONED: &str = "INPUTS_CLONED";
/// An artifact is in the index.
pub(crate) const ARTIFACT_WRITTEN: &str = "ARTIFACT_WRITTEN";
/// Work is waiting to be done.
pub(crate) const WORK_ITEM_QUEUED: &str = "WORK_ITEM_QUEUED";
/// Work was begun.
pub(crate) const WORK_ITEM_STARTED: &str = "WORK_ITEM_STARTED";
/// Work was done.
pub(crate) const WORK_ITEM_FINISHED: &str = "WORK_ITEM_FINISHED";
/// Work could not be done.
pub(crate) const WORK_ITEM_FAILED: &str = "WORK_ITEM_FAILED";
/// A gate began.
pub(crate) const GATE_RUN_STARTED: &str = "GATE_RUN_STARTED";
/// A gate is through.
pub(crate) const GATE_RUN_FINISHED: &str = "GATE_RUN_FINISHED";
/// A gate found something new.
pub(crate) const ISSUE_OPENED: &str = "ISSUE_OPENED";
/// Something a gate had found is gone.
pub(crate) const ISSUE_RESOLVED: &str = "ISSUE_RESOLVED";
/// The run went from one state to another.
pub(crate) const RUN_STATE_CHANGED: &str = "RUN_STATE_CHANGED";
/// A section went from one state to another.
pub(crate) const SECTION_STATE_CHANGED: &str = "SECTION_STATE_CHANGED";
/// The run asked for a change of state that the table does not have.
pub(crate) const INVALID_STATE_TRANSITION: &str = "INVALID_STATE_TRANSITION";
/// An interrupted run went back to where it may rest.
pub(crate) const RESUME_REWIND: &str = "RESUME_REWIND";
/// A model is asked.
pub(crate) const LLM_CALL_STARTED: &str = "LLM_CALL_STARTED";
/// A model answered.
pub(crate) const LLM_CALL_FINISHED: &str = "LLM_CALL_FINISHED";
/// A model gave no answer.
pub(crate) const LLM_CALL_FAILED: &str = "LLM_CALL_FAILED";
/// The site's branch has moved since the run read it.
pub(crate) const SITE_MOVED: &str = "SITE_MOVED";
/// The pull request is open.
pub(crate) const PR_OPENED: &str = "PR_OPENED";
/// The pull request was approved.
pub(crate) const PR_APPROVED: &str = "PR_APPROVED";
/// What was asked of a parked run is done, or refused.
pub(crate) const ACTION_FINISHED: &str = "ACTION_FINISHED";
/// The run ended well.
pub(crate) const RUN_COMPLETED: &str = "RUN_COMPLETED";
/// The run failed.
pub(crate) const RUN_FAILED: &str = "RUN_FAILED";
/// The run was cancelled.
pub(crate) const RUN_CANCELLED: &str = "RUN_CANCELLED";
/// The run exists.
pub(crate) const RUN_CREATED: &str = "RUN_CREATED";
/// A tool was called for this run.
pub(crate) const TOOL_CALLED: &str = "TOOL_CALLED";
/// It answered.
pub(crate) const TOOL_RETURNED: &str = "TOOL_RETURNED";

/// What telemetry had to say was sent, or could not be.
pub(crate) const TELEMETRY_FLUSHED: &str = "TELEMETRY_FLUSHED";
/// More was waiting to be sent than may wait; the oldest was dropped.
pub(crate) const TELEMETRY_OUTBOX_TRUNCATED: &str = "TELEMETRY_OUTBOX_TRUNCATED";

/// The signal a parked run waits for.
pub(crate) const ACTION_SIGNAL: &str = "launch.action";
