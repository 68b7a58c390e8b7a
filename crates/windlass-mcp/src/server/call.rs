//! `tools/call`: one operation called, and what becomes of the run behind it.
//!
//! The call ends when the client goes away; the run does not. A run that is still going when
//! the answer is due becomes a task where the client knows tasks, and a handle to poll where
//! it does not.

use std::time::Duration;

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, InputResponses, JsonObject,
        MetaObject,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use windlass_engine::{
    operation::{Answer, AnswerWhen, Awaited, Begun, OperationInfo, Pending},
    run::RunView,
};
use windlass_types::{Digest, Problem, RunId};

use super::{
    Caller, Server,
    approve::{self, Decision},
    handler::Session,
    lean::{self, Lean},
    progress::Reporter,
    render, tasks,
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
        let arguments = request.arguments.unwrap_or_default();
        if let Some(state) = request.request_state {
            return self
                .next_round(&state, arguments, request.input_responses.as_ref())
                .await;
        }
        // What a later round, with the answer to a question, must repeat.
        let asked = self.asked_digest(&arguments);
        let input = Value::Object(arguments);
        let about = run_of(&input);
        let context = self.caller.context.clone();
        match self.server.begin_in(context, &self.info.name, input).await {
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
            Ok(record) => RunView::from(record),
            Err(_) => return Ok(rendered.await),
        };
        if has_tasks && answer_when == AnswerWhen::Polled && !run.state.is_final() {
            return Ok(tasks::create(self.server, &run).into());
        }
        let Some(question) = approve::question(self.server, &self.caller, &run) else {
            return Ok(rendered.await);
        };
        if Era::of(self.context) == Era::Modern {
            return approve::ask(self.server, &self.caller, &run, question, asked);
        }
        match approve::elicit(self.context, question).await {
            Decision::Open => Ok(rendered.await),
            decision => self.decided(&run_id, decision).await,
        }
    }

    /// Records the answer to a question, then waits for the run. It is not asked again.
    async fn decided(
        &self,
        run_id: &RunId,
        decision: Decision,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Err(problem) = approve::deliver(self.server, &self.caller, run_id, decision).await {
            return Ok(self.failure(&problem));
        }
        self.outcome(run_id, Duration::from_secs(MAX_OUTCOME_WAIT))
            .await
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

    /// The client comes back with the answer to an approval.
    async fn next_round(
        &self,
        state: &str,
        arguments: JsonObject,
        answers: Option<&InputResponses>,
    ) -> Result<CallToolResponse, ErrorData> {
        let asked = self.asked_digest(&arguments);
        let run_id = approve::open(self.server, &self.caller, state, asked)?;
        match approve::decision(answers) {
            // The form was dismissed: the run goes on waiting, and the answer says so.
            Decision::Open => self.outcome(&run_id, Duration::ZERO).await,
            decision => self.decided(&run_id, decision).await,
        }
    }

    /// What a later round must repeat: the tool and its arguments.
    fn asked_digest(&self, arguments: &JsonObject) -> Digest {
        Digest::of_json(&json!([self.info.tool, arguments]))
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
