//! What only a connection can show: control endpoint, cut and slow connections, pace, stopping.

use serde_json::{Value, json};
use windlass_cfn_double::{CallEffect, Double, Handle, Moment, Options, Pace};

const TEMPLATE: &str = r#"{"Resources":{"T":{"Type":"AWS::SNS::Topic"}}}"#;

async fn started(pace: Pace) -> (Handle, reqwest::Client) {
    let options = Options {
        pace,
        ..Options::default()
    };
    let handle = Double::start(options).await.unwrap();
    let client = reqwest::Client::builder().build().unwrap();
    (handle, client)
}

async fn call(
    client: &reqwest::Client,
    endpoint: &str,
    action: &str,
    params: &[(&str, &str)],
) -> Result<String, reqwest::Error> {
    let mut form = format!("Action={action}&Version=2010-05-15");
    for (name, value) in params {
        let value: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
        form.push_str(&format!("&{name}={value}"));
    }
    let answer = client
        .post(endpoint)
        .header("content-type", "application/x-www-form-urlencoded")
        .header(
            "authorization",
            "AWS4-HMAC-SHA256 Credential=A/1/eu-west-1/cloudformation/aws4_request",
        )
        .body(form)
        .send()
        .await?;
    answer.text().await
}

async fn create(client: &reqwest::Client, endpoint: &str) {
    let params = [("StackName", "s"), ("TemplateBody", TEMPLATE)];
    let answer = call(client, endpoint, "CreateStack", &params)
        .await
        .unwrap();
    assert!(answer.contains("<StackId>"), "{answer}");
}

async fn command(
    client: &reqwest::Client,
    endpoint: &str,
    verb: &str,
    body: Value,
) -> (u16, Value) {
    let answer = client
        .post(format!("{endpoint}/_double/{verb}"))
        .body(body.to_string())
        .send()
        .await
        .unwrap();
    let status = answer.status().as_u16();
    (
        status,
        serde_json::from_str(&answer.text().await.unwrap()).unwrap(),
    )
}

#[tokio::test]
async fn the_control_endpoint_steers_and_shows() {
    let (handle, client) = started(Pace::Manual).await;
    let endpoint = &handle.endpoint;
    let fault =
        json!({"logical_id": "T", "on": "create", "effect": {"kind": "fail", "reason": "no"}});
    assert_eq!(
        command(&client, endpoint, "fail-resource", fault).await.0,
        200
    );
    create(&client, endpoint).await;
    assert_eq!(
        handle.control.stack_status("s").as_deref(),
        Some("CREATE_IN_PROGRESS")
    );
    assert_eq!(
        command(&client, endpoint, "advance", json!({"ms": 60_000}))
            .await
            .0,
        200
    );
    assert_eq!(
        handle.control.stack_status("s").as_deref(),
        Some("ROLLBACK_COMPLETE")
    );
    let state: Value = serde_json::from_str(
        &client
            .get(format!("{endpoint}/_double/state"))
            .send()
            .await
            .unwrap()
            .text()
            .await
            .unwrap(),
    )
    .unwrap();
    assert_eq!(state["stacks"][0]["status"], "ROLLBACK_COMPLETE");
    let calls = handle.control.calls();
    assert_eq!(
        (calls[0].action.as_str(), calls[0].outcome.as_str()),
        ("CreateStack", "ok")
    );

    for (verb, body, part) in [
        ("nonsense", json!({}), "unknown variant"),
        ("advance", json!({"seconds": 1}), "missing field `ms`"),
        ("advance", json!([]), "must be a JSON object"),
        (
            "drift-deleted",
            json!({"stack": "s", "logical_id": "X"}),
            "stack s has no resource X",
        ),
    ] {
        let (status, answer) = command(&client, endpoint, verb, body).await;
        assert_eq!(status, 400);
        assert!(answer["error"].as_str().unwrap().contains(part), "{answer}");
    }
}

#[tokio::test]
async fn a_cut_connection_returns_no_answer() {
    let (handle, client) = started(Pace::Manual).await;
    handle
        .control
        .fail_call("CreateStack", 1, 1, CallEffect::CutAfter);
    let params = [("StackName", "s"), ("TemplateBody", TEMPLATE)];
    let answer = call(&client, &handle.endpoint, "CreateStack", &params).await;
    assert!(answer.is_err(), "{answer:?}");
    assert_eq!(
        handle.control.stack_status("s").as_deref(),
        Some("CREATE_IN_PROGRESS")
    );
}

#[tokio::test]
async fn a_slow_call_is_answered_late() {
    let (handle, client) = started(Pace::Manual).await;
    handle
        .control
        .fail_call("ListStacks", 1, 1, CallEffect::Slow { ms: 30 });
    let started = std::time::Instant::now();
    call(&client, &handle.endpoint, "ListStacks", &[])
        .await
        .unwrap();
    assert!(started.elapsed().as_millis() >= 30);
}

#[tokio::test]
async fn every_call_can_move_the_clock() {
    let (handle, client) = started(Pace::PerCall(400)).await;
    create(&client, &handle.endpoint).await;
    let mut polls = 0;
    loop {
        let params = [("StackName", "s")];
        let answer = call(&client, &handle.endpoint, "DescribeStacks", &params)
            .await
            .unwrap();
        if answer.contains("CREATE_COMPLETE") {
            break;
        }
        polls += 1;
        assert!(polls < 10, "{answer}");
    }
    assert!(polls > 0);
}

#[tokio::test]
async fn the_clock_can_run_with_real_time() {
    let (handle, client) = started(Pace::Real(1_000_000.0)).await;
    create(&client, &handle.endpoint).await;
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while handle.control.stack_status("s").as_deref() != Some("CREATE_COMPLETE") {
        assert!(std::time::Instant::now() < deadline);
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn dropping_the_handle_stops_the_server() {
    let (handle, client) = started(Pace::Manual).await;
    handle.control.hang_resource("T", Moment::Create);
    let endpoint = handle.endpoint.clone();
    create(&client, &endpoint).await;
    drop(handle);
    // The task is aborted at its next suspension; a new connection is refused from then on.
    let fresh = reqwest::Client::builder().build().unwrap();
    while call(&fresh, &endpoint, "ListStacks", &[]).await.is_ok() {
        tokio::task::yield_now().await;
    }
}
