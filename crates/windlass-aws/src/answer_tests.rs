//! Answers per protocol, as tables.

use serde_json::json;
use windlass_ports::aws::{ActionShape, services};

use super::*;

fn read_text(shape: &ActionShape, body: &str) -> Value {
    let answer = Answer {
        status: 200,
        headers: Vec::new(),
        body: body.as_bytes().to_vec(),
    };
    read(shape, &answer).expect("reads")
}

#[test]
fn json_is_returned_as_it_is_and_nothing_is_an_object() {
    let shape = ActionShape::new(&services::ECS, "ListClusters");
    assert_eq!(read_text(&shape, r#"{"a":[1]}"#), json!({ "a": [1] }));
    assert_eq!(read_text(&shape, " \n"), json!({}));
}

#[test]
fn members_that_are_null_are_absent() {
    let shape = ActionShape::new(&services::SECRETSMANAGER, "DescribeSecret");
    let body = r#"{"Name":"key","DeletedDate":null,"Tags":[{"Key":"a","Value":null},null]}"#;
    assert_eq!(
        read_text(&shape, body),
        json!({ "Name": "key", "Tags": [{ "Key": "a" }, null] })
    );
}

#[test]
fn query_answers_are_unwrapped() {
    let roles = ActionShape::new(&services::IAM, "ListAttachedRolePolicies")
        .with_lists(&["AttachedPolicies"], &[])
        .with_scalars(&["Size"], &["IsTruncated"]);
    let body = r#"<ListAttachedRolePoliciesResponse xmlns="https://iam.amazonaws.com/doc/2010-05-08/">
      <ListAttachedRolePoliciesResult>
        <AttachedPolicies>
          <member><PolicyName>a</PolicyName><Size>12</Size></member>
        </AttachedPolicies>
        <IsTruncated>false</IsTruncated>
      </ListAttachedRolePoliciesResult>
      <ResponseMetadata><RequestId>r</RequestId></ResponseMetadata>
    </ListAttachedRolePoliciesResponse>"#;
    assert_eq!(
        read_text(&roles, body),
        json!({ "AttachedPolicies": [{ "PolicyName": "a", "Size": 12 }], "IsTruncated": false })
    );
    let empty = "<ListAttachedRolePoliciesResponse><ListAttachedRolePoliciesResult>\
                 <AttachedPolicies/></ListAttachedRolePoliciesResult></ListAttachedRolePoliciesResponse>";
    assert_eq!(read_text(&roles, empty), json!({ "AttachedPolicies": [] }));
}

#[test]
fn lists_maps_and_repeats_of_xml() {
    let databases = ActionShape::new(&services::RDS, "DescribeDBInstances")
        .with_lists(&["DBInstances"], &[])
        .with_scalars(&["Port", "Load"], &[]);
    let topic = ActionShape::new(&services::SNS, "GetTopicAttributes");
    let vpcs = ActionShape::new(&services::EC2, "DescribeVpcs");
    let objects = ActionShape::rest(&services::S3, "ListObjectsV2", "GET", "/{Bucket}", &[])
        .with_lists(&[], &["Contents"]);
    let location = ActionShape::rest(&services::S3, "GetBucketLocation", "GET", "/{Bucket}", &[]);
    let cases = [
        (
            &databases,
            "<R><DescribeDBInstancesResult><DBInstances><DBInstance><Port>5432</Port>\
             <Load>0.5</Load></DBInstance></DBInstances></DescribeDBInstancesResult></R>",
            json!({ "DBInstances": [{ "Port": 5432, "Load": 0.5 }] }),
        ),
        (
            &topic,
            "<R><GetTopicAttributesResult><Attributes><entry><key>Owner</key><value>1</value>\
             </entry></Attributes></GetTopicAttributesResult></R>",
            json!({ "Attributes": { "Owner": "1" } }),
        ),
        (
            &vpcs,
            "<DescribeVpcsResponse><requestId>r</requestId><vpcSet><item><vpcId>v</vpcId></item>\
             </vpcSet></DescribeVpcsResponse>",
            json!({ "vpcSet": [{ "vpcId": "v" }] }),
        ),
        (
            &objects,
            "<ListBucketResult><Name>b</Name><Contents><Key>a</Key></Contents></ListBucketResult>",
            json!({ "Name": "b", "Contents": [{ "Key": "a" }] }),
        ),
        (
            &location,
            "<?xml version=\"1.0\"?>\n<LocationConstraint>eu-west-1</LocationConstraint>",
            json!({ "LocationConstraint": "eu-west-1" }),
        ),
        (&location, "<LocationConstraint/>", json!({})),
    ];
    for (shape, body, expected) in cases {
        assert_eq!(read_text(shape, body), expected, "{body}");
    }
}

#[test]
fn headers_can_be_the_answer() {
    let shape = ActionShape::rest(&services::S3, "HeadObject", "HEAD", "/{Bucket}/{Key+}", &[])
        .with_result_headers(
            &[("content-length", "ContentLength"), ("etag", "ETag")],
            Body::Empty,
        );
    let answer = Answer {
        status: 200,
        headers: vec![("content-length".to_owned(), "12".to_owned())],
        body: Vec::new(),
    };
    assert_eq!(read(&shape, &answer), Ok(json!({ "ContentLength": "12" })));
}

#[test]
fn unreadable_answers_are_reported() {
    let shape = ActionShape::new(&services::RDS, "DescribeDBInstances");
    let answer = |body: &[u8]| Answer {
        status: 200,
        headers: Vec::new(),
        body: body.to_vec(),
    };
    for body in [&b"<a>"[..], b"\xff", b"{}"] {
        assert!(read(&shape, &answer(body)).is_err());
    }
}

proptest::proptest! {
    #[test]
    fn any_answer_is_read_or_refused(body in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
        let shape = ActionShape::new(&services::EC2, "DescribeVpcs");
        let answer = Answer { status: 200, headers: Vec::new(), body };
        let _ = read(&shape, &answer);
        let _ = crate::error_body::failure("ec2:DescribeVpcs", &answer);
    }
}
