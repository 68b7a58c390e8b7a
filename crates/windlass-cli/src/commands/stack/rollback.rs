//! `windlass stack rollback`: an earlier version again, or out of a failed state.

use clap::Args;
use serde_json::Value;
use windlass_types::{EffectClass, Problem};

use super::{
    arguments::{Input, Request, Target, Yes},
    command::{StackCall, Work},
    consent::{agreed, say_yes},
    deploy::show_outcome,
    show::{Screen, list, moment, shown, text},
};
use crate::{
    flow::{ConsentView, Question, can_ask},
    output::Table,
    session::Session,
};

#[derive(Args, Debug)]
pub(crate) struct RollbackArgs {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    yes: Yes,
    /// The version to go back to, e.g. v000003.
    #[arg(long, alias = "targetVersion", value_name = "VERSION")]
    target_version: Option<String>,
    /// How many versions to go back. Default: 1.
    #[arg(
        long,
        alias = "rollbackSteps",
        value_name = "COUNT",
        conflicts_with = "target_version"
    )]
    rollback_steps: Option<u64>,
    /// List the versions there are, and change nothing.
    #[arg(long, alias = "listVersions")]
    list_versions: bool,
    /// Logical ids to leave as they are while a failed rollback continues.
    #[arg(
        long,
        alias = "resourcesToSkip",
        value_name = "IDS",
        value_delimiter = ','
    )]
    resources_to_skip: Vec<String>,
    /// Execute exactly the plan this token was given for.
    #[arg(long, alias = "confirmToken", value_name = "TOKEN")]
    confirm_token: Option<String>,
    /// Start the rollback and return; do not wait for it to end.
    #[arg(long, aliases = ["noWait", "detach"])]
    no_wait: bool,
}

impl StackCall for RollbackArgs {
    fn request(&self) -> Result<Request, Problem> {
        Ok(Input::new(&self.target)
            .flag("confirm", self.yes.yes)
            .text("targetVersion", self.target_version.as_deref())
            .number("rollbackSteps", self.rollback_steps)
            .flag("listVersions", self.list_versions)
            .list("resourcesToSkip", &self.resources_to_skip)
            .text("confirmToken", self.confirm_token.as_deref())
            .value("wait", self.no_wait.then_some(Value::Bool(false)))
            .request("stack.rollback"))
    }

    fn agree<'a>(&'a self, session: &'a Session, mut request: Request) -> Work<'a, Request> {
        Box::pin(async move {
            let is_decided = self.yes.yes || self.list_versions || self.confirm_token.is_some();
            if !is_decided && can_ask(&session.printer) {
                agreed(session, &self.view()).await?;
                say_yes(&mut request.input, None);
            }
            Ok(request)
        })
    }

    fn confirm_name(&self) -> Option<String> {
        self.target.stack_name()
    }

    fn show(&self, screen: &Screen<'_>, output: &Value) {
        if self.list_versions {
            versions(screen, output);
        } else {
            show_outcome(screen, output);
        }
    }
}

impl RollbackArgs {
    /// The consent screen.
    fn view(&self) -> ConsentView {
        let stack = self.target.stack_name();
        let stack = stack.as_deref().unwrap_or("the stack");
        let to = match &self.target_version {
            Some(version) => format!("back to {version}"),
            None => "back".to_owned(),
        };
        let question = Question::Yes(format!("Roll {stack} {to}?"));
        ConsentView {
            summary: to,
            ..ConsentView::new("stack.rollback", stack, EffectClass::Write, question)
        }
    }
}

pub(super) fn versions(screen: &Screen<'_>, output: &Value) {
    let mut table = Table::new(&["VERSION", "DEPLOYED", "RUN"]);
    for version in list(output, "versions") {
        match version {
            Value::String(name) => table.row([name.as_str(), "", ""]),
            other => table.row([
                shown(other.get("version").unwrap_or(&Value::Null)),
                moment(other.get("createdAt").unwrap_or(&Value::Null)),
                text(other, "runId").to_owned(),
            ]),
        }
    }
    screen.table(&table);
}
