//! EC2 machines for containers, where a workload names instance types.

use serde_json::{Value, json};
use windlass_stack_config::model::function::Architecture;

use super::task::Workload;
use crate::cf::{attribute, reference};
use crate::name::logical;
use crate::stack::Stack;

impl Stack<'_> {
    /// The machines of a workload; returns the id of their capacity provider.
    pub fn capacity(&mut self, it: &Workload<'_>, cluster: &str) -> String {
        let name = it.name;
        let group = attribute(&logical(&[name, "SecurityGroup"]), "GroupId");
        let profile = self.instance_profile("EcsInstance", "AmazonEC2ContainerServiceforEC2Role");
        let image = match it.resources.architecture {
            Architecture::X86_64 => {
                "/aws/service/ecs/optimized-ami/amazon-linux-2023/recommended/image_id"
            }
            Architecture::Arm64 => {
                "/aws/service/ecs/optimized-ami/amazon-linux-2023/arm64/recommended/image_id"
            }
        };
        let cluster_name = self.physical(name, 255);
        let script =
            format!("#!/bin/bash\necho ECS_CLUSTER={cluster_name} >> /etc/ecs/ecs.config\n");
        let template = logical(&[name, "LaunchTemplate"]);
        self.add(
            &template,
            "AWS::EC2::LaunchTemplate",
            json!({
                "LaunchTemplateData": {
                    "ImageId": format!("{{{{resolve:ssm:{image}}}}}"),
                    "IamInstanceProfile": { "Arn": attribute(&profile, "Arn") },
                    "SecurityGroupIds": [group],
                    "MetadataOptions": { "HttpTokens": "required", "HttpPutResponseHopLimit": 2 },
                    "UserData": { "Fn::Base64": script },
                },
            }),
        );
        let overrides: Vec<Value> = it
            .resources
            .instance_types
            .iter()
            .map(|kind| json!({ "InstanceType": kind }))
            .collect();
        let (subnets, _) = self.workload_subnets(it.is_private);
        let machines = logical(&[name, "AutoScalingGroup"]);
        let most = it.scaling.max_instances.max(1);
        self.add(
            &machines,
            "AWS::AutoScaling::AutoScalingGroup",
            json!({
                "MinSize": "0",
                // Room for old and new instances during a deploy.
                "MaxSize": (most * 2).to_string(),
                "VPCZoneIdentifier": subnets,
                "NewInstancesProtectedFromScaleIn": false,
                "MixedInstancesPolicy": {
                    "LaunchTemplate": {
                        "LaunchTemplateSpecification": {
                            "LaunchTemplateId": reference(&template),
                            "Version": attribute(&template, "LatestVersionNumber"),
                        },
                        "Overrides": overrides,
                    },
                    "InstancesDistribution": { "OnDemandPercentageAboveBaseCapacity": 100 },
                },
            }),
        );
        if it.resources.enable_warm_pool == Some(true) {
            self.add(
                logical(&[name, "WarmPool"]),
                "AWS::AutoScaling::WarmPool",
                json!({
                    "AutoScalingGroupName": reference(&machines),
                    "PoolState": "Stopped",
                    "MinSize": 1,
                }),
            );
        }
        let provider = logical(&[name, "CapacityProvider"]);
        self.add(
            &provider,
            "AWS::ECS::CapacityProvider",
            json!({
                "AutoScalingGroupProvider": {
                    "AutoScalingGroupArn": reference(&machines),
                    "ManagedScaling": { "Status": "ENABLED", "TargetCapacity": 100 },
                    "ManagedTerminationProtection": "DISABLED",
                },
            }),
        );
        self.add(
            logical(&[name, "ClusterCapacityProviderAssociations"]),
            "AWS::ECS::ClusterCapacityProviderAssociations",
            json!({
                "Cluster": reference(cluster),
                "CapacityProviders": [reference(&provider)],
                "DefaultCapacityProviderStrategy": [
                    { "CapacityProvider": reference(&provider), "Weight": 1 },
                ],
            }),
        );
        provider
    }

    /// The role of machines that run containers, shared; returns the profile's id.
    pub fn instance_profile(&mut self, who: &str, policy: &str) -> String {
        let role = logical(&["Stp", who, "Role"]);
        self.shared_role(
            &role,
            "ec2.amazonaws.com",
            &[&format!("service-role/{policy}")],
            Vec::new(),
        );
        let id = logical(&["Stp", who, "InstanceProfile"]);
        self.share(
            &id,
            "AWS::IAM::InstanceProfile",
            |_| json!({ "Roles": [reference(&role)] }),
        )
    }
}
