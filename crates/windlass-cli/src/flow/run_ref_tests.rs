//! A run is found by its id, by the beginning of its id, or as the latest.

use serde_json::json;
use windlass_types::{Timestamp, journal::RunCreated};

use super::*;

fn record(id: &str, parent: Option<&str>) -> RunRecord {
    let created: RunCreated = serde_json::from_value(json!({
        "kind": "demo",
        "principal": { "kind": "local", "name": "ada", "scopes": ["*"] },
        "surface": "cli",
        "parent": parent.map(|run_id| json!({ "run_id": run_id, "key": "note" })),
        "trace_id": "0".repeat(32),
        "config_hash": "0".repeat(64),
        "input": {},
    }))
    .unwrap();
    RunRecord::created(id.parse().unwrap(), created, Timestamp::EPOCH)
}

fn search(text: &str, runs: &[RunRecord]) -> Result<String, String> {
    let mut search = Search::new(text);
    search.look_at(runs);
    search
        .finish()
        .map(|id| id.to_string())
        .map_err(|problem| problem.message().to_owned())
}

#[test]
fn beginnings_are_enough_while_they_are_unique() {
    let runs = [
        record("run_b2ff", Some("run_a1ff")),
        record("run_a1ff", None),
        record("run_a1ee", None),
        record("job_77", None),
    ];
    let cases: [(&str, Result<&str, &str>); 8] = [
        ("run_a1f", Ok("run_a1ff")),
        ("a1e", Ok("run_a1ee")),
        ("b", Ok("run_b2ff")),
        ("job", Ok("job_77")),
        ("latest", Ok("run_a1ff")),
        ("a1", Err("\"a1\" is the beginning of 2 runs")),
        ("zz", Err("no run is called \"zz\" or starts with it")),
        ("", Err("no run is called \"\" or starts with it")),
    ];
    for (text, expected) in cases {
        assert_eq!(
            search(text, &runs),
            expected.map(str::to_owned).map_err(str::to_owned),
            "{text}"
        );
    }
    assert_eq!(
        search("latest", &[]),
        Err("there are no runs yet".to_owned())
    );
}

#[test]
fn the_search_stops_once_enough_is_known() {
    let runs: Vec<RunRecord> = (0..10)
        .map(|index| record(&format!("run_a{index}"), None))
        .collect();
    let mut many = Search::new("a");
    assert!(many.look_at(&runs), "more than can be shown");
    let problem = many.finish().unwrap_err();
    assert_eq!(problem.message(), "\"a\" is the beginning of several runs");
    assert_eq!(
        problem.details()["runs"],
        "run_a0 run_a1 run_a2 run_a3 run_a4"
    );
    let mut one = Search::new("run_a3");
    assert!(!one.look_at(&runs), "another page could make it ambiguous");
}
