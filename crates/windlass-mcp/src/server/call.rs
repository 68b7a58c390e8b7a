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
    envelope::Envelope,
    operation::{Answer, Flow, OperationInfo, RunListener},
    run::RunView,
};
use windlass_types::{Digest, Problem, RunId, code};

use super::{
    Caller, Server,
    approve::{self, Decision},
    handler::Session,
    lean::{self, Lean},
    progress::Reporter,
    render, tasks,
};
use crate::negotiate::Era;

/// The longest a call may be asked to wait for its run.
const MAX_WAIT: u64 = 300;
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
    let asked = match info.envelope {
        Envelope::Pack => Value::Object(request.arguments.clone().unwrap_or_default()),
        _ => Value::Null,
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
        let digest = self.asked_digest(&arguments);
        let asked = (self.info.flow == Flow::Apply).then_some(digest);
        let (input, wait) = self.split_wait(arguments);
        let about = run_of(&input);
        match self.operate(input).await {
            Err(problem) => match self.pending(&problem) {
                Some(run_id) => self.after_question(&run_id, problem, digest).await,
                None => Ok(self.traced(self.failed(&problem), about.as_ref()).await),
            },
            Ok(answer) => match (answer.run_id, asked, answer.ticket) {
                (Some(run_id), Some(asked), _) => {
                    self.after_apply(answer.output, &run_id, wait, asked).await
                }
                (Some(run_id), None, Some(ticket)) => {
                    tasks::create_for(self.server, self.info, &self.caller, &run_id, &ticket).await
                }
                (run_id, ..) => Ok(self.traced(self.done(answer.output), run_id.as_ref()).await),
            },
        }
    }

    /// The run that an operation which waits for its runs could not wait for, because a person
    /// has to approve it first.
    fn pending(&self, problem: &Problem) -> Option<RunId> {
        let reason = problem.details().get("reason").and_then(Value::as_str);
        (self.info.flow != Flow::Apply && reason == Some("approval_pending"))
            .then(|| problem.details().get("runId")?.as_str()?.parse().ok())?
    }

    /// Asks the person behind the client, where there is one, and waits on.
    async fn after_question(
        &self,
        run_id: &RunId,
        pending: Problem,
        asked: Digest,
    ) -> Result<CallToolResponse, ErrorData> {
        let engine = self.server.engine();
        let run = match engine.visible_run(self.caller.principal(), run_id).await {
            Ok(record) => RunView::from(record),
            Err(problem) => return Ok(self.failure(&problem)),
        };
        let Some(question) = approve::question(self.server, &self.caller, &run) else {
            return Ok(self.failure(&pending));
        };
        if Era::of(self.context) == Era::Modern {
            return approve::ask(self.server, &self.caller, &run, question, asked);
        }
        match approve::elicit(self.context, question).await {
            Decision::Open => Ok(self.failure(&pending)),
            decision => match approve::deliver(self.server, &self.caller, run_id, decision).await {
                Ok(()) => self.outcome(run_id).await,
                Err(problem) => Ok(self.failure(&problem)),
            },
        }
    }

    /// The answer of an operation that waits for its runs, once its run has one.
    async fn outcome(&self, run_id: &RunId) -> Result<CallToolResponse, ErrorData> {
        let wait = Duration::from_secs(MAX_OUTCOME_WAIT);
        let settled = self.reporter.settle(self.server.engine(), run_id, wait);
        if let Err(problem) = settled.await {
            return Ok(self.failure(&problem));
        }
        let context = self.caller.context.clone();
        let catalogue = &self.server.catalogue;
        let answer = catalogue
            .settled(&self.info.name, context, run_id.as_str())
            .await;
        Ok(match answer {
            Ok(Some(answer)) => self.success(answer.output),
            Ok(None) => {
                let problem = Problem::new(&code::TIMEOUT, format!("{run_id} has not ended yet"));
                let next = format!("windlass runs watch {run_id}");
                self.failure(&problem.with("runId", run_id.as_str()).next(next))
            }
            Err(problem) => self.failure(&problem),
        })
    }

    /// The result with where to find the call in traces, for contracts that want it there.
    async fn traced(&self, mut result: CallToolResult, run: Option<&RunId>) -> CallToolResponse {
        if self.info.envelope == Envelope::Launch {
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

    /// Calls the operation; one about a run reports the run's progress while it waits.
    async fn operate(&self, input: Value) -> Result<Answer, Problem> {
        let run_id = run_of(&input);
        let mut context = self.caller.context.clone();
        context.terms.may_defer = Era::of(self.context) == Era::Modern && self.caller.has_tasks();
        let listener = RunListener::default();
        context.terms.listener = Some(listener.clone());
        let operation = self.server.operate_in(context, &self.info.name, input);
        // An apply answers at once; its run is waited for afterwards.
        if self.info.flow == Flow::Apply {
            return operation.await;
        }
        let engine = self.server.engine();
        let follow = async {
            let Some(run_id) = run_id else {
                let Some(started) = listener.started().await else {
                    return std::future::pending().await;
                };
                return self.reporter.follow_from_start(engine, &started).await;
            };
            if engine
                .visible_run(self.caller.principal(), &run_id)
                .await
                .is_err()
            {
                return std::future::pending().await;
            }
            self.reporter.follow_from_now(engine, &run_id).await
        };
        tokio::select! {
            answer = operation => answer,
            never = follow => match never {},
        }
    }

    /// Waiting for a run is done here, where progress can be told, not in the operation.
    /// A value that is not a number of seconds stays, for validation to refuse.
    fn split_wait(&self, mut arguments: JsonObject) -> (Value, Duration) {
        let mut wait = 0;
        if self.info.flow == Flow::Apply
            && let Some(seconds) = arguments.get("wait_seconds").and_then(Value::as_u64)
            && seconds <= MAX_WAIT
        {
            wait = seconds;
            arguments.remove("wait_seconds");
        }
        (Value::Object(arguments), Duration::from_secs(wait))
    }

    async fn after_apply(
        &self,
        output: Value,
        run_id: &RunId,
        wait: Duration,
        asked: Digest,
    ) -> Result<CallToolResponse, ErrorData> {
        loop {
            let record = match self
                .reporter
                .settle(self.server.engine(), run_id, wait)
                .await
            {
                Ok(record) => record,
                Err(problem) => return Ok(self.failure(&problem)),
            };
            let run = RunView::from(record);
            if run.state.is_final() {
                return Ok(self.success(with_run(output, &run)));
            }
            if Era::of(self.context) == Era::Modern && self.caller.has_tasks() {
                return Ok(tasks::create(self.server, &run).into());
            }
            let Some(question) = approve::question(self.server, &self.caller, &run) else {
                return Ok(self.success(with_run(output, &run)));
            };
            match Era::of(self.context) {
                Era::Modern => {
                    return approve::ask(self.server, &self.caller, &run, question, asked);
                }
                Era::Legacy => match approve::elicit(self.context, question).await {
                    Decision::Open => return Ok(self.success(with_run(output, &run))),
                    decision => {
                        if let Err(problem) =
                            approve::deliver(self.server, &self.caller, run_id, decision).await
                        {
                            return Ok(self.failure(&problem));
                        }
                    }
                },
            }
        }
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
        let (_, wait) = self.split_wait(arguments);
        let is_apply = self.info.flow == Flow::Apply;
        match approve::decision(answers) {
            // Not answered: `after_apply` asks again, with a fresh state.
            Decision::Open => {}
            decision => {
                if let Err(problem) =
                    approve::deliver(self.server, &self.caller, &run_id, decision).await
                {
                    return Ok(self.failure(&problem));
                }
            }
        }
        if !is_apply {
            return self.outcome(&run_id).await;
        }
        self.after_apply(
            json!({ "run": null, "next_actions": [] }),
            &run_id,
            wait,
            asked,
        )
        .await
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

/// The output with the run as it stands now, where the output shows the run.
fn with_run(mut output: Value, run: &RunView) -> Value {
    if let Some(shown) = output.get_mut("run")
        && let Ok(now) = serde_json::to_value(run)
    {
        *shown = now;
        if let Some(actions) = output.get_mut("next_actions") {
            *actions = json!(run.next_actions());
        }
    }
    output
}
