//! The API as a runtime sees it.

use windlass_system::SystemClock;

use super::*;

async fn api(timeout: Duration) -> (Arc<RuntimeApi>, reqwest::Client, String) {
    let api = RuntimeApi::listen(Arc::new(SystemClock), "arn:local".to_owned(), timeout)
        .await
        .unwrap();
    let base = format!("http://{}/2018-06-01/runtime", api.address());
    (
        Arc::new(api),
        reqwest::Client::builder().no_proxy().build().unwrap(),
        base,
    )
}

fn invoke(
    api: &Arc<RuntimeApi>,
    id: &str,
) -> tokio::task::JoinHandle<Option<Result<Bytes, InvokeFailure>>> {
    let (api, id) = (api.clone(), id.to_owned());
    tokio::spawn(async move {
        api.invoke(id, "Root=1-a".to_owned(), Bytes::from_static(b"{}"))
            .await
    })
}

#[tokio::test]
async fn events_headers_answers_and_wrong_ids() {
    let (api, client, base) = api(Duration::from_secs(60)).await;
    let result = invoke(&api, "one");
    let work = client
        .get(format!("{base}/invocation/next"))
        .send()
        .await
        .unwrap();
    assert_eq!(api.initialised().await, Init::Done);
    let header = |name: &str| work.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("lambda-runtime-aws-request-id"), "one");
    assert_eq!(header("lambda-runtime-invoked-function-arn"), "arn:local");
    assert_eq!(header("lambda-runtime-trace-id"), "Root=1-a");
    assert!(header("lambda-runtime-deadline-ms").parse::<u64>().unwrap() > 1_600_000_000_000);
    for (id, status) in [("other", 400), ("one", 202), ("one", 400)] {
        let answer = client
            .post(format!("{base}/invocation/{id}/response"))
            .body("42")
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), status, "{id}");
    }
    assert_eq!(result.await.unwrap().unwrap().unwrap(), "42");
}

#[tokio::test]
async fn errors_timeouts_and_the_end_of_the_process() {
    let (api, client, base) = api(Duration::from_millis(200)).await;
    let failed = invoke(&api, "one");
    client
        .get(format!("{base}/invocation/next"))
        .send()
        .await
        .unwrap();
    client
        .post(format!("{base}/invocation/one/error"))
        .body(r#"{"errorType":"Oops","errorMessage":"no","trace":[]}"#)
        .send()
        .await
        .unwrap();
    assert_eq!(
        failed.await.unwrap().unwrap().unwrap_err().to_string(),
        "Oops: no"
    );

    let slow = invoke(&api, "two");
    client
        .get(format!("{base}/invocation/next"))
        .send()
        .await
        .unwrap();
    assert_eq!(
        slow.await.unwrap(),
        Some(Err(InvokeFailure::Timeout(Duration::from_millis(200))))
    );

    let orphan = invoke(&api, "three");
    while api.is_idle() {
        tokio::task::yield_now().await;
    }
    api.close();
    assert_eq!(orphan.await.unwrap(), None, "never taken");
    assert_eq!(invoke(&api, "four").await.unwrap(), None, "nobody is there");
}

#[tokio::test]
async fn an_init_error_is_reported() {
    let (api, client, base) = api(Duration::from_secs(60)).await;
    client
        .post(format!("{base}/init/error"))
        .body(r#"{"errorType":"ImportError","errorMessage":"no module"}"#)
        .send()
        .await
        .unwrap();
    assert_eq!(
        api.initialised().await,
        Init::Failed(FunctionError {
            error_type: "ImportError".to_owned(),
            error_message: "no module".to_owned(),
            ..FunctionError::default()
        })
    );
}
