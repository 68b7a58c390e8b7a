//! Tunnels and commands through an agent that forwards to real servers and runs real commands.

// Marked as test code so that its helpers may unwrap as the tests themselves may.
#[cfg(test)]
mod suite {
    mod cloud;
    mod command;
    mod database;
    mod moto;
    mod tunnel;
    mod world;
}
