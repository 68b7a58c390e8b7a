//! The operations of the telemetry interface, and what they share.

mod query;
mod report;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use windlass_engine::operation::{CallContext, Operation, OperationBuilder, operation};
use windlass_types::{Problem, RunId};

use super::Telemetry;

/// The most runs in one batch, and in one list.
const MOST: usize = 1000;

type Answered = Result<Value, Problem>;

/// Everything that can be asked.
pub(super) fn operations(telemetry: &Arc<Telemetry>) -> Vec<Arc<dyn Operation>> {
    vec![
        report::report(telemetry),
        report::update(telemetry),
        report::associate_commit(telemetry),
        report::batch(telemetry, false),
        report::batch(telemetry, true),
        query::list(telemetry),
        query::get(telemetry),
        query::events(telemetry),
        query::show(telemetry),
        query::metadata(telemetry),
    ]
}

fn reading(verb: &str, title: &str, description: &str, input: Value) -> OperationBuilder {
    operation("launch", verb)
        .describe(title, description)
        .not_a_tool()
        .validates_itself()
        .input_schema(input)
}

/// An operation that keeps what it is told. The call itself says exactly what.
fn telling(verb: &str, title: &str, description: &str, input: Value) -> OperationBuilder {
    reading(verb, title, description, input)
        .signal()
        .confirmed_by_call()
}

/// Finishes a definition: what it answers, and by which function.
fn answering<O, F, Fut>(
    builder: OperationBuilder,
    telemetry: &Arc<Telemetry>,
    function: F,
) -> Arc<dyn Operation>
where
    O: JsonSchema + 'static,
    F: Fn(Arc<Telemetry>, CallContext, Value) -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output = Answered> + Send + 'static,
{
    let telemetry = Arc::clone(telemetry);
    builder.output::<O>().handle_json(move |context, input| {
        let answer = function(Arc::clone(&telemetry), context, input);
        async move { Ok((answer.await?, None::<RunId>)) }
    })
}

fn shown<T: Serialize>(value: T) -> Answered {
    serde_json::to_value(value).map_err(|error| Problem::internal("telemetry", error))
}

fn id_schema(description: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "description": description })
}
