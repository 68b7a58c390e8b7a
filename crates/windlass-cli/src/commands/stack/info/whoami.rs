//! `windlass stack info whoami`.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use crate::{
    commands::stack::{
        arguments::{Input, Request, Target},
        call, report,
        show::{Screen, shown},
    },
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct InfoWhoamiArgs {
    #[command(flatten)]
    target: Target,
}

impl InfoWhoamiArgs {
    pub(in crate::commands::stack) fn request(&self) -> Request {
        Input::new(&self.target).request("stack.info_whoami")
    }

    pub(in crate::commands::stack) async fn run(
        self,
        session: &Session,
    ) -> Result<Report, Problem> {
        let output = call::ask(session, self.request()).await?;
        show(&Screen::data(&session.printer), &output);
        Ok(report(session, "found", output))
    }
}

pub(in crate::commands::stack) fn show(screen: &Screen<'_>, output: &Value) {
    for (label, key) in [
        ("account", "account"),
        ("identity", "arn"),
        ("user id", "userId"),
        ("region", "region"),
        ("profile", "profile"),
        ("credentials", "credentialSource"),
        ("until", "expiresAt"),
        ("policy", "policy"),
        ("here", "localPrincipal"),
    ] {
        let value = shown(output.get(key).unwrap_or(&Value::Null));
        if !value.is_empty() {
            screen.line(&format!("{label:<13}{value}"));
        }
    }
}
