//! Who says yes. At a terminal people are asked, and type a name where something would be lost;
//! everywhere else the operation's refusal stands and names the flag that is missing.

use serde_json::{Value, json};
use windlass_types::{EffectClass, Problem, code};

use super::{
    arguments::Request,
    call::call,
    show::{Screen, plan, text},
};
use crate::{
    flow::{Consent, ConsentView, Question, can_ask, refused},
    session::Session,
};

/// How often a person is asked about one command: the plan may change while they read it.
const ROUNDS: usize = 3;

/// Calls an operation; where it wants a yes and there is a person to ask, asks and calls again.
/// `name` is what is typed where the operation does not say what the stack is called.
pub(super) async fn call_with_consent(
    session: &Session,
    mut request: Request,
    name: Option<&str>,
) -> Result<Value, Problem> {
    let mut round = 1;
    loop {
        match call(session, request.clone()).await {
            Err(problem) if wants_a_yes(&problem) && round < ROUNDS => {
                let view = view(session, request.operation, &problem, name);
                let Some(view) = view.filter(|_| can_ask(&session.printer)) else {
                    return Err(problem);
                };
                agreed(session, &view).await?;
                say_yes(&mut request.input, problem.details().get("confirmToken"));
            }
            outcome => return outcome,
        }
        round += 1;
    }
}

/// Puts the yes, and the token of what it is said to, into an input.
pub(super) fn say_yes(input: &mut Value, token: Option<&Value>) {
    let Some(input) = input.as_object_mut() else {
        return;
    };
    input.insert("confirm".to_owned(), Value::Bool(true));
    if let Some(Value::String(token)) = token {
        input.insert("confirmToken".to_owned(), json!(token));
    }
}

/// Whether a yes would help: to what was asked, or to a plan that comes with a token of its own.
/// An approval is another person's decision.
fn wants_a_yes(problem: &Problem) -> bool {
    let renewed = problem.details().contains_key("confirmToken");
    problem.code() == &code::CONFIRM_REQUIRED || renewed
}

/// The consent screen of a refusal; none where it does not say what it is about.
fn view(
    session: &Session,
    operation: &str,
    problem: &Problem,
    name: Option<&str>,
) -> Option<ConsentView> {
    let details = Value::Object(problem.details().clone());
    let name = match text(&details, "stackName") {
        "" => name?,
        stack => stack,
    };
    let screen = Screen::kept(&session.printer);
    plan::consequences(&screen, &details);
    let question = Question::Name(name.to_owned());
    Some(ConsentView {
        lines: screen.into_lines(),
        summary: problem.message().to_owned(),
        ..ConsentView::new(operation, name, EffectClass::Destructive, question)
    })
}

/// Shows what would be done and asks; a problem where the answer is no.
pub(super) async fn agreed(session: &Session, view: &ConsentView) -> Result<(), Problem> {
    match view.ask(session, false).await? {
        Consent::Given => Ok(()),
        consent => Err(refused(consent).with("reason", "declined")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_yes_carries_the_token_of_its_plan() {
        let mut input = json!({ "stage": "dev" });
        say_yes(&mut input, None);
        assert_eq!(input, json!({ "stage": "dev", "confirm": true }));
        say_yes(&mut input, Some(&json!("ct_1")));
        assert_eq!(input["confirmToken"], "ct_1");
    }

    #[test]
    fn only_what_a_yes_can_resolve_is_asked() {
        let new_plan = Problem::new(&code::CONFIRM_TOKEN_MISMATCH, "x").with("confirmToken", "ct");
        for (problem, expected) in [
            (Problem::new(&code::CONFIRM_REQUIRED, "x"), true),
            (new_plan, true),
            (Problem::new(&code::CONFIRM_TOKEN_EXPIRED, "x"), false),
            (Problem::new(&code::APPROVAL_REQUIRED, "x"), false),
            (Problem::new(&code::POLICY_DENIED, "x"), false),
        ] {
            assert_eq!(wants_a_yes(&problem), expected, "{problem}");
        }
    }
}
