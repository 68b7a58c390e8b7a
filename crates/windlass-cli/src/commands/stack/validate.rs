//! `windlass stack validate`: everything about a config that can be checked before deploying it.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use super::{
    arguments::{Input, Request, Target},
    command::{StackCall, Work},
    consent::call_with_consent,
    report,
    show::{Screen, object, shown, warnings},
};
use crate::{output::Tone, session::Session};

#[derive(Args, Debug)]
pub(crate) struct ValidateArgs {
    #[command(flatten)]
    target: Target,
    /// Also package every workload; otherwise nothing is packaged.
    #[arg(long, alias = "withPackage")]
    with_package: bool,
    /// Also have CloudFormation look at the template; needs AWS.
    #[arg(long)]
    thorough: bool,
}

impl StackCall for ValidateArgs {
    fn request(&self) -> Result<Request, Problem> {
        Ok(Input::new(&self.target)
            .flag("withPackage", self.with_package)
            .flag("thorough", self.thorough)
            .request("stack.validate"))
    }

    fn show(&self, screen: &Screen<'_>, output: &Value) {
        show(screen, output);
    }

    /// What could not be checked is no pass: the exit code is what scripts look at.
    fn run<'a>(&'a self, session: &'a Session) -> Work<'a> {
        Box::pin(async move {
            let output = call_with_consent(session, self.request()?, None).await?;
            self.show(&Screen::data(&session.printer), &output);
            let is_valid = output.get("valid") == Some(&Value::Bool(true));
            Ok(report(session, output).sound(is_valid))
        })
    }
}

pub(super) fn show(screen: &Screen<'_>, output: &Value) {
    for (part, checked) in object(output, "checked").into_iter().flatten() {
        let (tone, sign) = match checked {
            Value::Bool(false) | Value::Null => (Tone::Dim, "·"),
            _ => (Tone::Good, "✓"),
        };
        let note = match checked {
            Value::Bool(false) | Value::Null => "  not checked".to_owned(),
            Value::Bool(true) => String::new(),
            other => format!("  {}", shown(other)),
        };
        screen.toned(tone, &format!("{sign} {part}{note}"));
    }
    warnings(screen, output);
}
