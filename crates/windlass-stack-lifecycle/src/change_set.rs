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
            // A list of change sets that is looked up by name alone may have another stack's.
            Ok(set) if is_foreign(&set, stack, address) => {
                let message = format!(
                    "the change set {} belongs to another stack than {stack}: {}",
                    address.change_set, set.stack_id
                );
                return Err(
                    Fault::new(FaultKind::Validation, "foreign_change_set", message)
                        .with("stackName", stack)
                        .with("stackId", set.stack_id)
                        .next("preview again: it makes a change set of its own"),
                );
            }
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

/// Whether a change set is of another stack: by the stack's ARN where it is known, else its name.
fn is_foreign(set: &ChangeSet, stack: &str, address: &ChangeSetAddress) -> bool {
    if address.stack.starts_with("arn:") && !set.stack_id.is_empty() {
        return set.stack_id != address.stack;
    }
    !set.stack_name.is_empty() && set.stack_name != stack
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
    fn a_change_set_of_another_stack_is_noticed() {
        let set = |id: &str, name: &str| ChangeSet {
            stack_id: id.to_owned(),
            stack_name: name.to_owned(),
            ..ChangeSet::default()
        };
        let at = |stack: &str| ChangeSetAddress {
            stack: stack.to_owned(),
            change_set: "windlass-deploy-run-1".to_owned(),
        };
        let cases = [
            ("arn:1", set("arn:1", "shop-dev"), false),
            ("arn:1", set("arn:2", "shop-dev"), true),
            ("arn:1", set("", "shop-dev"), false),
            ("shop-dev", set("arn:1", "shop-dev"), false),
            ("shop-dev", set("arn:1", "other-dev"), true),
        ];
        for (stack, set, foreign) in cases {
            assert_eq!(
                is_foreign(&set, "shop-dev", &at(stack)),
                foreign,
                "{stack} {set:?}"
            );
        }
    }

    #[test]
    fn names_and_tokens_use_only_letters_cloudformation_accepts() {
        assert_eq!(client_token("run_01J-x"), "run-01J-x");
        assert_eq!(name("preview", "run_01J"), "windlass-preview-run-01J");
        assert!(name("preview", &"x".repeat(500)).len() <= 128);
    }
}
