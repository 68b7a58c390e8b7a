//! Tables of refused templates and of evaluated values.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::eval::{Evaluation, Names};
use super::*;

fn refusal(template: Value) -> String {
    match Template::parse(&template.to_string()) {
        Ok(_) => "accepted".to_owned(),
        Err(error) => error.message,
    }
}

#[test]
fn refused_templates_say_what_cloudformation_says() {
    let queue = json!({"Type": "AWS::SQS::Queue"});
    let cases = [
        (json!([]), "Template format error: unsupported structure."),
        (
            json!({"Resources": {}}),
            "Template format error: At least one Resources member must be defined.",
        ),
        (
            json!({"Resource": {}}),
            "Invalid template property or properties [Resource]",
        ),
        (
            json!({"Resources": {"A": {}}}),
            "Template format error: [/Resources/A] Every Resources object must contain a Type member.",
        ),
        (
            json!({"Resources": {"A-b": queue}}),
            "Template format error: Resource name A-b is non alphanumeric.",
        ),
        (
            json!({"Resources": {"A": {"Type": "SQS"}}}),
            "Template format error: Unrecognized resource types: [SQS]",
        ),
        (
            json!({"Resources": {"A": {"Type": "AWS::SQS::Queue", "Propertys": {}}}}),
            "Invalid template resource property 'Propertys'",
        ),
        (
            json!({"Resources": {"A": {"Type": "AWS::SQS::Queue", "DependsOn": "B"}}}),
            "Template format error: Unresolved resource dependencies [B] in the Resources block of the template",
        ),
        (
            json!({"Resources": {"A": queue}, "Outputs": {"O": {"Value": {"Ref": "B"}}}}),
            "Template format error: Unresolved resource dependencies [B] in the Outputs block of the template",
        ),
        (
            json!({"Resources": {"A": {"Type": "AWS::SQS::Queue", "Condition": "C"}}}),
            "Template format error: Unresolved condition dependency C in the Resources block of the template",
        ),
        (
            json!({"Resources": {"A": queue}, "Outputs": {"O": {"Value": {"Fn::GetAtt": ["A", "Nope"]}}}}),
            "Template error: resource A does not support attribute type Nope in Fn::GetAtt",
        ),
        (
            json!({"Resources": {
                "A": {"Type": "AWS::SQS::Queue", "DependsOn": "B"},
                "B": {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": {"Ref": "A"}}},
                "C": queue,
            }}),
            "Circular dependency between resources: [A, B]",
        ),
        (json!({"Resources": {"A": queue}}), "accepted"),
    ];
    for (template, expected) in cases {
        assert_eq!(refusal(template.clone()), expected, "{template}");
    }
    assert_eq!(
        Template::parse("{\n nope").unwrap_err().message,
        "Template format error: JSON not well-formed. (line 2, column 2)"
    );
}

#[test]
fn five_hundred_resources_are_the_limit() {
    let with = |count: usize| {
        let resources: serde_json::Map<String, Value> = (0..count)
            .map(|index| (format!("R{index}"), json!({"Type": "AWS::SQS::Queue"})))
            .collect();
        refusal(json!({"Resources": resources}))
    };
    assert_eq!(with(500), "accepted");
    assert_eq!(
        with(501),
        "Template format error: Number of resources, 501, is greater than maximum allowed, 500"
    );
}

#[test]
fn capabilities_follow_the_resources() {
    let of = |template: Value| {
        let template = Template::parse(&template.to_string()).unwrap();
        template.capabilities().0.join(" ")
    };
    let role =
        |properties: Value| json!({"R": {"Type": "AWS::IAM::Role", "Properties": properties}});
    assert_eq!(
        of(json!({"Resources": {"A": {"Type": "AWS::SQS::Queue"}}})),
        ""
    );
    assert_eq!(of(json!({"Resources": role(json!({}))})), "CAPABILITY_IAM");
    assert_eq!(
        of(json!({"Resources": role(json!({"RoleName": "x"})), "Transform": "T"})),
        "CAPABILITY_NAMED_IAM CAPABILITY_AUTO_EXPAND"
    );
}

struct Fixed;

impl Names for Fixed {
    fn reference(&self, name: &str) -> Option<Value> {
        match name {
            "Env" => Some(json!("prod")),
            "List" => Some(json!(["a", "b"])),
            "AWS::Region" => Some(json!("eu-west-1")),
            "Queue" => Some(json!("https://queue")),
            _ => None,
        }
    }

    fn attribute(&self, name: &str, attribute: &str) -> Option<Value> {
        (name == "Queue" && attribute == "Arn").then(|| json!("arn:queue"))
    }

    fn import(&self, export: &str) -> Option<String> {
        (export == "shared-vpc").then(|| "vpc-1".to_owned())
    }

    fn region(&self) -> &str {
        "eu-west-1"
    }
}

#[test]
fn intrinsics_have_the_documented_values() {
    let template = Template::parse(
        &json!({
            "Mappings": {"M": {"prod": {"Size": 3}}},
            "Conditions": {
                "IsProd": {"Fn::Equals": [{"Ref": "Env"}, "prod"]},
                "IsNot": {"Fn::Not": [{"Condition": "IsProd"}]},
                "Both": {"Fn::And": [{"Condition": "IsProd"}, {"Fn::Or": [{"Condition": "IsNot"}, {"Condition": "IsProd"}]}]},
                "Circle": {"Fn::Not": [{"Condition": "Circle"}]},
            },
            "Resources": {"Queue": {"Type": "AWS::SQS::Queue"}},
        })
        .to_string(),
    )
    .unwrap();
    let evaluation = Evaluation::new(&template, &Fixed);
    let cases = [
        (json!({"Ref": "Queue"}), json!("https://queue")),
        (json!({"Fn::GetAtt": ["Queue", "Arn"]}), json!("arn:queue")),
        (
            json!({"Fn::Sub": "${Env}-${Queue.Arn}-${!Env}-${AWS::Region}"}),
            json!("prod-arn:queue-${Env}-eu-west-1"),
        ),
        (
            json!({"Fn::Sub": ["${A}/${Env}", {"A": {"Ref": "List"}}]}),
            json!("a,b/prod"),
        ),
        (
            json!({"Fn::Join": ["-", ["x", {"Ref": "Env"}, 1]]}),
            json!("x-prod-1"),
        ),
        (json!({"Fn::Join": ["-", {"Ref": "List"}]}), json!("a-b")),
        (
            json!({"Fn::Select": [1, {"Fn::Split": [",", "p,q"]}]}),
            json!("q"),
        ),
        (
            json!({"Fn::FindInMap": ["M", {"Ref": "Env"}, "Size"]}),
            json!(3),
        ),
        (json!({"Fn::Base64": "hi"}), json!("aGk=")),
        (
            json!({"Fn::GetAZs": ""}),
            json!(["eu-west-1a", "eu-west-1b", "eu-west-1c"]),
        ),
        (
            json!({"Fn::Cidr": ["10.0.0.0/16", 2, 8]}),
            json!(["10.0.0.0/24", "10.0.1.0/24"]),
        ),
        (json!({"Fn::ImportValue": "shared-vpc"}), json!("vpc-1")),
        (
            json!({"a": {"Fn::If": ["IsProd", 1, 2]}, "b": {"Fn::If": ["IsNot", 1, {"Ref": "AWS::NoValue"}]}}),
            json!({"a": 1}),
        ),
        (json!([{"Ref": "AWS::NoValue"}, 2]), json!([2])),
        (json!({"Fn::If": ["Both", "yes", "no"]}), json!("yes")),
        (
            json!({"Condition": {"StringEquals": {"a": {"Ref": "Env"}}}}),
            json!({"Condition": {"StringEquals": {"a": "prod"}}}),
        ),
    ];
    for (value, expected) in cases {
        assert_eq!(evaluation.value(&value), Ok(expected), "{value}");
    }
    for (value, message) in [
        (
            json!({"Fn::ImportValue": "nope"}),
            "No export named nope found.",
        ),
        (
            json!({"Fn::Select": [5, ["a"]]}),
            "Template error: Fn::Select cannot select nonexistent value at index 5",
        ),
        (
            json!({"Fn::If": ["Circle", 1, 2]}),
            "Template error: condition Circle refers to itself",
        ),
        (
            json!({"Fn::Transform": {}}),
            "Template error: unsupported function Fn::Transform",
        ),
    ] {
        assert_eq!(evaluation.value(&value), Err(message.to_owned()), "{value}");
    }
}

#[test]
fn the_order_puts_needs_first() {
    let resources: BTreeMap<&str, Value> = BTreeMap::from([
        ("A", json!({"Type": "AWS::SQS::Queue", "DependsOn": ["C"]})),
        ("B", json!({"Type": "AWS::SQS::Queue"})),
        (
            "C",
            json!({"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": {"Fn::Sub": "${B}"}}}),
        ),
    ]);
    let template = Template::parse(&json!({"Resources": resources}).to_string()).unwrap();
    assert_eq!(template.order(), ["B", "C", "A"]);
}
