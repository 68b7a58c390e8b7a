//! Contract 001 over real sockets: what a client sees byte by byte.

use serde_json::{Value, json};

use super::{
    connections::{Running, exchange},
    pipelines_support::{Jobs, SPEC, shop},
};

fn request(method: &str, path: &str, key: &str, body: &str) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Status line, headers by lower-case name, body.
fn read(answer: &str) -> (u16, Vec<(String, String)>, Value) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap();
    let headers = lines
        .map(|line| line.split_once(": ").unwrap())
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    (
        status.parse().unwrap(),
        headers,
        serde_json::from_str(body).unwrap_or(Value::Null),
    )
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> &'a str {
    let found: Vec<&str> = headers
        .iter()
        .filter(|(header, _)| header == name)
        .map(|(_, value)| value.as_str())
        .collect();
    match found.as_slice() {
        [] => "",
        [one] => one,
        several => panic!("{name} is there {} times", several.len()),
    }
}

#[tokio::test]
async fn a_job_from_first_request_to_last_byte() {
    let shop = shop(Jobs::GoOn, |_| {}).await;
    let running = Running::start(&shop.server.state, |_| {}).await;
    let send = async |method: &str, path: &str, body: &str| {
        let request = request(method, path, &shop.key, body);
        read(&exchange(running.address, request.as_bytes()).await)
    };
    let input = json!({ "spec": SPEC, "phases": ["strategy"] }).to_string();
    let (status, headers, body) = send("POST", "/v1/pipelines", &input).await;
    assert_eq!((status, body["status"].as_str()), (202, Some("running")));
    let place = header(&headers, "location").to_owned();
    let job = body["job_id"].as_str().unwrap();
    assert!(place.ends_with(job) && job.len() == 30, "{place}");
    for (name, value) in [
        ("x-ratelimit-limit", "60"),
        ("x-ratelimit-remaining", "59"),
        ("x-ratelimit-reset", "1750000060"),
        ("ratelimit-policy", "\"requests\";q=60;w=60"),
        ("ratelimit", "\"requests\";r=59;t=60"),
        ("retry-after", ""),
        ("content-type", "application/json"),
    ] {
        assert_eq!(header(&headers, name), value, "{name}");
    }
    shop.ended(job).await;
    let (status, _, body) = send("GET", &place, "").await;
    assert_eq!(
        (status, body["progress_percent"].as_u64()),
        (200, Some(100))
    );
    let (status, headers, artifact) = send("GET", &format!("{place}/artifacts/strategy"), "").await;
    assert_eq!(status, 200);
    assert!(artifact["requirements"]["functional"][0]["id"] == "FR-1");
    let tag = header(&headers, "etag").to_owned();
    let again = request("GET", &format!("/artifacts/{job}/strategy"), &shop.key, "")
        .replace("Connection", &format!("If-None-Match: {tag}\r\nConnection"));
    let (status, headers, _) = read(&exchange(running.address, again.as_bytes()).await);
    assert_eq!((status, header(&headers, "etag")), (304, tag.as_str()));
    assert_eq!(header(&headers, "x-ratelimit-remaining"), "56");
    let (_, headers, stream) = {
        let answer = exchange(
            running.address,
            request("GET", &format!("{place}/events"), &shop.key, "").as_bytes(),
        )
        .await;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.len(), head.to_owned(), body.to_owned())
    };
    assert!(headers.contains("text/event-stream"), "{headers}");
    assert!(stream.contains("event: end"), "{stream}");
    running.stop().await;
}
