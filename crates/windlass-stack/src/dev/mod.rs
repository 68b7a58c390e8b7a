//! Local development as operations: start, status, logs, rebuild, rebuild_all, stop.
//!
//! What a session is and does is windlass-stack-dev's; here its plan is made from the config and
//! the arguments, its manager is started as a process of this binary, and its envelopes become
//! outputs and problems. A purely local session asks nothing of AWS.

mod asked;
mod deployed;
mod emulated;
mod hooks;
mod lookups;
mod manager;
mod operation;
mod outcome;
mod scripts;
mod start;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use windlass_stack_dev::client;
use windlass_types::{Problem, code};

use self::asked::Asked;
pub use self::hooks::{DevHook, HookParts, RunHook, hook_runner};
pub(crate) use self::lookups::LocalLookups;
pub use self::manager::{DevManagerParts, run_dev_manager};
pub(crate) use self::operation::DevOperation;
pub(crate) use self::scripts::{Localised, RunningSession};
use crate::outside::StackOutside;

/// What local development needs from outside, beside what stacks need.
pub struct DevOutside {
    /// The command that runs [`run_dev_manager`] on a plan file, as a process of its own.
    pub manager: Arc<dyn Fn(&Path) -> Command + Send + Sync>,
    /// Runs scripts that hooks of the config name: [`hook_runner`].
    pub run_hook: RunHook,
}

/// Refuses arguments that the operation does not take.
pub(crate) fn check(
    operation: DevOperation,
    arguments: &Map<String, Value>,
) -> Result<(), Problem> {
    // Whatever the folder is, arguments are judged alike.
    Asked::read(operation, arguments, Path::new("")).map(drop)
}

/// Does it. The output holds data, `message` and `nextActions`.
pub(crate) async fn answer(
    outside: &Arc<StackOutside>,
    operation: DevOperation,
    arguments: &Map<String, Value>,
    directory: &Path,
) -> Result<Value, Problem> {
    let asked = Asked::read(operation, arguments, directory)?;
    let wanted = asked.wanted();
    let work = async {
        match operation {
            DevOperation::Start => start::start(outside, &asked).await,
            DevOperation::Status => client::status(&wanted, asked.verbose).await,
            DevOperation::Logs => client::logs(&wanted, &asked.log_query()).await,
            DevOperation::Rebuild => client::rebuild(&wanted, asked.needed_workload()?).await,
            DevOperation::RebuildAll => client::rebuild_all(&wanted).await,
            DevOperation::Stop => client::stop(&wanted).await,
        }
    };
    let envelope = match asked.timeout.filter(|_| operation != DevOperation::Start) {
        None => work.await,
        Some(limit) => match tokio::time::timeout(limit, work).await {
            Ok(envelope) => envelope,
            Err(_) => Err(too_late(operation, limit)),
        },
    };
    outcome::output(operation, envelope)
}

fn too_late(operation: DevOperation, limit: Duration) -> Problem {
    Problem::new(
        &code::TIMEOUT,
        format!(
            "{} took longer than {} s",
            operation.name(),
            limit.as_secs()
        ),
    )
    .next("windlass stack dev status")
}
