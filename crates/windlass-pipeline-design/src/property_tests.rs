//! What holds for any analysis.

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::architecture::DesignOptions;
use crate::example::Example;
use crate::model::analysis::{Access, VerbKind};
use crate::model::architecture::{Architecture, RelationType};
use crate::model::strategy::Priority;
use crate::model::trace::rule;
use crate::model::ux::UxSpec;
use crate::model::{Preset, Requirements, Trace, naming};
use crate::{architecture, architecture_markdown, ux, ux_markdown};

const ENTITIES: [&str; 7] = [
    "Quiz: title, status (draft, published)",
    "Question: text",
    "Team: name",
    "TeamMember: nickname",
    "Order: order, tags",
    "User: email",
    "Tag",
];
const ACTORS: [&str; 7] = [
    "",
    "user",
    "visitor",
    "system",
    "teacher",
    "member",
    "team owner",
];
const KINDS: [VerbKind; 9] = [
    VerbKind::Create,
    VerbKind::Read,
    VerbKind::List,
    VerbKind::Update,
    VerbKind::Delete,
    VerbKind::SignIn,
    VerbKind::SignUp,
    VerbKind::Keep,
    VerbKind::Other,
];
const OBJECTS: [&str; 9] = [
    "",
    "a quiz",
    "their quizzes",
    "all questions",
    "teams",
    "their own orders",
    "reports",
    "users",
    "published quizzes",
];
const PAGES: [&str; 9] = [
    "Dashboard",
    "Landing page",
    "Quizzes",
    "quizzes",
    "Quiz Editor",
    "Sign up",
    "API",
    "日本",
    "Team Health",
];

fn rules() -> impl Strategy<Value = Access> {
    prop_oneof![
        Just(Access::Owner),
        Just(Access::PublicRead),
        Just(Access::ParentOwner("Quiz".to_owned())),
        Just(Access::RoleRead("teacher".to_owned())),
        Just(Access::RoleAll("user".to_owned())),
        Just(Access::Members("Team".to_owned())),
        Just(Access::Members("guild".to_owned())),
    ]
}

fn relation_kinds() -> impl Strategy<Value = RelationType> {
    prop_oneof![
        Just(RelationType::OneToOne),
        Just(RelationType::OneToMany),
        Just(RelationType::ManyToMany),
    ]
}

fn name_of(entity: usize) -> &'static str {
    ENTITIES[entity].split(':').next().unwrap_or_default()
}

prop_compose! {
    fn examples()(
        entities in prop::collection::btree_set(0..ENTITIES.len(), 0..ENTITIES.len()),
        relations in prop::collection::vec((0..ENTITIES.len(), 0..ENTITIES.len(), relation_kinds()), 0..8),
        statements in prop::collection::vec(
            (0..ACTORS.len(), 0..KINDS.len(), 0..OBJECTS.len(), any::<bool>(), 0..6_u8, prop::option::of(0..ENTITIES.len())),
            0..14,
        ),
        access in prop::collection::vec((prop::option::of(0..ENTITIES.len()), rules(), any::<bool>()), 0..5),
        pages in prop::collection::vec(0..PAGES.len(), 0..6),
    ) -> Example {
        let mut example = Example::default();
        for entity in entities {
            example = example.entity(ENTITIES[entity]);
        }
        for (from, to, kind) in relations {
            example = example.relation(name_of(from), name_of(to), kind);
        }
        for (actor, kind, object, negated, priority, indirect) in statements {
            let verb = if kind == 8 { "publish" } else { "do" };
            example = example.says_so(ACTORS[actor], KINDS[kind], verb, OBJECTS[object], |statement| {
                statement.negated = negated && priority > 2;
                statement.indirect = indirect.map(|at| name_of(at).to_owned());
                statement.priority = match priority {
                    0 => Priority::Wont,
                    1 => Priority::Could,
                    _ => Priority::Must,
                };
            });
        }
        for (entity, rule, narrowed) in access {
            let when = narrowed.then_some(("status", "published"));
            example = example.rule_when(entity.map_or("", name_of), rule, when);
        }
        for page in pages {
            example = example.page(PAGES[page]);
        }
        example
    }
}

fn all_traces<'a>(architecture: &'a Architecture, ux: &'a UxSpec) -> Vec<(String, &'a [Trace])> {
    let mut all: Vec<(String, &[Trace])> = Vec::new();
    for entity in &architecture.data_model.entities {
        all.push((entity.name.clone(), &entity.trace));
        for field in &entity.fields {
            all.push((format!("{}.{}", entity.name, field.name), &field.trace));
        }
    }
    for one in &architecture.data_model.relationships {
        all.push((format!("{}-{}", one.from, one.to), &one.trace));
    }
    for one in &architecture.api_design.endpoints {
        all.push((one.path.clone(), &one.trace));
    }
    for one in &architecture.security.policies {
        all.push((format!("{}/{}", one.table, one.command), &one.trace));
    }
    for one in &architecture.security.functions {
        all.push((one.name.clone(), &one.trace));
    }
    for one in &ux.pages {
        all.push((one.name.clone(), &one.trace));
    }
    for one in &ux.user_flows {
        all.push((one.name.clone(), &one.trace));
    }
    all
}

fn resolves(
    example: &Example,
    requirements: &Requirements,
    model: &Architecture,
    trace: &Trace,
) -> bool {
    match trace.parts() {
        Some(("spec", id)) => example.analysis.spans.iter().any(|span| span.id == id),
        Some(("req", id)) => requirements.functional.iter().any(|one| one.id == id),
        Some(("entity", name)) => model.data_model.entities.iter().any(|one| one.name == name),
        Some(("default", name)) => rule::ALL.contains(&name),
        _ => false,
    }
}

fn unique<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Result<(), TestCaseError> {
    let mut seen = BTreeSet::new();
    for name in names {
        prop_assert!(seen.insert(name), "{what} {name:?} twice");
    }
    Ok(())
}

/// Tables that the policies of a table read by themselves, not through a function.
fn reads(architecture: &Architecture, table: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for policy in &architecture.security.policies {
        if policy.table != table {
            continue;
        }
        for text in policy.using.iter().chain(&policy.with_check) {
            for part in text.split("from public.").skip(1) {
                found.extend(part.split_whitespace().next().map(str::to_owned));
            }
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_analysis_produces_a_complete_design(example in examples()) {
        let requirements = example.requirements();
        let analysis = &example.analysis;
        let design = architecture(analysis, &requirements, Preset::NextjsReact);
        let pages = ux(analysis, &requirements, &design, None);

        prop_assert_eq!(&design, &architecture(analysis, &requirements, Preset::NextjsReact));
        prop_assert_eq!(&pages, &ux(analysis, &requirements, &design, None));

        let entities = &design.data_model.entities;
        let tables: Vec<String> = entities.iter().map(|one| naming::table_name(&one.name)).collect();
        unique("table", tables.iter().map(String::as_str))?;
        unique("page", pages.pages.iter().map(|page| page.name.as_str()))?;
        unique("route", pages.pages.iter().map(|page| page.route.as_str()))?;
        unique("flow", pages.user_flows.iter().map(|flow| flow.name.as_str()))?;
        let endpoints: Vec<String> = design.api_design.endpoints.iter()
            .map(|one| format!("{} {}", one.method, one.path)).collect();
        unique("endpoint", endpoints.iter().map(String::as_str))?;

        for entity in entities {
            unique(&entity.name, entity.fields.iter().map(|field| field.name.as_str()))?;
            prop_assert_eq!(entity.fields.iter().filter(|field| field.primary).count(), 1);
            for field in &entity.fields {
                if let Some(target) = &field.references {
                    let known = target == "auth.users" || entities.iter().any(|one| one.name == *target);
                    prop_assert!(known, "{} -> {target}", field.name);
                    let related = target == "auth.users" || design.data_model.relationships.iter()
                        .any(|one| one.from == *target && one.to == entity.name);
                    prop_assert!(related, "{}.{} has no relationship", entity.name, field.name);
                }
            }
        }
        for table in &tables {
            for command in ["select", "insert", "update", "delete"] {
                let count = design.security.policies.iter()
                    .filter(|one| one.table == *table && one.command == command && one.role == "authenticated")
                    .count();
                prop_assert_eq!(count, 1, "{}/{}", table, command);
            }
            // No policy leads back to the table it is on.
            let mut open: Vec<String> = reads(&design, table).into_iter().collect();
            let mut seen = BTreeSet::new();
            while let Some(at) = open.pop() {
                prop_assert_ne!(&at, table, "{:?}", design.security.policies);
                if seen.insert(at.clone()) {
                    open.extend(reads(&design, &at));
                }
            }
        }
        for (name, traces) in all_traces(&design, &pages) {
            prop_assert!(!traces.is_empty(), "{name} has no trace");
            for trace in traces {
                prop_assert!(resolves(&example, &requirements, &design, trace), "{name}: {trace:?}");
            }
        }
        for requirement in &requirements.functional {
            let wanted = Trace::requirement(&requirement.id);
            let reached = pages.pages.iter().any(|page| page.trace.contains(&wanted));
            prop_assert_eq!(reached, requirement.priority != Priority::Wont, "{}", requirement.id);
            if requirement.priority == Priority::Wont {
                prop_assert!(!design.api_design.endpoints.iter().any(|one| one.trace.contains(&wanted)));
            }
        }
        for page in &pages.pages {
            prop_assert!(!page.components.is_empty());
            for component in &page.components {
                prop_assert!(component.starts_with(|c: char| c.is_ascii_uppercase())
                    && component.chars().all(|c| c.is_ascii_alphanumeric()), "{component}");
            }
        }
        prop_assert_eq!(pages.pages.iter().filter(|page| page.route == "/").count(), 1);

        let options = DesignOptions::default();
        let text = architecture_markdown(analysis, &requirements, &design, Preset::NextjsReact, &options);
        prop_assert!(text.ends_with('\n'));
        prop_assert!(ux_markdown(analysis, &requirements, &pages, None).ends_with('\n'));
    }
}
