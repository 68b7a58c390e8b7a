//! Creation, update and rollback of stacks, as the events a client sees.

use serde_json::json;

use crate::faults::Moment;
use crate::testing::{Harness, create_shop, field, fields, shop, update, with};

#[test]
fn creation_is_parallel_where_nothing_is_needed() {
    let mut harness = Harness::new();
    create_shop(&mut harness);
    insta::assert_snapshot!(harness.events("shop", &mut 0), @"
    +0 shop CREATE_IN_PROGRESS * (User Initiated)
    +0 Queue CREATE_IN_PROGRESS
    +0 Role CREATE_IN_PROGRESS
    +0 Table CREATE_IN_PROGRESS
    +500 Queue CREATE_IN_PROGRESS * (Resource creation Initiated)
    +500 Role CREATE_IN_PROGRESS * (Resource creation Initiated)
    +500 Table CREATE_IN_PROGRESS * (Resource creation Initiated)
    +1000 Queue CREATE_COMPLETE *
    +1000 Role CREATE_COMPLETE *
    +1000 Table CREATE_COMPLETE *
    +1000 Api CREATE_IN_PROGRESS
    +1500 Api CREATE_IN_PROGRESS * (Resource creation Initiated)
    +2000 Api CREATE_COMPLETE *
    +2000 shop CREATE_COMPLETE *
    ");
    let described = harness.ok("DescribeStacks", &[("StackName", "shop")]);
    assert!(
        field(&described, "OutputValue")
            .unwrap()
            .starts_with("shop-Api-")
    );
}

#[test]
fn a_failed_creation_cancels_siblings_and_rolls_back() {
    let mut harness = Harness::new();
    harness.fail("Table", Moment::Create, "Subscriber limit exceeded");
    harness.command(json!({"do": "durations", "resources": {"Queue": 5000}}));
    harness.ok(
        "CreateStack",
        &[
            ("StackName", "shop"),
            ("TemplateBody", &shop().to_string()),
            ("Capabilities.member.1", "CAPABILITY_IAM"),
            ("ClientRequestToken", "t-1"),
        ],
    );
    harness.settle();
    insta::assert_snapshot!(harness.events("shop", &mut 0), @"
    +0 shop CREATE_IN_PROGRESS * (User Initiated)
    +0 Queue CREATE_IN_PROGRESS
    +0 Role CREATE_IN_PROGRESS
    +0 Table CREATE_IN_PROGRESS
    +500 Role CREATE_IN_PROGRESS * (Resource creation Initiated)
    +500 Table CREATE_IN_PROGRESS * (Resource creation Initiated)
    +1000 Role CREATE_COMPLETE *
    +1000 Table CREATE_FAILED * (Subscriber limit exceeded)
    +1000 Queue CREATE_FAILED (Resource creation cancelled)
    +1000 shop ROLLBACK_IN_PROGRESS * (The following resource(s) failed to create: [Table, Queue]. Rollback requested by user.)
    +1000 Queue DELETE_COMPLETE
    +1000 Role DELETE_IN_PROGRESS *
    +1000 Table DELETE_IN_PROGRESS *
    +2000 Role DELETE_COMPLETE *
    +2000 Table DELETE_COMPLETE *
    +2000 shop ROLLBACK_COMPLETE *
    ");
    let events = harness.ok("DescribeStackEvents", &[("StackName", "shop")]);
    let tokens = fields(&events, "ClientRequestToken");
    assert_eq!(tokens.len(), fields(&events, "EventId").len());
    assert!(tokens.iter().all(|token| token == "t-1"));
    assert!(
        harness
            .refused(
                "UpdateStack",
                &[("StackName", "shop"), ("UsePreviousTemplate", "true")]
            )
            .ends_with("is in ROLLBACK_COMPLETE state and can not be updated.")
    );
    harness.ok("DeleteStack", &[("StackName", "shop")]);
    harness.settle();
    assert_eq!(harness.status("shop"), "DELETE_COMPLETE");
}

#[test]
fn a_failed_rollback_of_a_creation_is_named() {
    let mut harness = Harness::new();
    harness.fail("Table", Moment::Create, "no");
    harness.fail("Role", Moment::Rollback, "has policies");
    harness.ok(
        "CreateStack",
        &[
            ("StackName", "shop"),
            ("TemplateBody", &shop().to_string()),
            ("Capabilities.member.1", "CAPABILITY_IAM"),
        ],
    );
    harness.settle();
    assert_eq!(harness.status("shop"), "ROLLBACK_FAILED");
    let described = harness.ok("DescribeStacks", &[("StackName", "shop")]);
    assert_eq!(
        field(&described, "StackStatusReason").as_deref(),
        Some("The following resource(s) failed to delete: [Role].")
    );
    harness.ok("DeleteStack", &[("StackName", "shop")]);
    harness.settle();
    assert_eq!(harness.status("shop"), "DELETE_COMPLETE");
}

#[test]
fn what_happens_after_a_failed_creation_is_the_callers_choice() {
    for (choice, status) in [
        ("ROLLBACK", "ROLLBACK_COMPLETE"),
        ("DO_NOTHING", "CREATE_FAILED"),
        ("DELETE", "DELETE_COMPLETE"),
    ] {
        let mut harness = Harness::new();
        harness.fail("Table", Moment::Create, "no");
        harness.ok(
            "CreateStack",
            &[
                ("StackName", "shop"),
                ("TemplateBody", &shop().to_string()),
                ("Capabilities.member.1", "CAPABILITY_IAM"),
                ("OnFailure", choice),
            ],
        );
        harness.settle();
        assert_eq!(harness.status("shop"), status, "{choice}");
    }
}

#[test]
fn without_rollback_independent_work_continues_and_rollback_can_be_requested() {
    let mut harness = Harness::new();
    harness.fail("Table", Moment::Create, "no");
    harness.ok(
        "CreateStack",
        &[
            ("StackName", "shop"),
            ("TemplateBody", &shop().to_string()),
            ("Capabilities.member.1", "CAPABILITY_IAM"),
            ("DisableRollback", "true"),
        ],
    );
    harness.settle();
    assert_eq!(harness.status("shop"), "CREATE_FAILED");
    let resources = harness.ok("DescribeStackResources", &[("StackName", "shop")]);
    assert_eq!(
        fields(&resources, "ResourceStatus"),
        ["CREATE_COMPLETE", "CREATE_COMPLETE", "CREATE_FAILED"]
    );
    let mut repaired = harness.world.clone();
    harness.ok("RollbackStack", &[("StackName", "shop")]);
    assert_eq!(harness.status("shop"), "ROLLBACK_IN_PROGRESS");
    harness.settle();
    assert_eq!(harness.status("shop"), "ROLLBACK_COMPLETE");

    // The other way out: deploy again.
    std::mem::swap(&mut harness.world, &mut repaired);
    update(&mut harness, &shop(), &[]);
    harness.settle();
    assert_eq!(harness.status("shop"), "UPDATE_COMPLETE");
}

#[test]
fn an_update_replaces_adds_changes_and_removes() {
    let mut harness = Harness::new();
    create_shop(&mut harness);
    let mut seen = 0;
    harness.events("shop", &mut seen);
    let old_table = harness.physical("shop", "Table");
    let mut next = with(
        shop(),
        "/Resources/Table/Properties/TableName",
        json!("orders2"),
    );
    next = with(next, "/Resources/Topic", json!({"Type": "AWS::SNS::Topic"}));
    next["Resources"].as_object_mut().unwrap().remove("Queue");
    update(&mut harness, &next, &[]);
    harness.settle();
    insta::assert_snapshot!(harness.events("shop", &mut seen), @"
    +0 shop UPDATE_IN_PROGRESS * (User Initiated)
    +0 Table UPDATE_IN_PROGRESS * (Requested update requires the creation of a new physical resource; hence creating one.)
    +0 Topic CREATE_IN_PROGRESS
    +500 Table UPDATE_IN_PROGRESS * (Resource creation Initiated)
    +500 Topic CREATE_IN_PROGRESS * (Resource creation Initiated)
    +1000 Table UPDATE_COMPLETE *
    +1000 Topic CREATE_COMPLETE *
    +1000 Api UPDATE_IN_PROGRESS *
    +2000 Api UPDATE_COMPLETE *
    +2000 shop UPDATE_COMPLETE_CLEANUP_IN_PROGRESS *
    +2000 Queue DELETE_IN_PROGRESS *
    +2000 Table DELETE_IN_PROGRESS *
    +3000 Queue DELETE_COMPLETE *
    +3000 Table DELETE_COMPLETE *
    +3000 shop UPDATE_COMPLETE *
    ");
    assert_eq!(old_table.as_deref(), Some("orders"));
    assert_eq!(
        harness.physical("shop", "Table").as_deref(),
        Some("orders2")
    );
    assert_eq!(harness.physical("shop", "Queue"), None);
    assert_eq!(
        harness.refused(
            "UpdateStack",
            &[
                ("StackName", "shop"),
                ("TemplateBody", &next.to_string()),
                ("Capabilities.member.1", "CAPABILITY_IAM"),
            ],
        ),
        "ValidationError: No updates are to be performed."
    );
}

#[test]
fn a_failed_update_is_rolled_back() {
    let mut harness = Harness::new();
    create_shop(&mut harness);
    let before = harness.world.stacks[0].resources.clone();
    let mut seen = 0;
    harness.events("shop", &mut seen);
    harness.fail("Api", Moment::Update, "The runtime is not supported");
    let mut next = with(
        shop(),
        "/Resources/Table/Properties/TableName",
        json!("orders2"),
    );
    next = with(
        next,
        "/Resources/Queue/Properties",
        json!({"DelaySeconds": 5}),
    );
    next = with(next, "/Resources/Topic", json!({"Type": "AWS::SNS::Topic"}));
    update(&mut harness, &next, &[("ClientRequestToken", "u-1")]);
    harness.settle();
    insta::assert_snapshot!(harness.events("shop", &mut seen), @"
    +0 shop UPDATE_IN_PROGRESS * (User Initiated)
    +0 Queue UPDATE_IN_PROGRESS *
    +0 Table UPDATE_IN_PROGRESS * (Requested update requires the creation of a new physical resource; hence creating one.)
    +0 Topic CREATE_IN_PROGRESS
    +500 Table UPDATE_IN_PROGRESS * (Resource creation Initiated)
    +500 Topic CREATE_IN_PROGRESS * (Resource creation Initiated)
    +1000 Queue UPDATE_COMPLETE *
    +1000 Table UPDATE_COMPLETE *
    +1000 Topic CREATE_COMPLETE *
    +1000 Api UPDATE_IN_PROGRESS *
    +2000 Api UPDATE_FAILED * (The runtime is not supported)
    +2000 shop UPDATE_ROLLBACK_IN_PROGRESS * (The following resource(s) failed to update: [Api].)
    +2000 Queue UPDATE_IN_PROGRESS *
    +2000 Table UPDATE_IN_PROGRESS *
    +3000 Queue UPDATE_COMPLETE *
    +3000 Table UPDATE_COMPLETE *
    +3000 Api UPDATE_IN_PROGRESS *
    +4000 Api UPDATE_COMPLETE *
    +4000 shop UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS *
    +4000 Topic DELETE_IN_PROGRESS *
    +4000 Table DELETE_IN_PROGRESS *
    +5000 Topic DELETE_COMPLETE *
    +5000 Table DELETE_COMPLETE *
    +5000 shop UPDATE_ROLLBACK_COMPLETE *
    ");
    let after = &harness.world.stacks[0].resources;
    for (id, resource) in &before {
        assert_eq!(after[id].physical, resource.physical, "{id}");
        assert_eq!(after[id].properties, resource.properties, "{id}");
    }
    assert_eq!(after.len(), before.len());
    let template = harness.ok("GetTemplate", &[("StackName", "shop")]);
    assert!(!template.contains("orders2"));
}

#[test]
fn a_rollback_that_fails_waits_to_be_continued() {
    let mut harness = Harness::new();
    create_shop(&mut harness);
    harness.fail("Api", Moment::Update, "no");
    harness.fail("Queue", Moment::Rollback, "stuck");
    let mut next = with(
        shop(),
        "/Resources/Queue/Properties",
        json!({"DelaySeconds": 5}),
    );
    next = with(next, "/Resources/Api/Properties/MemorySize", json!(512));
    update(&mut harness, &next, &[]);
    harness.settle();
    assert_eq!(harness.status("shop"), "UPDATE_ROLLBACK_FAILED");
    let failed = harness.world.clone();

    harness.ok("ContinueUpdateRollback", &[("StackName", "shop")]);
    assert_eq!(harness.status("shop"), "UPDATE_ROLLBACK_IN_PROGRESS");
    harness.settle();
    assert_eq!(harness.status("shop"), "UPDATE_ROLLBACK_COMPLETE");

    harness.world = failed;
    harness.fail("Queue", Moment::Rollback, "still stuck");
    assert!(
        harness
            .refused(
                "ContinueUpdateRollback",
                &[("StackName", "shop"), ("ResourcesToSkip.member.1", "Table")],
            )
            .contains("[Table]")
    );
    harness.ok(
        "ContinueUpdateRollback",
        &[("StackName", "shop"), ("ResourcesToSkip.member.1", "Queue")],
    );
    harness.settle();
    assert_eq!(harness.status("shop"), "UPDATE_ROLLBACK_COMPLETE");
    // What was skipped is not what the template says.
    harness.ok("DetectStackDrift", &[("StackName", "shop")]);
    harness.settle();
    let drifts = harness.ok("DescribeStackResourceDrifts", &[("StackName", "shop")]);
    assert!(fields(&drifts, "StackResourceDriftStatus").contains(&"MODIFIED".to_owned()));
}

#[test]
fn an_update_without_rollback_stops_where_it_failed() {
    let mut harness = Harness::new();
    create_shop(&mut harness);
    harness.fail("Api", Moment::Update, "no");
    let next = with(shop(), "/Resources/Api/Properties/MemorySize", json!(512));
    update(&mut harness, &next, &[("DisableRollback", "true")]);
    harness.settle();
    assert_eq!(harness.status("shop"), "UPDATE_FAILED");
    let failed = harness.world.clone();
    harness.ok("RollbackStack", &[("StackName", "shop")]);
    assert_eq!(harness.status("shop"), "UPDATE_ROLLBACK_IN_PROGRESS");
    harness.settle();
    assert_eq!(harness.status("shop"), "UPDATE_ROLLBACK_COMPLETE");
    harness.world = failed;
    update(
        &mut harness,
        &with(next, "/Resources/Api/Properties/MemorySize", json!(256)),
        &[],
    );
    harness.settle();
    assert_eq!(harness.status("shop"), "UPDATE_COMPLETE");
}

#[test]
fn a_hanging_update_can_be_cancelled_or_released() {
    let mut harness = Harness::new();
    create_shop(&mut harness);
    harness.hang("Api", Moment::Update);
    let next = with(shop(), "/Resources/Api/Properties/MemorySize", json!(512));
    update(&mut harness, &next, &[]);
    harness.settle();
    assert_eq!(harness.status("shop"), "UPDATE_IN_PROGRESS");
    assert!(
        harness
            .refused(
                "UpdateStack",
                &[("StackName", "shop"), ("UsePreviousTemplate", "true")]
            )
            .contains("is in UPDATE_IN_PROGRESS state and can not be updated.")
    );
    assert!(
        harness
            .refused("DeleteStack", &[("StackName", "shop")])
            .contains("cannot be deleted while in status UPDATE_IN_PROGRESS")
    );
    let hanging = harness.world.clone();
    harness.ok("CancelUpdateStack", &[("StackName", "shop")]);
    harness.settle();
    assert_eq!(harness.status("shop"), "UPDATE_ROLLBACK_COMPLETE");
    assert!(
        harness
            .refused("CancelUpdateStack", &[("StackName", "shop")])
            .contains("current stack status")
    );
    harness.world = hanging;
    harness.command(json!({"do": "release", "logical_id": "Api"}));
    harness.settle();
    assert_eq!(harness.status("shop"), "UPDATE_COMPLETE");
}
