//! Who says yes. At a terminal people are asked, and type a name where something would be lost;
//! everywhere else the operation's refusal stands and names the flag that is missing.

use serde_json::{Value, json};
use windlass_types::{Problem, code};

use super::{
    arguments::Request,
    call,
    show::{self, Screen},
};
use crate::{
    flow::{confirm, type_exactly},
    session::Session,
};

/// How often somebody is asked about one command: the plan may change while they read it.
const ROUNDS: usize = 3;

/// How an operation does its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// It answers by itself.
    Short,
    /// It works in a run.
    Run,
}

/// Calls an operation; where it wants a yes and there is somebody to ask, asks and calls again.
/// `name` is what is typed where the operation does not say what the stack is called.
pub(super) async fn call_with_consent(
    session: &Session,
    way: Way,
    mut request: Request,
    name: Option<&str>,
) -> Result<Value, Problem> {
    let mut round = 1;
    loop {
        let outcome = match way {
            Way::Short => call::ask(session, request.clone()).await,
            Way::Run => call::follow(session, request.clone()).await,
        };
        match outcome {
            Err(problem) if wants_a_yes(&problem) && round < ROUNDS => {
                if !agree(session, &problem, name).await? {
                    return Err(problem);
                }
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

/// Whether a person could mend this by saying yes: to what was asked, or to a plan that comes with
/// a token of its own. An approval is somebody else's business.
fn wants_a_yes(problem: &Problem) -> bool {
    let renewed = problem.details().contains_key("confirmToken");
    problem.code() == &code::CONFIRM_REQUIRED || renewed
}

/// Shows what would be done and has the name typed; false where there is nobody to ask.
async fn agree(session: &Session, problem: &Problem, name: Option<&str>) -> Result<bool, Problem> {
    let details = problem.details();
    let stack = details.get("stackName").and_then(Value::as_str);
    let Some(name) = stack.or(name) else {
        return Ok(false);
    };
    if !session.printer.sees_questions() {
        return Ok(false);
    }
    let screen = Screen::notice(&session.printer);
    screen.line(problem.message());
    show::plan::consequences(&screen, &Value::Object(details.clone()));
    typed(session, name).await
}

/// Has the name typed; false where there is nobody to ask, a problem where something else was.
pub(super) async fn typed(session: &Session, name: &str) -> Result<bool, Problem> {
    let question = format!("Type {name} to go on:");
    match type_exactly(session, &question, name).await? {
        Some(true) => Ok(true),
        Some(false) => Err(declined()),
        None => Ok(false),
    }
}

/// Asks yes or no; false where there is nobody to ask, a problem where the answer is no.
pub(super) async fn agreed(session: &Session, question: &str) -> Result<bool, Problem> {
    match confirm(session, question).await? {
        Some(true) => Ok(true),
        Some(false) => Err(declined()),
        None => Ok(false),
    }
}

fn declined() -> Problem {
    Problem::new(
        &code::CONFIRM_REQUIRED,
        "not confirmed; nothing was changed",
    )
    .with("reason", "declined")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_yes_carries_the_token_of_what_it_is_said_to() {
        let mut input = json!({ "stage": "dev" });
        say_yes(&mut input, None);
        assert_eq!(input, json!({ "stage": "dev", "confirm": true }));
        say_yes(&mut input, Some(&json!("ct_1")));
        assert_eq!(input["confirmToken"], "ct_1");
    }

    #[test]
    fn only_what_a_yes_can_mend_is_asked() {
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
