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

use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Map, Value};
use windlass_engine::Engine;
use windlass_engine::operation::{Answer, CallContext, Operation, OperationInfo, Reply};
use windlass_types::{Problem, RunId, RunRecord};

pub(crate) use self::ask::{output, outside_with};
pub(crate) use self::verb::Verb;
use crate::desk::Desk;
use crate::dev::{self, DevOperation};
use crate::outside::StackOutside;
use crate::place::Place;
use crate::project::Project;

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

    fn targets(
        &self,
        context: &CallContext,
        input: &Value,
    ) -> Result<Option<Vec<String>>, Problem> {
        let arguments = self.arguments(input)?;
        arguments::check(self.verb, context, &arguments, self.desk.engine.now())?;
        // Known once the config was read.
        Ok(None)
    }

    fn places(&self, context: &CallContext, input: &Value) -> Result<Vec<PathBuf>, Problem> {
        let arguments = self.arguments(input)?;
        Ok(Place::read(context, &arguments)?.named(&arguments))
    }

    fn says_yes(&self, input: &Value) -> bool {
        match self.verb {
            Verb::Change(_) => input.get("confirm").and_then(Value::as_bool) == Some(true),
            _ => true,
        }
    }

    fn call<'a>(
        &'a self,
        context: CallContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Reply, Problem>> {
        Box::pin(async move {
            let arguments = self.arguments(&input)?;
            let desk = &self.desk;
            self.verb.require_writable(desk)?;
            match self.verb {
                Verb::Change(kind) => {
                    change::call(desk, &context, &self.info, kind, arguments).await
                }
                Verb::Compile => {
                    let answer = compile::template(desk, &context, arguments).await?;
                    Ok(answer.into())
                }
                Verb::Validate => {
                    let answer = compile::validate(desk, &context, arguments).await?;
                    Ok(answer.into())
                }
                Verb::Init => {
                    let directory = Place::read(&context, &arguments)?.directory;
                    context.require_target(&directory.display().to_string())?;
                    Ok(compile::init(desk, &context, &arguments)?.into())
                }
                Verb::Ask(operation) => match secret::kind(operation) {
                    Some(kind) => secret::call(desk, &context, operation, kind, arguments).await,
                    None => {
                        context.require_targets(&asked_about(&context, &arguments)?)?;
                        Ok(ask::call(desk, &context, operation, arguments)
                            .await?
                            .into())
                    }
                },
                Verb::Dev(operation) => {
                    let mut targets = asked_about(&context, &arguments)?;
                    if targets.is_empty() {
                        targets = named_by_program(desk, &context, operation, &arguments).await?;
                    }
                    context.require_targets(&targets)?;
                    let directory = context.directory.clone().unwrap_or_default();
                    let outside = &desk.outside;
                    let output = dev::answer(outside, operation, &arguments, &directory).await?;
                    Ok(Answer::plain(output).into())
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

    fn unsettled(&self, record: RunRecord, _ticket: &str) -> Result<Answer, Problem> {
        Err(outcome::unfinished(&record))
    }
}

/// What a question is about: the stack it names, or the one of the config in its directory, and
/// the secret.
fn asked_about(
    context: &CallContext,
    arguments: &Map<String, Value>,
) -> Result<Vec<String>, Problem> {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    let place = Place::read(context, arguments)?;
    let stack = text("stackName").map(str::to_owned);
    let stack = stack.or_else(|| place.known_stack());
    let mut targets: Vec<String> = stack.into_iter().collect();
    targets.extend(text("secretName").map(str::to_owned));
    Ok(targets)
}

/// The stack of a config that only tells it when it is run. What starts or builds something needs
/// the name; a session can be watched and stopped without.
async fn named_by_program(
    desk: &Desk,
    context: &CallContext,
    operation: DevOperation,
    arguments: &Map<String, Value>,
) -> Result<Vec<String>, Problem> {
    let mut place = Place::read(context, arguments)?;
    if place.stage.is_none() {
        return Ok(Vec::new());
    }
    // A local session needs no region, and a config is not read without one.
    place.region.get_or_insert_with(|| "us-east-1".to_owned());
    match Project::load(desk, &place, arguments, operation.name()).await {
        Ok(project) => Ok(vec![project.stack_name()]),
        Err(problem) if operation == DevOperation::Start => Err(problem),
        Err(_) => Ok(Vec::new()),
    }
}

/// The answer of a run, for a caller who comes back for it.
async fn settled(
    desk: &Desk,
    context: CallContext,
    ticket: &str,
) -> Result<Option<Answer>, Problem> {
    let run_id: RunId = ticket.parse().map_err(|_| outcome::unknown_run(ticket))?;
    let record = desk.engine.visible_run(&context.principal, &run_id).await?;
    outcome::of(desk, &context, &record).await
}
