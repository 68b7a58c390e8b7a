//! `windlass stack template`: the CloudFormation template of the config.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use super::{
    arguments::{Input, Request, Target},
    call, report,
    show::{Screen, warnings},
};
use crate::session::{Report, Session};

#[derive(Args, Debug)]
pub(crate) struct TemplateArgs {
    #[command(flatten)]
    target: Target,
    /// Write it to this file instead of printing it.
    #[arg(long, short, alias = "outFile", value_name = "FILE")]
    out_file: Option<String>,
}

impl TemplateArgs {
    pub(super) fn request(&self) -> Request {
        Input::new(&self.target)
            .text("outFile", self.out_file.as_deref())
            .request("stack.compile_template")
    }

    pub(super) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let output = call::ask(session, self.request()).await?;
        if self.out_file.is_none() {
            let screen = Screen::data(&session.printer);
            match output.get("template") {
                Some(Value::String(text)) => screen.block(text),
                Some(template) => screen.json(template),
                None => {}
            }
        }
        warnings(&Screen::notice(&session.printer), &output);
        Ok(report(session, "compiled", output))
    }
}
