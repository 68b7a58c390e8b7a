//! `windlass stack`: AWS stacks from one config (contract 000).
//!
//! One file per command: its arguments, the operation it calls, what people are shown. `call`
//! follows runs, `event_lines` describes them, `consent` asks, `show` draws, `advice` names flags.

mod advice;
mod alarms;
mod arguments;
mod aws;
mod call;
mod command;
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
mod outcome;
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

use self::{
    command::StackCall,
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
pub(crate) use outcome::{EXIT_NOTES, StackOutcome};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum StackCommand {
    /// Create a config from the contents of a directory.
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
    /// Restore an earlier version, or get a stack out of a failed state.
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
    /// Call one read-only action of an AWS service.
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
    const fn has_envelope(&self) -> bool {
        !matches!(self, Self::Docs(_))
    }

    /// The command that was given.
    fn call(&self) -> &dyn StackCall {
        match self {
            Self::Init(args) => args,
            Self::Preview(args) => args,
            Self::Deploy(args) => args,
            Self::Delete(args) => args,
            Self::Rollback(args) => args,
            Self::Script(ScriptCommand::Run(args)) => args,
            Self::Template(args) => args,
            Self::Validate(args) => args,
            Self::Secret(SecretCommand::Create(args)) => args,
            Self::Secret(SecretCommand::Get(args)) => args,
            Self::Secret(SecretCommand::Delete(args)) => args,
            Self::Info(InfoCommand::Stack(args)) => args,
            Self::Info(InfoCommand::Stacks(args)) => args,
            Self::Info(InfoCommand::Operations(args)) => args,
            Self::Info(InfoCommand::Whoami(args)) => args,
            Self::Logs(args) => args,
            Self::Metrics(args) => args,
            Self::Alarms(args) => args,
            Self::Exec(args) => args,
            Self::Sql(args) => args,
            Self::Dynamodb(args) => args,
            Self::Redis(args) => args,
            Self::Opensearch(args) => args,
            Self::Aws(args) => args,
            Self::Drift(args) => args,
            Self::Dev(args) => match &args.command {
                None => &args.live,
                Some(DevCommand::Start(args)) => args,
                Some(DevCommand::Status(args)) => args,
                Some(DevCommand::Logs(args)) => args,
                Some(DevCommand::Rebuild(args)) => args,
                Some(DevCommand::Stop(args)) => args,
            },
            Self::Docs(args) => args,
        }
    }

    pub(crate) async fn run(self, session: &Session) -> Result<Report, Failure> {
        if let Self::Docs(args) = self {
            return args.answer(session).await;
        }
        let call = self.call();
        let operation = call.request().map_or("stack", |request| request.operation);
        call.run(session).await.map_err(|problem| Failure {
            problem: advice::advised(problem),
            contract: session.contract(operation),
            operation: operation.to_owned(),
            request_id: String::new(),
            input: Value::Null,
        })
    }
}

/// The report of an answer: its own sentence.
fn report(session: &Session, output: Value) -> Report {
    let message = match text(&output, "message") {
        "" => "done".to_owned(),
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
