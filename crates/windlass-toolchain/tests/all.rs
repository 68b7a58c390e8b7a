//! The toolchain from outside, through its ports: a stand-in for Hugo, the real Hugo, and a
//! server whose links are asked.

// Marked as test code so that its helpers may unwrap as the tests themselves may.
#[cfg(test)]
mod suite {
    mod hugo_isolation;
    mod hugo_real;
    mod hugo_stand_in;
    mod links;
    mod support;
}
