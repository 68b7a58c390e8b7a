//! Servers that fail, and what is tried again.

use std::{sync::Arc, time::Duration};

use windlass_llm::ModelClient;
use windlass_net::{HttpOutbound, OutboundPolicy};
use windlass_ports::{LanguageModel as _, ModelError};

use super::server::{
    Answer, DONE, END, KEY, Place, answer, cut_stream, event, json, question, says, stream,
};

const TOO_MANY: &str = r#"{"error":{"message":"slow down"}}"#;

#[tokio::test]
async fn a_wrong_key_is_reported_once_and_not_shown() {
    let body = format!("{{\"error\":{{\"message\":\"wrong key {KEY}\"}}}}");
    let mut place = Place::new([answer("401 Unauthorized", &body)]).await;
    let error = place.ask().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the model's server does not accept the API key (status 401): wrong key ***; check the variable that api_key_env names"
    );
    assert!(!format!("{error} {error:?}").contains(KEY));
    assert_eq!(place.arrived().len(), 1);
}

#[tokio::test]
async fn a_key_that_a_server_repeats_is_hidden() {
    let bodies = [
        answer(
            "400 Bad Request",
            &format!("{{\"error\":\"{KEY} is bad\"}}"),
        ),
        answer("500 Oops", &format!("trace: {KEY}")),
        json(&format!("<html>{KEY}")),
        json(&format!("{{\"error\":{{\"message\":\"{KEY}\"}}}}")),
    ];
    for body in bodies {
        let error = Place::new([body]).await.ask().await.unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(shown.contains("***") && !shown.contains(KEY), "{shown}");
    }
}

#[tokio::test]
async fn a_busy_server_is_retried_after_its_delay() {
    let busy = answer("429 Too Many Requests\r\nretry-after: 7", TOO_MANY);
    let at_a_date = answer(
        "503 Unavailable\r\nretry-after: Sun, 01 Mar 2026 12:00:20 GMT",
        "",
    );
    let mut place = Place::new([busy, at_a_date, says("Hi.")]).await;
    assert_eq!(place.ask().await.unwrap().text(), "Hi.");
    assert_eq!(place.waits(), [7_000, 13_000]);
    assert_eq!(place.arrived().len(), 3);
}

#[tokio::test]
async fn a_wait_longer_than_the_time_left_is_not_started() {
    let busy = answer("429 Too Many Requests\r\nretry-after: 61", TOO_MANY);
    let mut place = Place::new([busy]).await;
    assert_eq!(
        place.ask().await.unwrap_err(),
        ModelError::RateLimited {
            retry_after: Some(Duration::from_secs(61)),
            said: "slow down".to_owned()
        }
    );
    assert!(place.waits().is_empty());
    assert_eq!(place.arrived().len(), 1);
}

#[tokio::test]
async fn failures_of_the_server_are_tried_again_and_then_reported() {
    let mut place = Place::new([answer("500 Oops", ""), says("Hi.")]).await;
    assert_eq!(place.ask().await.unwrap().text(), "Hi.");
    assert_eq!(place.arrived().len(), 2);

    let mut place = Place::new([answer("502 Bad Gateway", "upstream is gone")]).await;
    let error = place.ask().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the model's server failed (status 502): upstream is gone"
    );
    assert_eq!((place.arrived().len(), place.waits().len()), (6, 5));
}

#[tokio::test]
async fn retries_end_at_the_deadline() {
    let busy = answer("429 Too Many Requests\r\nretry-after: 25", TOO_MANY);
    let mut place = Place::new([busy]).await;
    assert!(matches!(
        place.ask().await.unwrap_err(),
        ModelError::RateLimited { .. }
    ));
    assert_eq!(place.waits(), [25_000, 25_000]);
    assert_eq!(place.arrived().len(), 3);
}

#[tokio::test]
async fn what_will_fail_again_is_not_tried_again() {
    for (head, reason) in [
        ("400 Bad Request", "rejected"),
        ("403 Forbidden", "unauthorized"),
        ("404 Not Found", "rejected"),
        ("413 Too Large", "rejected"),
        ("422 Unprocessable", "rejected"),
        ("302 Found\r\nlocation: http://127.0.0.1:9/", "rejected"),
    ] {
        let mut place = Place::new([answer(head, "no")]).await;
        assert_eq!(place.ask().await.unwrap_err().reason(), reason, "{head}");
        assert_eq!(place.arrived().len(), 1, "{head}");
    }
}

#[tokio::test]
async fn a_closed_port_is_tried_again_and_then_unreachable() {
    let place = Place::closed().await;
    let error = place.ask().await.unwrap_err();
    assert!(
        matches!(&error, ModelError::Unreachable(cause) if cause.contains("refused")),
        "{error}"
    );
    assert_eq!(place.waits().len(), 5);
}

#[tokio::test]
async fn a_silent_server_costs_no_more_than_the_timeout() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    for bytes in [
        String::new(),
        head.to_owned(),
        [head, &event("Hi")].concat(),
    ] {
        let mut place = Place::new([Answer::Silence(bytes.into_bytes())]).await;
        place.address.request_timeout = Duration::from_millis(150);
        let (result, _) = place.listen().await;
        assert_eq!(
            result.unwrap_err(),
            ModelError::TimedOut(Duration::from_millis(150))
        );
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_no_answer() {
    let half = event("Hello");
    let ends = [
        // The connection ends, with and without an event half sent.
        cut_stream(&half),
        cut_stream(&[&half, "data: {\"cho"].concat()),
        // The stream ends as if all were well, but the answer did not.
        stream([half.clone().into_bytes()]),
        stream([[&half, "data: {\"cho"].concat().into_bytes()]),
        // The server says so.
        stream([
            [&half, "data: {\"error\":{\"message\":\"overloaded\"}}\n\n"]
                .concat()
                .into_bytes(),
        ]),
    ];
    for end in ends {
        let mut place = Place::new([end]).await;
        let (result, pieces) = place.listen().await;
        let Err(ModelError::Cut { so_far, .. }) = result else {
            panic!("{result:?}");
        };
        assert_eq!(so_far, "Hello");
        // Every try is heard, and that it counts for nothing.
        let tries: Vec<&str> = (1..12)
            .map(|it| if it % 2 == 1 { "Hello" } else { "(cut: again)" })
            .collect();
        assert_eq!(pieces, tries);
        assert_eq!(place.arrived().len(), 6);
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_before_any_text_is_retried() {
    let good = [&event("Hi."), END, DONE].concat();
    let mut place = Place::new([cut_stream(": ping\n\n"), stream([good.into_bytes()])]).await;
    let (result, pieces) = place.listen().await;
    assert_eq!(result.unwrap().text(), "Hi.");
    assert_eq!(pieces, ["(cut: again)", "Hi."]);
    assert_eq!(place.arrived().len(), 2);
}

#[tokio::test]
async fn a_complete_answer_that_breaks_off_is_retried() {
    let cut = Answer::Pieces(vec![
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{\"choi"
            .to_vec(),
    ]);
    let mut place = Place::new([cut, says("Hi.")]).await;
    assert_eq!(place.ask().await.unwrap().text(), "Hi.");
    assert_eq!(place.arrived().len(), 2);
}

#[tokio::test]
async fn an_answer_that_is_no_completion() {
    for body in [
        r#"{"choices":[{"message":{"content":"H"#,
        "<html>Welcome</html>",
        "{}",
    ] {
        let error = Place::new([json(body)]).await.ask().await.unwrap_err();
        assert!(matches!(error, ModelError::Malformed(_)), "{error}");
    }
}

#[tokio::test]
async fn an_endless_answer_is_given_up() {
    const MIB: usize = 1024 * 1024;
    let piece = vec![b'x'; MIB];
    let head = |kind: &str| {
        format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n").into_bytes()
    };
    for kind in ["application/json", "text/event-stream"] {
        let pieces = std::iter::once(head(kind)).chain(std::iter::repeat_n(piece.clone(), 20));
        let mut place = Place::new([Answer::Pieces(pieces.collect())]).await;
        let error = place.ask().await.unwrap_err();
        assert_eq!(error, ModelError::TooLarge { limit: 16 * MIB });
        assert_eq!(place.arrived().len(), 1);
    }
    // A long explanation is read as far as it helps.
    let mut pieces = vec![b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n".to_vec()];
    pieces.extend(std::iter::repeat_n(piece, 20));
    let error = Place::new([Answer::Pieces(pieces)])
        .await
        .ask()
        .await
        .unwrap_err();
    assert!(
        matches!(error, ModelError::Rejected { status: 400, .. })
            && error.to_string().len() < 1_000
    );
}

#[tokio::test]
async fn the_address_policy_applies() {
    let mut place = Place::new([says("Hi.")]).await;
    let outbound = Arc::new(HttpOutbound::new(OutboundPolicy::default()));
    let strict = ModelClient::new(
        outbound,
        Arc::new(place.clock.clone()),
        Arc::new(super::server::Steady),
    );
    let error = strict
        .complete(&place.address, &question(), None)
        .await
        .unwrap_err();
    assert!(matches!(error, ModelError::Forbidden(_)), "{error}");
    assert!(place.arrived().is_empty() && place.waits().is_empty());
}

#[tokio::test]
async fn an_invalid_address() {
    for base in ["", "not an address", "http://127.0.0.1:1/v1?key=x"] {
        let mut place = Place::new([says("Hi.")]).await;
        place.address.api_base_url = base.to_owned();
        let error = place.ask().await.unwrap_err();
        assert!(
            matches!(error, ModelError::InvalidAddress(_)),
            "{base}: {error}"
        );
    }
    let mut place = Place::new([says("Hi.")]).await;
    place.address.api_key = Some("two\nlines".to_owned().into());
    let error = place.ask().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the model's address cannot be used: the header `authorization` cannot be sent"
    );
}
