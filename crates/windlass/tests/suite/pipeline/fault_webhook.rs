//! A receiver that is not there when a job ends, and a server that dies while it still owes the
//! news: it is sent later, under the same id, with a new signature.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use super::site::{NO_LIMITS, SPEC, Site, start};
use crate::suite::support::{
    binary::say,
    home::Place,
    http::Ask,
    loopback::{Closed, Loopback, Request},
};

const WAIT_LIMIT: Duration = Duration::from_secs(30);

fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

/// Both signatures are good for the moment the request names, which is about now.
fn check_signatures(request: &Request, secret: &str) {
    #[expect(
        clippy::disallowed_methods,
        reason = "what the sender says is compared with the machine's clock"
    )]
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let timestamp = request.header("x-aios-timestamp");
    assert_eq!(timestamp, request.header("webhook-timestamp"));
    assert!(now.abs_diff(timestamp.parse().unwrap()) < 60, "{timestamp}");
    let body = &request.body;
    let hex: String = hmac(secret.as_bytes(), &format!("{timestamp}.{body}"))
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(request.header("x-aios-signature"), format!("sha256={hex}"));
    let key = STANDARD
        .decode(secret.strip_prefix("whsec_").unwrap())
        .unwrap();
    let id = request.header("webhook-id");
    let signed = STANDARD.encode(hmac(&key, &format!("{id}.{timestamp}.{body}")));
    assert_eq!(request.header("webhook-signature"), format!("v1,{signed}"));
}

/// The delivery of a job, as the command line lists it.
fn delivery(place: &Place, job: &str) -> Option<Value> {
    let said = say(&place.home(), &["--json", "webhooks", "deliveries"])
        .worked()
        .json();
    let mut open = vec![&said];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(members) if members.get("run_id") == Some(&json!(job)) => {
                return Some(value.clone());
            }
            Value::Object(members) => open.extend(members.values()),
            _ => {}
        }
    }
    None
}

#[test]
fn webhooks_of_a_job_arrive_once_the_receiver_is_up() {
    let receiver = Closed::take();
    let settings = format!(
        "{NO_LIMITS}[webhooks]\nallow_http = true\nallow_private_targets = true\n\
         retry_seconds = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
    );
    let mut site = Site::open(&settings);
    let url = format!("http://{}/hook", receiver.address());
    let input = json!({ "spec": SPEC, "phases": ["strategy"], "webhook_url": url });
    let job = site.begin(&input);
    assert_eq!(site.ended(&job)["status"], "completed");
    let began = Instant::now();
    let id = loop {
        let found = delivery(&site.place, &job).unwrap();
        if found["attempts"].as_array().unwrap().len() >= 2 {
            break found["id"].as_str().unwrap().to_owned();
        }
        assert!(began.elapsed() < WAIT_LIMIT, "{found:#}");
        std::thread::sleep(Duration::from_millis(100));
    };
    site.daemon.process.kill();

    let there = Loopback::start_on(receiver.open(), |request| match request.path.as_str() {
        "/hook" => (204, Vec::new(), String::new()),
        _ => (404, Vec::new(), String::new()),
    });
    site.daemon = start(&site.place);
    let began = Instant::now();
    while there.received().is_empty() {
        assert!(began.elapsed() < WAIT_LIMIT, "nothing arrives");
        std::thread::sleep(Duration::from_millis(20));
    }
    let request = &there.received()[0];
    assert_eq!(request.header("webhook-id"), id);
    assert!(request.header("user-agent").starts_with("Windlass/"));
    check_signatures(request, &site.key.webhook_secret);
    let body = request.json();
    assert_eq!(body["event"], "pipeline.completed");
    assert_eq!(body["job_id"], json!(job));
    assert_eq!(body["phases_completed"], json!(["strategy"]));
    // Its address names the server that ended the job; the path works on this one, without a key.
    let address = body["artifact_urls"]["strategy"].as_str().unwrap();
    let path = &address[address.find("/artifacts/").unwrap()..];
    let reply = Ask::get(path).send(site.daemon.address).unwrap();
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert!(reply.json()["requirements"].is_object());
}
