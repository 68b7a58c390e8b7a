//! Requests per protocol, as tables.

use serde_json::{Value, json};
use windlass_ports::aws::{ActionShape, Place, services};

use super::*;

fn body(shape: &ActionShape, input: &Value) -> String {
    let request = build(shape, input).expect("builds");
    String::from_utf8(request.body).expect("UTF-8")
}

#[test]
fn json_names_the_action_in_a_header() {
    let cases = [
        (
            ActionShape::new(&services::DYNAMODB, "GetItem"),
            "application/x-amz-json-1.0",
            "DynamoDB_20120810.GetItem",
        ),
        (
            ActionShape::new(&services::LOGS, "FilterLogEvents"),
            "application/x-amz-json-1.1",
            "Logs_20140328.FilterLogEvents",
        ),
        (
            ActionShape::new(&services::SECRETSMANAGER, "DescribeSecret"),
            "application/x-amz-json-1.1",
            "secretsmanager.DescribeSecret",
        ),
    ];
    for (shape, content_type, target) in cases {
        let request = build(&shape, &json!({ "A": 1, "B": null })).expect("builds");
        assert_eq!((request.method, request.target.as_str()), ("POST", "/"));
        let expected = [
            ("content-type".to_owned(), content_type.to_owned()),
            ("x-amz-target".to_owned(), target.to_owned()),
        ];
        assert_eq!(request.headers, expected);
        assert_eq!(request.body, br#"{"A":1}"#);
    }
}

#[test]
fn no_input_is_an_empty_object() {
    let shape = ActionShape::new(&services::ECS, "ListClusters");
    assert_eq!(body(&shape, &Value::Null), "{}");
}

#[test]
fn query_flattens_structures_and_lists() {
    let stacks = ActionShape::new(&services::CLOUDFORMATION, "ListStacks");
    let databases = ActionShape::new(&services::RDS, "DescribeDBInstances")
        .with_list_names(&[("Filters", "Filter"), ("Values", "Value")]);
    let cases = [
        (
            &stacks,
            json!({ "StackStatusFilter": ["CREATE_COMPLETE", "DELETE_COMPLETE"] }),
            "Action=ListStacks&Version=2010-05-15\
             &StackStatusFilter.member.1=CREATE_COMPLETE\
             &StackStatusFilter.member.2=DELETE_COMPLETE",
        ),
        (
            &stacks,
            json!({ "StackStatusFilter": [], "NextToken": "a b+c/d&e" }),
            "Action=ListStacks&Version=2010-05-15&NextToken=a%20b%2Bc%2Fd%26e&StackStatusFilter=",
        ),
        (
            &databases,
            json!({ "Filters": [{ "Name": "engine", "Values": ["postgres"] }], "MaxRecords": 20 }),
            "Action=DescribeDBInstances&Version=2014-10-31\
             &Filters.Filter.1.Name=engine&Filters.Filter.1.Values.Value.1=postgres\
             &MaxRecords=20",
        ),
        (
            &stacks,
            json!({ "Deep": { "On": true, "Gone": null } }),
            "Action=ListStacks&Version=2010-05-15&Deep.On=true",
        ),
    ];
    for (shape, input, form) in cases {
        assert_eq!(body(shape, &input), form);
    }
}

#[test]
fn ec2_has_its_own_names_and_no_list_items() {
    let shape = ActionShape::new(&services::EC2, "DescribeVpcs").with_list_names(&[
        ("Filters", "Filter"),
        ("Values", "Value"),
        ("VpcIds", "VpcId"),
    ]);
    let cases = [
        (
            json!({ "VpcIds": ["vpc-1", "vpc-2"], "dryRun": false }),
            "Action=DescribeVpcs&Version=2016-11-15&VpcId.1=vpc-1&VpcId.2=vpc-2&DryRun=false",
        ),
        (
            json!({ "Filters": [{ "Name": "tag:a", "Values": ["x", "y"] }] }),
            "Action=DescribeVpcs&Version=2016-11-15\
             &Filter.1.Name=tag%3Aa&Filter.1.Value.1=x&Filter.1.Value.2=y",
        ),
        (
            json!({ "VpcIds": [] }),
            "Action=DescribeVpcs&Version=2016-11-15",
        ),
    ];
    for (input, form) in cases {
        assert_eq!(body(&shape, &input), form);
    }
}

const POLICY: ActionShape = ActionShape::rest(
    &services::LAMBDA,
    "GetPolicy",
    "GET",
    "/2015-03-31/functions/{FunctionName}/policy",
    &[("Qualifier", Place::Query("Qualifier"))],
);
const OBJECT: ActionShape = ActionShape::rest(
    &services::S3,
    "HeadObject",
    "HEAD",
    "/{Bucket}/{Key+}",
    &[
        ("VersionId", Place::Query("versionId")),
        ("IfMatch", Place::Header("if-match")),
    ],
);
const VERSIONING: ActionShape = ActionShape::rest(
    &services::S3,
    "GetBucketVersioning",
    "GET",
    "/{Bucket}?versioning",
    &[("Owner", Place::Query("owner"))],
);
const JOBS: ActionShape = ActionShape::rest(
    &services::BATCH,
    "DescribeJobs",
    "POST",
    "/v1/describejobs",
    &[],
);
const LIST: ActionShape = ActionShape::rest(
    &services::APIGATEWAYV2,
    "GetTags",
    "GET",
    "/v2/tags",
    &[("Keys", Place::Query("keys"))],
);

#[test]
fn rest_fills_paths_and_query_strings() {
    let cases = [
        (
            POLICY,
            json!({ "FunctionName": "arn:aws:lambda:x", "Qualifier": "a&b" }),
            "/2015-03-31/functions/arn%3Aaws%3Alambda%3Ax/policy?Qualifier=a%26b",
        ),
        (
            OBJECT,
            json!({ "Bucket": "b", "Key": "a/b c", "VersionId": "1" }),
            "/b/a/b%20c?versionId=1",
        ),
        (
            VERSIONING,
            json!({ "Bucket": "b", "Owner": 7 }),
            "/b?versioning&owner=7",
        ),
        (
            LIST,
            json!({ "Keys": ["a", "b"] }),
            "/v2/tags?keys=a&keys=b",
        ),
    ];
    for (shape, input, target) in cases {
        let request = build(&shape, &input).expect("builds");
        assert_eq!(request.target, target);
        assert_eq!(request.method, shape.method);
        assert!(request.body.is_empty());
    }
}

#[test]
fn rest_places_headers_and_bodies() {
    let input = json!({ "Bucket": "b", "Key": "k", "IfMatch": "\"e\"" });
    let request = build(&OBJECT, &input).expect("builds");
    assert_eq!(
        request.headers,
        [("if-match".to_owned(), "\"e\"".to_owned())]
    );
    assert_eq!(body(&JOBS, &json!({ "jobs": ["1"] })), r#"{"jobs":["1"]}"#);
    let invalidation = ActionShape::rest(
        &services::CLOUDFRONT,
        "CreateInvalidation",
        "POST",
        "/2020-05-31/distribution/{DistributionId}/invalidation",
        &[("InvalidationBatch", Place::Payload)],
    )
    .with_list_names(&[("Items", "Path")]);
    let input = json!({
        "DistributionId": "E1",
        "InvalidationBatch": {
            "CallerReference": "a<b>&\"c\"",
            "Paths": { "Items": ["/*", "/x"], "Quantity": 2 },
        },
    });
    assert_eq!(
        body(&invalidation, &input),
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\
         <InvalidationBatch xmlns=\"http://cloudfront.amazonaws.com/doc/2020-05-31/\">\
         <CallerReference>a&lt;b&gt;&amp;&quot;c&quot;</CallerReference>\
         <Paths><Items><Path>/*</Path><Path>/x</Path></Items><Quantity>2</Quantity></Paths>\
         </InvalidationBatch>"
    );
}

#[test]
fn input_that_cannot_be_sent_is_refused() {
    let cases = [
        (POLICY, json!([]), "the input of GetPolicy is not an object"),
        (POLICY, json!({}), "GetPolicy needs `FunctionName`"),
        (
            POLICY,
            json!({ "FunctionName": "" }),
            "GetPolicy needs `FunctionName`",
        ),
        (
            POLICY,
            json!({ "FunctionName": "f", "Function": "f" }),
            "GetPolicy does not take `Function`",
        ),
        (
            POLICY,
            json!({ "FunctionName": { "a": 1 } }),
            "`FunctionName` is not text, a number or a boolean",
        ),
        (
            LIST,
            json!({ "Keys": [["a"]] }),
            "`Keys` holds more than text",
        ),
    ];
    for (shape, input, problem) in cases {
        assert_eq!(build(&shape, &input), Err(problem.to_owned()));
    }
}

proptest::proptest! {
    /// What a member holds never leaks into another segment, parameter or field.
    #[test]
    fn members_stay_in_their_place(name in ".+", qualifier in ".*") {
        let input = json!({ "FunctionName": name, "Qualifier": qualifier });
        let target = build(&POLICY, &input).expect("builds").target;
        let (path, query) = target.split_once('?').expect("has a query string");
        proptest::prop_assert_eq!(path.matches('/').count(), 4);
        proptest::prop_assert!(!query.contains('&') && !query.contains('#'));
        proptest::prop_assert!(target.is_ascii());
    }
}
