//! Resources that hold what cannot be made again, and what a plan does to them.

use serde::{Deserialize, Serialize};

use super::{Action, Change};

/// How much a loss matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Needs explicit confirmation of exactly this.
    Confirm,
    /// It is called out.
    Mention,
}

const CONFIRM: &[&str] = &[
    "AWS::RDS::DBInstance",
    "AWS::RDS::DBCluster",
    "AWS::DynamoDB::Table",
    "AWS::DynamoDB::GlobalTable",
    "AWS::S3::Bucket",
    "AWS::Cognito::UserPool",
    "AWS::ElastiCache::ReplicationGroup",
    "AWS::ElastiCache::CacheCluster",
    "AWS::OpenSearchService::Domain",
    "AWS::Elasticsearch::Domain",
    "AWS::EFS::FileSystem",
    "AWS::Kinesis::Stream",
    "AWS::SecretsManager::Secret",
    "AWS::KMS::Key",
];

const MENTION: &[&str] = &[
    "AWS::SQS::Queue",
    "AWS::Logs::LogGroup",
    "AWS::ECR::Repository",
    "AWS::Events::Archive",
];

/// The tier of a type; `None` for what can be made again.
pub fn tier(resource_type: &str) -> Option<Tier> {
    if CONFIRM.contains(&resource_type) {
        Some(Tier::Confirm)
    } else if MENTION.contains(&resource_type) {
        Some(Tier::Mention)
    } else {
        None
    }
}

/// What becomes of the contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// They are gone.
    Lost,
    /// They are gone but for a final snapshot.
    Snapshot,
    /// They stay in the account and leave the stack.
    Kept,
}

/// A stateful resource that is deleted, replaced or let go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatefulChange {
    /// The resource of the config.
    pub resource_name: String,
    /// Its name in the template.
    pub logical_id: String,
    /// Its AWS type.
    #[serde(rename = "type")]
    pub resource_type: String,
    /// What happens to it.
    pub action: Action,
    /// Why, and what becomes of the contents.
    pub reason: String,
    /// How much it matters.
    pub tier: Tier,
    /// What becomes of the contents.
    pub fate: Fate,
    /// Whether it needs an explicit yes.
    pub needs_confirm: bool,
}

/// What of a plan deletes, replaces or lets go of stateful resources.
pub fn stateful_changes(changes: &[Change]) -> Vec<StatefulChange> {
    changes.iter().filter_map(stateful).collect()
}

fn stateful(change: &Change) -> Option<StatefulChange> {
    let tier = tier(&change.resource_type)?;
    let policy = change.policy_action.as_deref();
    let fate = match (change.action, policy) {
        (Action::Create | Action::Update, _) => return None,
        (Action::Retain, _) | (_, Some("Retain" | "ReplaceAndRetain")) => Fate::Kept,
        (_, Some("Snapshot" | "ReplaceAndSnapshot")) => Fate::Snapshot,
        (Action::Delete | Action::Replace, _) => Fate::Lost,
    };
    let why = match (&change.reason, change.action) {
        (Some(reason), _) => reason.clone(),
        (None, Action::Replace) => "it is replaced".to_owned(),
        (None, _) => "it is no longer in the template".to_owned(),
    };
    let what = match fate {
        Fate::Lost => "its data is lost",
        Fate::Snapshot => "its data is lost except for the final snapshot CloudFormation takes",
        Fate::Kept => "it is kept, no longer managed",
    };
    Some(StatefulChange {
        resource_name: change.resource_name.clone(),
        logical_id: change.logical_id.clone(),
        resource_type: change.resource_type.clone(),
        action: change.action,
        reason: format!("{why}; {what}"),
        tier,
        fate,
        needs_confirm: tier == Tier::Confirm && fate != Fate::Kept,
    })
}
