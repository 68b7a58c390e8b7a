//! `windlass stack aws`: one reading action of an AWS service.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use super::{
    arguments::{Deployed, Request, filled, json_flag},
    command::StackCall,
    show::Screen,
};

#[derive(Args, Debug)]
pub(crate) struct AwsArgs {
    /// The service, e.g. lambda.
    #[arg(value_name = "SERVICE")]
    of: Option<String>,
    /// The action, e.g. ListFunctions.
    #[arg(value_name = "ACTION")]
    action: Option<String>,
    #[command(flatten)]
    stack: Deployed,
    /// The service, by flag.
    #[arg(long, value_name = "SERVICE")]
    service: Option<String>,
    /// The action, by flag.
    #[arg(long, value_name = "ACTION")]
    command: Option<String>,
    /// The input of the action: JSON, @FILE or -.
    #[arg(long, short, value_name = "JSON")]
    input: Option<String>,
}

impl StackCall for AwsArgs {
    fn request(&self) -> Result<Request, Problem> {
        let [service, action] = filled(
            [self.service.as_deref(), self.command.as_deref()],
            &[&self.of, &self.action],
        )?;
        Ok(self
            .stack
            .input()
            .text("service", service.as_deref())
            .text("command", action.as_deref())
            .value("input", json_flag("--input", self.input.as_deref())?)
            .request("stack.aws_sdk"))
    }

    fn show(&self, screen: &Screen<'_>, output: &Value) {
        match output.get("data") {
            Some(data) => screen.json(data),
            None => screen.json(&super::data_of(output)),
        }
    }
}
