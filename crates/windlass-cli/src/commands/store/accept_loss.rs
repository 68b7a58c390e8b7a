//! `windlass store accept-loss`.

use clap::Args;
use serde_json::json;
use windlass_types::{Problem, code};

use crate::{
    commands::field,
    flow::{can_ask, confirm},
    session::{Report, Session},
};

const OPERATION: &str = "admin.store_accept_loss";

#[derive(Args, Debug)]
pub(crate) struct AcceptLossArgs {
    /// Accept without being asked.
    #[arg(long, short)]
    yes: bool,
}

impl AcceptLossArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        // Looked at first: a call that changes something is recorded, and nothing can be.
        let check = session.call("admin.doctor", json!({})).await?;
        let checks: Vec<serde_json::Value> = field(&check.output, "checks")?;
        let store = checks.iter().find(|check| check["name"] == "store");
        let finding = store.and_then(|check| check["finding"].as_str());
        let printer = &session.printer;
        if store.is_some_and(|check| check["ok"] == true) {
            printer.notice("nothing is lost: the store has everything it acknowledged");
            return Ok(Report::new("nothing is lost", json!({ "accepted": false })));
        }
        let finding = finding.unwrap_or("the store cannot be read");
        printer.notice(finding);
        printer.notice(
            "a backup brings it back; accepting keeps what is there and voids all confirm tokens",
        );
        let accepted = match self.yes {
            true => true,
            false if can_ask(printer) => confirm(session, "Continue without it?").await?,
            false => {
                return Err(Problem::new(
                    &code::APPROVAL_REQUIRED,
                    format!("{finding}; say yes to continue without it"),
                )
                .next("windlass store accept-loss --yes"));
            }
        };
        if !accepted {
            return Ok(Report::new("not accepted", json!({ "accepted": false })));
        }
        let answer = session.call(OPERATION, json!({})).await?;
        printer.notice("accepted and put on record; check the rest: windlass store check");
        Ok(Report::new("the loss is accepted", answer.output))
    }
}
