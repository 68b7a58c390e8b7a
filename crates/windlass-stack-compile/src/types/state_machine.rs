//! State machines. Their role may call what the definition names by `$ResourceParam`.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::messaging::{StateMachine, StateMachineDefinition};
use windlass_stack_config::{Data, DataMap, Runtime};

use crate::cf::arn;
use crate::connect::allow;
use crate::name::logical;
use crate::stack::Stack;
use crate::text::Tie;

impl Stack<'_> {
    pub fn state_machine(&mut self, name: &str, it: &StateMachine) {
        let definition = definition(&it.definition);
        let mut used = BTreeSet::new();
        definition.each_runtime(&mut |runtime| {
            if let Runtime::ResourceParam { resource, .. } = runtime {
                used.insert(resource.clone());
            }
        });
        let mut statements = Vec::new();
        for resource in used {
            statements.extend(self.task_permissions(&resource));
        }
        let role = self.role(
            &logical(&[name, "Role"]),
            "states.amazonaws.com",
            &[],
            statements,
        );
        let text = self.json_text(&definition, Tie::Loose);
        self.add(
            logical(&[name, "StateMachine"]),
            "AWS::StepFunctions::StateMachine",
            json!({
                "StateMachineName": self.physical(name, 80),
                "StateMachineType": "STANDARD",
                "RoleArn": role,
                "DefinitionString": text,
            }),
        );
    }

    /// What a state machine may do to a resource that its definition names.
    fn task_permissions(&mut self, resource: &str) -> Vec<Value> {
        let Some(kind) = self.find(resource) else {
            return Vec::new();
        };
        let own = |stack: &mut Self, actions: &[&str], param: &str| {
            let target = stack.param(resource, param, Tie::Loose);
            vec![allow(actions, vec![target])]
        };
        match kind {
            ResourceKind::Function(_) => {
                vec![allow(
                    &["lambda:InvokeFunction"],
                    self.function_and_versions(resource),
                )]
            }
            ResourceKind::SqsQueue(_) => own(self, &["sqs:SendMessage"], "arn"),
            ResourceKind::SnsTopic(_) => own(self, &["sns:Publish"], "arn"),
            ResourceKind::EventBus(_) => own(self, &["events:PutEvents"], "arn"),
            ResourceKind::DynamoDbTable(_) => own(
                self,
                &[
                    "dynamodb:DeleteItem",
                    "dynamodb:GetItem",
                    "dynamodb:PutItem",
                    "dynamodb:Query",
                    "dynamodb:UpdateItem",
                ],
                "arn",
            ),
            ResourceKind::StateMachine(_) => {
                let mut statements = own(self, &["states:StartExecution"], "arn");
                statements.extend(following(arn("states:execution:*")));
                statements
            }
            ResourceKind::BatchJob(_) => {
                let mut statements = own(self, &["states:StartExecution"], "stateMachineArn");
                statements.extend(following(arn("states:execution:*")));
                let job = arn(&format!(
                    "batch:job-definition/{}*",
                    self.physical(resource, 128)
                ));
                let queue = self.batch_queue_arn(resource);
                statements.push(allow(&["batch:SubmitJob"], vec![job, queue]));
                statements.push(allow(
                    &["batch:DescribeJobs", "batch:TerminateJob"],
                    vec![json!("*")],
                ));
                statements
            }
            _ => Vec::new(),
        }
    }
}

/// What is needed to wait for something to end: Step Functions keeps a rule for that.
pub(crate) fn following(executions: Value) -> Vec<Value> {
    vec![
        allow(
            &["states:DescribeExecution", "states:StopExecution"],
            vec![executions],
        ),
        waiting_rule(),
    ]
}

pub(crate) fn waiting_rule() -> Value {
    allow(
        &["events:DescribeRule", "events:PutRule", "events:PutTargets"],
        vec![arn("events:rule/StepFunctions*")],
    )
}

fn definition(it: &StateMachineDefinition) -> Data {
    let mut map = DataMap::new();
    map.insert("StartAt".to_owned(), Data::String(it.start_at.clone()));
    map.insert("States".to_owned(), Data::Map(it.states.clone()));
    for (key, value) in [
        ("Comment", &it.comment),
        ("Version", &it.version),
        ("QueryLanguage", &it.query_language),
    ] {
        if let Some(value) = value {
            map.insert(key.to_owned(), Data::String(value.clone()));
        }
    }
    if let Some(seconds) = it.timeout_seconds {
        map.insert("TimeoutSeconds".to_owned(), Data::Number(seconds.into()));
    }
    Data::Map(map)
}
