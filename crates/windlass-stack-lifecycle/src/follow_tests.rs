//! The fold of events: what belongs to an operation, how far it is, what failed first.

use std::collections::BTreeMap;

use proptest::prelude::*;
use windlass_ports::aws::StackEvent;
use windlass_types::Timestamp;

use crate::failure::Failure;
use crate::follow::Trail;
use crate::status::Operation;

const STACK: &str = "arn:aws:cloudformation:eu-west-1:1:stack/shop-dev/1";

fn event(number: u32, token: &str, id: &str, status: &str, reason: &str) -> StackEvent {
    let is_stack = id == "shop-dev";
    StackEvent {
        event_id: format!("e{number}"),
        stack_id: STACK.to_owned(),
        stack_name: "shop-dev".to_owned(),
        logical_resource_id: id.to_owned(),
        physical_resource_id: Some(if is_stack { STACK } else { "physical" }.to_owned()),
        resource_type: if is_stack {
            "AWS::CloudFormation::Stack"
        } else {
            "AWS::DynamoDB::Table"
        }
        .to_owned(),
        resource_status: status.to_owned(),
        resource_status_reason: Some(reason.to_owned()).filter(|reason| !reason.is_empty()),
        timestamp: Some(Timestamp::from_millis(i64::from(number) * 1000)),
        client_request_token: Some(token.to_owned()),
        ..StackEvent::default()
    }
}

fn trail() -> Trail {
    let planned = ["A", "B", "C", "D"].map(str::to_owned);
    Trail::new(STACK, "run-1", Operation::Deploy, planned, None)
}

#[test]
fn only_events_from_the_first_of_ours_count() {
    let mut trail = trail();
    let own = trail.take(vec![
        event(1, "other", "A", "UPDATE_COMPLETE", ""),
        event(2, "other", "shop-dev", "UPDATE_COMPLETE", ""),
        event(3, "run-1", "shop-dev", "UPDATE_IN_PROGRESS", ""),
        event(4, "run-1", "A", "UPDATE_COMPLETE", ""),
    ]);
    assert_eq!(own.len(), 2);
    assert_eq!((trail.percent, trail.ended.as_deref()), (25, None));
    assert_eq!(trail.last_event_id.as_deref(), Some("e4"));
    let own = trail.take(vec![
        event(
            5,
            "run-1-cancel",
            "shop-dev",
            "UPDATE_ROLLBACK_IN_PROGRESS",
            "User Initiated",
        ),
        event(
            6,
            "run-1-cancel",
            "shop-dev",
            "UPDATE_ROLLBACK_COMPLETE",
            "",
        ),
        event(7, "later", "shop-dev", "UPDATE_IN_PROGRESS", ""),
    ]);
    assert_eq!(own.len(), 2);
    assert_eq!(trail.succeeded(), Some(false));
    assert_eq!(trail.phase(), "rolling-back");
}

#[test]
fn the_first_failure_is_reported_with_its_consequences() {
    let mut trail = trail();
    trail.take(vec![
        event(1, "run-1", "shop-dev", "CREATE_IN_PROGRESS", ""),
        event(2, "run-1", "A", "CREATE_FAILED", "Resource creation cancelled"),
        event(
            3,
            "run-1",
            "B",
            "CREATE_FAILED",
            "Resource handler returned message: \"items already exists\" (RequestToken: 1-2, HandlerErrorCode: AlreadyExists)",
        ),
        event(4, "run-1", "C", "CREATE_FAILED", "Resource creation cancelled"),
        event(5, "run-1", "D", "CREATE_FAILED", "no quota left: quota exceeded"),
        event(6, "run-1", "shop-dev", "ROLLBACK_IN_PROGRESS", "The following resource(s) failed"),
        event(7, "run-1", "shop-dev", "ROLLBACK_COMPLETE", ""),
    ]);
    let names = BTreeMap::from([("B".to_owned(), "items".to_owned())]);
    let failure = Failure::of(&trail, &names, "shop-dev", None);
    assert_eq!(
        failure.sentence(),
        "items (AWS::DynamoDB::Table) failed: items already exists"
    );
    assert_eq!((failure.logical_id.as_str(), failure.cancelled), ("B", 2));
    assert_eq!(failure.also_failed.len(), 1);
    assert_eq!(failure.stack_status, "ROLLBACK_COMPLETE");
    let operations: Vec<&str> = failure
        .remedies
        .iter()
        .map(|remedy| remedy.operation.as_str())
        .collect();
    assert_eq!(operations, ["deploy", "deploy", "delete"]);
    assert!(
        !failure.reason.contains("RequestToken"),
        "{}",
        failure.reason
    );
}

#[test]
fn without_a_failed_resource_the_stack_itself_is_reported() {
    let mut trail = trail();
    trail.take(vec![
        event(1, "run-1", "shop-dev", "UPDATE_IN_PROGRESS", ""),
        event(2, "run-1", "shop-dev", "UPDATE_ROLLBACK_COMPLETE", ""),
    ]);
    let failure = Failure::of(
        &trail,
        &BTreeMap::new(),
        "shop-dev",
        Some("Rollback triggered by alarm x"),
    );
    assert_eq!(failure.logical_id, "shop-dev");
    assert_eq!(failure.cause, "Rollback triggered by alarm x");
}

proptest! {
    /// However the events are cut into batches, and wherever the trail is written down and read
    /// back in between, the end is the same and progress never goes down.
    #[test]
    fn batches_and_restarts_do_not_matter(
        steps in prop::collection::vec((0_usize..5, 0_usize..6), 1..40),
        cuts in prop::collection::vec(1_usize..6, 1..40),
    ) {
        let ids = ["A", "B", "C", "D", "shop-dev"];
        let statuses = [
            "UPDATE_IN_PROGRESS", "UPDATE_COMPLETE", "UPDATE_FAILED", "DELETE_COMPLETE",
            "UPDATE_ROLLBACK_IN_PROGRESS", "UPDATE_ROLLBACK_COMPLETE",
        ];
        let events: Vec<StackEvent> = steps
            .iter()
            .zip(1..)
            .map(|((id, status), number)| {
                event(number, "run-1", ids[*id], statuses[*status], "because")
            })
            .collect();
        let mut whole = trail();
        whole.take(events.clone());
        let mut parts = trail();
        let mut left = events.as_slice();
        let mut cuts = cuts.iter().cycle();
        let mut before = 0;
        while !left.is_empty() {
            let cut = (*cuts.next().unwrap()).min(left.len());
            parts.take(left[..cut].to_vec());
            left = &left[cut..];
            let text = serde_json::to_string(&parts).unwrap();
            parts = serde_json::from_str(&text).unwrap();
            prop_assert!(parts.percent >= before && parts.percent <= 100);
            prop_assert!(parts.percent < 100 || parts.succeeded() == Some(true));
            before = parts.percent;
        }
        prop_assert_eq!(parts, whole);
    }
}

fn without_token(number: u32, id: &str, status: &str) -> StackEvent {
    StackEvent {
        client_request_token: None,
        ..event(number, "", id, status, "")
    }
}

#[test]
fn events_without_tokens_are_those_of_the_operation_they_fit() {
    /// An operation, what the stack says at each look, and the status it ends with.
    type Case<'a> = (Operation, &'a [(&'a str, &'a str)], Option<&'a str>);
    let cases: [Case<'_>; 5] = [
        (
            Operation::Deploy,
            &[
                ("shop-dev", "CREATE_IN_PROGRESS"),
                ("A", "CREATE_COMPLETE"),
                ("shop-dev", "CREATE_COMPLETE"),
            ],
            Some("CREATE_COMPLETE"),
        ),
        (
            Operation::Deploy,
            &[("shop-dev", "REVIEW_IN_PROGRESS")],
            None,
        ),
        (Operation::Deploy, &[("shop-dev", "DELETE_COMPLETE")], None),
        (
            Operation::Delete,
            &[
                ("shop-dev", "UPDATE_COMPLETE"),
                ("shop-dev", "DELETE_IN_PROGRESS"),
                ("shop-dev", "DELETE_COMPLETE"),
            ],
            Some("DELETE_COMPLETE"),
        ),
        (
            Operation::Rollback,
            &[
                ("shop-dev", "UPDATE_FAILED"),
                ("shop-dev", "UPDATE_ROLLBACK_COMPLETE"),
            ],
            Some("UPDATE_ROLLBACK_COMPLETE"),
        ),
    ];
    for (operation, events, ended) in cases {
        let mut trail = Trail {
            operation,
            ..trail()
        };
        let events = events
            .iter()
            .zip(1..)
            .map(|((id, status), number)| without_token(number, id, status));
        trail.take(events.collect());
        assert_eq!(trail.ended.as_deref(), ended, "{operation:?}");
    }
}
