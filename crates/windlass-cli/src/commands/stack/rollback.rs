//! `windlass stack rollback`: an earlier version again, or out of a failed state.

use clap::Args;
use serde_json::Value;
use windlass_types::{EffectClass, Problem};

use super::{
    arguments::{Input, Request, Target, Yes},
    consent::{Way, agreed, call_with_consent, say_yes},
    deploy, report,
    show::{Screen, list, moment, shown, text},
};
use crate::{
    flow::{ConsentView, Question, can_ask},
    output::Table,
    session::{Report, Session},
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
    /// Logical ids to leave as they are while a failed rollback goes on.
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

impl RollbackArgs {
    pub(super) fn request(&self) -> Request {
        Input::new(&self.target)
            .flag("confirm", self.yes.yes)
            .text("targetVersion", self.target_version.as_deref())
            .number("rollbackSteps", self.rollback_steps)
            .flag("listVersions", self.list_versions)
            .list("resourcesToSkip", &self.resources_to_skip)
            .text("confirmToken", self.confirm_token.as_deref())
            .value("wait", self.no_wait.then_some(Value::Bool(false)))
            .request("stack.rollback")
    }

    pub(super) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let name = self.target.stack_name();
        let mut request = self.request();
        let asks = !self.yes.yes && !self.list_versions && self.confirm_token.is_none();
        if asks && can_ask(&session.printer) {
            let stack = name.as_deref().unwrap_or("the stack");
            let to = match &self.target_version {
                Some(version) => format!("back to {version}"),
                None => "back".to_owned(),
            };
            let question = Question::Yes(format!("Roll {stack} {to}?"));
            let view = ConsentView::new("stack.rollback", stack, EffectClass::Write, question);
            agreed(
                session,
                &ConsentView {
                    summary: to,
                    ..view
                },
            )
            .await?;
            say_yes(&mut request.input, None);
        }
        let output = call_with_consent(session, Way::Run, request, name.as_deref()).await?;
        if self.list_versions {
            versions(&Screen::data(&session.printer), &output);
        } else {
            deploy::tell(session, &output);
        }
        Ok(report(session, "rolled back", output))
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
