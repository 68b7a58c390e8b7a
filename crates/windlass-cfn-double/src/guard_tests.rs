//! Deletion, and everything that stops a change: policies, protection, names, exports, missing parts.

use serde_json::{Value, json};

use crate::faults::Moment;
use crate::testing::{Harness, create_shop, field, fields, shop, update, with};

#[test]
fn deletion_runs_in_reverse_and_names_what_blocks_it() {
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
    insta::assert_snapshot!(harness.events("shop", &mut seen), @"
    +0 shop DELETE_IN_PROGRESS * (User Initiated)
    +0 Api DELETE_IN_PROGRESS *
    +0 Queue DELETE_IN_PROGRESS *
    +1000 Api DELETE_COMPLETE *
    +1000 Queue DELETE_COMPLETE *
    +1000 Role DELETE_IN_PROGRESS *
    +1000 Table DELETE_IN_PROGRESS *
    +2000 Role DELETE_COMPLETE *
    +2000 Table DELETE_FAILED * (The table is being backed up)
    +2000 shop DELETE_FAILED * (The following resource(s) failed to delete: [Table].)
    ");
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
