//! The architecture document.

use super::markdown::{Document, code, text};
use super::types;
use super::{diagram, ids};
use crate::architecture::DesignOptions;
use crate::model::analysis::Analysis;
use crate::model::architecture::{Architecture, Endpoint, RelationType};
use crate::model::strategy::{Category, Priority};
use crate::model::{Preset, Requirements, Trace, naming};
use crate::{auth, rights, sql, stack};

/// The whole document.
pub fn architecture_markdown(
    analysis: &Analysis,
    requirements: &Requirements,
    architecture: &Architecture,
    preset: Preset,
    options: &DesignOptions,
) -> String {
    let product = analysis
        .product
        .as_ref()
        .map_or("Product", |product| product.text.as_str());
    let mut doc = Document::new(&format!("{product}: architecture"));
    summary(&mut doc, analysis, requirements, architecture, options);
    platform(&mut doc, requirements, architecture, preset);
    tree(&mut doc, preset);
    doc.section("Diagram");
    doc.block("mermaid", &diagram::system(analysis, preset));
    stack_table(&mut doc, preset);
    data(&mut doc, architecture);
    doc.section("DDL");
    if architecture.data_model.entities.is_empty() {
        doc.paragraph("The product keeps nothing, so there is no schema.");
    } else {
        doc.block("sql", &sql::schema(architecture));
    }
    api(&mut doc, architecture);
    components(&mut doc, analysis, architecture, preset);
    auth_flow(&mut doc, analysis, architecture);
    sequences(&mut doc, architecture, preset);
    security(&mut doc, requirements, architecture);
    performance(&mut doc, requirements);
    testing(&mut doc, preset);
    setup(&mut doc, preset);
    deployment(&mut doc, requirements, architecture, preset);
    errors(&mut doc);
    monitoring(&mut doc, requirements);
    requirement_table(&mut doc, requirements, architecture);
    doc.finish()
}

fn summary(
    doc: &mut Document,
    analysis: &Analysis,
    requirements: &Requirements,
    architecture: &Architecture,
    options: &DesignOptions,
) {
    doc.section("Summary");
    let model = &architecture.data_model;
    doc.paragraph(&format!(
        "{} functional requirements, {} non-functional, {} constraints; {} tables, {} endpoints, {} row-level policies.",
        requirements.functional.len(),
        requirements.non_functional.len(),
        requirements.constraints.len(),
        model.entities.len(),
        architecture.api_design.endpoints.len(),
        architecture.security.policies.len(),
    ));
    let mut lines = Vec::new();
    if let Some(product) = &analysis.product {
        lines.push(format!("Product: {}", text(&product.text)));
    }
    if !architecture.security.roles.is_empty() {
        lines.push(format!(
            "Roles: {}",
            text(&architecture.security.roles.join(", "))
        ));
    }
    for (name, value) in [
        ("Industry", &options.industry),
        ("Audience", &options.target_audience),
        ("Budget tier", &options.budget_tier),
    ] {
        if let Some(value) = value {
            lines.push(format!("{name}: {}", text(value)));
        }
    }
    let out: Vec<String> = requirements
        .functional
        .iter()
        .filter(|requirement| requirement.priority == Priority::Wont)
        .map(|requirement| format!("{} {}", requirement.id, text(&requirement.description)))
        .collect();
    if !out.is_empty() {
        lines.push(format!("Out of scope: {}", out.join("; ")));
    }
    doc.list(lines);
}

fn platform(
    doc: &mut Document,
    requirements: &Requirements,
    architecture: &Architecture,
    preset: Preset,
) {
    doc.section("Platform");
    doc.paragraph(&format!(
        "{}. {}. Deployed to {}.",
        architecture.stack.frontend, architecture.stack.backend, architecture.stack.deployment
    ));
    let alternative = match preset {
        Preset::NextjsReact => [
            "Vite with React Router (preset `vite-react`): a static bundle, no server code; chosen when nothing has to run on a server.",
            "A separate API service: more to deploy and to secure; the row-level policies already decide who sees what.",
        ],
        Preset::ViteReact => [
            "Next.js (preset `nextjs-react`): server rendering and API routes; chosen when pages must be rendered on a server.",
            "A separate API service: more to deploy and to secure; the row-level policies already decide who sees what.",
        ],
    };
    doc.paragraph("Alternatives considered:");
    doc.list(alternative.map(str::to_owned));
    doc.table(
        &["constraint", "as stated"],
        requirements
            .constraints
            .iter()
            .map(|one| vec![one.id.clone(), text(&one.description)])
            .collect(),
        "The spec states no constraints.",
    );
}

fn tree(doc: &mut Document, preset: Preset) {
    doc.section("Repository");
    let tree = match preset {
        Preset::NextjsReact => {
            "src/\n  app/            pages and API routes (App Router)\n  components/     interface components\n  lib/            Supabase clients, data layer, input schemas\nsupabase/\n  migrations/0001_init.sql\n  seed.sql\ntests/            one test per requirement\ndesign-tokens.json\npackage.json"
        }
        Preset::ViteReact => {
            "src/\n  pages/          one file per page\n  components/     interface components\n  lib/            Supabase client, data modules, input schemas\nsupabase/\n  migrations/0001_init.sql\n  seed.sql\ntests/            one test per requirement\ndesign-tokens.json\nindex.html\npackage.json"
        }
    };
    doc.block("text", tree);
}

fn stack_table(doc: &mut Document, preset: Preset) {
    doc.section("Stack");
    let mut rows: Vec<Vec<String>> = stack::parts(preset)
        .map(|part| {
            vec![
                part.name.to_owned(),
                part.version().to_owned(),
                part.purpose.to_owned(),
                part.reason.to_owned(),
            ]
        })
        .collect();
    rows.push(vec![
        "PostgreSQL".to_owned(),
        "15".to_owned(),
        "data".to_owned(),
        "row-level security in the database, not in the client".to_owned(),
    ]);
    doc.table(&["part", "version", "purpose", "reason"], rows, "");
}

fn data(doc: &mut Document, architecture: &Architecture) {
    doc.section("Data model");
    let model = &architecture.data_model;
    if model.entities.is_empty() {
        doc.paragraph("The spec names nothing that is kept.");
        return;
    }
    doc.block("mermaid", &diagram::entities(architecture));
    for entity in &model.entities {
        doc.subsection(&entity.name);
        doc.paragraph(&format!(
            "Table {}. {}",
            code(&naming::table_name(&entity.name)),
            from(&entity.trace)
        ));
        doc.block("typescript", &types::interface(entity));
    }
    doc.subsection("Relationships");
    doc.table(
        &["from", "to", "type", "from the spec"],
        model
            .relationships
            .iter()
            .map(|relation| {
                let kind = match relation.kind {
                    RelationType::OneToOne => "one-to-one",
                    RelationType::OneToMany => "one-to-many",
                    RelationType::ManyToMany => "many-to-many",
                };
                vec![
                    relation.from.clone(),
                    relation.to.clone(),
                    kind.to_owned(),
                    traces(&relation.trace),
                ]
            })
            .collect(),
        "The spec states no relationships.",
    );
}

fn traces(list: &[Trace]) -> String {
    list.iter()
        .map(Trace::as_str)
        .collect::<Vec<_>>()
        .join(", ")
}

fn from(list: &[Trace]) -> String {
    format!("From {}.", traces(list))
}

fn api(doc: &mut Document, architecture: &Architecture) {
    doc.section("API");
    doc.table(
        &[
            "method",
            "path",
            "what",
            "who",
            "request",
            "response",
            "requirements",
        ],
        architecture
            .api_design
            .endpoints
            .iter()
            .map(|endpoint| {
                vec![
                    endpoint.method.clone(),
                    code(&endpoint.path),
                    text(&endpoint.description),
                    text(&endpoint.auth),
                    code(&endpoint.request.join(", ")),
                    code(&endpoint.response),
                    ids(&endpoint.trace),
                ]
            })
            .collect(),
        "No requirement states an action on something that is kept.",
    );
}

fn components(
    doc: &mut Document,
    analysis: &Analysis,
    architecture: &Architecture,
    preset: Preset,
) {
    doc.section("Components");
    let mut rows = vec![vec![
        "Pages".to_owned(),
        "what people see; from the UX specification".to_owned(),
    ]];
    rows.push(match preset {
        Preset::NextjsReact => vec![
            "API routes".to_owned(),
            "check input, call the data layer as the signed-in user, answer JSON".to_owned(),
        ],
        Preset::ViteReact => vec![
            "Data modules".to_owned(),
            "check input, call Supabase as the signed-in user".to_owned(),
        ],
    });
    for entity in &architecture.data_model.entities {
        rows.push(vec![
            format!("{} data", entity.name),
            format!(
                "typed access to {}",
                code(&naming::table_name(&entity.name))
            ),
        ]);
    }
    if stack::keeps_files(analysis) {
        rows.push(vec![
            "Storage".to_owned(),
            "uploaded files, by URL in the row".to_owned(),
        ]);
    }
    for integration in &analysis.integrations {
        rows.push(vec![
            text(&integration.text),
            format!("outside service ({})", text(&integration.kind)),
        ]);
    }
    doc.table(&["component", "does"], rows, "");
}

fn auth_flow(doc: &mut Document, analysis: &Analysis, architecture: &Architecture) {
    doc.section("Authentication");
    doc.paragraph(&format!("{}.", text(&architecture.security.auth_strategy)));
    if auth::is_needed(analysis) {
        doc.block("mermaid", diagram::sign_in());
    }
}

/// The calls worth a diagram: the first of each kind.
fn main_calls(endpoints: &[Endpoint]) -> Vec<&Endpoint> {
    let mut chosen: Vec<&Endpoint> = Vec::new();
    for endpoint in endpoints {
        let same = chosen.iter().any(|known| {
            known.method == endpoint.method
                && known.path.split('/').count() == endpoint.path.split('/').count()
        });
        if !same && chosen.len() < 4 {
            chosen.push(endpoint);
        }
    }
    chosen
}

fn sequences(doc: &mut Document, architecture: &Architecture, preset: Preset) {
    doc.section("Main flows");
    let calls = main_calls(&architecture.api_design.endpoints);
    if calls.is_empty() {
        doc.paragraph("There is no endpoint to follow.");
    }
    for endpoint in calls {
        doc.subsection(&endpoint.description);
        doc.block("mermaid", &diagram::call(endpoint, preset));
    }
}

fn security(doc: &mut Document, requirements: &Requirements, architecture: &Architecture) {
    doc.section("Security");
    let security = &architecture.security;
    doc.subsection("Who may do what");
    if !security.rights.is_empty() {
        let defaults = security
            .rights
            .iter()
            .filter(|right| rights::is_default(right))
            .count();
        doc.paragraph(&format!(
            "Review this table before the first release: {} of {} rights rest on a sentence of the spec, {defaults} on a default.",
            security.rights.len() - defaults,
            security.rights.len(),
        ));
    }
    doc.table(
        &rights::COLUMNS,
        security
            .rights
            .iter()
            .map(|right| rights::row(right).iter().map(|cell| text(cell)).collect())
            .collect(),
        "There is no table, so there is nothing to allow.",
    );
    doc.subsection("Policies");
    doc.list(security.rls_policies.iter().map(|line| text(line)));
    doc.table(
        &["table", "command", "role", "using", "with check"],
        security
            .policies
            .iter()
            .map(|policy| {
                vec![
                    code(&policy.table),
                    policy.command.clone(),
                    policy.role.clone(),
                    code(policy.using.as_deref().unwrap_or_default()),
                    code(policy.with_check.as_deref().unwrap_or_default()),
                ]
            })
            .collect(),
        "There is no table, so there is no policy.",
    );
    let stated = of_category(requirements, &[Category::Security, Category::Compliance]);
    if !stated.is_empty() {
        doc.paragraph("Stated besides:");
        doc.list(stated);
    }
}

fn of_category(requirements: &Requirements, categories: &[Category]) -> Vec<String> {
    requirements
        .non_functional
        .iter()
        .filter(|one| categories.contains(&one.category))
        .map(|one| format!("{}: {}", one.id, text(&one.description)))
        .collect()
}

fn performance(doc: &mut Document, requirements: &Requirements) {
    doc.section("Performance budgets");
    doc.table(
        &["requirement", "as stated", "measure"],
        requirements
            .non_functional
            .iter()
            .filter(|one| {
                one.metric.is_some()
                    || matches!(one.category, Category::Performance | Category::Scalability)
            })
            .map(|one| {
                vec![
                    one.id.clone(),
                    text(&one.description),
                    one.metric
                        .as_deref()
                        .map_or_else(|| "none stated".to_owned(), text),
                ]
            })
            .collect(),
        "The spec states no budget.",
    );
}

fn testing(doc: &mut Document, preset: Preset) {
    doc.section("Testing");
    let framework = match preset {
        Preset::NextjsReact => "`next build`",
        Preset::ViteReact => "`vite build`",
    };
    doc.list([
        "Unit and component tests with Vitest; one test per requirement, with its id in the name.".to_owned(),
        "Policies on a real PostgreSQL: two users see only their rows, a forged owner is refused, nobody signed in gets nothing unless it is public.".to_owned(),
        format!("`tsc --noEmit`, ESLint and {framework} on every change."),
    ]);
}

fn setup(doc: &mut Document, preset: Preset) {
    doc.section("Local setup");
    doc.paragraph("Node 20.19 or newer and a Supabase project.");
    let (url, key) = match preset {
        Preset::NextjsReact => ("NEXT_PUBLIC_SUPABASE_URL", "NEXT_PUBLIC_SUPABASE_ANON_KEY"),
        Preset::ViteReact => ("VITE_SUPABASE_URL", "VITE_SUPABASE_ANON_KEY"),
    };
    doc.table(
        &["variable", "what"],
        vec![
            vec![code(url), "the address of the Supabase project".to_owned()],
            vec![code(key), "its public key".to_owned()],
        ],
        "",
    );
    doc.block(
        "sh",
        "npm install\ncp .env.example .env.local\npsql \"$DATABASE_URL\" -f supabase/migrations/0001_init.sql\nnpm run dev\nnpm test",
    );
}

fn deployment(
    doc: &mut Document,
    requirements: &Requirements,
    architecture: &Architecture,
    preset: Preset,
) {
    doc.section("Deployment");
    let how = match preset {
        Preset::NextjsReact => "`npm run build` and the platform's Node runtime",
        Preset::ViteReact => {
            "`npm run build`, then the folder `dist`; unknown paths answer `index.html`"
        }
    };
    doc.paragraph(&format!(
        "{}: {how}. The migration is applied before the new version is live.",
        architecture.stack.deployment
    ));
    let stated = of_category(requirements, &[Category::Reliability]);
    doc.list(stated);
}

fn errors(doc: &mut Document) {
    doc.section("Error format");
    doc.block(
        "json",
        "{ \"error\": { \"code\": \"invalid_input\", \"message\": \"title: required\" } }",
    );
    doc.table(
        &["status", "code", "when"],
        [
            ("400", "invalid_input", "the input does not fit the schema"),
            ("401", "unauthenticated", "nobody is signed in"),
            ("403", "forbidden", "a policy refuses the write"),
            (
                "404",
                "not_found",
                "there is no such row, or it is not visible",
            ),
            (
                "500",
                "internal",
                "anything else; the message says nothing more",
            ),
        ]
        .into_iter()
        .map(|(status, code_, when)| vec![status.to_owned(), code(code_), when.to_owned()])
        .collect(),
        "",
    );
}

fn monitoring(doc: &mut Document, requirements: &Requirements) {
    doc.section("Monitoring");
    doc.list([
        "Errors and latency per endpoint from the host's logs.".to_owned(),
        "Slow statements and refused policies from the Supabase dashboard.".to_owned(),
    ]);
    let measured: Vec<String> = requirements
        .non_functional
        .iter()
        .filter_map(|one| {
            let metric = one.metric.as_deref()?;
            Some(format!(
                "{}: alert when {} is missed.",
                one.id,
                text(metric)
            ))
        })
        .collect();
    doc.list(measured);
}

fn requirement_table(doc: &mut Document, requirements: &Requirements, architecture: &Architecture) {
    doc.section("Requirements and components");
    let mut rows = Vec::new();
    for one in &requirements.functional {
        let wanted = Trace::requirement(&one.id);
        let endpoints: Vec<String> = architecture
            .api_design
            .endpoints
            .iter()
            .filter(|endpoint| endpoint.trace.contains(&wanted))
            .map(|endpoint| code(&format!("{} {}", endpoint.method, endpoint.path)))
            .collect();
        let met = if one.priority == Priority::Wont {
            "out of scope".to_owned()
        } else if endpoints.is_empty() {
            "pages".to_owned()
        } else {
            endpoints.join(", ")
        };
        rows.push(vec![one.id.clone(), text(&one.description), met]);
    }
    for one in &requirements.non_functional {
        rows.push(vec![
            one.id.clone(),
            text(&one.description),
            match one.category {
                Category::Security | Category::Compliance => "Security".to_owned(),
                Category::Performance | Category::Scalability => "Performance budgets".to_owned(),
                Category::Usability | Category::Accessibility => "UX specification".to_owned(),
                Category::Reliability => "Deployment".to_owned(),
                Category::Maintainability => "Testing".to_owned(),
                Category::Other => "whole product".to_owned(),
            },
        ]);
    }
    for one in &requirements.constraints {
        rows.push(vec![
            one.id.clone(),
            text(&one.description),
            "Platform".to_owned(),
        ]);
    }
    doc.table(
        &["requirement", "as stated", "met by"],
        rows,
        "There are no requirements.",
    );
}
