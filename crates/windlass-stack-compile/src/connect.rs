//! connectTo: what a workload learns about the resources it uses, and what it may do with them.
//!
//! Each target type grants the actions of the table here, on that resource alone; databases
//! grant none and open their network instead.

use serde_json::{Value, json};
use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::common::{Effect, IamRoleStatement};
use windlass_stack_config::model::database::{
    AccessibilityMode, OpenSearchAccessibilityMode, RedisAccessibilityMode,
};
use windlass_stack_config::model::script::Script;
use windlass_stack_config::referenceable_params;

use crate::cf::{join, sub};
use crate::name::{logical, variable};
use crate::stack::Stack;
use crate::text::Tie;
use crate::types::service::offers_names;

/// The connectTo target that stands for sending e-mail.
const SES: &str = "aws:ses";

/// One variable a workload gets by connectTo.
#[derive(Clone, Debug, PartialEq)]
pub struct Connection {
    /// The variable's name.
    pub variable: String,
    /// The resource it describes.
    pub resource: String,
    /// The parameter.
    pub param: &'static str,
    /// The value as CloudFormation writes it.
    pub expression: Value,
}

/// Where a parameter of a resource is found once the stack is deployed.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The output that holds it, as far as it may be one; none where an output of the config
    /// has its name.
    pub output: Option<String>,
    /// The value as CloudFormation writes it.
    pub expression: Value,
}

impl Stack<'_> {
    /// Where a parameter is found.
    pub fn parameter(&mut self, resource: &str, param: &str) -> Option<Parameter> {
        let id = logical(&[resource, param]);
        let mut own = self.config.stack_config.outputs.iter();
        let is_taken = own.any(|output| logical(&[&output.name]) == id);
        Some(Parameter {
            output: (!is_taken).then_some(id),
            expression: self.try_param(resource, param, Tie::Loose)?,
        })
    }

    /// The variables that connectTo gives.
    pub fn connections(&mut self, targets: &[String]) -> Vec<Connection> {
        let mut connections = Vec::new();
        for target in targets {
            let params = self.find(target).and_then(referenceable_params);
            for param in params.into_iter().flatten() {
                let Some(expression) = self.try_param(target, param, Tie::Loose) else {
                    continue;
                };
                connections.push(Connection {
                    variable: variable(target, param),
                    resource: target.clone(),
                    param,
                    expression,
                });
            }
        }
        connections
    }

    /// All variables of a workload. Its own win over those of connectTo.
    pub fn full_environment(
        &mut self,
        kind: &ResourceKind,
        own: Vec<(String, Value)>,
    ) -> Vec<(String, Value)> {
        let mut all: Vec<(String, Value)> = self
            .connections(kind.connect_to())
            .into_iter()
            .map(|connection| (connection.variable, connection.expression))
            .filter(|(name, _)| own.iter().all(|(other, _)| other != name))
            .collect();
        all.extend(own);
        all
    }

    /// What a workload may do: connectTo, then its own statements.
    pub fn permissions(&mut self, kind: &ResourceKind) -> Vec<Value> {
        let mut statements = Vec::new();
        for target in kind.connect_to() {
            statements.extend(self.grants(target));
        }
        for statement in kind.iam_role_statements() {
            statements.push(self.statement(statement));
        }
        statements
    }

    fn statement(&mut self, statement: &IamRoleStatement) -> Value {
        let actions: Vec<Value> = statement.action.iter().map(|it| self.loose(it)).collect();
        let resources: Vec<Value> = statement.resource.iter().map(|it| self.loose(it)).collect();
        let condition = statement
            .condition
            .as_ref()
            .map(|condition| self.data(condition, Tie::Loose));
        let actions = if actions.is_empty() {
            vec![json!("*")]
        } else {
            actions
        };
        json!({
            "Sid": statement.sid,
            "Effect": effect(statement.effect),
            "Action": actions,
            "Resource": resources,
            "Condition": condition,
        })
    }

    fn grants(&mut self, target: &str) -> Vec<Value> {
        if target == SES {
            return vec![allow(&["ses:*"], vec![json!("*")])];
        }
        let Some(kind) = self.find(target) else {
            return Vec::new();
        };
        match kind {
            ResourceKind::Function(_) => {
                vec![allow(
                    &["lambda:InvokeFunction"],
                    self.function_and_versions(target),
                )]
            }
            ResourceKind::EventBus(_) => {
                let arn = self.param(target, "arn", Tie::Loose);
                vec![allow(&["events:PutEvents"], vec![arn])]
            }
            ResourceKind::MultiContainerWorkload(_) => {
                let name = self.physical(target, 255);
                let service = sub(format!(
                    "arn:${{AWS::Partition}}:ecs:${{AWS::Region}}:${{AWS::AccountId}}:service/{name}/{name}"
                ));
                vec![
                    allow(
                        &["ecs:DescribeServices", "ecs:UpdateService"],
                        vec![service],
                    ),
                    // ListServices knows no resource.
                    allow(&["ecs:ListServices"], vec![json!("*")]),
                ]
            }
            ResourceKind::StateMachine(_) => {
                let arn = self.param(target, "arn", Tie::Loose);
                executions(arn)
            }
            ResourceKind::BatchJob(_) => {
                let machine = self.param(target, "stateMachineArn", Tie::Loose);
                let mut statements = executions(machine);
                let definition = crate::cf::arn(&format!(
                    "batch:job-definition/{}*",
                    self.physical(target, 128)
                ));
                let queue = self.batch_queue_arn(target);
                statements.push(allow(&["batch:SubmitJob"], vec![definition, queue]));
                statements.push(allow(
                    &["batch:TerminateJob"],
                    vec![crate::cf::arn("batch:job/*")],
                ));
                // These two know no resource.
                statements.push(allow(
                    &["batch:DescribeJobs", "batch:ListJobs"],
                    vec![json!("*")],
                ));
                statements
            }
            ResourceKind::Bucket(_) | ResourceKind::HostingBucket(_) => {
                let arn = self.param(target, "arn", Tie::Loose);
                let objects = join([arn.clone(), json!("/*")]);
                vec![
                    allow(&["s3:GetBucket*", "s3:ListBucket"], vec![arn]),
                    allow(
                        &["s3:*Object*", "s3:Abort*", "s3:*MultipartUpload*"],
                        vec![objects],
                    ),
                ]
            }
            ResourceKind::DynamoDbTable(_) => {
                let arn = self.param(target, "arn", Tie::Loose);
                let below = join([arn.clone(), json!("/*")]);
                vec![allow(&DYNAMO, vec![arn, below])]
            }
            ResourceKind::OpenSearchDomain(_) => {
                let arn = self.param(target, "arn", Tie::Loose);
                let below = join([arn.clone(), json!("/*")]);
                vec![allow(&["es:ESHttp*"], vec![arn, below])]
            }
            ResourceKind::UserAuthPool(_) => {
                let arn = self.param(target, "arn", Tie::Loose);
                vec![allow(&["cognito-idp:*"], vec![arn])]
            }
            ResourceKind::SqsQueue(_) => {
                let arn = self.param(target, "arn", Tie::Loose);
                vec![allow(&SQS, vec![arn])]
            }
            ResourceKind::SnsTopic(_) => {
                let arn = self.param(target, "arn", Tie::Loose);
                vec![allow(&SNS, vec![arn])]
            }
            ResourceKind::KinesisStream(_) => {
                let arn = self.param(target, "arn", Tie::Loose);
                vec![
                    allow(&KINESIS, vec![arn]),
                    allow(&["kinesis:ListStreams"], vec![json!("*")]),
                ]
            }
            ResourceKind::HttpApiGateway(_)
            | ResourceKind::WebService(_)
            | ResourceKind::PrivateService(_)
            | ResourceKind::WorkerService(_)
            | ResourceKind::RelationalDatabase(_)
            | ResourceKind::RedisCluster(_)
            | ResourceKind::ApplicationLoadBalancer(_)
            | ResourceKind::Bastion(_)
            | ResourceKind::DeploymentScript(_)
            | ResourceKind::CustomResourceDefinition(_)
            | ResourceKind::CustomResourceInstance(_) => Vec::new(),
        }
    }

    /// A function by its name, and everything that is published of it.
    pub fn function_and_versions(&self, name: &str) -> Vec<Value> {
        let function = format!("lambda:function:{}", self.physical(name, 64));
        vec![
            crate::cf::arn(&function),
            crate::cf::arn(&format!("{function}:*")),
        ]
    }

    /// Functions outside the network cannot reach what is only inside it.
    pub fn check_reach(&mut self, targets: &[String], is_inside: bool) {
        for (index, target) in targets.iter().enumerate() {
            if let Some(kind @ ResourceKind::PrivateService(_)) = self.find(target)
                && offers_names(kind)
            {
                self.refuse(
                    &format!("connectTo.{index}"),
                    format!("only containers know the names of \"{target}\""),
                    Some("give it loadBalancing: {type: application-load-balancer}"),
                );
            } else if !is_inside {
                self.check_outside(index, target);
            }
        }
    }

    fn check_outside(&mut self, index: usize, target: &str) {
        {
            let needs_network = match self.find(target) {
                Some(ResourceKind::RedisCluster(_) | ResourceKind::PrivateService(_)) => true,
                Some(ResourceKind::RelationalDatabase(database)) => {
                    let access = &database.accessibility;
                    access.force_disable_public_ip
                        || matches!(
                            access.accessibility_mode,
                            AccessibilityMode::Vpc | AccessibilityMode::ScopingWorkloadsInVpc
                        )
                }
                Some(ResourceKind::OpenSearchDomain(domain)) => {
                    domain.accessibility.accessibility_mode != OpenSearchAccessibilityMode::Internet
                }
                _ => false,
            };
            if needs_network {
                self.refuse(
                    &format!("connectTo.{index}"),
                    format!("\"{target}\" can only be reached from inside the network"),
                    Some("set joinDefaultVpc: true"),
                );
            }
        }
    }

    /// The security groups of workloads that are connected to a resource, and of bastions that
    /// scripts reach it through.
    pub fn connected_groups(&self, target: &str) -> Vec<String> {
        let mut groups: Vec<String> = self
            .each()
            .filter(|(_, kind)| kind.connect_to().iter().any(|it| it == target))
            .filter(|(_, kind)| is_inside(kind))
            .map(|(name, kind)| workload_group(name, kind))
            .collect();
        let scripts = self.config.scripts.values();
        let connected = scripts.filter(|script| script.connect_to().iter().any(|it| it == target));
        for script in connected {
            let group = self
                .bastion_of(script)
                .map(|name| logical(&[name, "SecurityGroup"]));
            groups.extend(group.filter(|group| !groups.contains(group)));
        }
        groups
    }

    /// The bastion a script goes through: the one it names, or the only one.
    fn bastion_of<'s>(&'s self, script: &'s Script) -> Option<&'s str> {
        if matches!(script, Script::Local(_)) {
            return None;
        }
        let mut bastions = self
            .each()
            .filter(|(_, kind)| matches!(kind, ResourceKind::Bastion(_)))
            .map(|(name, _)| name);
        script
            .bastion_resource()
            .or_else(|| bastions.next().filter(|_| bastions.next().is_none()))
    }
}

/// Whether a workload runs inside the network.
fn is_inside(kind: &ResourceKind) -> bool {
    match kind {
        ResourceKind::Function(function) => function.join_default_vpc,
        ResourceKind::DeploymentScript(script) => script.join_default_vpc,
        ResourceKind::WebService(_)
        | ResourceKind::PrivateService(_)
        | ResourceKind::WorkerService(_)
        | ResourceKind::MultiContainerWorkload(_)
        | ResourceKind::BatchJob(_) => true,
        _ => false,
    }
}

/// The id of a workload's security group.
fn workload_group(name: &str, kind: &ResourceKind) -> String {
    match kind {
        // Jobs share their machines, and with them the machines' group.
        ResourceKind::BatchJob(_) => {
            crate::name::logical(&["Stp", "BatchInstance", "SecurityGroup"])
        }
        _ => crate::name::logical(&[name, "SecurityGroup"]),
    }
}

/// Whether only connected workloads may reach a Redis cluster.
pub(crate) fn is_scoped(mode: RedisAccessibilityMode) -> bool {
    mode == RedisAccessibilityMode::ScopingWorkloadsInVpc
}

fn executions(machine: Value) -> Vec<Value> {
    // arn:…:stateMachine:name → arn:…:execution:name:*
    let executions = match &machine {
        Value::Object(entries) => match entries.get("Fn::Sub").and_then(Value::as_str) {
            Some(text) => sub(format!(
                "{}:*",
                text.replace(":stateMachine:", ":execution:")
            )),
            None => json!("*"),
        },
        _ => json!("*"),
    };
    vec![
        allow(
            &["states:ListExecutions", "states:StartExecution"],
            vec![machine],
        ),
        allow(
            &["states:DescribeExecution", "states:StopExecution"],
            vec![executions],
        ),
    ]
}

/// A statement that allows actions on resources.
pub(crate) fn allow(actions: &[&str], resources: Vec<Value>) -> Value {
    json!({ "Effect": "Allow", "Action": actions, "Resource": resources })
}

pub(crate) fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Allow => "Allow",
        Effect::Deny => "Deny",
    }
}

const DYNAMO: [&str; 11] = [
    "dynamodb:BatchGet*",
    "dynamodb:BatchWrite*",
    "dynamodb:ConditionCheckItem",
    "dynamodb:DeleteItem",
    "dynamodb:DescribeStream",
    "dynamodb:DescribeTable",
    "dynamodb:Get*",
    "dynamodb:PutItem",
    "dynamodb:Query",
    "dynamodb:Scan",
    "dynamodb:UpdateItem",
];

const SQS: [&str; 8] = [
    "sqs:ChangeMessageVisibility",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:GetQueueUrl",
    "sqs:ListQueueTags",
    "sqs:PurgeQueue",
    "sqs:ReceiveMessage",
    "sqs:SendMessage",
];

const SNS: [&str; 6] = [
    "sns:ConfirmSubscription",
    "sns:GetTopicAttributes",
    "sns:ListSubscriptionsByTopic",
    "sns:Publish",
    "sns:Subscribe",
    "sns:Unsubscribe",
];

const KINESIS: [&str; 7] = [
    "kinesis:DescribeStream",
    "kinesis:DescribeStreamSummary",
    "kinesis:GetRecords",
    "kinesis:GetShardIterator",
    "kinesis:ListShards",
    "kinesis:PutRecord",
    "kinesis:PutRecords",
];
