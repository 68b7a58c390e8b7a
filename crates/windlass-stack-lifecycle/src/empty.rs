//! What must be emptied or stopped before a stack can be deleted: buckets, image repositories,
//! services. Repeating does no harm; what is gone is empty.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_ports::aws::{ActionShape, AwsFailure, SignedCall, services};
use windlass_types::Timestamp;

use crate::access::{Access, Pacing, Pause};
use crate::fault::{Fault, FaultKind};

const LIST_IMAGES: ActionShape = ActionShape::new(&services::ECR, "ListImages");
const DELETE_IMAGES: ActionShape = ActionShape::new(&services::ECR, "BatchDeleteImage");
const UPDATE_SERVICE: ActionShape = ActionShape::new(&services::ECS, "UpdateService");
const DESCRIBE_SERVICES: ActionShape = ActionShape::new(&services::ECS, "DescribeServices");

/// How long a service may take to stop its tasks.
const STOP_LIMIT: Duration = Duration::from_secs(600);

/// Something to be emptied or stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Clearing {
    /// All versions and delete markers of a bucket.
    #[serde(rename_all = "camelCase")]
    Bucket {
        /// Its name in the template.
        logical_id: String,
        /// The bucket.
        bucket: String,
    },
    /// All images of a repository.
    #[serde(rename_all = "camelCase")]
    Repository {
        /// Its name in the template.
        logical_id: String,
        /// The repository.
        repository: String,
    },
    /// All tasks of a service.
    #[serde(rename_all = "camelCase")]
    Service {
        /// Its name in the template.
        logical_id: String,
        /// The service's ARN.
        service: String,
    },
}

impl Clearing {
    /// Its name in the template.
    pub fn logical_id(&self) -> &str {
        match self {
            Self::Bucket { logical_id, .. }
            | Self::Repository { logical_id, .. }
            | Self::Service { logical_id, .. } => logical_id,
        }
    }
}

/// Empties or stops one; returns how many objects, images or tasks it had.
pub async fn clear(
    access: &Access,
    clearing: &Clearing,
    deadline: Timestamp,
) -> Result<u64, Fault> {
    let cleared = match clearing {
        Clearing::Bucket { bucket, .. } => empty_bucket(access, bucket, deadline).await,
        Clearing::Repository { repository, .. } => empty_repository(access, repository).await,
        Clearing::Service { service, .. } => stop_service(access, service, deadline).await,
    };
    cleared.map_err(|mut fault| {
        if matches!(fault.kind, FaultKind::Validation | FaultKind::Internal) {
            fault.kind = FaultKind::DeleteFailed;
        }
        fault.with("logicalId", clearing.logical_id())
    })
}

async fn empty_bucket(access: &Access, bucket: &str, deadline: Timestamp) -> Result<u64, Fault> {
    let emptied = access
        .patiently(deadline, || {
            access.cloud.empty_bucket(&access.target, bucket, "")
        })
        .await?;
    match emptied.kept.first() {
        None => Ok(emptied.deleted),
        Some(kept) => {
            let message = format!(
                "the bucket {bucket} cannot be emptied: {} stays ({}: {})",
                kept.id.key, kept.code, kept.message
            );
            Err(
                Fault::new(FaultKind::DeleteFailed, "bucket_not_emptied", message)
                    .with("bucket", bucket)
                    .with("kept", emptied.kept.len())
                    .next("remove the lock or the policy that keeps the object, then delete again"),
            )
        }
    }
}

/// Whether what is to be cleared is gone already.
fn gone_is_clear(result: Result<Value, AwsFailure>) -> Result<Option<Value>, AwsFailure> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(failure) if failure.is_not_found() => Ok(None),
        Err(failure) => Err(failure),
    }
}

async fn empty_repository(access: &Access, repository: &str) -> Result<u64, Fault> {
    let mut deleted = 0;
    loop {
        let input = json!({ "repositoryName": repository, "maxResults": 100 });
        let call = SignedCall::new(LIST_IMAGES, input);
        let listed = access.cloud.call(&access.target, call).await;
        let Some(listed) = gone_is_clear(listed)? else {
            return Ok(deleted);
        };
        let images = listed["imageIds"].as_array().cloned().unwrap_or_default();
        if images.is_empty() {
            return Ok(deleted);
        }
        let count = images.len() as u64;
        let input = json!({ "repositoryName": repository, "imageIds": images });
        let call = SignedCall::new(DELETE_IMAGES, input);
        let answer = access.cloud.call(&access.target, call).await?;
        if let Some(failure) = answer["failures"].get(0) {
            let why = failure["failureReason"]
                .as_str()
                .unwrap_or("no reason was given");
            let message = format!("the repository {repository} cannot be emptied: {why}");
            return Err(
                Fault::new(FaultKind::DeleteFailed, "repository_not_emptied", message)
                    .with("repository", repository),
            );
        }
        deleted += count;
    }
}

/// `arn:aws:ecs:region:account:service/cluster/name` names its cluster.
fn cluster_of(service: &str) -> &str {
    let mut parts = service.rsplit('/');
    parts.next();
    match parts.next() {
        Some(cluster) if !cluster.contains(':') => cluster,
        _ => "default",
    }
}

async fn stop_service(access: &Access, service: &str, deadline: Timestamp) -> Result<u64, Fault> {
    let cluster = cluster_of(service);
    let input = json!({ "cluster": cluster, "service": service, "desiredCount": 0 });
    let updated = access
        .cloud
        .call(&access.target, SignedCall::new(UPDATE_SERVICE, input))
        .await;
    let updated = match updated {
        // A service that is being deleted takes no updates and stops by itself.
        Err(failure) if failure.code == "ServiceNotActiveException" => return Ok(0),
        other => gone_is_clear(other)?,
    };
    let Some(updated) = updated else {
        return Ok(0);
    };
    let tasks = updated["service"]["runningCount"].as_u64().unwrap_or(0);
    let limit = deadline.min(access.clock.now().after(STOP_LIMIT));
    let mut pacing = Pacing::default();
    loop {
        let input = json!({ "cluster": cluster, "services": [service] });
        let call = SignedCall::new(DESCRIBE_SERVICES, input);
        match access.cloud.call(&access.target, call).await {
            Ok(answer) => {
                let running = answer["services"][0]["runningCount"].as_u64().unwrap_or(0);
                if running == 0 {
                    return Ok(tasks);
                }
            }
            Err(failure) if failure.is_transient() => {}
            Err(failure) if failure.is_not_found() => return Ok(tasks),
            Err(failure) => return Err(failure.into()),
        }
        // CloudFormation stops what is left itself; it only takes longer.
        if access.pause(&mut pacing, limit).await == Pause::TooLate {
            return Ok(tasks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_names_its_cluster() {
        for (service, cluster) in [
            ("arn:aws:ecs:eu-west-1:1:service/shop/web", "shop"),
            ("arn:aws:ecs:eu-west-1:1:service/web", "default"),
            ("web", "default"),
        ] {
            assert_eq!(cluster_of(service), cluster, "{service}");
        }
    }
}
