//! Change sets: made, waited for, thrown away.

use windlass_ports::aws::{
    ChangeSet, ChangeSetAddress, ChangeSetKind, PropertyValues, TemplateSource,
};
use windlass_types::Timestamp;

use crate::access::{Access, Pacing, Pause};
use crate::fault::{Fault, FaultKind};
use crate::owner::CHANGE_SET_PREFIX;
use crate::proposal::Proposal;
use crate::reason::clean;

/// A change set that was just made may not be visible at once; so often it is looked for.
const LOOKS_FOR_A_NEW_ONE: u32 = 5;

/// The name of a change set that this run creates: the same on every attempt. `purpose`
/// distinguishes the change sets of one run.
pub fn name(purpose: &str, run_id: &str) -> String {
    format!("{CHANGE_SET_PREFIX}{purpose}-{}", client_token(run_id))
}

/// A run's id with the letters CloudFormation takes in tokens and names.
pub fn client_token(run_id: &str) -> String {
    run_id
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '-'
            }
        })
        .take(100)
        .collect()
}

/// The result of creating a change set.
#[derive(Clone, Debug, PartialEq)]
pub enum Made {
    /// It can be executed.
    Ready(Box<ChangeSet>),
    /// There is nothing to change.
    Empty(Box<ChangeSet>),
}

impl Made {
    /// The change set.
    pub fn set(&self) -> &ChangeSet {
        match self {
            Self::Ready(set) | Self::Empty(set) => set,
        }
    }
}

/// Makes a change set, or finds the one an earlier try made, and waits until it is decided.
pub async fn make(
    access: &Access,
    proposal: &Proposal,
    name: &str,
    kind: ChangeSetKind,
    template: &TemplateSource,
    deadline: Timestamp,
) -> Result<Made, Fault> {
    let stack = &proposal.stack_name;
    let created = access
        .patiently(deadline, || {
            let request = proposal.request(name, kind, template.clone());
            access.cloud.create_change_set(&access.target, request)
        })
        .await;
    let address = match created {
        Ok(created) => ChangeSetAddress {
            stack: created.stack_id,
            change_set: created.id,
        },
        Err(failure) if failure.is_already_exists() => ChangeSetAddress {
            stack: stack.clone(),
            change_set: name.to_owned(),
        },
        Err(failure) => {
            let mut fault = Fault::from(failure);
            if fault.reason == "aws_refused" {
                fault.reason = "change_set_failed".to_owned();
            }
            return Err(fault.with("stackName", stack.as_str()));
        }
    };
    decided(access, stack, &address, deadline).await
}

async fn decided(
    access: &Access,
    stack: &str,
    address: &ChangeSetAddress,
    deadline: Timestamp,
) -> Result<Made, Fault> {
    let mut pacing = Pacing::default();
    let mut unseen = 0;
    loop {
        let described = access
            .cloud
            .describe_change_set(&access.target, address, PropertyValues::Include)
            .await;
        match described {
            Ok(set) => match set.status.as_str() {
                "CREATE_COMPLETE" => return Ok(Made::Ready(Box::new(set))),
                "FAILED" if set.is_empty_set() => return Ok(Made::Empty(Box::new(set))),
                "FAILED" => return Err(failed(stack, &set)),
                status if status.starts_with("DELETE") => {
                    return Err(failed(stack, &set));
                }
                _ => {}
            },
            Err(failure) if failure.is_transient() => {}
            Err(failure) if failure.is_not_found() && unseen < LOOKS_FOR_A_NEW_ONE => unseen += 1,
            Err(failure) => return Err(failure.into()),
        }
        if access.pause(&mut pacing, deadline).await == Pause::TooLate {
            return Err(Fault::timeout(format!(
                "CloudFormation did not finish the change set of {stack} in the time allowed"
            ))
            .with("stackName", stack)
            .next("repeat with a larger timeoutSeconds"));
        }
    }
}

fn failed(stack: &str, set: &ChangeSet) -> Fault {
    let reason = clean(
        set.status_reason
            .as_deref()
            .unwrap_or("no reason was given"),
    );
    let message = format!("CloudFormation does not accept the change of {stack}: {reason}");
    Fault::new(FaultKind::Validation, "change_set_failed", message)
        .with("stackName", stack)
        .with("statusReason", reason)
        .next("fix the config where the reason points, then preview again")
}

/// Deletes a change set; one that is gone is deleted.
pub async fn discard(
    access: &Access,
    address: &ChangeSetAddress,
    deadline: Timestamp,
) -> Result<(), Fault> {
    let deleted = access
        .patiently(deadline, || {
            access.cloud.delete_change_set(&access.target, address)
        })
        .await;
    match deleted {
        Ok(()) => Ok(()),
        Err(failure) if failure.is_not_found() => Ok(()),
        Err(failure) => Err(failure.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_tokens_use_only_letters_cloudformation_accepts() {
        assert_eq!(client_token("run_01J-x"), "run-01J-x");
        assert_eq!(name("preview", "run_01J"), "windlass-preview-run-01J");
        assert!(name("preview", &"x".repeat(500)).len() <= 128);
    }
}
