//! Parts that many types have: roles, log groups, security groups, policies.

use serde_json::{Value, json};
use windlass_stack_config::model::common::{LogForwarding, Logging, ResourcePolicyStatement};

use crate::cf::{self, attribute};
use crate::connect::effect;
use crate::stack::Stack;
use crate::text::Tie;

impl Stack<'_> {
    /// A role that a service of AWS may assume; returns its ARN.
    pub fn role(
        &mut self,
        id: &str,
        service: &str,
        managed: &[&str],
        statements: Vec<Value>,
    ) -> Value {
        let properties = role(service, managed, statements);
        self.add(id, "AWS::IAM::Role", properties);
        attribute(id, "Arn")
    }

    /// A role that several resources share.
    pub fn shared_role(
        &mut self,
        id: &str,
        service: &str,
        managed: &[&str],
        statements: Vec<Value>,
    ) -> Value {
        self.share(id, "AWS::IAM::Role", |_| role(service, managed, statements));
        attribute(id, "Arn")
    }

    /// A log group, unless logs are off; returns its id.
    pub fn logs<const DAYS: u32>(
        &mut self,
        id: &str,
        group: String,
        logging: &Logging<DAYS>,
    ) -> Option<String> {
        if logging.disabled {
            return None;
        }
        self.log_group(
            id,
            group,
            logging.retention_days,
            logging.log_forwarding.as_ref(),
        );
        Some(id.to_owned())
    }

    pub fn log_group(
        &mut self,
        id: &str,
        group: String,
        days: u32,
        forwarding: Option<&LogForwarding>,
    ) {
        self.add(
            id,
            "AWS::Logs::LogGroup",
            json!({ "LogGroupName": group, "RetentionInDays": days }),
        );
        if let Some(forwarding) = forwarding {
            self.forward_logs(id, forwarding);
        }
    }

    /// A security group; all traffic may leave it.
    pub fn security_group(&mut self, id: &str, what: &str, ingress: Vec<Value>) -> Value {
        let vpc = self.network().vpc;
        let ingress = (!ingress.is_empty()).then_some(ingress);
        self.add(
            id,
            "AWS::EC2::SecurityGroup",
            json!({
                "GroupDescription": what,
                "VpcId": vpc,
                "SecurityGroupIngress": ingress,
            }),
        );
        attribute(id, "GroupId")
    }

    /// A statement of a resource's own policy; without resources it is about `itself`.
    pub fn policy_statement(
        &mut self,
        statement: &ResourcePolicyStatement,
        itself: &[Value],
    ) -> Value {
        let actions = self.texts(&statement.action);
        let resources = match statement.resource.is_empty() {
            true => itself.to_vec(),
            false => self.texts(&statement.resource),
        };
        let principal = self.data(&statement.principal, Tie::Firm);
        let condition = statement
            .condition
            .as_ref()
            .map(|condition| self.data(condition, Tie::Firm));
        json!({
            "Sid": statement.sid,
            "Effect": effect(statement.effect),
            "Principal": principal,
            "Action": actions,
            "Resource": resources,
            "Condition": condition,
        })
    }
}

/// Traffic to one port from somewhere: a range of addresses or a security group.
pub(crate) fn from_range(port: Value, range: Value) -> Value {
    json!({
        "IpProtocol": "tcp",
        "FromPort": port,
        "ToPort": port,
        "CidrIp": range,
    })
}

pub(crate) fn from_group(port: Value, group: &str) -> Value {
    json!({
        "IpProtocol": "tcp",
        "FromPort": port,
        "ToPort": port,
        "SourceSecurityGroupId": attribute(group, "GroupId"),
    })
}

pub(crate) fn policy(statements: Vec<Value>) -> Value {
    json!({ "Version": "2012-10-17", "Statement": statements })
}

fn role(service: &str, managed: &[&str], statements: Vec<Value>) -> Value {
    let managed: Vec<Value> = managed
        .iter()
        .map(|name| cf::managed_policy(name))
        .collect();
    let policies = (!statements.is_empty())
        .then(|| json!([{ "PolicyName": "windlass", "PolicyDocument": policy(statements) }]));
    json!({
        "AssumeRolePolicyDocument": policy(vec![json!({
            "Effect": "Allow",
            "Principal": { "Service": service },
            "Action": "sts:AssumeRole",
        })]),
        "ManagedPolicyArns": (!managed.is_empty()).then_some(managed),
        "Policies": policies,
    })
}
