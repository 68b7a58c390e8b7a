//! The hand on the double: the same commands as the HTTP endpoint, and the pace of its clock.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::Value;

use crate::command::{self, Command};
use crate::faults::{CallEffect, CallFault, Durations, Moment, ResourceEffect, ResourceFault};
use crate::wire::{Outcome, Request};
use crate::world::{CallRecord, World};

/// How the virtual clock moves by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// Only by `advance`.
    Manual,
    /// By this many milliseconds with every AWS call: as if the caller had waited, without waiting.
    PerCall(u64),
    /// With real time, this many times as fast.
    Real(f64),
}

/// Steers a double; clones steer the same one.
#[derive(Clone)]
pub struct Control(Arc<Shared>);

struct Shared {
    world: Mutex<World>,
    pace: Pace,
    /// Real instant and virtual time at the start, for `Pace::Real`.
    origin: (Instant, u64),
}

impl Control {
    pub fn new(world: World, pace: Pace) -> Control {
        let origin = (Instant::now(), world.env.now);
        Control(Arc::new(Shared {
            world: Mutex::new(world),
            pace,
            origin,
        }))
    }

    /// Another double that has come as far as this one and goes its own way from here.
    pub(crate) fn copy(&self) -> Control {
        Control::new(self.world().clone(), self.0.pace)
    }

    /// The world, with time as far as it has come. A panic elsewhere leaves whole values behind,
    /// since every request is answered from start to end under this lock.
    fn world(&self) -> MutexGuard<'_, World> {
        let mut world = self.0.world.lock().unwrap_or_else(PoisonError::into_inner);
        let target = match self.0.pace {
            Pace::Real(factor) => {
                let passed = self.0.origin.0.elapsed().as_secs_f64() * 1000.0 * factor;
                self.0.origin.1 + passed as u64
            }
            Pace::Manual | Pace::PerCall(_) => world.env.now,
        };
        world.advance_to(target);
        world
    }

    /// Answers one AWS request.
    pub fn handle(&self, request: &Request) -> Outcome {
        let mut world = self.world();
        if let Pace::PerCall(ms) = self.0.pace {
            let target = world.env.now + ms;
            world.advance_to(target);
        }
        world.handle(request)
    }

    /// Carries out a command; the error says what was not found.
    pub fn apply(&self, command: Command) -> Result<(), String> {
        command::apply(&mut self.world(), command)
    }

    pub fn advance(&self, ms: u64) {
        let mut world = self.world();
        let target = world.env.now + ms;
        world.advance_to(target);
    }

    pub fn set_durations(&self, durations: Durations) {
        self.world().env.durations = durations;
    }

    /// The next time this resource is at that point, it fails.
    pub fn fail_resource(&self, logical_id: &str, on: Moment, reason: &str) {
        self.world().env.faults.add_resource(ResourceFault {
            stack: None,
            logical_id: logical_id.to_owned(),
            on,
            effect: ResourceEffect::Fail {
                reason: reason.to_owned(),
            },
            times: 1,
        });
    }

    /// The next time this resource is at that point, it hangs until `release`.
    pub fn hang_resource(&self, logical_id: &str, on: Moment) {
        self.world().env.faults.add_resource(ResourceFault {
            stack: None,
            logical_id: logical_id.to_owned(),
            on,
            effect: ResourceEffect::Hang,
            times: 1,
        });
    }

    /// Releases a hanging resource.
    pub fn release(&self, logical_id: &str) {
        let mut world = self.world();
        let World { stacks, env, .. } = &mut *world;
        for stack in stacks {
            crate::stack::release(stack, logical_id, env);
        }
    }

    /// The `nth` call of an action from now (1 is the next) and `times` in all are struck.
    pub fn fail_call(&self, action: &str, nth: u32, times: u32, effect: CallEffect) {
        self.world().env.faults.add_call(CallFault {
            action: action.to_owned(),
            nth,
            times,
            effect,
        });
    }

    pub fn clear_faults(&self) {
        self.world().env.faults.clear();
    }

    pub fn stale_reads(&self, calls: u32) {
        self.world().freeze_reads(calls);
    }

    pub fn expire_credentials(&self, expired: bool) {
        self.world().env.faults.credentials_expired = expired;
    }

    pub fn deny(&self, action: &str, denied: bool) {
        self.world().env.faults.deny(action, denied);
    }

    /// The full state as JSON, without secret values and object bodies.
    pub fn state(&self) -> Value {
        command::dump(&self.world())
    }

    /// Every AWS call so far, in order.
    pub fn calls(&self) -> Vec<CallRecord> {
        self.world().calls.clone()
    }

    /// `CREATE_COMPLETE`, …, of the newest stack of that name, deleted ones included.
    pub fn stack_status(&self, name: &str) -> Option<String> {
        let world = self.world();
        let stack = world.stacks.iter().rev().find(|stack| stack.name == name)?;
        Some(stack.status.name().to_owned())
    }

    /// `logical id STATUS (reason)`, oldest first.
    pub fn stack_events(&self, name: &str) -> Vec<String> {
        let state = self.state();
        let stacks = state["stacks"].as_array().cloned().unwrap_or_default();
        let stack = stacks.iter().rev().find(|stack| stack["name"] == name);
        stack
            .and_then(|stack| stack["events"].as_array())
            .into_iter()
            .flatten()
            .filter_map(|event| event.as_str().map(str::to_owned))
            .collect()
    }
}
