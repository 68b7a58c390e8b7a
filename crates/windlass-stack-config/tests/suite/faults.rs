//! What people see when a config is wrong.

use super::world::{faults, read};
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
    insta::assert_snapshot!(faults(&function("      memmory: 512\n")), @r#"
    error: unknown property "memmory"
     --> stacktape.yml:9:7
      |
    9 |       memmory: 512
      |       ^^^^^^^ did you mean "memory"?
      = at resources.hello.properties.memmory

    1 error
    "#);
    insta::assert_snapshot!(faults(&function("      colour: red\n")), @r#"
    error: unknown property "colour"
     --> stacktape.yml:9:7
      |
    9 |       colour: red
      |       ^^^^^^ known properties: alarms, architecture, cdn, connectTo, deployment, destinations, dev, disabledGlobalAlarms, environment, events, iamRoleStatements, joinDefaultVpc, layers, logging, memory, packaging, provisionedConcurrency, reservedConcurrency, runtime, storage, tags, timeout, url
      = at resources.hello.properties.colour

    1 error
    "#);
    insta::assert_snapshot!(faults(&function("      memory: '512'\n")), @r#"
    error: "memory" is a whole number, not the text "512"
     --> stacktape.yml:9:15
      |
    9 |       memory: '512'
      |               ^^^^^ write 512 without quotes
      = at resources.hello.properties.memory

    1 error
    "#);
    insta::assert_snapshot!(faults(&function("      memory: 64\n")), @r#"
    error: "memory" is from 128 to 10240, not 64
     --> stacktape.yml:9:15
      |
    9 |       memory: 64
      |               ^^
      = at resources.hello.properties.memory

    1 error
    "#);
    insta::assert_snapshot!(faults(&function("      timeout: 1.5\n")), @r#"
    error: "timeout" is a whole number, not the number 1.5
     --> stacktape.yml:9:16
      |
    9 |       timeout: 1.5
      |                ^^^
      = at resources.hello.properties.timeout

    1 error
    "#);
    insta::assert_snapshot!(faults(&function("      architecture: arm\n")), @r#"
    error: "architecture" is one of x86_64, arm64, not the text "arm"
     --> stacktape.yml:9:21
      |
    9 |       architecture: arm
      |                     ^^^
      = at resources.hello.properties.architecture

    1 error
    "#);
    insta::assert_snapshot!(faults(&function("      runtime: 22\n")), @r#"
    error: "runtime" is a text, not the number 22
     --> stacktape.yml:9:16
      |
    9 |       runtime: 22
      |                ^^ write "22"
      = at resources.hello.properties.runtime

    1 error
    "#);
    insta::assert_snapshot!(faults(&function("      environment:\n        KEY: value\n")), @r#"
    error: "environment" is a list, not a mapping
      --> stacktape.yml:10:9
       |
    10 |         KEY: value
       |         ^ write a list: begin each item with "- "
       = at resources.hello.properties.environment

    1 error
    "#);
    insta::assert_snapshot!(faults(&function("      environment:\n")), @r#"
    error: "environment" is a list, not nothing
     --> stacktape.yml:9:18
      |
    9 |       environment:
      |                  ^ give a value, or remove the key
      = at resources.hello.properties.environment

    1 error
    "#);
    insta::assert_snapshot!(faults(&function("      memory: $Secret('x')\n")), @r#"
    error: "memory" must be known before the deploy; $Secret is known only after it
     --> stacktape.yml:9:15
      |
    9 |       memory: $Secret('x')
      |               ^^^^^^^^^^^^
      = at resources.hello.properties.memory

    1 error
    "#);
    insta::assert_snapshot!(faults(&function("      volumeMounts: []\n")), @r#"
    error: the property "volumeMounts" is not supported yet: it needs efs-filesystem
     --> stacktape.yml:9:7
      |
    9 |       volumeMounts: []
      |       ^^^^^^^^^^^^ remove it
      = at resources.hello.properties.volumeMounts

    1 error
    "#);
    insta::assert_snapshot!(faults("resources:\n  hello:\n    type: function\n"), @r#"
    error: "properties" is missing in "hello"
     --> stacktape.yml:2:3
      |
    2 |   hello:
      |   ^^^^^
      = at resources.hello.properties

    1 error
    "#);
    insta::assert_snapshot!(faults("resources:\n  hello:\n    properties: {}\n"), @r#"
    error: "type" is missing in "hello"
     --> stacktape.yml:2:3
      |
    2 |   hello:
      |   ^^^^^
      = at resources.hello.type

    1 error
    "#);
    insta::assert_snapshot!(faults("resources:\n  hello: function\n"), @r#"
    error: "hello" is a mapping with a "type", not the text "function"
     --> stacktape.yml:2:10
      |
    2 |   hello: function
      |          ^^^^^^^^
      = at resources.hello

    1 error
    "#);
    insta::assert_snapshot!(faults(""), @"
    error: the config is empty
      --> stacktape.yml
      = help: begin with resources:

    1 error
    ");
    insta::assert_snapshot!(faults("- a\n"), @"
    error: the config is a mapping, not a list
     --> stacktape.yml:1:1
      |
    1 | - a
      | ^ begin with resources:

    1 error
    ");
    insta::assert_snapshot!(faults("resource: {}\n"), @r#"
    error: unknown property "resource"
     --> stacktape.yml:1:1
      |
    1 | resource: {}
      | ^^^^^^^^ did you mean "resources"?
      = at resource

    error: "resources" is missing in the config
     --> stacktape.yml:1:1
      |
    1 | resource: {}
      | ^
      = at resources

    2 errors
    "#);
}

#[test]
fn types() {
    insta::assert_snapshot!(faults("resources:\n  site:\n    type: nextjs-web\n"), @r#"
    error: the resource type "nextjs-web" is not supported yet; supported: function, http-api-gateway, web-service, private-service, worker-service, multi-container-workload, batch-job, dynamo-db-table, relational-database, redis-cluster, bucket, hosting-bucket, sqs-queue, sns-topic, event-bus, kinesis-stream, state-machine, user-auth-pool, open-search-domain, application-load-balancer, bastion, deployment-script, custom-resource-definition, custom-resource-instance
     --> stacktape.yml:3:11
      |
    3 |     type: nextjs-web
      |           ^^^^^^^^^^ use a web-service, or a hosting-bucket for a static export
      = at resources.site.type

    1 error
    "#);
    insta::assert_snapshot!(faults("resources:\n  site:\n    type: fucntion\n"), @r#"
    error: there is no resource type "fucntion"; supported: function, http-api-gateway, web-service, private-service, worker-service, multi-container-workload, batch-job, dynamo-db-table, relational-database, redis-cluster, bucket, hosting-bucket, sqs-queue, sns-topic, event-bus, kinesis-stream, state-machine, user-auth-pool, open-search-domain, application-load-balancer, bastion, deployment-script, custom-resource-definition, custom-resource-instance
     --> stacktape.yml:3:11
      |
    3 |     type: fucntion
      |           ^^^^^^^^ did you mean "function"?
      = at resources.site.type

    1 error
    "#);
    insta::assert_snapshot!(
        faults(&function("      events:\n        - type: kafka-topic\n          properties: {}\n")), @r#"
    error: the event type "kafka-topic" is not supported yet; supported: http-api-gateway, application-load-balancer, sqs, schedule, s3, sns, dynamo-db-stream, kinesis-stream, event-bus, cloudwatch-log, cloudwatch-alarm
      --> stacktape.yml:10:17
       |
    10 |         - type: kafka-topic
       |                 ^^^^^^^^^^^ Kafka topics are not supported yet
       = at resources.hello.properties.events[0].type

    1 error
    "#);
    insta::assert_snapshot!(
        faults(&function("      packagin: x\n      alarms:\n        - trigger:\n            type: lambda-duration\n            properties: {thresholdMilliseconds: 5}\n          notificationTargets:\n            - type: slack\n              properties: {}\n")), @r#"
    error: unknown property "packagin"
     --> stacktape.yml:9:7
      |
    9 |       packagin: x
      |       ^^^^^^^^ did you mean "packaging"?
      = at resources.hello.properties.packagin

    error: the type "slack" is not supported yet; supported: email
      --> stacktape.yml:15:21
       |
    15 |             - type: slack
       |                     ^^^^^ it needs a notifier function
       = at resources.hello.properties.alarms[0].notificationTargets[0].type

    2 errors
    "#);
}

#[test]
fn texts_that_are_no_yaml() {
    insta::assert_snapshot!(faults("resources:\n  a: [1, 2\n"), @"
    error: unclosed bracket '['
     --> stacktape.yml:2:6
      |
    2 |   a: [1, 2
      |      ^

    1 error
    ");
    insta::assert_snapshot!(faults("resources: {}\nresources: {}\n"), @r#"
    error: the key "resources" is repeated here; it is also on line 1
     --> stacktape.yml:2:1
      |
    2 | resources: {}
      | ^^^^^^^^^
      = at resources

    1 error
    "#);
    insta::assert_snapshot!(faults("resources: {}\n---\nresources: {}\n"), @"
    error: a second document starts here; one is allowed
     --> stacktape.yml:2:1
      |
    2 | ---
      | ^^^

    1 error
    ");
    insta::assert_snapshot!(faults("resources: {a: *nobody}\n"), @"
    error: while parsing node, found unknown anchor
     --> stacktape.yml:1:16
      |
    1 | resources: {a: *nobody}
      |                ^

    1 error
    ");
    insta::assert_snapshot!(faults("resources: {$runtime: {}}\n"), @"
    error: $runtime is a reserved key
     --> stacktape.yml:1:13
      |
    1 | resources: {$runtime: {}}
      |             ^^^^^^^^
      = at resources.$runtime

    1 error
    ");
}

#[test]
fn references() {
    insta::assert_snapshot!(
        faults(&function("      connectTo: [hello, itmes, jump]\n  items:\n    type: bucket\n  jump:\n    type: bastion\n")), @r#"
    error: "hello" cannot be connected to itself
     --> stacktape.yml:9:19
      |
    9 |       connectTo: [hello, itmes, jump]
      |                   ^^^^^
      = at resources.hello.properties.connectTo[0]

    error: there is no resource "itmes"
     --> stacktape.yml:9:26
      |
    9 |       connectTo: [hello, itmes, jump]
      |                          ^^^^^ did you mean "items"?
      = at resources.hello.properties.connectTo[1]

    error: "jump" is a bastion; nothing connects to one
     --> stacktape.yml:9:33
      |
    9 |       connectTo: [hello, itmes, jump]
      |                                 ^^^^
      = at resources.hello.properties.connectTo[2]

    3 errors
    "#);
    insta::assert_snapshot!(
        faults(&function("      events:\n        - type: http-api-gateway\n          properties: {httpApiGatewayName: gat, method: GET, path: orders}\n  gate:\n    type: http-api-gateway\n")), @r#"
    error: there is no http-api-gateway "gat"
      --> stacktape.yml:11:44
       |
    11 |           properties: {httpApiGatewayName: gat, method: GET, path: orders}
       |                                            ^^^ did you mean "gate"?
       = at resources.hello.properties.events[0].properties.httpApiGatewayName

    error: the path "orders" does not begin with "/"
      --> stacktape.yml:11:68
       |
    11 |           properties: {httpApiGatewayName: gat, method: GET, path: orders}
       |                                                                    ^^^^^^ write /orders
       = at resources.hello.properties.events[0].properties.path

    2 errors
    "#);
    insta::assert_snapshot!(
        faults(&function("      events:\n        - type: sqs\n          properties: {sqsQueueName: files}\n        - type: sqs\n          properties: {}\n        - type: event-bus\n          properties: {useDefaultBus: true, eventBusArn: a, eventPattern: {}}\n        - type: schedule\n          properties: {scheduleRate: 5 minutes}\n  files:\n    type: bucket\n")), @r#"
    error: "files" is a bucket, and a sqs-queue is needed here
      --> stacktape.yml:11:38
       |
    11 |           properties: {sqsQueueName: files}
       |                                      ^^^^^ there is no sqs-queue in this config
       = at resources.hello.properties.events[0].properties.sqsQueueName

    error: one of sqsQueueName, sqsQueueArn is needed
      --> stacktape.yml:13:23
       |
    13 |           properties: {}
       |                       ^^
       = at resources.hello.properties.events[1].properties

    error: eventBusArn and useDefaultBus exclude each other
      --> stacktape.yml:15:23
       |
    15 |           properties: {useDefaultBus: true, eventBusArn: a, eventPattern: {}}
       |                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       = at resources.hello.properties.events[2].properties

    error: "5 minutes" is neither rate(…) nor cron(…)
      --> stacktape.yml:17:38
       |
    17 |           properties: {scheduleRate: 5 minutes}
       |                                      ^^^^^^^^^ such as rate(5 minutes) or cron(0 12 * * ? *)
       = at resources.hello.properties.events[3].properties.scheduleRate

    4 errors
    "#);
    insta::assert_snapshot!(
        faults("resources: {}\nscripts:\n  a:\n    type: local-script\n    properties: {executeCommand: x, executeScript: y}\n  b:\n    type: bastion-script\n    properties: {executeCommand: x}\nhooks:\n  afterDeploy:\n    - scriptName: c\n"), @r#"
    error: executeScript and executeCommand exclude each other
     --> stacktape.yml:5:17
      |
    5 |     properties: {executeCommand: x, executeScript: y}
      |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      = at scripts.a.properties

    error: the script "b" needs a bastion, and there is none
     --> stacktape.yml:8:17
      |
    8 |     properties: {executeCommand: x}
      |                 ^^^^^^^^^^^^^^^^^^^ add a resource of type bastion
      = at scripts.b.properties

    error: there is no script "c"
      --> stacktape.yml:11:19
       |
    11 |     - scriptName: c
       |                   ^ there is a, b
       = at hooks.afterDeploy[0].scriptName

    3 errors
    "#);
    insta::assert_snapshot!(
        faults("resources:\n  q:\n    type: sqs-queue\n    properties:\n      redrivePolicy: {targetSqsQueueName: r, maxReceiveCount: 3}\n  w:\n    type: worker-service\n    properties:\n      packaging: {type: prebuilt-image, properties: {image: x}}\n      resources: {cpu: 3}\n      scaling: {minInstances: 4, maxInstances: 2}\n  m:\n    type: state-machine\n    properties:\n      definition: {StartAt: Fist, States: {First: {Type: Succeed}}}\n  1st:\n    type: bucket\n"), @r#"
    error: there is no sqs-queue "r"
     --> stacktape.yml:5:43
      |
    5 |       redrivePolicy: {targetSqsQueueName: r, maxReceiveCount: 3}
      |                                           ^ there is q
      = at resources.q.properties.redrivePolicy.targetSqsQueueName

    error: "resources" needs cpu and memory, or instanceTypes
      --> stacktape.yml:10:18
       |
    10 |       resources: {cpu: 3}
       |                  ^^^^^^^^
       = at resources.w.properties.resources

    error: "cpu" is one of 0.25, 0.5, 1, 2, 4, 8, 16, not the number 3
      --> stacktape.yml:10:24
       |
    10 |       resources: {cpu: 3}
       |                        ^
       = at resources.w.properties.resources.cpu

    error: minInstances (4) is greater than maxInstances (2)
      --> stacktape.yml:11:16
       |
    11 |       scaling: {minInstances: 4, maxInstances: 2}
       |                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       = at resources.w.properties.scaling

    error: there is no state "Fist"
      --> stacktape.yml:15:29
       |
    15 |       definition: {StartAt: Fist, States: {First: {Type: Succeed}}}
       |                             ^^^^ did you mean "First"?
       = at resources.m.properties.definition.StartAt

    error: "1st" cannot be a resource's name: it begins with a letter and has letters, digits, "-" and "_" only, at most 50
      --> stacktape.yml:16:3
       |
    16 |   1st:
       |   ^^^
       = at resources.1st

    6 errors
    "#);
}

#[test]
fn all_errors_are_reported_at_once() {
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
        .map(|fault| {
            format!(
                "{}:{} {:?} {}",
                fault.line.unwrap(),
                fault.column.unwrap(),
                fault.kind,
                fault.path
            )
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    5:42 MissingProperty resources.a.properties.packaging.properties.packagePath
    6:15 WrongType resources.a.properties.memory
    7:19 UnknownReference resources.a.properties.connectTo[0]
    10:18 Directive resources.a.properties.environment[0].value
    12:11 UnsupportedType resources.c.type
    ");
    let problem = found.to_problem();
    insta::assert_snapshot!(problem.message(), @r#"
    stacktape.yml has 5 errors:
      stacktape.yml:5:42: "packagePath" is missing in "properties"
      stacktape.yml:6:15: "memory" is a whole number, not the text "big"
      stacktape.yml:7:19: there is no resource "b"; there is a, c
      stacktape.yml:10:18: there is no directive $Stag; did you mean $Stage?
      stacktape.yml:12:11: there is no resource type "lambda"; supported: function, http-api-gateway, web-service, private-service, worker-service, multi-container-workload, batch-job, dynamo-db-table, relational-database, redis-cluster, bucket, hosting-bucket, sqs-queue, sns-topic, event-bus, kinesis-stream, state-machine, user-auth-pool, open-search-domain, application-load-balancer, bastion, deployment-script, custom-resource-definition, custom-resource-instance
    "#);
    assert_eq!(
        problem.details()["faults"].as_array().unwrap().len(),
        found.list.len()
    );
    assert_eq!(problem.details()["reason"], "config_invalid");
}

#[test]
fn limits() {
    let deep = format!("resources: {}{}\n", "[".repeat(80), "]".repeat(80));
    insta::assert_snapshot!(faults(&deep).lines().next().unwrap(), @"error: nested more than 64 levels deep");
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..9 {
        let item = format!("*a{}", level - 1);
        let items = vec![item; 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{items}]\n"));
    }
    insta::assert_snapshot!(faults(&bomb).lines().next().unwrap(), @"error: the aliases expand to more than 100000 values");
    let large = format!("resources: {{}}\n# {}\n", "x".repeat(1024 * 1024));
    insta::assert_snapshot!(faults(&large).lines().next().unwrap(), @"error: the file has 1048593 bytes; 1048576 are allowed");
}

#[test]
fn wide_letters_do_not_move_the_caret() {
    insta::assert_snapshot!(faults("resources:\n  a: {type: bucket, 'Größe漢': 1}\n"), @r#"
    error: unknown property "Größe漢"
     --> stacktape.yml:2:21
      |
    2 |   a: {type: bucket, 'Größe漢': 1}
      |                     ^^^^^^^^^ known properties: overrides, properties, type
      = at resources.a.Größe漢

    1 error
    "#);
}
