//! Batch jobs: a job definition, machines that come and go, and a state machine that submits
//! the job and tries again. Events start the state machine through a small function.

use serde_json::{Value, json};
use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::container::BatchJob;

use super::state_machine::waiting_rule;
use crate::cf::{self, arn, attribute, reference};
use crate::connect::allow;
use crate::name::logical;
use crate::stack::Stack;
use crate::text::expressions_text;

/// The most processors that run jobs of one kind at once.
const MOST_CPUS: u32 = 256;

/// The function that starts a job when something happens.
const TRIGGER: &str = "\
import json
import os

import boto3

client = boto3.client(\"stepfunctions\")


def handler(event, context):
    started = client.start_execution(
        stateMachineArn=os.environ[\"STATE_MACHINE_ARN\"], input=json.dumps(event, default=str)
    )
    body = json.dumps({\"executionArn\": started[\"executionArn\"]})
    return {\"statusCode\": 200, \"headers\": {\"content-type\": \"application/json\"}, \"body\": body}
";

/// Which machines a job runs on.
fn machines(job: &BatchJob) -> &'static str {
    match (job.use_spot_instances, job.resources.gpu.is_some()) {
        (true, true) => "Batch-spot-gpu",
        (true, false) => "Batch-spot",
        (false, true) => "Batch-onDemand-gpu",
        (false, false) => "Batch-onDemand",
    }
}

impl Stack<'_> {
    /// The ARN of the queue that a job is submitted to.
    pub fn batch_queue_arn(&self, name: &str) -> Value {
        match self.find(name) {
            Some(ResourceKind::BatchJob(job)) => {
                reference(&logical(&["Stp", machines(job), "JobQueue"]))
            }
            _ => json!("*"),
        }
    }

    /// What events of a job call.
    pub fn trigger_target(&self, name: &str) -> Value {
        attribute(&logical(&[name, "Trigger", "Function"]), "Arn")
    }

    pub fn batch_job(&mut self, name: &str, it: &BatchJob, kind: &ResourceKind) {
        let queue = self.batch_machines(it);
        let definition = self.job_definition(name, it, kind);
        let machine = self.job_machine(name, it, &definition, &queue);
        if !it.events.is_empty() {
            self.job_trigger(name, it, &machine);
            let target = self.trigger_target(name);
            self.events(name, &it.events, &target);
        }
    }

    fn job_definition(&mut self, name: &str, it: &BatchJob, kind: &ResourceKind) -> String {
        let image = self.image(name, &it.container.packaging);
        if image.entry_point.is_some() {
            self.refuse(
                "container.packaging.properties.entryPoint",
                "AWS Batch has no setting for an entry point",
                Some("put it into the image, or use command"),
            );
        }
        if image.credentials.is_some() {
            self.refuse(
                "container.packaging.properties.repositoryCredentialsSecretArn",
                "private registries are not supported for batch jobs yet",
                Some("push the image to ECR"),
            );
        }
        let own = self.environment(&it.container.environment);
        let environment: Vec<Value> = self
            .full_environment(kind, own)
            .into_iter()
            .map(|(name, value)| json!({ "Name": name, "Value": value }))
            .collect();
        let statements = self.permissions(kind);
        let role = self.role(
            &logical(&[name, "Role"]),
            "ecs-tasks.amazonaws.com",
            &[],
            statements,
        );
        let execution = self.execution_role();
        let group = self.log_group_name("batch", name, "job");
        let logs = self.logs(&logical(&[name, "LogGroup"]), group, &it.logging);
        let logs = logs.map(|id| {
            json!({
                "LogDriver": "awslogs",
                "Options": {
                    "awslogs-group": reference(&id),
                    "awslogs-region": { "Ref": "AWS::Region" },
                    "awslogs-stream-prefix": "job",
                },
            })
        });
        let cpus = it.resources.cpu.ceil();
        if cpus > it.resources.cpu {
            self.warn(
                "resources.cpu",
                format!("AWS Batch gives whole processors on EC2: the job gets {cpus}"),
            );
        }
        let mut requirements = vec![
            json!({ "Type": "VCPU", "Value": cpus.to_string() }),
            json!({ "Type": "MEMORY", "Value": it.resources.memory.to_string() }),
        ];
        if let Some(gpu) = it.resources.gpu {
            requirements.push(json!({ "Type": "GPU", "Value": gpu.to_string() }));
        }
        let id = logical(&[name, "JobDefinition"]);
        self.add(
            &id,
            "AWS::Batch::JobDefinition",
            json!({
                "JobDefinitionName": self.physical(name, 128),
                "Type": "container",
                "PlatformCapabilities": ["EC2"],
                "PropagateTags": true,
                "RetryStrategy": { "Attempts": 1 },
                "Timeout": it.timeout.map(|seconds| json!({ "AttemptDurationSeconds": seconds })),
                "ContainerProperties": {
                    "Image": image.uri,
                    "Command": image.command,
                    "JobRoleArn": role,
                    "ExecutionRoleArn": execution,
                    "ResourceRequirements": requirements,
                    "Environment": (!environment.is_empty()).then_some(environment),
                    "LogConfiguration": logs,
                },
            }),
        );
        id
    }

    /// The machines, shared by all jobs of one kind; returns the queue's id.
    fn batch_machines(&mut self, it: &BatchJob) -> String {
        let which = machines(it);
        let group_id = logical(&["Stp", "BatchInstance", "SecurityGroup"]);
        let vpc = self.network().vpc;
        self.share(
            &group_id,
            "AWS::EC2::SecurityGroup",
            |_| json!({ "GroupDescription": "Machines of batch jobs", "VpcId": vpc }),
        );
        let profile = self.instance_profile("BatchInstance", "AmazonEC2ContainerServiceforEC2Role");
        let template = logical(&["Stp", "BatchInstance", "LaunchTemplate"]);
        self.share(&template, "AWS::EC2::LaunchTemplate", |_| {
            json!({
                "LaunchTemplateData": {
                    "MetadataOptions": { "HttpTokens": "required", "HttpPutResponseHopLimit": 2 },
                },
            })
        });
        let subnets = self.network().public_subnets;
        let environment = logical(&["Stp", which, "ComputeEnvironment"]);
        let types: Value = match it.resources.gpu {
            Some(_) => json!(["g4dn", "g5"]),
            None => json!(["optimal"]),
        };
        let (kind, strategy) = match it.use_spot_instances {
            true => ("SPOT", "SPOT_CAPACITY_OPTIMIZED"),
            false => ("EC2", "BEST_FIT_PROGRESSIVE"),
        };
        self.share(&environment, "AWS::Batch::ComputeEnvironment", |_| {
            json!({
                "Type": "MANAGED",
                "State": "ENABLED",
                "ReplaceComputeEnvironment": false,
                "ComputeResources": {
                    "Type": kind,
                    "AllocationStrategy": strategy,
                    "MinvCpus": 0,
                    "MaxvCpus": MOST_CPUS,
                    "InstanceTypes": types,
                    "InstanceRole": attribute(&profile, "Arn"),
                    "SecurityGroupIds": [attribute(&group_id, "GroupId")],
                    "Subnets": subnets,
                    "LaunchTemplate": {
                        "LaunchTemplateId": reference(&template),
                        "Version": "$Latest",
                    },
                },
            })
        });
        let queue = logical(&["Stp", which, "JobQueue"]);
        self.share(&queue, "AWS::Batch::JobQueue", |_| {
            json!({
                "Priority": 1,
                "State": "ENABLED",
                "ComputeEnvironmentOrder": [
                    { "Order": 1, "ComputeEnvironment": reference(&environment) },
                ],
            })
        })
    }

    fn job_machine(&mut self, name: &str, it: &BatchJob, definition: &str, queue: &str) -> String {
        let role = self.shared_role(
            &logical(&["Stp", "BatchStateMachine", "Role"]),
            "states.amazonaws.com",
            &[],
            vec![
                allow(
                    &["batch:SubmitJob"],
                    vec![
                        arn(&format!(
                            "batch:job-definition/{}-*",
                            self.facts.stack_name()
                        )),
                        arn("batch:job-queue/*"),
                    ],
                ),
                // These know no resource.
                allow(
                    &["batch:DescribeJobs", "batch:TerminateJob"],
                    vec![json!("*")],
                ),
                waiting_rule(),
            ],
        );
        let retry = &it.retry_config;
        let retries = (retry.attempts > 1).then(|| {
            json!([{
                "ErrorEquals": ["States.ALL"],
                "MaxAttempts": retry.attempts - 1,
                "IntervalSeconds": retry.retry_interval_seconds.max(1),
                "BackoffRate": retry.retry_interval_multiplier,
            }])
        });
        let state = cf::without_nulls(json!({
            "Type": "Task",
            "Resource": { "Fn::Sub": "arn:${AWS::Partition}:states:::batch:submitJob.sync" },
            "Parameters": {
                "JobName": self.physical(name, 128),
                "JobDefinition": reference(definition),
                "JobQueue": reference(queue),
                "ContainerOverrides": {
                    "Environment": [{
                        "Name": "STP_TRIGGER_EVENT_DATA",
                        "Value.$": "States.JsonToString($)",
                    }],
                },
            },
            "Retry": retries,
            "End": true,
        }));
        let text = expressions_text(&json!({ "StartAt": "Job", "States": { "Job": state } }));
        let id = logical(&[name, "JobExecution", "StateMachine"]);
        self.add(
            &id,
            "AWS::StepFunctions::StateMachine",
            json!({
                "StateMachineName": self.physical(name, 80),
                "RoleArn": role,
                "DefinitionString": text,
            }),
        );
        id
    }

    fn job_trigger(&mut self, name: &str, it: &BatchJob, machine: &str) {
        let function = self.physical(&format!("{name}-trigger"), 64);
        let group = format!("/aws/lambda/{function}");
        let group_id = logical(&[name, "Trigger", "LogGroup"]);
        self.log_group(&group_id, group.clone(), 30, None);
        let mut statements = vec![
            allow(
                &["logs:CreateLogStream", "logs:PutLogEvents"],
                vec![arn(&format!("logs:log-group:{group}:*"))],
            ),
            allow(&["states:StartExecution"], vec![reference(machine)]),
        ];
        statements.extend(self.event_permissions(name, &it.events));
        let role = self.role(
            &logical(&[name, "Trigger", "Role"]),
            "lambda.amazonaws.com",
            &[],
            statements,
        );
        self.add(
            logical(&[name, "Trigger", "Function"]),
            "AWS::Lambda::Function",
            json!({
                "FunctionName": function,
                "Runtime": "python3.13",
                "Handler": "index.handler",
                "Code": { "ZipFile": TRIGGER },
                "Role": role,
                "Timeout": 30,
                "MemorySize": 128,
                "Environment": { "Variables": { "STATE_MACHINE_ARN": reference(machine) } },
            }),
        )
        .after(group_id);
    }
}
