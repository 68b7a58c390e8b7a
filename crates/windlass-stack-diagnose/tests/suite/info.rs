//! Questions about stacks, operations and the caller; what AWS's failures become.

use serde_json::{Value, json};
use windlass_ports::aws::{
    AwsFailure, AwsFailureKind, ResourceDrift, ResourceDriftDifference, StackEvent,
};
use windlass_stack_diagnose::JournalRecord;
use windlass_types::Timestamp;

use super::world::{STACK_ID, World, code_and_reason, of_stack, stack};

#[tokio::test]
async fn a_stack_is_shown_with_its_drift_and_what_blocks_it() {
    let mut world = World::new();
    world.cloud.stacks[0].drift_status = Some("DRIFTED".to_owned());
    world.cloud.drifts = vec![ResourceDrift {
        logical_resource_id: "ApiFunction".to_owned(),
        stack_resource_drift_status: "MODIFIED".to_owned(),
        property_differences: vec![ResourceDriftDifference {
            property_path: "/Environment".to_owned(),
            actual_value: "canary-value".to_owned(),
            ..ResourceDriftDifference::default()
        }],
        ..ResourceDrift::default()
    }];
    let (answered, _) = world.ask("info_stack", of_stack(json!({}))).await;
    let answer = answered.unwrap();
    assert_eq!(
        answer.message,
        "shop-dev is UPDATE_COMPLETE with 12 resources"
    );
    let data = &answer.data;
    assert_eq!(data["outputs"], json!({ "ApiUrl": "https://x" }));
    assert_eq!(data["version"], "v000002");
    assert_eq!(data["managedBy"], "windlass");
    assert_eq!(data["stuck"], Value::Null);
    assert_eq!(
        data["drift"]["resources"][0]["properties"],
        json!(["/Environment"])
    );
    assert!(!data.to_string().contains("canary"));
    for (status, remedy) in [
        ("REVIEW_IN_PROGRESS", "delete the empty stack shop-dev"),
        (
            "ROLLBACK_COMPLETE",
            "fix the cause and deploy: one plan deletes the failed shop-dev and creates it again",
        ),
        (
            "DELETE_FAILED",
            "delete shop-dev with retainResources naming the blockers",
        ),
        (
            "UPDATE_ROLLBACK_FAILED",
            "rollback shop-dev, which continues the rollback",
        ),
        ("UPDATE_FAILED", "fix the cause and redeploy"),
    ] {
        let mut world = World::new();
        world.cloud.stacks[0].stack_status = status.to_owned();
        world.cloud.resources[0].resource_status = "DELETE_FAILED".to_owned();
        let (answered, _) = world.ask("info_stack", of_stack(json!({}))).await;
        let answer = answered.unwrap();
        assert_eq!(answer.next_actions[0], remedy);
        assert_eq!(answer.data["stuck"]["state"], status);
    }
}

#[tokio::test]
async fn an_absent_stack_names_the_nearest() {
    let arguments = json!({ "projectName": "shpo", "stage": "dev" });
    let (answered, _) = World::new().ask("info_stack", arguments).await;
    let problem = answered.unwrap_err();
    assert_eq!(code_and_reason(&problem).0, "NOT_FOUND");
    assert_eq!(problem.details()["kind"], "stack");
    assert_eq!(problem.details()["closest"], json!(["shop-dev"]));
}

#[tokio::test]
async fn failures_of_aws_become_codes() {
    let answered = |code: &str, message: &str, status| {
        AwsFailure::answered("cloudformation:DescribeStacks", code, message, status)
    };
    let local = |kind| AwsFailure::local(kind, "cloudformation:DescribeStacks", "x");
    let denied = "User: arn:aws:iam::1:user/ada is not authorized to perform: x";
    for (failure, code, reason) in [
        (
            answered("ExpiredToken", "", 400),
            "UNAUTHORIZED",
            "credentials_expired",
        ),
        (
            answered("InvalidClientTokenId", "", 403),
            "UNAUTHORIZED",
            "no_credentials",
        ),
        (
            answered("AccessDenied", denied, 403),
            "FORBIDDEN",
            "access_denied",
        ),
        (answered("Throttling", "", 400), "TIMEOUT", "throttled"),
        (local(AwsFailureKind::Timeout), "TIMEOUT", "timeout"),
        (
            local(AwsFailureKind::Unreachable),
            "UPSTREAM_ERROR",
            "unreachable",
        ),
        (
            answered("InternalFailure", "", 500),
            "UPSTREAM_ERROR",
            "service_fault",
        ),
        (
            answered("ValidationError", "bad", 400),
            "INVALID_INPUT",
            "refused_by_aws",
        ),
    ] {
        for name in ["info_stack", "info_stacks", "info_operations"] {
            let world = World::new();
            *world.cloud.failure.lock().unwrap() = Some(failure.clone());
            let (result, _) = world.ask(name, of_stack(json!({}))).await;
            let problem = result.unwrap_err();
            assert_eq!(
                code_and_reason(&problem),
                (code, reason.to_owned()),
                "{name} {failure}"
            );
            assert_eq!(problem.details()["action"], "cloudformation:DescribeStacks");
            if code == "FORBIDDEN" {
                assert_eq!(problem.details()["principal"], "arn:aws:iam::1:user/ada");
            }
        }
    }
}

#[tokio::test]
async fn stacks_of_a_region_by_project_and_stage() {
    let named = |name: &str, description: &str| {
        let mut other = stack();
        other.stack_name = name.to_owned();
        other.description = Some(description.to_owned());
        other.tags.clear();
        other
    };
    for (filter, expected) in [
        (json!({}), json!(["blog-dev", "old-prod", "shop-dev"])),
        (json!({ "projectName": "shop" }), json!(["shop-dev"])),
        (json!({ "stage": "dev" }), json!(["blog-dev", "shop-dev"])),
        (
            json!({ "projectName": "old", "stage": "prod" }),
            json!(["old-prod"]),
        ),
        (json!({ "projectName": "none" }), json!([])),
    ] {
        let mut world = World::new();
        world
            .cloud
            .stacks
            .push(named("old-prod", "STP-stack_old_prod_x"));
        world.cloud.stacks.push(named("blog-dev", "a blog"));
        let (answered, _) = world.ask("info_stacks", filter.clone()).await;
        let data = answered.unwrap().data;
        let stacks = data["stacks"].as_array().unwrap();
        let names: Vec<&Value> = stacks.iter().map(|stack| &stack["stackName"]).collect();
        assert_eq!(json!(names), expected, "{filter}");
        for stack in stacks {
            let by = match stack["stackName"].as_str().unwrap() {
                "shop-dev" => "windlass",
                "old-prod" => "stacktape",
                _ => "other",
            };
            assert_eq!(stack["managedBy"], by);
        }
    }
}

#[tokio::test]
async fn the_caller_is_named() {
    let mut world = World::new();
    world.settings.policy = json!({ "default": "allow" });
    let (answered, _) = world.ask("info_whoami", json!({ "profile": "dev" })).await;
    let data = answered.unwrap().data;
    assert_eq!(data["account"], "123456789012");
    assert_eq!(data["region"], "eu-west-1");
    assert_eq!(data["profile"], "dev");
    assert_eq!(data["localPrincipal"], "local:ada");
    assert_eq!(data["policy"]["default"], "allow");
}

fn event(token: Option<&str>, second: i64, logical: &str, status: &str) -> StackEvent {
    let own = logical == "shop-dev";
    StackEvent {
        stack_id: STACK_ID.to_owned(),
        stack_name: "shop-dev".to_owned(),
        logical_resource_id: logical.to_owned(),
        physical_resource_id: own.then(|| STACK_ID.to_owned()),
        resource_type: if own {
            "AWS::CloudFormation::Stack"
        } else {
            "AWS::SQS::Queue"
        }
        .to_owned(),
        resource_status: status.to_owned(),
        resource_status_reason: status.ends_with("FAILED").then(|| "no".to_owned()),
        timestamp: Some(Timestamp::from_millis(second * 1000)),
        client_request_token: token.map(str::to_owned),
        ..StackEvent::default()
    }
}

#[tokio::test]
async fn operations_of_the_journal_and_of_other_machines_are_merged() {
    let mut events = vec![
        event(None, 1, "shop-dev", "CREATE_IN_PROGRESS"),
        event(None, 2, "shop-dev", "CREATE_COMPLETE"),
        event(Some("ours"), 10, "shop-dev", "UPDATE_IN_PROGRESS"),
        event(Some("ours"), 11, "shop-dev", "UPDATE_COMPLETE"),
        event(Some("theirs"), 20, "shop-dev", "UPDATE_IN_PROGRESS"),
        event(Some("theirs"), 21, "Queue", "UPDATE_FAILED"),
        event(
            Some("theirs"),
            22,
            "shop-dev",
            "UPDATE_ROLLBACK_IN_PROGRESS",
        ),
        event(Some("theirs"), 23, "shop-dev", "UPDATE_ROLLBACK_COMPLETE"),
        event(Some("now"), 30, "shop-dev", "DELETE_IN_PROGRESS"),
    ];
    events.reverse();
    let record = JournalRecord {
        run_id: "run_1".to_owned(),
        operation: "deploy".to_owned(),
        stack_name: Some("shop-dev".to_owned()),
        client_request_token: Some("ours".to_owned()),
        principal: "local:ada".to_owned(),
        state: "succeeded".to_owned(),
        code: Some("OK".to_owned()),
        started_at: Timestamp::from_millis(9_000),
        ended_at: None,
        plan_digest: None,
    };
    let world = |arguments: Value| {
        let mut world = World::new();
        world.cloud.events = events.clone();
        world.journal = vec![record.clone()];
        async move {
            let data = world
                .ask("info_operations", arguments)
                .await
                .0
                .unwrap()
                .data;
            let operations = data["operations"].as_array().unwrap().clone();
            let lines: Vec<String> = operations
                .iter()
                .map(|operation| {
                    let text = |name: &str| operation[name].as_str().unwrap_or("-").to_owned();
                    [
                        text("source"),
                        text("operation"),
                        text("state"),
                        text("code"),
                        text("runId"),
                    ]
                    .join(" ")
                })
                .collect();
            (lines.join("\n"), operations)
        }
    };
    let (lines, operations) = world(of_stack(json!({}))).await;
    insta::assert_snapshot!(lines, @"
    cloudformation delete running - -
    cloudformation deploy failed DEPLOY_FAILED -
    journal deploy succeeded OK run_1
    cloudformation deploy succeeded OK -
    ");
    assert_eq!(operations[1]["firstFailure"]["logicalId"], "Queue");
    let (everywhere, _) = world(json!({})).await;
    assert_eq!(everywhere, lines);
    let (own, _) = world(json!({ "currentUserOnly": true })).await;
    assert_eq!(own, "journal deploy succeeded OK run_1");
    let (few, _) = world(json!({ "limit": "1" })).await;
    assert_eq!(few, "cloudformation delete running - -");
}

#[tokio::test]
async fn without_aws_the_journal_still_answers() {
    let mut world = World::new();
    *world.cloud.failure.lock().unwrap() = Some(AwsFailure::answered(
        "cloudformation:DescribeStacks",
        "ExpiredToken",
        "",
        400,
    ));
    world.journal = vec![JournalRecord {
        run_id: "run_1".to_owned(),
        operation: "deploy".to_owned(),
        stack_name: None,
        client_request_token: None,
        principal: "local:ada".to_owned(),
        state: "running".to_owned(),
        code: None,
        started_at: Timestamp::EPOCH,
        ended_at: None,
        plan_digest: None,
    }];
    let (answered, _) = world.ask("info_operations", json!({})).await;
    let data = answered.unwrap().data;
    assert_eq!(data["operations"].as_array().unwrap().len(), 1);
    assert_eq!(data["cloudFormation"]["available"], false);
}
