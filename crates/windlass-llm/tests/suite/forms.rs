//! A form of answer, asked for in the words that the server understands.

use serde_json::json;
use windlass_ports::{ModelError, ModelRequest, OutputSchema};

use super::server::{Place, answer, question, says};

fn formed() -> ModelRequest {
    ModelRequest {
        schema: Some(OutputSchema {
            name: "greeting".to_owned(),
            schema: json!({ "type": "object", "required": ["hi"] }),
        }),
        ..question()
    }
}

fn formats(place: &mut Place) -> Vec<String> {
    let requests = place.arrived();
    let format = |body: &serde_json::Value| {
        body.pointer("/response_format/type")
            .and_then(|kind| kind.as_str().map(str::to_owned))
            .unwrap_or("none".to_owned())
    };
    requests
        .iter()
        .map(|request| format(&request.body))
        .collect()
}

#[tokio::test]
async fn a_server_that_takes_the_schema_gets_it() {
    let mut place = Place::new([says("{\"hi\":1}")]).await;
    assert_eq!(place.send(&formed()).await.unwrap().text(), "{\"hi\":1}");
    let body = &place.arrived()[0].body;
    assert_eq!(body["response_format"]["json_schema"]["name"], "greeting");
    assert_eq!(body["response_format"]["json_schema"]["strict"], true);
    assert_eq!(body["messages"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_server_that_does_not_gets_it_in_the_prompt_from_then_on() {
    let rejects = || {
        let body =
            r#"{"error":{"message":"unknown response_format","param":"response_format.type"}}"#;
        answer("400 Bad Request", body)
    };
    let mut place = Place::new([rejects(), says("{}"), says("{}")]).await;
    place.send(&formed()).await.unwrap();
    place.send(&formed()).await.unwrap();
    assert_eq!(
        formats(&mut place),
        ["json_schema", "json_object", "json_object"]
    );

    let mut place = Place::new([rejects(), rejects(), says("{}"), says("{}")]).await;
    place.send(&formed()).await.unwrap();
    place.send(&formed()).await.unwrap();
    assert_eq!(
        formats(&mut place),
        ["json_schema", "json_object", "none", "none"]
    );
    // Another model at the same server is asked again.
    place.address.model = "other".to_owned();
    place.send(&formed()).await.unwrap();
    assert_eq!(formats(&mut place), ["json_schema"]);
}

#[tokio::test]
async fn the_schema_is_in_the_prompt() {
    let mut place = Place::new([answer("400 Bad Request", "what?"), says("{}")]).await;
    place.send(&formed()).await.unwrap();
    let body = &place.arrived()[1].body;
    let rule = body["messages"][0]["content"].as_str().unwrap();
    assert!(
        rule.contains(r#"{"required":["hi"],"type":"object"}"#),
        "{rule}"
    );
}

#[tokio::test]
async fn a_rejection_for_another_reason_is_reported() {
    for body in [
        r#"{"error":{"message":"too long","code":"context_length_exceeded"}}"#,
        r#"{"error":{"message":"too long","code":400,"type":"exceed_context_size_error"}}"#,
        r#"{"error":{"message":"bad temperature","param":"temperature"}}"#,
    ] {
        let mut place = Place::new([answer("400 Bad Request", body)]).await;
        let error = place.send(&formed()).await.unwrap_err();
        assert!(matches!(error, ModelError::Rejected { status: 400, .. }));
        assert_eq!(place.arrived().len(), 1, "{body}");
    }
    // When nothing helps, the first reason is the one to report, and nothing is remembered.
    let answers = ["first", "second", "third"].map(|text| answer("400 Bad Request", text));
    let mut place = Place::new(answers).await;
    let error = place.send(&formed()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the model's server rejects the request (status 400): first"
    );
    assert_eq!(formats(&mut place), ["json_schema", "json_object", "none"]);
    place.send(&formed()).await.unwrap_err();
    assert_eq!(formats(&mut place)[0], "json_schema");
}

#[tokio::test]
async fn a_limit_uses_the_name_the_server_expects() {
    let body = r#"{"error":{"message":"use max_completion_tokens instead","param":"max_tokens"}}"#;
    let limited = ModelRequest {
        max_tokens: Some(5),
        ..question()
    };
    let mut place = Place::new([answer("400 Bad Request", body), says("Hi.")]).await;
    place.send(&limited).await.unwrap();
    place.send(&limited).await.unwrap();
    let said: Vec<bool> = place
        .arrived()
        .iter()
        .map(|request| request.body["max_completion_tokens"] == 5)
        .collect();
    assert_eq!(said, [false, true, true]);
}

#[tokio::test]
async fn a_server_that_streams_no_usage_is_not_asked_for_it() {
    let mut place = Place::new([
        answer(
            "422 Unprocessable",
            r#"{"detail":[{"loc":["body","stream_options"]}]}"#,
        ),
        says("Hi."),
    ])
    .await;
    assert_eq!(place.listen().await.0.unwrap().text(), "Hi.");
    assert!(place.arrived()[1].body.get("stream_options").is_none());
}
