//! `windlass stack dev stop`.

use clap::Args;
use windlass_types::Problem;

use crate::commands::stack::{
    arguments::{Input, Request, Target},
    command::StackCall,
};

#[derive(Args, Debug)]
pub(crate) struct StopArgs {
    #[command(flatten)]
    target: Target,
}

impl StackCall for StopArgs {
    fn request(&self) -> Result<Request, Problem> {
        Ok(stop(&self.target))
    }
}

pub(super) fn stop(target: &Target) -> Request {
    Input::new(target).request("stack.dev_stop")
}
