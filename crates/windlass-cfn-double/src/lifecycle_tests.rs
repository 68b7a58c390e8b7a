//! Every transition of a stack's life, as the events a client sees.

use serde_json::{Value, json};

use crate::faults::Moment;
use crate::testing::{Harness, field, fields};

/// A function that needs a role and a table, and a queue beside them.
fn shop() -> Value {
    json!({"Resources": {
        "Role": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {}}},
        "Table": {"Type": "AWS::DynamoDB::Table", "Properties": {
            "KeySchema": [], "TableName": "orders"}},
        "Queue": {"Type": "AWS::SQS::Queue"},
        "Api": {"Type": "AWS::Lambda::Function", "Properties": {
            "Code": {"ZipFile": "x"}, "Role": {"Fn::GetAtt": ["Role", "Arn"]},
            "Environment": {"Variables": {"TABLE": {"Ref": "Table"}}}}},
    }, "Outputs": {"ApiName": {"Value": {"Ref": "Api"}}}})
}

fn with(mut template: Value, pointer: &str, value: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    template.pointer_mut(parent).unwrap()[key] = value;
    template
}

fn create_shop(harness: &mut Harness) {
    harness.ok(
        "CreateStack",
        &[
            ("StackName", "shop"),
            ("TemplateBody", &shop().to_string()),
            ("Capabilities.member.1", "CAPABILITY_IAM"),
        ],
    );
    harness.settle();
    assert_eq!(harness.status("shop"), "CREATE_COMPLETE");
}

fn update(harness: &mut Harness, template: &Value, extra: &[(&str, &str)]) {
    let body = template.to_string();
    let mut params = vec![
        ("StackName", "shop"),
        ("TemplateBody", body.as_str()),
        ("Capabilities.member.1", "CAPABILITY_IAM"),
    ];
    params.extend_from_slice(extra);
    harness.ok("UpdateStack", &params);
}

#[test]
fn creation_is_parallel_where_nothing_is_needed() {
    let mut harness = Harness::new();
    create_shop(&mut harness);
    insta::assert_snapshot!(harness.events("shop", &mut 0), @"");
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
    harness.tell(json!({"do": "durations", "resources": {"Queue": 5000}}));
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
    insta::assert_snapshot!(harness.events("shop", &mut 0), @"");
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
fn without_rollback_independent_work_goes_on_and_rollback_can_be_asked_for() {
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
    insta::assert_snapshot!(harness.events("shop", &mut seen), @"");
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
fn a_failed_update_goes_back_to_what_was() {
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
    insta::assert_snapshot!(harness.events("shop", &mut seen), @"");
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
    harness.tell(json!({"do": "release", "logical_id": "Api"}));
    harness.settle();
    assert_eq!(harness.status("shop"), "UPDATE_COMPLETE");
}

#[test]
fn deletion_goes_backwards_and_names_what_blocks_it() {
    let mut harness = Harness::new();
    create_shop(&mut harness);
    let mut seen = 0;
    harness.events("shop", &mut seen);
    harness.fail("Table", Moment::Delete, "The table is being backed up");
    let arn = harness.world.stacks[0].id.clone();
    assert!(
        harness
            .refused(
                "DeleteStack",
                &[("StackName", "shop"), ("RetainResources.member.1", "Table")],
            )
            .contains("DELETE_FAILED")
    );
    harness.ok(
        "DeleteStack",
        &[("StackName", "shop"), ("ClientRequestToken", "d-1")],
    );
    harness.settle();
    insta::assert_snapshot!(harness.events("shop", &mut seen), @"");
    assert_eq!(harness.status("shop"), "DELETE_FAILED");
    harness.ok(
        "DeleteStack",
        &[("StackName", "shop"), ("RetainResources.member.1", "Table")],
    );
    harness.settle();
    assert_eq!(harness.status("shop"), "DELETE_COMPLETE");
    assert_eq!(harness.world.env.kept.len(), 1);
    assert_eq!(
        harness.refused("DescribeStacks", &[("StackName", "shop")]),
        "ValidationError: Stack with id shop does not exist"
    );
    let described = harness.ok("DescribeStacks", &[("StackName", &arn)]);
    assert_eq!(
        field(&described, "StackStatus").as_deref(),
        Some("DELETE_COMPLETE")
    );
    // The retained table keeps its name.
    harness.ok(
        "CreateStack",
        &[
            ("StackName", "shop"),
            ("TemplateBody", &shop().to_string()),
            ("Capabilities.member.1", "CAPABILITY_IAM"),
        ],
    );
    harness.settle();
    assert_eq!(harness.status("shop"), "ROLLBACK_COMPLETE");
}

#[test]
fn policies_of_resources_decide_what_stays() {
    let mut harness = Harness::new();
    let bucket = |extra: Value| {
        let mut resource = json!({"Type": "AWS::S3::Bucket"});
        resource
            .as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        resource
    };
    harness.create(
        "data",
        &json!({"Resources": {
            "Kept": bucket(json!({"DeletionPolicy": "Retain"})),
            "Gone": bucket(json!({})),
            "Db": {"Type": "AWS::RDS::DBInstance", "Properties": {"Engine": "postgres"}},
        }}),
    );
    harness.settle();
    let kept = harness.physical("data", "Kept").unwrap();
    harness.ok("DeleteStack", &[("StackName", "data")]);
    harness.settle();
    assert_eq!(harness.status("data"), "DELETE_COMPLETE");
    let kept_by: Vec<String> = harness
        .world
        .env
        .kept
        .iter()
        .map(|found| format!("{} {}", found.logical_id, found.how))
        .collect();
    assert_eq!(kept_by, ["Kept retained", "Db snapshot"]);
    assert!(harness.world.env.buckets.exists(&kept));
}

#[test]
fn a_full_bucket_is_not_deleted() {
    let mut harness = Harness::new();
    harness.create(
        "data",
        &json!({"Resources": {"B": {"Type": "AWS::S3::Bucket"}}}),
    );
    harness.settle();
    let name = harness.physical("data", "B").unwrap();
    let now = harness.world.env.now;
    let bucket = harness.world.env.buckets.get_mut(&name).unwrap();
    bucket.put("a", b"x".to_vec(), Default::default(), now);
    harness.ok("DeleteStack", &[("StackName", "data")]);
    harness.settle();
    assert_eq!(harness.status("data"), "DELETE_FAILED");
    harness
        .world
        .env
        .buckets
        .get_mut(&name)
        .unwrap()
        .delete("a", None, now);
    harness.ok("DeleteStack", &[("StackName", "data")]);
    harness.settle();
    assert_eq!(harness.status("data"), "DELETE_COMPLETE");
}

#[test]
fn termination_protection_refuses_deletion() {
    let mut harness = Harness::new();
    create_shop(&mut harness);
    let protect = |harness: &mut Harness, value: &str| {
        harness.ok(
            "UpdateTerminationProtection",
            &[
                ("StackName", "shop"),
                ("EnableTerminationProtection", value),
            ],
        );
    };
    protect(&mut harness, "true");
    assert_eq!(
        harness.refused("DeleteStack", &[("StackName", "shop")]),
        "ValidationError: Stack [shop] cannot be deleted while TerminationProtection is enabled"
    );
    protect(&mut harness, "false");
    harness.ok("DeleteStack", &[("StackName", "shop")]);
}

#[test]
fn a_stack_policy_stops_a_replacement_and_a_removal() {
    let policy = json!({"Statement": [
        {"Effect": "Allow", "Action": "Update:*", "Principal": "*", "Resource": "*"},
        {"Effect": "Deny", "Action": ["Update:Replace", "Update:Delete"], "Principal": "*",
         "Resource": "LogicalResourceId/Table"},
    ]});
    let mut removed = with(shop(), "/Resources/Api/Properties/Environment", json!({}));
    removed["Resources"]
        .as_object_mut()
        .unwrap()
        .remove("Table");
    for (next, action) in [
        (
            with(
                shop(),
                "/Resources/Table/Properties/TableName",
                json!("orders2"),
            ),
            "Update:Replace",
        ),
        (removed, "Update:Delete"),
    ] {
        let mut harness = Harness::new();
        create_shop(&mut harness);
        harness.ok(
            "SetStackPolicy",
            &[
                ("StackName", "shop"),
                ("StackPolicyBody", &policy.to_string()),
            ],
        );
        update(&mut harness, &next, &[]);
        harness.settle();
        assert_eq!(
            harness.status("shop"),
            "UPDATE_ROLLBACK_COMPLETE",
            "{action}"
        );
        let events = harness.events("shop", &mut 0);
        assert!(
            events.contains(&format!("Table UPDATE_FAILED * (Action denied by stack policy: Statement [#2] does not allow [{action}]")),
            "{events}"
        );
        assert_eq!(harness.physical("shop", "Table").as_deref(), Some("orders"));
    }
}

#[test]
fn a_custom_name_cannot_be_replaced_by_itself_or_taken_twice() {
    let mut harness = Harness::new();
    let queue = |fifo: bool| {
        json!({"Resources": {"Q": {"Type": "AWS::SQS::Queue",
            "Properties": {"QueueName": "jobs", "FifoQueue": fifo}}}})
    };
    harness.create("one", &queue(false));
    harness.settle();
    harness.create("two", &queue(false));
    harness.settle();
    assert_eq!(harness.status("two"), "ROLLBACK_COMPLETE");
    assert!(
        harness
            .events("two", &mut 0)
            .contains("jobs already exists in stack arn:")
    );
    harness.update("one", &queue(true), "u1");
    harness.settle();
    assert_eq!(harness.status("one"), "UPDATE_ROLLBACK_COMPLETE");
    assert!(
        harness
            .events("one", &mut 0)
            .contains("Rename jobs and update the stack again.")
    );
}

#[test]
fn exports_bind_stacks_together() {
    let mut harness = Harness::new();
    let exporter = |value: &str| {
        json!({"Resources": {"T": {"Type": "AWS::SNS::Topic"}},
               "Outputs": {"O": {"Value": value, "Export": {"Name": "shared"}}}})
    };
    let importer = json!({"Resources": {"T": {"Type": "AWS::SNS::Topic",
        "Properties": {"DisplayName": {"Fn::ImportValue": "shared"}}}}});
    harness.create("out", &exporter("1"));
    harness.settle();
    harness.create("in", &importer);
    harness.settle();
    assert_eq!(harness.status("in"), "CREATE_COMPLETE");
    let exports = harness.ok("ListExports", &[]);
    assert_eq!(fields(&exports, "Value"), ["1"]);
    let imports = harness.ok("ListImports", &[("ExportName", "shared")]);
    assert_eq!(fields(&imports, "member"), ["in"]);

    harness.create("again", &exporter("2"));
    harness.settle();
    assert_eq!(harness.status("again"), "ROLLBACK_COMPLETE");
    harness.update("out", &exporter("2"), "u1");
    harness.settle();
    assert_eq!(harness.status("out"), "UPDATE_ROLLBACK_COMPLETE");
    assert!(
        harness
            .events("out", &mut 0)
            .contains("Export shared cannot be updated as it is in use by in")
    );
    harness.ok("DeleteStack", &[("StackName", "out")]);
    harness.settle();
    assert_eq!(harness.status("out"), "DELETE_FAILED");
    harness.ok("DeleteStack", &[("StackName", "in")]);
    harness.settle();
    harness.ok("DeleteStack", &[("StackName", "out")]);
    harness.settle();
    assert_eq!(harness.status("out"), "DELETE_COMPLETE");
    assert!(
        harness
            .refused("ListImports", &[("ExportName", "shared")])
            .contains("not imported")
    );
}

#[test]
fn a_creation_under_way_can_be_deleted() {
    let mut harness = Harness::new();
    harness.hang("T", Moment::Create);
    harness.create(
        "slow",
        &json!({"Resources": {"T": {"Type": "AWS::SNS::Topic"}}}),
    );
    harness.advance(10_000);
    assert_eq!(harness.status("slow"), "CREATE_IN_PROGRESS");
    harness.ok("DeleteStack", &[("StackName", "slow")]);
    harness.settle();
    assert_eq!(harness.status("slow"), "DELETE_COMPLETE");
}

#[test]
fn a_resource_fails_when_what_it_reads_is_missing() {
    let function = |properties: Value| {
        let mut all = json!({"Code": {"ZipFile": "x"}, "Role": "arn:role"});
        all.as_object_mut()
            .unwrap()
            .extend(properties.as_object().unwrap().clone());
        json!({"Resources": {"F": {"Type": "AWS::Lambda::Function", "Properties": all}}})
    };
    for (properties, reason) in [
        (
            json!({"Environment": {"Variables": {"P": "{{resolve:secretsmanager:db:SecretString}}"}}}),
            "Secrets Manager can't find the specified secret",
        ),
        (
            json!({"Description": "{{resolve:ssm:/a/b}}"}),
            "Parameters [/a/b] referenced",
        ),
        (
            json!({"Code": {"S3Bucket": "assets", "S3Key": "f.zip"}}),
            "NoSuchKey",
        ),
        (
            json!({"Handlers": "x"}),
            "extraneous key [Handlers] is not permitted",
        ),
    ] {
        let mut harness = Harness::new();
        harness.create("f", &function(properties));
        harness.settle();
        assert_eq!(harness.status("f"), "ROLLBACK_COMPLETE");
        let events = harness.events("f", &mut 0);
        assert!(events.contains(reason), "{events}");
    }
}
