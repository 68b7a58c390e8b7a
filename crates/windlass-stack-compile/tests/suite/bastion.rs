//! Who a database lets in where scripts reach it through a bastion.

use serde_json::Value;
use windlass_stack_compile::compile;

use super::world::{config, facts};

/// The groups a scoped database lets in, with this script.
fn let_in(script: &str) -> Vec<String> {
    let text = format!(
        "resources:
  jump: {{type: bastion}}
  db:
    type: relational-database
    properties:
      credentials: {{masterUserPassword: abcdefgh1}}
      accessibility: {{accessibilityMode: scoping-workloads-in-vpc}}
      engine:
        type: postgres
        properties: {{version: '17.2', primaryInstance: {{instanceSize: db.t4g.micro}}}}
scripts:
  one: {script}
  two: {script}
"
    );
    let config = config("stacktape.yml", &text);
    let compiled = compile(&config, &facts(&config)).unwrap();
    let rules = compiled
        .template
        .pointer("/Resources/DbSecurityGroup/Properties/SecurityGroupIngress")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    let groups = rules.iter().map(|rule| {
        let group = rule.pointer("/SourceSecurityGroupId/Fn::GetAtt/0");
        group.and_then(Value::as_str).unwrap().to_owned()
    });
    groups.collect()
}

#[test]
fn a_scoped_database_admits_the_bastion_of_its_scripts() {
    for (script, expected) in [
        (
            "{type: bastion-script, properties: {executeCommand: ls, connectTo: [db]}}",
            &["JumpSecurityGroup"][..],
        ),
        (
            "{type: local-script-with-bastion-tunneling, properties: {executeCommand: ls, connectTo: [db], bastionResource: jump}}",
            &["JumpSecurityGroup"],
        ),
        (
            "{type: bastion-script, properties: {executeCommand: ls}}",
            &[],
        ),
        (
            "{type: local-script, properties: {executeCommand: ls, connectTo: [db]}}",
            &[],
        ),
    ] {
        assert_eq!(let_in(script), expected, "{script}");
    }
}
