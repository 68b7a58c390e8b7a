//! A value that must not be shown: printing one is safe by construction.
//!
//! Pattern redaction (windlass-secrets) is the second net, not the first.

use std::fmt;

use zeroize::Zeroize;

/// A secret. `Debug` and `Display` hide it, it cannot be serialised, it is wiped on drop.
#[derive(Clone)]
pub struct Secret<T: Zeroize>(T);

impl<T: Zeroize> Secret<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// The value itself. Named so that every use is easy to find.
    pub const fn expose_secret(&self) -> &T {
        &self.0
    }
}

impl<T: Zeroize> Drop for Secret<T> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl<T: Zeroize> fmt::Debug for Secret<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(***)")
    }
}

impl<T: Zeroize> fmt::Display for Secret<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("***")
    }
}

impl<T: Zeroize> From<T> for Secret<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printing_hides_the_value() {
        let secret = Secret::new("hunter2".to_owned());
        assert_eq!(format!("{secret} {secret:?}"), "*** Secret(***)");
        assert_eq!(secret.expose_secret(), "hunter2");
    }
}
