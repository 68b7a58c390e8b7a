//! Identifiers that look random and are the same on every run.

use sha2::{Digest, Sha256};

/// Gives a new digest for every question; the same sequence from the same seed.
#[derive(Clone, Debug)]
pub struct Ids {
    seed: u64,
    used: u64,
}

impl Ids {
    pub fn new(seed: u64) -> Ids {
        Ids { seed, used: 0 }
    }

    pub fn hex(&mut self, length: usize) -> String {
        let mut text = self.digest();
        text.truncate(length);
        text
    }

    /// Capital letters and digits, as in generated physical names.
    pub fn code(&mut self, length: usize) -> String {
        const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
        self.bytes()
            .iter()
            .take(length)
            .map(|byte| char::from(ALPHABET[usize::from(byte % 32)]))
            .collect()
    }

    pub fn uuid(&mut self) -> String {
        let hex = self.digest();
        format!(
            "{}-{}-4{}-8{}-{}",
            &hex[..8],
            &hex[8..12],
            &hex[13..16],
            &hex[17..20],
            &hex[20..32]
        )
    }

    /// A small number that grows with every question.
    pub fn serial(&mut self) -> u64 {
        self.used += 1;
        self.used
    }

    fn digest(&mut self) -> String {
        hex::encode(self.bytes())
    }

    fn bytes(&mut self) -> [u8; 32] {
        self.used += 1;
        let mut hasher = Sha256::new();
        hasher.update(self.seed.to_be_bytes());
        hasher.update(self.used.to_be_bytes());
        hasher.finalize().into()
    }
}
