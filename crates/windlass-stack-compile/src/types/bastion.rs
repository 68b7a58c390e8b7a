//! Bastions: one small machine without open ports, reached through Systems Manager.

use serde_json::{Value, json};
use windlass_stack_config::model::network::Bastion;

use crate::cf::{arn, attribute, reference};
use crate::connect::allow;
use crate::name::{bastion_group_id, logical};
use crate::stack::Stack;

impl Stack<'_> {
    pub fn bastion(&mut self, name: &str, it: &Bastion) {
        let mut files: Vec<Value> = Vec::new();
        let logs = &it.logging;
        let kinds = [
            ("messages", "/var/log/messages"),
            ("secure", "/var/log/secure"),
            ("audit", "/var/log/audit/audit.log"),
        ];
        for (part, file) in kinds {
            let group = self.log_group_name("bastion", name, part);
            let id = logical(&[name, part, "LogGroup"]);
            let made = match part {
                "messages" => self.logs(&id, group.clone(), &logs.messages),
                "secure" => self.logs(&id, group.clone(), &logs.secure),
                _ => self.logs(&id, group.clone(), &logs.audit),
            };
            if made.is_some() {
                files.push(json!({
                    "file_path": file,
                    "log_group_name": group,
                    "log_stream_name": "{instance_id}",
                }));
            }
        }
        let statements = match files.is_empty() {
            true => Vec::new(),
            false => vec![allow(
                &[
                    "logs:CreateLogStream",
                    "logs:DescribeLogStreams",
                    "logs:PutLogEvents",
                ],
                vec![arn(&format!(
                    "logs:log-group:{}:*",
                    self.log_group_name("bastion", name, "*")
                ))],
            )],
        };
        let role = logical(&[name, "Role"]);
        self.role(
            &role,
            "ec2.amazonaws.com",
            &["AmazonSSMManagedInstanceCore"],
            statements,
        );
        let profile = logical(&[name, "InstanceProfile"]);
        self.add(
            &profile,
            "AWS::IAM::InstanceProfile",
            json!({ "Roles": [reference(&role)] }),
        );
        let what = format!("The bastion {}", self.physical(name, 128));
        let group = self.security_group(&logical(&[name, "SecurityGroup"]), &what, Vec::new());
        let architecture = if is_arm(&it.instance_size) {
            "arm64"
        } else {
            "x86_64"
        };
        let mut script = "#!/bin/bash\n".to_owned();
        for command in &it.run_commands_at_launch {
            script.push_str(command);
            script.push('\n');
        }
        let template = logical(&[name, "LaunchTemplate"]);
        self.add(
            &template,
            "AWS::EC2::LaunchTemplate",
            json!({
                "LaunchTemplateData": {
                    "ImageId": format!(
                        "{{{{resolve:ssm:/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-{architecture}}}}}"
                    ),
                    "InstanceType": it.instance_size,
                    "IamInstanceProfile": { "Arn": attribute(&profile, "Arn") },
                    "SecurityGroupIds": [group],
                    "MetadataOptions": { "HttpTokens": "required" },
                    "UserData": (!it.run_commands_at_launch.is_empty())
                        .then(|| json!({ "Fn::Base64": script })),
                },
            }),
        );
        let subnets = self.network().public_subnets;
        let machines = bastion_group_id(name);
        self.add(
            &machines,
            "AWS::AutoScaling::AutoScalingGroup",
            json!({
                "MinSize": "1",
                "MaxSize": "1",
                "VPCZoneIdentifier": subnets,
                "LaunchTemplate": {
                    "LaunchTemplateId": reference(&template),
                    "Version": attribute(&template, "LatestVersionNumber"),
                },
                "Tags": [{
                    "Key": "Name",
                    "Value": self.physical(name, 128),
                    "PropagateAtLaunch": true,
                }],
            }),
        );
        if !files.is_empty() {
            self.bastion_logs(name, &machines, files);
        }
    }

    /// Installs what sends the machine's logs.
    fn bastion_logs(&mut self, name: &str, machines: &str, files: Vec<Value>) {
        let config =
            json!({ "logs": { "logs_collected": { "files": { "collect_list": files } } } });
        let config = windlass_stack_config::sorted(config).to_string();
        let folder = "/opt/aws/amazon-cloudwatch-agent";
        let document = logical(&[name, "CwAgent", "Document"]);
        self.add(
            &document,
            "AWS::SSM::Document",
            json!({
                "DocumentType": "Command",
                "DocumentFormat": "JSON",
                "UpdateMethod": "NewVersion",
                "Content": {
                    "schemaVersion": "2.2",
                    "description": "Sends the machine's logs",
                    "mainSteps": [{
                        "action": "aws:runShellScript",
                        "name": "logs",
                        "inputs": { "runCommand": [
                            "dnf install -y amazon-cloudwatch-agent rsyslog audit",
                            "systemctl enable --now rsyslog auditd",
                            format!("cat > {folder}/etc/windlass.json <<'END'\n{config}\nEND"),
                            format!(
                                "{folder}/bin/amazon-cloudwatch-agent-ctl -a fetch-config -m ec2 -s -c file:{folder}/etc/windlass.json"
                            ),
                        ] },
                    }],
                },
            }),
        );
        self.add(
            logical(&[name, "CwAgent", "Association"]),
            "AWS::SSM::Association",
            json!({
                "Name": reference(&document),
                "Targets": [{
                    "Key": "tag:aws:autoscaling:groupName",
                    "Values": [reference(machines)],
                }],
            }),
        );
    }
}

/// Whether an instance type has Arm processors: a `g` after the generation's number.
fn is_arm(size: &str) -> bool {
    let family = size.split('.').next().unwrap_or(size);
    let after = family.trim_start_matches(|it: char| it.is_ascii_alphabetic());
    after.contains('g') || family == "a1"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_of_machines() {
        for (size, expected) in [
            ("t3.micro", false),
            ("t4g.nano", true),
            ("m6gd.large", true),
            ("g5.xlarge", false),
            ("c7gn.medium", true),
            ("a1.large", true),
        ] {
            assert_eq!(is_arm(size), expected, "{size}");
        }
    }
}
