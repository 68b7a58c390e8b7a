//! The adapter against scripted servers on this machine, and against moto where it is installed.

// Marked as test code so that its helpers may unwrap as the tests themselves may.
#[cfg(test)]
mod suite {
    mod access;
    mod moto;
    mod moto_denial;
    mod moto_services;
    mod moto_stacks;
    mod retries;
    mod scripted;
    mod typed;
}
