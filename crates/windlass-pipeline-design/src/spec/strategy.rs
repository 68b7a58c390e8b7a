//! The strategy: goal, users, scope, counts, risks, open questions. Only from what is said.

use std::fmt::Write as _;

use crate::model::{
    Analysis, Trace,
    analysis::{Span, SpanClass, VerbKind},
    naming,
    strategy::{Assumption, ConstraintType, EdgeCase, OpenQuestion, Priority, Term},
};
use crate::spec::context::SpecContext;

/// What `aios_strategize` adds to the requirements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StrategyParts {
    /// Markdown.
    pub summary: String,
    /// Assumptions.
    pub assumptions: Vec<Assumption>,
    /// What the spec says may go wrong.
    pub edge_cases: Vec<EdgeCase>,
    /// What it leaves open.
    pub open_questions: Vec<OpenQuestion>,
    /// Its words.
    pub terminology: Vec<Term>,
}

/// The strategy of an analysis.
pub fn strategy(analysis: &Analysis, context: &SpecContext) -> StrategyParts {
    let assumptions = assumptions(analysis);
    let edge_cases = edge_cases(analysis);
    let open_questions = open_questions(analysis);
    StrategyParts {
        summary: summary(analysis, context, &edge_cases, &open_questions),
        terminology: terminology(analysis),
        assumptions,
        edge_cases,
        open_questions,
    }
}

fn traces(spans: &[String]) -> Vec<Trace> {
    spans.iter().map(|span| Trace::spec(span)).collect()
}

/// Sentences that say what the product is for.
fn goals(analysis: &Analysis) -> Vec<&Span> {
    let says_goal = |span: &&Span| {
        let line = span.text.to_lowercase();
        let heading = span
            .heading
            .as_deref()
            .map(crate::spec::section::Section::of_heading);
        let product = analysis
            .product
            .as_ref()
            .is_some_and(|product| span.text.starts_with(&format!("{} ", product.text)));
        let marked = [
            "we want", "we need", "goal", "replaces", "helps", "is a ", "so that", "purpose",
        ]
        .iter()
        .any(|word| line.contains(word));
        span.place != crate::model::analysis::Place::Heading
            && matches!(span.class, SpanClass::Context | SpanClass::Behaviour)
            && span.dropped.as_deref() != Some("addresses the reader of the spec, not the product")
            && (heading == Some(crate::spec::section::Section::Goal)
                || product
                || (span.class == SpanClass::Context && marked))
    };
    analysis.spans.iter().filter(says_goal).take(3).collect()
}

fn summary(
    analysis: &Analysis,
    context: &SpecContext,
    edge_cases: &[EdgeCase],
    questions: &[OpenQuestion],
) -> String {
    let mut out = String::new();
    if let Some(product) = &analysis.product {
        let _ = writeln!(out, "# {}\n", product.text);
    }
    let _ = writeln!(out, "## Goal\n");
    let goals = goals(analysis);
    if goals.is_empty() {
        let _ = writeln!(
            out,
            "The spec states no goal of its own; it goes straight to what the product does."
        );
    }
    for goal in goals {
        let _ = writeln!(out, "{}", goal.text);
    }
    for (label, value) in [
        ("Industry", &context.industry),
        ("Target audience", &context.target_audience),
        ("Budget tier", &context.budget_tier),
    ] {
        if let Some(value) = value
            .as_deref()
            .map(str::trim)
            .filter(|value| !value.is_empty())
        {
            let _ = writeln!(out, "\n{label}: {value}");
        }
    }
    let _ = writeln!(out, "\n## Users\n");
    if analysis.roles.is_empty() {
        let _ = writeln!(out, "The spec names no roles.");
    }
    for role in &analysis.roles {
        let mut verbs: Vec<String> = analysis
            .statements
            .iter()
            .filter(|statement| {
                statement.actor.as_deref() == Some(&role.name)
                    && !statement.negated
                    && statement.priority != Priority::Wont
            })
            .map(|statement| match &statement.object {
                Some(object) => format!(
                    "{} {}",
                    statement.verb,
                    naming::plural(&naming::human(
                        statement.entity.as_deref().unwrap_or(&object.head)
                    ))
                ),
                None => statement.verb.clone(),
            })
            .collect();
        let mut seen = std::collections::BTreeSet::new();
        verbs.retain(|verb| seen.insert(verb.clone()));
        let what = if verbs.is_empty() {
            String::new()
        } else {
            format!(": {}", verbs.join(", "))
        };
        let _ = writeln!(out, "- {}{what}", naming::sentence(&role.name));
    }
    scope(analysis, &mut out);
    counts(analysis, &mut out);
    risks(analysis, edge_cases, &mut out);
    let _ = writeln!(out, "\n## Open questions\n");
    if questions.is_empty() {
        let _ = writeln!(out, "None.");
    }
    for question in questions {
        let mark = if question.blocking { " (blocking)" } else { "" };
        let _ = writeln!(out, "- {}{mark}: {}", question.id, question.question);
    }
    out
}

fn scope(analysis: &Analysis, out: &mut String) {
    let mut seen = std::collections::BTreeSet::new();
    let (outside, inside): (Vec<_>, Vec<_>) = analysis
        .statements
        .iter()
        .filter(|statement| seen.insert(statement.requirement.clone()))
        .partition(|statement| statement.priority == Priority::Wont);
    let _ = writeln!(out, "\n## In scope\n");
    if inside.is_empty() {
        let _ = writeln!(out, "No behaviour is stated.");
    }
    for statement in inside
        .iter()
        .filter(|statement| statement.kind != VerbKind::Keep)
    {
        let _ = writeln!(out, "- {} {}", statement.requirement, statement.text);
    }
    if !analysis.entities.is_empty() {
        let names: Vec<String> = analysis
            .entities
            .iter()
            .map(|entity| naming::human(&entity.name))
            .collect();
        let _ = writeln!(out, "\nIt keeps: {}.", names.join(", "));
    }
    let _ = writeln!(out, "\n## Out of scope\n");
    if outside.is_empty() {
        let _ = writeln!(out, "Nothing is stated to be out of scope.");
    }
    for statement in outside {
        let _ = writeln!(out, "- {} {}", statement.requirement, statement.text);
    }
}

fn counts(analysis: &Analysis, out: &mut String) {
    let mut seen = std::collections::BTreeSet::new();
    let mut by_priority = [0_usize; 4];
    for statement in &analysis.statements {
        if seen.insert(statement.requirement.clone()) {
            by_priority[statement.priority as usize] += 1;
        }
    }
    let [must, should, could, wont] = by_priority;
    let _ = writeln!(
        out,
        "\n## Requirements\n\n{} functional (must {must}, should {should}, could {could}, wont {wont}), {} non-functional, {}.",
        seen.len(),
        analysis.qualities.len(),
        counted(analysis.bounds.len(), "constraint"),
    );
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 {
        format!("1 {noun}")
    } else {
        format!("{count} {}", naming::plural(noun))
    }
}

fn risks(analysis: &Analysis, edge_cases: &[EdgeCase], out: &mut String) {
    let _ = writeln!(out, "\n## Risks\n");
    let mut lines = Vec::new();
    for bound in &analysis.bounds {
        let about = match bound.kind {
            ConstraintType::Regulatory => "law or standard",
            ConstraintType::Business => "budget or deadline",
            ConstraintType::Technical => continue,
        };
        lines.push(format!("{} ({about}): {}", bound.requirement, bound.text));
    }
    for integration in &analysis.integrations {
        lines.push(format!(
            "Depends on {} ({})",
            integration.text, integration.kind
        ));
    }
    for case in edge_cases {
        lines.push(format!("{}: {}", case.id, case.scenario));
    }
    let unclear = analysis
        .weaknesses
        .iter()
        .filter(|weakness| weakness.check == "no_metric")
        .count();
    if unclear > 0 {
        lines.push(format!(
            "{} without a measure",
            counted(unclear, "quality word")
        ));
    }
    if lines.is_empty() {
        lines.push("None is stated.".to_owned());
    }
    for line in lines {
        let _ = writeln!(out, "- {line}");
    }
}

/// Taken for granted because a rule needs it though the spec only implies it.
fn assumptions(analysis: &Analysis) -> Vec<Assumption> {
    let mut found = Vec::new();
    let mut add = |description: String, risk: &str, trace: Vec<Trace>| {
        found.push(Assumption {
            id: format!("ASM-{}", found.len() + 1),
            description,
            risk: risk.to_owned(),
            trace,
        });
    };
    let owned: Vec<&String> = analysis
        .access
        .iter()
        .filter(|rule| rule.rule == crate::model::analysis::Access::Owner)
        .flat_map(|rule| &rule.spans)
        .collect();
    if analysis.sign_in.is_empty() && !owned.is_empty() {
        add(
            "People sign in because some data belongs to them.".to_owned(),
            "Without sign-in nobody can own anything.",
            traces(&owned.into_iter().cloned().collect::<Vec<_>>()),
        );
    }
    let mut seen = std::collections::BTreeSet::new();
    for statement in analysis.statements.iter().filter(|statement| {
        matches!(
            statement.verb.as_str(),
            "manage" | "maintain" | "administer"
        )
    }) {
        if seen.insert(&statement.requirement)
            && statement.entity.is_some()
            && statement.priority != Priority::Wont
        {
            add(
                format!(
                    "{}: \"{}\" means list, create, update and delete.",
                    statement.requirement, statement.verb
                ),
                "If less is meant, people can do more than they should.",
                traces(&statement.spans),
            );
        }
    }
    for relation in &analysis.relations {
        if relation.kind == crate::model::architecture::RelationType::ManyToMany {
            let many = |name: &str| naming::plural(&naming::human(name));
            add(
                format!(
                    "{} and {} belong together many to many.",
                    naming::sentence(&many(&relation.from)),
                    many(&relation.to)
                ),
                "If one side is single, the data model is simpler.",
                traces(&relation.spans),
            );
        }
    }
    found
}

/// Words that show that a condition is about something going wrong.
const TROUBLE: &[&str] = &[
    "error",
    "fail",
    "same slot",
    "negative",
    "twice",
    "two people",
    "conflict",
    "invalid",
    "missing",
    "expire",
    "below",
    "no results",
    "not been",
    "already",
    "reject",
    "decline",
    "offline",
    "exceed",
    "late",
    "timeout",
    "lost",
    "unavailable",
    "wrong",
];

fn edge_cases(analysis: &Analysis) -> Vec<EdgeCase> {
    let mut found: Vec<EdgeCase> = Vec::new();
    let mut by_scenario = std::collections::BTreeMap::new();
    let mut seen = std::collections::BTreeSet::new();
    for statement in &analysis.statements {
        let line = statement.text.to_lowercase();
        let trouble = TROUBLE.iter().any(|word| line.contains(word));
        let conditional =
            statement.condition.is_some() || statement.negated || line.contains(" that would ");
        if statement.priority == Priority::Wont
            || !trouble
            || !conditional
            || !seen.insert(&statement.requirement)
        {
            continue;
        }
        let scenario = statement.condition.as_ref().unwrap_or(&statement.text);
        let high = statement.negated || line.contains("reject") || line.contains("error");
        let trace = Trace::requirement(&statement.requirement);
        let at = *by_scenario.entry(scenario.clone()).or_insert_with(|| {
            found.push(EdgeCase {
                id: format!("EC-{}", found.len() + 1),
                scenario: crate::spec::reading::upper_first(scenario),
                handling: String::new(),
                severity: "medium".to_owned(),
                trace: Vec::new(),
            });
            found.len() - 1
        });
        let case = &mut found[at];
        if !case.handling.is_empty() {
            case.handling.push_str("; ");
        }
        case.handling.push_str(&statement.text);
        case.trace.push(trace);
        if high {
            "high".clone_into(&mut case.severity);
        }
    }
    found
}

fn open_questions(analysis: &Analysis) -> Vec<OpenQuestion> {
    let mut found: Vec<OpenQuestion> = Vec::new();
    let mut add = |question: String, blocking: bool, trace: Vec<Trace>| {
        found.push(OpenQuestion {
            id: format!("OQ-{}", found.len() + 1),
            question,
            blocking,
            trace,
        });
    };
    for span in analysis
        .spans
        .iter()
        .filter(|span| span.text.ends_with('?') && span.class == SpanClass::Context)
    {
        add(span.text.clone(), false, vec![Trace::spec(&span.id)]);
    }
    for weakness in &analysis.weaknesses {
        let question = match weakness.check.as_str() {
            "no_metric" => format!("Which measure is meant? {}.", weakness.message),
            "verb_without_object" => format!("What exactly? {}.", weakness.message),
            "contradiction" => format!("Which holds? {}.", weakness.message),
            "vague" => format!("What is meant? {}.", weakness.message),
            _ => continue,
        };
        add(
            question,
            weakness.check == "contradiction",
            traces(&weakness.spans),
        );
    }
    for entity in analysis
        .entities
        .iter()
        .filter(|entity| entity.fields.is_empty())
    {
        add(
            format!(
                "What is kept of each {}? The spec lists nothing.",
                naming::human(&entity.name)
            ),
            false,
            vec![Trace::entity(&entity.name)],
        );
    }
    if analysis.statements.is_empty() {
        let trace = analysis
            .spans
            .first()
            .map(|span| vec![Trace::spec(&span.id)])
            .unwrap_or_default();
        add(
            "What should people be able to do? No behaviour could be read from the spec."
                .to_owned(),
            true,
            trace,
        );
    }
    found
}

fn terminology(analysis: &Analysis) -> Vec<Term> {
    let term = |text: &str, kind: &str, spans: &[String]| Term {
        term: text.to_owned(),
        kind: kind.to_owned(),
        trace: traces(spans),
    };
    let roles = analysis
        .roles
        .iter()
        .map(|role| term(&role.name, "role", &role.spans));
    let entities = analysis
        .entities
        .iter()
        .map(|entity| term(&naming::human(&entity.name), "entity", &entity.spans));
    let names = analysis
        .names
        .iter()
        .map(|name| term(&name.text, "name", &name.spans));
    roles.chain(entities).chain(names).collect()
}
