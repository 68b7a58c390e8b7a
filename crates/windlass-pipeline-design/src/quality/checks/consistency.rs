//! Consistency: ids are unique and lead somewhere, one thing has one name everywhere.

use std::collections::BTreeMap;

use crate::model::architecture::{Architecture, RelationType};
use crate::model::quality::Level;
use crate::model::ux::UxSpec;
use crate::model::{GeneratedFile, naming};
use crate::quality::checks::defect;
use crate::quality::finding::{Dimension, Findings};
use crate::quality::outputs::Outputs;

const OF: Dimension = Dimension::Consistency;

/// The signed-in user, as a field refers to it.
const AUTH_USERS: &str = "auth.users";

pub(crate) fn check(outputs: &Outputs<'_>, findings: &mut Findings) {
    let requirements = outputs.requirements;
    let ids = requirements
        .functional
        .iter()
        .map(|one| one.id.clone())
        .chain(requirements.non_functional.iter().map(|one| one.id.clone()))
        .chain(requirements.constraints.iter().map(|one| one.id.clone()));
    unique(
        findings,
        "requirement",
        defect(outputs.given.requirements),
        ids,
    );
    for entity in &outputs.analysis.entities {
        if !entity.synonyms.is_empty() {
            findings.add(
                OF,
                "two_terms",
                Level::Low,
                format!("entity:{}", entity.name),
                format!(
                    "the spec calls {} also {}; one term is used",
                    entity.name,
                    entity.synonyms.join(", ")
                ),
            );
        }
    }
    if let Some(architecture) = outputs.architecture {
        model(outputs, architecture, findings);
        references(outputs, architecture, findings);
    }
    if let Some(ux) = outputs.ux {
        pages(outputs, ux, findings);
    }
    if let (Some(architecture), Some(files)) = (outputs.architecture, outputs.files) {
        sql(architecture, files, findings);
    }
}

fn unique(
    findings: &mut Findings,
    what: &str,
    severity: Level,
    names: impl Iterator<Item = String>,
) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    for (name, count) in counts {
        if count > 1 {
            findings.add(
                OF,
                "not_unique",
                severity,
                format!("{what}:{name}"),
                format!("{count} times the {what} {name:?}"),
            );
        }
    }
}

fn model(outputs: &Outputs<'_>, architecture: &Architecture, findings: &mut Findings) {
    let severity = defect(outputs.given.architecture);
    let entities = &architecture.data_model.entities;
    unique(
        findings,
        "table",
        severity,
        entities
            .iter()
            .map(|entity| naming::table_name(&entity.name)),
    );
    for entity in entities {
        let names = entity
            .fields
            .iter()
            .map(|field| format!("{}.{}", entity.name, field.name));
        unique(findings, "field", severity, names);
    }
    unique(
        findings,
        "endpoint",
        severity,
        architecture
            .api_design
            .endpoints
            .iter()
            .map(|endpoint| format!("{} {}", endpoint.method, endpoint.path)),
    );
    unique(
        findings,
        "policy",
        severity,
        architecture
            .security
            .policies
            .iter()
            .map(|policy| format!("{}/{}/{}", policy.table, policy.command, policy.role)),
    );
}

fn references(outputs: &Outputs<'_>, architecture: &Architecture, findings: &mut Findings) {
    let severity = defect(outputs.given.architecture);
    let model = &architecture.data_model;
    let entity = |name: &str| model.entities.iter().find(|entity| entity.name == name);
    let mut unknown = |target: String, message: String| {
        findings.add(OF, "unknown_reference", severity, target, message);
    };
    for endpoint in &architecture.api_design.endpoints {
        let id = format!("endpoint:{} {}", endpoint.method, endpoint.path);
        let Some(name) = &endpoint.entity else {
            continue;
        };
        let Some(known) = entity(name) else {
            unknown(id, format!("it is about {name}, which is not an entity"));
            continue;
        };
        for field in &endpoint.request {
            if !known.fields.iter().any(|one| one.name == *field) {
                unknown(
                    format!("{id} {field}"),
                    format!("{name} has no field {field:?}"),
                );
            }
        }
    }
    for policy in &architecture.security.policies {
        let known = model
            .entities
            .iter()
            .any(|one| naming::table_name(&one.name) == policy.table);
        if !known {
            unknown(
                format!("policy:{}", policy.table),
                format!("there is no table {}", policy.table),
            );
        }
    }
    for one in &model.entities {
        for field in &one.fields {
            let Some(target) = field.references.as_deref() else {
                continue;
            };
            if target != AUTH_USERS && entity(target).is_none() {
                unknown(
                    format!("field:{}.{}", one.name, field.name),
                    format!("it points to {target}, which is not an entity"),
                );
            }
            let related = target == AUTH_USERS
                || model
                    .relationships
                    .iter()
                    .any(|relation| relation.from == target && relation.to == one.name);
            if !related {
                unknown(
                    format!("field:{}.{} relationship", one.name, field.name),
                    format!("it points to {target}, and no relationship says so"),
                );
            }
        }
    }
    for relation in &model.relationships {
        let id = format!("relationship:{}-{}", relation.from, relation.to);
        let (Some(_), Some(to)) = (entity(&relation.from), entity(&relation.to)) else {
            unknown(id, "one of its ends is not an entity".to_owned());
            continue;
        };
        let keyed = match relation.kind {
            RelationType::OneToOne | RelationType::OneToMany => {
                relation.from == "User"
                    || to
                        .fields
                        .iter()
                        .any(|field| field.references.as_deref() == Some(&relation.from))
            }
            RelationType::ManyToMany => model.entities.iter().any(|join| {
                [&relation.from, &relation.to].into_iter().all(|end| {
                    join.fields
                        .iter()
                        .any(|field| field.references.as_ref() == Some(end))
                })
            }),
        };
        if !keyed {
            unknown(id, "no key or join table represents it".to_owned());
        }
    }
}

fn pages(outputs: &Outputs<'_>, ux: &UxSpec, findings: &mut Findings) {
    let severity = defect(outputs.given.ux);
    unique(
        findings,
        "page",
        severity,
        ux.pages.iter().map(|page| page.name.clone()),
    );
    let routes = ux.pages.iter().map(|page| page.route.clone());
    unique(
        findings,
        "route",
        severity,
        routes.filter(|route| !route.is_empty()),
    );
    if let Some(architecture) = outputs.architecture {
        for page in &ux.pages {
            let Some(name) = &page.entity else { continue };
            let known = architecture
                .data_model
                .entities
                .iter()
                .any(|entity| entity.name == *name);
            if !known {
                findings.add(
                    OF,
                    "unknown_reference",
                    severity,
                    format!("page:{}", page.name),
                    format!("it shows {name}, which is not an entity"),
                );
            }
        }
    }
    for flow in &ux.user_flows {
        for step in &flow.steps {
            let known = step.starts_with("Success")
                || ux.pages.iter().any(|page| {
                    step.strip_prefix(page.name.as_str())
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
                });
            if !known {
                findings.add(
                    OF,
                    "flow_without_page",
                    severity,
                    format!("flow:{} {step}", flow.name),
                    format!("no page has the name that the step {step:?} begins with"),
                );
            }
        }
    }
}

/// Every table is made and protected in the SQL of the project.
fn sql(architecture: &Architecture, files: &[GeneratedFile], findings: &mut Findings) {
    let statements: Vec<String> = files
        .iter()
        .filter(|file| file.path.ends_with(".sql"))
        .flat_map(|file| file.content.split(';'))
        .map(|statement| {
            statement
                .replace('"', "")
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .to_lowercase()
        })
        .collect();
    if statements.is_empty() {
        return;
    }
    for entity in &architecture.data_model.entities {
        let table = naming::table_name(&entity.name).to_lowercase();
        let about = |what: &str, rest: &str| {
            statements.iter().any(|statement| {
                statement.split_once(what).is_some_and(|(_, after)| {
                    let after = after.trim_start_matches(" if not exists").trim_start();
                    let after = after.strip_prefix("public.").unwrap_or(after);
                    after
                        .strip_prefix(table.as_str())
                        .is_some_and(|after| after.starts_with([' ', '(']) && after.contains(rest))
                })
            })
        };
        if !about("create table", "(") {
            findings.add(
                OF,
                "table_not_in_sql",
                Level::High,
                format!("entity:{}", entity.name),
                format!("no SQL file makes the table {table}"),
            );
        } else if !about("alter table", "enable row level security") {
            findings.add(
                OF,
                "table_without_rls",
                Level::High,
                format!("entity:{}", entity.name),
                format!("row-level security is not enabled on {table}"),
            );
        }
    }
}
