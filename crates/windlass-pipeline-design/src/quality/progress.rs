//! How far each requirement is met: what works, what is only recorded, what is only text.
//!
//! A requirement works when a page or a policy of the project does it and nothing that its sentence
//! states is left out. Conditions, limits and listed fields count, so the figure cannot flatter.

use crate::model::analysis::{Statement, VerbKind};
use crate::model::architecture::EntityModel;
use crate::model::code::Served;
use crate::model::coverage::{Coverage, Progress, Works};
use crate::model::naming;
use crate::model::strategy::Priority;
use crate::quality::outputs::Outputs;
use crate::spec::fields;

/// Words that begin a condition which no page checks.
const LIMITS: &[&str] = &[
    " as long as ",
    " at least ",
    " at most ",
    " automatically",
    " before ",
    " by email",
    " every ",
    " less than ",
    " more than ",
    " no more than ",
    " not more than ",
    " once ",
    " only ",
    " unless ",
    " until ",
    " up to ",
    " when ",
    " while ",
    " within ",
];

/// What is listed in a sentence as kept: `a title, a length and a level`.
fn listed(text: &str) -> Option<&str> {
    [" with ", " has ", " have ", " including ", ": "]
        .iter()
        .filter_map(|mark| text.split_once(mark).map(|(_, list)| list))
        .max_by_key(|list| list.len())
        .filter(|list| list.contains(',') || list.contains(" and "))
}

/// The items that a sentence lists and that no field and no other entity holds.
pub(crate) fn dropped_fields(
    outputs: &Outputs<'_>,
    statement: &Statement,
    entity: &EntityModel,
) -> Vec<String> {
    let keeps = matches!(statement.kind, VerbKind::Create | VerbKind::Keep);
    let Some(list) = listed(&statement.text).filter(|_| keeps && !statement.negated) else {
        return Vec::new();
    };
    let items = fields::items(list);
    if items.len() < 2 {
        return Vec::new();
    }
    let words = |name: &str| -> Vec<String> { name.split('_').map(naming::singular).collect() };
    let known: Vec<Vec<String>> = entity
        .fields
        .iter()
        .map(|field| words(&field.name))
        .chain(
            outputs
                .architecture
                .iter()
                .flat_map(|architecture| &architecture.data_model.entities)
                .map(|entity| words(&naming::snake(&entity.name))),
        )
        .collect();
    items
        .into_iter()
        .filter(|item| !item.name.is_empty() && item.name.len() <= 40)
        .filter(|item| {
            let wanted = words(&item.name);
            let last = wanted.last().cloned().unwrap_or_default();
            !known.iter().any(|field| field.contains(&last))
        })
        .map(|item| item.text)
        .collect()
}

/// Whether a sentence states more than its verb: a number, a condition, an order.
fn states_more(statement: &Statement) -> Option<&'static str> {
    let text = format!(" {} ", statement.text.to_lowercase());
    let sorted = text.contains(" sorted by ") || text.contains(" ordered by ");
    if statement.kind == VerbKind::Keep {
        return None;
    }
    if statement.condition.is_some() || LIMITS.iter().any(|limit| text.contains(limit)) {
        Some("its condition is not checked")
    } else if text.chars().any(|c| c.is_ascii_digit()) {
        Some("its number is not checked")
    } else if sorted {
        Some("the order is not kept")
    } else {
        None
    }
}

/// How far one requirement is met, and what is missing.
fn progress(outputs: &Outputs<'_>, id: &str, served: Option<Served>) -> (Progress, String) {
    let statements: Vec<&Statement> = outputs
        .analysis
        .statements
        .iter()
        .filter(|statement| statement.requirement == id)
        .collect();
    let model = outputs
        .architecture
        .map(|architecture| &architecture.data_model);
    let entity = |statement: &Statement| {
        let name = statement.entity.as_deref()?;
        model?.entities.iter().find(|entity| entity.name == name)
    };
    if let Some(refused) = statements.iter().find(|statement| statement.negated) {
        let kept = outputs.architecture.is_some_and(|architecture| {
            architecture.security.rights.iter().any(|right| {
                right.basis.contains(refused.text.as_str())
                    && refused.entity.as_deref() == Some(&right.entity)
            })
        });
        return if kept && refused.condition.is_none() {
            (Progress::Works, String::new())
        } else {
            (Progress::Text, "nothing prevents it".to_owned())
        };
    }
    match served {
        None => (
            Progress::Text,
            "no page does it; it is only written down".to_owned(),
        ),
        Some(Served::Recorded) => (
            Progress::Recorded,
            "the project records that it happened, and nothing else changes".to_owned(),
        ),
        Some(Served::Works) => {
            let dropped: Vec<String> = statements
                .iter()
                .filter_map(|statement| Some((statement, entity(statement)?)))
                .flat_map(|(statement, entity)| dropped_fields(outputs, statement, entity))
                .collect();
            if !dropped.is_empty() {
                return (
                    Progress::Partly,
                    format!("no field holds {}", dropped.join(", ")),
                );
            }
            match statements
                .iter()
                .find_map(|statement| states_more(statement))
            {
                Some(missing) => (Progress::Partly, missing.to_owned()),
                None => (Progress::Works, String::new()),
            }
        }
    }
}

/// Notes for every requirement how far it is met, and counts. Before there is code nothing is known.
pub(crate) fn note(outputs: &Outputs<'_>, coverage: &mut Coverage) {
    let Some(served) = outputs.served else {
        return;
    };
    let mut works = Works::default();
    for one in &outputs.requirements.functional {
        let Some(covered) = coverage
            .requirements
            .iter_mut()
            .find(|covered| covered.id == one.id)
        else {
            continue;
        };
        let (status, missing) = if one.priority == Priority::Wont {
            (Progress::OutOfScope, String::new())
        } else {
            progress(outputs, &one.id, served.get(&one.id).copied())
        };
        match status {
            Progress::Works => works.works += 1,
            Progress::Partly => works.partly += 1,
            Progress::Recorded => works.recorded += 1,
            Progress::Text => works.text += 1,
            Progress::OutOfScope => {}
        }
        works.requirements += u32::from(status != Progress::OutOfScope);
        covered.status = Some(status);
        covered.missing = missing;
    }
    coverage.percent = (works.works * 100)
        .checked_div(works.requirements)
        .unwrap_or(0);
    coverage.works = Some(works);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::architecture;
    use crate::example::Example;
    use crate::model::Preset;
    use crate::quality::coverage;

    #[test]
    fn only_what_works_counts() {
        let example = Example::default()
            .entity("Talk: title")
            .says("speaker", VerbKind::Create, "submit", "a talk")
            .says("speaker", VerbKind::List, "see", "talks")
            .says("speaker", VerbKind::Other, "star", "a talk")
            .says("speaker", VerbKind::Other, "dance", "")
            .says_so("speaker", VerbKind::Update, "edit", "a talk", |statement| {
                statement.text = "Speakers edit a talk until the deadline".to_owned();
            })
            .says_so(
                "speaker",
                VerbKind::Delete,
                "delete",
                "talks",
                |statement| {
                    statement.negated = true;
                    statement.actor = None;
                },
            )
            .says_so("speaker", VerbKind::Create, "file", "a talk", |statement| {
                statement.text = "Speakers file a talk with a title and a length".to_owned();
            })
            .says_so("", VerbKind::Other, "pay", "a talk", |statement| {
                statement.priority = Priority::Wont;
            });
        let requirements = example.requirements();
        let made = architecture(&example.analysis, &requirements, Preset::ViteReact);
        let served = BTreeMap::from([
            ("FR-1".to_owned(), Served::Works),
            ("FR-2".to_owned(), Served::Works),
            ("FR-3".to_owned(), Served::Recorded),
            ("FR-5".to_owned(), Served::Works),
            ("FR-7".to_owned(), Served::Works),
        ]);
        let coverage = coverage(&Outputs {
            architecture: Some(&made),
            served: Some(&served),
            ..Outputs::new(&example.analysis, &requirements)
        });
        let shown: Vec<String> = coverage
            .requirements
            .iter()
            .map(|one| format!("{} {:?} {}", one.id, one.status.unwrap(), one.missing))
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        FR-1 Works 
        FR-2 Works 
        FR-3 Recorded the project records that it happened, and nothing else changes
        FR-4 Text no page does it; it is only written down
        FR-5 Partly its condition is not checked
        FR-6 Works 
        FR-7 Partly no field holds length
        FR-8 OutOfScope 
        ");
        assert_eq!(coverage.percent, 42);
        let works = coverage.works.unwrap();
        assert_eq!(
            (
                works.requirements,
                works.works,
                works.partly,
                works.recorded,
                works.text
            ),
            (7, 3, 2, 1, 1)
        );
    }
}
