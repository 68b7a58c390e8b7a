//! One operation per tool of the contract, and what they share.

mod act;
mod artifact;
mod cancel;
pub(crate) mod list;
mod prepare;
mod search;
mod shapes;
mod start;
mod status;
mod traced;

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_engine::{
    Engine,
    operation::{CallContext, Operation, OperationBuilder, operation},
};
use windlass_types::{Problem, RunId, RunRecord};

use crate::{
    contract::LaunchContract,
    fault,
    outside::LaunchOutside,
    run::KIND,
    telemetry,
    view::{self, LaunchView},
};

/// Everything that can be asked.
pub(crate) fn operations(outside: &Arc<LaunchOutside>, engine: &Engine) -> Vec<Arc<dyn Operation>> {
    let desk = Desk {
        outside: Arc::clone(outside),
        engine: engine.clone(),
    };
    let mut operations = vec![
        start::operation(&desk),
        status::operation(&desk),
        artifact::operation(&desk),
        cancel::operation(&desk),
        list::operation(&desk),
        prepare::operation(&desk),
    ];
    operations.extend(act::operations(&desk));
    operations.extend(telemetry::operations(&desk));
    operations
}

/// What every tool works with.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) outside: Arc<LaunchOutside>,
    pub(crate) engine: Engine,
}

impl Desk {
    /// A launch the caller may see. Any other run is not found.
    pub(crate) async fn record(
        &self,
        context: &CallContext,
        run_id: &RunId,
    ) -> Result<RunRecord, Problem> {
        let found = self.engine.visible_run(&context.principal, run_id).await;
        match found {
            Ok(record) if record.kind == KIND => Ok(record),
            Ok(_) => Err(fault::run_not_found(run_id.as_str())),
            Err(problem) if problem.code().name == "RUN_NOT_FOUND" => {
                Err(fault::run_not_found(run_id.as_str()))
            }
            Err(problem) => Err(problem),
        }
    }

    async fn view(&self, context: &CallContext, run_id: &RunId) -> Result<LaunchView, Problem> {
        view::load(&self.engine, &self.record(context, run_id).await?).await
    }

    /// The same for a call that is about this launch: policy may have a rule about its product,
    /// its repositories or its branch.
    async fn judged_view(
        &self,
        context: &CallContext,
        run_id: &RunId,
    ) -> Result<LaunchView, Problem> {
        let view = self.view(context, run_id).await?;
        context.require_targets(&view.targets())?;
        Ok(view)
    }
}

/// The beginning of a tool's definition.
fn tool(verb: &str, title: &str, description: &str, input: Value) -> OperationBuilder {
    let tool = operation("launch", verb)
        .describe(title, description)
        .found_by(search::words(verb))
        .contract(&LaunchContract)
        .validates_itself()
        .input_schema(input);
    match search::reaches_out(verb) {
        true => tool.reaches_out(),
        false => tool,
    }
}

/// A tool that reads.
fn reading(verb: &str, title: &str, description: &str, input: Value) -> OperationBuilder {
    tool(verb, title, description, input)
}

/// A tool that has a run do something. The call itself says exactly what.
fn telling(verb: &str, title: &str, description: &str, input: Value) -> OperationBuilder {
    tool(verb, title, description, input)
        .signal()
        .confirmed_by_call()
}

/// The input of a tool about one run.
fn run_input() -> Value {
    json!({
        "type": "object",
        "properties": { "run_id": run_id_schema() },
        "required": ["run_id"],
        "additionalProperties": false,
    })
}

fn run_id_schema() -> Value {
    json!({
        "type": "string",
        "minLength": 1,
        "description": "The run, as launch_start_run gave it: r_<time>_<26 letters and digits>.",
    })
}

/// An example of a run id.
const EXAMPLE_RUN: &str = "r_2026-01-21T10-00-00Z_o5uw4zdmmfzxgllxnfxgi3dbom";

fn run_example() -> Value {
    json!({ "run_id": EXAMPLE_RUN })
}
