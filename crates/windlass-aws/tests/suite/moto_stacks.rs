//! CloudFormation, S3 and STS against moto.

use std::collections::BTreeMap;

use windlass_ports::aws::{
    AssumeRole, BucketState, ChangeSetAddress, ChangeSetKind, ChangeSetSummary,
    CloudFormation as _, CreateBucket, CreateChangeSet, DeleteStack, Encryption, ExecuteChangeSet,
    Identity as _, ListObjects, ObjectBody, ObjectId, ObjectStore as _, ParameterInput,
    PropertyValues, PutObject, StackCall, StackEventsRequest, Target, TemplateSource,
    TemplateStage, Versioning,
};

use super::moto::Moto;

const TEMPLATE: &str = r#"{
  "AWSTemplateFormatVersion": "2010-09-09",
  "Description": "windlass-stack shop dev",
  "Parameters": { "Name": { "Type": "String" } },
  "Resources": {
    "Items": { "Type": "AWS::DynamoDB::Table", "Properties": {
      "TableName": { "Ref": "Name" }, "BillingMode": "PAY_PER_REQUEST",
      "KeySchema": [{ "AttributeName": "id", "KeyType": "HASH" }],
      "AttributeDefinitions": [{ "AttributeName": "id", "AttributeType": "S" }] } },
    "Jobs": { "Type": "AWS::SQS::Queue", "Properties": { "QueueName": "shop-dev-jobs" } }
  }
}"#;

fn change_set(name: &str, kind: ChangeSetKind) -> CreateChangeSet {
    CreateChangeSet {
        parameters: BTreeMap::from([(
            "Name".to_owned(),
            ParameterInput::Value("shop-dev-items".to_owned()),
        )]),
        tags: BTreeMap::from([("windlass:project".to_owned(), "shop".to_owned())]),
        capabilities: vec!["CAPABILITY_NAMED_IAM".to_owned()],
        ..CreateChangeSet::new(
            "shop-dev",
            name,
            kind,
            TemplateSource::Body(TEMPLATE.to_owned()),
        )
    }
}

#[tokio::test]
async fn a_stack_from_change_set_to_deletion() {
    let Some(moto) = Moto::start() else { return };
    let aws = moto.aws("test", "test");
    let target = Target::default();
    assert_eq!(aws.describe_stack(&target, "shop-dev").await, Ok(None));

    let made = aws
        .create_change_set(&target, change_set("first", ChangeSetKind::Create))
        .await
        .unwrap();
    assert!(made.stack_id.contains("stack/shop-dev/"), "{made:?}");
    let address = ChangeSetAddress {
        stack: made.stack_id.clone(),
        change_set: made.id.clone(),
    };
    let described = aws
        .describe_change_set(&target, &address, PropertyValues::Include)
        .await
        .unwrap();
    assert_eq!(described.status, "CREATE_COMPLETE");
    assert_eq!(described.execution_status, "AVAILABLE");
    let mut added: Vec<_> = described
        .changes
        .iter()
        .map(|change| (change.action.as_str(), change.logical_resource_id.as_str()))
        .collect();
    added.sort_unstable();
    assert_eq!(added, [("Add", "Items"), ("Add", "Jobs")]);

    let reviewed = aws
        .describe_stack(&target, "shop-dev")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(reviewed.stack_status, "REVIEW_IN_PROGRESS");
    aws.execute_change_set(
        &target,
        ExecuteChangeSet {
            address,
            client_request_token: Some("run-1".to_owned()),
            disable_rollback: None,
        },
    )
    .await
    .unwrap();
    let stack = aws
        .describe_stack(&target, &made.stack_id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(stack.stack_status, "CREATE_COMPLETE");
    assert_eq!(stack.tags[0].key, "windlass:project");
    assert!(stack.creation_time.is_some());

    let resources = aws.stack_resources(&target, "shop-dev").await.unwrap();
    assert_eq!(resources.len(), 2);
    let request = StackEventsRequest {
        stack: made.stack_id.clone(),
        ..StackEventsRequest::default()
    };
    let events = aws.stack_events(&target, request.clone()).await.unwrap();
    assert!(events.len() >= 2, "{events:?}");
    assert_eq!(events[0].resource_status, "CREATE_COMPLETE");
    let newer = aws
        .stack_events(
            &target,
            StackEventsRequest {
                after_event_id: Some(events[1].event_id.clone()),
                ..request.clone()
            },
        )
        .await
        .unwrap();
    assert_eq!(newer, events[..1]);
    let one = StackEventsRequest {
        limit: Some(1),
        ..request
    };
    assert_eq!(aws.stack_events(&target, one).await.unwrap(), events[..1]);

    let template = aws
        .get_template(&target, "shop-dev", TemplateStage::Original)
        .await
        .unwrap();
    let template: serde_json::Value = serde_json::from_str(&template).unwrap();
    assert_eq!(template["Description"], "windlass-stack shop dev");
    let listed = aws
        .list_stacks(&target, &["CREATE_COMPLETE"])
        .await
        .unwrap();
    assert_eq!(listed[0].stack_name, "shop-dev");
    assert_eq!(aws.describe_stacks(&target).await.unwrap().len(), 1);
    assert_eq!(aws.list_exports(&target).await, Ok(Vec::new()));

    let policy = r#"{"Statement":[]}"#;
    aws.set_stack_policy(&target, "shop-dev", policy)
        .await
        .unwrap();
    let read = aws.get_stack_policy(&target, "shop-dev").await.unwrap();
    assert_eq!(read.as_deref(), Some(policy));

    let empty = change_set("empty", ChangeSetKind::Update);
    let failure = aws.create_change_set(&target, empty).await.unwrap_err();
    assert!(failure.is_no_updates(), "{failure:?}");
    let mut changed = change_set("second", ChangeSetKind::Update);
    let other = ParameterInput::Value("shop-dev-other".to_owned());
    changed.parameters.insert("Name".to_owned(), other);
    let changed = aws.create_change_set(&target, changed).await.unwrap();
    let address = ChangeSetAddress {
        stack: changed.stack_id,
        change_set: changed.id,
    };
    let described = aws
        .describe_change_set(&target, &address, PropertyValues::Omit)
        .await
        .unwrap();
    assert_eq!(described.change_set_name, "second");
    aws.delete_change_set(&target, &address).await.unwrap();
    let left = aws.list_change_sets(&target, "shop-dev").await.unwrap();
    let is_left = |set: &ChangeSetSummary| set.change_set_name == "second";
    assert!(!left.iter().any(is_left), "{left:?}");

    aws.delete_stack(
        &target,
        DeleteStack {
            call: StackCall::new(&made.stack_id, "run-2"),
            retain_resources: Vec::new(),
        },
    )
    .await
    .unwrap();
    let gone = aws.describe_stack(&target, &made.stack_id).await.unwrap();
    assert_eq!(gone.unwrap().stack_status, "DELETE_COMPLETE");
    assert_eq!(aws.describe_stack(&target, "shop-dev").await, Ok(None));
}

#[tokio::test]
async fn objects_and_the_caller() {
    let Some(moto) = Moto::start() else { return };
    let aws = moto.aws("test", "test");
    let target = Target::default();

    let caller = aws.caller(&target).await.unwrap();
    assert_eq!(caller.account, "123456789012");
    assert_eq!(caller.region, "eu-west-1");
    assert_eq!(caller.credential_source, "environment variables");
    let assumed = aws
        .assume_role(
            &target,
            AssumeRole {
                role_arn: "arn:aws:iam::123456789012:role/reader".to_owned(),
                session_name: "windlass".to_owned(),
                external_id: None,
                policy: None,
                duration_seconds: Some(900),
            },
        )
        .await
        .unwrap();
    assert!(assumed.session_token.is_some() && assumed.expires_at.is_some());
    let as_role = Target {
        role_arn: Some("arn:aws:iam::123456789012:role/reader".to_owned()),
        ..Target::default()
    };
    let caller = aws.caller(&as_role).await.unwrap();
    assert!(
        caller.arn.contains("assumed-role/reader/windlass"),
        "{caller:?}"
    );
    assert_eq!(
        caller.credential_source,
        "role arn:aws:iam::123456789012:role/reader"
    );

    let bucket = "windlass-assets-test";
    let create = CreateBucket {
        bucket: bucket.to_owned(),
        versioning: Versioning::On,
        encryption: Encryption::S3Managed,
        tags: BTreeMap::from([("a".to_owned(), "b".to_owned())]),
    };
    assert_eq!(
        aws.bucket_state(&target, bucket).await,
        Ok(BucketState::Absent)
    );
    aws.create_bucket(&target, create.clone()).await.unwrap();
    aws.create_bucket(&target, create)
        .await
        .expect("making it twice repairs it");
    assert_eq!(
        aws.bucket_state(&target, bucket).await,
        Ok(BucketState::Usable)
    );

    assert_eq!(
        aws.head_object(&target, bucket, "zips/a.zip").await,
        Ok(None)
    );
    let put = |key: &str, body: ObjectBody| PutObject {
        content_type: Some("application/zip".to_owned()),
        metadata: BTreeMap::from([("digest".to_owned(), "d1".to_owned())]),
        tags: BTreeMap::from([("k e y".to_owned(), "v+v".to_owned())]),
        ..PutObject::new(bucket, key, body)
    };
    aws.put_object(
        &target,
        put("zips/a.zip", ObjectBody::Bytes(b"one".to_vec())),
    )
    .await
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("b");
    fs_err::write(&file, vec![7; 200_000]).unwrap();
    aws.put_object(&target, put("zips/b c.zip", ObjectBody::File(file.clone())))
        .await
        .unwrap();
    aws.put_object(
        &target,
        put("zips/a.zip", ObjectBody::Bytes(b"two".to_vec())),
    )
    .await
    .unwrap();
    let missing = ObjectBody::File(folder.path().join("none"));
    let failure = aws
        .put_object(&target, put("x", missing))
        .await
        .unwrap_err();
    assert!(failure.message.contains("cannot be read"), "{failure}");

    let head = aws
        .head_object(&target, bucket, "zips/a.zip")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (head.content_length, head.metadata["digest"].as_str()),
        (3, "d1")
    );
    assert_eq!(head.content_type.as_deref(), Some("application/zip"));
    let content = aws
        .get_object(&target, bucket, "zips/b c.zip", 1 << 20)
        .await
        .unwrap();
    assert_eq!(content.bytes, vec![7; 200_000]);
    let failure = aws
        .get_object(&target, bucket, "zips/b c.zip", 1000)
        .await
        .unwrap_err();
    assert!(
        failure.message.ends_with("longer than 1000 bytes"),
        "{failure}"
    );
    assert!(
        aws.get_object(&target, bucket, "none", 10)
            .await
            .unwrap_err()
            .is_not_found()
    );

    let list = |prefix: &str| ListObjects {
        bucket: bucket.to_owned(),
        prefix: prefix.to_owned(),
        limit: None,
    };
    let keys: Vec<String> = aws
        .list_objects(&target, list("zips/"))
        .await
        .unwrap()
        .into_iter()
        .map(|entry| entry.key)
        .collect();
    assert_eq!(keys, ["zips/a.zip", "zips/b c.zip"]);
    let deleted = aws
        .delete_objects(
            &target,
            bucket,
            vec![ObjectId {
                key: "zips/a.zip".to_owned(),
                version_id: None,
            }],
        )
        .await
        .unwrap();
    assert_eq!(deleted.deleted, 1);
    // Two versions and a delete marker of one key, one version of the other.
    let versions = aws.list_versions(&target, list("")).await.unwrap();
    assert_eq!(versions.len(), 4, "{versions:?}");
    assert_eq!(
        versions.iter().filter(|one| one.is_delete_marker).count(),
        1
    );
    let emptied = aws.empty_bucket(&target, bucket, "").await.unwrap();
    assert_eq!((emptied.deleted, emptied.kept.len()), (4, 0));
    assert!(
        aws.list_versions(&target, list(""))
            .await
            .unwrap()
            .is_empty()
    );
    aws.delete_bucket(&target, bucket).await.unwrap();
    assert_eq!(
        aws.empty_bucket(&target, bucket, "").await.unwrap().deleted,
        0
    );
    assert_eq!(
        aws.bucket_state(&target, bucket).await,
        Ok(BucketState::Absent)
    );
}
