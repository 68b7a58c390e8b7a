//! From an operation and its arguments to an answer: checked in the contract's order, bounded in
//! time, without secrets.

use std::time::Duration;

use futures::future::{Either, select};
use serde_json::Value;
use windlass_ports::aws::Target;
use windlass_types::{Problem, Timestamp, code};

use crate::arguments::Arguments;
use crate::call::{Call, check_stack, stage};
use crate::operation::{Effect, Operation};
use crate::outside::Outside;
use crate::{
    alarms, aws_sdk, container_exec, dynamodb, info_operations, info_stack, info_stacks,
    info_whoami, logs, metrics, opensearch, redis, secret_create, secret_delete, secret_get, sql,
};

/// What an operation found or did.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// One sentence.
    pub message: String,
    /// The data, always an object.
    pub data: Value,
    /// The end of what was printed, where something was.
    pub raw_tail: Option<String>,
    /// What to do next.
    pub next_actions: Vec<String>,
}

impl Answer {
    pub(crate) fn new(message: impl Into<String>, data: Value) -> Self {
        Self {
            message: message.into(),
            data,
            raw_tail: None,
            next_actions: Vec::new(),
        }
    }

    pub(crate) fn next(mut self, action: impl Into<String>) -> Self {
        self.next_actions.push(action.into());
        self
    }
}

/// Checks the arguments alone: the first thing that is checked, before policy. The time is for
/// spans such as `1h`.
pub fn check(operation: Operation, arguments: &Value, now: Timestamp) -> Result<(), Problem> {
    read(operation, arguments, now).map(|_| ())
}

/// Answers. The caller has asked policy; it also bounds the data for its surface.
pub async fn answer(
    outside: &Outside,
    operation: Operation,
    arguments: &Value,
) -> Result<Answer, Problem> {
    let redactor = &outside.redactor;
    match worked(outside, operation, arguments).await {
        Ok(answer) => Ok(Answer {
            message: redactor.redact(&answer.message).into_owned(),
            data: redactor.redact_value(answer.data),
            raw_tail: answer
                .raw_tail
                .map(|tail| redactor.redact(&tail).into_owned()),
            next_actions: answer.next_actions,
        }),
        Err(problem) => Err(redactor.redact_problem(problem)),
    }
}

fn read(
    operation: Operation,
    arguments: &Value,
    now: Timestamp,
) -> Result<(Arguments, Ask), Problem> {
    let arguments = Arguments::read(operation, arguments)?;
    stage(&arguments)?;
    arguments.number("timeoutSeconds", 1, 1..=3600)?;
    let ask = Ask::read(operation, &arguments, now)?;
    if ask.needs_stack() {
        check_stack(&arguments)?;
    }
    Ok((arguments, ask))
}

/// What is asked, read from the arguments.
enum Ask {
    InfoStack,
    InfoStacks,
    InfoOperations(info_operations::Ask),
    InfoWhoami,
    Logs(Box<logs::Ask>),
    Metrics(Box<metrics::Ask>),
    Alarms(alarms::Ask),
    ContainerExec(container_exec::Ask),
    Sql(sql::Ask),
    DynamoDb(Box<dynamodb::Ask>),
    Redis(redis::Ask),
    OpenSearch(opensearch::Ask),
    AwsSdk(aws_sdk::Ask),
    SecretCreate(secret_create::Ask),
    SecretGet(secret_get::Ask),
    SecretDelete(secret_delete::Ask),
}

impl Ask {
    fn read(operation: Operation, arguments: &Arguments, now: Timestamp) -> Result<Self, Problem> {
        Ok(match operation {
            Operation::InfoStack => Self::InfoStack,
            Operation::InfoStacks => Self::InfoStacks,
            Operation::InfoOperations => {
                Self::InfoOperations(info_operations::Ask::read(arguments)?)
            }
            Operation::InfoWhoami => Self::InfoWhoami,
            Operation::Logs => Self::Logs(Box::new(logs::Ask::read(arguments, now)?)),
            Operation::Metrics => Self::Metrics(Box::new(metrics::Ask::read(arguments, now)?)),
            Operation::Alarms => Self::Alarms(alarms::Ask::read(arguments)?),
            Operation::ContainerExec => Self::ContainerExec(container_exec::Ask::read(arguments)?),
            Operation::Sql => Self::Sql(sql::Ask::read(arguments)?),
            Operation::DynamoDb => Self::DynamoDb(Box::new(dynamodb::Ask::read(arguments)?)),
            Operation::Redis => Self::Redis(redis::Ask::read(arguments)?),
            Operation::OpenSearch => Self::OpenSearch(opensearch::Ask::read(arguments)?),
            Operation::AwsSdk => Self::AwsSdk(aws_sdk::Ask::read(arguments)?),
            Operation::SecretCreate => Self::SecretCreate(secret_create::Ask::read(arguments)?),
            Operation::SecretGet => Self::SecretGet(secret_get::Ask::read(arguments)?),
            Operation::SecretDelete => Self::SecretDelete(secret_delete::Ask::read(arguments)?),
        })
    }

    const fn needs_stack(&self) -> bool {
        matches!(
            self,
            Self::InfoStack
                | Self::Logs(_)
                | Self::Metrics(_)
                | Self::Alarms(_)
                | Self::ContainerExec(_)
                | Self::Sql(_)
                | Self::DynamoDb(_)
                | Self::Redis(_)
                | Self::OpenSearch(_)
        )
    }

    /// How long it may take unless the caller says otherwise.
    fn default_wait(&self) -> Duration {
        match self {
            Self::ContainerExec(_) => Duration::from_secs(60),
            // The statement has its own limit; connecting and looking up come on top.
            Self::Sql(ask) => ask.timeout + Duration::from_secs(30) + ask.through.opening(),
            Self::Logs(_) => Duration::from_secs(60),
            _ => Duration::from_secs(120),
        }
    }
}

async fn worked(
    outside: &Outside,
    operation: Operation,
    arguments: &Value,
) -> Result<Answer, Problem> {
    let now = outside.clock.now();
    let (arguments, ask) = read(operation, arguments, now)?;
    if outside.settings.read_only && operation.effect() != Effect::Read {
        return Err(Problem::new(
            &code::READ_ONLY_VIOLATION,
            format!(
                "{} changes things, and this server only reads",
                operation.name()
            ),
        )
        .with("reason", "read_only_violation")
        .with("rule", "server.read_only"));
    }
    let wait = match arguments.value("timeoutSeconds") {
        Some(_) => Duration::from_secs(arguments.number("timeoutSeconds", 1, 1..=3600)?),
        None => ask.default_wait(),
    };
    let mut call = Call {
        outside,
        arguments: &arguments,
        target: Target {
            region: arguments.text("region")?.map(str::to_owned),
            profile: arguments.text("profile")?.map(str::to_owned),
            role_arn: outside.settings.role_arn.clone(),
        },
        deadline: now.after(wait),
    };
    let late = outside.clock.sleep_until(call.deadline);
    let work = Box::pin(asked(&mut call, &ask));
    match select(work, late).await {
        Either::Left((answer, _)) => answer,
        Either::Right(((), _)) => Err(Problem::new(
            &code::TIMEOUT,
            format!(
                "{} did not end within {} seconds",
                operation.name(),
                wait.as_secs()
            ),
        )
        .with("reason", "timeout")
        .with("timeoutSeconds", wait.as_secs())
        .next("narrow the question, or repeat with a longer timeoutSeconds")),
    }
}

async fn asked(call: &mut Call<'_>, ask: &Ask) -> Result<Answer, Problem> {
    match ask {
        Ask::InfoStack => info_stack::answer(call).await,
        Ask::InfoStacks => info_stacks::answer(call).await,
        Ask::InfoOperations(ask) => info_operations::answer(call, ask).await,
        Ask::InfoWhoami => info_whoami::answer(call).await,
        Ask::Logs(ask) => logs::answer(call, ask).await,
        Ask::Metrics(ask) => metrics::answer(call, ask).await,
        Ask::Alarms(ask) => alarms::answer(call, ask).await,
        Ask::ContainerExec(ask) => container_exec::answer(call, ask).await,
        Ask::Sql(ask) => sql::answer(call, ask).await,
        Ask::DynamoDb(ask) => dynamodb::answer(call, ask).await,
        Ask::Redis(ask) => redis::answer(call, ask).await,
        Ask::OpenSearch(ask) => opensearch::answer(call, ask).await,
        Ask::AwsSdk(ask) => aws_sdk::answer(call, ask).await,
        Ask::SecretCreate(ask) => secret_create::answer(call, ask).await,
        Ask::SecretGet(ask) => secret_get::answer(call, ask).await,
        Ask::SecretDelete(ask) => secret_delete::answer(call, ask).await,
    }
}
