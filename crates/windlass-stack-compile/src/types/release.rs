//! How a new version of a function takes over: versions, the alias, instances kept ready,
//! traffic that moves step by step.

use serde_json::{Value, json};
use windlass_stack_config::model::function::{DeploymentStrategy, Function};

use crate::cf::{attribute, reference};
use crate::name::{digest, logical};
use crate::stack::Stack;

/// The alias that calls go to.
pub(crate) const ALIAS: &str = "live";

/// Whether a function is called through an alias.
pub(crate) fn is_aliased(function: &Function) -> bool {
    function.provisioned_concurrency.is_some() || function.deployment.is_some()
}

impl Stack<'_> {
    pub fn release(&mut self, name: &str, it: &Function) {
        if !is_aliased(it) {
            return;
        }
        let function = logical(&[name, "Function"]);
        // A version never changes, so its id follows everything that makes one.
        let made_of = self
            .parts
            .get(&function)
            .map(|part| windlass_stack_config::sorted(part.properties.clone()).to_string())
            .unwrap_or_default();
        let version = logical(&[name, &format!("Version{}", digest(&made_of, 10))]);
        self.add(
            &version,
            "AWS::Lambda::Version",
            json!({ "FunctionName": reference(&function) }),
        );
        let deployment = it.deployment.as_ref().map(|deployment| {
            let group = self.deployment_group(name, deployment.strategy);
            let hook = |target: &Option<String>| {
                target
                    .as_ref()
                    .map(|target| reference(&logical(&[target, "Function"])))
            };
            json!({
                "CodeDeployLambdaAliasUpdate": {
                    "ApplicationName": reference(&logical(&["Stp", "LambdaCodeDeploy", "Application"])),
                    "DeploymentGroupName": reference(&group),
                    "BeforeAllowTrafficHook": hook(&deployment.before_allow_traffic_function),
                    "AfterAllowTrafficHook": hook(&deployment.after_traffic_shift_function),
                }
            })
        });
        let concurrency = it
            .provisioned_concurrency
            .map(|count| json!({ "ProvisionedConcurrentExecutions": count }));
        let alias = self.add(
            logical(&[name, "Stp", "Alias"]),
            "AWS::Lambda::Alias",
            json!({
                "Name": ALIAS,
                "FunctionName": reference(&function),
                "FunctionVersion": attribute(&version, "Version"),
                "ProvisionedConcurrencyConfig": concurrency,
            }),
        );
        if let Some(deployment) = deployment {
            alias.with("UpdatePolicy", crate::cf::without_nulls(deployment));
        }
    }

    fn deployment_group(&mut self, name: &str, strategy: DeploymentStrategy) -> String {
        let application = logical(&["Stp", "LambdaCodeDeploy", "Application"]);
        self.share(
            &application,
            "AWS::CodeDeploy::Application",
            |_| json!({ "ComputePlatform": "Lambda" }),
        );
        let role = self.shared_role(
            &logical(&["Stp", "CodeDeploy", "Role"]),
            "codedeploy.amazonaws.com",
            &["service-role/AWSCodeDeployRoleForLambdaLimited"],
            Vec::new(),
        );
        let hooks: Vec<Value> = self
            .each()
            .filter_map(|(_, kind)| match kind {
                windlass_stack_config::model::ResourceKind::Function(it) => it.deployment.as_ref(),
                _ => None,
            })
            .flat_map(|it| {
                [
                    &it.before_allow_traffic_function,
                    &it.after_traffic_shift_function,
                ]
            })
            .flatten()
            .map(|hook| attribute(&logical(&[hook, "Function"]), "Arn"))
            .collect();
        if !hooks.is_empty() {
            self.share(
                &logical(&["Stp", "CodeDeployHooks", "Policy"]),
                "AWS::IAM::Policy",
                |_| {
                    json!({
                        "PolicyName": "hooks",
                        "PolicyDocument": crate::shared::policy(vec![crate::connect::allow(
                            &["lambda:InvokeFunction"],
                            hooks,
                        )]),
                        "Roles": [reference(&logical(&["Stp", "CodeDeploy", "Role"]))],
                    })
                },
            );
        }
        let group = logical(&[name, "DeploymentGroup"]);
        let config = match strategy {
            DeploymentStrategy::AllAtOnce => "AllAtOnce",
            DeploymentStrategy::Canary10Percent5Minutes => "Canary10Percent5Minutes",
            DeploymentStrategy::Canary10Percent10Minutes => "Canary10Percent10Minutes",
            DeploymentStrategy::Canary10Percent15Minutes => "Canary10Percent15Minutes",
            DeploymentStrategy::Canary10Percent30Minutes => "Canary10Percent30Minutes",
            DeploymentStrategy::Linear10PercentEvery1Minute => "Linear10PercentEvery1Minute",
            DeploymentStrategy::Linear10PercentEvery2Minutes => "Linear10PercentEvery2Minutes",
            DeploymentStrategy::Linear10PercentEvery3Minutes => "Linear10PercentEvery3Minutes",
            DeploymentStrategy::Linear10PercentEvery10Minutes => "Linear10PercentEvery10Minutes",
        };
        self.add(
            &group,
            "AWS::CodeDeploy::DeploymentGroup",
            json!({
                "ApplicationName": reference(&application),
                "ServiceRoleArn": role,
                "DeploymentConfigName": format!("CodeDeployDefault.Lambda{config}"),
                "DeploymentStyle": {
                    "DeploymentType": "BLUE_GREEN",
                    "DeploymentOption": "WITH_TRAFFIC_CONTROL",
                },
                "AutoRollbackConfiguration": {
                    "Enabled": true,
                    "Events": ["DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_REQUEST"],
                },
            }),
        );
        group
    }
}
