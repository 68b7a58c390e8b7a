//! `windlass stack`: AWS stacks from one config (contract 000).
//!
//! One file per command: its arguments, the operation it calls, what people are shown. `call`
//! follows runs, `event_lines` describes them, `consent` asks, `show` draws, `advice` names flags.

mod advice;
mod alarms;
mod arguments;
mod aws;
mod call;
mod consent;
mod delete;
mod deploy;
mod dev;
mod docs;
mod drift;
mod dynamodb;
mod event_lines;
mod exec;
mod info;
mod init;
mod logs;
mod metrics;
mod opensearch;
mod preview;
mod redis;
mod rollback;
mod script;
mod secret;
mod show;
mod sql;
mod template;
mod validate;

use clap::Subcommand;
use serde_json::{Map, Value};
use windlass_engine::envelope::Envelope;
use windlass_types::Problem;

use self::{
    arguments::Request,
    dev::DevCommand,
    info::InfoCommand,
    script::ScriptCommand,
    secret::SecretCommand,
    show::{Screen, text},
};
use crate::{
    dispatch::Failure,
    output::Tone,
    session::{Report, Session},
};

pub(crate) use docs::DocsArgs;
pub(crate) use show::failure::failure as tell_failure;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum StackCommand {
    /// Make a config from what a directory holds.
    Init(init::InitArgs),
    /// Show what a deployment would change, without changing it.
    ///
    /// Works before the first deployment and leaves nothing behind. The answer has a confirm
    /// token: `deploy` with it executes exactly this plan or nothing.
    Preview(preview::PreviewArgs),
    /// Deploy a stack.
    ///
    /// At a terminal the plan is shown first and executed after your yes. A plan that loses data
    /// needs the stack's name typed, or `--yes` with the `--confirm-token` of that plan. Ctrl-C
    /// ends the command, not the run.
    Deploy(deploy::DeployArgs),
    /// Delete a stack.
    Delete(delete::DeleteArgs),
    /// Bring back an earlier version, or get a stack out of a failed state.
    Rollback(rollback::RollbackArgs),
    /// Run scripts of the config.
    #[command(subcommand)]
    Script(ScriptCommand),
    /// Print the CloudFormation template of the config.
    #[command(visible_alias = "compile")]
    Template(template::TemplateArgs),
    /// Check a config without deploying it.
    Validate(validate::ValidateArgs),
    /// Make, show and delete secrets.
    #[command(subcommand)]
    Secret(SecretCommand),
    /// Show stacks, operations and who you are.
    #[command(subcommand)]
    Info(InfoCommand),
    /// Show log lines of a resource.
    Logs(logs::LogsArgs),
    /// Show a metric of a resource.
    Metrics(metrics::MetricsArgs),
    /// List the alarms of a stack.
    Alarms(alarms::AlarmsArgs),
    /// Run a command in a running container.
    Exec(exec::ExecArgs),
    /// Read from a relational database.
    Sql(sql::SqlArgs),
    /// Read from a DynamoDB table.
    Dynamodb(dynamodb::DynamodbArgs),
    /// Read from a Redis cluster.
    Redis(redis::RedisArgs),
    /// Read from an OpenSearch domain.
    Opensearch(opensearch::OpensearchArgs),
    /// Make one reading call of an AWS service.
    Aws(aws::AwsArgs),
    /// Show what was changed by hand since the last deployment.
    Drift(drift::DriftArgs),
    /// Run the stack on this machine.
    Dev(dev::DevArgs),
    /// Ask the documentation.
    Docs(DocsArgs),
}

impl StackCommand {
    /// Whether the answer comes in the envelope of contract 000.
    pub(crate) const fn has_envelope(&self) -> bool {
        !matches!(self, Self::Docs(_))
    }

    /// The operation a command calls first, and its input.
    fn request(&self) -> Result<Request, Problem> {
        Ok(match self {
            Self::Init(args) => args.request(),
            Self::Preview(args) => args.request(),
            Self::Deploy(args) => args.request(),
            Self::Delete(args) => args.request(),
            Self::Rollback(args) => args.request(),
            Self::Script(ScriptCommand::Run(args)) => args.request()?,
            Self::Template(args) => args.request(),
            Self::Validate(args) => args.request(),
            Self::Secret(SecretCommand::Create(args)) => args.request()?,
            Self::Secret(SecretCommand::Get(args)) => args.request()?,
            Self::Secret(SecretCommand::Delete(args)) => args.request()?,
            Self::Info(InfoCommand::Stack(args)) => args.request()?,
            Self::Info(InfoCommand::Stacks(args)) => args.request(),
            Self::Info(InfoCommand::Operations(args)) => args.request(),
            Self::Info(InfoCommand::Whoami(args)) => args.request(),
            Self::Logs(args) => args.request()?,
            Self::Metrics(args) => args.request()?,
            Self::Alarms(args) => args.request()?,
            Self::Exec(args) => args.request()?,
            Self::Sql(args) => args.request()?,
            Self::Dynamodb(args) => args.request()?,
            Self::Redis(args) => args.request()?,
            Self::Opensearch(args) => args.request()?,
            Self::Aws(args) => args.request()?,
            Self::Drift(args) => args.request(),
            Self::Dev(args) => match &args.command {
                None => args.live.request(),
                Some(DevCommand::Start(args)) => args.request(),
                Some(DevCommand::Status(args)) => args.request(),
                Some(DevCommand::Logs(args)) => args.request()?,
                Some(DevCommand::Rebuild(args)) => args.request()?,
                Some(DevCommand::Stop(args)) => args.request(),
            },
            Self::Docs(args) => args.request(),
        })
    }

    pub(crate) async fn run(self, session: &Session) -> Result<Report, Failure> {
        let failed = |problem: Problem, operation: &str| Failure {
            problem: advice::advised(problem),
            envelope: Envelope::Stack,
            operation: operation.to_owned(),
            request_id: String::new(),
            input: Value::Null,
        };
        let operation = match self.request() {
            Ok(request) => request.operation,
            Err(problem) => return Err(failed(problem, "stack")),
        };
        let outcome = match self {
            Self::Docs(args) => return args.run(session).await,
            Self::Init(args) => args.run(session).await,
            Self::Preview(args) => args.run(session).await,
            Self::Deploy(args) => args.run(session).await,
            Self::Delete(args) => args.run(session).await,
            Self::Rollback(args) => args.run(session).await,
            Self::Script(ScriptCommand::Run(args)) => args.run(session).await,
            Self::Template(args) => args.run(session).await,
            Self::Validate(args) => args.run(session).await,
            Self::Secret(SecretCommand::Create(args)) => args.run(session).await,
            Self::Secret(SecretCommand::Get(args)) => args.run(session).await,
            Self::Secret(SecretCommand::Delete(args)) => args.run(session).await,
            Self::Info(InfoCommand::Stack(args)) => args.run(session).await,
            Self::Info(InfoCommand::Stacks(args)) => args.run(session).await,
            Self::Info(InfoCommand::Operations(args)) => args.run(session).await,
            Self::Info(InfoCommand::Whoami(args)) => args.run(session).await,
            Self::Logs(args) => args.run(session).await,
            Self::Metrics(args) => args.run(session).await,
            Self::Alarms(args) => args.run(session).await,
            Self::Exec(args) => args.run(session).await,
            Self::Sql(args) => args.run(session).await,
            Self::Dynamodb(args) => args.run(session).await,
            Self::Redis(args) => args.run(session).await,
            Self::Opensearch(args) => args.run(session).await,
            Self::Aws(args) => args.run(session).await,
            Self::Drift(args) => args.run(session).await,
            Self::Dev(args) => match args.command {
                None => args.live.run(session).await,
                Some(DevCommand::Start(args)) => args.run(session).await,
                Some(DevCommand::Status(args)) => args.run(session).await,
                Some(DevCommand::Logs(args)) => args.run(session).await,
                Some(DevCommand::Rebuild(args)) => args.run(session).await,
                Some(DevCommand::Stop(args)) => args.run(session).await,
            },
        };
        outcome.map_err(|problem| failed(problem, operation))
    }
}

/// The report of an answer: its own sentence, or ours where it has none.
fn report(session: &Session, otherwise: &str, output: Value) -> Report {
    let message = match text(&output, "message") {
        "" => otherwise.to_owned(),
        message => message.to_owned(),
    };
    session.printer.notice(&show::safe(&message));
    for action in show::list(&output, "nextActions")
        .iter()
        .filter_map(Value::as_str)
    {
        session.printer.hint(&show::safe(action));
    }
    // It was asked not to wait.
    if text(&output, "state") == "running"
        && let Some(run) = output.get("runId").and_then(Value::as_str)
    {
        let verb = match session.engine().lease.holder() {
            Some(_) => "watch",
            // No process drives this home; resuming does.
            None => "resume",
        };
        session.printer.hint(&format!("windlass runs {verb} {run}"));
    }
    Report::new(message, output)
}

/// Outputs of a stack, links standing out.
fn outputs(screen: &Screen<'_>, outputs: &Map<String, Value>) {
    let width = outputs.keys().map(|name| name.chars().count()).max();
    let width = width.unwrap_or(0) + 2;
    for (name, value) in outputs {
        let value = show::safe(&show::shown(value));
        let tone = if value.contains("://") {
            Tone::Active
        } else {
            Tone::Plain
        };
        screen.painted(&format!(
            "{}{}",
            screen.paint().text(Tone::Dim, &format!("{name:<width$}")),
            screen.paint().text(tone, &value)
        ));
    }
}

/// An answer without what the envelope lifts out of it.
fn data_of(output: &Value) -> Value {
    let mut data = output.clone();
    if let Some(members) = data.as_object_mut() {
        for key in ["message", "rawTail", "nextActions"] {
            members.remove(key);
        }
    }
    data
}

#[cfg(test)]
#[path = "stack_tests.rs"]
mod tests;

#[cfg(test)]
mod spelling_tests;
