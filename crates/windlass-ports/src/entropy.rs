//! Randomness through a trait: the operating system's in production, a seed in tests.

/// A source of random bytes fit for ids, keys and jitter.
pub trait Entropy: Send + Sync + 'static {
    /// Fills the buffer.
    fn fill(&self, buffer: &mut [u8]);
}

/// `N` fresh random bytes.
pub fn random<const N: usize>(entropy: &dyn Entropy) -> [u8; N] {
    let mut bytes = [0; N];
    entropy.fill(&mut bytes);
    bytes
}
