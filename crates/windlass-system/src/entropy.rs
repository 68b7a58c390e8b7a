//! Random bytes from the operating system.

use windlass_ports::Entropy;

/// The operating system's generator.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        if getrandom::fill(buffer).is_err() {
            // Keys and ids made without randomness would be worse than no process.
            std::process::abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use windlass_ports::entropy::random;

    use super::*;

    #[test]
    fn bytes_differ_between_calls() {
        let (one, two): ([u8; 32], [u8; 32]) = (random(&OsEntropy), random(&OsEntropy));
        assert_ne!(one, two);
        assert_ne!(one, [0; 32]);
        OsEntropy.fill(&mut []);
    }
}
