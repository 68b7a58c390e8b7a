//! Passwords that no model sees.

use serde_json::json;

use super::*;
use crate::test_support::{Counting, Session};

#[tokio::test]
async fn the_model_sees_a_marker() {
    let session = Session::new();
    for (input, marker) in [
        (json!({}), "[REDACTED_SECRET:generated-password:len015]"),
        (
            json!({ "length": 40, "no_symbols": true }),
            "[REDACTED_SECRET:generated-password:len040]",
        ),
    ] {
        assert_eq!(session.text("generate_password", input).await, marker);
    }
}

#[test]
fn every_kind_of_character_is_there() {
    let entropy = Counting(std::sync::atomic::AtomicU64::new(3));
    for no_symbols in [true, false] {
        for length in [8, 15, 128] {
            let value = password(&entropy, length, no_symbols);
            let value = value.expose_secret();
            assert_eq!(value.len(), length);
            let has = |set: &[u8]| value.bytes().any(|byte| set.contains(&byte));
            assert!(SETS[..3].iter().all(|set| has(set)));
            assert_eq!(has(SETS[3]), !no_symbols);
        }
    }
}
