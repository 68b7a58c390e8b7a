//! `windlass stack exec`: a command in a running container. Not read-only, so it is confirmed.

use clap::Args;
use windlass_types::Problem;

use super::{
    arguments::{Deployed, Request, Yes, filled, joined, usage},
    consent::{Way, call_with_consent},
    report,
    show::{Screen, text},
};
use crate::session::{Report, Session};

#[derive(Args, Debug)]
pub(crate) struct ExecArgs {
    /// The resource of the config.
    #[arg(value_name = "RESOURCE")]
    resource: Option<String>,
    #[command(flatten)]
    stack: Deployed,
    #[command(flatten)]
    yes: Yes,
    /// The resource, by flag.
    #[arg(long, alias = "resourceName", value_name = "NAME")]
    resource_name: Option<String>,
    /// The command as one text for a shell.
    #[arg(long, value_name = "COMMAND", allow_hyphen_values = true)]
    command: Option<String>,
    /// The container, of a workload with several.
    #[arg(long, value_name = "NAME")]
    container: Option<String>,
    /// The task, where several run. Default: any.
    #[arg(long, alias = "taskArn", value_name = "ARN")]
    task_arn: Option<String>,
    /// The command and its arguments, after `--`.
    #[arg(last = true, value_name = "WORDS")]
    words: Vec<String>,
}

impl ExecArgs {
    pub(super) fn request(&self) -> Result<Request, Problem> {
        let [resource] = filled([self.resource_name.as_deref()], &[&self.resource])?;
        let command = match (&self.command, joined(&self.words)) {
            (Some(_), Some(_)) => {
                return Err(usage("the command is given twice: --command and after --"));
            }
            (given, words) => given.clone().or(words),
        };
        Ok(self
            .stack
            .input()
            .text("resourceName", resource.as_deref())
            .text("command", command.as_deref())
            .text("container", self.container.as_deref())
            .text("taskArn", self.task_arn.as_deref())
            .flag("confirm", self.yes.yes)
            .request("stack.container_exec"))
    }

    pub(super) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let request = self.request()?;
        let name = self
            .stack
            .name()
            .or_else(|| Some(text(&request.input, "resourceName").to_owned()))
            .filter(|name| !name.is_empty());
        let output = call_with_consent(session, Way::Short, request, name.as_deref()).await?;
        Screen::data(&session.printer).block(text(&output, "output"));
        Ok(report(session, "ran", output))
    }
}
