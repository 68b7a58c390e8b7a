//! `windlass stack exec`: a command in a running container. Not read-only, so it is confirmed.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use super::{
    arguments::{Deployed, Request, Yes, filled, joined, usage},
    command::StackCall,
    show::{Screen, text},
};

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

impl StackCall for ExecArgs {
    fn request(&self) -> Result<Request, Problem> {
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

    fn confirm_name(&self) -> Option<String> {
        let resource = || self.resource_name.clone().or_else(|| self.resource.clone());
        self.stack.name().or_else(resource)
    }

    fn show(&self, screen: &Screen<'_>, output: &Value) {
        screen.block(text(output, "output"));
    }
}
