//! Random numbers that a printed seed gives again.

use windlass_ports::entropy::random;
use windlass_system::OsEntropy;

/// A small generator (splitmix64).
pub(crate) struct Random(u64);

impl Random {
    /// Its seed is `WINDLASS_TEST_SEED` if that is set, so that a failure can be repeated.
    pub(crate) fn seeded() -> (Self, u64) {
        let given = std::env::var_os("WINDLASS_TEST_SEED")
            .and_then(|text| text.to_str().and_then(|text| text.parse().ok()));
        let seed = given.unwrap_or_else(|| u64::from_le_bytes(random(&OsEntropy)));
        (Self(seed), seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number in `low..high`.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low)
    }
}
