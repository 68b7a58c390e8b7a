//! S3, STS, Secrets Manager and SSM, as far as they go.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::testing::{Harness, field, fields};
use crate::wire::{Reply, Request};

fn signed(service: &str) -> (String, String) {
    (
        "authorization".to_owned(),
        format!(
            "AWS4-HMAC-SHA256 Credential=AKID/20260101/eu-west-1/{service}/aws4_request, Signature=0"
        ),
    )
}

fn s3(harness: &mut Harness, method: &str, address: &str, body: &[u8]) -> Reply {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    harness.send(&Request {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        headers: BTreeMap::from([signed("s3")]),
        body: body.to_vec(),
    })
}

fn text(reply: &Reply) -> String {
    String::from_utf8(reply.body.clone()).unwrap()
}

fn json_call(harness: &mut Harness, target: &str, input: Value) -> Value {
    let reply = harness.send(&Request {
        method: "POST".to_owned(),
        path: "/".to_owned(),
        query: String::new(),
        headers: BTreeMap::from([
            signed("secretsmanager"),
            ("x-amz-target".to_owned(), target.to_owned()),
        ]),
        body: input.to_string().into_bytes(),
    });
    serde_json::from_slice(&reply.body).unwrap()
}

#[test]
fn objects_are_put_found_listed_and_deleted() {
    let mut harness = Harness::new();
    assert_eq!(s3(&mut harness, "HEAD", "/assets", b"").status, 404);
    assert_eq!(s3(&mut harness, "PUT", "/assets", b"").status, 200);
    assert_eq!(s3(&mut harness, "HEAD", "/assets", b"").status, 200);
    assert_eq!(s3(&mut harness, "HEAD", "/assets/a", b"").status, 404);
    for key in ["a", "dir/b", "dir/c%20d"] {
        assert_eq!(
            s3(&mut harness, "PUT", &format!("/assets/{key}"), b"body").status,
            200
        );
    }
    assert_eq!(
        s3(&mut harness, "GET", "/assets/dir/c%20d", b"").body,
        b"body"
    );
    let missing = s3(&mut harness, "GET", "/assets/none", b"");
    assert_eq!(field(&text(&missing), "Code").as_deref(), Some("NoSuchKey"));

    let list = text(&s3(
        &mut harness,
        "GET",
        "/assets?list-type=2&delimiter=%2F",
        b"",
    ));
    assert_eq!(fields(&list, "Key"), ["a"]);
    assert_eq!(fields(&list, "Prefix"), ["", "dir/"]);
    let page = text(&s3(
        &mut harness,
        "GET",
        "/assets?list-type=2&max-keys=2",
        b"",
    ));
    assert_eq!(fields(&page, "Key"), ["a", "dir/b"]);
    let token = field(&page, "NextContinuationToken").unwrap();
    let rest = text(&s3(
        &mut harness,
        "GET",
        &format!("/assets?list-type=2&continuation-token={token}"),
        b"",
    ));
    assert_eq!(fields(&rest, "Key"), ["dir/c d"]);

    assert_eq!(s3(&mut harness, "DELETE", "/assets", b"").status, 409);
    let many = b"<Delete><Object><Key>a</Key></Object><Object><Key>dir/b</Key></Object></Delete>";
    let deleted = text(&s3(&mut harness, "POST", "/assets?delete", many));
    assert_eq!(fields(&deleted, "Key"), ["a", "dir/b"]);
    assert_eq!(
        s3(&mut harness, "DELETE", "/assets/dir/c%20d", b"").status,
        204
    );
    assert_eq!(s3(&mut harness, "DELETE", "/assets", b"").status, 204);
}

#[test]
fn versions_and_delete_markers_are_kept_until_deleted_by_id() {
    let mut harness = Harness::new();
    s3(&mut harness, "PUT", "/assets", b"");
    let enable = b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>";
    s3(&mut harness, "PUT", "/assets?versioning", enable);
    s3(&mut harness, "PUT", "/assets/a", b"1");
    s3(&mut harness, "PUT", "/assets/a", b"2");
    s3(&mut harness, "DELETE", "/assets/a", b"");
    assert_eq!(s3(&mut harness, "GET", "/assets/a", b"").status, 404);
    let first = text(&s3(&mut harness, "GET", "/assets?versions&max-keys=2", b""));
    assert_eq!(field(&first, "IsTruncated").as_deref(), Some("true"));
    let all = text(&s3(&mut harness, "GET", "/assets?versions", b""));
    let ids = fields(&all, "VersionId");
    assert_eq!(ids.len(), 3);
    assert_eq!(fields(&all, "IsLatest"), ["false", "false", "true"]);
    for id in ids {
        s3(
            &mut harness,
            "DELETE",
            &format!("/assets/a?versionId={id}"),
            b"",
        );
    }
    assert_eq!(s3(&mut harness, "DELETE", "/assets", b"").status, 204);
}

#[test]
fn a_large_template_comes_from_the_asset_store() {
    let mut harness = Harness::new();
    s3(&mut harness, "PUT", "/assets", b"");
    let template = json!({
        "Description": "x".repeat(60_000),
        "Resources": {"T": {"Type": "AWS::SNS::Topic"}},
    });
    s3(
        &mut harness,
        "PUT",
        "/assets/t.json",
        template.to_string().as_bytes(),
    );
    harness.ok(
        "CreateStack",
        &[
            ("StackName", "big"),
            (
                "TemplateURL",
                "https://assets.s3.eu-west-1.amazonaws.com/t.json",
            ),
        ],
    );
    harness.settle();
    assert_eq!(harness.status("big"), "CREATE_COMPLETE");
    let huge = json!({"Description": "x".repeat(1_100_000), "Resources": {}});
    s3(
        &mut harness,
        "PUT",
        "/assets/huge.json",
        huge.to_string().as_bytes(),
    );
    assert!(
        harness
            .refused(
                "ValidateTemplate",
                &[("TemplateURL", "http://127.0.0.1/assets/huge.json")]
            )
            .contains("may not exceed 1048576 bytes")
    );
}

#[test]
fn secrets_live_and_die_by_the_rules() {
    let mut harness = Harness::new();
    let mut call = |action: &str, input: Value| {
        json_call(&mut harness, &format!("secretsmanager.{action}"), input)
    };
    let id = json!({"SecretId": "db"});
    assert_eq!(
        call("DescribeSecret", id.clone())["__type"],
        "ResourceNotFoundException"
    );
    assert_eq!(
        call("CreateSecret", json!({"Name": "db", "SecretString": "one"}))["Name"],
        "db"
    );
    assert_eq!(
        call("CreateSecret", json!({"Name": "db", "SecretString": "x"}))["__type"],
        "ResourceExistsException"
    );
    call(
        "PutSecretValue",
        json!({"SecretId": "db", "SecretString": "two"}),
    );
    assert_eq!(call("GetSecretValue", id.clone())["SecretString"], "two");
    assert!(call("DeleteSecret", id.clone())["DeletionDate"].is_number());
    assert_eq!(
        call("GetSecretValue", id.clone())["__type"],
        "InvalidRequestException"
    );
    assert!(call("DescribeSecret", id.clone())["DeletedDate"].is_number());
    assert_eq!(
        call("CreateSecret", json!({"Name": "db", "SecretString": "x"}))["__type"],
        "InvalidRequestException"
    );
    call("RestoreSecret", id.clone());
    assert_eq!(call("GetSecretValue", id.clone())["SecretString"], "two");
    call(
        "DeleteSecret",
        json!({"SecretId": "db", "ForceDeleteWithoutRecovery": true}),
    );
    assert_eq!(
        call("DescribeSecret", id)["__type"],
        "ResourceNotFoundException"
    );
}

#[test]
fn a_version_is_written_once_by_its_token() {
    let mut harness = Harness::new();
    let mut call = |action: &str, input: Value| {
        json_call(&mut harness, &format!("secretsmanager.{action}"), input)
    };
    let (first, second) = ("a".repeat(32), "b".repeat(32));
    let create = json!({"Name": "db", "SecretString": "one", "ClientRequestToken": first.as_str()});
    assert_eq!(
        call("CreateSecret", create.clone())["VersionId"],
        first.as_str()
    );
    assert_eq!(call("CreateSecret", create)["VersionId"], first.as_str());
    let put =
        json!({"SecretId": "db", "SecretString": "two", "ClientRequestToken": second.as_str()});
    for _ in 0..2 {
        assert_eq!(
            call("PutSecretValue", put.clone())["VersionId"],
            second.as_str()
        );
    }
    let other =
        json!({"SecretId": "db", "SecretString": "three", "ClientRequestToken": second.as_str()});
    assert_eq!(
        call("PutSecretValue", other)["__type"],
        "ResourceExistsException"
    );
    let stages = &call("DescribeSecret", json!({"SecretId": "db"}))["VersionIdsToStages"];
    assert_eq!(stages[&second], json!(["AWSCURRENT"]));
    assert_eq!(stages[&first], json!(["AWSPREVIOUS"]));
}

#[test]
fn parameters_are_found_or_named_as_missing() {
    let mut harness = Harness::new();
    let mut call =
        |action: &str, input: Value| json_call(&mut harness, &format!("AmazonSSM.{action}"), input);
    call(
        "PutParameter",
        json!({"Name": "/a", "Value": "1", "Type": "String"}),
    );
    assert_eq!(
        call("PutParameter", json!({"Name": "/a", "Value": "2"}))["__type"],
        "ParameterAlreadyExists"
    );
    let found = call("GetParameters", json!({"Names": ["/a", "/b"]}));
    assert_eq!(found["Parameters"][0]["Value"], "1");
    assert_eq!(found["InvalidParameters"], json!(["/b"]));
    assert_eq!(
        call("Nope", json!({}))["__type"],
        "UnknownOperationException"
    );
}

#[test]
fn identity_follows_the_assumed_role() {
    let mut harness = Harness::new();
    let mut sts = |key: &str, form: &str| {
        let reply = harness.send(&Request {
            method: "POST".to_owned(),
            path: "/".to_owned(),
            query: String::new(),
            headers: BTreeMap::from([
                (
                    "content-type".to_owned(),
                    "application/x-www-form-urlencoded".to_owned(),
                ),
                (
                    "authorization".to_owned(),
                    format!(
                        "AWS4-HMAC-SHA256 Credential={key}/20260101/us-east-1/sts/aws4_request"
                    ),
                ),
            ]),
            body: form.as_bytes().to_vec(),
        });
        text(&reply)
    };
    let me = sts("AKID", "Action=GetCallerIdentity&Version=2011-06-15");
    assert_eq!(
        field(&me, "Arn").as_deref(),
        Some("arn:aws:iam::123456789012:user/double")
    );
    let role = sts(
        "AKID",
        "Action=AssumeRole&Version=2011-06-15&RoleArn=arn:aws:iam::999999999999:role/deploy&RoleSessionName=s",
    );
    let key = field(&role, "AccessKeyId").unwrap();
    let now = sts(&key, "Action=GetCallerIdentity&Version=2011-06-15");
    assert_eq!(
        field(&now, "Arn").as_deref(),
        Some("arn:aws:sts::999999999999:assumed-role/deploy/s")
    );
}
