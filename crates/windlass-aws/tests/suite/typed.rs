//! What CloudFormation's typed client makes of answers no emulator gives: pages, replacement
//! details, outputs, drift, throttling.

use std::time::Duration;

use windlass_ports::aws::{
    AwsFailureKind, ChangeSetAddress, ChangeTarget, CloudFormation as _, PropertyValues,
    ResourceDriftDifference, StackCall, StackEventsRequest, StackOutput, TerminationProtection,
};

use super::scripted::{KEY, KEY_ID, Reply, Server, aws, aws_at, reply, target};

/// An answer to an action in the query protocol.
fn result(action: &str, inner: &str) -> Reply {
    let body = format!(
        "<{action}Response xmlns=\"http://cloudformation.amazonaws.com/doc/2010-05-15/\">\
         <{action}Result>{inner}</{action}Result>\
         <ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></{action}Response>"
    );
    reply("200 OK\r\ncontent-type: text/xml", &body)
}

fn change(id: &str, rest: &str) -> String {
    format!(
        "<Changes><member><Type>Resource</Type><ResourceChange><Action>Modify</Action>\
         <LogicalResourceId>{id}</LogicalResourceId>\
         <ResourceType>AWS::DynamoDB::Table</ResourceType>{rest}</ResourceChange></member></Changes>"
    )
}

#[tokio::test]
async fn a_change_set_is_read_to_its_last_page_with_all_its_details() {
    let details = "<Replacement>True</Replacement><PolicyAction>ReplaceAndDelete</PolicyAction>\
        <Scope><member>Properties</member></Scope><Details><member><Target>\
        <Attribute>Properties</Attribute><Name>TableName</Name>\
        <RequiresRecreation>Always</RequiresRecreation><BeforeValue>a</BeforeValue>\
        <AfterValue>b</AfterValue></Target><Evaluation>Static</Evaluation>\
        <ChangeSource>DirectModification</ChangeSource></member></Details>";
    let head = "<ChangeSetName>c</ChangeSetName><StackName>s</StackName>\
        <Status>CREATE_COMPLETE</Status><ExecutionStatus>AVAILABLE</ExecutionStatus>";
    let first = format!(
        "{head}{}<NextToken>t 1</NextToken>",
        change("Items", details)
    );
    let server = Server::start([
        result("DescribeChangeSet", &first),
        result("DescribeChangeSet", &change("Other", "")),
    ])
    .await;
    let (aws, _) = aws_at(&server);
    let address = ChangeSetAddress {
        stack: "s".to_owned(),
        change_set: "c".to_owned(),
    };
    let set = aws
        .describe_change_set(&target(), &address, PropertyValues::Include)
        .await
        .unwrap();
    assert_eq!(set.status, "CREATE_COMPLETE");
    assert_eq!(set.changes.len(), 2);
    let items = &set.changes[0];
    assert_eq!(items.replacement.as_deref(), Some("True"));
    assert_eq!(items.policy_action.as_deref(), Some("ReplaceAndDelete"));
    assert_eq!(items.scope, ["Properties"]);
    assert_eq!(
        items.details[0].target,
        ChangeTarget {
            attribute: Some("Properties".to_owned()),
            name: Some("TableName".to_owned()),
            requires_recreation: Some("Always".to_owned()),
            before_value: Some("a".to_owned()),
            after_value: Some("b".to_owned()),
            ..ChangeTarget::default()
        }
    );
    let asked = server.asked();
    assert!(
        asked[0].contains("IncludePropertyValues=true"),
        "{}",
        asked[0]
    );
    assert!(asked[1].contains("NextToken=t%201"), "{}", asked[1]);
}

#[tokio::test]
async fn events_are_read_no_further_than_the_one_seen_last() {
    let event = |id: &str| {
        format!(
            "<member><EventId>{id}</EventId><StackId>s</StackId><StackName>n</StackName>\
                 <Timestamp>2026-03-01T12:00:00.123Z</Timestamp>\
                 <ResourceStatus>UPDATE_SOMETHING_NEW</ResourceStatus>\
                 <ClientRequestToken>run-1</ClientRequestToken></member>"
        )
    };
    let page = |ids: &[&str]| {
        let events: String = ids.iter().map(|id| event(id)).collect();
        let inner = format!("<StackEvents>{events}</StackEvents><NextToken>more</NextToken>");
        result("DescribeStackEvents", &inner)
    };
    let server = Server::start([page(&["e4", "e3"]), page(&["e2", "e1"])]).await;
    let (aws, _) = aws_at(&server);
    let request = StackEventsRequest {
        stack: "s".to_owned(),
        after_event_id: Some("e1".to_owned()),
        limit: None,
    };
    let events = aws.stack_events(&target(), request).await.unwrap();
    let ids: Vec<&str> = events.iter().map(|event| event.event_id.as_str()).collect();
    assert_eq!(ids, ["e4", "e3", "e2"]);
    assert_eq!(server.asked().len(), 2);
    // A status the SDK has never heard of is shown as it came.
    assert_eq!(events[0].resource_status, "UPDATE_SOMETHING_NEW");
    assert_eq!(events[0].client_request_token.as_deref(), Some("run-1"));
    let time = events[0].timestamp.unwrap();
    assert_eq!(time.to_string(), "2026-03-01T12:00:00.123Z");
}

#[tokio::test]
async fn stacks_have_outputs_and_drift() {
    let stack = "<Stacks><member><StackId>arn</StackId><StackName>s</StackName>\
        <StackStatus>UPDATE_COMPLETE</StackStatus><EnableTerminationProtection>true</EnableTerminationProtection>\
        <Outputs><member><OutputKey>Url</OutputKey><OutputValue>http://x</OutputValue>\
        <ExportName>url</ExportName></member></Outputs>\
        <DriftInformation><StackDriftStatus>DRIFTED</StackDriftStatus></DriftInformation>\
        </member></Stacks>";
    let drifts = "<StackResourceDrifts><member><LogicalResourceId>Jobs</LogicalResourceId>\
        <ResourceType>AWS::SQS::Queue</ResourceType><StackId>arn</StackId>\
        <StackResourceDriftStatus>MODIFIED</StackResourceDriftStatus>\
        <Timestamp>2026-03-01T12:00:00Z</Timestamp><PropertyDifferences><member>\
        <PropertyPath>/DelaySeconds</PropertyPath><ExpectedValue>0</ExpectedValue>\
        <ActualValue>5</ActualValue><DifferenceType>NOT_EQUAL</DifferenceType></member>\
        </PropertyDifferences></member></StackResourceDrifts>";
    let status = "<StackId>arn</StackId><StackDriftDetectionId>d</StackDriftDetectionId>\
        <DetectionStatus>DETECTION_COMPLETE</DetectionStatus>\
        <StackDriftStatus>DRIFTED</StackDriftStatus>\
        <DriftedStackResourceCount>1</DriftedStackResourceCount>\
        <Timestamp>2026-03-01T12:00:00Z</Timestamp>";
    let server = Server::start([
        result("DescribeStacks", stack),
        result(
            "DetectStackDrift",
            "<StackDriftDetectionId>d</StackDriftDetectionId>",
        ),
        result("DescribeStackDriftDetectionStatus", status),
        result("DescribeStackResourceDrifts", drifts),
    ])
    .await;
    let (aws, _) = aws_at(&server);
    let stack = aws.describe_stack(&target(), "s").await.unwrap().unwrap();
    assert!(stack.enable_termination_protection);
    assert_eq!(stack.drift_status.as_deref(), Some("DRIFTED"));
    assert_eq!(
        stack.outputs,
        [StackOutput {
            output_key: "Url".to_owned(),
            output_value: "http://x".to_owned(),
            description: None,
            export_name: Some("url".to_owned()),
        }]
    );
    let detection = aws.detect_drift(&target(), "s").await.unwrap();
    let state = aws.drift_detection(&target(), &detection).await.unwrap();
    assert_eq!(state.drifted_stack_resource_count, 1);
    let drifts = aws.resource_drifts(&target(), "s").await.unwrap();
    assert_eq!(
        drifts[0].property_differences,
        [ResourceDriftDifference {
            property_path: "/DelaySeconds".to_owned(),
            expected_value: "0".to_owned(),
            actual_value: "5".to_owned(),
            difference_type: "NOT_EQUAL".to_owned(),
        }]
    );
}

#[tokio::test]
async fn operations_carry_their_token() {
    let server = Server::start([
        result("RollbackStack", ""),
        result("ContinueUpdateRollback", ""),
        result("CancelUpdateStack", ""),
        result("UpdateTerminationProtection", ""),
    ])
    .await;
    let (aws, _) = aws_at(&server);
    let call = || StackCall::new("s", "run-1");
    aws.rollback_stack(&target(), call()).await.unwrap();
    let skipped = vec!["Items".to_owned()];
    aws.continue_update_rollback(&target(), call(), skipped)
        .await
        .unwrap();
    aws.cancel_update(&target(), call()).await.unwrap();
    aws.set_termination_protection(&target(), "s", TerminationProtection::Off)
        .await
        .unwrap();
    let asked = server.asked();
    for request in &asked[..3] {
        assert!(request.contains("ClientRequestToken=run-1"), "{request}");
    }
    assert!(
        asked[1].contains("ResourcesToSkip.member.1=Items"),
        "{}",
        asked[1]
    );
    assert!(
        asked[3].contains("EnableTerminationProtection=false"),
        "{}",
        asked[3]
    );
}

#[tokio::test]
async fn failures_of_the_typed_client_have_kinds() {
    let error = |status: &str, code: &str| {
        let body = format!(
            "<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code>\
             <Message>because</Message></Error><RequestId>r-9</RequestId></ErrorResponse>"
        );
        reply(status, &body)
    };
    let cases = [
        (
            error("400 Bad Request", "Throttling"),
            AwsFailureKind::Throttled,
            "Throttling",
        ),
        (
            error("403 Forbidden", "AccessDenied"),
            AwsFailureKind::Denied,
            "AccessDenied",
        ),
        (
            error("400 Bad Request", "LimitExceededException"),
            AwsFailureKind::Service,
            "LimitExceededException",
        ),
        (
            reply("502 Bad Gateway", "<html>"),
            AwsFailureKind::Service,
            "UnknownError",
        ),
    ];
    for (answer, kind, code) in cases {
        let server = Server::start([answer]).await;
        let (aws, _) = aws(&[
            ("AWS_ACCESS_KEY_ID", KEY_ID),
            ("AWS_SECRET_ACCESS_KEY", KEY),
            ("AWS_REGION", "eu-west-1"),
            ("AWS_MAX_ATTEMPTS", "1"),
            ("AWS_ENDPOINT_URL_CLOUDFORMATION", &server.url()),
        ]);
        let failure = aws.describe_stacks(&target()).await.unwrap_err();
        assert_eq!(
            (failure.kind, failure.code.as_str()),
            (kind, code),
            "{failure:?}"
        );
        assert_eq!(failure.action, "cloudformation:DescribeStacks");
    }
}

#[tokio::test]
async fn a_service_that_throttles_on_is_called_slower() {
    let throttled = "<ErrorResponse><Error><Type>Sender</Type><Code>Throttling</Code>\
                     <Message>Rate exceeded</Message></Error></ErrorResponse>";
    let server = Server::start([reply("400 Bad Request", throttled)]).await;
    let (aws, clock) = aws(&[
        ("AWS_ACCESS_KEY_ID", KEY_ID),
        ("AWS_SECRET_ACCESS_KEY", KEY),
        ("AWS_REGION", "eu-west-1"),
        ("AWS_MAX_ATTEMPTS", "1"),
        ("AWS_ENDPOINT_URL_CLOUDFORMATION", &server.url()),
    ]);
    for _ in 0..3 {
        let failure = aws.describe_stacks(&target()).await.unwrap_err();
        assert!(failure.is_throttled(), "{failure:?}");
    }
    assert_eq!(
        *clock.waits.lock().unwrap(),
        [50, 100].map(Duration::from_millis)
    );
}
