//! Making calls: one at a time, in order, on a task of their own, so that the screen never waits.

use std::{pin::pin, time::Duration};

use serde_json::{Map, Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use windlass_engine::operation::{CallContext, CallRequest, Catalogue};
use windlass_types::{Problem, Surface};

use crate::{
    Options,
    drive::Driving,
    event::{Adopt, Call, Event, Fault, Reply},
    read,
    text::clean,
};

/// How often a long write looks whether the process that drives is gone.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Makes the calls that come in until the screen is closed.
pub(crate) async fn make(
    catalogue: Catalogue,
    options: Options,
    mut calls: UnboundedReceiver<Call>,
    events: UnboundedSender<Event>,
) {
    let mut driving = Driving::new(catalogue.engine().clone());
    // The digest of the plan that the last question was about: that plan is applied, or none.
    let mut shown = Value::Null;
    while let Some(call) = calls.recv().await {
        let outcome = tokio::select! {
            outcome = one(&catalogue, &options, &call, &mut driving, &mut shown) => outcome,
            // Nobody looks any more. What was begun is durable: the driver finishes it, or the
            // next one does.
            () = events.closed() => break,
        };
        let outcome = outcome.map_err(|problem| fault(&problem, &options));
        if events.send(Event::Answered(call, outcome)).is_err() {
            break;
        }
    }
    driving.stop().await;
}

async fn one(
    catalogue: &Catalogue,
    options: &Options,
    call: &Call,
    driving: &mut Driving,
    shown: &mut Value,
) -> Result<Reply, Problem> {
    let (operation, mut input) = request(call, &options.arguments);
    if matches!(call, Call::Apply(_)) {
        input["plan_digest"] = shown.take();
    }
    if call.writes() {
        driving.ensure().await?;
    }
    let mut answer = pin!(catalogue.call(CallRequest {
        operation: operation.to_owned(),
        input,
        context: CallContext {
            principal: options.principal.clone(),
            surface: Surface::Cli,
            request_id: options.request_id.clone(),
            directory: options.directory.clone(),
            terms: windlass_engine::operation::Terms::default(),
        },
    }));
    loop {
        tokio::select! {
            answer = &mut answer => {
                let output = answer?.output;
                if *call == Call::TryApply {
                    *shown = output.get("plan_digest").cloned().unwrap_or_default();
                }
                return read::reply(call, &output, &options.short_path);
            }
            () = tokio::time::sleep(LOOK_AGAIN), if call.writes() => driving.ensure().await?,
        }
    }
}

fn fault(problem: &Problem, options: &Options) -> Fault {
    Fault {
        code: problem.code().name.to_owned(),
        message: clean(problem.message()),
        next: (options.advice)(problem)
            .iter()
            .map(|text| clean(text))
            .collect(),
    }
}

/// The operation a call stands for, and its input.
fn request(call: &Call, arguments: &Value) -> (&'static str, Value) {
    let (operation, own) = match call {
        Call::Plan => ("pack.preview", json!({ "diff": true })),
        Call::Drift => ("pack.status", json!({})),
        Call::History => ("pack.snapshots.list", json!({})),
        Call::Details(id) => ("pack.snapshots.show", json!({ "id": id })),
        Call::TryApply => ("pack.apply", json!({ "dry_run": true })),
        Call::Apply(adopt) => (
            "pack.apply",
            match adopt {
                Adopt::Nothing => json!({ "yes": true }),
                Adopt::These(paths) => json!({ "yes": true, "adopt_paths": paths }),
                Adopt::LeaveOut => json!({ "yes": true, "skip_unadopted": true }),
            },
        ),
        Call::TryUndo => ("pack.undo", json!({ "dry_run": true })),
        Call::Undo(id) => ("pack.undo", json!({ "id": id, "yes": true })),
        Call::TryRollback(id) => ("pack.rollback", json!({ "to": id, "dry_run": true })),
        Call::Rollback(id) => ("pack.rollback", json!({ "to": id, "yes": true })),
    };
    let mut input = arguments.as_object().cloned().unwrap_or_default();
    if matches!(call, Call::TryRollback(_) | Call::Rollback(_)) {
        // A snapshot knows its own profile and machine.
        input.retain(|name, _| name != "profile" && name != "machine");
    }
    let own: Map<String, Value> = own.as_object().cloned().unwrap_or_default();
    input.extend(own);
    (operation, Value::Object(input))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_is_one_operation() {
        let given = json!({ "repo": "r", "profile": "p", "target": "codex", "machine": "m" });
        let id = || "7".to_owned();
        for (call, operation, own) in [
            (Call::Plan, "pack.preview", json!({ "diff": true })),
            (Call::Drift, "pack.status", json!({})),
            (Call::History, "pack.snapshots.list", json!({})),
            (
                Call::Details(id()),
                "pack.snapshots.show",
                json!({ "id": "7" }),
            ),
            (Call::TryApply, "pack.apply", json!({ "dry_run": true })),
            (
                Call::Apply(Adopt::Nothing),
                "pack.apply",
                json!({ "yes": true }),
            ),
            (
                Call::Apply(Adopt::These(vec!["/a".to_owned()])),
                "pack.apply",
                json!({ "yes": true, "adopt_paths": ["/a"] }),
            ),
            (
                Call::Apply(Adopt::LeaveOut),
                "pack.apply",
                json!({ "yes": true, "skip_unadopted": true }),
            ),
            (Call::TryUndo, "pack.undo", json!({ "dry_run": true })),
            (
                Call::Undo(id()),
                "pack.undo",
                json!({ "id": "7", "yes": true }),
            ),
        ] {
            let mut expected = given.as_object().unwrap().clone();
            expected.extend(own.as_object().unwrap().clone());
            assert_eq!(request(&call, &given), (operation, Value::Object(expected)));
        }
        for (call, own) in [
            (Call::TryRollback(id()), ("dry_run", true)),
            (Call::Rollback(id()), ("yes", true)),
        ] {
            let mut expected = json!({ "repo": "r", "target": "codex", "to": "7" });
            expected[own.0] = json!(own.1);
            assert_eq!(request(&call, &given), ("pack.rollback", expected));
        }
    }

    #[test]
    fn only_a_call_with_a_yes_counts_as_writing() {
        let id = || "7".to_owned();
        for call in [
            Call::Plan,
            Call::Drift,
            Call::History,
            Call::Details(id()),
            Call::TryApply,
            Call::Apply(Adopt::Nothing),
            Call::TryUndo,
            Call::Undo(id()),
            Call::TryRollback(id()),
            Call::Rollback(id()),
        ] {
            let (_, input) = request(&call, &Value::Null);
            assert_eq!(call.writes(), input["yes"] == true, "{call:?}");
        }
    }
}
