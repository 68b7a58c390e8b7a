//! `windlass stack secret delete`.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use super::Named;
use crate::commands::stack::{
    arguments::{Request, Yes},
    command::StackCall,
    show::{Screen, moment},
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

impl StackCall for DeleteArgs {
    fn request(&self) -> Result<Request, Problem> {
        Ok(self
            .secret
            .input()?
            .flag("force", self.force)
            .number("recoveryDays", self.recovery_days)
            .flag("confirm", self.yes.yes)
            .request("stack.secret_delete"))
    }

    fn confirm_name(&self) -> Option<String> {
        self.secret.name().ok().flatten()
    }

    fn show(&self, screen: &Screen<'_>, output: &Value) {
        let date = moment(output.get("deletionDate").unwrap_or(&Value::Null));
        if !date.is_empty() {
            screen.line(&format!("permanently deleted on {date}"));
        }
    }
}
