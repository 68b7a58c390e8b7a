//! The bastion's machine, found in moto's groups by the real adapter.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_aws::Aws;
use windlass_config::env::Environment;
use windlass_ports::aws::{ActionShape, AwsCalls as _, SignedCall, Target, services};
use windlass_secrets::Redactor;
use windlass_stack_diagnose::access::Access;
use windlass_stack_diagnose::session::{Bastion, Reach};
use windlass_system::{OsEntropy, SystemClock};
use windlass_testkit::agent::SessionAgent;
use windlass_testkit::servers::Moto;

#[tokio::test]
async fn the_machine_of_a_group_is_found() {
    let Some(server) = Moto::start() else {
        return;
    };
    let home = tempfile::tempdir().unwrap();
    let home = home.path().display().to_string();
    let environment = Environment::from_pairs([
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
        ("AWS_REGION", "eu-west-1"),
        ("AWS_ENDPOINT_URL", server.url()),
        ("AWS_EC2_METADATA_DISABLED", "true"),
        ("HOME", home.as_str()),
    ]);
    let aws = Aws::new(&environment, Arc::new(SystemClock), Arc::new(OsEntropy));
    let set = async |action: &'static str, input: Value| {
        let call = SignedCall::new(ActionShape::new(&services::AUTOSCALING, action), input);
        aws.call(&Target::default(), call).await.unwrap();
    };
    set(
        "CreateLaunchConfiguration",
        json!({ "LaunchConfigurationName": "l", "ImageId": "ami-12c6146b", "InstanceType": "t3.micro" }),
    )
    .await;
    for (name, size) in [("jump", "1"), ("empty", "0")] {
        set(
            "CreateAutoScalingGroup",
            json!({
                "AutoScalingGroupName": name, "LaunchConfigurationName": "l",
                "MinSize": size, "MaxSize": "1", "AvailabilityZones": ["eu-west-1a"],
            }),
        )
        .await;
    }
    let reach = Reach {
        access: Access {
            cloud: Arc::new(aws),
            clock: Arc::new(SystemClock),
            entropy: Arc::new(OsEntropy),
            target: Target::default(),
        },
        sockets: Arc::new(SessionAgent::default()),
        redactor: Redactor::new(),
    };
    let bastion = Bastion::of_group(&reach, "jump", "jump").await.unwrap();
    let id = bastion.instance_id();
    assert!(id.starts_with("i-"), "{id}");
    for group in ["empty", "gone"] {
        let Err(problem) = Bastion::of_group(&reach, "jump", group).await else {
            panic!("{group} has no machine");
        };
        assert_eq!(problem.details()["reason"], "bastion_not_running");
    }
}
