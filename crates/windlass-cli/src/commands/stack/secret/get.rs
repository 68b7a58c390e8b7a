//! `windlass stack secret get`.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use super::Named;
use crate::{
    commands::stack::{
        arguments::Request,
        call, report,
        show::{Screen, moment, text},
    },
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct GetArgs {
    #[command(flatten)]
    secret: Named,
}

impl GetArgs {
    pub(in crate::commands::stack) fn request(&self) -> Result<Request, Problem> {
        Ok(self.secret.input()?.request("stack.secret_get"))
    }

    pub(in crate::commands::stack) async fn run(
        self,
        session: &Session,
    ) -> Result<Report, Problem> {
        let output = call::ask(session, self.request()?).await?;
        show(&Screen::data(&session.printer), &output);
        Ok(report(session, "found", output))
    }
}

fn show(screen: &Screen<'_>, output: &Value) {
    for (label, key) in [
        ("name", "name"),
        ("value", "value"),
        ("version", "versionId"),
        ("arn", "arn"),
    ] {
        let value = text(output, key);
        if !value.is_empty() {
            screen.line(&format!("{label:<9}{value}"));
        }
    }
    let created = moment(output.get("created").unwrap_or(&Value::Null));
    if !created.is_empty() {
        screen.line(&format!("{:<9}{created}", "created"));
    }
}
