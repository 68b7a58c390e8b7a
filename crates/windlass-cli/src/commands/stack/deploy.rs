//! `windlass stack deploy`: shows the plan, asks, and executes exactly that plan.

use clap::Args;
use serde_json::Value;
use windlass_types::{EffectClass, Problem};

use super::{
    arguments::{Input, Request, Target, Yes},
    call,
    consent::{Way, agreed, call_with_consent, say_yes},
    outputs, report,
    show::{self, Screen, is, list, object, shown, text},
};
use crate::{
    flow::{ConsentView, Question, can_ask},
    output::Tone,
    session::{Report, Session},
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
    /// Build everything anew.
    #[arg(long, alias = "noCache")]
    no_cache: bool,
    /// An argument for the image builder; may be given more than once.
    #[arg(long = "docker-arg", aliases = ["docker-args", "dockerArgs"], value_name = "ARG", allow_hyphen_values = true)]
    docker_args: Vec<String>,
    /// Start the deployment and return; do not wait for it to end.
    #[arg(long, aliases = ["noWait", "detach"])]
    no_wait: bool,
}

impl DeployArgs {
    pub(super) fn request(&self) -> Request {
        Input::new(&self.target)
            .flag("confirm", self.yes.yes)
            .text("confirmToken", self.confirm_token.as_deref())
            .flag("disableAutoRollback", self.disable_auto_rollback)
            .flag("noCache", self.no_cache)
            .list("dockerArgs", &self.docker_args)
            .value("wait", self.no_wait.then_some(Value::Bool(false)))
            .request("stack.deploy")
    }

    pub(super) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let mut request = self.request();
        let asks = can_ask(&session.printer) && !self.yes.yes;
        if asks && self.confirm_token.is_none() {
            let plan = call::follow(session, self.preview()).await?;
            agreed(session, &view(session, &plan)).await?;
            say_yes(&mut request.input, plan.get("confirmToken"));
        }
        let name = self.target.stack_name();
        let output = call_with_consent(session, Way::Run, request, name.as_deref()).await?;
        tell(session, &output);
        Ok(report(session, "deployed", output))
    }

    fn preview(&self) -> Request {
        Input::new(&self.target).request("stack.preview_changes")
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
pub(super) fn tell(session: &Session, output: &Value) {
    let screen = Screen::data(&session.printer);
    for failed in list(output, "hookFailures") {
        let said = match text(failed, "message") {
            "" => shown(failed),
            message => format!("{}: {message}", text(failed, "name")),
        };
        screen.toned(Tone::Warn, &format!("hook failed: {said}"));
    }
    if let Some(values) = object(output, "outputs") {
        outputs(&screen, values);
    }
}
