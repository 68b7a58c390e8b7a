//! Randomness from a seed: the same seed gives the same ids, keys and jitter.

use std::sync::{Mutex, PoisonError};

use windlass_ports::Entropy;

/// A seeded source; fit for tests only.
pub struct SeededEntropy(Mutex<u64>);

impl SeededEntropy {
    /// A source that begins at the seed.
    pub const fn new(seed: u64) -> Self {
        Self(Mutex::new(seed))
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for chunk in buffer.chunks_mut(8) {
            // SplitMix64: a counter with a strong mixer, enough to look random to a test.
            *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut mixed = *state;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            mixed ^= mixed >> 31;
            chunk.copy_from_slice(&mixed.to_le_bytes()[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use windlass_ports::entropy::random;

    use super::*;

    #[test]
    fn the_seed_decides() {
        let draw = |seed| {
            let source = SeededEntropy::new(seed);
            [random::<16>(&source), random::<16>(&source)]
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        assert_ne!(draw(1)[0], draw(1)[1]);
    }
}
