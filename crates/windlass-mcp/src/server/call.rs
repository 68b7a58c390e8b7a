//! `tools/call`: one operation called, and what becomes of the run behind it.
//!
//! The call ends when the client goes away; the run does not. A run that is still going when
//! the answer is due becomes a task where the client knows tasks, and a handle to poll where
//! it does not.

use std::{sync::Arc, time::Duration};

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, InputResponses, JsonObject,
        MetaObject,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use windlass_engine::operation::{Answer, AnswerWhen, Awaited, Begun, OperationInfo, Pending};
use windlass_types::{Digest, Problem, RunId};

use super::{
    Caller, Server,
    approve::{self, Decision, Subject},
    extension::ClientLink,
    handler::Session,
    lean::{self, Lean},
    progress::Reporter,
    render, rounds, tasks,
};
use crate::negotiate::Era;

/// The longest a call waits for a run that a person has approved meanwhile.
const MAX_OUTCOME_WAIT: u64 = 3600;

/// Answers `tools/call`.
pub async fn call_tool(
    server: &Server,
    session: &Session,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let caller = server.caller(context)?;
    let request = match lean::resolve(server, &caller, request) {
        Lean::Answered(result) => return Ok(result.into()),
        Lean::Call(request) => request,
    };
    let Some(info) = server.find(&request.name) else {
        return Err(server.unknown_tool(&request.name));
    };
    let reporter = Reporter::new(context, session.level());
    let asked = if info.contract.shows_input() {
        Value::Object(request.arguments.clone().unwrap_or_default())
    } else {
        Value::Null
    };
    let call = Call {
        asked,
        server,
        info,
        caller,
        reporter,
        context,
    };
    call.answer(request).await
}

/// One call of one operation.
struct Call<'a> {
    server: &'a Server,
    info: &'a OperationInfo,
    caller: Caller,
    reporter: Reporter,
    context: &'a RequestContext<RoleServer>,
    /// What the envelope wants to know of the arguments.
    asked: Value,
}

impl Call<'_> {
    async fn answer(&self, request: CallToolRequestParams) -> Result<CallToolResponse, ErrorData> {
        let input = Value::Object(request.arguments.unwrap_or_default());
        let answers = request.input_responses.as_ref();
        // What a later round, with the answer to a question, must repeat.
        let asked = rounds::call_digest(&self.info.tool, &input);
        let mut state = None;
        if let Some(sealed) = &request.request_state {
            let text = rounds::open(self.server, &self.caller, sealed, asked)?;
            if let Some(subject) = Subject::read(&text) {
                return self.decided(&subject, approve::decision(answers)).await;
            }
            state = Some(text);
        }
        self.begin(input, asked, state, answers).await
    }

    async fn begin(
        &self,
        input: Value,
        asked: Digest,
        state: Option<String>,
        answers: Option<&InputResponses>,
    ) -> Result<CallToolResponse, ErrorData> {
        let about = run_of(&input);
        let context = self.caller.context.clone();
        let begun = self.server.begin_in(context, &self.info.name, input);
        let begun = match &self.server.options.extension {
            None if state.is_some() => return Err(rounds::refused("no call asked for it")),
            None => begun.await,
            Some(extension) => {
                let reporter = self.reporter.clone();
                let link = ClientLink::new(self.context, reporter, answers, state);
                let link = Arc::new(link);
                let begun = extension.during(Arc::clone(&link), Box::pin(begun)).await;
                let seal = |state: &str| rounds::seal(self.server, &self.caller, state, asked);
                if let Some(instead) = link.take(seal) {
                    return instead.map(Into::into);
                }
                begun
            }
        };
        match begun {
            Err(problem) => Ok(self.traced(self.failed(&problem), about.as_ref()).await),
            Ok(Begun::Answered(answer)) => {
                let run_id = answer.run_id;
                Ok(self.traced(self.done(answer.output), run_id.as_ref()).await)
            }
            Ok(Begun::Pending(pending)) => self.pending(pending, about.is_some(), asked).await,
        }
    }

    /// A run will have the answer: it becomes a task where the client can come back, and is waited
    /// for where it cannot.
    async fn pending(
        &self,
        pending: Pending,
        is_known: bool,
        asked: Digest,
    ) -> Result<CallToolResponse, ErrorData> {
        let (run_id, ticket) = (
            pending.awaited.run_id.clone(),
            pending.awaited.ticket.clone(),
        );
        let has_tasks = Era::of(self.context) == Era::Modern && self.caller.has_tasks();
        let answer_when = pending.answer_when;
        if has_tasks && answer_when == AnswerWhen::Settled {
            return tasks::create_for(self.server, self.info, &self.caller, &run_id, &ticket).await;
        }
        let answer = self.wait(pending, is_known).await;
        let rendered = async {
            match answer {
                Ok(answer) => self.traced(self.done(answer.output), Some(&run_id)).await,
                Err(problem) => self.traced(self.failed(&problem), Some(&run_id)).await,
            }
        };
        // What a run was told to do is answered by the run; only its end can be approved here.
        if ticket != run_id.as_str() {
            return Ok(rendered.await);
        }
        let run = match self
            .server
            .engine()
            .visible_run(self.caller.principal(), &run_id)
            .await
        {
            Ok(record) => record,
            Err(_) => return Ok(rendered.await),
        };
        if has_tasks && answer_when == AnswerWhen::Polled && !run.state.is_final() {
            return Ok(tasks::create(self.server, run).into());
        }
        let Some(question) = approve::question(self.server, &self.caller, &run) else {
            return Ok(rendered.await);
        };
        if Era::of(self.context) == Era::Modern {
            return approve::ask(self.server, &self.caller, question, asked);
        }
        match approve::elicit(self.context, question.form).await {
            Decision::Open => Ok(rendered.await),
            decision => self.decided(&question.subject, decision).await,
        }
    }

    /// Records the answer to a question, then waits for the run. It is not asked again: a form that
    /// was dismissed ends the call with the run as it waits and what to type.
    async fn decided(
        &self,
        subject: &Subject,
        decision: Decision,
    ) -> Result<CallToolResponse, ErrorData> {
        let timeout = match decision {
            Decision::Open => Duration::ZERO,
            _ => Duration::from_secs(MAX_OUTCOME_WAIT),
        };
        match approve::deliver(self.server, &self.caller, subject, decision).await {
            Ok(()) => self.outcome(&subject.run_id, timeout).await,
            Err(problem) => Ok(self.failure(&problem)),
        }
    }

    /// The answer of a run, once it has one.
    async fn outcome(
        &self,
        run_id: &RunId,
        timeout: Duration,
    ) -> Result<CallToolResponse, ErrorData> {
        let awaited = Awaited::run(run_id.clone(), timeout);
        let answer = self.wait(Pending::of(&self.info.name, awaited), true).await;
        Ok(match answer {
            Ok(answer) => self.success(answer.output),
            Err(problem) => self.failure(&problem),
        })
    }

    /// Waits for an answer and reports the run's progress meanwhile: all of it, or from now on for
    /// a run that the client knew before.
    async fn wait(&self, pending: Pending, is_known: bool) -> Result<Answer, Problem> {
        let engine = self.server.engine();
        let run_id = pending.awaited.run_id.clone();
        let seen = match is_known {
            true => engine.store.run(&run_id).await?.map(|run| run.last_seq),
            false => None,
        };
        let context = self.caller.context.clone();
        let answer = self.server.catalogue.wait(pending, context);
        self.reporter
            .during(engine, &run_id, seen.unwrap_or_default(), answer)
            .await
    }

    /// The result with where to find the call in traces, for contracts that want it there.
    async fn traced(&self, mut result: CallToolResult, run: Option<&RunId>) -> CallToolResponse {
        if self.info.contract.shows_trace() {
            let mut meta = JsonObject::new();
            meta.insert("span_id".to_owned(), json!(self.caller.context.span_id()));
            if let Some(run_id) = run
                && let Ok(record) = self
                    .server
                    .engine()
                    .visible_run(self.caller.principal(), run_id)
                    .await
            {
                meta.insert("run_id".to_owned(), json!(run_id));
                meta.insert("trace_id".to_owned(), json!(record.trace_id));
            }
            result.meta = Some(MetaObject(meta));
        }
        result.into()
    }

    fn success(&self, output: Value) -> CallToolResponse {
        self.done(output).into()
    }

    fn failure(&self, problem: &Problem) -> CallToolResponse {
        self.failed(problem).into()
    }

    fn done(&self, output: Value) -> CallToolResult {
        let request_id = &self.caller.context.request_id;
        render::success(self.info, request_id, &self.asked, output)
    }

    fn failed(&self, problem: &Problem) -> CallToolResult {
        let request_id = &self.caller.context.request_id;
        render::failure(self.info, request_id, &self.asked, problem)
    }
}

/// The run an input is about.
fn run_of(input: &Value) -> Option<RunId> {
    input.get("run_id")?.as_str()?.parse().ok()
}
