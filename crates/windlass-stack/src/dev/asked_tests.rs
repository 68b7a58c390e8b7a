//! Calls with sound and unsound arguments.

use serde_json::json;

use super::*;

fn read(operation: DevOperation, arguments: Value) -> Result<Asked, Problem> {
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object");
    };
    Asked::read(operation, &arguments, Path::new("/app"))
}

#[test]
fn any_spelling_and_what_is_left_out() {
    let asked = read(
        DevOperation::Start,
        json!({ "fresh_db": true, "agent-port": 7400, "resources": ["all"], "timeout-seconds": "5" }),
    )
    .unwrap();
    assert!(asked.fresh_db && asked.wait);
    assert_eq!(asked.agent_port, Some(7400));
    assert_eq!(asked.resources, ["all"]);
    assert_eq!(asked.timeout, Some(Duration::from_secs(5)));
    assert_eq!(asked.wanted().directory, Path::new("/app"));

    let asked = read(
        DevOperation::Logs,
        json!({ "cursor": "17", "limit": 2, "configPath": "infra/stacktape.yml", "currentWorkingDirectory": "shop" }),
    )
    .unwrap();
    assert_eq!(asked.wanted().directory, Path::new("/app/shop/infra"));
    let query = asked.log_query();
    assert_eq!((query.cursor, query.limit), (Some(17), Some(2)));
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    for (operation, arguments, reason, argument) in [
        (
            DevOperation::Start,
            json!({ "agentPort": 0 }),
            "invalid_argument",
            "agentPort",
        ),
        (
            DevOperation::Start,
            json!({ "agentPort": 70_000 }),
            "invalid_argument",
            "agentPort",
        ),
        (
            DevOperation::Start,
            json!({ "stage": "much-too-long-stage" }),
            "invalid_argument",
            "stage",
        ),
        (
            DevOperation::Start,
            json!({ "freshDb": "yes" }),
            "invalid_argument",
            "freshDb",
        ),
        (
            DevOperation::Start,
            json!({ "timeoutSeconds": 0 }),
            "invalid_argument",
            "timeoutSeconds",
        ),
        (
            DevOperation::Start,
            json!({ "apiKey": "k" }),
            "credentials_in_arguments",
            "apiKey",
        ),
        (
            DevOperation::Status,
            json!({ "freshDb": true }),
            "unknown_argument",
            "freshDb",
        ),
        (
            DevOperation::Logs,
            json!({ "limit": 0 }),
            "invalid_argument",
            "limit",
        ),
        (
            DevOperation::Logs,
            json!({ "limit": 1001 }),
            "invalid_argument",
            "limit",
        ),
        (
            DevOperation::Rebuild,
            json!({}),
            "missing_argument",
            "workload",
        ),
    ] {
        let problem = read(operation, arguments.clone()).unwrap_err();
        let details = problem.details();
        assert_eq!(
            (&details["reason"], &details["argument"]),
            (&json!(reason), &json!(argument)),
            "{arguments}"
        );
    }
}
