//! Drift: what was changed behind a stack's back. What could not be looked at is said, not
//! counted as unchanged.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use windlass_secrets::Redactor;
use windlass_types::Timestamp;

use crate::access::{Access, Pacing, Pause};
use crate::change::shown_value;
use crate::fault::Fault;

/// One property that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// Where it is.
    pub path: String,
    /// What the template says, masked where it may be a secret.
    pub expected: String,
    /// What is there, masked likewise.
    pub actual: String,
    /// `ADD`, `REMOVE` or `NOT_EQUAL`.
    pub kind: String,
}

/// One resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceDrift {
    /// Its name in the template.
    pub logical_id: String,
    /// Its AWS type.
    pub resource_type: String,
    /// `MODIFIED`, `DELETED`, `IN_SYNC` or `NOT_CHECKED`.
    pub status: String,
    /// What differs.
    pub differences: Vec<Difference>,
}

/// `data.drift` of a preview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Drift {
    /// `DRIFTED`, `IN_SYNC`, or `UNKNOWN` when the detection failed.
    pub status: String,
    /// How many resources were looked at.
    pub checked: usize,
    /// Logical ids of those that could not be.
    pub not_checked: Vec<String>,
    /// All of them, by logical id.
    pub resources: Vec<ResourceDrift>,
    /// Why the detection failed, where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Has CloudFormation look, and reports.
pub async fn detect(
    access: &Access,
    stack_id: &str,
    redactor: &Redactor,
    deadline: Timestamp,
) -> Result<Drift, Fault> {
    let cloud = &access.cloud;
    let target = &access.target;
    let id = access
        .patiently(deadline, || cloud.detect_drift(target, stack_id))
        .await?;
    let mut pacing = Pacing::default();
    let detection = loop {
        match cloud.drift_detection(target, &id).await {
            Ok(found) if found.detection_status != "DETECTION_IN_PROGRESS" => break found,
            Ok(_) => {}
            Err(failure) if failure.is_transient() => {}
            Err(failure) => return Err(failure.into()),
        }
        if access.pause(&mut pacing, deadline).await == Pause::TooLate {
            return Err(Fault::timeout(format!(
                "the drift detection of {stack_id} did not end in the time allowed"
            ))
            .next("repeat with a larger timeoutSeconds, or without detectDrift"));
        }
    };
    let drifts = access
        .patiently(deadline, || cloud.resource_drifts(target, stack_id))
        .await?;
    let present = access
        .patiently(deadline, || cloud.stack_resources(target, stack_id))
        .await?;

    let mut resources: Vec<ResourceDrift> = drifts
        .into_iter()
        .map(|drift| ResourceDrift {
            logical_id: drift.logical_resource_id,
            resource_type: drift.resource_type,
            status: drift.stack_resource_drift_status,
            differences: drift
                .property_differences
                .into_iter()
                .map(|found| Difference {
                    expected: shown_value(&found.property_path, &found.expected_value, redactor),
                    actual: shown_value(&found.property_path, &found.actual_value, redactor),
                    path: found.property_path,
                    kind: found.difference_type,
                })
                .collect(),
        })
        .collect();
    // CloudFormation leaves out what it cannot look at.
    let listed: BTreeSet<String> = resources
        .iter()
        .map(|resource| resource.logical_id.clone())
        .collect();
    resources.extend(
        present
            .into_iter()
            .filter(|resource| !listed.contains(&resource.logical_resource_id))
            .map(|resource| ResourceDrift {
                logical_id: resource.logical_resource_id,
                resource_type: resource.resource_type,
                status: "NOT_CHECKED".to_owned(),
                differences: Vec::new(),
            }),
    );
    resources.sort_by(|left, right| left.logical_id.cmp(&right.logical_id));
    let not_checked: Vec<String> = resources
        .iter()
        .filter(|resource| !matches!(resource.status.as_str(), "MODIFIED" | "DELETED" | "IN_SYNC"))
        .map(|resource| resource.logical_id.clone())
        .collect();
    let is_complete = detection.detection_status == "DETECTION_COMPLETE";
    Ok(Drift {
        status: detection
            .stack_drift_status
            .filter(|_| is_complete)
            .unwrap_or_else(|| "UNKNOWN".to_owned()),
        checked: resources.len() - not_checked.len(),
        not_checked,
        resources,
        reason: detection.detection_status_reason.filter(|_| !is_complete),
    })
}
