//! Configs as users have them, faults as users see them: one test binary.

#[cfg(test)]
mod suite {
    mod accepted;
    mod directives;
    mod faults;
    mod programs;
    mod properties;
    mod world;
}
