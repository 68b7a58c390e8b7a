//! Deployments to every outcome, and resumed wherever they were left.

use std::collections::BTreeMap;

use serde_json::json;
use windlass_cfn_double::{CallEffect, Moment};
use windlass_ports::aws::ChangeSetAddress;
use windlass_stack_lifecycle::execute::{self, Begun, Cancelled, ExecuteIntent, OnFailure};
use windlass_stack_lifecycle::failure::Failure;
use windlass_stack_lifecycle::follow::{self, Trail};
use windlass_stack_lifecycle::preview::Source;
use windlass_stack_lifecycle::rollback::{self, Mode};
use windlass_stack_lifecycle::{FaultKind, change_set, delete, policy};

use super::world::{STACK, World, bucket, proposal, queue, topic};

fn after(id: &str, mut resource: serde_json::Value) -> serde_json::Value {
    resource["DependsOn"] = json!(id);
    resource
}

#[tokio::test]
async fn created_updated_and_proved() {
    let world = World::start().await;
    let first = proposal(json!({ "News": topic(), "Jobs": queue(1) }));
    let confirmed = world.preview(&first).await.unwrap().plan;
    let (_, fresh) = world.propose(&first, "run_1").await.unwrap();
    fresh.prove_equal(&confirmed).unwrap();
    let trail = world.deploy(&first, "run_1").await;
    assert_eq!(
        (trail.ended.as_deref(), trail.percent),
        (Some("CREATE_COMPLETE"), 100)
    );
    assert_eq!(trail.succeeded(), Some(true));

    let second = proposal(json!({ "News": topic(), "Jobs": queue(2) }));
    let confirmed = world.preview(&second).await.unwrap().plan;
    let other = proposal(json!({ "News": topic(), "Jobs": queue(3) }));
    let trail = world.deploy(&other, "run_2").await;
    assert_eq!(trail.ended.as_deref(), Some("UPDATE_COMPLETE"));
    let (set, fresh) = world.propose(&second, "run_3").await.unwrap();
    let fault = fresh.prove_equal(&confirmed).unwrap_err();
    assert_eq!(fault.kind, FaultKind::ConfirmationRequired);
    assert_eq!(fault.data["diff"]["baseChanged"], true);
    let address = ChangeSetAddress {
        stack: set.stack_id.clone(),
        change_set: set.change_set_id.clone(),
    };
    change_set::discard(&world.access, &address, world.deadline())
        .await
        .unwrap();
    change_set::discard(&world.access, &address, world.deadline())
        .await
        .unwrap();
}

#[tokio::test]
async fn a_failed_creation_is_reported_and_recreated_by_one_plan() {
    let world = World::start().await;
    let wanted =
        proposal(json!({ "News": topic(), "Files": bucket("shop-files"), "Jobs": queue(1) }));
    world.control().fail_resource(
        "Files",
        Moment::Create,
        "shop-files already exists (Service: S3, Request ID: 1)",
    );
    let trail = world.deploy(&wanted, "run_1").await;
    assert_eq!(trail.ended.as_deref(), Some("ROLLBACK_COMPLETE"));
    let failure = Failure::of(&trail, &wanted.names, STACK, None);
    assert_eq!(
        failure.sentence(),
        "files (AWS::S3::Bucket) failed: shop-files already exists"
    );
    assert_eq!(failure.status, "CREATE_FAILED");
    assert_eq!(failure.remedies.last().unwrap().operation, "delete");
    // CloudFormation takes no change set for it; a plan still says what to do.
    let fault = world.propose(&wanted, "run_2").await.unwrap_err();
    assert_eq!(fault.reason, "stack_stuck");
    assert!(
        fault.next_actions[0].starts_with("deploy: "),
        "{:?}",
        fault.next_actions
    );
    let preview = world.preview(&wanted).await.unwrap();
    let plan = &preview.plan;
    assert!(preview.is_new_stack && plan.needs_confirm() && !plan.loses_data());
    assert_eq!((preview.source, plan.counts().create), (Source::Local, 3));
    let data = preview.data();
    assert_eq!(data["recreate"], true);
    assert_eq!(data["stuck"]["state"], "ROLLBACK_COMPLETE");
    let stuck = world
        .situation()
        .await
        .stuck(&world.access)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(stuck.state, "ROLLBACK_COMPLETE");
    let failed = plan.recreate.clone().unwrap();
    let intent = delete::intend(&world.access, &failed, "run_3-recreate", None).await;
    let intent = intent.unwrap();
    delete::begin(&world.access, &intent, world.deadline())
        .await
        .unwrap();
    let trail = world.follow(intent.trail()).await.unwrap();
    assert_eq!(trail.succeeded(), Some(true));
    let (_, made) = world.propose(&wanted, "run_3").await.unwrap();
    plan.prove_fulfilled(&made, &wanted.template).unwrap();
}

/// What the failed creation left in the account is listed, and is not managed any more.
#[tokio::test]
async fn what_a_failed_creation_kept_is_listed() {
    let world = World::start().await;
    let mut kept = bucket("shop-kept");
    kept["DeletionPolicy"] = json!("Retain");
    let wanted = proposal(json!({ "Files": kept, "Jobs": after("Files", queue(1)) }));
    world
        .control()
        .fail_resource("Jobs", Moment::Create, "quota exceeded");
    let trail = world.deploy(&wanted, "run_1").await;
    assert_eq!(trail.ended.as_deref(), Some("ROLLBACK_COMPLETE"));
    let preview = world.preview(&wanted).await.unwrap();
    let stateful = preview.plan.stateful();
    assert_eq!(stateful.len(), 1, "{stateful:?}");
    assert_eq!(stateful[0].resource_name, "files");
    assert_eq!(
        stateful[0].reason,
        "the stack is deleted; it is kept, no longer managed"
    );
    assert!(!preview.plan.loses_data());
}

#[tokio::test]
async fn a_failed_update_is_rolled_back_and_counts_what_it_stopped() {
    let world = World::start().await;
    world
        .deploy(
            &proposal(json!({ "A": queue(1), "B": queue(1), "C": queue(1) })),
            "run_0",
        )
        .await;
    world
        .control()
        .fail_resource("B", Moment::Update, "quota exceeded");
    world.control().hang_resource("C", Moment::Update);
    let wanted = proposal(json!({ "A": queue(2), "B": queue(2), "C": queue(2) }));
    let trail = world.deploy(&wanted, "run_1").await;
    assert_eq!(trail.ended.as_deref(), Some("UPDATE_ROLLBACK_COMPLETE"));
    assert!(trail.percent < 100);
    let failure = Failure::of(&trail, &BTreeMap::new(), STACK, None);
    assert_eq!((failure.logical_id.as_str(), failure.cancelled), ("B", 1));
    assert_eq!(failure.remedies[0].operation, "aws");
}

#[tokio::test]
async fn a_blocked_rollback_is_continued_without_the_blocker() {
    let world = World::start().await;
    world
        .deploy(
            &proposal(json!({ "A": queue(1), "B": after("A", queue(1)) })),
            "run_0",
        )
        .await;
    world.control().fail_resource("B", Moment::Update, "no");
    world
        .control()
        .fail_resource("A", Moment::Rollback, "cannot go back");
    let wanted = proposal(json!({ "A": queue(2), "B": after("A", queue(2)) }));
    let trail = world.deploy(&wanted, "run_1").await;
    assert_eq!(trail.ended.as_deref(), Some("UPDATE_ROLLBACK_FAILED"));
    let stack = world.stack().await;
    let mode = rollback::mode(&stack).unwrap();
    assert_eq!(mode, Mode::Continue);
    let wrong = ["News".to_owned()];
    let fault = rollback::intend(&world.access, &stack, mode, &wrong, "run_2")
        .await
        .unwrap_err();
    assert_eq!(fault.reason, "skip_not_allowed");
    let skip = ["A".to_owned()];
    let intent = rollback::intend(&world.access, &stack, mode, &skip, "run_2")
        .await
        .unwrap();
    world
        .control()
        .fail_call("ContinueUpdateRollback", 1, 1, CallEffect::CutAfter);
    rollback::begin(&world.access, &intent, world.deadline())
        .await
        .unwrap();
    rollback::begin(&world.access, &intent, world.deadline())
        .await
        .unwrap();
    let trail = world.follow(intent.trail()).await.unwrap();
    assert_eq!(trail.ended.as_deref(), Some("UPDATE_ROLLBACK_COMPLETE"));
    assert_eq!(trail.succeeded(), Some(true));
    assert_eq!(
        rollback::mode(&world.stack().await).unwrap(),
        Mode::Redeploy
    );
}

#[tokio::test]
async fn a_failure_that_was_kept_is_undone_by_rollback() {
    let world = World::start().await;
    world
        .deploy(&proposal(json!({ "A": queue(1) })), "run_0")
        .await;
    world.control().fail_resource("A", Moment::Update, "no");
    let wanted = proposal(json!({ "A": queue(2) }));
    let trail = world.deploy_with(&wanted, "run_1", OnFailure::Keep).await;
    assert_eq!(trail.ended.as_deref(), Some("UPDATE_FAILED"));
    let stack = world.stack().await;
    assert_eq!(rollback::mode(&stack).unwrap(), Mode::Undo);
    let intent = rollback::intend(&world.access, &stack, Mode::Undo, &[], "run_2")
        .await
        .unwrap();
    rollback::begin(&world.access, &intent, world.deadline())
        .await
        .unwrap();
    let trail = world.follow(intent.trail()).await.unwrap();
    assert_eq!(trail.ended.as_deref(), Some("UPDATE_ROLLBACK_COMPLETE"));
}

#[tokio::test]
async fn a_lost_answer_is_looked_into_not_repeated() {
    let world = World::start().await;
    for (effect, executed) in [(CallEffect::CutAfter, 1), (CallEffect::CutBefore, 2)] {
        let run = format!("run_{executed}");
        let wanted = proposal(json!({ "Jobs": queue(executed) }));
        let intent = world
            .intent(&wanted, &run, OnFailure::Rollback)
            .await
            .unwrap();
        let before = world.called("ExecuteChangeSet");
        world.control().fail_call("ExecuteChangeSet", 1, 1, effect);
        let begun = execute::begin(&world.access, &intent, world.deadline())
            .await
            .unwrap();
        let expected = if executed == 1 {
            Begun::Attached
        } else {
            Begun::Executed
        };
        assert_eq!(begun, expected);
        let calls = world.called("ExecuteChangeSet") - before;
        assert_eq!(calls, usize::try_from(executed).unwrap());
        let trail = world.follow(intent.trail()).await.unwrap();
        assert_eq!(trail.succeeded(), Some(true));
    }
}

#[tokio::test]
async fn a_client_that_dies_after_every_look_still_ends_where_the_stack_does() {
    for fails in [false, true] {
        let world = World::start().await;
        world
            .deploy(
                &proposal(json!({ "A": queue(1), "B": after("A", queue(1)) })),
                "run_0",
            )
            .await;
        if fails {
            world.control().fail_resource("B", Moment::Update, "no");
        }
        let wanted = proposal(json!({ "A": queue(2), "B": after("A", queue(2)) }));
        let intent = world
            .intent(&wanted, "run_1", OnFailure::Rollback)
            .await
            .unwrap();
        let recorded = serde_json::to_string(&intent).unwrap();
        let executed = world.called("ExecuteChangeSet");
        let mut trail = intent.trail();
        let mut looks = 0;
        while trail.ended.is_none() {
            looks += 1;
            assert!(looks < 100, "it never ends: {trail:?}");
            let intent: ExecuteIntent = serde_json::from_str(&recorded).unwrap();
            let begun = execute::begin(&world.access, &intent, world.deadline())
                .await
                .unwrap();
            assert_ne!(begun, Begun::Replan);
            let text = serde_json::to_string(&trail).unwrap();
            let restored: Trail = serde_json::from_str(&text).unwrap();
            trail = follow::look(&world.access, &restored).await.unwrap().trail;
        }
        assert_eq!(world.called("ExecuteChangeSet") - executed, 1);
        assert_eq!(trail.succeeded(), Some(!fails));
        // A process that lost the trail too finds the same end from the intent.
        let again = world.follow(intent.trail()).await.unwrap();
        assert_eq!(again.ended, trail.ended);
        assert_eq!(again.failures, trail.failures);
    }
}

#[tokio::test]
async fn a_change_set_that_is_gone_or_overtaken_is_planned_again() {
    let world = World::start().await;
    world
        .deploy(&proposal(json!({ "A": queue(1) })), "run_0")
        .await;
    let gone = world
        .intent(
            &proposal(json!({ "A": queue(2) })),
            "run_1",
            OnFailure::Rollback,
        )
        .await
        .unwrap();
    let address = ChangeSetAddress {
        stack: gone.stack_id.clone(),
        change_set: gone.change_set_id.clone(),
    };
    change_set::discard(&world.access, &address, world.deadline())
        .await
        .unwrap();
    assert_eq!(
        execute::begin(&world.access, &gone, world.deadline())
            .await
            .unwrap(),
        Begun::Replan
    );
    let overtaken = world
        .intent(
            &proposal(json!({ "A": queue(3) })),
            "run_2",
            OnFailure::Rollback,
        )
        .await
        .unwrap();
    world
        .deploy(&proposal(json!({ "A": queue(4) })), "run_3")
        .await;
    assert_eq!(
        execute::begin(&world.access, &overtaken, world.deadline())
            .await
            .unwrap(),
        Begun::Replan
    );
}

#[tokio::test]
async fn an_update_is_cancelled_and_a_creation_is_not() {
    let world = World::start().await;
    world.control().hang_resource("A", Moment::Create);
    let intent = world
        .intent(
            &proposal(json!({ "A": queue(1) })),
            "run_0",
            OnFailure::Rollback,
        )
        .await
        .unwrap();
    execute::begin(&world.access, &intent, world.deadline())
        .await
        .unwrap();
    let fault = execute::cancel(&world.access, &intent).await.unwrap_err();
    assert_eq!(fault.reason, "create_not_cancellable");
    // Long enough for its physical resource to exist.
    world.control().advance(5_000);
    world.control().release("A");
    let trail = world.follow(intent.trail()).await.unwrap();
    assert_eq!(trail.succeeded(), Some(true));

    world.control().hang_resource("A", Moment::Update);
    let intent = world
        .intent(
            &proposal(json!({ "A": queue(2) })),
            "run_1",
            OnFailure::Rollback,
        )
        .await
        .unwrap();
    execute::begin(&world.access, &intent, world.deadline())
        .await
        .unwrap();
    let followed = world.follow(intent.trail()).await;
    let fault = followed.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Timeout);
    assert_eq!(fault.data["stackStatus"], "UPDATE_IN_PROGRESS");
    assert!(
        execute::is_running(&world.access, &intent.stack_id)
            .await
            .unwrap()
    );
    assert_eq!(
        execute::cancel(&world.access, &intent).await.unwrap(),
        Cancelled::Requested
    );
    let trail = world.follow(intent.trail()).await.unwrap();
    assert_eq!(trail.ended.as_deref(), Some("UPDATE_ROLLBACK_COMPLETE"));
    let status = "UPDATE_ROLLBACK_COMPLETE".to_owned();
    assert_eq!(
        execute::cancel(&world.access, &intent).await.unwrap(),
        Cancelled::TooLate { status }
    );
}

#[tokio::test]
async fn credentials_that_expire_on_the_way_pause_it() {
    let world = World::start().await;
    let intent = world
        .intent(
            &proposal(json!({ "A": queue(1) })),
            "run_1",
            OnFailure::Rollback,
        )
        .await
        .unwrap();
    execute::begin(&world.access, &intent, world.deadline())
        .await
        .unwrap();
    world.control().expire_credentials(true);
    let fault = world.follow(intent.trail()).await.unwrap_err();
    assert!(fault.is_expired());
    world.control().expire_credentials(false);
    world.control().stale_reads(3);
    world
        .control()
        .fail_call("DescribeStackEvents", 2, 3, CallEffect::Throttle);
    let trail = world.follow(intent.trail()).await.unwrap();
    assert_eq!(trail.succeeded(), Some(true));
}

#[tokio::test]
async fn a_protected_database_is_replaced_only_once_its_policy_is_lifted() {
    let world = World::start().await;
    let database = |name: &str| {
        json!({ "Type": "AWS::RDS::DBCluster", "Properties": {
        "Engine": "aurora-postgresql", "DBClusterIdentifier": name } })
    };
    let before = proposal(json!({ "Db": database("one") }));
    let stack_id = world.deploy(&before, "run_0").await.stack_id;
    let databases = policy::databases(&before.template);
    policy::protect(&world.access, &stack_id, &databases)
        .await
        .unwrap();
    let wanted = proposal(json!({ "Db": database("two") }));
    let trail = world.deploy(&wanted, "run_1").await;
    assert_eq!(trail.ended.as_deref(), Some("UPDATE_ROLLBACK_COMPLETE"));
    let (_, plan) = world.propose(&wanted, "run_2").await.unwrap();
    assert!(plan.needs_confirm());
    assert!(
        policy::lift(&world.access, &stack_id, &plan.changes)
            .await
            .unwrap()
    );
    assert!(
        !policy::lift(&world.access, &stack_id, &plan.changes)
            .await
            .unwrap()
    );
    let trail = world.deploy(&wanted, "run_2").await;
    assert_eq!(trail.ended.as_deref(), Some("UPDATE_COMPLETE"));
    policy::protect(&world.access, &stack_id, &databases)
        .await
        .unwrap();
    let state = world.control().state();
    assert_eq!(state["stacks"][0]["policy"], policy::document(&databases));
}
