//! The domain of programs, and a domain made of closures for tests that need code of their own.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_engine::{
    Domain, Engine, WeakEngine,
    operation::{
        CallContext, Change, ChangeInfo, Example, Operation, change_operations, operation,
    },
    run::{RunContext, RunError, RunKind},
};
use windlass_ports::BoxFuture;
use windlass_types::{ChangeAction, EffectClass, Plan, Problem};

use super::{Ledger, Op, input, interpret::interpret};

/// The kind of runs that execute programs.
pub const KIND: &str = "program";

/// Runs that execute programs over a ledger, and the operations `ledger.plan`, `ledger.apply`
/// and `ledger.show`.
pub struct ProgramDomain {
    ledger: Ledger,
}

impl ProgramDomain {
    /// The domain over a ledger.
    pub fn new(ledger: &Ledger) -> Self {
        Self {
            ledger: ledger.clone(),
        }
    }
}

impl Domain for ProgramDomain {
    fn kinds(&self, _: &WeakEngine) -> Vec<Arc<dyn RunKind>> {
        vec![Arc::new(ProgramKind {
            ledger: self.ledger.clone(),
        })]
    }

    fn operations(&self, engine: &Engine) -> Vec<Arc<dyn Operation>> {
        let ledger = self.ledger.clone();
        let show = operation("ledger", "show")
            .describe("Show the ledger", "Every cell and its value.")
            .handle(move |_, _: Nothing| {
                let cells = json!({ "cells": ledger.cells() });
                async move { Ok::<Value, Problem>(cells) }
            });
        let mut operations = change_operations(
            engine,
            SetCell {
                ledger: self.ledger.clone(),
            },
        );
        operations.push(show);
        operations
    }
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Nothing {}

struct ProgramKind {
    ledger: Ledger,
}

#[derive(Deserialize)]
struct ProgramInput {
    program: Vec<Op>,
}

impl RunKind for ProgramKind {
    fn name(&self) -> &str {
        KIND
    }

    fn run<'a>(
        &'a self,
        context: &'a dyn RunContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Value, RunError>> {
        Box::pin(async move {
            let input: ProgramInput = serde_json::from_value(input)
                .map_err(|error| Problem::internal("program", error))?;
            interpret(context, &self.ledger, input.program)
                .await
                .map(Value::from)
        })
    }
}

struct SetCell {
    ledger: Ledger,
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct SetCellInput {
    /// The cell.
    cell: String,
    /// The value.
    value: i64,
}

impl Change for SetCell {
    type Input = SetCellInput;

    fn info(&self) -> ChangeInfo {
        ChangeInfo {
            toolset: "ledger".to_owned(),
            plan_verb: "plan".to_owned(),
            apply_verb: "apply".to_owned(),
            title: "Set a cell".to_owned(),
            description: "Sets one cell of the ledger.".to_owned(),
            effect: EffectClass::Write,
            kind: KIND.to_owned(),
            examples: vec![Example {
                title: "one cell".to_owned(),
                input: json!({"cell": "a", "value": 1}),
                output: None,
            }],
        }
    }

    fn plan<'a>(
        &'a self,
        _: &'a CallContext,
        wanted: SetCellInput,
    ) -> BoxFuture<'a, Result<Plan, Problem>> {
        Box::pin(async move {
            let before = self.ledger.get(&wanted.cell);
            let action = if before.is_some() {
                ChangeAction::Update
            } else {
                ChangeAction::Create
            };
            let change = windlass_types::Change {
                action,
                target: wanted.cell.clone(),
                summary: format!("{before:?} → {}", wanted.value),
            };
            Ok(Plan {
                operation: "ledger.apply".to_owned(),
                effect: EffectClass::Write,
                target: wanted.cell.clone(),
                changes: vec![change],
                payload: input(&[Op::set(&wanted.cell, wanted.value)]),
            })
        })
    }
}

/// A run kind made of a closure: `fn_kind("name", |context, input| Box::pin(async move { … }))`.
pub fn fn_kind<F>(name: &str, code: F) -> Arc<dyn RunKind>
where
    F: for<'a> Fn(&'a dyn RunContext, Value) -> BoxFuture<'a, Result<Value, RunError>>
        + Send
        + Sync
        + 'static,
{
    Arc::new(FnKind {
        name: name.to_owned(),
        code,
    })
}

struct FnKind<F> {
    name: String,
    code: F,
}

impl<F> RunKind for FnKind<F>
where
    F: for<'a> Fn(&'a dyn RunContext, Value) -> BoxFuture<'a, Result<Value, RunError>>
        + Send
        + Sync
        + 'static,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn run<'a>(
        &'a self,
        context: &'a dyn RunContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Value, RunError>> {
        (self.code)(context, input)
    }
}

/// A domain made of ready kinds and operations.
#[derive(Clone, Default)]
pub struct FnDomain {
    /// Its kinds.
    pub kinds: Vec<Arc<dyn RunKind>>,
    /// Its operations.
    pub operations: Vec<Arc<dyn Operation>>,
}

impl Domain for FnDomain {
    fn kinds(&self, _: &WeakEngine) -> Vec<Arc<dyn RunKind>> {
        self.kinds.clone()
    }

    fn operations(&self, _: &Engine) -> Vec<Arc<dyn Operation>> {
        self.operations.clone()
    }
}
