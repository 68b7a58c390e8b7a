//! Requirements that are given back.

use serde_json::json;
use windlass_pipeline_design::model::{
    Requirements, Trace,
    strategy::{Functional, Priority},
};
use windlass_pipeline_design::spec::{
    SpecContext, analyse, from_requirements, read_requirements, requirements, requirements_as_spec,
};

use super::examples::{ALL, QUIZ};

fn ids(requirements: &Requirements) -> Vec<(String, String)> {
    requirements
        .functional
        .iter()
        .map(|item| (item.id.clone(), item.description.clone()))
        .collect()
}

#[test]
fn ids_stay_when_the_spec_is_edited() {
    let before = requirements(&analyse(QUIZ, &SpecContext::default()));
    let edited = QUIZ.replace(
        "- Teachers can publish a quiz",
        "- Teachers can archive a quiz.\n- Teachers can publish a quiz",
    );
    let after = requirements(&from_requirements(&edited, &before).unwrap());
    let next = format!("FR-{}", before.functional.len() + 1);
    for (id, description) in ids(&before) {
        assert!(ids(&after).contains(&(id, description)));
    }
    assert!(ids(&after).contains(&(next, "Teachers can archive a quiz".to_owned())));
    let others = |requirements: &Requirements| {
        let qualities = requirements
            .non_functional
            .iter()
            .map(|item| (item.id.clone(), item.description.clone()));
        let bounds = requirements
            .constraints
            .iter()
            .map(|item| (item.id.clone(), item.description.clone()));
        qualities.chain(bounds).collect::<Vec<_>>()
    };
    assert_eq!(others(&after), others(&before));
}

#[test]
fn the_same_words_keep_their_id_however_they_are_spelled() {
    let mut given = requirements(&analyse(
        "Teachers can create quizzes.",
        &SpecContext::default(),
    ));
    given.functional[0].id = "FR-7".to_owned();
    given.functional[0].priority = Priority::Should;
    let after = requirements(
        &from_requirements(
            "A teacher can create a quiz. Teachers can delete quizzes.",
            &given,
        )
        .unwrap(),
    );
    assert_eq!(after.functional[0].id, "FR-7");
    assert_eq!(
        after.functional[0].description,
        "Teachers can create quizzes"
    );
    assert_eq!(after.functional[0].priority, Priority::Should);
    assert_eq!(after.functional[1].id, "FR-8");
}

#[test]
fn a_requirement_the_spec_does_not_state_is_read_from_its_description() {
    let given = Requirements {
        functional: vec![Functional {
            id: "FR-1".to_owned(),
            description: "Librarians can lend books".to_owned(),
            priority: Priority::Must,
            acceptance: Vec::new(),
            trace: vec![Trace::spec("S-1"), Trace::spec("S-99")],
        }],
        ..Requirements::default()
    };
    let analysis = from_requirements("A library for schools.", &given).unwrap();
    assert_eq!(analysis.statements[0].actor.as_deref(), Some("librarian"));
    assert_eq!(analysis.statements[0].spans, ["S-1"]);
    assert!(analysis.roles.iter().any(|role| role.name == "librarian"));
}

#[test]
fn what_is_stated_twice_is_returned_twice() {
    for spec in [
        "- Route planning\n- Route planning |\n- Route planning",
        "## Quality\n\n- It is fast.\n- It is fast!",
        "## Constraints\n\n- Must use Supabase.\n- must use Supabase",
    ] {
        let before = requirements(&analyse(spec, &SpecContext::default()));
        assert_eq!(
            requirements(&from_requirements(spec, &before).unwrap()),
            before
        );
    }
}

#[test]
fn a_given_requirement_without_a_source_is_marked_as_given() {
    let given = read_requirements(
        &json!({"constraints": [{"id": "CON-1", "description": "Must use Rust"}]}),
    )
    .unwrap();
    let after = requirements(&from_requirements("Users can add tasks.", &given).unwrap());
    assert_eq!(
        after.constraints[0].trace,
        [Trace::default_rule("given-requirement")]
    );
}

#[test]
fn a_wider_requirement_is_not_repeated() {
    let given = read_requirements(&json!({"functional": [
        {"id": "FR-1", "description": "Teachers can create and edit quizzes", "priority": "must"}
    ]}))
    .unwrap();
    let analysis = from_requirements(
        "Teachers can create and edit quizzes. Teachers can delete quizzes.",
        &given,
    )
    .unwrap();
    let required = requirements(&analysis);
    assert_eq!(
        ids(&required),
        [
            (
                "FR-1".to_owned(),
                "Teachers can create and edit quizzes".to_owned()
            ),
            ("FR-2".to_owned(), "Teachers can delete quizzes".to_owned()),
        ]
    );
    assert!(required.functional[0].trace.contains(&Trace::spec("S-1")));
}

#[test]
fn requirements_alone_are_enough() {
    for spec in ALL {
        let before = requirements(&analyse(spec, &SpecContext::default()));
        let rendered = requirements_as_spec(&before);
        let analysis = from_requirements(&rendered, &before).unwrap();
        let after = requirements(&analysis);
        for (id, description) in ids(&before) {
            assert!(ids(&after).contains(&(id, description)));
        }
        let whole = analyse(spec, &SpecContext::default());
        for entity in &whole.entities {
            assert!(
                analysis
                    .entities
                    .iter()
                    .any(|known| known.name == entity.name),
                "{}",
                entity.name
            );
        }
    }
}

#[test]
fn shapes_that_are_wrong_are_pointed_at() {
    for (value, field, constraint) in [
        (json!([]), "/requirements", "type"),
        (
            json!({"functional": {}}),
            "/requirements/functional",
            "type",
        ),
        (
            json!({"functional": [{"id": "FR-1"}]}),
            "/requirements/functional/0/description",
            "required",
        ),
        (
            json!({"functional": [{"id": 1, "description": "x"}]}),
            "/requirements/functional/0/id",
            "type",
        ),
        (
            json!({"functional": [{"id": "FR-1", "description": "x", "priority": "high"}]}),
            "/requirements/functional/0/priority",
            "enum",
        ),
        (
            json!({"functional": [{"id": "X", "description": "x", "priority": "must"}]}),
            "/requirements/functional/0/id",
            "pattern",
        ),
        (
            json!({"functional": [{"id": "FR-1", "description": "x", "priority": "must"}, {"id": "FR-1", "description": "y", "priority": "must"}]}),
            "/requirements/functional/1/id",
            "unique",
        ),
        (
            json!({"functional": [{"id": "FR-1", "description": " ", "priority": "must"}]}),
            "/requirements/functional/0/description",
            "minLength",
        ),
        (
            json!({"requirements": {"non_functional": [{"id": "NFR-1", "description": "x", "category": "speed"}]}}),
            "/requirements/requirements/non_functional/0/category",
            "enum",
        ),
    ] {
        let problem = read_requirements(&value).unwrap_err();
        assert_eq!(
            (problem.field.as_str(), problem.constraint.as_str()),
            (field, constraint),
            "{value}"
        );
    }
    assert!(
        read_requirements(&json!({"requirements": {"functional": []}, "strategy_summary": ""}))
            .is_ok()
    );
}
