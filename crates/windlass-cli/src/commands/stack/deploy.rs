//! `windlass stack deploy`: shows the plan, asks, and executes exactly that plan.

use clap::Args;
use serde_json::Value;
use windlass_types::{EffectClass, Problem};

use super::{
    arguments::{Input, Request, Target, Yes},
    call,
    command::{StackCall, Work},
    consent::{agreed, say_yes},
    outputs,
    show::{self, Screen, is, list, object, shown, text},
};
use crate::{
    flow::{ConsentView, Question, can_ask},
    output::Tone,
    session::Session,
};

#[derive(Args, Debug)]
pub(crate) struct DeployArgs {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    yes: Yes,
    /// Deploy exactly the plan this token was given for by `preview`.
    #[arg(long, alias = "confirmToken", value_name = "TOKEN")]
    confirm_token: Option<String>,
    /// Leave a failed deployment as it is, to look at it.
    #[arg(long, alias = "disableAutoRollback")]
    disable_auto_rollback: bool,
    /// Build everything again.
    #[arg(long, alias = "noCache")]
    no_cache: bool,
    /// An argument for the image builder; may be given more than once.
    #[arg(long = "docker-arg", aliases = ["docker-args", "dockerArgs"], value_name = "ARG", allow_hyphen_values = true)]
    docker_args: Vec<String>,
    /// Start the deployment and return; do not wait for it to end.
    #[arg(long, aliases = ["noWait", "detach"])]
    no_wait: bool,
}

impl StackCall for DeployArgs {
    fn request(&self) -> Result<Request, Problem> {
        Ok(Input::new(&self.target)
            .flag("confirm", self.yes.yes)
            .text("confirmToken", self.confirm_token.as_deref())
            .flag("disableAutoRollback", self.disable_auto_rollback)
            .flag("noCache", self.no_cache)
            .list("dockerArgs", &self.docker_args)
            .value("wait", self.no_wait.then_some(Value::Bool(false)))
            .request("stack.deploy"))
    }

    fn agree<'a>(&'a self, session: &'a Session, mut request: Request) -> Work<'a, Request> {
        Box::pin(async move {
            let is_decided = self.yes.yes || self.confirm_token.is_some();
            if !is_decided && can_ask(&session.printer) {
                let preview = Input::new(&self.target).request("stack.preview_changes");
                let plan = call::call(session, preview).await?;
                agreed(session, &view(session, &plan)).await?;
                say_yes(&mut request.input, plan.get("confirmToken"));
            }
            Ok(request)
        })
    }

    fn confirm_name(&self) -> Option<String> {
        self.target.stack_name()
    }

    fn show(&self, screen: &Screen<'_>, output: &Value) {
        show_outcome(screen, output);
    }
}

/// The consent screen of a plan.
fn view(session: &Session, plan: &Value) -> ConsentView {
    let stack = text(plan, "stackName");
    let (effect, question) = if show::plan::loses_data(plan) {
        (EffectClass::Destructive, Question::Name(stack.to_owned()))
    } else {
        let question = if is(plan, "recreate") {
            format!("Delete the failed {stack} and create it again?")
        } else if is(plan, "noChanges") {
            format!("Deploy {stack} anyway (files, scripts and hooks)?")
        } else {
            format!("Deploy {stack}?")
        };
        (EffectClass::Write, Question::Yes(question))
    };
    let screen = Screen::kept(&session.printer);
    show::plan::details(&screen, plan);
    ConsentView {
        lines: screen.into_lines(),
        summary: show::plan::kind(plan).to_owned(),
        ..ConsentView::new("stack.deploy", stack, effect, question)
    }
}

/// What a deployment or a rollback ended with.
pub(super) fn show_outcome(screen: &Screen<'_>, output: &Value) {
    for failed in list(output, "hookFailures") {
        let said = match text(failed, "message") {
            "" => shown(failed),
            message => format!("{}: {message}", text(failed, "name")),
        };
        screen.toned(Tone::Warn, &format!("hook failed: {said}"));
    }
    if let Some(values) = object(output, "outputs") {
        outputs(screen, values);
    }
}
