//! Faults on calls, credentials and reads; drift.

use serde_json::json;

use crate::testing::{Harness, field, fields};
use crate::wire::{Outcome, Request};

fn topic(harness: &mut Harness) {
    harness.create(
        "t",
        &json!({"Resources": {
            "T": {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": "a"}},
            "C": {"Type": "Custom::Thing", "Properties": {"ServiceToken": "arn:x"}},
        }}),
    );
    harness.settle();
}

#[test]
fn the_nth_call_is_refused_with_the_codes_of_aws() {
    for (effect, expected) in [
        (json!({"kind": "throttle"}), "Throttling: Rate exceeded"),
        (
            json!({"kind": "internal"}),
            "InternalFailure: The request processing has failed because of an unknown error, exception or failure.",
        ),
        (
            json!({"kind": "error", "code": "LimitExceededException", "status": 400, "message": "Limit"}),
            "LimitExceededException: Limit",
        ),
    ] {
        let mut harness = Harness::new();
        harness.command(
            json!({"do": "fail-call", "action": "ListStacks", "nth": 2, "effect": effect}),
        );
        harness.ok("ListStacks", &[]);
        assert_eq!(harness.refused("ListStacks", &[]), expected);
        harness.ok("ListStacks", &[]);
    }
}

#[test]
fn a_cut_call_was_carried_out_or_not() {
    for (kind, stacks) in [("cut-before", 0), ("cut-after", 1)] {
        let mut harness = Harness::new();
        harness
            .command(json!({"do": "fail-call", "action": "CreateStack", "effect": {"kind": kind}}));
        let body = json!({"Resources": {"T": {"Type": "AWS::SNS::Topic"}}}).to_string();
        let answer = harness.call(
            "CreateStack",
            &[("StackName", "t"), ("TemplateBody", &body)],
        );
        assert!(answer.is_err());
        assert_eq!(harness.world.stacks.len(), stacks, "{kind}");
        assert_eq!(harness.world.calls[0].outcome, "cut");
    }
}

#[test]
fn credentials_expire_and_actions_are_denied() {
    let mut harness = Harness::new();
    harness.command(json!({"do": "credentials", "expired": true}));
    assert_eq!(
        harness.refused("ListStacks", &[]),
        "ExpiredToken: The security token included in the request is expired"
    );
    harness.command(json!({"do": "credentials", "expired": false}));
    harness.command(json!({"do": "deny", "action": "ListStacks", "denied": true}));
    insta::assert_snapshot!(harness.refused("ListStacks", &[]), @"AccessDenied: User: arn:aws:iam::123456789012:user/double is not authorized to perform: cloudformation:ListStacks because no identity-based policy allows the cloudformation:ListStacks action");
    harness.command(json!({"do": "clear-faults"}));
    harness.ok("ListStacks", &[]);
}

#[test]
fn a_call_without_a_signature_is_refused() {
    let mut harness = Harness::new();
    let request = Request {
        method: "POST".to_owned(),
        path: "/".to_owned(),
        headers: [(
            "content-type".to_owned(),
            "application/x-www-form-urlencoded; charset=utf-8".to_owned(),
        )]
        .into(),
        body: b"Action=ListStacks&Version=2010-05-15".to_vec(),
        ..Request::default()
    };
    let Outcome::Answer(reply) = harness.world.handle(&request) else {
        panic!("no answer");
    };
    let text = String::from_utf8(reply.body).unwrap();
    assert_eq!(reply.status, 403);
    assert_eq!(
        field(&text, "Code").as_deref(),
        Some("MissingAuthenticationToken")
    );
}

#[test]
fn stale_reads_lag_behind_writes() {
    let mut harness = Harness::new();
    harness.command(json!({"do": "stale-reads", "calls": 2}));
    topic(&mut harness);
    assert!(
        harness
            .call("DescribeStacks", &[("StackName", "t")])
            .is_err()
    );
    assert!(
        harness
            .call("DescribeStacks", &[("StackName", "t")])
            .is_err()
    );
    harness.ok("DescribeStacks", &[("StackName", "t")]);
}

#[test]
fn the_next_change_set_can_be_made_to_fail() {
    let mut harness = Harness::new();
    harness.command(json!({"do": "fail-change-set", "reason": "Transform failed"}));
    harness.ok(
        "CreateChangeSet",
        &[
            ("StackName", "t"),
            ("ChangeSetName", "c"),
            ("ChangeSetType", "CREATE"),
            (
                "TemplateBody",
                "{\"Resources\":{\"T\":{\"Type\":\"AWS::SNS::Topic\"}}}",
            ),
        ],
    );
    harness.settle();
    let answer = harness.ok(
        "DescribeChangeSet",
        &[("StackName", "t"), ("ChangeSetName", "c")],
    );
    assert_eq!(
        field(&answer, "StatusReason").as_deref(),
        Some("Transform failed")
    );
}

#[test]
fn drift_is_found_only_by_looking() {
    let mut harness = Harness::new();
    topic(&mut harness);
    harness.command(json!({"do": "drift", "stack": "t", "logical_id": "T", "path": "/DisplayName", "value": "b"}));
    let detect = |harness: &mut Harness| {
        let answer = harness.ok("DetectStackDrift", &[("StackName", "t")]);
        let id = field(&answer, "StackDriftDetectionId").unwrap();
        let ask = |harness: &mut Harness| {
            let params = [("StackDriftDetectionId", id.as_str())];
            harness.ok("DescribeStackDriftDetectionStatus", &params)
        };
        let early = ask(harness);
        assert_eq!(
            field(&early, "DetectionStatus").as_deref(),
            Some("DETECTION_IN_PROGRESS")
        );
        harness.settle();
        ask(harness)
    };
    let done = detect(&mut harness);
    assert_eq!(field(&done, "StackDriftStatus").as_deref(), Some("DRIFTED"));
    assert_eq!(
        field(&done, "DriftedStackResourceCount").as_deref(),
        Some("1")
    );
    let drifts = harness.ok("DescribeStackResourceDrifts", &[("StackName", "t")]);
    assert_eq!(
        fields(&drifts, "StackResourceDriftStatus"),
        ["NOT_CHECKED", "MODIFIED"]
    );
    assert_eq!(fields(&drifts, "PropertyPath"), ["/DisplayName"]);
    assert_eq!(fields(&drifts, "ActualValue"), ["b"]);
    harness.command(json!({"do": "drift-deleted", "stack": "t", "logical_id": "T"}));
    detect(&mut harness);
    let drifts = harness.ok(
        "DescribeStackResourceDrifts",
        &[
            ("StackName", "t"),
            ("StackResourceDriftStatusFilters.member.1", "DELETED"),
        ],
    );
    assert_eq!(fields(&drifts, "LogicalResourceId"), ["T"]);
}

#[test]
fn a_conditional_change_replaces_only_on_request() {
    let template = |engine: &str| json!({"Resources": {"Db": {"Type": "AWS::RDS::DBInstance", "Properties": {"Engine": engine}}}});
    for requested in [false, true] {
        let mut harness = Harness::new();
        harness.create("d", &template("postgres"));
        harness.settle();
        let before = harness.physical("d", "Db");
        if requested {
            harness.command(json!({"do": "replace-conditionally", "logical_id": "Db"}));
        }
        harness.update("d", &template("aurora"), "u1");
        harness.settle();
        assert_eq!(harness.status("d"), "UPDATE_COMPLETE");
        assert_eq!(harness.physical("d", "Db") != before, requested);
    }
}
