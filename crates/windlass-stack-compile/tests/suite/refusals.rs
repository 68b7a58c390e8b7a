//! What cannot be compiled is refused with its place, its cause and what to do.

use windlass_stack_compile::{Facts, compile};

use super::world::{config, facts};

/// The refusals of a config, one per line.
fn refused(text: &str) -> String {
    let config = config("stacktape.yml", text);
    let refusals = match compile(&config, &facts(&config)) {
        Ok(_) => return "compiled".to_owned(),
        Err(refusals) => refusals,
    };
    let lines: Vec<String> = refusals
        .list
        .iter()
        .map(|it| {
            let help = it.suggestion.as_deref().unwrap_or("-");
            format!("{}: {} [{help}]", it.path.join("."), it.message)
        })
        .collect();
    lines.join("\n")
}

const CODE: &str =
    "packaging: {type: stacktape-lambda-buildpack, properties: {entryfilePath: a.ts}}";

#[test]
fn two_routes_with_one_id() {
    let text = format!(
        "resources:
  gate: {{type: http-api-gateway}}
  one:
    type: function
    properties:
      {CODE}
      events:
        - {{type: http-api-gateway, properties: {{httpApiGatewayName: gate, method: GET, path: /a-b}}}}
        - {{type: http-api-gateway, properties: {{httpApiGatewayName: gate, method: GET, path: /a/b}}}}
"
    );
    insta::assert_snapshot!(refused(&text), @r#"resources.one.properties: the AWS::ApiGatewayV2::Route of "one" and the AWS::ApiGatewayV2::Route of "one" have the same logical id "StpGateGetABRoute" [rename one of them]"#);
}

#[test]
fn functions_outside_the_network() {
    let text = format!(
        "resources:
  cache:
    type: redis-cluster
    properties: {{instanceSize: cache.t4g.micro, defaultUserPassword: $Secret('redis')}}
  one:
    type: function
    properties:
      {CODE}
      connectTo: [cache]
"
    );
    insta::assert_snapshot!(refused(&text), @r#"resources.one.properties.connectTo.0: "cache" can only be reached from inside the network [set joinDefaultVpc: true]"#);
}

#[test]
fn buckets_of_other_stacks() {
    let text = format!(
        "resources:
  one:
    type: function
    properties:
      {CODE}
      events:
        - {{type: s3, properties: {{bucketArn: 'arn:aws:s3:::other', s3EventType: 's3:ObjectCreated:*'}}}}
"
    );
    insta::assert_snapshot!(refused(&text), @"resources.one.properties.events.0.properties.bucketArn: only a bucket of the same stack can start a function [write $ResourceParam('bucketName', 'arn'), or use an event-bus event with the other bucket's events]");
}

#[test]
fn overrides_of_other_resources() {
    let text = "resources:
  one:
    type: sqs-queue
    overrides: {TwoQueue: {DelaySeconds: 1}}
  two: {type: sqs-queue}
";
    insta::assert_snapshot!(refused(text), @r#"resources.one.overrides.TwoQueue: "TwoQueue" is not part of "one" [there is OneQueue]"#);
}

#[test]
fn references_to_nothing() {
    let text = "resources:
  one: {type: sqs-queue}
stackConfig:
  outputs:
    - name: lost
      value: $CfResourceParam('NoSuchThing', 'Arn')
";
    insta::assert_snapshot!(refused(text), @r#"stackConfig.outputs: there is no logical id "NoSuchThing" in the template [`windlass stack compile` shows all of them]"#);
}

#[test]
fn secrets_are_no_outputs() {
    let text = "resources:
  one: {type: sqs-queue}
stackConfig:
  outputs:
    - {name: key, value: $Secret('key')}
";
    insta::assert_snapshot!(refused(text), @"stackConfig.outputs.0: an output shows its value; a secret cannot be one [-]");
}

#[test]
fn domains_without_zone_or_certificate() {
    let text = "resources:
  gate:
    type: http-api-gateway
    properties:
      customDomains: [{domainName: api.example.org}]
";
    insta::assert_snapshot!(refused(text), @r#"
    resources.gate.properties.customDomains: "api.example.org" needs a certificate [give customCertificateArn: certificates are not issued for you]
    resources.gate.properties.customDomains: the account has no hosted zone for "api.example.org" [create one, or set disableDnsRecordCreation: true]
    "#);
}

#[test]
fn logs_that_are_off_are_no_outputs() {
    let text = format!(
        "resources:
  seed: {{type: deployment-script, properties: {{trigger: after:deploy, {CODE}, logging: {{disabled: true}}}}}}
  shop:
    type: multi-container-workload
    properties:
      resources: {{cpu: 0.25, memory: 512}}
      containers:
        - name: api
          packaging: {{type: prebuilt-image, properties: {{image: 'busybox:1'}}}}
          logging: {{disabled: true}}
"
    );
    assert_eq!(refused(&text), "compiled");
}

#[test]
fn addresses_that_know_each_other() {
    let text = format!(
        "resources:
  one: {{type: function, properties: {{{CODE}, url: {{enabled: true}}, connectTo: [two]}}}}
  two: {{type: function, properties: {{{CODE}, url: {{enabled: true}}, connectTo: [one]}}}}
"
    );
    insta::assert_snapshot!(refused(&text), @r#"resources: "one" and "two" wait for each other: OneFunction, OneUrl, TwoFunction, TwoUrl [remove one from the other's connectTo or environment]"#);
}

#[test]
fn what_aws_does_not_know() {
    let text = format!(
        "resources:
  one: {{type: function, properties: {{{CODE}, environment: [{{name: A, value: b}}]}}}}
  db:
    type: relational-database
    properties:
      credentials: {{masterUserPassword: $Secret('db')}}
      engine: {{type: aurora-mysql-serverless, properties: {{}}}}
  files:
    type: bucket
    properties:
      lifecycleRules:
        - {{type: abort-incomplete-multipart-upload, properties: {{daysAfterInitiation: 1, tags: [{{key: a, value: b}}]}}}}
cloudformationResources:
  Thing: {{Type: 'AWS::SNS::Topic', Condition: IsBig}}
"
    );
    insta::assert_snapshot!(refused(&text), @r#"
    resources.db.properties.engine: AWS no longer creates aurora-mysql-serverless databases [use the engine's -serverless-v2 form]
    resources.files.properties.lifecycleRules.0.properties.tags: an upload that was never finished has no tags [use prefix, or leave it out]
    resources.one.properties.environment: Lambda does not accept the variable "A" [use two or more letters, digits and underscores, a letter first]
    cloudformationResources.Thing.Condition: the template has no conditions [vary the config by $Stage() instead]
    "#);
}

#[test]
fn more_resources_than_cloudformation_accepts() {
    let queues = |count: usize| {
        let lines: String = (0..count)
            .map(|index| format!("  q{index}: {{type: sqs-queue}}\n"))
            .collect();
        format!("resources:\n{lines}")
    };
    assert!(refused(&queues(501)).contains("501 resources; CloudFormation allows 500"));
    let text = config("stacktape.yml", &queues(470));
    let compiled = compile(&text, &facts(&text)).unwrap();
    let warnings: Vec<&str> = compiled
        .warnings
        .iter()
        .map(|it| it.message.as_str())
        .collect();
    assert!(
        warnings.contains(&"the template has 470 of 500 resources"),
        "{warnings:?}"
    );
    assert!(compiled.outputs.len() <= 200);
}

#[test]
fn what_was_not_packaged() {
    let text = format!("resources: {{one: {{type: function, properties: {{{CODE}}}}}}}");
    let config = config("stacktape.yml", &text);
    let refusals = compile(&config, &Facts::new("shop", "dev", "eu-west-1")).unwrap_err();
    let problem = refusals.to_problem();
    assert_eq!(
        problem.message(),
        "resources.one.properties.packaging: \"one\" was not packaged"
    );
}
