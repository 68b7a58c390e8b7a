//! What a compilation gives.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::refusal::Remark;

/// A template, and what deploying it needs to know.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// The template, keys in order.
    pub template: Value,
    /// Every resource of the template, by logical id.
    pub resources: BTreeMap<String, CompiledResource>,
    /// Every output, by its name in the template.
    pub outputs: BTreeMap<String, Output>,
    /// Tags of the stack; CloudFormation gives them to every resource.
    pub tags: BTreeMap<String, String>,
    /// What CloudFormation must be allowed to do.
    pub capabilities: Vec<&'static str>,
    /// Secrets the template reads.
    pub secrets: BTreeSet<SecretUse>,
    /// Names of the Parameter Store's parameters the template reads.
    pub parameters: BTreeSet<String>,
    /// Buckets whose files are put there after the deploy.
    pub synced_buckets: Vec<SyncedBucket>,
    /// Scripts that are called during a deploy or a delete.
    pub scripts: Vec<CompiledScript>,
    /// What to know.
    pub warnings: Vec<Remark>,
}

impl Compiled {
    /// The template as CloudFormation gets it: JSON without spaces.
    pub fn body(&self) -> String {
        self.template.to_string()
    }
}

/// One resource of the template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompiledResource {
    /// The config's resource it was made from; none for what several share, and for
    /// `cloudformationResources`.
    pub resource: Option<String>,
    /// CloudFormation's type.
    pub cf_type: String,
    /// Whether data is lost with it.
    pub state: State,
    /// Whether it stays when the stack lets go of it.
    pub is_retained: bool,
}

/// Whether data is lost with a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It holds none.
    None,
    /// Worth a mention.
    Mention,
    /// Its loss must be confirmed.
    Confirm,
}

/// Whether data is lost with a resource of a CloudFormation type.
pub fn state_of(cf_type: &str) -> State {
    match cf_type {
        "AWS::RDS::DBInstance"
        | "AWS::RDS::DBCluster"
        | "AWS::DynamoDB::Table"
        | "AWS::DynamoDB::GlobalTable"
        | "AWS::S3::Bucket"
        | "AWS::Cognito::UserPool"
        | "AWS::ElastiCache::ReplicationGroup"
        | "AWS::ElastiCache::CacheCluster"
        | "AWS::OpenSearchService::Domain"
        | "AWS::EFS::FileSystem"
        | "AWS::Kinesis::Stream"
        | "AWS::SecretsManager::Secret"
        | "AWS::KMS::Key" => State::Confirm,
        "AWS::SQS::Queue"
        | "AWS::Logs::LogGroup"
        | "AWS::ECR::Repository"
        | "AWS::Events::Archive" => State::Mention,
        _ => State::None,
    }
}

/// Where an output comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A parameter of a resource.
    Param {
        /// The resource's name in the config.
        resource: String,
        /// The parameter.
        param: String,
    },
    /// `stackConfig.outputs`, with the name as it was written.
    Own {
        /// The name in the config.
        name: String,
    },
    /// An attribute that `$CfResourceParam` asked for.
    Attribute {
        /// The logical id.
        logical_id: String,
        /// The attribute.
        attribute: String,
    },
    /// The version a secret is pinned to.
    SecretVersion {
        /// The secret's name.
        secret: String,
    },
}

/// A secret the template reads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SecretUse {
    /// The secret's name.
    pub name: String,
    /// A key of its JSON.
    pub key: Option<String>,
}

/// A bucket whose files are put there after the deploy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncedBucket {
    /// The resource's name in the config.
    pub resource: String,
    /// The bucket's logical id.
    pub logical_id: String,
    /// The bucket's name.
    pub bucket: String,
    /// The distribution in front whose cached contents are dropped afterwards.
    pub invalidates: Option<String>,
}

/// A function that is called during a deploy or a delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompiledScript {
    /// The resource's name in the config.
    pub resource: String,
    /// The function's logical id.
    pub logical_id: String,
    /// The function's name.
    pub function: String,
    /// Whether it is called before a delete instead of after a deploy.
    pub before_delete: bool,
}
