//! Previews: what is shown, and that nothing stays behind on any way out.

use std::time::Duration;

use serde_json::json;
use windlass_cfn_double::{CallEffect, Command, Moment};
use windlass_stack_lifecycle::preview::{self, DriftWish, PreviewIntent, Source, intend};
use windlass_stack_lifecycle::{FaultKind, change_set};

use super::world::{STACK, World, bucket, proposal, queue, topic};

#[tokio::test]
async fn before_the_first_deployment_everything_is_new_and_nothing_is_left() {
    let world = World::start().await;
    let wanted = proposal(json!({ "News": topic(), "Files": bucket("shop-files") }));
    let preview = world.preview(&wanted).await.unwrap();
    assert!(preview.is_new_stack && !preview.plan.no_changes);
    assert_eq!(preview.source, Source::ChangeSet);
    assert_eq!(preview.plan.counts().create, 2);
    let data = preview.data();
    assert_eq!(data["resourceChanges"][0]["resourceName"], "files");
    assert_eq!(data["changes"][0]["ResourceChange"]["Action"], "Add");
    assert_eq!(world.left_behind(), [] as [String; 0]);
    assert_eq!(world.called("ExecuteChangeSet"), 0);
    // A second preview is not disturbed by the first.
    let again = world.preview(&wanted).await.unwrap();
    assert_eq!(again.plan.digest(), preview.plan.digest());
}

#[tokio::test]
async fn an_empty_change_set_is_no_changes() {
    let world = World::start().await;
    let wanted = proposal(json!({ "News": topic() }));
    world.deploy(&wanted, "run_0").await;
    let preview = world.preview(&wanted).await.unwrap();
    assert!(preview.plan.no_changes && preview.plan.changes.is_empty());
    assert_eq!(world.left_behind(), ["shop-dev CREATE_COMPLETE"]);
}

#[tokio::test]
async fn replacement_and_deletion_of_data_are_called_out() {
    let world = World::start().await;
    let before = proposal(json!({
        "Files": bucket("shop-files"), "Old": bucket("shop-old"), "Jobs": queue(1),
        "Kept": { "Type": "AWS::S3::Bucket", "DeletionPolicy": "Retain" },
    }));
    world.deploy(&before, "run_0").await;
    let after = proposal(json!({ "Files": bucket("shop-files-2"), "Jobs": queue(2) }));
    let preview = world.preview(&after).await.unwrap();
    let shown: Vec<String> = preview
        .plan
        .changes
        .iter()
        .map(|change| format!("{} {}", change.logical_id, change.action.name()))
        .collect();
    assert_eq!(
        shown,
        ["Files replace", "Jobs update", "Kept retain", "Old delete"]
    );
    let losses: Vec<String> = preview
        .plan
        .stateful()
        .into_iter()
        .filter(|found| found.needs_confirm)
        .map(|found| format!("{}: {}", found.resource_name, found.reason))
        .collect();
    assert_eq!(
        losses,
        [
            "files: BucketName changes from `shop-files` to `shop-files-2`; this needs a new resource; its data is lost",
            "Old: it is no longer in the template; its data is lost",
        ]
    );
    assert!(preview.plan.needs_confirm());
    assert_eq!(world.left_behind(), ["shop-dev CREATE_COMPLETE"]);
}

#[tokio::test]
async fn a_refused_change_says_why_and_leaves_nothing() {
    let world = World::start().await;
    let wanted = proposal(json!({ "News": topic() }));
    world
        .control()
        .apply(Command::FailChangeSet {
            reason: "Transform X failed (RequestId: 12)".to_owned(),
        })
        .unwrap();
    let fault = world.preview(&wanted).await.unwrap_err();
    assert_eq!(
        (fault.kind, fault.reason.as_str()),
        (FaultKind::Validation, "change_set_failed")
    );
    assert!(
        fault.message.ends_with("Transform X failed"),
        "{}",
        fault.message
    );
    assert_eq!(world.left_behind(), [] as [String; 0]);
}

#[tokio::test]
async fn a_large_template_needs_the_store_or_is_read_locally() {
    let world = World::start().await;
    let mut resources = json!({});
    for index in 0..400 {
        resources[format!("Topic{index}")] = json!({
            "Type": "AWS::SNS::Topic",
            "Properties": { "DisplayName": "x".repeat(90) },
        });
    }
    let wanted = proposal(resources);
    let local = world.preview(&wanted).await.unwrap();
    assert_eq!(
        (local.source, local.plan.counts().create),
        (Source::Local, 400)
    );
    assert_eq!(world.called("CreateChangeSet"), 0);
    world.store.ensure_bucket(&world.access).await.unwrap();
    let asked = world.preview(&wanted).await.unwrap();
    assert_eq!(
        (asked.source, asked.plan.counts().create),
        (Source::ChangeSet, 400)
    );
    world.preview(&wanted).await.unwrap();
    assert_eq!(world.called("PutObject"), 1);
    assert_eq!(world.left_behind(), [] as [String; 0]);
}

#[tokio::test]
async fn drift_is_shown_with_what_was_not_checked() {
    let world = World::start().await;
    let wanted = proposal(json!({
        "Jobs": queue(1), "News": topic(), "Odd": { "Type": "Vendor::Odd::Thing" },
    }));
    world.deploy(&wanted, "run_0").await;
    world
        .control()
        .apply(Command::Drift {
            stack: STACK.to_owned(),
            logical_id: "Jobs".to_owned(),
            path: "/DelaySeconds".to_owned(),
            value: json!(9),
        })
        .unwrap();
    let preview = world
        .preview_with(&wanted, DriftWish::Detect)
        .await
        .unwrap();
    let drift = preview.drift.unwrap();
    assert_eq!((drift.status.as_str(), drift.checked), ("DRIFTED", 2));
    assert_eq!(drift.not_checked, ["Odd"]);
    let jobs = &drift.resources[0];
    assert_eq!(
        (jobs.logical_id.as_str(), jobs.status.as_str()),
        ("Jobs", "MODIFIED")
    );
    assert_eq!(jobs.differences[0].path, "/DelaySeconds");
    assert_eq!(jobs.differences[0].actual, "9");
}

#[tokio::test]
async fn failing_calls_are_waited_out_until_the_deadline() {
    let world = World::start().await;
    let wanted = proposal(json!({ "News": topic() }));
    let effects = [
        // The adapter slows down for real when it is throttled, so once is enough here.
        (CallEffect::Throttle, 1),
        (CallEffect::Internal, 2),
        (CallEffect::CutBefore, 2),
        (CallEffect::CutAfter, 2),
    ];
    for (effect, times) in effects {
        for action in ["CreateChangeSet", "DescribeChangeSet", "DeleteStack"] {
            world.control().fail_call(action, 1, times, effect.clone());
        }
        world
            .preview(&wanted)
            .await
            .unwrap_or_else(|fault| panic!("{effect:?}: {fault:?}"));
        assert_eq!(world.left_behind(), [] as [String; 0], "{effect:?}");
        world.control().clear_faults();
    }
    let world = World::start().await;
    world
        .control()
        .fail_call("DescribeChangeSet", 1, 0, CallEffect::Internal);
    let fault = world.preview(&wanted).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Timeout);
    assert_eq!(world.left_behind(), [] as [String; 0]);
}

#[tokio::test]
async fn a_missing_permission_and_expired_credentials_are_named() {
    let world = World::start().await;
    let wanted = proposal(json!({ "News": topic() }));
    world.control().deny("CreateChangeSet", true);
    let fault = world.preview(&wanted).await.unwrap_err();
    assert_eq!(
        (fault.kind, fault.reason.as_str()),
        (FaultKind::Auth, "access_denied")
    );
    assert_eq!(fault.data["action"], "cloudformation:CreateChangeSet");
    assert!(
        fault.data["principal"]
            .as_str()
            .unwrap()
            .starts_with("arn:aws:")
    );
    world.control().deny("CreateChangeSet", false);
    world.control().expire_credentials(true);
    let fault = world.preview(&wanted).await.unwrap_err();
    assert!(fault.is_expired() && fault.kind == FaultKind::Auth);
}

#[tokio::test]
async fn what_a_crash_left_is_cleaned_from_the_recorded_intent() {
    let world = World::start().await;
    let wanted = proposal(json!({ "News": topic() }));
    let situation = world.situation().await;
    let intent = intend(&situation, &change_set::name("preview", "run_7"));
    let request = world.request(&wanted, &situation, &intent, DriftWish::Skip);
    preview::inspect(&world.access, request, world.deadline())
        .await
        .unwrap();
    assert_eq!(world.left_behind().len(), 2);
    // Another preview in the same empty stack is not disturbed, and the last one takes it away.
    let second = world.situation().await;
    assert!(second.owns_review);
    let other = intend(&second, &change_set::name("preview", "run_8"));
    let request = world.request(&wanted, &second, &other, DriftWish::Skip);
    preview::inspect(&world.access, request, world.deadline())
        .await
        .unwrap();
    let recorded: PreviewIntent =
        serde_json::from_value(serde_json::to_value(&intent).unwrap()).unwrap();
    preview::clean(&world.access, &recorded, world.deadline())
        .await
        .unwrap();
    assert_eq!(
        world.left_behind(),
        ["shop-dev REVIEW_IN_PROGRESS", "\"windlass-preview-run-8\""]
    );
    preview::clean(&world.access, &other, world.deadline())
        .await
        .unwrap();
    preview::clean(&world.access, &other, world.deadline())
        .await
        .unwrap();
    assert_eq!(world.left_behind(), [] as [String; 0]);
}

#[tokio::test]
async fn stacks_of_others_and_busy_ones_are_refused() {
    let world = World::start().await;
    let mut foreign = proposal(json!({ "Jobs": queue(1) }));
    foreign.tags.clear();
    foreign.template["Description"] = json!("STP-stack_shop_dev_1a2b");
    world.deploy(&foreign, "run_0").await;
    let fault = world
        .preview(&proposal(json!({ "Jobs": queue(2) })))
        .await
        .unwrap_err();
    assert_eq!(fault.reason, "foreign_stack");

    let world = World::start().await;
    world
        .deploy(&proposal(json!({ "Jobs": queue(1) })), "run_0")
        .await;
    world.control().hang_resource("Jobs", Moment::Update);
    let wanted = proposal(json!({ "Jobs": queue(2) }));
    let intent = world
        .intent(
            &wanted,
            "run_9",
            windlass_stack_lifecycle::execute::OnFailure::Rollback,
        )
        .await
        .unwrap();
    let deadline = world.access.clock.now().after(Duration::from_secs(60));
    windlass_stack_lifecycle::execute::begin(&world.access, &intent, deadline)
        .await
        .unwrap();
    let fault = world.preview(&wanted).await.unwrap_err();
    assert_eq!(fault.reason, "stack_busy");
    assert_eq!(fault.data["operation"], "run-9");
}
