//! Change sets: their life, what they list, what executing one does to the others.

use serde_json::{Value, json};

use crate::faults::Moment;
use crate::testing::{Harness, field, fields};

fn app(memory: u32, table: &str) -> Value {
    json!({
        "Parameters": {
            "Stage": {"Type": "String", "Default": "dev"},
            "Password": {"Type": "String", "NoEcho": true, "Default": "hunter2"},
        },
        "Resources": {
            "Table": {"Type": "AWS::DynamoDB::Table", "UpdateReplacePolicy": "Retain",
                "Properties": {"KeySchema": [], "TableName": table}},
            "Api": {"Type": "AWS::Lambda::Function", "Properties": {
                "Code": {"ZipFile": "x"}, "Role": "arn:role", "MemorySize": memory,
                "Description": {"Ref": "Stage"},
                "Environment": {"Variables": {"TABLE": {"Ref": "Table"}}},
                "KmsKeyArn": {"Ref": "Password"}}},
            "Queue": {"Type": "AWS::SQS::Queue", "DeletionPolicy": "Retain"},
        },
    })
}

fn made(harness: &mut Harness, name: &str, template: &Value, extra: &[(&str, &str)]) -> String {
    let body = template.to_string();
    let mut params = vec![
        ("StackName", "app"),
        ("ChangeSetName", name),
        ("TemplateBody", body.as_str()),
    ];
    params.extend_from_slice(extra);
    harness.ok("CreateChangeSet", &params);
    harness.advance(1_000);
    described(harness, name)
}

fn described(harness: &mut Harness, name: &str) -> String {
    harness.ok(
        "DescribeChangeSet",
        &[
            ("StackName", "app"),
            ("ChangeSetName", name),
            ("IncludePropertyValues", "true"),
        ],
    )
}

/// Each change on a line, its details below.
fn listed(answer: &str) -> String {
    let document = roxmltree::Document::parse(answer).unwrap();
    let text = |node: roxmltree::Node<'_, '_>, name: &str| {
        node.children()
            .find(|child| child.tag_name().name() == name)
            .and_then(|child| child.text())
            .unwrap_or("-")
            .to_owned()
    };
    let mut lines = Vec::new();
    for change in document
        .descendants()
        .filter(|node| node.tag_name().name() == "ResourceChange")
    {
        lines.push(format!(
            "{} {} replacement={} policy={} physical={}",
            text(change, "Action"),
            text(change, "LogicalResourceId"),
            text(change, "Replacement"),
            text(change, "PolicyAction"),
            text(change, "PhysicalResourceId") != "-",
        ));
        for target in change
            .descendants()
            .filter(|node| node.tag_name().name() == "Target")
        {
            let detail = target.parent().unwrap();
            lines.push(format!(
                "  {} {} {}: {} -> {} [{} {} {}]",
                text(target, "AttributeChangeType"),
                text(target, "Path"),
                text(target, "RequiresRecreation"),
                text(target, "BeforeValue"),
                text(target, "AfterValue"),
                text(detail, "Evaluation"),
                text(detail, "ChangeSource"),
                text(detail, "CausingEntity"),
            ));
        }
    }
    lines.join("\n")
}

fn created(harness: &mut Harness) {
    harness.create("app", &app(128, "a"));
    harness.settle();
}

#[test]
fn a_new_stack_waits_for_review() {
    let mut harness = Harness::new();
    harness.ok(
        "CreateChangeSet",
        &[
            ("StackName", "app"),
            ("ChangeSetName", "first"),
            ("ChangeSetType", "CREATE"),
            ("TemplateBody", &app(128, "a").to_string()),
        ],
    );
    assert_eq!(harness.status("app"), "REVIEW_IN_PROGRESS");
    let pending = described(&mut harness, "first");
    assert_eq!(field(&pending, "Status").as_deref(), Some("CREATE_PENDING"));
    assert_eq!(
        field(&pending, "ExecutionStatus").as_deref(),
        Some("UNAVAILABLE")
    );
    assert!(
        harness
            .refused(
                "ExecuteChangeSet",
                &[("StackName", "app"), ("ChangeSetName", "first")]
            )
            .starts_with("InvalidChangeSetStatus: ")
    );
    harness.advance(1_000);
    let ready = described(&mut harness, "first");
    assert_eq!(field(&ready, "Status").as_deref(), Some("CREATE_COMPLETE"));
    insta::assert_snapshot!(listed(&ready), @"
    Add Api replacement=- policy=- physical=false
    Add Queue replacement=- policy=- physical=false
    Add Table replacement=- policy=- physical=false
    ");
    assert!(ready.contains("{{changeSet:KNOWN_AFTER_APPLY}}"));
    assert!(!ready.contains("hunter2"));
    let forgotten = harness.world.clone();
    harness.ok(
        "ExecuteChangeSet",
        &[
            ("StackName", "app"),
            ("ChangeSetName", "first"),
            ("ClientRequestToken", "run-1"),
        ],
    );
    harness.settle();
    assert_eq!(harness.status("app"), "CREATE_COMPLETE");
    assert_eq!(
        field(&described(&mut harness, "first"), "ExecutionStatus").as_deref(),
        Some("EXECUTE_COMPLETE")
    );

    // Looking and going away again leaves nothing.
    harness.world = forgotten;
    harness.ok(
        "DeleteChangeSet",
        &[("StackName", "app"), ("ChangeSetName", "first")],
    );
    assert!(
        harness
            .refused(
                "DescribeChangeSet",
                &[("StackName", "app"), ("ChangeSetName", "first")]
            )
            .starts_with("ChangeSetNotFound: ")
    );
    harness.ok("DeleteStack", &[("StackName", "app")]);
    harness.advance(0);
    assert_eq!(harness.status("app"), "DELETE_COMPLETE");
}

#[test]
fn changes_have_causes_values_and_policies() {
    let mut harness = Harness::new();
    created(&mut harness);
    let mut next = app(512, "b");
    next["Resources"].as_object_mut().unwrap().remove("Queue");
    next["Resources"]["Topic"] = json!({"Type": "AWS::SNS::Topic"});
    let answer = made(
        &mut harness,
        "u1",
        &next,
        &[
            ("Parameters.member.1.ParameterKey", "Stage"),
            ("Parameters.member.1.ParameterValue", "prod"),
            ("Parameters.member.2.ParameterKey", "Password"),
            ("Parameters.member.2.ParameterValue", "hunter3"),
        ],
    );
    insta::assert_snapshot!(listed(&answer), @"
    Modify Api replacement=False policy=- physical=true
      Modify /Properties/Description Never: dev -> prod [Static ParameterReference Stage]
      Modify /Properties/Environment/Variables/TABLE Never: a -> {{changeSet:KNOWN_AFTER_APPLY}} [Dynamic ResourceReference Table]
      Modify /Properties/KmsKeyArn Never: **** -> **** [Static ParameterReference Password]
      Modify /Properties/MemorySize Never: 128 -> 512 [Static DirectModification -]
    Remove Queue replacement=- policy=Retain physical=true
    Modify Table replacement=True policy=ReplaceAndRetain physical=true
      Modify /Properties/TableName Always: a -> b [Static DirectModification -]
    Add Topic replacement=- policy=- physical=false
    ");
    assert!(!answer.contains("hunter"));
}

/// A template that no longer has the parameter does not lift the mask.
#[test]
fn a_hidden_value_stays_hidden_when_its_parameter_is_removed() {
    for goes in ["KmsKeyArn", "Api"] {
        let mut harness = Harness::new();
        created(&mut harness);
        let mut next = app(128, "a");
        let object =
            |value: &mut Value, name: &str| drop(value.as_object_mut().unwrap().remove(name));
        object(&mut next["Parameters"], "Password");
        match goes {
            "Api" => object(&mut next["Resources"], goes),
            _ => object(&mut next["Resources"]["Api"]["Properties"], goes),
        }
        let answer = made(&mut harness, "u1", &next, &[]);
        assert!(
            answer.contains("****") && !answer.contains("hunter"),
            "{goes}: {answer}"
        );
    }
}

#[test]
fn changed_tags_touch_everything_that_carries_them() {
    let mut harness = Harness::new();
    created(&mut harness);
    let answer = made(
        &mut harness,
        "tags",
        &app(128, "a"),
        &[
            ("Tags.member.1.Key", "team"),
            ("Tags.member.1.Value", "shop"),
        ],
    );
    insta::assert_snapshot!(listed(&answer), @"
    Modify Api replacement=False policy=- physical=true
      - - Never: - -> - [Static DirectModification -]
    Modify Queue replacement=False policy=- physical=true
      - - Never: - -> - [Static DirectModification -]
    Modify Table replacement=False policy=- physical=true
      - - Never: - -> - [Static DirectModification -]
    ");
}

#[test]
fn a_set_without_changes_fails_with_the_documented_reason() {
    let mut harness = Harness::new();
    created(&mut harness);
    let answer = made(&mut harness, "same", &app(128, "a"), &[]);
    assert_eq!(field(&answer, "Status").as_deref(), Some("FAILED"));
    assert_eq!(
        field(&answer, "ExecutionStatus").as_deref(),
        Some("UNAVAILABLE")
    );
    insta::assert_snapshot!(field(&answer, "StatusReason").unwrap(), @"The submitted information didn't contain changes. Submit different information to create a change set.");
    let mut with_output = app(128, "a");
    with_output["Outputs"] = json!({"O": {"Value": "1"}});
    let answer = made(&mut harness, "outputs", &with_output, &[]);
    assert_eq!(field(&answer, "Status").as_deref(), Some("CREATE_COMPLETE"));
}

#[test]
fn executing_one_makes_the_others_obsolete_and_happens_once() {
    let mut harness = Harness::new();
    created(&mut harness);
    made(&mut harness, "u1", &app(256, "a"), &[]);
    made(&mut harness, "u2", &app(512, "a"), &[]);
    let execute = |harness: &mut Harness, name: &str, token: &str| {
        harness.call(
            "ExecuteChangeSet",
            &[
                ("StackName", "app"),
                ("ChangeSetName", name),
                ("ClientRequestToken", token),
            ],
        )
    };
    execute(&mut harness, "u1", "run-1").unwrap();
    execute(&mut harness, "u1", "run-1").unwrap();
    assert!(
        execute(&mut harness, "u1", "run-2")
            .unwrap_err()
            .contains("EXECUTE_IN_PROGRESS")
    );
    assert!(
        execute(&mut harness, "u2", "run-3")
            .unwrap_err()
            .contains("OBSOLETE")
    );
    assert!(
        harness
            .refused(
                "DeleteStack",
                &[("StackName", "app"), ("ClientRequestToken", "run-1")]
            )
            .contains("UPDATE_IN_PROGRESS")
    );
    harness.settle();
    assert_eq!(harness.status("app"), "UPDATE_COMPLETE");
    assert!(
        harness
            .refused(
                "DeleteStack",
                &[("StackName", "app"), ("ClientRequestToken", "run-1")]
            )
            .starts_with("TokenAlreadyExistsException: ")
    );
    let listed = harness.ok("ListChangeSets", &[("StackName", "app")]);
    assert_eq!(
        fields(&listed, "ExecutionStatus"),
        ["EXECUTE_COMPLETE", "OBSOLETE"]
    );
}

#[test]
fn a_failed_execution_is_recorded() {
    let mut harness = Harness::new();
    created(&mut harness);
    made(&mut harness, "u1", &app(256, "a"), &[]);
    harness.fail("Api", Moment::Update, "no");
    harness.ok(
        "ExecuteChangeSet",
        &[("StackName", "app"), ("ChangeSetName", "u1")],
    );
    harness.settle();
    let answer = described(&mut harness, "u1");
    assert_eq!(
        field(&answer, "ExecutionStatus").as_deref(),
        Some("EXECUTE_FAILED")
    );
}

#[test]
fn refused_change_sets() {
    let mut harness = Harness::new();
    created(&mut harness);
    made(&mut harness, "u1", &app(256, "a"), &[]);
    let body = app(256, "a").to_string();
    let role = json!({"Resources": {"R": {"Type": "AWS::IAM::Role", "Properties": {
        "RoleName": "r", "AssumeRolePolicyDocument": {}}}}})
    .to_string();
    let large = format!("{{\"Description\":\"{}\"}}", "x".repeat(51_200));
    let cases: [(&[(&str, &str)], &str); 9] = [
        (
            &[("StackName", "none"), ("TemplateBody", &body)],
            "ValidationError: Stack [none] does not exist",
        ),
        (
            &[
                ("StackName", "app"),
                ("ChangeSetType", "CREATE"),
                ("TemplateBody", &body),
            ],
            "ValidationError: Stack [app] already exists and cannot be created again with the changeSet [u1].",
        ),
        (
            &[("StackName", "app"), ("TemplateBody", &body)],
            "AlreadyExistsException: ChangeSet u1 already exists",
        ),
        (
            &[
                ("StackName", "new"),
                ("ChangeSetType", "CREATE"),
                ("TemplateBody", &role),
            ],
            "InsufficientCapabilitiesException: Requires capabilities : [CAPABILITY_NAMED_IAM]",
        ),
        (
            &[
                ("StackName", "new"),
                ("ChangeSetType", "CREATE"),
                ("TemplateBody", &large),
            ],
            "ValidationError: 1 validation error detected: Value at 'templateBody' failed to satisfy constraint: Member must have length less than or equal to 51200",
        ),
        (
            &[("StackName", "new"), ("ChangeSetType", "CREATE")],
            "ValidationError: Either Template URL or Template Body must be specified.",
        ),
        (
            &[
                ("StackName", "1x"),
                ("ChangeSetType", "CREATE"),
                ("TemplateBody", &body),
            ],
            "ValidationError: 1 validation error detected: Value '1x' at 'stackName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z][-a-zA-Z0-9]*",
        ),
        (
            &[
                ("StackName", "new"),
                ("ChangeSetType", "CREATE"),
                ("TemplateBody", &body),
                ("Parameters.member.1.ParameterKey", "Nope"),
                ("Parameters.member.1.ParameterValue", "1"),
            ],
            "ValidationError: Parameters: [Nope] do not exist in the template",
        ),
        (
            &[
                ("StackName", "new"),
                ("ChangeSetType", "CREATE"),
                ("TemplateURL", "http://127.0.0.1:1/assets/missing.json"),
            ],
            "ValidationError: S3 error: The specified key does not exist.\nFor more information check http://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html",
        ),
    ];
    for (params, expected) in cases {
        let mut params = params.to_vec();
        params.push(("ChangeSetName", "u1"));
        assert_eq!(harness.refused("CreateChangeSet", &params), expected);
    }
    assert_eq!(
        harness.world.stacks.len(),
        1,
        "a refused call leaves no stack"
    );
}

#[test]
fn long_change_sets_and_histories_come_in_pages() {
    let mut harness = Harness::new();
    let resources: serde_json::Map<String, Value> = (0..7)
        .map(|index| (format!("Q{index}"), json!({"Type": "AWS::SQS::Queue"})))
        .collect();
    harness.command(json!({"do": "page-size", "size": 3}));
    harness.ok(
        "CreateChangeSet",
        &[
            ("StackName", "app"),
            ("ChangeSetName", "first"),
            ("ChangeSetType", "CREATE"),
            ("TemplateBody", &json!({"Resources": resources}).to_string()),
        ],
    );
    harness.advance(1_000);
    let mut token: Option<String> = None;
    let mut seen = Vec::new();
    loop {
        let mut params = vec![("StackName", "app"), ("ChangeSetName", "first")];
        if let Some(token) = &token {
            params.push(("NextToken", token));
        }
        let page = harness.ok("DescribeChangeSet", &params);
        seen.extend(fields(&page, "LogicalResourceId"));
        token = field(&page, "NextToken");
        if token.is_none() {
            break;
        }
    }
    assert_eq!(seen, ["Q0", "Q1", "Q2", "Q3", "Q4", "Q5", "Q6"]);

    harness.ok(
        "ExecuteChangeSet",
        &[("StackName", "app"), ("ChangeSetName", "first")],
    );
    harness.advance(0);
    let newest = harness.ok("DescribeStackEvents", &[("StackName", "app")]);
    let token = field(&newest, "NextToken").unwrap();
    harness.settle();
    // Events that arrived in the meantime do not move the next page.
    let older = harness.ok(
        "DescribeStackEvents",
        &[("StackName", "app"), ("NextToken", &token)],
    );
    let first = fields(&newest, "LogicalResourceId");
    let second = fields(&older, "LogicalResourceId");
    assert_eq!(first, ["Q6", "Q5", "Q4"]);
    assert_eq!(second, ["Q3", "Q2", "Q1"]);
}
