//! The shapes of answers: every element name a client reads, pinned against AWS's API reference.

use std::collections::BTreeSet;

use serde_json::json;

use crate::testing::{Harness, field};

/// Element paths below the result, lists as `[]`, sorted.
fn shape(answer: &str) -> String {
    fn walk(node: roxmltree::Node<'_, '_>, path: &str, found: &mut BTreeSet<String>) {
        let children: Vec<_> = node.children().filter(|child| child.is_element()).collect();
        for child in &children {
            let name = child.tag_name().name();
            let next = match (name, path.is_empty()) {
                ("member", _) => format!("{path}[]"),
                (_, true) => name.to_owned(),
                _ => format!("{path}.{name}"),
            };
            let is_leaf = !child.children().any(|inner| inner.is_element());
            if is_leaf {
                found.insert(next.clone());
            }
            walk(*child, &next, found);
        }
    }
    let document = roxmltree::Document::parse(answer).unwrap();
    let mut found = BTreeSet::new();
    let root = document.root_element();
    if let Some(result) = root
        .children()
        .find(|child| child.tag_name().name().ends_with("Result"))
    {
        walk(result, "", &mut found);
    }
    let name = root.tag_name().name();
    let lines: Vec<String> = found.into_iter().collect();
    format!("{name}\n{}", lines.join("\n"))
}

fn prepared() -> Harness {
    let mut harness = Harness::new();
    let template = |name: &str| {
        json!({
            "Description": "d",
            "Metadata": {"m": 1},
            "Parameters": {"P": {"Type": "String", "Default": "x", "Description": "p"}},
            "Resources": {"Q": {"Type": "AWS::SQS::Queue", "Metadata": {"a": 1},
                "Properties": {"QueueName": name, "DelaySeconds": 1}}},
            "Outputs": {"O": {"Value": {"Ref": "Q"}, "Description": "o", "Export": {"Name": "e"}}},
        })
        .to_string()
    };
    let common = [
        ("StackName", "s"),
        ("Capabilities.member.1", "CAPABILITY_IAM"),
        ("Tags.member.1.Key", "k"),
        ("Tags.member.1.Value", "v"),
        ("NotificationARNs.member.1", "arn:aws:sns:eu-west-1:1:t"),
        ("RoleARN", "arn:aws:iam::1:role/r"),
        ("ChangeSetName", "c"),
        ("Description", "why"),
        ("ClientRequestToken", "t"),
    ];
    let with = |body: &str, kind: &str, harness: &mut Harness| {
        let mut params = common.to_vec();
        params.extend([("TemplateBody", body), ("ChangeSetType", kind)]);
        harness.ok("CreateChangeSet", &params);
        harness.advance(1_000);
    };
    with(&template("a"), "CREATE", &mut harness);
    harness.ok("ExecuteChangeSet", &common);
    harness.settle();
    harness.ok("DeleteChangeSet", &common);
    harness.command(json!({"do": "drift", "stack": "s", "logical_id": "Q", "path": "/DelaySeconds", "value": 9}));
    harness.ok("DetectStackDrift", &[("StackName", "s")]);
    harness.settle();
    with(&template("b"), "UPDATE", &mut harness);
    harness.create(
        "importer",
        &json!({"Resources": {"T": {"Type": "AWS::SNS::Topic",
        "Properties": {"DisplayName": {"Fn::ImportValue": "e"}}}}}),
    );
    harness.settle();
    harness
}

#[test]
fn answers_have_the_documented_elements() {
    let mut harness = prepared();
    let detection = harness.ok("DetectStackDrift", &[("StackName", "s")]);
    let detection = field(&detection, "StackDriftDetectionId").unwrap();
    harness.settle();
    let stack = [("StackName", "s")];
    let mut shapes = Vec::new();
    for (action, params) in [
        ("DescribeStacks", &stack[..]),
        ("ListStacks", &[]),
        ("DescribeStackEvents", &stack),
        (
            "DescribeStackResource",
            &[("StackName", "s"), ("LogicalResourceId", "Q")],
        ),
        ("DescribeStackResources", &stack),
        ("ListStackResources", &stack),
        (
            "DescribeChangeSet",
            &[
                ("StackName", "s"),
                ("ChangeSetName", "c"),
                ("IncludePropertyValues", "true"),
            ],
        ),
        ("ListChangeSets", &stack),
        ("GetTemplate", &stack),
        ("GetTemplateSummary", &stack),
        ("GetStackPolicy", &stack),
        ("ListExports", &[]),
        ("ListImports", &[("ExportName", "e")]),
        (
            "DescribeStackDriftDetectionStatus",
            &[("StackDriftDetectionId", detection.as_str())],
        ),
        ("DescribeStackResourceDrifts", &stack),
        (
            "UpdateTerminationProtection",
            &[("StackName", "s"), ("EnableTerminationProtection", "false")],
        ),
        ("DeleteStack", &stack),
    ] {
        shapes.push(shape(&harness.ok(action, params)));
    }
    insta::assert_snapshot!(shapes.join("\n\n"), @"
    DescribeStacksResponse
    Stacks[].Capabilities[]
    Stacks[].ChangeSetId
    Stacks[].CreationTime
    Stacks[].Description
    Stacks[].DisableRollback
    Stacks[].DriftInformation.LastCheckTimestamp
    Stacks[].DriftInformation.StackDriftStatus
    Stacks[].EnableTerminationProtection
    Stacks[].NotificationARNs[]
    Stacks[].Outputs[].Description
    Stacks[].Outputs[].ExportName
    Stacks[].Outputs[].OutputKey
    Stacks[].Outputs[].OutputValue
    Stacks[].Parameters[].ParameterKey
    Stacks[].Parameters[].ParameterValue
    Stacks[].RoleARN
    Stacks[].RollbackConfiguration
    Stacks[].StackId
    Stacks[].StackName
    Stacks[].StackStatus
    Stacks[].Tags[].Key
    Stacks[].Tags[].Value

    ListStacksResponse
    StackSummaries[].CreationTime
    StackSummaries[].DriftInformation.LastCheckTimestamp
    StackSummaries[].DriftInformation.StackDriftStatus
    StackSummaries[].StackId
    StackSummaries[].StackName
    StackSummaries[].StackStatus
    StackSummaries[].TemplateDescription

    DescribeStackEventsResponse
    StackEvents[].ClientRequestToken
    StackEvents[].EventId
    StackEvents[].LogicalResourceId
    StackEvents[].PhysicalResourceId
    StackEvents[].ResourceProperties
    StackEvents[].ResourceStatus
    StackEvents[].ResourceStatusReason
    StackEvents[].ResourceType
    StackEvents[].StackId
    StackEvents[].StackName
    StackEvents[].Timestamp

    DescribeStackResourceResponse
    StackResourceDetail.DriftInformation.LastCheckTimestamp
    StackResourceDetail.DriftInformation.StackResourceDriftStatus
    StackResourceDetail.LastUpdatedTimestamp
    StackResourceDetail.LogicalResourceId
    StackResourceDetail.Metadata
    StackResourceDetail.PhysicalResourceId
    StackResourceDetail.ResourceStatus
    StackResourceDetail.ResourceType
    StackResourceDetail.StackId
    StackResourceDetail.StackName

    DescribeStackResourcesResponse
    StackResources[].DriftInformation.LastCheckTimestamp
    StackResources[].DriftInformation.StackResourceDriftStatus
    StackResources[].LogicalResourceId
    StackResources[].PhysicalResourceId
    StackResources[].ResourceStatus
    StackResources[].ResourceType
    StackResources[].StackId
    StackResources[].StackName
    StackResources[].Timestamp

    ListStackResourcesResponse
    StackResourceSummaries[].DriftInformation.LastCheckTimestamp
    StackResourceSummaries[].DriftInformation.StackResourceDriftStatus
    StackResourceSummaries[].LastUpdatedTimestamp
    StackResourceSummaries[].LogicalResourceId
    StackResourceSummaries[].PhysicalResourceId
    StackResourceSummaries[].ResourceStatus
    StackResourceSummaries[].ResourceType

    DescribeChangeSetResponse
    Capabilities[]
    ChangeSetId
    ChangeSetName
    Changes[].ResourceChange.Action
    Changes[].ResourceChange.AfterContext
    Changes[].ResourceChange.BeforeContext
    Changes[].ResourceChange.Details[].ChangeSource
    Changes[].ResourceChange.Details[].Evaluation
    Changes[].ResourceChange.Details[].Target.AfterValue
    Changes[].ResourceChange.Details[].Target.Attribute
    Changes[].ResourceChange.Details[].Target.AttributeChangeType
    Changes[].ResourceChange.Details[].Target.BeforeValue
    Changes[].ResourceChange.Details[].Target.Name
    Changes[].ResourceChange.Details[].Target.Path
    Changes[].ResourceChange.Details[].Target.RequiresRecreation
    Changes[].ResourceChange.LogicalResourceId
    Changes[].ResourceChange.PhysicalResourceId
    Changes[].ResourceChange.PolicyAction
    Changes[].ResourceChange.Replacement
    Changes[].ResourceChange.ResourceType
    Changes[].ResourceChange.Scope[]
    Changes[].Type
    CreationTime
    Description
    ExecutionStatus
    IncludeNestedStacks
    NotificationARNs[]
    Parameters[].ParameterKey
    Parameters[].ParameterValue
    RollbackConfiguration
    StackId
    StackName
    Status
    Tags[].Key
    Tags[].Value

    ListChangeSetsResponse
    Summaries[].ChangeSetId
    Summaries[].ChangeSetName
    Summaries[].CreationTime
    Summaries[].Description
    Summaries[].ExecutionStatus
    Summaries[].StackId
    Summaries[].StackName
    Summaries[].Status

    GetTemplateResponse
    StagesAvailable[]
    TemplateBody

    GetTemplateSummaryResponse
    Capabilities
    DeclaredTransforms
    Description
    Metadata
    Parameters[].DefaultValue
    Parameters[].Description
    Parameters[].NoEcho
    Parameters[].ParameterKey
    Parameters[].ParameterType
    ResourceTypes[]
    Version

    GetStackPolicyResponse


    ListExportsResponse
    Exports[].ExportingStackId
    Exports[].Name
    Exports[].Value

    ListImportsResponse
    Imports[]

    DescribeStackDriftDetectionStatusResponse
    DetectionStatus
    DriftedStackResourceCount
    StackDriftDetectionId
    StackDriftStatus
    StackId
    Timestamp

    DescribeStackResourceDriftsResponse
    StackResourceDrifts[].ActualProperties
    StackResourceDrifts[].ExpectedProperties
    StackResourceDrifts[].LogicalResourceId
    StackResourceDrifts[].PhysicalResourceId
    StackResourceDrifts[].PropertyDifferences[].ActualValue
    StackResourceDrifts[].PropertyDifferences[].DifferenceType
    StackResourceDrifts[].PropertyDifferences[].ExpectedValue
    StackResourceDrifts[].PropertyDifferences[].PropertyPath
    StackResourceDrifts[].ResourceType
    StackResourceDrifts[].StackId
    StackResourceDrifts[].StackResourceDriftStatus
    StackResourceDrifts[].Timestamp

    UpdateTerminationProtectionResponse
    StackId

    DeleteStackResponse
    ");
}

#[test]
fn an_error_is_written_as_the_query_protocol_writes_it() {
    let mut harness = Harness::new();
    let request = crate::wire::Request {
        method: "POST".to_owned(),
        path: "/".to_owned(),
        headers: [
            (
                "content-type".to_owned(),
                "application/x-www-form-urlencoded".to_owned(),
            ),
            (
                "authorization".to_owned(),
                "AWS4-HMAC-SHA256 Credential=A/1/eu-west-1/cloudformation/aws4_request".to_owned(),
            ),
        ]
        .into(),
        body: b"Action=DescribeStacks&Version=2010-05-15&StackName=<none>".to_vec(),
        ..crate::wire::Request::default()
    };
    let reply = harness.send(&request);
    assert_eq!(reply.status, 400);
    let id = reply
        .headers
        .iter()
        .find(|(name, _)| name == "x-amzn-requestid");
    let text = String::from_utf8(reply.body.clone()).unwrap();
    let text = text.replace(&id.unwrap().1, "ID");
    insta::assert_snapshot!(text, @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id &lt;none&gt; does not exist</Message></Error><RequestId>ID</RequestId></ErrorResponse>
    "#);
}
