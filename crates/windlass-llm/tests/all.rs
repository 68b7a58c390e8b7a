//! The client against scripted servers on this machine, through the real outbound adapter.

// Marked as test code so that its helpers may unwrap as the tests themselves may.
#[cfg(test)]
mod suite {
    mod answers;
    mod conversations;
    mod cuts;
    mod failures;
    mod forms;
    mod place;
    mod requests;
    mod server;
    mod streams;
    mod troubles;
}
