//! Jobs by rules and by a model: what they make, what they refuse, what they say when they end.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_pipeline::GeneratorChoice;
use windlass_testkit::TestWorld;

use super::world::{SPEC, Scripted, domain, offline};

async fn strategize(world: &TestWorld, spec: &str) -> Result<Value, windlass_types::Problem> {
    let process = world.driving().await;
    let answer = process
        .call("pipeline.strategize", json!({ "spec": spec }))
        .await;
    process.stop().await;
    answer.map(|answer| answer.output)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_spec_produces_the_same_bytes_and_another_differs() {
    let world = || TestWorld::new(|| vec![offline()]).with_threads();
    let first = strategize(&world(), SPEC).await.unwrap();
    let second = strategize(&world(), SPEC).await.unwrap();
    assert_eq!(first.to_string(), second.to_string());
    let other = "Nurses can record vital signs of patients. A patient has a name and a birthday.";
    let other = strategize(&world(), other).await.unwrap();
    let words = other["requirements"].to_string();
    assert!(words.contains("vital signs"), "{words}");
    assert!(!words.contains("listing"), "{words}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_models_answer_is_checked_and_repaired() {
    // What the rules make is a good answer; the model gives it, in words of its own.
    let rules = TestWorld::new(|| vec![offline()]).with_threads();
    let mut good = strategize(&rules, SPEC).await.unwrap()["requirements"].take();
    good["functional"][0]["description"] = json!("Sailors can create listings of their own");
    let good = good.to_string();
    let groundless = good.replace("spec:S-", "spec:S-99");
    let model = Arc::new(Scripted::new(&["no json at all", &groundless, &good]));
    let world = TestWorld::new(move || vec![domain(GeneratorChoice::Llm, Arc::clone(&model))])
        .with_threads();
    let output = strategize(&world, SPEC).await.unwrap();
    assert_eq!(output["generator"]["name"], "llm");
    assert_eq!(output["generator"]["model"], "small");
    let first = &output["requirements"]["functional"][0];
    assert_eq!(
        first["description"],
        "Sailors can create listings of their own"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_loses_most_of_the_spec_is_reported_and_not_approved() {
    let little = json!({
        "functional": [{
            "id": "FR-1",
            "description": "Sailors can create listings",
            "priority": "must",
            "acceptance": ["Given a sailor, when they create a listing, then it is kept"],
            "trace": ["spec:S-2"],
        }],
        "non_functional": [],
        "constraints": [],
    })
    .to_string();
    let model = Arc::new(Scripted::new(&[&little, &little, &little, &little]));
    let world = TestWorld::new(move || vec![domain(GeneratorChoice::Llm, Arc::clone(&model))])
        .with_threads();
    let output = strategize(&world, SPEC).await.unwrap();
    let report = &output["quality_report"];
    assert_eq!(report["verdict"], "NEEDS_REVISION", "{report}");
    let lost = report["findings"].as_array().unwrap().iter();
    assert!(
        lost.filter(|finding| finding["check"] == "span_unmapped")
            .count()
            > 0,
        "{report}"
    );
    let model = Arc::new(Scripted::new(&[&little, &little, &little, &little]));
    let world = TestWorld::new(move || vec![domain(GeneratorChoice::Auto, Arc::clone(&model))])
        .with_threads();
    let output = strategize(&world, SPEC).await.unwrap();
    assert_eq!(
        output["generator"]["name"], "offline",
        "the rules do better"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_does_not_answer_fails_the_job_or_falls_back() {
    let silent = || Arc::new(Scripted::new(&[]));
    let strict =
        TestWorld::new(move || vec![domain(GeneratorChoice::Llm, silent())]).with_threads();
    let problem = strategize(&strict, SPEC).await.unwrap_err();
    assert_eq!(problem.details()["reason"], "unreachable", "{problem}");
    assert_eq!(problem.details()["phase"], "strategy");
    let auto = TestWorld::new(move || vec![domain(GeneratorChoice::Auto, silent())]).with_threads();
    let output = strategize(&auto, SPEC).await.unwrap();
    assert_eq!(output["generator"]["name"], "offline");
}
