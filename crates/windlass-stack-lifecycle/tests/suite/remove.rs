//! Deletions: refused, carried out, blocked and finished with what stays.

use std::collections::BTreeMap;

use serde_json::json;
use windlass_cfn_double::{CallEffect, Moment};
use windlass_ports::aws::{ObjectBody, PutObject, TerminationProtection};
use windlass_stack_lifecycle::delete::{self, Deletion};
use windlass_stack_lifecycle::follow::Trail;
use windlass_stack_lifecycle::situation::blockers;
use windlass_stack_lifecycle::{Fault, FaultKind, empty};

use super::world::{STACK, World, bucket, proposal, queue, topic};

async fn plan(world: &World, retain: &[&str]) -> Result<Deletion, Fault> {
    let retain: Vec<String> = retain.iter().map(|id| (*id).to_owned()).collect();
    delete::plan(&world.access, STACK, &retain, &BTreeMap::new()).await
}

async fn delete(world: &World, deletion: &Deletion, run: &str) -> Trail {
    for clearing in &deletion.clearings {
        empty::clear(&world.access, clearing, world.deadline())
            .await
            .unwrap();
    }
    let intent = delete::intend(&world.access, deletion, run, None)
        .await
        .unwrap();
    delete::begin(&world.access, &intent, world.deadline())
        .await
        .unwrap();
    delete::begin(&world.access, &intent, world.deadline())
        .await
        .unwrap();
    world.follow(intent.trail()).await.unwrap()
}

#[tokio::test]
async fn full_buckets_are_emptied_and_retained_ones_are_not_touched() {
    let world = World::start().await;
    let mut kept = bucket("shop-kept");
    kept["DeletionPolicy"] = json!("Retain");
    world
        .deploy(
            &proposal(json!({ "Files": bucket("shop-files"), "Kept": kept, "News": topic() })),
            "run_0",
        )
        .await;
    for name in ["shop-files", "shop-kept"] {
        let body = ObjectBody::Bytes(b"x".to_vec());
        let request = PutObject::new(name, "a/b.txt", body);
        world
            .access
            .cloud
            .put_object(&world.access.target, request)
            .await
            .unwrap();
    }
    let deletion = plan(&world, &[]).await.unwrap();
    assert_eq!(deletion.deleted(), ["Files", "News"]);
    assert_eq!(deletion.retained(), ["Kept"]);
    let stateful: Vec<(&str, bool)> = deletion
        .stateful
        .iter()
        .map(|found| (found.logical_id.as_str(), found.needs_confirm))
        .collect();
    assert_eq!(stateful, [("Files", true), ("Kept", false)]);
    assert_eq!(deletion.clearings.len(), 1);
    let trail = delete(&world, &deletion, "run_1").await;
    assert_eq!(
        (trail.ended.as_deref(), trail.percent),
        (Some("DELETE_COMPLETE"), 100)
    );
    let state = world.control().state();
    assert_eq!(state["buckets"], json!({ "shop-kept": ["a/b.txt"] }));
}

#[tokio::test]
async fn refusals_change_nothing() {
    let world = World::start().await;
    let fault = plan(&world, &[]).await.unwrap_err();
    assert_eq!(
        (fault.kind, fault.reason.as_str()),
        (FaultKind::NotFound, "stack_not_found")
    );
    let stack_id = world
        .deploy(&proposal(json!({ "News": topic() })), "run_0")
        .await
        .stack_id;
    let fault = plan(&world, &["News"]).await.unwrap_err();
    assert_eq!(fault.reason, "retain_not_allowed");
    world
        .access
        .cloud
        .set_termination_protection(&world.access.target, &stack_id, TerminationProtection::On)
        .await
        .unwrap();
    let fault = plan(&world, &[]).await.unwrap_err();
    assert_eq!(fault.reason, "termination_protection");
    assert_eq!(world.called("DeleteStack"), 0);
}

#[tokio::test]
async fn a_blocked_deletion_lists_the_blockers_and_may_then_retain_them() {
    let world = World::start().await;
    world
        .deploy(
            &proposal(json!({ "Jobs": queue(1), "News": topic() })),
            "run_0",
        )
        .await;
    world.control().fail_resource(
        "Jobs",
        Moment::Delete,
        "has a dependent object (RequestToken: 1)",
    );
    let trail = delete(&world, &plan(&world, &[]).await.unwrap(), "run_1").await;
    assert_eq!(
        (trail.ended.as_deref(), trail.succeeded()),
        (Some("DELETE_FAILED"), Some(false))
    );
    let found = blockers(&world.access, &trail.stack_id).await.unwrap();
    assert_eq!(found.len(), 1);
    let stuck = world
        .situation()
        .await
        .stuck(&world.access)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(stuck.blockers[0].reason, "has a dependent object");
    assert_eq!(stuck.remedies[1].args["retainResources"], json!(["Jobs"]));
    let fault = plan(&world, &["News"]).await.unwrap_err();
    assert_eq!(fault.reason, "retain_not_allowed");
    let trail = delete(&world, &plan(&world, &["Jobs"]).await.unwrap(), "run_2").await;
    assert_eq!(trail.ended.as_deref(), Some("DELETE_COMPLETE"));
}

#[tokio::test]
async fn an_empty_stack_is_deleted_and_lost_answers_do_no_harm() {
    let world = World::start().await;
    world
        .propose(&proposal(json!({ "News": topic() })), "run_0")
        .await
        .unwrap();
    assert_eq!(world.stack().await.stack_status, "REVIEW_IN_PROGRESS");
    let deletion = plan(&world, &[]).await.unwrap();
    world
        .control()
        .fail_call("DeleteStack", 1, 1, CallEffect::CutAfter);
    let trail = delete(&world, &deletion, "run_1").await;
    assert_eq!(trail.ended.as_deref(), Some("DELETE_COMPLETE"));
    assert!(world.situation().await.stack.is_none());
}
