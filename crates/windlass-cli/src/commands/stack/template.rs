//! `windlass stack template`: the CloudFormation template of the config.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use super::{
    arguments::{Input, Request, Target},
    command::StackCall,
    show::{Screen, list, shown, warnings},
};
use crate::output::Tone;

#[derive(Args, Debug)]
pub(crate) struct TemplateArgs {
    #[command(flatten)]
    target: Target,
    /// Write it to this file instead of printing it.
    #[arg(long, short, alias = "outFile", value_name = "FILE")]
    out_file: Option<String>,
    /// Package every workload, so that the template has the digests of their code instead of
    /// placeholders.
    #[arg(long, alias = "withPackage")]
    with_package: bool,
}

impl StackCall for TemplateArgs {
    fn request(&self) -> Result<Request, Problem> {
        Ok(Input::new(&self.target)
            .text("outFile", self.out_file.as_deref())
            .flag("withPackage", self.with_package)
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
        let secrets: Vec<String> = list(output, "literalSecrets").iter().map(shown).collect();
        if !secrets.is_empty() && self.out_file.is_none() {
            let places = secrets.join(", ");
            screen.aside().toned(
                Tone::Warn,
                &format!("warning: the template holds secrets at {places}"),
            );
        }
        if let Some(Value::Array(names)) = output.get("placeholders") {
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            screen.aside().toned(
                Tone::Dim,
                &format!(
                    "not packaged, so with a placeholder for its digest: {}; --with-package packages",
                    names.join(", ")
                ),
            );
        }
        warnings(&screen.aside(), output);
    }
}
