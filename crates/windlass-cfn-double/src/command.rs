//! Commands of a test to the double, as data: the body of `/_double/<verb>` and the same in Rust.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::clock;
use crate::faults::{CallFault, Durations, ResourceFault};
use crate::stack::{self, DriftState, Stack, drift};
use crate::world::World;

#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Command {
    /// Moves the virtual clock.
    Advance {
        ms: u64,
    },
    Durations(Durations),
    FailResource(ResourceFault),
    FailCall(CallFault),
    /// The next change set fails with this reason.
    FailChangeSet {
        reason: String,
    },
    /// Forgets every fault, denial and expiry.
    ClearFaults,
    /// Releases a hanging resource.
    Release {
        logical_id: String,
    },
    /// This many further reads see the stacks as they are now.
    StaleReads {
        calls: u32,
    },
    /// Changes a resource behind its stack's back; `path` is a JSON pointer into its properties.
    Drift {
        stack: String,
        logical_id: String,
        path: String,
        value: Value,
    },
    /// Removes a physical resource behind its stack's back.
    DriftDeleted {
        stack: String,
        logical_id: String,
    },
    Credentials {
        expired: bool,
    },
    Deny {
        action: String,
        denied: bool,
    },
    /// `Conditional` changes of this resource replace it.
    ReplaceConditionally {
        logical_id: String,
    },
    /// How many entries a page of an answer has.
    PageSize {
        size: usize,
    },
    /// Whether a function's code must be in the asset store.
    VerifyCode {
        verify: bool,
    },
}

/// Carries out a command; the message of an error says what was not found.
pub fn apply(world: &mut World, command: Command) -> Result<(), String> {
    match command {
        Command::Advance { ms } => world.advance_to(world.env.now.saturating_add(ms)),
        Command::Durations(durations) => world.env.durations = durations,
        Command::FailResource(fault) => world.env.faults.add_resource(fault),
        Command::FailCall(fault) => world.env.faults.add_call(fault),
        Command::FailChangeSet { reason } => world.env.faults.change_set = Some(reason),
        Command::ClearFaults => world.env.faults.clear(),
        Command::Release { logical_id } => {
            for stack in &mut world.stacks {
                stack::release(stack, &logical_id, &world.env);
            }
        }
        Command::StaleReads { calls } => world.freeze_reads(calls),
        Command::Drift {
            stack,
            logical_id,
            path,
            value,
        } => drift::modify(resource(world, &stack, &logical_id)?, &path, value),
        Command::DriftDeleted { stack, logical_id } => {
            resource(world, &stack, &logical_id)?.drift = Some(DriftState::Deleted);
        }
        Command::Credentials { expired } => world.env.faults.credentials_expired = expired,
        Command::Deny { action, denied } => world.env.faults.deny(&action, denied),
        Command::ReplaceConditionally { logical_id } => {
            world.env.conditional_replacements.insert(logical_id);
        }
        Command::PageSize { size } => world.page_size = size.max(1),
        Command::VerifyCode { verify } => world.env.verify_code = verify,
    }
    Ok(())
}

fn resource<'a>(
    world: &'a mut World,
    stack: &str,
    logical_id: &str,
) -> Result<&'a mut stack::Resource, String> {
    world
        .stacks
        .iter_mut()
        .filter(|found| found.name == stack || found.id == stack)
        .find_map(|found| found.resources.get_mut(logical_id))
        .ok_or_else(|| format!("stack {stack} has no resource {logical_id}"))
}

/// The full state, for assertions. Secret values and object bodies are left out.
pub fn dump(world: &World) -> Value {
    let buckets: serde_json::Map<String, Value> = world
        .env
        .buckets
        .iter()
        .map(|(name, bucket)| {
            let keys: Vec<&String> = bucket.objects.keys().collect();
            (name.clone(), json!(keys))
        })
        .collect();
    let kept: Vec<Value> = world
        .env
        .kept
        .iter()
        .map(|kept| {
            json!({ "stack": kept.stack, "logical_id": kept.logical_id, "type": kept.kind,
                    "physical_id": kept.physical_id, "how": kept.how })
        })
        .collect();
    json!({
        "now": clock::iso(world.env.now),
        "stacks": world.stacks.iter().map(dump_stack).collect::<Vec<_>>(),
        "buckets": buckets,
        "secrets": world.env.secrets.names(),
        "secret_states": world.env.secrets.dump(),
        "kept": kept,
    })
}

fn dump_stack(stack: &Stack) -> Value {
    let resources: serde_json::Map<String, Value> = stack
        .resources
        .iter()
        .map(|(id, resource)| {
            let value = json!({
                "type": resource.kind,
                "physical_id": resource.physical_id(),
                "status": resource.status.name(),
                "reason": resource.reason,
                "properties": resource.properties,
            });
            (id.clone(), value)
        })
        .collect();
    let change_sets: Vec<Value> = stack
        .change_sets
        .iter()
        .map(|found| {
            json!({ "name": found.name, "status": found.status.name(),
                    "execution": found.execution.name(), "reason": found.reason })
        })
        .collect();
    let events: Vec<String> = stack
        .events
        .iter()
        .map(|event| match &event.reason {
            Some(reason) => format!("{} {} ({reason})", event.logical_id, event.status),
            None => format!("{} {}", event.logical_id, event.status),
        })
        .collect();
    let outputs: serde_json::Map<String, Value> = stack
        .outputs
        .iter()
        .map(|output| (output.key.clone(), Value::from(output.value.as_str())))
        .collect();
    json!({
        "id": stack.id,
        "name": stack.name,
        "status": stack.status.name(),
        "reason": stack.reason,
        "resources": resources,
        "change_sets": change_sets,
        "events": events,
        "outputs": outputs,
        "policy": stack.policy,
        "termination_protection": stack.termination_protection,
    })
}
