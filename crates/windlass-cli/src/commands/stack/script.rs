//! `windlass stack script run`: a script of the config.

use clap::{Args, Subcommand};
use serde_json::Value;
use windlass_types::Problem;

use super::{
    arguments::{Input, Request, Target, filled},
    command::StackCall,
    show::{Screen, text},
};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ScriptCommand {
    /// Run a script of the config, with what it connects to in its environment.
    Run(ScriptRunArgs),
}

#[derive(Args, Debug)]
pub(crate) struct ScriptRunArgs {
    /// The script.
    #[arg(value_name = "SCRIPT")]
    script: Option<String>,
    #[command(flatten)]
    target: Target,
    /// The script, by flag.
    #[arg(long, alias = "scriptName", value_name = "NAME")]
    script_name: Option<String>,
    /// A variable for the script; may be given more than once.
    #[arg(long, value_name = "KEY=VALUE")]
    env: Vec<String>,
    /// The resource whose role the script works with.
    #[arg(long, alias = "assumeRoleOfResource", value_name = "NAME")]
    assume_role_of_resource: Option<String>,
    /// Use the deployed stack, even if a development session of the stage is running.
    #[arg(long)]
    deployed: bool,
    /// Start the script and return; do not wait for it to end.
    #[arg(long, aliases = ["noWait", "detach"])]
    no_wait: bool,
}

impl StackCall for ScriptRunArgs {
    fn request(&self) -> Result<Request, Problem> {
        let [script] = filled([self.script_name.as_deref()], &[&self.script])?;
        Ok(Input::new(&self.target)
            .text("scriptName", script.as_deref())
            .list("env", &self.env)
            .text(
                "assumeRoleOfResource",
                self.assume_role_of_resource.as_deref(),
            )
            .flag("deployed", self.deployed)
            .value("wait", self.no_wait.then_some(Value::Bool(false)))
            .request("stack.script_run"))
    }

    fn show(&self, screen: &Screen<'_>, output: &Value) {
        screen.block(text(output, "outputTail"));
    }
}
