//! What is reported about runs elsewhere, and about the store itself.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Principal, RunId};

body_structs! {
    /// Events that were acknowledged are gone, and the operator went on without them. Confirm tokens
    /// from before are void: which of them were used is not known.
    LossAccepted {
        /// What was missing.
        shortfall: String,
        /// Who decided.
        principal: Principal,
    }
    /// The journal of an unfinished run cannot be read any more, so the run has failed.
    RunDamaged {
        /// The run.
        run_id: RunId,
        /// What is wrong with its journal.
        finding: String,
    }
    /// A client reported a run that happened elsewhere.
    TelemetryReported {
        /// Who reported it.
        principal: String,
        /// The run, as reported.
        run: Value,
    }
    /// What was reported about such a run has changed.
    TelemetryUpdated {
        /// Who said so.
        principal: String,
        /// Who reported the run; event ids are unique per reporter.
        reported_by: String,
        /// The event id it was reported with.
        event_id: String,
        /// The fields that are different now.
        changes: Value,
    }
}
