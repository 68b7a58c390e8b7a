//! `windlass stack secret delete`.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use super::Named;
use crate::{
    commands::stack::{
        arguments::{Request, Yes},
        consent::{Way, call_with_consent},
        report,
        show::{Screen, moment},
    },
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct DeleteArgs {
    #[command(flatten)]
    secret: Named,
    #[command(flatten)]
    yes: Yes,
    /// Delete it at once instead of after the recovery window.
    #[arg(long)]
    force: bool,
    /// Days until it is gone for good. Default: 30.
    #[arg(
        long,
        alias = "recoveryDays",
        value_name = "DAYS",
        conflicts_with = "force"
    )]
    recovery_days: Option<u64>,
}

impl DeleteArgs {
    pub(in crate::commands::stack) fn request(&self) -> Result<Request, Problem> {
        Ok(self
            .secret
            .input()?
            .flag("force", self.force)
            .number("recoveryDays", self.recovery_days)
            .flag("confirm", self.yes.yes)
            .request("stack.secret_delete"))
    }

    pub(in crate::commands::stack) async fn run(
        self,
        session: &Session,
    ) -> Result<Report, Problem> {
        let request = self.request()?;
        let name = request.input.get("secretName").and_then(Value::as_str);
        let name = name.map(str::to_owned);
        let output = call_with_consent(session, Way::Run, request, name.as_deref()).await?;
        let date = moment(output.get("deletionDate").unwrap_or(&Value::Null));
        if !date.is_empty() {
            Screen::data(&session.printer).line(&format!("gone for good on {date}"));
        }
        Ok(report(session, "scheduled for deletion", output))
    }
}
