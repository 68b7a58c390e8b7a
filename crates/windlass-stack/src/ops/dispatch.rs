//! The contract's tools that stand for several operations.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use windlass_engine::{
    access::{nearest, shown},
    operation::{Answer, CallContext, Delegated, Flow, Operation, OperationInfo, Reply, operation},
};
use windlass_types::{EffectClass, Problem};

use super::{Verb, settled};
use crate::contract::StackContract;
use crate::desk::Desk;
use crate::fault;
use crate::run::Kind;
use windlass_stack_diagnose::Operation as Question;

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tool {
    Ops,
    Dev,
    Diagnose,
}

const OPS: &str = "Execute Stacktape infrastructure operations: deploy, delete, preview changes, \
manage secrets, run scripts.

Use this tool when:
- User wants to deploy, delete, or preview infrastructure changes
- User needs to manage secrets or run deployment scripts
- The project uses Stacktape for AWS infrastructure";

const DEV: &str = "Control Stacktape dev mode: start local development environment, check status, \
read logs, rebuild workloads, and stop.

Use this tool when:
- User wants to run their Stacktape app locally for development
- User needs to see logs, rebuild after code changes, or stop dev mode
- An active dev session needs management";

const DIAGNOSE: &str =
    "Diagnose and inspect deployed Stacktape infrastructure: view logs, metrics, \
alarms, query databases, execute commands in containers, and call AWS SDK.

Use this tool when:
- User needs to debug a deployed application
- User wants to view logs, metrics, or alarm states
- User needs to query a database or inspect container state
- User wants to check stack info or deployment history";

impl Tool {
    const fn verb(self) -> &'static str {
        match self {
            Self::Ops => "ops",
            Self::Dev => "dev",
            Self::Diagnose => "diagnose",
        }
    }

    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Ops => ("Deploy and manage stacks", OPS),
            Self::Dev => ("Develop a stack locally", DEV),
            Self::Diagnose => ("Diagnose a deployed stack", DIAGNOSE),
        }
    }

    /// What people say when they want it.
    const fn search_words(self) -> &'static [&'static str] {
        match self {
            Self::Ops => &[
                "put an app on AWS, ship it to production or staging",
                "roll back, undo or revert the last deployment",
                "tear down or destroy an environment",
                "what would change",
                "store an API key, a password, a secret",
                "run a migration script",
                "show the CloudFormation template",
            ],
            Self::Dev => &[
                "start the app on my laptop",
                "run and test locally without deploying, restart, stop the session",
                "rebuild after a code change",
            ],
            Self::Diagnose => &[
                "why does it fail in production, error 500, debug",
                "CloudWatch logs and metrics, CPU, memory, throttling, alarms that fire",
                "rows and tables of a database, SQL, Redis keys, DynamoDB items",
                "shell in a running container",
                "what went live and when, history of deployments, versions, outputs",
            ],
        }
    }

    /// The operations it stands for, by the contract's names.
    fn operations(self) -> Vec<(&'static str, Verb)> {
        let secrets = [
            Question::SecretCreate,
            Question::SecretGet,
            Question::SecretDelete,
        ];
        match self {
            Self::Ops => {
                let mut verbs = vec![
                    Verb::Change(Kind::Preview),
                    Verb::Change(Kind::Deploy),
                    Verb::Change(Kind::Delete),
                    Verb::Change(Kind::Rollback),
                    Verb::Change(Kind::Script),
                    Verb::Compile,
                ];
                verbs.extend(secrets.map(Verb::Ask));
                verbs.into_iter().map(|verb| (verb.name(), verb)).collect()
            }
            Self::Dev => crate::dev::DevOperation::ALL
                .into_iter()
                .map(|operation| {
                    let name = operation.name();
                    (
                        name.strip_prefix("dev_").unwrap_or(name),
                        Verb::Dev(operation),
                    )
                })
                .collect(),
            Self::Diagnose => Question::ALL
                .iter()
                .filter(|question| !secrets.contains(question))
                .map(|question| (question.name(), Verb::Ask(*question)))
                .collect(),
        }
    }

    fn schema(self) -> Value {
        let names: Vec<&str> = self.operations().iter().map(|(name, _)| *name).collect();
        let mut args = Map::new();
        for (_, verb) in self.operations() {
            for spec in super::arguments::specs(verb) {
                let schema = super::arguments::type_schema(spec.kind);
                // The same name may mean different things in two operations.
                let known = args.entry(spec.name).or_insert_with(|| schema.clone());
                if *known == schema {
                    continue;
                }
                match known.get_mut("anyOf").and_then(Value::as_array_mut) {
                    Some(branches) if branches.contains(&schema) => {}
                    Some(branches) => branches.push(schema),
                    None => *known = json!({ "anyOf": [known.take(), schema] }),
                }
            }
        }
        let mut properties = json!({
            "operation": { "type": "string", "enum": names },
            "args": { "type": "object", "properties": args },
        });
        if self == Self::Ops {
            properties["confirm"] = json!({
                "type": "boolean",
                "description": "required true for destructive operations (delete)",
            });
        }
        json!({ "type": "object", "properties": properties, "required": ["operation"] })
    }

    fn example(self) -> Value {
        match self {
            Self::Ops => json!({
                "operation": "preview_changes",
                "args": { "projectName": "shop", "stage": "dev", "region": "eu-west-1" },
            }),
            Self::Dev => json!({
                "operation": "logs", "args": { "workload": "api", "limit": 20, "cursor": 118 },
            }),
            Self::Diagnose => json!({
                "operation": "sql",
                "args": {
                    "projectName": "shop", "stage": "dev", "resourceName": "db", "sql": "select 1",
                },
            }),
        }
    }

    /// What the example may give, before the envelope.
    fn example_output(self) -> Value {
        match self {
            Self::Ops => json!({
                "message": "shop-dev would change: 1 to update",
                "stackName": "shop-dev",
                "isNewStack": false,
                "noChanges": false,
                "source": "change-set",
                "changes": [],
                "resourceChanges": [{
                    "resourceName": "api", "resourceType": "AWS::Lambda::Function",
                    "logicalId": "ApiFunction", "action": "update", "willReplace": [],
                    "mayReplace": [], "highlights": ["Environment"], "reason": "",
                    "policyAction": null,
                }],
                "counts": { "create": 0, "update": 1, "replace": 0, "delete": 0, "retain": 0 },
                "statefulChanges": [],
                "missingSecrets": [],
                "drift": null,
                "cost": null,
                "planDigest":
                    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                "confirmToken":
                    "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752",
                "confirmTokenExpiresAt": "2026-02-12T10:10:00Z",
                "nextActions": ["review the changes, then deploy with this confirmToken"],
            }),
            Self::Dev => json!({
                "message": "2 lines",
                "logs": "10:00:01 [api] ready\n10:00:03 [api] GET /",
                "count": 2,
                "nextCursor": 123,
            }),
            Self::Diagnose => json!({
                "message": "1 row",
                "resource": "db",
                "engine": "postgres",
                "rows": [{ "?column?": 1 }],
                "fields": ["?column?"],
                "rowCount": 1,
                "truncated": false,
            }),
        }
    }

    /// What a client is told it may do.
    fn flow(self, desk: &Desk) -> (Flow, EffectClass) {
        match self {
            Self::Ops => (Flow::Command, EffectClass::Destructive),
            Self::Dev => (Flow::Command, EffectClass::Write),
            // Reading, but for commands in containers.
            Self::Diagnose if desk.outside.read_only => (Flow::Query, EffectClass::Read),
            Self::Diagnose => (Flow::Command, EffectClass::Write),
        }
    }
}

/// The three.
pub(super) fn tools(desk: &Desk) -> Vec<Arc<dyn Operation>> {
    [Tool::Ops, Tool::Dev, Tool::Diagnose]
        .into_iter()
        .map(|tool| {
            let (title, description) = tool.words();
            let (flow, effect) = tool.flow(desk);
            let desk = desk.clone();
            operation("stack", tool.verb())
                .tool(&format!("stacktape_{}", tool.verb()))
                .describe(title, description)
                .found_by(tool.search_words())
                .reaches_out()
                .contract(&StackContract)
                .flow(flow, effect)
                .validates_itself()
                .input_schema(tool.schema())
                .output::<Map<String, Value>>()
                .example(title, tool.example())
                .gives(tool.example_output())
                .by(move |info| Dispatch { info, desk, tool })
        })
        .collect()
}

struct Dispatch {
    info: OperationInfo,
    desk: Desk,
    tool: Tool,
}

impl Operation for Dispatch {
    fn info(&self) -> &OperationInfo {
        &self.info
    }

    fn delegate(&self, input: &Value) -> Result<Option<Delegated>, Problem> {
        let (name, arguments) = read(self.tool, input)?;
        Ok(Some(Delegated {
            operation: format!("stack.{name}"),
            input: Value::Object(arguments),
        }))
    }

    fn call<'a>(
        &'a self,
        _context: CallContext,
        _input: Value,
    ) -> BoxFuture<'a, Result<Reply, Problem>> {
        // The catalogue never gets here: every call is another operation's or refused.
        Box::pin(async { Err(Problem::internal("stack", "a tool was called by itself")) })
    }

    fn settled<'a>(
        &'a self,
        context: CallContext,
        ticket: &'a str,
    ) -> BoxFuture<'a, Result<Option<Answer>, Problem>> {
        Box::pin(settled(&self.desk, context, ticket))
    }
}

/// The operation a call means, and its arguments.
fn read(tool: Tool, input: &Value) -> Result<(&'static str, Map<String, Value>), Problem> {
    let Some(members) = input.as_object() else {
        return Err(fault::invalid("input", "the input must be an object"));
    };
    let known: &[&str] = match tool {
        Tool::Ops => &["operation", "args", "confirm"],
        Tool::Dev | Tool::Diagnose => &["operation", "args"],
    };
    if let Some(unknown) = members.keys().find(|key| !known.contains(&key.as_str())) {
        let near = nearest(unknown, known.iter().copied());
        let hint = near.map_or_else(String::new, |near| format!(" (did you mean {near}?)"));
        let unknown = shown(unknown);
        let problem = fault::invalid(
            &unknown,
            format!(
                "{unknown} is not an argument of stacktape_{}{hint}; arguments of an operation go \
                 into args",
                tool.verb()
            ),
        )
        .with("reason", "unknown_argument");
        return Err(match near {
            Some(near) => problem.with("didYouMean", near),
            None => problem,
        });
    }
    let operations = tool.operations();
    let names = || operations.iter().map(|(name, _)| *name);
    let operation = match members.get("operation") {
        Some(Value::String(operation)) => operation,
        Some(_) => return Err(fault::invalid("operation", "operation must be a text")),
        None => {
            let problem = fault::missing(&format!("stacktape_{}", tool.verb()), "operation");
            return Err(problem.with("allowed", names().collect::<Vec<_>>()));
        }
    };
    let Some((_, verb)) = operations.iter().find(|(name, _)| name == operation) else {
        let near = nearest(operation, names());
        let all: Vec<&str> = names().collect();
        let hint = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
        let problem = fault::invalid(
            "operation",
            format!(
                "stacktape_{} has no operation {:?}{hint}",
                tool.verb(),
                shown(operation)
            ),
        )
        .with("allowed", all);
        return Err(match near {
            Some(near) => problem.with("didYouMean", near),
            None => problem,
        });
    };
    let mut arguments = match members.get("args") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(arguments)) => arguments.clone(),
        Some(_) => return Err(fault::invalid("args", "args must be an object")),
    };
    match members.get("confirm") {
        None | Some(Value::Null) => {}
        Some(confirm @ Value::Bool(_)) => {
            let before = arguments.insert("confirm".to_owned(), confirm.clone());
            if before.is_some_and(|before| before != *confirm) {
                return Err(fault::invalid(
                    "confirm",
                    "confirm is given twice with different values",
                )
                .with("reason", "duplicate_argument"));
            }
        }
        Some(_) => return Err(fault::invalid("confirm", "confirm must be true or false")),
    }
    Ok((verb.name(), arguments))
}

#[cfg(test)]
#[path = "dispatch_tests.rs"]
mod tests;
