//! What is known of resource types: which changes replace, which properties exist, how things are named.
//!
//! The facts of `rules.txt` are those of the resource provider schemas that AWS publishes, for the
//! types a stack is made of. Any other type is accepted and everything about it is `Conditional`.

mod attributes;
mod identity;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

pub use attributes::attribute;
pub use identity::{Naming, Physical, physical};

static RULES: LazyLock<BTreeMap<&'static str, Rules>> =
    LazyLock::new(|| read(include_str!("rules.txt")));

#[derive(Default)]
struct Rules {
    required: Vec<&'static str>,
    /// Paths whose change needs a new physical resource.
    replace: Vec<&'static str>,
    /// Paths whose change may need one.
    maybe: Vec<&'static str>,
    /// Properties that change in place.
    update: Vec<&'static str>,
    attributes: Vec<&'static str>,
}

/// Whether a change needs a new physical resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recreation {
    Never,
    Conditionally,
    Always,
}

impl Recreation {
    pub fn name(self) -> &'static str {
        match self {
            Recreation::Never => "Never",
            Recreation::Conditionally => "Conditionally",
            Recreation::Always => "Always",
        }
    }
}

fn read(text: &'static str) -> BTreeMap<&'static str, Rules> {
    let mut all: BTreeMap<&'static str, Rules> = BTreeMap::new();
    let mut current = "";
    for line in text.lines() {
        if !line.starts_with(' ') {
            current = line.trim();
            all.entry(current).or_default();
            continue;
        }
        let mut words = line.split_whitespace();
        let heading = words.next().unwrap_or_default();
        let rules = all.entry(current).or_default();
        let list = match heading {
            "required" => &mut rules.required,
            "replace" => &mut rules.replace,
            "maybe" => &mut rules.maybe,
            "update" => &mut rules.update,
            _ => &mut rules.attributes,
        };
        list.extend(words);
    }
    all
}

/// `AWS::Service::Thing`, a custom resource, or a type of a registry.
pub fn is_plausible(kind: &str) -> bool {
    if let Some(name) = kind.strip_prefix("Custom::") {
        return !name.is_empty();
    }
    let parts: Vec<&str> = kind.split("::").collect();
    parts.len() >= 3 && parts.iter().all(|part| !part.is_empty())
}

pub fn is_custom(kind: &str) -> bool {
    kind.starts_with("Custom::") || kind == "AWS::CloudFormation::CustomResource"
}

pub fn is_known(kind: &str) -> bool {
    RULES.contains_key(kind)
}

/// Whether stack tags reach resources of this type.
pub fn takes_tags(kind: &str) -> bool {
    RULES
        .get(kind)
        .is_some_and(|rules| rules.update.contains(&"Tags"))
}

/// Whether `Fn::GetAtt` may ask for it; unknown and custom types answer to anything.
pub fn has_attribute(kind: &str, attribute: &str) -> bool {
    match RULES.get(kind) {
        Some(rules) => {
            rules.attributes.contains(&attribute) || attributes::is_additional(kind, attribute)
        }
        None => true,
    }
}

/// What a change of one top-level property from `before` to `after` needs.
pub fn recreation(kind: &str, property: &str, before: &Value, after: &Value) -> Recreation {
    if is_custom(kind) {
        return match property {
            "ServiceToken" => Recreation::Always,
            _ => Recreation::Never,
        };
    }
    let Some(rules) = RULES.get(kind) else {
        return Recreation::Conditionally;
    };
    let touches = |paths: &[&str]| {
        paths
            .iter()
            .any(|path| changes_at(path, property, before, after))
    };
    if touches(&rules.replace) {
        Recreation::Always
    } else if touches(&rules.maybe) || !has_property(rules, property) {
        Recreation::Conditionally
    } else {
        Recreation::Never
    }
}

/// Whether the value below `property` at `path` (`Property` or `Property.Inner`) differs.
fn changes_at(path: &str, property: &str, before: &Value, after: &Value) -> bool {
    let mut steps = path.split('.');
    if steps.next() != Some(property) {
        return false;
    }
    let (mut before, mut after) = (before, after);
    for step in steps.take_while(|step| *step != "*") {
        before = before.get(step).unwrap_or(&Value::Null);
        after = after.get(step).unwrap_or(&Value::Null);
    }
    before != after
}

fn has_property(rules: &Rules, property: &str) -> bool {
    let is_under = |paths: &[&str]| {
        paths
            .iter()
            .any(|path| path.split('.').next() == Some(property))
    };
    rules.update.contains(&property) || is_under(&rules.replace) || is_under(&rules.maybe)
}

/// What a resource handler says of properties the type does not have or lacks.
pub fn complaint(kind: &str, logical_id: &str, properties: &Value) -> Option<String> {
    if is_custom(kind) {
        let has_token = properties.get("ServiceToken").is_some();
        return (!has_token)
            .then(|| "Value of property ServiceToken must be of type String".into());
    }
    let rules = RULES.get(kind)?;
    let given = properties.as_object()?;
    let mut findings: Vec<String> = rules
        .required
        .iter()
        .filter(|name| !given.contains_key(**name))
        .map(|name| format!("#: required key [{name}] not found"))
        .collect();
    findings.extend(
        given
            .keys()
            .filter(|name| !has_property(rules, name))
            .map(|name| format!("#: extraneous key [{name}] is not permitted")),
    );
    (!findings.is_empty()).then(|| {
        format!(
            "Properties validation failed for resource {logical_id} with message:\n[{}]",
            findings.join(", ")
        )
    })
}

/// What happens to the physical resource of a removed one when the template does not say.
pub fn default_deletion_policy(kind: &str, properties: &Value) -> &'static str {
    match kind {
        "AWS::RDS::DBCluster" => "Snapshot",
        "AWS::RDS::DBInstance" if properties.get("DBClusterIdentifier").is_none() => "Snapshot",
        _ => "Delete",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_type_of_the_table_is_read_completely() {
        assert!(RULES.len() > 110, "{}", RULES.len());
        for (kind, rules) in RULES.iter() {
            assert!(is_plausible(kind), "{kind}");
            for name in &rules.required {
                assert!(has_property(rules, name), "{kind} {name}");
            }
        }
    }

    #[test]
    fn documented_replacements() {
        use Recreation::*;
        let cases = [
            ("AWS::Lambda::Function", "FunctionName", Always),
            ("AWS::Lambda::Function", "Code", Never),
            ("AWS::Lambda::Function", "MemorySize", Never),
            ("AWS::Lambda::Permission", "Principal", Always),
            ("AWS::IAM::Role", "RoleName", Always),
            ("AWS::IAM::Role", "Policies", Never),
            ("AWS::S3::Bucket", "BucketName", Always),
            ("AWS::S3::Bucket", "VersioningConfiguration", Never),
            ("AWS::SQS::Queue", "FifoQueue", Always),
            ("AWS::SQS::Queue", "VisibilityTimeout", Never),
            ("AWS::SNS::Topic", "TopicName", Always),
            ("AWS::DynamoDB::Table", "TableName", Always),
            ("AWS::DynamoDB::Table", "KeySchema", Conditionally),
            ("AWS::DynamoDB::Table", "BillingMode", Never),
            ("AWS::RDS::DBInstance", "DBInstanceIdentifier", Always),
            ("AWS::RDS::DBInstance", "MasterUsername", Always),
            ("AWS::RDS::DBInstance", "Engine", Conditionally),
            ("AWS::RDS::DBInstance", "DBInstanceClass", Never),
            ("AWS::RDS::DBSubnetGroup", "SubnetIds", Never),
            (
                "AWS::ElastiCache::ReplicationGroup",
                "AtRestEncryptionEnabled",
                Always,
            ),
            ("AWS::EC2::VPC", "CidrBlock", Always),
            ("AWS::EC2::Subnet", "AvailabilityZone", Always),
            ("AWS::EC2::SecurityGroup", "GroupDescription", Always),
            ("AWS::EC2::SecurityGroup", "SecurityGroupIngress", Never),
            ("AWS::ECS::TaskDefinition", "ContainerDefinitions", Always),
            ("AWS::ECS::Service", "DesiredCount", Never),
            (
                "AWS::ElasticLoadBalancingV2::LoadBalancer",
                "Scheme",
                Always,
            ),
            ("AWS::ApiGatewayV2::Api", "ProtocolType", Always),
            ("AWS::ApiGatewayV2::Api", "CorsConfiguration", Never),
            ("AWS::Cognito::UserPoolClient", "GenerateSecret", Always),
            ("AWS::Kinesis::Stream", "Name", Always),
            ("AWS::Logs::LogGroup", "LogGroupName", Always),
            ("AWS::Logs::LogGroup", "RetentionInDays", Never),
            ("AWS::OpenSearchService::Domain", "DomainName", Always),
            (
                "AWS::StepFunctions::StateMachine",
                "StateMachineName",
                Always,
            ),
            ("AWS::SecretsManager::Secret", "Name", Always),
            ("AWS::SQS::Queue", "Nonsense", Conditionally),
            ("AWS::Unheard::Of", "Anything", Conditionally),
            ("Custom::Thing", "ServiceToken", Always),
            ("Custom::Thing", "Anything", Never),
        ];
        for (kind, property, expected) in cases {
            assert_eq!(
                recreation(kind, property, &json!(1), &json!(2)),
                expected,
                "{kind} {property}"
            );
        }
    }

    #[test]
    fn unknown_and_missing_properties_are_named() {
        insta::assert_snapshot!(
            complaint("AWS::Lambda::Function", "Api", &json!({"Handlers": "x", "Role": "r"})).unwrap(),
            @r"
        Properties validation failed for resource Api with message:
        [#: required key [Code] not found, #: extraneous key [Handlers] is not permitted]
        "
        );
        assert_eq!(
            complaint("AWS::SQS::Queue", "Q", &json!({"FifoQueue": true})),
            None
        );
        assert_eq!(
            complaint("AWS::Unheard::Of", "Q", &json!({"x": true})),
            None
        );
    }
}
