//! Tests of the data modules of a Vite project, with the real client and a network of ours.

use serde::Serialize;

use super::super::Draft;
use super::super::data::{function_name, reasons};
use super::{Case, Valued, case, cases, input, key, sample_name};
use crate::blueprint::{Blueprint, Operation};
use crate::templates::{TemplateError, render};

#[derive(Serialize)]
struct Context {
    functions: String,
    file: String,
    schema_file: String,
    create_schema: Option<String>,
    sample: String,
    key: Option<String>,
    input: Option<Vec<Valued>>,
    label: String,
    cases: Vec<Case>,
    refused: String,
}

fn context(blueprint: &Blueprint<'_>, at: usize) -> Context {
    let entity = &blueprint.entities[at];
    let sample = sample_name(entity);
    let path = cases::path(entity);
    let call = |operation: Operation| {
        let name = function_name(entity, operation);
        match operation {
            Operation::List => format!("{name}()"),
            Operation::Read | Operation::Delete => format!("{name}(id)"),
            Operation::Create => format!("{name}(input)"),
            Operation::Update => format!("{name}(id, input)"),
        }
    };
    let mut functions = Vec::new();
    let mut all = Vec::new();
    let mut refused = String::new();
    for (operation, trace) in &entity.operations {
        functions.push(function_name(entity, *operation));
        let call = call(*operation);
        if refused.is_empty() {
            refused.clone_from(&call);
        }
        let method = operation.method();
        let (what, lines) = match operation {
            Operation::List => (
                "lists the rows it may see",
                vec![
                    format!(
                        "const calls = answering(() => ({{ status: 200, body: [{sample}] }}));"
                    ),
                    format!("await expect({call}).resolves.toEqual([{sample}]);"),
                    format!(
                        "expect(calls.at(-1)).toMatchObject({{ method: \"{method}\", path: {path} }});"
                    ),
                ],
            ),
            Operation::Read => (
                "reads one row",
                vec![
                    format!("const calls = answering(() => ({{ status: 200, body: {sample} }}));"),
                    format!("await expect({call}).resolves.toEqual({sample});"),
                    "expect(calls.at(-1)?.query).toContain(`eq.${id}`);".to_owned(),
                ],
            ),
            Operation::Create => {
                let mut lines = vec![
                    format!("const calls = answering(() => ({{ status: 201, body: {sample} }}));"),
                    format!("await expect({call}).resolves.toEqual({sample});"),
                    format!(
                        "expect(calls.at(-1)).toMatchObject({{ method: \"{method}\", path: {path}, body: input }});"
                    ),
                ];
                lines.extend(cases::refusals(entity));
                ("stores what is given and nothing else", lines)
            }
            Operation::Update => (
                "changes one row",
                vec![
                    format!("const calls = answering(() => ({{ status: 200, body: {sample} }}));"),
                    format!("await expect({call}).resolves.toEqual({sample});"),
                    format!(
                        "expect(calls.at(-1)).toMatchObject({{ method: \"{method}\", path: {path}, body: input }});"
                    ),
                    "expect(calls.at(-1)?.query).toContain(`eq.${id}`);".to_owned(),
                ],
            ),
            Operation::Delete => (
                "removes one row",
                vec![
                    format!("const calls = answering(() => ({{ status: 200, body: {sample} }}));"),
                    format!("await expect({call}).resolves.toBeUndefined();"),
                    format!(
                        "expect(calls.at(-1)).toMatchObject({{ method: \"{method}\", path: {path} }});"
                    ),
                    "expect(calls.at(-1)?.query).toContain(`eq.${id}`);".to_owned(),
                ],
            ),
        };
        all.push(case(blueprint, trace, what, lines));
    }
    for action in &entity.actions {
        functions.push(action.name.clone());
        let extra = cases::action_input(blueprint, at, action)
            .map_or_else(String::new, |input| format!(", {input}"));
        let call = format!("{}(id{extra})", action.name);
        if refused.is_empty() {
            refused.clone_from(&call);
        }
        all.push(case(
            blueprint,
            &action.trace,
            &format!("{} one row", action.verb),
            vec![
                format!(
                    "const calls = answering({});",
                    cases::answer(entity, action)
                ),
                format!("await expect({call}).resolves.toEqual({sample});"),
                format!(
                    "expect(calls.at(-1)).toMatchObject({});",
                    cases::asked(entity, action)
                ),
            ],
        ));
    }
    functions.sort();
    let given = entity.has(Operation::Create) || entity.has(Operation::Update);
    let uses_key = entity
        .operations
        .keys()
        .any(|operation| operation.names_one())
        || !entity.actions.is_empty();
    Context {
        functions: functions.join(", "),
        file: entity.path.clone(),
        schema_file: entity.file.clone(),
        create_schema: entity
            .has(Operation::Create)
            .then(|| format!("{}CreateSchema", entity.camel)),
        sample,
        key: uses_key.then(|| key(blueprint, at)).flatten(),
        input: given.then(|| input(blueprint, at)),
        label: entity.label_plural.clone(),
        cases: all,
        refused,
    }
}

pub(super) fn add(blueprint: &Blueprint<'_>, files: &mut Vec<Draft>) -> Result<(), TemplateError> {
    for (at, entity) in blueprint.entities.iter().enumerate() {
        if entity.operations.is_empty() && entity.actions.is_empty() {
            continue;
        }
        files.push(Draft::feature(
            format!("tests/{}.data.test.ts", entity.path),
            render("tests/data.test.ts", &context(blueprint, at))?,
            &reasons(entity),
        ));
    }
    Ok(())
}
