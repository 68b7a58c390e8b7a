//! Deployment scripts and custom resources: functions that deploys call.
//!
//! Scripts are called by the deploy itself, after files are in their buckets; what they receive
//! (`parameters`) is worked out then, so it is no part of the template.

use serde_json::json;
use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::common::Logging;
use windlass_stack_config::model::function::{
    Architecture, CustomResourceDefinition, CustomResourceInstance, DeploymentScript,
    DeploymentTrigger,
};

use super::function::Code;
use crate::cf::attribute;
use crate::compiled::CompiledScript;
use crate::name::logical;
use crate::stack::Stack;
use crate::text::Tie;

impl Stack<'_> {
    pub fn deployment_script(&mut self, name: &str, it: &DeploymentScript, kind: &ResourceKind) {
        let own = self.environment(&it.environment);
        let environment = self.full_environment(kind, own);
        let statements = self.permissions(kind);
        self.check_reach(&it.connect_to, it.join_default_vpc);
        self.code(
            name,
            Code {
                packaging: &it.packaging,
                runtime: it.runtime,
                architecture: Architecture::X86_64,
                memory: it.memory,
                timeout: it.timeout,
                storage: it.storage,
                joins_network: it.join_default_vpc,
                logging: &it.logging,
                environment,
                statements,
                layers: Vec::new(),
                reserved_concurrency: None,
                tags: Vec::new(),
            },
        );
        self.scripts.push(CompiledScript {
            resource: name.to_owned(),
            logical_id: logical(&[name, "Function"]),
            function: self.physical(name, 64),
            before_delete: it.trigger == DeploymentTrigger::BeforeDelete,
        });
    }

    pub fn custom_definition(
        &mut self,
        name: &str,
        it: &CustomResourceDefinition,
        kind: &ResourceKind,
    ) {
        let own = self.environment(&it.environment);
        let environment = self.full_environment(kind, own);
        let statements = self.permissions(kind);
        self.check_reach(&it.connect_to, false);
        self.code(
            name,
            Code {
                packaging: &it.packaging,
                runtime: it.runtime,
                architecture: Architecture::X86_64,
                memory: it.memory,
                timeout: it.timeout,
                storage: 512,
                joins_network: false,
                logging: &Logging::default(),
                environment,
                statements,
                layers: Vec::new(),
                reserved_concurrency: None,
                tags: Vec::new(),
            },
        );
    }

    pub fn custom_instance(&mut self, name: &str, it: &CustomResourceInstance) {
        let mut properties = self.data_map(&it.resource_properties, Tie::Firm);
        let token = attribute(&logical(&[&it.definition_name, "Function"]), "Arn");
        properties["ServiceToken"] = token;
        let part = self.add(
            logical(&[name, "CustomResource"]),
            "AWS::CloudFormation::CustomResource",
            json!({}),
        );
        part.properties = properties;
    }
}
