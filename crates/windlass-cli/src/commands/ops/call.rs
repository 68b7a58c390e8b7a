//! `windlass ops call`: any operation, with JSON input.

use std::{io::Read as _, time::Duration};

use clap::Args;
use serde_json::{Value, json};
use windlass_engine::{
    contract::EnvelopeContext,
    operation::{Answer, AnswerWhen, Begun, CallRequest, Flow, OperationInfo, Terms},
    run::RunView,
};
use windlass_types::{Problem, RunState, code};

use crate::{
    dispatch::Failure,
    flow::{Consent, ConsentView, Driving, Follow, Question, refused, shortfall},
    output::{Mode, one_line},
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct CallArgs {
    /// The operation, by its name or its MCP tool name.
    #[arg(value_name = "OPERATION")]
    name: String,
    /// The input: a JSON object, @FILE to read a file, or - to read standard input.
    #[arg(long, short, value_name = "JSON", default_value = "{}")]
    input: String,
    /// Do not wait for the run the operation starts or controls.
    #[arg(long)]
    detach: bool,
    /// Do not ask, where the operation asks before it is called.
    #[arg(long, short)]
    yes: bool,
}

impl CallArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Failure> {
        let catalogue = session.catalogue();
        let info = catalogue
            .find(&self.name)
            .ok_or_else(|| catalogue.unknown(&self.name))?;
        let input = read_input(&self.input)?;
        let asked = info.input_for_envelope(&input);
        let outcome = match consent(session, info, &input, self.yes).await {
            Ok(()) => call(session, info, input, self.detach).await,
            Err(problem) => Err(problem),
        };
        let answer = outcome.map_err(|problem| Failure {
            problem: guided(problem, info),
            contract: info.contract,
            operation: info.name.clone(),
            request_id: String::new(),
            input: asked.clone(),
        })?;
        let context = EnvelopeContext {
            operation: &info.name,
            request_id: &session.request_id,
            input: &asked,
        };
        let document = info.contract.success(context, answer.output);
        if session.printer.mode() == Mode::Human {
            session.printer.json(&document);
        }
        Ok(Report::new(format!("{} answered", info.name), document))
    }
}

/// Asks about a call whose operation has something to show before it.
async fn consent(
    session: &Session,
    info: &OperationInfo,
    input: &Value,
    yes: bool,
) -> Result<(), Problem> {
    let request = CallRequest {
        operation: info.name.clone(),
        input: input.clone(),
        context: session.context(Terms::default()),
    };
    let Some(plan) = session.catalogue().plan_of_call(&request)? else {
        return Ok(());
    };
    let named = info.target_inputs.iter();
    let named = named.filter_map(|field| input.get(field)?.as_str());
    let target = named.collect::<Vec<_>>().join(", ");
    let question = Question::Yes(format!("Call {} on {}?", info.name, one_line(&target)));
    let mut screen = ConsentView::new(&info.name, &target, info.effect, question);
    screen.lines = plan.lines.iter().map(|line| one_line(line)).collect();
    screen.digest = Some(plan.digest);
    match screen.ask(session, yes).await? {
        Consent::Given => Ok(()),
        consent => {
            let problem = refused(consent)
                .with("plan", json!(plan.lines))
                .with("plan_digest", plan.digest.to_string());
            Err(match consent {
                Consent::CannotAsk => problem.next("repeat the call with --yes"),
                Consent::Given | Consent::Declined => problem,
            })
        }
    }
}

/// Input that does not fit sends its author to the description.
fn guided(problem: Problem, info: &OperationInfo) -> Problem {
    if problem.code() == &code::INVALID_INPUT && problem.next_actions().is_empty() {
        return problem.next(format!("windlass ops describe {}", info.name));
    }
    problem
}

/// Calls the operation. A run that it starts or steers is driven and followed here, whatever the
/// operation's flow, unless the caller does not want to wait.
async fn call(
    session: &Session,
    info: &OperationInfo,
    input: Value,
    detach: bool,
) -> Result<Answer, Problem> {
    let mut driving = Driving::new(session.engine());
    let outcome = call_with(session, info, input, detach, &mut driving).await;
    driving.stop().await;
    outcome
}

async fn call_with(
    session: &Session,
    info: &OperationInfo,
    input: Value,
    detach: bool,
    driving: &mut Driving<'_>,
) -> Result<Answer, Problem> {
    let called = session.begin(&info.name, input);
    let begun = driving.call(session, called).await?;
    let steers = matches!(info.flow, Flow::Apply | Flow::Signal);
    match begun {
        Begun::Answered(answer) => match answer.run_id.clone().filter(|_| steers && !detach) {
            Some(run_id) => {
                let run = Follow::new(&run_id).run_with(session, driving).await?;
                rested(info, answer, &run)
            }
            None => Ok(answer),
        },
        Begun::Pending(mut pending) if detach => {
            pending.awaited.timeout = Duration::ZERO;
            session.wait(pending).await
        }
        Begun::Pending(pending) if pending.answer_when == AnswerWhen::Polled => {
            let run_id = pending.awaited.run_id.clone();
            let run = Follow::new(&run_id).run_with(session, driving).await?;
            rested(info, session.wait(pending).await?, &run)
        }
        Begun::Pending(pending) => {
            let run_id = pending.awaited.run_id.clone();
            let answer = session.wait(pending);
            Follow::new(&run_id).during(session, driving, answer).await
        }
    }
}

/// The answer with the current run.
fn rested(info: &OperationInfo, answer: Answer, run: &RunView) -> Result<Answer, Problem> {
    if info.flow == Flow::Apply && run.state != RunState::Completed {
        return Err(shortfall(run));
    }
    Ok(Answer {
        output: refresh(answer.output, run),
        ..answer
    })
}

/// Puts the run as it stands now where the answer showed it as it was.
fn refresh(mut output: Value, run: &RunView) -> Value {
    if let Some(map) = output.as_object_mut()
        && map.get("run").and_then(|shown| shown.get("run_id")) == Some(&json!(run.run_id))
    {
        map.insert("run".to_owned(), json!(run));
        if map.contains_key("next_actions") {
            map.insert("next_actions".to_owned(), json!(run.next_actions()));
        }
    }
    output
}

/// The text of `--input`: inline, from a file, or from standard input.
fn read_input(text: &str) -> Result<Value, Problem> {
    let (origin, text) = match text.strip_prefix('@') {
        Some(path) => {
            let text = fs_err::read_to_string(path).map_err(|error| {
                Problem::new(
                    &code::NOT_FOUND,
                    format!("the input cannot be read: {error}"),
                )
            })?;
            (path.to_owned(), text)
        }
        None if text == "-" => ("standard input".to_owned(), read_stdin()?),
        None => ("--input".to_owned(), text.to_owned()),
    };
    serde_json::from_str(&text).map_err(|error| {
        Problem::invalid("input", "json", format!("{origin} is not JSON: {error}"))
            .next("quote the JSON for your shell: --input '{\"key\": \"value\"}'")
    })
}

/// Everything on standard input.
pub(crate) fn read_stdin() -> Result<String, Problem> {
    let mut text = String::new();
    std::io::stdin()
        .lock()
        .read_to_string(&mut text)
        .map_err(|error| {
            Problem::invalid(
                "input",
                "utf-8",
                format!("standard input cannot be read: {error}"),
            )
        })?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_comes_inline_or_from_a_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs_err::write(file.path(), r#"{"a": 1}"#).unwrap();
        assert_eq!(
            read_input(&format!("@{}", file.path().display())).unwrap(),
            json!({"a": 1})
        );
        assert_eq!(read_input(r#"{"b": 2}"#).unwrap(), json!({"b": 2}));
        assert_eq!(
            read_input("@/does/not/exist").unwrap_err().code().name,
            "NOT_FOUND"
        );
        let broken = read_input("{").unwrap_err();
        assert_eq!(
            broken.message(),
            "--input is not JSON: EOF while parsing an object at line 1 column 1"
        );
    }
}
