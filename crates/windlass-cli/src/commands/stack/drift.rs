//! `windlass stack drift`: what was changed by hand since the last deployment.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use super::{
    arguments::{Input, Request, Target},
    command::StackCall,
    show::{self, Screen, text},
};

#[derive(Args, Debug)]
pub(crate) struct DriftArgs {
    #[command(flatten)]
    target: Target,
}

impl StackCall for DriftArgs {
    fn request(&self) -> Result<Request, Problem> {
        Ok(Input::new(&self.target)
            .flag("detectDrift", true)
            .request("stack.preview_changes"))
    }

    fn show(&self, screen: &Screen<'_>, output: &Value) {
        if output.get("drift").is_some_and(Value::is_object) {
            show::plan::drift(screen, output);
        } else {
            let stack = text(output, "stackName");
            screen.line(&format!(
                "{stack} is not deployed: nothing can have drifted"
            ));
        }
    }
}
