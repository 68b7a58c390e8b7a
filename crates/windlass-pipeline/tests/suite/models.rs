//! Phases by a model on a server that misbehaves: what is repaired, what is retried, what fails
//! and how that is said. Real client, real sockets, answers by script.

use std::time::Duration;

use serde_json::{Value, json};
use windlass_pipeline::GeneratorChoice;
use windlass_testkit::TestWorld;
use windlass_types::Problem;

use super::{
    served::{Answer, Served, cut, ended, refuses, says, status},
    world::{SPEC, offline},
};

/// What the rules make is a good answer for a model, too.
pub async fn good() -> Value {
    let world = TestWorld::new(|| vec![offline()]).with_threads();
    strategize(&world).await.unwrap()["requirements"].take()
}

async fn strategize(world: &TestWorld) -> Result<Value, Problem> {
    let process = world.driving().await;
    let answer = process
        .call("pipeline.strategize", json!({ "spec": SPEC }))
        .await;
    process.stop().await;
    answer.map(|answer| answer.output)
}

async fn strategize_with(served: &Served, generator: GeneratorChoice) -> Result<Value, Problem> {
    let asked = served.clone();
    let world = TestWorld::new(move || vec![asked.domain(generator)]).with_threads();
    strategize(&world).await
}

fn last_words(request: &Value) -> &str {
    let messages = request["messages"].as_array().unwrap();
    messages.last().unwrap()["content"].as_str().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_holds_the_model_to_the_spec() {
    let served = Served::new([says(&good().await.to_string())]).await;
    let output = strategize_with(&served, GeneratorChoice::Llm)
        .await
        .unwrap();
    assert_eq!(output["generator"]["name"], "llm");
    assert_eq!(output["generator"]["model"], "small");
    let requests = served.asked();
    let [request] = requests.as_slice() else {
        panic!("one request");
    };
    let schema = &request["response_format"]["json_schema"]["schema"];
    let item = &schema["properties"]["functional"]["items"]["properties"];
    assert_eq!(item["id"]["pattern"], "^FR-[1-9][0-9]{0,3}$");
    let reasons = item["trace"]["items"]["enum"].as_array().unwrap();
    assert!(reasons.contains(&json!("spec:S-1")), "{reasons:?}");
    // The spec is data: it is in the user's turn, as JSON, and nowhere else.
    let messages = request["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2);
    assert!(!messages[0].to_string().contains("sailors"));
    let data: Value = serde_json::from_str(last_words(request)).unwrap();
    assert!(data["spans"].to_string().contains("sailors"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_answer_is_repaired() {
    let good = good().await;
    let mut wrong = good.clone();
    wrong["functional"][0]["priority"] = json!("urgent");
    let mut groundless = good.clone();
    groundless["functional"][0]["trace"] = json!(["spec:S-77"]);
    let mut twice = good.clone();
    twice["functional"][1]["id"] = json!("FR-1");
    let text = good.to_string();
    let half = &text[..text.len() / 2];
    for (about, bad, complaint) in [
        (
            "prose",
            says("Certainly! Let me think."),
            "it is not valid JSON",
        ),
        ("half an object", says(half), "it is not valid JSON"),
        (
            "cut at its longest",
            ended(half, "length"),
            "it was cut at the length limit",
        ),
        ("nothing", says(""), "it is empty"),
        (
            "a word that is none",
            says(&wrong.to_string()),
            "/functional/0/priority",
        ),
        (
            "a reason that is none",
            says(&groundless.to_string()),
            "/functional/0/trace/0",
        ),
        (
            "an id twice",
            says(&twice.to_string()),
            "the id FR-1 is there twice",
        ),
    ] {
        let served = Served::new([bad, says(&text)]).await;
        let output = strategize_with(&served, GeneratorChoice::Llm).await;
        assert_eq!(output.unwrap()["generator"]["name"], "llm", "{about}");
        let requests = served.asked();
        assert_eq!(requests.len(), 2, "{about}");
        let said = last_words(&requests[1]);
        assert!(said.contains(complaint), "{about}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_stays_bad_fails_with_its_reason() {
    let shape = json!({ "functional": "all of it" }).to_string();
    for (bad, reason) in [
        (says("I am not sure."), "not_json"),
        (says("{\"functional\": ["), "not_json"),
        (ended("{\"functional\": [", "length"), "truncated"),
        (says(" "), "empty_reply"),
        (says(&shape), "schema_mismatch"),
    ] {
        let served = Served::new([bad]).await;
        let problem = strategize_with(&served, GeneratorChoice::Llm)
            .await
            .unwrap_err();
        assert_eq!(problem.code().name, "STEP_FAILED");
        let details = problem.details();
        assert_eq!(details["reason"], reason, "{problem}");
        assert_eq!(details["phase"], "strategy");
        assert_eq!(details["model"], "small");
        // Once, and three repairs.
        assert_eq!(details["model_calls"], 4);
        assert_eq!(served.asked().len(), 4, "{reason}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_not_argued_with() {
    let served = Served::new([refuses("I cannot help with that.")]).await;
    let problem = strategize_with(&served, GeneratorChoice::Llm)
        .await
        .unwrap_err();
    assert_eq!(problem.details()["reason"], "refused");
    assert!(
        problem.message().contains("I cannot help with that."),
        "{problem}"
    );
    assert_eq!(served.asked().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_server_is_retried() {
    let good = says(&good().await.to_string());
    let busy = status("429 Too Many Requests\r\nretry-after: 7", "{}");
    let failing = status("500 Internal Server Error", "oops");
    for (about, trouble, longest) in [
        ("busy", busy, 7_000),
        ("failing", failing, 500),
        ("cut", cut(), 500),
    ] {
        let served = Served::new([trouble, good.clone()]).await;
        let output = strategize_with(&served, GeneratorChoice::Llm).await;
        assert_eq!(output.unwrap()["generator"]["name"], "llm", "{about}");
        assert_eq!(served.asked().len(), 2, "{about}");
        let waits = served.waits();
        let [wait] = waits.as_slice() else {
            panic!("{about}: {waits:?}");
        };
        let is_asked_for = about == "busy";
        assert!(*wait <= longest, "{about}: {wait}");
        assert!(!is_asked_for || *wait == longest, "{about}: {wait}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_keeps_failing_fails_the_phase_or_falls_back() {
    for (trouble, reason) in [
        (
            status("429 Too Many Requests\r\nretry-after: 600", "{}"),
            "rate_limited",
        ),
        (status("500 Internal Server Error", "oops"), "unavailable"),
        (status("401 Unauthorized", "{}"), "unauthorized"),
        (status("400 Bad Request", "{}"), "rejected"),
        (status("200 OK", "<html>Welcome</html>"), "malformed"),
        (cut(), "cut"),
    ] {
        let served = Served::new([trouble]).await;
        let problem = strategize_with(&served, GeneratorChoice::Llm)
            .await
            .unwrap_err();
        assert_eq!(problem.code().name, "STEP_FAILED");
        assert_eq!(problem.details()["reason"], reason, "{problem}");
        let output = strategize_with(&served, GeneratorChoice::Auto).await;
        assert_eq!(output.unwrap()["generator"]["name"], "offline", "{reason}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_server_costs_the_phase_its_time() {
    let served = Served::new([Answer::Silence]).await;
    let asked = served.clone();
    let world = TestWorld::new(move || vec![asked.domain(GeneratorChoice::Llm)]).with_threads();
    let process = world.driving().await;
    let call = process.call("pipeline.strategize", json!({ "spec": SPEC }));
    let time_passes = async {
        served.arrived().await;
        world.clock.advance(Duration::from_secs(60)).await;
    };
    let (answer, ()) = tokio::join!(call, time_passes);
    let problem = answer.unwrap_err();
    process.stop().await;
    assert_eq!(problem.code().name, "TIMEOUT", "{problem}");
    assert_eq!(problem.details()["phase"], "strategy");
    assert_eq!(problem.details()["limit_s"], 60);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_down_is_left_alone_for_a_minute() {
    let served = Served::new([status("400 Bad Request", "{}")]).await;
    let reason = async || match strategize_with(&served, GeneratorChoice::Llm).await {
        Ok(_) => "answered".to_owned(),
        Err(problem) => problem.details()["reason"].as_str().unwrap().to_owned(),
    };
    // A request that the server does not accept says nothing about the server.
    for _ in 0..6 {
        assert_eq!(reason().await, "rejected");
    }
    served.now_answers([status("503 Unavailable\r\nretry-after: 600", "")]);
    for _ in 0..5 {
        assert_eq!(reason().await, "unavailable");
    }
    let asked = served.asked().len();
    let problem = strategize_with(&served, GeneratorChoice::Llm)
        .await
        .unwrap_err();
    assert_eq!(problem.details()["reason"], "provider_unavailable");
    assert_eq!(problem.details()["retry_after_seconds"], 60);
    let output = strategize_with(&served, GeneratorChoice::Auto).await;
    assert_eq!(output.unwrap()["generator"]["name"], "offline");
    assert_eq!(served.asked().len(), asked, "nothing is sent");

    served.now_answers([says(&good().await.to_string())]);
    served.clock.wait(Duration::from_secs(60));
    assert_eq!(reason().await, "answered");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_critique_finds_wrong_is_revised_twice_and_then_stands() {
    let good = good().await;
    let mut little = good.clone();
    little["functional"] = json!([good["functional"][0]]);
    let (text, little) = (good.to_string(), little.to_string());

    let served = Served::new([says(&little), says(&little), says(&text)]).await;
    let output = strategize_with(&served, GeneratorChoice::Llm)
        .await
        .unwrap();
    assert_eq!(output["requirements"], good);
    let requests = served.asked();
    assert_eq!(requests.len(), 3);
    let said = last_words(&requests[2]);
    assert!(
        said.starts_with("Checks of your answer found:\n- spec:S-"),
        "{said}"
    );
    assert_eq!(requests[2]["messages"][2]["content"], little);

    let served = Served::new([says(&little)]).await;
    let output = strategize_with(&served, GeneratorChoice::Llm)
        .await
        .unwrap();
    assert_eq!(output["quality_report"]["verdict"], "NEEDS_REVISION");
    assert_eq!(served.asked().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn untraced_items_are_removed_and_reported() {
    let world = TestWorld::new(|| vec![offline()]).with_threads();
    let process = world.driving().await;
    let call = process.call("pipeline.design_architecture", json!({ "spec": SPEC }));
    let mut design = call.await.unwrap().output["architecture"].take();
    process.stop().await;
    let mut phantom = design["api_design"]["endpoints"][0].clone();
    phantom["path"] = json!("/api/payments");
    phantom["trace"] = json!(["req:FR-99"]);
    let endpoints = design["api_design"]["endpoints"].as_array_mut().unwrap();
    endpoints.push(phantom);

    let served = Served::new([says(&design.to_string())]).await;
    let asked = served.clone();
    let world = TestWorld::new(move || vec![asked.domain(GeneratorChoice::Llm)]).with_threads();
    let process = world.driving().await;
    let call = process.call("pipeline.design_architecture", json!({ "spec": SPEC }));
    let output = call.await.unwrap().output;
    process.stop().await;
    assert_eq!(
        served.asked().len(),
        1,
        "one of many is not worth a question"
    );
    let endpoints = output["architecture"]["api_design"]["endpoints"].to_string();
    assert!(!endpoints.contains("/api/payments"), "{endpoints}");
    let findings = output["quality_report"]["findings"].as_array().unwrap();
    let found = findings
        .iter()
        .find(|finding| finding["check"] == "untraced");
    let target = found.unwrap()["target"].as_str().unwrap();
    assert!(target.ends_with(" /api/payments"), "{target}");
}
