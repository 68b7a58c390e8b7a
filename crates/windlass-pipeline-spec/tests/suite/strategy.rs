//! The strategy of an example, and that it says nothing of its own.

use windlass_pipeline_spec::{SpecContext, analyse, strategy};

use super::examples::{ALL, CLINIC};

#[test]
fn the_clinic() {
    let context = SpecContext {
        industry: Some("health care".to_owned()),
        ..SpecContext::default()
    };
    let parts = strategy(&analyse(CLINIC, &context), &context);
    insta::assert_snapshot!(parts.summary, @"");
    let cases: Vec<String> = parts
        .edge_cases
        .iter()
        .map(|case| {
            format!(
                "{} {}: {} -> {}",
                case.id, case.severity, case.scenario, case.handling
            )
        })
        .collect();
    insta::assert_snapshot!(cases.join("\n"), @"");
    let assumptions: Vec<String> = parts
        .assumptions
        .iter()
        .map(|assumption| {
            format!(
                "{} {} {}",
                assumption.id, assumption.description, assumption.risk
            )
        })
        .collect();
    insta::assert_snapshot!(assumptions.join("\n"), @"");
}

#[test]
fn every_part_has_a_trace() {
    for spec in ALL {
        let parts = strategy(
            &analyse(spec, &SpecContext::default()),
            &SpecContext::default(),
        );
        assert!(parts.assumptions.iter().all(|item| !item.trace.is_empty()));
        assert!(parts.edge_cases.iter().all(|item| !item.trace.is_empty()));
        assert!(
            parts
                .open_questions
                .iter()
                .all(|item| !item.trace.is_empty())
        );
        assert!(parts.terminology.iter().all(|item| !item.trace.is_empty()));
        for heading in [
            "Goal",
            "Users",
            "In scope",
            "Out of scope",
            "Requirements",
            "Risks",
            "Open questions",
        ] {
            assert!(
                parts.summary.contains(&format!("## {heading}\n")),
                "{heading}"
            );
        }
    }
}

#[test]
fn a_question_of_the_spec_stays_open_and_silence_blocks() {
    let parts = strategy(
        &analyse(
            "Users can add tasks. Which languages do we need?",
            &SpecContext::default(),
        ),
        &SpecContext::default(),
    );
    assert_eq!(
        parts.open_questions[0].question,
        "Which languages do we need?"
    );
    let parts = strategy(
        &analyse("Пользователи пишут.", &SpecContext::default()),
        &SpecContext::default(),
    );
    assert!(
        parts
            .open_questions
            .iter()
            .any(|question| question.blocking)
    );
}
