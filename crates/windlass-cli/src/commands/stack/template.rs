//! `windlass stack template`: the CloudFormation template of the config.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use super::{
    arguments::{Input, Request, Target},
    command::StackCall,
    show::{Screen, warnings},
};

#[derive(Args, Debug)]
pub(crate) struct TemplateArgs {
    #[command(flatten)]
    target: Target,
    /// Write it to this file instead of printing it.
    #[arg(long, short, alias = "outFile", value_name = "FILE")]
    out_file: Option<String>,
}

impl StackCall for TemplateArgs {
    fn request(&self) -> Result<Request, Problem> {
        Ok(Input::new(&self.target)
            .text("outFile", self.out_file.as_deref())
            .request("stack.compile_template"))
    }

    fn show(&self, screen: &Screen<'_>, output: &Value) {
        if self.out_file.is_none() {
            match output.get("template") {
                Some(Value::String(text)) => screen.block(text),
                Some(template) => screen.json(template),
                None => {}
            }
        }
        warnings(&screen.aside(), output);
    }
}
