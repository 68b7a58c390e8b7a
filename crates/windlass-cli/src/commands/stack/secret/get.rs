//! `windlass stack secret get`.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use super::Named;
use crate::commands::stack::{
    arguments::Request,
    command::StackCall,
    show::{Screen, moment, text},
};

#[derive(Args, Debug)]
pub(crate) struct GetArgs {
    #[command(flatten)]
    secret: Named,
}

impl StackCall for GetArgs {
    fn request(&self) -> Result<Request, Problem> {
        Ok(self.secret.input()?.request("stack.secret_get"))
    }

    fn show(&self, screen: &Screen<'_>, output: &Value) {
        show(screen, output);
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
