//! Faults to order: resources that fail or hang, calls that are refused, slowed or cut.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::error::ApiError;

/// What a resource is going through when a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Moment {
    Create,
    Update,
    /// Deletion of a stack, or removal by a clean-up.
    Delete,
    /// Going back after a failure.
    Rollback,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum ResourceEffect {
    Fail {
        reason: String,
    },
    /// Nothing happens until it is released or the update is cancelled.
    Hang,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResourceFault {
    /// Any stack when absent.
    #[serde(default)]
    pub stack: Option<String>,
    pub logical_id: String,
    pub on: Moment,
    pub effect: ResourceEffect,
    /// How often it strikes; 0 is always.
    #[serde(default = "once")]
    pub times: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum CallEffect {
    Throttle,
    Internal,
    /// The connection is closed before anything is done.
    CutBefore,
    /// The call is carried out and the connection closed without an answer.
    CutAfter,
    Slow {
        ms: u64,
    },
    Error {
        code: String,
        status: u16,
        message: String,
    },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallFault {
    /// `DescribeStacks`, `PutObject`, …; `*` is every action.
    pub action: String,
    /// The first call it strikes, counted from now; 1 is the next.
    #[serde(default = "once")]
    pub nth: u32,
    /// How many calls in a row; 0 is all.
    #[serde(default = "once")]
    pub times: u32,
    pub effect: CallEffect,
}

fn once() -> u32 {
    1
}

#[derive(Clone, Debug, Default)]
pub struct Faults {
    resources: Vec<ResourceFault>,
    /// Each with how many matching calls it has seen.
    calls: Vec<(CallFault, u32)>,
    denied: BTreeSet<String>,
    pub credentials_expired: bool,
    /// Makes the next change set fail with this reason.
    pub change_set: Option<String>,
}

impl Faults {
    pub fn add_resource(&mut self, fault: ResourceFault) {
        self.resources.push(fault);
    }

    pub fn add_call(&mut self, fault: CallFault) {
        self.calls.push((fault, 0));
    }

    pub fn deny(&mut self, action: &str, denied: bool) {
        if denied {
            self.denied.insert(action.to_owned());
        } else {
            self.denied.remove(action);
        }
    }

    pub fn clear(&mut self) {
        *self = Faults::default();
    }

    /// The fault that strikes a resource now; it is used up by being asked for.
    pub fn take(&mut self, stack: &str, logical_id: &str, on: Moment) -> Option<ResourceEffect> {
        let index = self.resources.iter().position(|fault| {
            fault.on == on
                && fault.logical_id == logical_id
                && fault.stack.as_deref().is_none_or(|name| name == stack)
        })?;
        let fault = &mut self.resources[index];
        let effect = fault.effect.clone();
        match fault.times {
            0 => {}
            1 => {
                self.resources.remove(index);
            }
            _ => fault.times -= 1,
        }
        Some(effect)
    }

    /// What strikes this call; every fault counts the calls it could strike.
    pub fn strike(&mut self, action: &str) -> Option<CallEffect> {
        let mut found = None;
        for (fault, seen) in &mut self.calls {
            if fault.action != action && fault.action != "*" {
                continue;
            }
            *seen += 1;
            let last = match fault.times {
                0 => u32::MAX,
                times => fault.nth.saturating_add(times - 1),
            };
            if (fault.nth..=last).contains(seen) && found.is_none() {
                found = Some(fault.effect.clone());
            }
        }
        found
    }

    /// The refusal of a caller without permission or with old credentials.
    pub fn refusal(&self, service: &str, action: &str, caller: &str) -> Option<ApiError> {
        if self.credentials_expired {
            return Some(ApiError::new(
                "ExpiredToken",
                403,
                "The security token included in the request is expired",
            ));
        }
        self.denied.contains(action).then(|| {
            ApiError::new(
                "AccessDenied",
                403,
                format!(
                    "User: {caller} is not authorized to perform: {service}:{action} because no \
                     identity-based policy allows the {service}:{action} action"
                ),
            )
        })
    }
}

/// How long things take, in virtual milliseconds; the most particular entry wins.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Durations {
    pub default_ms: u64,
    pub change_set_ms: u64,
    pub drift_ms: u64,
    /// By resource type.
    pub types: BTreeMap<String, u64>,
    /// By logical id, or `stack/logical id`.
    pub resources: BTreeMap<String, u64>,
}

impl Default for Durations {
    fn default() -> Durations {
        Durations {
            default_ms: 1_000,
            change_set_ms: 500,
            drift_ms: 1_000,
            types: BTreeMap::new(),
            resources: BTreeMap::new(),
        }
    }
}

impl Durations {
    pub fn of(&self, stack: &str, logical_id: &str, kind: &str) -> u64 {
        self.resources
            .get(&format!("{stack}/{logical_id}"))
            .or_else(|| self.resources.get(logical_id))
            .or_else(|| self.types.get(kind))
            .copied()
            .unwrap_or(self.default_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nth_call_is_struck_and_only_it() {
        let mut faults = Faults::default();
        faults.add_call(CallFault {
            action: "DescribeStacks".to_owned(),
            nth: 2,
            times: 2,
            effect: CallEffect::Throttle,
        });
        let struck: Vec<bool> = (0..5)
            .map(|_| {
                assert_eq!(faults.strike("CreateStack"), None);
                faults.strike("DescribeStacks").is_some()
            })
            .collect();
        assert_eq!(struck, [false, true, true, false, false]);
    }

    #[test]
    fn a_resource_fault_is_used_up() {
        let mut faults = Faults::default();
        faults.add_resource(ResourceFault {
            stack: Some("shop".to_owned()),
            logical_id: "Db".to_owned(),
            on: Moment::Create,
            effect: ResourceEffect::Hang,
            times: 2,
        });
        let mut take = |stack: &str, on| faults.take(stack, "Db", on).is_some();
        assert!(!take("other", Moment::Create));
        assert!(!take("shop", Moment::Update));
        assert!(take("shop", Moment::Create) && take("shop", Moment::Create));
        assert!(!take("shop", Moment::Create));
    }
}
