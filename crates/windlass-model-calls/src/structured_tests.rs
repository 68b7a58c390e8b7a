//! Rounds with a model that says what the test tells it to.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use serde::Deserialize;
use serde_json::json;
use windlass_ports::{BoxFuture, Listener, WireFormat};

use super::*;

/// Answers in order.
struct Script(Mutex<VecDeque<Result<ModelReply, ModelError>>>);

impl LanguageModel for Script {
    fn complete<'a>(
        &'a self,
        _: &'a ModelAddress,
        _: &'a ModelRequest,
        _: Option<Listener<'a>>,
    ) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        let next = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
            .expect("no more calls than the test expects");
        Box::pin(async move { next })
    }
}

fn reply(text: &str, finish_reason: FinishReason) -> Result<ModelReply, ModelError> {
    Ok(ModelReply {
        parts: Message::assistant(text).parts,
        finish_reason,
        usage: Some(Usage {
            prompt_tokens: 10,
            completion_tokens: 5,
            total_tokens: 15,
            ..Usage::default()
        }),
        model: "small".to_owned(),
    })
}

fn said_text(text: &str) -> Result<ModelReply, ModelError> {
    reply(text, FinishReason::Stop)
}

#[derive(Debug, Deserialize, PartialEq)]
struct Page {
    title: String,
    words: u8,
}

fn schema() -> OutputSchema {
    OutputSchema {
        name: "page".to_owned(),
        schema: json!({
            "type": "object",
            "properties": { "title": { "type": "string" }, "words": { "type": "integer" } },
            "required": ["title", "words"],
            "additionalProperties": false,
        }),
    }
}

async fn ask(
    answers: impl IntoIterator<Item = Result<ModelReply, ModelError>>,
    max_repairs: u32,
) -> Result<Structured<Page>, StructuredError> {
    let script = Script(Mutex::new(answers.into_iter().collect()));
    let address = ModelAddress {
        wire: WireFormat::ChatCompletions,
        api_base_url: "http://127.0.0.1:1/v1".to_owned(),
        model: "small".to_owned(),
        api_key: None,
        request_timeout: Duration::from_secs(1),
    };
    let request = ModelRequest::new(vec![Message::user("Write a page.")]);
    let no_shouting = |page: &Page| match page.title == page.title.to_uppercase() {
        true => Err(vec![format!("the title `{}` shouts", page.title)]),
        false => Ok(()),
    };
    let result = structured(
        &script,
        &address,
        &request,
        &schema(),
        no_shouting,
        max_repairs,
    )
    .await;
    let left = script.0.into_inner().unwrap().len();
    assert_eq!(left, 0, "every answer is asked for");
    result
}

fn conversation(request: &ModelRequest) -> String {
    let lines = request
        .messages
        .iter()
        .map(|message| format!("{:?}: {}", message.role, message.text()));
    lines.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn a_good_answer_takes_one_call() {
    let found = ask(
        [said_text("```json\n{\"title\":\"Hi\",\"words\":3}\n```")],
        2,
    )
    .await
    .unwrap();
    assert_eq!(
        found.value,
        Page {
            title: "Hi".to_owned(),
            words: 3
        }
    );
    let [call] = found.calls.as_slice() else {
        panic!("one call");
    };
    assert_eq!(call.request.schema, Some(schema()));
    assert_eq!(call.prompt_hash, call.request.prompt_hash("small"));
    assert_eq!(call.usage().unwrap().total_tokens, 15);
}

#[tokio::test]
async fn a_bad_answer_is_sent_back_with_what_is_wrong() {
    let found = ask(
        [
            said_text("{\"title\":7,\"extra\":true}"),
            said_text("{\"title\":\"HI\",\"words\":3}"),
            said_text("{\"title\":\"Hi\",\"words\":3}"),
        ],
        2,
    )
    .await
    .unwrap();
    assert_eq!(found.value.title, "Hi");
    let asked: Vec<String> = found
        .calls
        .iter()
        .map(|call| conversation(&call.request))
        .collect();
    insta::assert_snapshot!(asked.join("\n=====\n"), @r#"
    User: Write a page.
    =====
    User: Write a page.
    Assistant: {"title":7,"extra":true}
    User: Your answer cannot be used:
    - "words" is a required property
    - /title: 7 is not of type "string"
    - Additional properties are not allowed ('extra' was unexpected)

    Answer again with the whole corrected JSON value and nothing else.
    =====
    User: Write a page.
    Assistant: {"title":"HI","words":3}
    User: Your answer cannot be used:
    - the title `HI` shouts

    Answer again with the whole corrected JSON value and nothing else.
    "#);
}

#[tokio::test]
async fn the_number_of_repairs_is_a_bound_and_all_calls_are_told() {
    let bad = || said_text("{\"title\":\"HI\",\"words\":3}");
    for repairs in 0..3 {
        let error = ask((0..=repairs).map(|_| bad()), repairs)
            .await
            .unwrap_err();
        assert_eq!(error.calls.len(), usize::try_from(repairs).unwrap() + 1);
        assert_eq!(
            error.to_string(),
            "model `small` at http://127.0.0.1:1/v1: the model's answer does not pass: the title `HI` shouts"
        );
    }
}

#[tokio::test]
async fn each_way_to_fail_has_its_reason() {
    let cases = [
        (said_text(""), "empty_reply"),
        (said_text(" \n"), "empty_reply"),
        (said_text("I am not sure."), "not_json"),
        (said_text("{\"title\": \"Hi\""), "not_json"),
        (said_text("{\"title\":\"Hi\"}"), "schema_mismatch"),
        // Fits the schema, but not the type.
        (
            said_text("{\"title\":\"Hi\",\"words\":300}"),
            "schema_mismatch",
        ),
        (reply("{\"title\": \"H", FinishReason::Length), "truncated"),
        (reply("", FinishReason::Length), "truncated"),
        (reply("I will not.", FinishReason::Refused), "refused"),
        (
            Err(ModelError::Unauthorized {
                status: 401,
                said: String::new(),
            }),
            "unauthorized",
        ),
    ];
    for (answer, reason) in cases {
        let error = ask([answer.clone()], 0).await.unwrap_err();
        assert_eq!(error.fault.reason(), reason, "{answer:?}");
        assert_eq!(error.calls[0].outcome, answer);
    }
}

#[tokio::test]
async fn a_model_that_declines_or_a_server_that_fails_is_not_argued_with() {
    for answer in [
        reply("No.", FinishReason::Refused),
        Err(ModelError::cut("gone")),
    ] {
        assert_eq!(ask([answer], 2).await.unwrap_err().calls.len(), 1);
    }
}

#[tokio::test]
async fn an_answer_cut_right_after_its_value_is_taken() {
    let whole = reply("{\"title\":\"Hi\",\"words\":3} And", FinishReason::Length);
    assert_eq!(ask([whole], 0).await.unwrap().value.words, 3);
}

#[tokio::test]
async fn an_empty_answer_is_not_sent_back() {
    let found = ask(
        [said_text(""), said_text("{\"title\":\"Hi\",\"words\":3}")],
        1,
    )
    .await
    .unwrap();
    assert_eq!(found.calls[1].request.messages.len(), 2);
}

#[tokio::test]
async fn a_schema_that_is_none_asks_nothing() {
    let script = Script(Mutex::default());
    let address = ModelAddress {
        wire: WireFormat::ChatCompletions,
        api_base_url: "http://ada:pw@localhost/v1".to_owned(),
        model: "small".to_owned(),
        api_key: None,
        request_timeout: Duration::from_secs(1),
    };
    let bad = OutputSchema {
        name: "bad".to_owned(),
        schema: json!({ "type": 7 }),
    };
    let error = structured(
        &script,
        &address,
        &ModelRequest::default(),
        &bad,
        |_: &Value| Ok(()),
        2,
    )
    .await
    .unwrap_err();
    assert_eq!(error.fault.reason(), "invalid_schema");
    assert!(error.calls.is_empty());
    assert!(!error.to_string().contains("pw"), "{error}");
}

#[test]
fn complaints_are_bounded() {
    let many = invalid((0..50).map(|_| "é".repeat(1_000)).collect());
    let StructuredFault::Invalid(problems) = many else {
        panic!("invalid");
    };
    assert_eq!(problems.len(), MAX_PROBLEMS);
    assert_eq!(problems[0].chars().count(), MAX_PROBLEM_LENGTH + 1);
}
