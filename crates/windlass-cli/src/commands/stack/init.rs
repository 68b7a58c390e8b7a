//! `windlass stack init`: a config to start from, made from what the directory holds.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use super::{
    arguments::{Input, Request},
    call, report,
    show::{Screen, list, shown, text},
};
use crate::session::{Report, Session};

#[derive(Args, Debug)]
pub(crate) struct InitArgs {
    /// The directory. Default: this one.
    #[arg(value_name = "DIR")]
    directory: Option<String>,
    /// Write over a config that is there.
    #[arg(long)]
    force: bool,
    /// Print the config and write nothing.
    #[arg(long)]
    print: bool,
}

impl InitArgs {
    pub(super) fn request(&self) -> Request {
        Input::default()
            .text("currentWorkingDirectory", self.directory.as_deref())
            .flag("force", self.force)
            .flag("print", self.print)
            .request("stack.init")
    }

    pub(super) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let output = call::ask(session, self.request()).await?;
        if self.print {
            Screen::data(&session.printer).block(text(&output, "text"));
        } else {
            show(&Screen::data(&session.printer), &output);
        }
        Ok(report(session, "made a config", output))
    }
}

pub(super) fn show(screen: &Screen<'_>, output: &Value) {
    for found in list(output, "found") {
        let said = match found {
            Value::Object(members) => {
                let parts: Vec<String> = members.values().map(shown).collect();
                parts.join("  ")
            }
            other => shown(other),
        };
        screen.line(&format!("found {said}"));
    }
}
