//! The bastion: which machine it is at the moment.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_ports::MessageSockets;
use windlass_ports::aws::{ActionShape, SignedCall, services};
use windlass_secrets::Redactor;
use windlass_types::{Problem, code};

use crate::access::Access;
use crate::fault::Fault;

const DESCRIBE: ActionShape = ActionShape::new(&services::AUTOSCALING, "DescribeAutoScalingGroups");

/// The type of the resource that keeps a bastion's machine running.
pub const GROUP_TYPE: &str = "AWS::AutoScaling::AutoScalingGroup";

/// What sessions are made with.
#[derive(Clone)]
pub struct Reach {
    /// AWS, time and randomness.
    pub access: Access,
    /// Sockets for data channels.
    pub sockets: Arc<dyn MessageSockets>,
    /// Takes tokens of sessions out of what is said.
    pub redactor: Redactor,
}

/// A bastion whose machine runs.
#[derive(Clone)]
pub struct Bastion {
    pub(crate) reach: Reach,
    pub(crate) name: String,
    pub(crate) instance: String,
}

impl Bastion {
    /// The machine that is in service in the group of a bastion; `name` is what users call it.
    pub async fn of_group(reach: &Reach, name: &str, group: &str) -> Result<Self, Problem> {
        let access = &reach.access;
        let call = SignedCall::new(DESCRIBE, json!({ "AutoScalingGroupNames": [group] }));
        let answer = access
            .cloud
            .call(&access.target, call)
            .await
            .map_err(Fault::problem)?;
        let machines = answer
            .pointer("/AutoScalingGroups/0/Instances")
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice);
        match in_service(machines) {
            Some(instance) => Ok(Self {
                reach: reach.clone(),
                name: name.to_owned(),
                instance: instance.to_owned(),
            }),
            None => Err(not_running(name, group, machines)),
        }
    }

    /// What users call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The machine.
    pub fn instance_id(&self) -> &str {
        &self.instance
    }
}

fn text<'a>(machine: &'a Value, name: &str) -> &'a str {
    machine
        .get(name)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// A machine in service; a healthy one before others.
fn in_service(machines: &[Value]) -> Option<&str> {
    let ready = machines.iter().filter(|machine| {
        text(machine, "LifecycleState") == "InService" && !text(machine, "InstanceId").is_empty()
    });
    let chosen = ready
        .clone()
        .find(|machine| text(machine, "HealthStatus") == "Healthy");
    chosen
        .or_else(|| ready.clone().next())
        .map(|machine| text(machine, "InstanceId"))
}

fn not_running(name: &str, group: &str, machines: &[Value]) -> Problem {
    let states: Vec<String> = machines
        .iter()
        .map(|machine| {
            let (id, state) = (text(machine, "InstanceId"), text(machine, "LifecycleState"));
            format!("{id} is {state}")
        })
        .collect();
    let why = match states.is_empty() {
        true => "its group has none".to_owned(),
        false => states.join(", "),
    };
    Problem::new(
        &code::NOT_FOUND,
        format!("the bastion {name} has no machine in service: {why}"),
    )
    .with("reason", "bastion_not_running")
    .with("kind", "instance")
    .with("name", name)
    .with("group", group)
    .next("wait until the machine has been started, then repeat")
    .next(format!(
        "else look at the activity of the Auto Scaling group {group}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_in_service_is_chosen() {
        let machine = |id: &str, state: &str, health: &str| json!({ "InstanceId": id, "LifecycleState": state, "HealthStatus": health });
        for (machines, expected) in [
            (vec![], None),
            (vec![machine("i-1", "Pending", "Healthy")], None),
            (
                vec![
                    machine("i-1", "Terminating", "Healthy"),
                    machine("i-2", "InService", "Healthy"),
                ],
                Some("i-2"),
            ),
            (
                vec![
                    machine("i-1", "InService", "Unhealthy"),
                    machine("i-2", "InService", "Healthy"),
                ],
                Some("i-2"),
            ),
            (vec![machine("i-1", "InService", "Unhealthy")], Some("i-1")),
        ] {
            assert_eq!(in_service(&machines), expected);
        }
        let problem = not_running("jump", "g-1", &[machine("i-1", "Pending", "Healthy")]);
        assert_eq!(
            problem.message(),
            "the bastion jump has no machine in service: i-1 is Pending"
        );
        assert_eq!(problem.details()["reason"], "bastion_not_running");
        assert_eq!(problem.next_actions().len(), 2);
    }
}
