//! What people see when a config is wrong.

use crate::world::{faults, read};
use windlass_stack_config::LoadFailure;

/// A function with these lines among its properties.
fn function(lines: &str) -> String {
    format!(
        "resources:
  hello:
    type: function
    properties:
      packaging:
        type: stacktape-lambda-buildpack
        properties:
          entryfilePath: src/hello.ts
{lines}"
    )
}

#[test]
fn shapes() {
    insta::assert_snapshot!(faults(&function("      memmory: 512\n")), @"");
    insta::assert_snapshot!(faults(&function("      colour: red\n")), @"");
    insta::assert_snapshot!(faults(&function("      memory: '512'\n")), @"");
    insta::assert_snapshot!(faults(&function("      memory: 64\n")), @"");
    insta::assert_snapshot!(faults(&function("      timeout: 1.5\n")), @"");
    insta::assert_snapshot!(faults(&function("      architecture: arm\n")), @"");
    insta::assert_snapshot!(faults(&function("      runtime: 22\n")), @"");
    insta::assert_snapshot!(faults(&function("      environment:\n        KEY: value\n")), @"");
    insta::assert_snapshot!(faults(&function("      environment:\n")), @"");
    insta::assert_snapshot!(faults(&function("      memory: $Secret('x')\n")), @"");
    insta::assert_snapshot!(faults(&function("      volumeMounts: []\n")), @"");
    insta::assert_snapshot!(faults("resources:\n  hello:\n    type: function\n"), @"");
    insta::assert_snapshot!(faults("resources:\n  hello:\n    properties: {}\n"), @"");
    insta::assert_snapshot!(faults("resources:\n  hello: function\n"), @"");
    insta::assert_snapshot!(faults(""), @"");
    insta::assert_snapshot!(faults("- a\n"), @"");
    insta::assert_snapshot!(faults("resource: {}\n"), @"");
}

#[test]
fn types() {
    insta::assert_snapshot!(faults("resources:\n  site:\n    type: nextjs-web\n"), @"");
    insta::assert_snapshot!(faults("resources:\n  site:\n    type: fucntion\n"), @"");
    insta::assert_snapshot!(
        faults(&function("      events:\n        - type: kafka-topic\n          properties: {}\n")), @"");
    insta::assert_snapshot!(
        faults(&function("      packagin: x\n      alarms:\n        - trigger:\n            type: lambda-duration\n            properties: {thresholdMilliseconds: 5}\n          notificationTargets:\n            - type: slack\n              properties: {}\n")), @"");
}

#[test]
fn texts_that_are_no_yaml() {
    insta::assert_snapshot!(faults("resources:\n  a: [1, 2\n"), @"");
    insta::assert_snapshot!(faults("resources: {}\nresources: {}\n"), @"");
    insta::assert_snapshot!(faults("resources: {}\n---\nresources: {}\n"), @"");
    insta::assert_snapshot!(faults("resources: {a: *nobody}\n"), @"");
    insta::assert_snapshot!(faults("resources: {$runtime: {}}\n"), @"");
}

#[test]
fn references() {
    insta::assert_snapshot!(
        faults(&function("      connectTo: [hello, itmes, jump]\n  items:\n    type: bucket\n  jump:\n    type: bastion\n")), @"");
    insta::assert_snapshot!(
        faults(&function("      events:\n        - type: http-api-gateway\n          properties: {httpApiGatewayName: gat, method: GET, path: orders}\n  gate:\n    type: http-api-gateway\n")), @"");
    insta::assert_snapshot!(
        faults(&function("      events:\n        - type: sqs\n          properties: {sqsQueueName: files}\n        - type: sqs\n          properties: {}\n        - type: event-bus\n          properties: {useDefaultBus: true, eventBusArn: a, eventPattern: {}}\n        - type: schedule\n          properties: {scheduleRate: 5 minutes}\n  files:\n    type: bucket\n")), @"");
    insta::assert_snapshot!(
        faults("resources: {}\nscripts:\n  a:\n    type: local-script\n    properties: {executeCommand: x, executeScript: y}\n  b:\n    type: bastion-script\n    properties: {executeCommand: x}\nhooks:\n  afterDeploy:\n    - scriptName: c\n"), @"");
    insta::assert_snapshot!(
        faults("resources:\n  q:\n    type: sqs-queue\n    properties:\n      redrivePolicy: {targetSqsQueueName: r, maxReceiveCount: 3}\n  w:\n    type: worker-service\n    properties:\n      packaging: {type: prebuilt-image, properties: {image: x}}\n      resources: {cpu: 3}\n      scaling: {minInstances: 4, maxInstances: 2}\n  m:\n    type: state-machine\n    properties:\n      definition: {StartAt: Fist, States: {First: {Type: Succeed}}}\n  1st:\n    type: bucket\n"), @"");
}

#[test]
fn everything_is_said_at_once() {
    let Err(LoadFailure::Invalid(found)) = read(
        "resources:
  a:
    type: function
    properties:
      packaging: {type: custom-artifact, properties: {}}
      memory: big
      connectTo: [b]
      environment:
        - name: X
          value: $Stag()
  c:
    type: lambda
",
    ) else {
        panic!("accepted");
    };
    let lines: Vec<String> = found
        .list
        .iter()
        .map(|fault| format!("{}:{} {:?} {}", fault.line.unwrap(), fault.column.unwrap(), fault.kind, fault.path))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @"");
    let problem = found.to_problem();
    insta::assert_snapshot!(problem.message(), @"");
    assert_eq!(problem.details()["faults"].as_array().unwrap().len(), found.list.len());
    assert_eq!(problem.details()["reason"], "config_invalid");
}

#[test]
fn limits() {
    let deep = format!("resources: {}{}\n", "[".repeat(80), "]".repeat(80));
    insta::assert_snapshot!(faults(&deep).lines().next().unwrap(), @"");
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..9 {
        let item = format!("*a{}", level - 1);
        let items = vec![item; 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{items}]\n"));
    }
    insta::assert_snapshot!(faults(&bomb).lines().next().unwrap(), @"");
    let large = format!("resources: {{}}\n# {}\n", "x".repeat(1024 * 1024));
    insta::assert_snapshot!(faults(&large).lines().next().unwrap(), @"");
}

#[test]
fn wide_letters_do_not_move_the_caret() {
    insta::assert_snapshot!(faults("resources:\n  a: {type: bucket, 'Größe漢': 1}\n"), @"");
}
