//! The compiler against whole configs.

#[cfg(test)]
mod suite {
    mod bastion;
    mod goldens;
    mod lint;
    mod properties;
    mod refusals;
    mod schema;
    mod world;
}
