//! The input of a compilation besides the config: the destination, and what was found out before.

use std::collections::{BTreeMap, BTreeSet};

/// What is known of the stack and of the world.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The project's name.
    pub project: String,
    /// The stage.
    pub stage: String,
    /// The region.
    pub region: String,
    /// The account, where it is known. Bucket names depend on it.
    pub account_id: Option<String>,
    /// The version of Windlass, for the stack's tags.
    pub version: String,
    /// What was packaged, by the names of [`needed_artifacts`](crate::needed_artifacts).
    pub artifacts: BTreeMap<String, Artifact>,
    /// The current version of each secret. A secret whose version is known is pinned to it, so a
    /// new value is a change of the stack.
    pub secret_versions: BTreeMap<String, String>,
    /// Parameters of the Parameter Store that are encrypted.
    pub secure_parameters: BTreeSet<String>,
    /// The hosted zones of the account, name → id. None where not looked up.
    pub hosted_zones: Option<BTreeMap<String, String>>,
    /// The network that `stackConfig.vpc.reuseVpc` names.
    pub network: Option<Network>,
}

impl Facts {
    /// Facts of a stack about which nothing else is known.
    pub fn new(project: &str, stage: &str, region: &str) -> Self {
        Self {
            project: project.to_owned(),
            stage: stage.to_owned(),
            region: region.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..Self::default()
        }
    }

    /// The stack's name.
    pub fn stack_name(&self) -> String {
        format!("{}-{}", self.project, self.stage)
    }
}

/// What packaging made of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Artifact {
    /// A function's package.
    Zip {
        /// The bucket of the asset store.
        bucket: String,
        /// The key inside.
        key: String,
        /// The digest of the zip.
        sha256: String,
        /// The handler as Lambda writes it, where packaging decided on it.
        handler: Option<String>,
    },
    /// A container's image.
    Image {
        /// The image's address, with its tag or digest.
        uri: String,
    },
}

/// A network that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// The VPC's id.
    pub vpc_id: String,
    /// Its addresses.
    pub cidr: String,
    /// Ids of subnets that reach the internet directly; at least two.
    pub public_subnets: Vec<String>,
    /// Ids of subnets that reach it through a NAT gateway.
    pub private_subnets: Vec<String>,
}
