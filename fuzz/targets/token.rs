//! The confirm-token parser: nothing but a sealed token opens, and nothing panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use windlass_engine::confirm::Sealer;
use windlass_types::{Secret, Timestamp};

fuzz_target!(|data: &[u8]| {
    let sealer = Sealer::new(Secret::new(vec![7; 32]));
    let text = String::from_utf8_lossy(data);
    // The fuzzer does not know the key: whatever opens was forged.
    assert!(sealer.open(&text, Timestamp::EPOCH).is_err());
    assert!(
        sealer
            .open(&format!("wct1.{text}"), Timestamp::EPOCH)
            .is_err()
    );
});
