//! `src/app/api/**/route.ts` of a Next project: who asks, is the input right, what comes out.

use std::collections::BTreeMap;

use serde::Serialize;
use windlass_pipeline_design::model::{Preset, Trace};

use super::{Draft, data};
use crate::blueprint::{Blueprint, Entity, Operation, Route, Segment, Work};
use crate::escape::ts_key;
use crate::templates::{TemplateError, render};

#[derive(Serialize)]
struct Context {
    imports: Vec<String>,
    parameters: Vec<String>,
    methods: Vec<Method>,
}

#[derive(Serialize)]
struct Method {
    verb: String,
    about: String,
    access: &'static str,
    arguments: &'static str,
    lines: Vec<String>,
}

/// What a route takes from other modules.
#[derive(Default)]
struct Uses {
    schemas: BTreeMap<String, Vec<String>>,
    data: BTreeMap<String, Vec<String>>,
    respond: Vec<String>,
}

impl Uses {
    fn note(list: &mut Vec<String>, name: String) {
        if !list.contains(&name) {
            list.push(name);
        }
    }

    fn schema(&mut self, entity: &Entity, name: String) {
        Self::note(self.schemas.entry(entity.file.clone()).or_default(), name);
    }

    fn function(&mut self, entity: &Entity, name: &str) {
        Self::note(
            self.data.entry(entity.path.clone()).or_default(),
            name.to_owned(),
        );
    }

    fn respond(&mut self, name: &str) {
        Self::note(&mut self.respond, name.to_owned());
    }

    fn lines(mut self) -> Vec<String> {
        let mut lines = Vec::new();
        for (file, mut names) in self.schemas {
            names.sort();
            lines.push(format!(
                "import {{ {} }} from \"@/lib/schemas/{file}\";",
                names.join(", ")
            ));
        }
        for (file, mut names) in self.data {
            names.sort();
            lines.push(format!(
                "import {{ {} }} from \"@/server/data/{file}\";",
                names.join(", ")
            ));
        }
        self.respond.sort();
        lines.push(format!(
            "import {{ {} }} from \"@/server/respond\";",
            self.respond.join(", ")
        ));
        lines
    }
}

fn method(route: &Route, blueprint: &Blueprint<'_>, uses: &mut Uses) -> Method {
    let entity = &blueprint.entities[route.entity];
    let parameters = route.parameters();
    let last = parameters.last().copied().unwrap_or("id");
    let mut lines = Vec::new();
    let mut takes_request = false;
    uses.respond("respond");
    let read_id = |uses: &mut Uses, owner: &Entity| {
        uses.respond("checked");
        uses.schema(owner, format!("{}IdSchema", owner.camel));
        format!(
            "const id = checked({}IdSchema, (await params).{last});",
            owner.camel
        )
    };
    match route.work {
        Work::Operation { operation, parent } => {
            let name = data::function_name(entity, operation);
            uses.function(entity, &name);
            match operation {
                Operation::List => {
                    let has_filters = entity.filters().next().is_some();
                    let parent = parent.and_then(|parent| {
                        entity
                            .reference_to(parent)
                            .map(|field| (&blueprint.entities[parent], field))
                    });
                    if let Some((owner, field)) = parent {
                        lines.push(read_id(uses, owner));
                        lines.push(format!(
                            "return Response.json(await {name}(client, {{ {}: id }}));",
                            ts_key(&field.column)
                        ));
                    } else if has_filters {
                        takes_request = true;
                        uses.respond("checked");
                        uses.schema(entity, format!("{}FilterSchema", entity.camel));
                        lines.push(
                            "const query = Object.fromEntries(new URL(request.url).searchParams);"
                                .to_owned(),
                        );
                        lines.push(format!(
                            "const filter = checked({}FilterSchema, query);",
                            entity.camel
                        ));
                        lines.push(format!(
                            "return Response.json(await {name}(client, filter));"
                        ));
                    } else {
                        lines.push(format!("return Response.json(await {name}(client));"));
                    }
                }
                Operation::Read => {
                    lines.push(read_id(uses, entity));
                    lines.push(format!("return Response.json(await {name}(client, id));"));
                }
                Operation::Create => {
                    takes_request = true;
                    uses.respond("checked");
                    uses.respond("readBody");
                    uses.schema(entity, format!("{}CreateSchema", entity.camel));
                    let parent = parent.and_then(|parent| {
                        entity
                            .reference_to(parent)
                            .map(|field| (&blueprint.entities[parent], field))
                    });
                    if let Some((owner, field)) = parent {
                        let key = ts_key(&field.column);
                        lines.push(read_id(uses, owner));
                        lines.push(format!("const rest = checked({}CreateSchema.omit({{ {key}: true }}), await readBody(request));", entity.camel));
                        lines.push(format!("const input = {{ ...rest, {key}: id }};"));
                    } else {
                        lines.push(format!(
                            "const input = checked({}CreateSchema, await readBody(request));",
                            entity.camel
                        ));
                    }
                    lines.push(format!(
                        "return Response.json(await {name}(client, input), {{ status: 201 }});"
                    ));
                }
                Operation::Update => {
                    takes_request = true;
                    lines.push(read_id(uses, entity));
                    uses.respond("readBody");
                    uses.schema(entity, format!("{}UpdateSchema", entity.camel));
                    lines.push(format!(
                        "const changes = checked({}UpdateSchema, await readBody(request));",
                        entity.camel
                    ));
                    lines.push(format!(
                        "return Response.json(await {name}(client, id, changes));"
                    ));
                }
                Operation::Delete => {
                    lines.push(read_id(uses, entity));
                    lines.push(format!("await {name}(client, id);"));
                    lines.push("return new Response(null, { status: 204 });".to_owned());
                }
            }
        }
        Work::Action(place) => {
            let action = &entity.actions[place];
            uses.function(entity, &action.name);
            lines.push(read_id(uses, entity));
            if action.inputs.is_empty() {
                lines.push(format!(
                    "return Response.json(await {}(client, id));",
                    action.name
                ));
            } else {
                takes_request = true;
                uses.respond("readBody");
                uses.schema(entity, format!("{}Schema", action.name));
                lines.push(format!(
                    "const input = checked({}Schema, await readBody(request));",
                    action.name
                ));
                lines.push(format!(
                    "return Response.json(await {}(client, id, input));",
                    action.name
                ));
            }
        }
    }
    let takes_params = lines.iter().any(|line| line.contains("await params"));
    Method {
        verb: route.method.clone(),
        about: format!("{}.", route.about.trim_end_matches('.')),
        access: route.access.as_str(),
        arguments: match (takes_request, takes_params) {
            (true, true) => "request: Request, { params }: Context",
            (false, true) => "_request: Request, { params }: Context",
            (true, false) => "request: Request",
            (false, false) => "",
        },
        lines,
    }
}

/// The file of a route: `src/app/api/quizzes/[id]/route.ts`.
pub(super) fn file(segments: &[Segment]) -> String {
    let parts: Vec<String> = segments
        .iter()
        .map(|segment| match segment {
            Segment::Fixed(name) => name.clone(),
            Segment::Parameter(name) => format!("[{name}]"),
        })
        .collect();
    format!("src/app/{}/route.ts", parts.join("/"))
}

pub(super) fn add(blueprint: &Blueprint<'_>, files: &mut Vec<Draft>) -> Result<(), TemplateError> {
    if blueprint.preset != Preset::NextjsReact {
        return Ok(());
    }
    let mut by_file: BTreeMap<String, Vec<&Route>> = BTreeMap::new();
    for route in &blueprint.routes {
        by_file
            .entry(file(&route.segments))
            .or_default()
            .push(route);
    }
    for (path, routes) in by_file {
        let mut uses = Uses::default();
        let methods: Vec<Method> = routes
            .iter()
            .map(|route| method(route, blueprint, &mut uses))
            .collect();
        let takes_params = methods
            .iter()
            .any(|method| method.arguments.contains("Context"));
        let context = Context {
            imports: uses.lines(),
            parameters: if takes_params {
                routes[0]
                    .parameters()
                    .iter()
                    .map(ToString::to_string)
                    .collect()
            } else {
                Vec::new()
            },
            methods,
        };
        let trace: Vec<Trace> = routes
            .iter()
            .flat_map(|route| route.trace.iter().cloned())
            .collect();
        files.push(Draft::feature(
            path,
            render("code/route.ts", &context)?,
            &trace,
        ));
    }
    Ok(())
}
