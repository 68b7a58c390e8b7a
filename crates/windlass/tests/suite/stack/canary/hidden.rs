//! A stack with a `NoEcho` parameter, created by a user who gave AWS its value.

use std::{fmt::Write as _, net::SocketAddr};

use serde_json::{Value, json};

use super::{
    super::world::{QUEUE, REGION, World},
    HIDDEN, Said,
};
use crate::suite::support::http::Ask;

const STAGE: &str = "hidden";
const STACK: &str = "shop-hidden";

/// Walks what looks at parameters: questions, change sets, events, versions.
pub(super) fn walk(world: &World, said: &mut Said) {
    create(world);
    world.config(QUEUE);
    let mut tool_client = world.tool_client();
    let args = |more: Value| {
        let mut all = json!({ "projectName": "shop", "stage": STAGE, "region": REGION });
        all.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        all
    };
    let (ops, diagnose) = ("stacktape_ops", "stacktape_diagnose");
    let shown = said.call(
        &mut tool_client,
        diagnose,
        "info_stack",
        args(json!({})),
        false,
    );
    assert_eq!(shown["code"], "OK", "{shown:#}");
    let sdk = json!({
        "service": "cloudformation", "command": "DescribeStacks", "input": { "StackName": STACK },
    });
    let shown = said.call(&mut tool_client, diagnose, "aws_sdk", args(sdk), false);
    assert!(
        shown.to_string().contains("****"),
        "the parameter is there: {shown:#}"
    );
    let plan = said.call(
        &mut tool_client,
        ops,
        "preview_changes",
        args(json!({})),
        false,
    );
    let queue = plan["data"]["resourceChanges"].to_string();
    assert!(
        queue.contains("KmsMasterKeyId"),
        "the parameter is used: {plan:#}"
    );
    let deployed = said.call(&mut tool_client, ops, "deploy", args(json!({})), false);
    assert_eq!(deployed["code"], "OK", "{deployed:#}");
    let listing = args(json!({ "listVersions": true }));
    said.call(&mut tool_client, ops, "rollback", listing, false);
    said.call(
        &mut tool_client,
        diagnose,
        "info_operations",
        args(json!({})),
        false,
    );
    said.call(&mut tool_client, ops, "delete", args(json!({})), true);
    // What Windlass put into the account; what AWS keeps of the parameter is its own.
    let buckets = world.control.state()["buckets"].to_string();
    assert!(
        buckets.contains("stacks/shop-hidden"),
        "a version: {buckets}"
    );
    said.note("the asset store", buckets);
}

/// The stack, as another tool would make it for Windlass to take over.
fn create(world: &World) {
    let template = json!({
        "Description": "windlass-stack shop hidden",
        "Parameters": { "Key": { "Type": "String", "NoEcho": true } },
        "Resources": { "JobsQueue": {
            "Type": "AWS::SQS::Queue",
            "Properties": { "QueueName": "shop-hidden-jobs", "KmsMasterKeyId": { "Ref": "Key" } },
        } },
    });
    let mut body = String::new();
    for (name, value) in [
        ("Action", "CreateStack"),
        ("Version", "2010-05-15"),
        ("StackName", STACK),
        ("TemplateBody", &template.to_string()),
        ("Parameters.member.1.ParameterKey", "Key"),
        ("Parameters.member.1.ParameterValue", HIDDEN),
    ] {
        let _ = write!(body, "{name}=");
        for byte in value.bytes() {
            let _ = write!(body, "%{byte:02X}");
        }
        body.push('&');
    }
    let address: SocketAddr = world
        .endpoint
        .strip_prefix("http://")
        .unwrap()
        .trim_end_matches('/')
        .parse()
        .unwrap();
    let made = Ask::post("/", body.trim_end_matches('&'))
        .with("content-type", "application/x-www-form-urlencoded")
        .with(
            "authorization",
            format!(
                "AWS4-HMAC-SHA256 Credential=AKIDDOUBLE/20260101/{REGION}/cloudformation/aws4_request, \
                 SignedHeaders=host, Signature=0"
            ),
        )
        .with("connection", "close")
        .send(address)
        .unwrap();
    assert_eq!(made.status, 200, "{}", made.text());
    world.control.advance(60_000);
    let status = world.control.stack_status(STACK);
    assert_eq!(status.as_deref(), Some("CREATE_COMPLETE"));
}
