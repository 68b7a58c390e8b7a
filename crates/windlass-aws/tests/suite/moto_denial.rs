//! Keys that moto does not know, and a user without permissions: Auth and Denied.

use serde_json::json;
use windlass_ports::aws::{
    ActionShape, AwsFailureKind, BucketState, CloudFormation as _, Identity as _, ObjectStore as _,
    Target, services,
};

use super::moto::{Moto, call};

#[tokio::test]
async fn unknown_keys_and_missing_permissions_are_distinguished() {
    let Some(moto) = Moto::start() else { return };
    let open = moto.aws("test", "test");
    let iam = |name| ActionShape::new(&services::IAM, name);
    let user = json!({ "UserName": "ada" });
    call(&open, iam("CreateUser"), user.clone()).await.unwrap();
    let keys = call(&open, iam("CreateAccessKey"), user).await.unwrap();
    let keys = &keys["AccessKey"];
    let ada = moto.aws(
        keys["AccessKeyId"].as_str().unwrap(),
        keys["SecretAccessKey"].as_str().unwrap(),
    );
    moto.control("/moto-api/reset-auth", "0").await;

    let target = Target::default();
    let tables = ActionShape::new(&services::DYNAMODB, "ListTables");
    let roles = ActionShape::new(&services::IAM, "ListRoles");
    let vpcs = ActionShape::new(&services::EC2, "DescribeVpcs");
    // Among REST actions moto checks signatures of those with a body only.
    let queues = ActionShape::rest(
        &services::BATCH,
        "DescribeJobQueues",
        "POST",
        "/v1/describejobqueues",
        &[],
    );
    let every = [
        (tables, "dynamodb:ListTables"),
        (roles, "iam:ListRoles"),
        (vpcs, "ec2:DescribeVpcs"),
        (queues, "batch:DescribeJobQueues"),
    ];

    let unknown = moto.aws("AKIAUNKNOWN", "nothing");
    for (shape, permission) in every {
        let failure = call(&unknown, shape, json!({})).await.unwrap_err();
        assert_eq!(failure.kind, AwsFailureKind::Auth, "{failure:?}");
        let failure = call(&ada, shape, json!({})).await.unwrap_err();
        assert_eq!(failure.kind, AwsFailureKind::Denied, "{failure:?}");
        assert_eq!(failure.action, permission);
        let principal = failure.principal.as_deref();
        assert_eq!(
            principal,
            Some("arn:aws:iam::123456789012:user/ada"),
            "{failure:?}"
        );
    }

    let failure = unknown.caller(&target).await.unwrap_err();
    assert_eq!(failure.kind, AwsFailureKind::Auth, "{failure:?}");
    let failure = unknown.describe_stacks(&target).await.unwrap_err();
    assert_eq!(failure.kind, AwsFailureKind::Auth, "{failure:?}");
    let failure = ada.describe_stacks(&target).await.unwrap_err();
    assert_eq!(failure.kind, AwsFailureKind::Denied, "{failure:?}");
    assert_eq!(failure.action, "cloudformation:DescribeStacks");
    assert_eq!(
        ada.bucket_state(&target, "b").await,
        Ok(BucketState::Refused)
    );
}
