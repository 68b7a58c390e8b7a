//! Real scripts in temporary directories, with a cloud that answers as it is told.

// Marked as test code so that its helpers may unwrap as the tests themselves may.
#[cfg(test)]
mod suite {
    mod bastion;
    mod cloud;
    mod failures;
    mod files;
    mod roles;
    mod values;
    mod world;
}
