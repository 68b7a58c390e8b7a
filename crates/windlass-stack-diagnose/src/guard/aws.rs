//! AWS actions that may be called freely: they read, and they show no secret value.
//!
//! One table, by protocol: [`allow`] finds an action with all that is needed to call it and what
//! to mask in its answer. Whatever is not in the table is refused, also under a name that sounds
//! like reading. Not here: calling it (windlass-aws).

mod ec2;
mod json;
mod masks;
mod query;
mod rest;

use serde_json::Value;
use windlass_ports::aws::ActionShape;

use crate::guard::mask::{self, Masked};
use crate::guard::{Refusal, Rule};

/// An action that may be called.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowed {
    /// All that is needed to call it.
    pub shape: ActionShape,
    masks: &'static [Masked],
}

impl Allowed {
    /// Masks the secrets in an answer of this action.
    pub fn mask(&self, answer: &mut Value) {
        mask::apply(answer, self.masks);
    }
}

const fn plain(shape: ActionShape) -> Allowed {
    Allowed { shape, masks: &[] }
}

const fn masked(shape: ActionShape, masks: &'static [Masked]) -> Allowed {
    Allowed { shape, masks }
}

/// Other names of services: of SDK packages, consoles and endpoints, without punctuation.
const ALIASES: &[(&str, &str)] = &[
    ("certificatemanager", "acm"),
    ("cloudwatchlogs", "logs"),
    ("cognitoidentityprovider", "cognitoidp"),
    ("elasticloadbalancingv2", "elbv2"),
    ("es", "opensearch"),
    ("eventbridge", "events"),
    ("monitoring", "cloudwatch"),
    ("states", "sfn"),
    ("stepfunctions", "sfn"),
    ("systemsmanager", "ssm"),
];

/// Actions that sound like reading, and why they are not in the table.
const REASONS: &[(&str, &str, &str)] = &[
    (
        "secretsmanager",
        "GetSecretValue",
        "it shows a secret; secret_get shows it masked",
    ),
    ("secretsmanager", "BatchGetSecretValue", "it shows secrets"),
    (
        "ssm",
        "GetParameter",
        "it shows secrets; DescribeParameters lists the names",
    ),
    (
        "ssm",
        "GetParameters",
        "it shows secrets; DescribeParameters lists the names",
    ),
    (
        "ssm",
        "GetParametersByPath",
        "it shows secrets; DescribeParameters lists the names",
    ),
    (
        "ssm",
        "GetParameterHistory",
        "it shows secrets; DescribeParameters lists the names",
    ),
    ("kms", "Decrypt", "it shows secrets"),
    (
        "lambda",
        "GetFunction",
        "it returns a signed address of the code; use GetFunctionConfiguration",
    ),
    ("lambda", "Invoke", "it runs the function"),
    ("ecr", "GetAuthorizationToken", "it returns a password"),
    (
        "cognito-idp",
        "DescribeUserPoolClient",
        "it shows the client's secret; use ListUserPoolClients",
    ),
    (
        "sqs",
        "ReceiveMessage",
        "it hides messages from others; use GetQueueAttributes",
    ),
    ("s3", "GetObject", "it reads contents; use HeadObject"),
    ("dynamodb", "BatchWriteItem", "it writes"),
    ("dynamodb", "BatchExecuteStatement", "it can write"),
    (
        "dynamodb",
        "ExecuteStatement",
        "it can write; use Query or Scan",
    ),
];

/// Every allowed action, service by service.
pub fn actions() -> impl Iterator<Item = &'static Allowed> {
    [json::ACTIONS, query::ACTIONS, ec2::ACTIONS, rest::ACTIONS]
        .into_iter()
        .flatten()
}

/// Finds an action. Services are known by their usual names, with or without `@aws-sdk/client-`;
/// actions as `ListThings`, `ListThingsCommand`, `listThings` or `list-things`.
pub fn allow(service: &str, command: &str) -> Result<&'static Allowed, Refusal> {
    let wanted_service = folded(service.strip_prefix("@aws-sdk/client-").unwrap_or(service));
    let wanted_service = ALIASES
        .iter()
        .find(|(alias, _)| *alias == wanted_service)
        .map_or(wanted_service.as_str(), |(_, name)| name)
        .to_owned();
    let folded_command = folded(command);
    let wanted_action = folded_command
        .strip_suffix("command")
        .filter(|short| !short.is_empty())
        .unwrap_or(&folded_command);
    let of_service: Vec<&'static Allowed> = actions()
        .filter(|allowed| folded(allowed.shape.service.name) == wanted_service)
        .collect();
    if let Some(allowed) = of_service
        .iter()
        .find(|allowed| folded(allowed.shape.action) == wanted_action)
    {
        return Ok(allowed);
    }
    let reason = REASONS.iter().find(|(known, action, _)| {
        folded(known) == wanted_service && folded(action) == wanted_action
    });
    if let Some((service, action, why)) = reason {
        return Err(Refusal::new(
            Rule::AwsAction,
            format!("{service} {action} is not allowed: {why}"),
        ));
    }
    if of_service.is_empty() {
        let mut names: Vec<&str> = actions()
            .map(|allowed| allowed.shape.service.name)
            .collect();
        names.sort_unstable();
        names.dedup();
        return Err(Refusal::new(
            Rule::AwsService,
            format!(
                "{service} is not among the services that may be read: {}",
                names.join(", ")
            ),
        ));
    }
    let names: Vec<&str> = of_service
        .iter()
        .map(|allowed| allowed.shape.action)
        .collect();
    Err(Refusal::new(
        Rule::AwsAction,
        format!(
            "{command} of {service} is not among the actions that only read: {}",
            names.join(", ")
        ),
    ))
}

/// Lower case, letters and digits only.
fn folded(name: &str) -> String {
    name.chars()
        .filter(|character| !matches!(character, '-' | '_' | ' '))
        .map(|character| character.to_ascii_lowercase())
        .collect()
}

#[cfg(test)]
#[path = "aws_tests.rs"]
mod tests;
