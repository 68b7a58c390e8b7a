//! A job that policy asks about waits as a run until another person has approved it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::suite::support::{
    binary::{Daemon, free_address, say},
    home::Place,
    http::Ask,
};

const POLICY: &str = "version = 1
approvers = [\"local:*\"]
[[rule]]
operation = \"pipeline.full_pipeline\"
principal = \"key:*\"
decision = \"ask\"
";

#[test]
fn a_job_waits_for_another_principal_and_then_runs() {
    let place = Place::with_policy(POLICY);
    let home = place.home();
    let key = say(&home, &["keys", "create", "agent", "--scope", "*"]).worked();
    let bearer = format!("Bearer {}", key.stdout.trim());
    let mut daemon = Daemon::spawn(&home, free_address(), &[]);
    daemon.wait_until_ready();
    let call = |operation: &str, input: Value| {
        let path = format!("/v1/operations/{operation}");
        let ask = Ask::post(&path, input.to_string()).with("authorization", &bearer);
        ask.send(daemon.address).unwrap().json()
    };
    let spec = "A list of books. Users sign in and add books with a title and an author.";
    let started = call("pipeline.full_pipeline", json!({ "spec": spec }));
    let job = started["job_id"]
        .as_str()
        .unwrap_or_else(|| panic!("{started}"));
    std::thread::sleep(Duration::from_millis(500));
    let status = call("pipeline.get_status", json!({ "job_id": job }));
    assert_eq!(
        status["progress"]["completed_phases"]
            .as_array()
            .map_or(0, Vec::len),
        0,
        "{status}"
    );
    say(&home, &["runs", "approve", job]).worked();
    let begun = Instant::now();
    loop {
        let status = call("pipeline.get_status", json!({ "job_id": job }));
        if status["status"] == "completed" {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(90), "{status}");
        std::thread::sleep(Duration::from_millis(100));
    }
}
