//! The confirm-token parser: nothing but a sealed token opens, and nothing panics.

use crate::parsers::token::Sealer;
use windlass_types::{Secret, Timestamp};

pub fn run(data: &[u8]) {
    let sealer = Sealer::new(Secret::new(vec![7; 32]));
    let text = String::from_utf8_lossy(data);
    // The fuzzer does not know the key: whatever opens was forged.
    assert!(sealer.open(&text, Timestamp::EPOCH).is_err());
    assert!(
        sealer
            .open(&format!("wct1.{text}"), Timestamp::EPOCH)
            .is_err()
    );
}
