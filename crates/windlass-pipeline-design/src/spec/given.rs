//! Requirements that are given: they win over the spec, and their ids stay.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{
    Analysis, InputProblem, Requirements,
    analysis::{Bound, QualityStatement, Statement},
    strategy::{Constraint, ConstraintType, Functional, NonFunctional, Priority},
};
use crate::spec::{
    analyse::{analyse, content_words},
    context::SpecContext,
};

/// The analysis of a spec whose requirements are given, e.g. by an earlier run or edited by hand.
///
/// A given requirement that says what the spec says keeps its id and takes the spec's reading. One
/// that the spec does not say is read from its own description. What only the spec says follows
/// with new ids.
pub fn from_requirements(spec: &str, given: &Requirements) -> Result<Analysis, InputProblem> {
    check(given, "/requirements")?;
    let context = SpecContext::default();
    let mut analysis = analyse(spec, &context);
    functional(&mut analysis, given);
    qualities(&mut analysis, &given.non_functional);
    bounds(&mut analysis, &given.constraints);
    Ok(analysis)
}

/// Reads requirements out of JSON: the whole output of `aios_strategize` or its inner object.
pub fn read_requirements(value: &serde_json::Value) -> Result<Requirements, InputProblem> {
    let (inner, root) = match value.get("requirements") {
        Some(inner) => (inner, "/requirements/requirements"),
        None => (value, "/requirements"),
    };
    shape(inner, root)?;
    let read: Requirements = serde_json::from_value(inner.clone()).map_err(|error| {
        InputProblem::new(
            root,
            "type",
            format!("the requirements are not in the shape of aios_strategize: {error}"),
        )
    })?;
    check(&read, root)?;
    Ok(read)
}

/// Requirements as a spec, for a caller who has nothing else: each description is one item under
/// a heading that carries its priority or kind, so that it is read as what it is.
pub fn requirements_as_spec(given: &Requirements) -> String {
    let mut out = String::new();
    let mut section = |heading: &str, items: Vec<&String>| {
        if items.is_empty() {
            return;
        }
        out.push_str("## ");
        out.push_str(heading);
        out.push_str("\n\n");
        for item in items {
            out.push_str("- ");
            out.push_str(&crate::spec::segment::collapse(item));
            out.push('\n');
        }
        out.push('\n');
    };
    for (heading, priority) in [
        ("Must have", Priority::Must),
        ("Should have", Priority::Should),
        ("Nice to have", Priority::Could),
        ("Out of scope", Priority::Wont),
    ] {
        let items = given
            .functional
            .iter()
            .filter(|item| item.priority == priority);
        section(heading, items.map(|item| &item.description).collect());
    }
    section(
        "Quality",
        given
            .non_functional
            .iter()
            .map(|item| &item.description)
            .collect(),
    );
    section(
        "Constraints",
        given
            .constraints
            .iter()
            .map(|item| &item.description)
            .collect(),
    );
    out
}

/// Names the first member that has a wrong shape.
fn shape(value: &serde_json::Value, root: &str) -> Result<(), InputProblem> {
    let Some(members) = value.as_object() else {
        return Err(InputProblem::new(
            root,
            "type",
            "requirements must be an object",
        ));
    };
    for (list, enumerated) in [
        (
            "functional",
            Some(("priority", &["must", "should", "could", "wont"][..])),
        ),
        (
            "non_functional",
            Some((
                "category",
                &[
                    "performance",
                    "security",
                    "scalability",
                    "usability",
                    "reliability",
                    "accessibility",
                    "compliance",
                    "maintainability",
                    "other",
                ][..],
            )),
        ),
        ("constraints", None),
    ] {
        let Some(items) = members.get(list) else {
            continue;
        };
        let Some(items) = items.as_array() else {
            return Err(InputProblem::new(
                format!("{root}/{list}"),
                "type",
                format!("{list} must be an array"),
            ));
        };
        for (at, item) in items.iter().enumerate() {
            for member in ["id", "description"] {
                let pointer = format!("{root}/{list}/{at}/{member}");
                match item.get(member) {
                    None => {
                        return Err(InputProblem::new(
                            pointer,
                            "required",
                            format!("{member} is missing"),
                        ));
                    }
                    Some(text) if !text.is_string() => {
                        return Err(InputProblem::new(
                            pointer,
                            "type",
                            format!("{member} must be a string"),
                        ));
                    }
                    Some(_) => {}
                }
            }
            if let Some((member, allowed)) = enumerated {
                let pointer = format!("{root}/{list}/{at}/{member}");
                let known = item
                    .get(member)
                    .and_then(|value| value.as_str())
                    .is_some_and(|value| allowed.contains(&value));
                if !known {
                    let message = format!("{member} must be one of {}", allowed.join(", "));
                    return Err(InputProblem::new(pointer, "enum", message)
                        .with("allowed", allowed.to_vec()));
                }
            }
        }
    }
    Ok(())
}

/// Ids must be there, of their kind, and used once; descriptions must not be empty.
fn check(given: &Requirements, root: &str) -> Result<(), InputProblem> {
    let functional = given
        .functional
        .iter()
        .map(|item| (&item.id, &item.description));
    let qualities = given
        .non_functional
        .iter()
        .map(|item| (&item.id, &item.description));
    let bounds = given
        .constraints
        .iter()
        .map(|item| (&item.id, &item.description));
    let lists = [
        ("functional", "FR-", functional.collect::<Vec<_>>()),
        ("non_functional", "NFR-", qualities.collect()),
        ("constraints", "CON-", bounds.collect()),
    ];
    let mut seen = BTreeSet::new();
    for (list, prefix, items) in lists {
        for (at, (id, description)) in items.into_iter().enumerate() {
            let pointer = |member: &str| format!("{root}/{list}/{at}/{member}");
            let number = id
                .strip_prefix(prefix)
                .filter(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit()));
            if number.is_none() {
                let message = format!("the id \"{id}\" must be {prefix} and a number");
                return Err(InputProblem::new(pointer("id"), "pattern", message));
            }
            if !seen.insert(id.clone()) {
                let message = format!("the id \"{id}\" is used twice");
                return Err(InputProblem::new(pointer("id"), "unique", message));
            }
            if description.trim().is_empty() {
                let message = format!("{id} has no description");
                return Err(InputProblem::new(
                    pointer("description"),
                    "minLength",
                    message,
                ));
            }
        }
    }
    Ok(())
}

/// How many given requirements in other words are compared with each statement of the spec.
const MOST_COMPARED: usize = 400;

/// What two texts have in common when they say the same.
fn normal(text: &str) -> String {
    content_words(text)
        .into_iter()
        .collect::<Vec<_>>()
        .join(" ")
}

/// The next free number behind the given ids.
fn next(ids: impl Iterator<Item = String>, prefix: &str) -> usize {
    ids.filter_map(|id| id.strip_prefix(prefix)?.parse::<usize>().ok())
        .max()
        .unwrap_or(0)
        .saturating_add(1)
}

fn functional(analysis: &mut Analysis, given: &Requirements) {
    let mut pool = Pool::new(
        std::mem::take(&mut analysis.statements),
        |statement| &statement.requirement,
        |statement| &statement.text,
    );
    let mut order: Vec<Statement> = Vec::new();
    let mut wider: Vec<(BTreeSet<String>, usize)> = Vec::new();
    for item in &given.functional {
        if let Some(statements) = pool.take(&item.description) {
            order.extend(
                statements
                    .into_iter()
                    .map(|statement| renamed(statement, item)),
            );
        } else {
            wider.push((content_words(&item.description), order.len()));
            order.extend(own(analysis, item));
        }
    }
    let mut number = next(given.functional.iter().map(|item| item.id.clone()), "FR-");
    for statements in pool.rest() {
        // What a given requirement says in other words is not said twice; its spans count for it.
        let words = content_words(&statements[0].text);
        let covered = wider
            .iter()
            .take(MOST_COMPARED)
            .find(|(given, _)| words.is_subset(given));
        if let Some((_, at)) = covered {
            let spans = &mut order[*at].spans;
            let more: Vec<String> = statements[0]
                .spans
                .iter()
                .filter(|span| !spans.contains(span))
                .cloned()
                .collect();
            spans.extend(more);
            continue;
        }
        for mut statement in statements {
            statement.requirement = format!("FR-{number}");
            order.push(statement);
        }
        number += 1;
    }
    analysis.statements = order;
}

/// What the spec says, waiting for a given requirement that says the same. Those that say the same
/// twice are taken one after the other, the one with the very same words first.
struct Pool<T> {
    groups: Vec<Option<Vec<T>>>,
    by_text: BTreeMap<String, Vec<usize>>,
    text: fn(&T) -> &String,
}

impl<T> Pool<T> {
    fn new(items: Vec<T>, id: fn(&T) -> &String, text: fn(&T) -> &String) -> Self {
        let mut groups: Vec<Option<Vec<T>>> = Vec::new();
        let mut by_text: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for item in items {
            match groups.last_mut().and_then(Option::as_mut) {
                Some(group) if group.first().is_some_and(|first| id(first) == id(&item)) => {
                    group.push(item)
                }
                _ => {
                    by_text
                        .entry(normal(text(&item)))
                        .or_default()
                        .push(groups.len());
                    groups.push(Some(vec![item]));
                }
            }
        }
        for places in by_text.values_mut() {
            places.reverse();
        }
        Self {
            groups,
            by_text,
            text,
        }
    }

    fn take(&mut self, description: &str) -> Option<Vec<T>> {
        let places = self.by_text.get_mut(&normal(description))?;
        let same = |at: &usize| {
            self.groups[*at]
                .as_ref()
                .and_then(|group| group.first())
                .is_some_and(|item| (self.text)(item) == description)
        };
        let index = places
            .iter()
            .rposition(same)
            .unwrap_or(places.len().checked_sub(1)?);
        self.groups[places.remove(index)].take()
    }

    fn rest(self) -> impl Iterator<Item = Vec<T>> {
        self.groups.into_iter().flatten()
    }
}

fn renamed(mut statement: Statement, item: &Functional) -> Statement {
    statement.requirement.clone_from(&item.id);
    statement.text.clone_from(&item.description);
    statement.priority = item.priority;
    statement
}

/// A requirement the spec does not state: read from its description, traced to the spans it names,
/// if the spec has them.
fn own(analysis: &mut Analysis, item: &Functional) -> Vec<Statement> {
    let read = analyse(&item.description, &SpecContext::default());
    let named: Vec<String> = item
        .trace
        .iter()
        .filter_map(|trace| trace.parts())
        .filter(|(kind, id)| {
            *kind == "spec" && (1..=analysis.spans.len()).contains(&crate::spec::people::number(id))
        })
        .map(|(_, id)| id.to_owned())
        .collect();
    adopt(analysis, &read, &named);
    let mut statements: Vec<Statement> = read.statements;
    statements.truncate(4);
    if statements.is_empty() {
        statements.push(Statement {
            requirement: item.id.clone(),
            text: item.description.clone(),
            spans: named.clone(),
            actor: None,
            verb: "offer".to_owned(),
            kind: crate::model::analysis::VerbKind::Other,
            object: None,
            entity: None,
            indirect: None,
            condition: None,
            negated: false,
            priority: item.priority,
        });
    }
    statements
        .into_iter()
        .map(|mut statement| {
            statement.spans.clone_from(&named);
            renamed(statement, item)
        })
        .collect()
}

/// Takes over the roles and entities a given requirement brings.
fn adopt(analysis: &mut Analysis, read: &Analysis, spans: &[String]) {
    for role in &read.roles {
        if !analysis.roles.iter().any(|known| known.name == role.name) {
            let mut role = role.clone();
            role.spans = spans.to_vec();
            analysis.roles.push(role);
        }
    }
    for entity in &read.entities {
        if !analysis
            .entities
            .iter()
            .any(|known| known.name == entity.name)
        {
            let mut entity = entity.clone();
            entity.spans = spans.to_vec();
            for field in &mut entity.fields {
                field.spans = spans.to_vec();
            }
            analysis.entities.push(entity);
        }
    }
}

fn qualities(analysis: &mut Analysis, given: &[NonFunctional]) {
    let mut pool = Pool::new(
        std::mem::take(&mut analysis.qualities),
        |quality| &quality.requirement,
        |quality| &quality.text,
    );
    for item in given {
        let said = pool
            .take(&item.description)
            .and_then(|mut group| group.pop());
        analysis.qualities.push(QualityStatement {
            requirement: item.id.clone(),
            text: item.description.clone(),
            category: item.category,
            metric: item
                .metric
                .clone()
                .or_else(|| said.as_ref()?.metric.clone()),
            spans: said.map(|quality| quality.spans).unwrap_or_default(),
        });
    }
    let first = next(given.iter().map(|item| item.id.clone()), "NFR-");
    for (index, mut quality) in pool.rest().flatten().enumerate() {
        quality.requirement = format!("NFR-{}", first + index);
        analysis.qualities.push(quality);
    }
}

fn bounds(analysis: &mut Analysis, given: &[Constraint]) {
    let mut pool = Pool::new(
        std::mem::take(&mut analysis.bounds),
        |bound| &bound.requirement,
        |bound| &bound.text,
    );
    for item in given {
        let said = pool
            .take(&item.description)
            .and_then(|mut group| group.pop());
        let kind = item.kind.or_else(|| said.as_ref().map(|bound| bound.kind));
        analysis.bounds.push(Bound {
            requirement: item.id.clone(),
            text: item.description.clone(),
            kind: kind.unwrap_or(ConstraintType::Technical),
            spans: said.map(|bound| bound.spans).unwrap_or_default(),
        });
    }
    let first = next(given.iter().map(|item| item.id.clone()), "CON-");
    for (index, mut bound) in pool.rest().flatten().enumerate() {
        bound.requirement = format!("CON-{}", first + index);
        analysis.bounds.push(bound);
    }
}
