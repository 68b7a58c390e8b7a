//! Arguments of the operations: which there are, whether they are sound, their schema.

use serde_json::{Map, Value, json};
use windlass_engine::operation::CallContext;
use windlass_stack_config::arguments::ArgumentType::{
    Any, Bool, Number, NumberOrText, Object, ObjectOrText, Text, Texts,
};
use windlass_stack_config::arguments::{ArgumentSpec, ArgumentType, normalise};
use windlass_stack_diagnose::Operation as Question;
use windlass_types::{Problem, Timestamp};

use super::Verb;
use crate::dev;
use crate::fault;
use crate::place::Place;
use crate::run::Kind;

const COMMON: &[ArgumentSpec] = &[
    ArgumentSpec::optional("projectName", Text),
    ArgumentSpec::optional("region", Text),
    ArgumentSpec::optional("profile", Text),
    ArgumentSpec::optional("configPath", Text),
    ArgumentSpec::optional("currentWorkingDirectory", Text),
    ArgumentSpec::optional("timeoutSeconds", NumberOrText),
    ArgumentSpec::optional("wait", Bool),
    ArgumentSpec::optional("confirm", Bool),
    ArgumentSpec::optional("resourceName", Text),
];

const STAGE: ArgumentSpec = ArgumentSpec::required("stage", Text);

/// The arguments an operation takes.
pub(super) fn specs(verb: Verb) -> Vec<ArgumentSpec> {
    let own: &[ArgumentSpec] = match verb {
        Verb::Ask(question) => return asked(question),
        Verb::Change(Kind::SecretCreate) => return asked(Question::SecretCreate),
        Verb::Change(Kind::SecretDelete) => return asked(Question::SecretDelete),
        Verb::Dev(operation) => return operation.arguments(),
        Verb::Init => {
            return vec![
                ArgumentSpec::optional("currentWorkingDirectory", Text),
                ArgumentSpec::optional("force", Bool),
                ArgumentSpec::optional("print", Bool),
                ArgumentSpec::optional("confirm", Bool),
            ];
        }
        Verb::Change(Kind::Preview) => {
            const {
                &[
                    STAGE,
                    ArgumentSpec::optional("detectDrift", Bool),
                    ArgumentSpec::optional("estimateCost", Bool),
                ]
            }
        }
        Verb::Change(Kind::Deploy) => {
            const {
                &[
                    STAGE,
                    ArgumentSpec::optional("confirmToken", Text),
                    ArgumentSpec::optional("disableAutoRollback", Bool),
                    ArgumentSpec::optional("noCache", Bool),
                    ArgumentSpec::optional("dockerArgs", Texts),
                ]
            }
        }
        Verb::Change(Kind::Delete) => {
            const {
                &[
                    STAGE,
                    ArgumentSpec::required("projectName", Text),
                    ArgumentSpec::optional("retainResources", Texts),
                ]
            }
        }
        Verb::Change(Kind::Rollback) => {
            const {
                &[
                    STAGE,
                    ArgumentSpec::required("projectName", Text),
                    ArgumentSpec::optional("targetVersion", Text),
                    ArgumentSpec::optional("rollbackSteps", NumberOrText),
                    ArgumentSpec::optional("listVersions", Bool),
                    ArgumentSpec::optional("resourcesToSkip", Texts),
                    ArgumentSpec::optional("confirmToken", Text),
                ]
            }
        }
        Verb::Change(Kind::Script) => {
            const {
                &[
                    STAGE,
                    ArgumentSpec::required("scriptName", Text),
                    ArgumentSpec::optional("env", Texts),
                    ArgumentSpec::optional("assumeRoleOfResource", Text),
                    ArgumentSpec::optional("deployed", Bool),
                ]
            }
        }
        Verb::Compile => {
            const {
                &[
                    STAGE,
                    ArgumentSpec::optional("withPackage", Bool),
                    ArgumentSpec::optional("outFile", Text),
                ]
            }
        }
        Verb::Validate => {
            const {
                &[
                    STAGE,
                    ArgumentSpec::optional("withPackage", Bool),
                    ArgumentSpec::optional("thorough", Bool),
                ]
            }
        }
    };
    let common = COMMON
        .iter()
        .filter(|common| own.iter().all(|it| it.name != common.name));
    own.iter().chain(common).copied().collect()
}

/// Every tool may say confirm; questions that have no use for it ignore it.
fn asked(question: Question) -> Vec<ArgumentSpec> {
    let mut specs = question.arguments();
    for (name, kind) in [("confirm", Bool), ("wait", Bool), ("resourceName", Text)] {
        if specs.iter().all(|spec| spec.name != name) {
            specs.push(ArgumentSpec::optional(name, kind));
        }
    }
    specs
}

/// The arguments, by their camel-case names.
pub(super) fn read(verb: Verb, input: &Value) -> Result<Map<String, Value>, Problem> {
    let Some(given) = input.as_object() else {
        return Err(fault::invalid("args", "args must be an object"));
    };
    normalise(verb.name(), given, &specs(verb))
}

/// Checks what can be known from the arguments alone; says what policy is asked about.
pub(super) fn check(
    verb: Verb,
    context: &CallContext,
    arguments: &Map<String, Value>,
    now: Timestamp,
) -> Result<(), Problem> {
    Place::read(context, arguments)?;
    check_number(arguments, "timeoutSeconds", 1, 86_400)?;
    check_number(arguments, "rollbackSteps", 1, 1_000)?;
    match verb {
        Verb::Ask(question) => {
            windlass_stack_diagnose::check(question, &Value::Object(plain(verb, arguments)), now)?;
        }
        Verb::Dev(operation) => dev::check(operation, arguments)?,
        Verb::Change(Kind::Script) => {
            let pairs = arguments.get("env").map(crate::package::texts);
            windlass_stack_lifecycle::script::read_pairs(&pairs.unwrap_or_default())?;
        }
        _ => {}
    }
    Ok(())
}

/// The arguments without those that every tool takes and this question does not.
pub(super) fn plain(verb: Verb, arguments: &Map<String, Value>) -> Map<String, Value> {
    let Verb::Ask(question) = verb else {
        return arguments.clone();
    };
    let own = question.arguments();
    arguments
        .iter()
        .filter(|(name, _)| own.iter().any(|spec| spec.name == name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// A whole number within bounds; numbers in texts are taken.
pub(super) fn number(arguments: &Map<String, Value>, name: &str) -> Option<u64> {
    match arguments.get(name)? {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_u64(),
    }
}

fn check_number(
    arguments: &Map<String, Value>,
    name: &str,
    least: u64,
    most: u64,
) -> Result<(), Problem> {
    if !arguments.contains_key(name) {
        return Ok(());
    }
    match number(arguments, name) {
        Some(found) if (least..=most).contains(&found) => Ok(()),
        _ => Err(fault::invalid(
            name,
            format!("{name} must be a whole number from {least} to {most}"),
        )),
    }
}

/// The JSON Schema of an operation's input.
pub(super) fn schema(verb: Verb) -> Value {
    let specs = specs(verb);
    let properties: Map<String, Value> = specs
        .iter()
        .map(|spec| (spec.name.to_owned(), type_schema(spec.kind)))
        .collect();
    let required: Vec<&str> = specs
        .iter()
        .filter(|spec| spec.required)
        .map(|spec| spec.name)
        .collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

pub(super) fn type_schema(kind: ArgumentType) -> Value {
    match kind {
        Text => json!({ "type": "string" }),
        Bool => json!({ "type": "boolean" }),
        Number => json!({ "type": "number" }),
        NumberOrText => one_of(&["number", "string"]),
        Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Object => json!({ "type": "object" }),
        ObjectOrText => one_of(&["object", "string"]),
        Any => one_of(&["string", "number", "boolean", "object"]),
    }
}

/// Several types in the form that every client can read.
fn one_of(types: &[&str]) -> Value {
    let types: Vec<Value> = types.iter().map(|kind| json!({ "type": kind })).collect();
    json!({ "anyOf": types })
}

/// An input that works.
pub(super) fn example(verb: Verb) -> Value {
    let mut input = Map::new();
    for spec in specs(verb).iter().filter(|spec| spec.required) {
        input.insert(spec.name.to_owned(), example_value(spec.name));
    }
    if verb == Verb::Ask(Question::SecretCreate) {
        input.insert("secretValue".to_owned(), json!("x"));
    }
    if let Verb::Ask(_) = verb
        && !input.contains_key("secretName")
        && !input.contains_key("service")
    {
        input.insert("projectName".to_owned(), json!("shop"));
        input.insert("stage".to_owned(), json!("dev"));
    }
    Value::Object(input)
}

fn example_value(name: &str) -> Value {
    json!(match name {
        "stage" => "dev",
        "projectName" => "shop",
        "scriptName" => "migrate",
        "secretName" => "shop/db-password",
        "resourceName" => "db",
        "metric" => "Invocations",
        "sql" => "select 1",
        "command" => "ListBuckets",
        "service" => "s3",
        "workload" => "api",
        _ => "x",
    })
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
