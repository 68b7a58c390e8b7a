//! Every operation against a scripted cloud, against moto and real databases where installed.

// Marked as test code so that its helpers may unwrap as the tests themselves may.
#[cfg(test)]
mod suite {
    mod arguments;
    mod bastion;
    mod canary;
    mod cloud;
    mod data;
    mod exec;
    mod guard;
    mod info;
    mod moto;
    mod secrets;
    mod servers;
    mod session;
    mod telemetry;
    mod world;
}
