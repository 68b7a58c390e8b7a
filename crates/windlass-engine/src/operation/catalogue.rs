//! The catalogue: every operation, in a fixed order, and the one path through which all
//! surfaces call them: find → scope → validate → gate → do → redact → audit.

use std::{
    sync::{Arc, Weak},
    time::Instant,
};

use serde_json::Value;
use windlass_policy::Targets;
use windlass_telemetry::metrics;
use windlass_types::{
    Digest, EffectClass, Principal, Problem, RunId, RunRecord, code, journal::AuditCall,
};

use super::{
    Answer, AnswerWhen, Awaited, Begun, CallContext, CallPlan, CallRequest, CatalogueError,
    Declared, OperationInfo, Pending, Permit, ProposedRun, Reply,
    entries::{Entries, Entry},
    permit::Wanted,
    told, waiting,
};
use crate::{
    Domain, Engine,
    access::{nearest, shown},
    confirm::{Judged, Passage, Question, cannot_wait},
    contract::{Contract, Plain},
    engine::commit_problem,
};

/// Every operation of this process.
#[derive(Clone)]
pub struct Catalogue(Arc<Inner>);

/// A handle that does not keep the catalogue alive, for the engine below it.
pub(crate) struct WeakCatalogue(Weak<Inner>);

impl WeakCatalogue {
    pub(crate) fn upgrade(&self) -> Option<Catalogue> {
        self.0.upgrade().map(Catalogue)
    }
}

struct Inner {
    engine: Engine,
    entries: Entries,
    declared: Declared,
}

impl Catalogue {
    /// The operations of the domains. They are made when first asked for.
    pub fn new(engine: &Engine, domains: Vec<Box<dyn Domain>>) -> Result<Self, CatalogueError> {
        let catalogue = Self(Arc::new(Inner {
            engine: engine.clone(),
            declared: Declared::by(&domains)?,
            entries: Entries::new(engine, domains),
        }));
        engine.attach(WeakCatalogue(Arc::downgrade(&catalogue.0)));
        Ok(catalogue)
    }

    /// Checks what `new` leaves for later so that starting stays fast: that names are unique,
    /// every schema compiles and every example fits. Tests and `windlass doctor` call it.
    pub fn check(&self) -> Result<(), CatalogueError> {
        self.0.entries.check()?;
        for entry in self.0.entries.all() {
            let info = entry.info();
            entry
                .validator
                .compile()
                .map_err(|reason| CatalogueError::Schema {
                    operation: info.name.clone(),
                    reason,
                })?;
            for example in &info.examples {
                entry
                    .validator
                    .validate(&example.input)
                    .map_err(|problem| CatalogueError::Example {
                        operation: info.name.clone(),
                        reason: problem.message().to_owned(),
                    })?;
            }
        }
        Ok(())
    }

    /// The engine behind it.
    pub fn engine(&self) -> &Engine {
        &self.0.engine
    }

    /// Every description, in the fixed order.
    pub fn operations(&self) -> impl Iterator<Item = &OperationInfo> {
        self.0.entries.all().map(Entry::info)
    }

    /// The toolsets, in order.
    pub fn toolsets(&self) -> Vec<&str> {
        self.0.entries.toolsets()
    }

    /// The description of an operation, by name or tool name.
    pub fn find(&self, name: &str) -> Option<&OperationInfo> {
        self.entry(name).map(|entry| entry.info())
    }

    /// The contract of an operation; Windlass's own for a name nobody has.
    pub fn contract(&self, operation: &str) -> &'static dyn Contract {
        self.find(operation).map_or(&Plain, |info| info.contract)
    }

    /// What domains declare for surfaces.
    pub fn declared(&self) -> &Declared {
        &self.0.declared
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.0.entries.find(name)
    }

    /// The problem of an unknown name, with the nearest known one.
    pub fn unknown(&self, name: &str) -> Problem {
        let names = self
            .operations()
            .flat_map(|info| [info.name.as_str(), info.tool.as_str()]);
        let problem = Problem::new(
            &code::UNKNOWN_OPERATION,
            format!("no operation is called {:?}", shown(name)),
        )
        .with("operation", shown(name));
        match nearest(name, names) {
            Some(near) => problem
                .with("did_you_mean", near)
                .next(format!("windlass ops describe {near}")),
            None => problem.next("windlass ops list"),
        }
    }

    /// Calls an operation and waits for its answer as long as the caller wants to.
    pub async fn call(&self, request: CallRequest) -> Result<Answer, Problem> {
        let context = request.context.clone();
        match self.begin(request).await? {
            Begun::Answered(answer) => Ok(answer),
            Begun::Pending(pending) => self.wait(pending, context).await,
        }
    }

    /// Calls an operation on behalf of a principal. What takes time is a run, whose answer the
    /// surface waits for or comes back for.
    pub async fn begin(&self, request: CallRequest) -> Result<Begun, Problem> {
        // Boxed: callers keep the call in futures of their own, many levels deep.
        Box::pin(self.begin_call(request)).await
    }

    async fn begin_call(&self, mut request: CallRequest) -> Result<Begun, Problem> {
        let Some(mut entry) = self.entry(&request.operation) else {
            return Err(self.unknown(&request.operation));
        };
        // The input of a caller without the scope is not looked at; `examine` refuses the call.
        let may = request.context.principal.has_scope(&entry.info().scope);
        let delegated = match may {
            true => entry.operation.delegate(&request.input)?,
            false => None,
        };
        if let Some(delegated) = delegated {
            let Some(meant) = self.entry(&delegated.operation) else {
                return Err(self.unknown(&delegated.operation));
            };
            entry = meant;
            request.operation = delegated.operation;
            request.input = delegated.input;
        }
        let started = Instant::now();
        let info = entry.info();
        let engine = &self.0.engine;
        let mut audit = audit_entry(info, &request.context, told::unread());
        let result = self.guarded_call(entry, request, &mut audit).await;
        match &result {
            Ok(Begun::Answered(answer)) => audit.run_id.clone_from(&answer.run_id),
            Ok(Begun::Pending(pending)) => audit.run_id = Some(pending.awaited.run_id.clone()),
            Err(problem) => audit.outcome = problem.code().name.to_owned(),
        }
        let duration = started.elapsed();
        audit.duration_us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let surface = audit.surface.as_str();
        let metrics = engine.metrics();
        metrics.count(&metrics::REQUESTS, &[surface, &info.name, &audit.outcome]);
        metrics.observe(&metrics::REQUEST_SECONDS, &[surface, &info.name], duration);
        let run_id = audit.run_id.clone();
        if info.effect == EffectClass::Read {
            engine.audit().queue(audit).await;
        } else if let Err(error) = engine.audit().record(audit).await {
            // What is not on record is not acknowledged. A run that was created is in its own
            // journal, so the caller is told which one to look at.
            let problem = commit_problem(error);
            return Err(match run_id.filter(|_| result.is_ok()) {
                Some(run_id) => about_run(problem, &run_id),
                None => problem,
            });
        }
        match result {
            Ok(Begun::Answered(answer)) => {
                let output = told::output(engine, info, answer.output).await?;
                Ok(Begun::Answered(Answer { output, ..answer }))
            }
            Ok(pending) => Ok(pending),
            Err(problem) => Err(engine.redactor.redact_problem(problem)),
        }
    }

    /// Waits for the answer of a call that a run will have.
    pub async fn wait(&self, pending: Pending, context: CallContext) -> Result<Answer, Problem> {
        let run_id = pending.awaited.run_id.clone();
        let answer = Box::pin(self.wait_for_answer(pending, context)).await;
        answer.map_err(|problem| about_run(problem, &run_id))
    }

    async fn wait_for_answer(
        &self,
        pending: Pending,
        context: CallContext,
    ) -> Result<Answer, Problem> {
        let engine = &self.0.engine;
        let Pending {
            operation,
            awaited,
            render,
            ..
        } = pending;
        let Some(entry) = self.entry(&operation) else {
            return Err(self.unknown(&operation));
        };
        let Awaited {
            run_id,
            ticket,
            timeout,
        } = awaited;
        let info = entry.info();
        let redacted = async |answer: Result<Answer, Problem>| match answer {
            Ok(answer) => Ok(Answer {
                output: told::output(engine, info, answer.output).await?,
                ..answer
            }),
            Err(problem) => Err(engine.redactor.redact_problem(problem)),
        };
        if let Some(render) = render {
            let record = engine.settle(&run_id, timeout).await?;
            if let Some(problem) = super::approval_pending(&record) {
                return Err(problem);
            }
            return redacted(render(record).await).await;
        }
        let deadline = engine.now().after(timeout);
        // A run that is waited for is this process's to drive, unless another does.
        engine.own_runs().note(&run_id);
        let mut growth = engine.store.follow(&run_id);
        let mut seen = 0;
        loop {
            growth.mark_unchanged();
            let record = self.known_run(&run_id).await?;
            if record.last_seq != seen {
                seen = record.last_seq;
                if let Some(answer) = self.settled(&operation, context.clone(), &ticket).await? {
                    return Ok(answer);
                }
            }
            if engine.now() >= deadline {
                return redacted(entry.operation.unsettled(record, &ticket)).await;
            }
            tokio::select! {
                changed = growth.changed() => if changed.is_err() {
                    return redacted(entry.operation.unsettled(record, &ticket)).await;
                },
                () = engine.clock.sleep_until(deadline) => {}
            }
        }
    }

    async fn known_run(&self, run_id: &RunId) -> Result<RunRecord, Problem> {
        let record = self.0.engine.store.run(run_id).await?;
        record.ok_or_else(|| {
            Problem::new(&code::RUN_NOT_FOUND, format!("no run {run_id}"))
                .with("run_id", run_id.as_str())
        })
    }

    /// The answer that a ticket stands for, once it is there.
    pub async fn settled(
        &self,
        operation: &str,
        context: CallContext,
        ticket: &str,
    ) -> Result<Option<Answer>, Problem> {
        let Some(entry) = self.entry(operation) else {
            return Err(self.unknown(operation));
        };
        let engine = &self.0.engine;
        let info = entry.info();
        let settled = match self.waiting_call(&context, ticket).await {
            Ok(Some(record)) => waiting::answer_of(record),
            Ok(None) => entry.operation.settled(context, ticket).await,
            Err(problem) => Err(problem),
        };
        let settled = settled.map_err(|problem| match ticket.parse() {
            Ok(run_id) => about_run(problem, &run_id),
            Err(_) => problem,
        });
        match settled {
            Ok(Some(answer)) => {
                let output = told::output(engine, info, answer.output).await?;
                Ok(Some(Answer { output, ..answer }))
            }
            Ok(None) => Ok(None),
            Err(problem) => Err(engine.redactor.redact_problem(problem)),
        }
    }

    /// The run behind a ticket, where it is a call that waits for an approval.
    async fn waiting_call(
        &self,
        context: &CallContext,
        ticket: &str,
    ) -> Result<Option<RunRecord>, Problem> {
        let Ok(run_id) = ticket.parse::<RunId>() else {
            return Ok(None);
        };
        let record = self.0.engine.store.run(&run_id).await?;
        if record.is_none_or(|record| record.kind != waiting::KIND) {
            return Ok(None);
        }
        let record = self
            .0
            .engine
            .visible_run(&context.principal, &run_id)
            .await?;
        Ok(Some(record))
    }

    /// What a person is asked about before a call is made, where the operation has such a plan.
    pub fn plan_of_call(&self, request: &CallRequest) -> Result<Option<CallPlan>, Problem> {
        let Some(entry) = self.entry(&request.operation) else {
            return Err(self.unknown(&request.operation));
        };
        let planned = self.check_call(entry, request).and_then(|_| {
            let operation = &entry.operation;
            operation.plan_of_call(&request.context, &request.input)
        });
        planned.map_err(|problem| self.0.engine.redactor.redact_problem(problem))
    }

    /// Everything of a call but the doing, for a reading that a surface answers itself because
    /// no JSON output can hold the answer: a stream, raw bytes. Audited like a call.
    pub async fn authorize(&self, request: &CallRequest) -> Result<(), Problem> {
        let Some(entry) = self.entry(&request.operation) else {
            return Err(self.unknown(&request.operation));
        };
        let info = entry.info();
        let mut audit = audit_entry(info, &request.context, told::unread());
        let examined = self.examine(entry, request.clone(), &mut audit).await;
        let judged = examined.and_then(|(_, judged)| judged);
        let result = judged.and_then(|judged| {
            audit.decision.clone_from(&judged.rule);
            match judged.passage {
                Passage::Free | Passage::OwnYes => Ok(()),
                Passage::Wanted { terms } => {
                    let principal = &request.context.principal;
                    Err(cannot_wait(&info.name, principal, &judged.rule, &terms))
                }
            }
        });
        if let Err(problem) = &result {
            audit.outcome = problem.code().name.to_owned();
        }
        self.0.engine.audit().queue(audit).await;
        result.map_err(|problem| self.0.engine.redactor.redact_problem(problem))
    }

    async fn guarded_call(
        &self,
        entry: &Entry,
        request: CallRequest,
        audit: &mut AuditCall,
    ) -> Result<Begun, Problem> {
        let info = entry.info();
        let (request, judged) = self.examine(entry, request, audit).await?;
        let Judged { rule, passage } = judged?;
        audit.decision.clone_from(&rule);
        for place in entry.operation.places(&request.context, &request.input)? {
            let principal = &request.context.principal;
            self.0.engine.roots.check(principal, &place)?;
        }
        if let Passage::Wanted { terms } = passage
            && !info.is_judged_by_plan
            && !request.context.terms.is_granted(&info.name)
        {
            let targets = self.targets(entry, &request)?.unwrap_or_default();
            let wanted = Wanted {
                terms,
                rule,
                targets,
            };
            return self.keep(entry, &request, wanted, audit).await;
        }
        let permit = Permit::new(
            self.0.engine.downgrade(),
            &info.name,
            info.effect,
            info.without_rule,
            entry.operation.says_yes(&request.input),
            request.context.terms.is_granted(&info.name),
        );
        let mut context = request.context.clone();
        context.terms.permit = Some(permit.clone());
        match entry
            .operation
            .call(context.clone(), request.input.clone())
            .await
        {
            Ok(Reply::Answer(answer)) => Ok(Begun::Answered(answer)),
            Ok(Reply::Propose(proposed)) => {
                self.start(info, context, *proposed, &mut audit.decision)
                    .await
            }
            Ok(Reply::Await(awaited)) => Ok(Begun::Pending(Pending::of(&info.name, awaited))),
            Err(problem) => match permit.wanted() {
                Some(wanted) => self.keep(entry, &request, wanted, audit).await,
                None => Err(problem),
            },
        }
    }

    /// A call that needs an approval: kept as a run where it can wait, refused where it cannot.
    async fn keep(
        &self,
        entry: &Entry,
        request: &CallRequest,
        wanted: Wanted,
        audit: &mut AuditCall,
    ) -> Result<Begun, Problem> {
        let engine = &self.0.engine;
        let info = entry.info();
        let principal = &request.context.principal;
        audit.decision.clone_from(&wanted.rule);
        // A journal must not keep what redaction would hide, and an answer that is shown once has
        // nobody to show it to when it comes later.
        let holds_secret = || told::holds_secret(&engine.redactor, info, &request.input);
        let cannot_be_kept = info.flow.is_reading() || info.shows_secret || info.answers_approval;
        if cannot_be_kept || holds_secret() {
            let problem = cannot_wait(&info.name, principal, &wanted.rule, &wanted.terms);
            return Err(problem);
        }
        let operation = &entry.operation;
        let plan = operation.plan_of_call(&request.context, &request.input)?;
        audit.outcome = code::APPROVAL_REQUIRED.name.to_owned();
        let run_id = engine.keep_call(info, request, wanted, plan).await?;
        let awaited = Awaited::run(run_id, std::time::Duration::ZERO);
        Ok(Begun::Pending(Pending::of(&info.name, awaited)))
    }

    /// Has the gate make a run of what the operation proposes.
    async fn start(
        &self,
        info: &OperationInfo,
        context: CallContext,
        mut proposed: ProposedRun,
        decision: &mut String,
    ) -> Result<Begun, Problem> {
        let engine = &self.0.engine;
        let (answer_when, timeout) = (proposed.answer_when, proposed.timeout);
        let (on_created, render) = (proposed.on_created.take(), proposed.render.take());
        let explain = proposed.explain.take();
        let run_id = match engine.admit(info, &context, proposed, decision).await {
            Ok(run_id) => run_id,
            Err(problem) => {
                return Err(match explain {
                    Some(explain) => explain(problem).await,
                    None => problem,
                });
            }
        };
        if let Some(on_created) = on_created {
            on_created(&run_id);
        }
        if answer_when == AnswerWhen::Created
            && let Some(render) = render
        {
            let rendered = async { render(self.known_run(&run_id).await?).await }.await;
            return match rendered {
                Ok(answer) => Ok(Begun::Answered(answer)),
                Err(problem) => Err(about_run(problem, &run_id)),
            };
        }
        Ok(Begun::Pending(Pending {
            answer_when,
            render,
            ..Pending::of(&info.name, Awaited::run(run_id, timeout))
        }))
    }

    fn targets(
        &self,
        entry: &Entry,
        request: &CallRequest,
    ) -> Result<Option<Vec<String>>, Problem> {
        let named = entry.info().target_inputs.iter();
        let named = named.filter_map(|field| request.input.get(field)?.as_str());
        let targets = entry.operation.targets(&request.context, &request.input)?;
        Ok(targets.map(|mut targets| {
            targets.extend(named.map(str::to_owned));
            targets
        }))
    }

    /// Scope, the digest of the input, and what its schema and policy say, in this order: the
    /// input of a caller without the scope is not looked at.
    async fn examine(
        &self,
        entry: &Entry,
        request: CallRequest,
        audit: &mut AuditCall,
    ) -> Result<(CallRequest, Result<Judged, Problem>), Problem> {
        require_scope(entry.info(), &request.context.principal)?;
        let request = Arc::new(request);
        let work = {
            let (catalogue, request) = (self.clone(), Arc::clone(&request));
            move || {
                let entry = catalogue.entry(&request.operation)?;
                let redactor = &catalogue.0.engine.redactor;
                let hash = told::input_hash(redactor, entry.info(), &request.input);
                Some((hash, catalogue.check_call(entry, &request)))
            }
        };
        let examined = told::apart(&request.input, work).await?;
        let Some((hash, judged)) = examined else {
            return Err(self.unknown(&request.operation));
        };
        audit.input_hash = hash;
        Ok((Arc::unwrap_or_clone(request), judged))
    }

    /// Input and policy.
    fn check_call(&self, entry: &Entry, request: &CallRequest) -> Result<Judged, Problem> {
        let info = entry.info();
        if !info.validates_itself {
            entry.validator.validate(&request.input)?;
        }
        let targets = self.targets(entry, request)?;
        self.0.engine.judge(&Question {
            operation: &info.name,
            principal: &request.context.principal,
            targets: match &targets {
                Some(targets) if !info.is_judged_by_plan => Targets::Known(targets),
                _ => Targets::Unknown,
            },
            effect: info.effect,
            without_rule: info.without_rule,
            yes: entry.operation.says_yes(&request.input),
        })
    }
}

/// The failure of the store after a run was created: the caller is told which one to look at.
fn about_run(problem: Problem, run_id: &RunId) -> Problem {
    if !crate::engine::is_of_store(problem.code()) || problem.details().contains_key("run_id") {
        return problem;
    }
    problem
        .with("run_id", run_id.as_str())
        .next(format!("windlass runs show {run_id}"))
}

fn audit_entry(info: &OperationInfo, context: &CallContext, input_hash: Digest) -> AuditCall {
    AuditCall {
        principal: context.principal.id(),
        surface: context.surface,
        operation: info.name.clone(),
        input_hash,
        outcome: "OK".to_owned(),
        decision: String::new(),
        run_id: None,
        duration_us: 0,
    }
}

/// Refuses a caller without the operation's scope.
fn require_scope(info: &OperationInfo, principal: &Principal) -> Result<(), Problem> {
    if principal.has_scope(&info.scope) {
        return Ok(());
    }
    Err(Problem::new(
        &code::FORBIDDEN,
        format!(
            "{} needs the scope {:?}, which {principal} does not have",
            info.name, info.scope
        ),
    )
    .with("required_scopes", Value::from(vec![info.scope.clone()])))
}
