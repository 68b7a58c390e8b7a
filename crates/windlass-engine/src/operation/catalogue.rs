//! The catalogue: every operation, in a fixed order, and the one path through which all
//! surfaces call them: find → scope → validate → policy → do → redact → audit.

use std::{collections::HashMap, sync::Arc, time::Instant};

use serde_json::Value;
use windlass_policy::{Request, Verdict, may_approve};
use windlass_secrets::Redactor;
use windlass_telemetry::metrics;
use windlass_types::{Digest, EffectClass, Problem, code, journal::AuditCall};

use super::{
    Answer, CallContext, CallRequest, Flow, Operation, OperationInfo, validate::InputValidator,
};
use crate::{Domain, Engine, access::nearest, engine::commit_problem};

/// The catalogue cannot be built: a defect in a domain.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// Two operations share a name or a tool name within a toolset.
    #[error("two operations are called {0}")]
    Duplicate(String),
    /// An input schema is not a JSON Schema.
    #[error("the input schema of {operation} is not valid: {reason}")]
    Schema {
        /// The operation.
        operation: String,
        /// What is wrong.
        reason: String,
    },
    /// An example does not fit its own schema.
    #[error("an example of {operation} does not fit its schema: {reason}")]
    Example {
        /// The operation.
        operation: String,
        /// What is wrong.
        reason: String,
    },
}

struct Entry {
    operation: Arc<dyn Operation>,
    validator: InputValidator,
}

/// Every operation of this process.
#[derive(Clone)]
pub struct Catalogue(Arc<Inner>);

struct Inner {
    engine: Engine,
    entries: Vec<Entry>,
    by_name: HashMap<String, usize>,
}

impl Catalogue {
    /// Collects the operations of the domains, sorted by name.
    pub fn new(engine: &Engine, domains: &[Box<dyn Domain>]) -> Result<Self, CatalogueError> {
        let mut operations: Vec<_> = domains
            .iter()
            .flat_map(|domain| domain.operations(engine))
            .collect();
        operations.sort_by(|left, right| left.info().name.cmp(&right.info().name));
        let mut entries = Vec::with_capacity(operations.len());
        let mut by_name = HashMap::new();
        for operation in operations {
            let info = operation.info();
            let index = entries.len();
            if by_name.insert(info.name.clone(), index).is_some() {
                return Err(CatalogueError::Duplicate(info.name.clone()));
            }
            if info.tool != info.name && by_name.insert(info.tool.clone(), index).is_some() {
                return Err(CatalogueError::Duplicate(info.tool.clone()));
            }
            let validator = InputValidator::new(info.input_schema.clone());
            entries.push(Entry {
                operation,
                validator,
            });
        }
        Ok(Self(Arc::new(Inner {
            engine: engine.clone(),
            entries,
            by_name,
        })))
    }

    /// Checks what `new` leaves for later so that starting stays fast: that every schema
    /// compiles and every example fits. Tests and `windlass doctor` call it.
    pub fn check(&self) -> Result<(), CatalogueError> {
        for entry in &self.0.entries {
            let info = entry.operation.info();
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
        self.0.entries.iter().map(|entry| entry.operation.info())
    }

    /// The toolsets, in order.
    pub fn toolsets(&self) -> Vec<&str> {
        let mut names: Vec<_> = self
            .operations()
            .map(|info| info.toolset.as_str())
            .collect();
        names.dedup();
        names
    }

    /// The description of an operation, by name or tool name.
    pub fn find(&self, name: &str) -> Option<&OperationInfo> {
        self.entry(name).map(|entry| entry.operation.info())
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.0
            .by_name
            .get(name)
            .and_then(|index| self.0.entries.get(*index))
    }

    /// The problem of a name nobody has, with the nearest one that somebody has.
    pub fn unknown(&self, name: &str) -> Problem {
        let names = self
            .operations()
            .flat_map(|info| [info.name.as_str(), info.tool.as_str()]);
        let problem = Problem::new(
            &code::UNKNOWN_OPERATION,
            format!("no operation is called {name:?}"),
        )
        .with("operation", name);
        match nearest(name, names) {
            Some(near) => problem
                .with("did_you_mean", near)
                .next(format!("windlass ops describe {near}")),
            None => problem.next("windlass ops list"),
        }
    }

    /// Calls an operation on behalf of a principal.
    pub async fn call(&self, mut request: CallRequest) -> Result<Answer, Problem> {
        let Some(mut entry) = self.entry(&request.operation) else {
            return Err(self.unknown(&request.operation));
        };
        if let Some(delegated) = entry.operation.delegate(&request.input)? {
            let Some(meant) = self.entry(&delegated.operation) else {
                return Err(self.unknown(&delegated.operation));
            };
            entry = meant;
            request.operation = delegated.operation;
            request.input = delegated.input;
        }
        let started = Instant::now();
        let info = entry.operation.info();
        let engine = &self.0.engine;
        let mut audit = audit_entry(&engine.redactor, info, &request);
        let result = self.guarded_call(entry, request, &mut audit.decision).await;
        match &result {
            Ok(answer) => audit.run_id.clone_from(&answer.run_id),
            Err(problem) => audit.outcome = problem.code().name.to_owned(),
        }
        let duration = started.elapsed();
        audit.duration_us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let surface = audit.surface.as_str();
        let metrics = engine.metrics();
        metrics.count(&metrics::REQUESTS, &[surface, &info.name, &audit.outcome]);
        metrics.observe(&metrics::REQUEST_SECONDS, &[surface, &info.name], duration);
        if info.effect == EffectClass::Read {
            engine.audit().queue(audit).await;
        } else if let Err(error) = engine.audit().record(audit).await {
            // What is not on record is not acknowledged. A run that was created all the same is
            // in its own journal, so the caller is told which one to look at.
            let problem = commit_problem(error);
            return Err(match result.ok().and_then(|answer| answer.run_id) {
                Some(run_id) => problem
                    .with("run_id", run_id.as_str())
                    .next(format!("windlass runs show {run_id}")),
                None => problem,
            });
        }
        let redactor = &engine.redactor;
        match result {
            Ok(answer) => {
                let output = redact_output(redactor, info, answer.output);
                Ok(Answer { output, ..answer })
            }
            Err(problem) => Err(problem.map_text(&mut |text| redactor.redact(text).into_owned())),
        }
    }

    /// The answer of a call that gave a ticket instead, once it is there.
    pub async fn settled(
        &self,
        operation: &str,
        context: CallContext,
        ticket: &str,
    ) -> Result<Option<Answer>, Problem> {
        let Some(entry) = self.entry(operation) else {
            return Err(self.unknown(operation));
        };
        let redactor = &self.0.engine.redactor;
        let info = entry.operation.info();
        match entry.operation.settled(context, ticket).await {
            Ok(Some(answer)) => {
                let output = redact_output(redactor, info, answer.output);
                Ok(Some(Answer { output, ..answer }))
            }
            Ok(None) => Ok(None),
            Err(problem) => Err(redactor.redact_problem(problem)),
        }
    }

    /// Everything of a call but the doing, for a reading that a surface answers itself because
    /// no JSON output can hold the answer: a stream, raw bytes. Audited like a call.
    pub async fn authorize(&self, request: &CallRequest) -> Result<(), Problem> {
        let Some(entry) = self.entry(&request.operation) else {
            return Err(self.unknown(&request.operation));
        };
        let mut audit = audit_entry(&self.0.engine.redactor, entry.operation.info(), request);
        let result = self.check_call(entry, request, &mut audit.decision);
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
        decision: &mut String,
    ) -> Result<Answer, Problem> {
        self.check_call(entry, &request, decision)?;
        entry.operation.call(request.context, request.input).await
    }

    /// Scope, input and policy.
    fn check_call(
        &self,
        entry: &Entry,
        request: &CallRequest,
        decision: &mut String,
    ) -> Result<(), Problem> {
        let info = entry.operation.info();
        let principal = &request.context.principal;
        if !principal.has_scope(&info.scope) {
            return Err(Problem::new(
                &code::FORBIDDEN,
                format!(
                    "{} needs the scope {:?}, which {principal} does not have",
                    info.name, info.scope
                ),
            )
            .with("required_scopes", Value::from(vec![info.scope.clone()])));
        }
        if !info.validates_itself {
            entry.validator.validate(&request.input)?;
        }
        let target = entry.operation.target(&request.context, &request.input)?;
        // An apply is judged once its plan (and so its target) is known: see `confirm::gate`.
        if info.flow != Flow::Apply {
            let verdict = self.0.engine.policy.decide(&Request {
                operation: &info.name,
                principal,
                target: &target,
                effect: info.effect,
                confirmed: info.is_confirmed_by_call,
            });
            *decision = verdict.rule.clone();
            if let Verdict::Ask { approvers } = &verdict.verdict
                && info.flow == Flow::Command
                && !may_approve(principal, approvers)
            {
                return Err(Problem::new(
                    &code::APPROVAL_REQUIRED,
                    format!("{} must be called by somebody who may approve it, which {principal} may not", info.name),
                )
                .with("approvers", Value::from(approvers.clone()))
                .with("rule", verdict.rule));
            }
            if verdict.verdict == Verdict::Deny {
                return Err(Problem::new(
                    &code::POLICY_DENIED,
                    format!("policy forbids {} for {principal}", info.name),
                )
                .with("reason", verdict.reason.unwrap_or_default())
                .with("rule", verdict.rule)
                .next("windlass policy check"));
            }
        }
        Ok(())
    }
}

fn audit_entry(redactor: &Redactor, info: &OperationInfo, request: &CallRequest) -> AuditCall {
    AuditCall {
        principal: request.context.principal.id(),
        surface: request.context.surface,
        operation: info.name.clone(),
        // Without its secrets: a short one could be guessed from its hash.
        input_hash: Digest::of_json(&redactor.redact_value(request.input.clone())),
        outcome: "OK".to_owned(),
        decision: String::new(),
        run_id: None,
        duration_us: 0,
    }
}

/// Redacts everything but the fields the operation exists to disclose.
fn redact_output(redactor: &Redactor, info: &OperationInfo, mut output: Value) -> Value {
    let disclosed: Vec<(String, Value)> = match &mut output {
        Value::Object(map) => info
            .discloses
            .iter()
            .filter_map(|field| map.remove_entry(field))
            .collect(),
        _ => Vec::new(),
    };
    let mut output = redactor.redact_value(output);
    if let Value::Object(map) = &mut output {
        map.extend(disclosed);
    }
    output
}
