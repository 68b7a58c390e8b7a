//! Every operation of stacks, and the three tools that stand for them.
//!
//! The contract has one tool for many operations; the catalogue has one operation for each, so
//! that policy, audit and scopes know what is done. `dispatch` takes a call of a tool to the
//! operation it means.

mod arguments;
mod ask;
mod change;
mod compile;
mod dispatch;
mod journal;
mod outcome;
mod secret;
mod verb;

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Map, Value};
use windlass_engine::Engine;
use windlass_engine::operation::{Answer, CallContext, Operation, OperationInfo};
use windlass_types::{Problem, RunId};

pub(crate) use self::ask::{output, outside_with};
pub(crate) use self::verb::Verb;
use crate::desk::Desk;
use crate::dev;
use crate::outside::StackOutside;

/// Everything that can be asked.
pub(crate) fn operations(outside: &Arc<StackOutside>, engine: &Engine) -> Vec<Arc<dyn Operation>> {
    let desk = Desk {
        outside: Arc::clone(outside),
        engine: engine.clone(),
    };
    let mut operations: Vec<Arc<dyn Operation>> = Verb::all()
        .into_iter()
        .map(|verb| {
            let desk = desk.clone();
            verb.define()
                .by(move |info| StackOperation { info, desk, verb })
        })
        .collect();
    operations.extend(dispatch::tools(&desk));
    operations
}

/// One operation.
struct StackOperation {
    info: OperationInfo,
    desk: Desk,
    verb: Verb,
}

impl StackOperation {
    fn arguments(&self, input: &Value) -> Result<Map<String, Value>, Problem> {
        arguments::read(self.verb, input)
    }
}

impl Operation for StackOperation {
    fn info(&self) -> &OperationInfo {
        &self.info
    }

    fn target(&self, context: &CallContext, input: &Value) -> Result<String, Problem> {
        let arguments = self.arguments(input)?;
        arguments::check(self.verb, context, &arguments, self.desk.engine.now())
    }

    fn call<'a>(
        &'a self,
        context: CallContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Answer, Problem>> {
        Box::pin(async move {
            let arguments = self.arguments(&input)?;
            let desk = &self.desk;
            self.verb.require_writable(desk)?;
            match self.verb {
                Verb::Change(kind) => {
                    change::call(desk, &context, &self.info, kind, arguments).await
                }
                Verb::Compile => compile::template(desk, &context, arguments).await,
                Verb::Validate => compile::validate(desk, &context, arguments).await,
                Verb::Init => compile::init(&context, &arguments),
                Verb::Ask(operation) => match secret::kind(operation) {
                    Some(kind) => secret::call(desk, &context, operation, kind, arguments).await,
                    None => ask::call(desk, &context, operation, arguments).await,
                },
                Verb::Dev(operation) => {
                    let directory = context.directory.clone().unwrap_or_default();
                    let outside = &desk.outside;
                    let output = dev::answer(outside, operation, &arguments, &directory).await?;
                    Ok(Answer::plain(output))
                }
            }
        })
    }

    fn settled<'a>(
        &'a self,
        context: CallContext,
        ticket: &'a str,
    ) -> BoxFuture<'a, Result<Option<Answer>, Problem>> {
        Box::pin(settled(&self.desk, context, ticket))
    }
}

/// The answer of a run that somebody came back for.
async fn settled(
    desk: &Desk,
    context: CallContext,
    ticket: &str,
) -> Result<Option<Answer>, Problem> {
    let run_id: RunId = ticket.parse().map_err(|_| outcome::unknown_run(ticket))?;
    let record = desk.engine.visible_run(&context.principal, &run_id).await?;
    outcome::of(desk, &context, &record).await
}
