//! State that clients carry between rounds: nothing but what was sealed opens, and nothing panics.

use crate::parsers::sealed::Sealer;
use windlass_types::{Secret, Timestamp};

pub fn run(data: &[u8]) {
    let sealer = Sealer::new(Secret::new(vec![7; 32]));
    let text = String::from_utf8_lossy(data);
    // The fuzzer does not know the key: whatever opens was forged.
    assert!(sealer.open(&text, Timestamp::EPOCH).is_err());
    assert!(
        sealer
            .open(&format!("wst1.{text}"), Timestamp::EPOCH)
            .is_err()
    );
}
