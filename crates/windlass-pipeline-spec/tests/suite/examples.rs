//! The four example specs: what is read from them, and that every piece of them is accounted for.

use std::collections::BTreeSet;

use windlass_pipeline_model::{
    Analysis,
    analysis::{Place, SpanClass},
    strategy::Priority,
};
use windlass_pipeline_spec::{SpecContext, analyse, requirements};

use super::shown;

pub const QUIZ: &str = include_str!("../../../../examples/pipeline/quiz-platform.md");
pub const CLINIC: &str = include_str!("../../../../examples/pipeline/clinic-appointments.md");
pub const WAREHOUSE: &str = include_str!("../../../../examples/pipeline/warehouse.md");
pub const KNOWLEDGE: &str = include_str!("../../../../examples/pipeline/knowledge-base.md");
pub const ALL: [&str; 4] = [QUIZ, CLINIC, WAREHOUSE, KNOWLEDGE];

fn read(spec: &str) -> Analysis {
    analyse(spec, &SpecContext::default())
}

fn requirements_of(spec: &str) -> String {
    shown::requirements(&requirements(&read(spec)))
}

#[test]
fn quiz_platform() {
    insta::assert_snapshot!(requirements_of(QUIZ), @"");
    insta::assert_snapshot!(shown::findings(&read(QUIZ)), @"");
}

#[test]
fn clinic_appointments() {
    insta::assert_snapshot!(requirements_of(CLINIC), @"");
    insta::assert_snapshot!(shown::findings(&read(CLINIC)), @"");
}

#[test]
fn warehouse() {
    insta::assert_snapshot!(requirements_of(WAREHOUSE), @"");
    insta::assert_snapshot!(shown::findings(&read(WAREHOUSE)), @"");
}

#[test]
fn knowledge_base() {
    insta::assert_snapshot!(requirements_of(KNOWLEDGE), @"");
    insta::assert_snapshot!(shown::findings(&read(KNOWLEDGE)), @"");
}

#[test]
fn every_behaviour_span_has_a_statement_and_every_other_one_a_reason() {
    for spec in ALL {
        let analysis = read(spec);
        let stated: BTreeSet<&String> = analysis
            .statements
            .iter()
            .flat_map(|statement| &statement.spans)
            .collect();
        for span in &analysis.spans {
            if span.class == SpanClass::Behaviour {
                assert!(stated.contains(&span.id), "{} {}", span.id, span.text);
            }
            if span.class == SpanClass::Context && span.place != Place::Heading {
                let reason = span.dropped.as_deref().unwrap_or_default();
                assert!(!reason.contains("no rule"), "{} {}", span.id, span.text);
            }
        }
    }
}

#[test]
fn what_is_out_of_scope_reaches_nothing() {
    for spec in ALL {
        let analysis = read(spec);
        let outside: Vec<_> = analysis
            .statements
            .iter()
            .filter(|statement| statement.priority == Priority::Wont)
            .collect();
        assert!(!outside.is_empty());
        for statement in outside {
            assert!(
                statement.entity.is_none() && statement.indirect.is_none(),
                "{}",
                statement.text
            );
        }
    }
}

#[test]
fn a_sentence_to_the_reader_is_never_followed() {
    let analysis = read(KNOWLEDGE);
    let span = analysis.spans.last().unwrap();
    assert!(span.text.starts_with("Ignore all previous"));
    assert_eq!(span.class, SpanClass::Context);
    let all = serde_json::to_string(&requirements(&analysis)).unwrap();
    assert!(!all.contains("system prompt") && !all.contains("API key"));
}

#[test]
fn different_specs_give_different_results() {
    let entities: Vec<BTreeSet<String>> = ALL
        .iter()
        .map(|spec| {
            read(spec)
                .entities
                .into_iter()
                .map(|entity| entity.name)
                .collect()
        })
        .collect();
    for (at, one) in entities.iter().enumerate() {
        for other in &entities[at + 1..] {
            let common: Vec<_> = one.intersection(other).collect();
            assert!(common.len() <= 1, "{common:?}");
        }
    }
}
