//! Answers that arrive: whole, streamed, and streamed in the oddest pieces.

use windlass_ports::{FinishReason, Usage};

use super::server::{Answer, DONE, END, KEY, Place, answer, event, json, says, stream};

fn bytes(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

#[tokio::test]
async fn a_complete_answer() {
    let mut place = Place::new([says("Hi.")]).await;
    let reply = place.ask().await.unwrap();
    assert_eq!(reply.text(), "Hi.");
    assert_eq!(reply.finish_reason, FinishReason::Stop);
    assert_eq!(reply.model, "small-1");
    assert_eq!(reply.usage.unwrap().total_tokens, 9);

    let requests = place.arrived();
    let [request] = requests.as_slice() else {
        panic!("one request");
    };
    assert!(
        request
            .head
            .starts_with("POST /v1/chat/completions HTTP/1.1\r\n"),
        "{}",
        request.head
    );
    assert!(
        request
            .head
            .contains(&format!("authorization: Bearer {KEY}"))
    );
    assert_eq!(request.body["messages"][0]["content"], "Hello?");
    assert!(request.body.get("stream").is_none());
}

#[tokio::test]
async fn without_a_key_no_header_is_sent() {
    let mut place = Place::new([says("Hi.")]).await;
    place.address.api_key = None;
    place.ask().await.unwrap();
    assert!(!place.arrived()[0].head.contains("authorization"));
}

#[tokio::test]
async fn a_complete_answer_without_usage() {
    let body = r#"{"choices":[{"message":{"content":"Hi."},"finish_reason":"stop"}]}"#;
    let reply = Place::new([json(body)]).await.ask().await.unwrap();
    assert_eq!((reply.usage, reply.model.as_str()), (None, "small"));
}

#[tokio::test]
async fn a_refusal_is_an_answer() {
    let body = r#"{"choices":[{"message":{"content":null,"refusal":"I will not."},"finish_reason":"stop"}]}"#;
    let reply = Place::new([json(body)]).await.ask().await.unwrap();
    assert_eq!(reply.finish_reason, FinishReason::Refused);
    assert_eq!(reply.text(), "I will not.");
}

#[tokio::test]
async fn a_stream_arrives_piece_by_piece_and_ends_with_its_usage() {
    let usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2,\"total_tokens\":9}}\n\n";
    let text = [&event("Hel"), &event("lo."), END, usage, DONE].concat();
    let mut place = Place::new([stream([bytes(&text)])]).await;
    let (reply, pieces) = place.listen().await;
    let reply = reply.unwrap();
    assert_eq!(
        (reply.text().as_str(), pieces),
        ("Hello.", vec!["Hel".to_owned(), "lo.".to_owned()])
    );
    assert_eq!(
        reply.usage,
        Some(Usage {
            prompt_tokens: 7,
            completion_tokens: 2,
            total_tokens: 9,
            ..Usage::default()
        })
    );
    let body = &place.arrived()[0].body;
    assert_eq!(body["stream"], true);
    assert_eq!(body["stream_options"]["include_usage"], true);
}

#[tokio::test]
async fn unusual_chunk_boundaries_change_nothing() {
    let text = [
        ": ping\r\n\r\n",
        &event("größer 🦀 ").replace('\n', "\r\n"),
        "event: message\nid: 7\ndata: {\"choices\":\ndata: [{\"delta\":{\"content\":\"in lines\"}}]}\n\n",
        ": a comment within\n",
        END,
        "data: [DONE]",
    ]
    .concat();
    for size in [1, 2, 3, 7, 64, text.len()] {
        let pieces = text.as_bytes().chunks(size).map(<[u8]>::to_vec);
        let place = Place::new([stream(pieces)]).await;
        let (reply, _) = place.listen().await;
        assert_eq!(
            reply.unwrap().text(),
            "größer 🦀 in lines",
            "pieces of {size}"
        );
    }
}

#[tokio::test]
async fn a_server_that_does_not_stream_answers_at_once() {
    let (reply, pieces) = Place::new([says("All of it.")]).await.listen().await;
    assert_eq!(reply.unwrap().text(), "All of it.");
    assert_eq!(pieces, ["All of it."]);
}

#[tokio::test]
async fn a_stream_over_a_connection_that_just_closes() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let text = [head, &event("Hi."), END].concat();
    let (reply, _) = Place::new([Answer::Pieces(vec![bytes(&text)])])
        .await
        .listen()
        .await;
    assert_eq!(reply.unwrap().finish_reason, FinishReason::Stop);
}

#[tokio::test]
async fn an_answer_of_another_success_status_is_one() {
    let created = answer("201 Created", &super::server::completion("Hi."));
    assert_eq!(
        Place::new([created]).await.ask().await.unwrap().text(),
        "Hi."
    );
}
