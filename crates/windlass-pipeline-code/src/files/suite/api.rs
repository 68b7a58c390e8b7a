//! Tests of the API routes of a Next project: who is let in, what is refused, what is stored.

use serde::Serialize;

use super::super::data::reasons;
use super::super::{Draft, routes};
use super::{Case, Valued, case, cases, input, key, sample_name};
use crate::blueprint::{Access, Blueprint, Entity, Operation, Route, Work};
use crate::escape::ts_key;
use crate::templates::{TemplateError, render};

#[derive(Serialize)]
struct Context {
    modules: Vec<Module>,
    schema_file: String,
    create_schema: Option<String>,
    sample: String,
    key: Option<String>,
    input: Option<Vec<Valued>>,
    label: String,
    cases: Vec<Case>,
}

#[derive(Serialize)]
struct Module {
    alias: String,
    module: String,
}

fn module(route: &Route) -> String {
    routes::file(&route.segments)
        .replacen("src/", "@/", 1)
        .trim_end_matches(".ts")
        .to_owned()
}

/// The call of a route's handler, with a body or without.
fn call(route: &Route, entity: &Entity, alias: &str, body: Option<&str>) -> String {
    let takes_filter = matches!(
        route.work,
        Work::Operation {
            operation: Operation::List,
            parent: None
        }
    ) && entity.filters().next().is_some();
    let parameters = route.parameters();
    let takes_body = body.is_some();
    if parameters.is_empty() && !takes_filter && !takes_body {
        return format!("{alias}.{}()", route.method);
    }
    let options = match body {
        Some(body) => format!(
            ", {{ method: \"{}\", body: JSON.stringify({body}) }}",
            route.method
        ),
        None => String::new(),
    };
    let request = format!("new Request(\"http://localhost/api\"{options})");
    if parameters.is_empty() {
        return format!("{alias}.{}({request})", route.method);
    }
    let values: Vec<String> = parameters
        .iter()
        .map(|name| {
            if *name == "id" {
                name.to_string()
            } else {
                format!("{name}: id")
            }
        })
        .collect();
    format!(
        "{alias}.{}({request}, {{ params: Promise.resolve({{ {} }}) }})",
        route.method,
        values.join(", ")
    )
}

fn route_cases(blueprint: &Blueprint<'_>, route: &Route, alias: &str) -> Vec<Case> {
    let entity = &blueprint.entities[route.entity];
    let sample = sample_name(entity);
    let path = cases::path(entity);
    let mut answer = format!("() => ({{ status: 200, body: {sample} }})");
    let mut status = 200;
    let mut gives = sample.clone();
    let mut body = None;
    let mut asked = format!("{{ path: {path} }}");
    let mut extra: Vec<String> = Vec::new();
    match route.work {
        Work::Operation { operation, parent } => match operation {
            Operation::List => {
                answer = format!("() => ({{ status: 200, body: [{sample}] }})");
                gives = format!("[{sample}]");
                asked = format!("{{ method: \"GET\", path: {path} }}");
                if parent.is_some() {
                    extra.push("expect(calls.at(-1)?.query).toContain(`eq.${id}`);".to_owned());
                }
            }
            Operation::Read => {
                extra.push("expect(calls.at(-1)?.query).toContain(`eq.${id}`);".to_owned());
            }
            Operation::Create => {
                status = 201;
                let field = parent.and_then(|parent| entity.reference_to(parent));
                body = Some(match field {
                    Some(field) => format!("{{ ...input, {}: undefined }}", ts_key(&field.column)),
                    None => "input".to_owned(),
                });
                let stored = field.map_or_else(
                    || "input".to_owned(),
                    |field| format!("{{ ...input, {}: id }}", ts_key(&field.column)),
                );
                asked = format!("{{ method: \"POST\", path: {path}, body: {stored} }}");
                extra.extend(cases::refusals(entity));
            }
            Operation::Update => {
                body = Some("input".to_owned());
                asked = format!("{{ method: \"PATCH\", path: {path}, body: input }}");
                extra.push("expect(calls.at(-1)?.query).toContain(`eq.${id}`);".to_owned());
            }
            Operation::Delete => {
                status = 204;
                gives = String::new();
                asked = format!("{{ method: \"DELETE\", path: {path} }}");
            }
        },
        Work::Action(place) => {
            let action = &entity.actions[place];
            answer = cases::answer(entity, action);
            asked = cases::asked(entity, action);
            body = cases::action_input(blueprint, route.entity, action);
        }
    }
    let made = call(route, entity, alias, body.as_deref());
    let mut lines = vec![
        format!("const calls = asking(true, {answer});"),
        format!("const response = await {made};"),
        format!("expect(response.status).toBe({status});"),
    ];
    if !gives.is_empty() {
        lines.push(format!(
            "await expect(response.json()).resolves.toEqual({gives});"
        ));
    }
    lines.push(format!("expect(calls.at(-1)).toMatchObject({asked});"));
    lines.extend(extra);
    let title = format!("{} {}", route.method, address(route));
    let mut all = vec![case(blueprint, &route.trace, &title, lines)];
    if route.access == Access::Authenticated {
        all.push(Case::plain(
            format!("{title} lets nobody in who is not signed in"),
            vec![
                format!("const calls = asking(false, {answer});"),
                format!("const response = await {made};"),
                "expect(response.status).toBe(401);".to_owned(),
                "await expect(response.json()).resolves.toEqual({ error: { code: \"UNAUTHORIZED\", message: \"Sign in to continue.\" } });".to_owned(),
                "expect(calls).toEqual([]);".to_owned(),
            ],
        ));
    }
    if body.is_some() {
        let wrong = call(route, entity, alias, Some("{ no_such_field: 1 }"));
        all.push(Case::plain(
            format!("{title} refuses a body that does not fit"),
            vec![
                format!("const calls = asking(true, {answer});"),
                format!("const response = await {wrong};"),
                "expect(response.status).toBe(400);".to_owned(),
                "await expect(response.json()).resolves.toMatchObject({ error: { code: \"INVALID_INPUT\" } });".to_owned(),
                "expect(calls).toEqual([]);".to_owned(),
            ],
        ));
    }
    all
}

fn address(route: &Route) -> String {
    if let Some((_, path)) = route.source.split_once(' ') {
        return path.to_owned();
    }
    module(route)
        .trim_start_matches("@/app")
        .trim_end_matches("/route")
        .to_owned()
}

pub(super) fn add(blueprint: &Blueprint<'_>, files: &mut Vec<Draft>) -> Result<(), TemplateError> {
    for (at, entity) in blueprint.entities.iter().enumerate() {
        let own: Vec<&Route> = blueprint
            .routes
            .iter()
            .filter(|route| route.entity == at)
            .collect();
        if own.is_empty() {
            continue;
        }
        let mut modules: Vec<Module> = Vec::new();
        let mut all = Vec::new();
        for route in &own {
            let name = module(route);
            let place = modules
                .iter()
                .position(|known| known.module == name)
                .unwrap_or_else(|| {
                    modules.push(Module {
                        alias: format!("route{}", modules.len() + 1),
                        module: name.clone(),
                    });
                    modules.len() - 1
                });
            let alias = modules[place].alias.clone();
            all.extend(route_cases(blueprint, route, &alias));
        }
        let text: String = all
            .iter()
            .flat_map(|case| case.lines.iter().map(String::as_str))
            .collect();
        let uses = |word: &str| {
            text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
                .any(|part| part == word)
        };
        let create_schema = format!("{}CreateSchema", entity.camel);
        let context = Context {
            modules,
            schema_file: entity.file.clone(),
            create_schema: uses(&create_schema).then_some(create_schema),
            sample: sample_name(entity),
            key: uses("id").then(|| key(blueprint, at).unwrap_or_else(|| super::uuid(at + 1, 1))),
            input: uses("input").then(|| input(blueprint, at)),
            label: entity.label_plural.clone(),
            cases: all,
        };
        files.push(Draft::feature(
            format!("tests/{}.api.test.ts", entity.path),
            render("tests/api.test.ts", &context)?,
            &reasons(entity),
        ));
    }
    Ok(())
}
