//! The engine on fakes: one test binary for everything that needs a whole engine.

#[cfg(test)]
mod suite {
    mod anchors;
    mod approvals;
    mod audit;
    mod cancel;
    mod catalogue;
    mod children;
    mod clock_jumps;
    mod confirm;
    mod export;
    mod fault_many;
    mod fault_shortage;
    mod fault_stop;
    mod health;
    mod held;
    mod holds;
    mod idempotency;
    mod jobs;
    mod keys;
    mod on_disk;
    mod outbox;
    mod paid;
    mod parked;
    mod policy;
    mod processes;
    mod programs;
    mod proofs;
    mod redaction;
    mod rollback;
    mod shortages;
    mod step_context;
    mod steps;
    mod stores;
    mod support;
    mod timers;
    mod twins;
    mod waits;
    mod watchers;
    mod webhook_secrets;
}
