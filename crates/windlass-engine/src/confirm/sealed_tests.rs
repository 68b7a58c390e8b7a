//! Sealed state opens until it expires, with its own key, unaltered.

use proptest::prelude::*;
use windlass_types::{Digest, Secret, Timestamp};

use super::*;

fn sealer() -> Sealer {
    Sealer::new(Secret::new(vec![7; 32]))
}

fn claims() -> Claims {
    Claims {
        id: "tok_1".parse().unwrap(),
        principal: "local:ada".into(),
        operation: "demo.apply".into(),
        plan_digest: Digest::of(b"plan"),
        expires_at: Timestamp::from_millis(1_000),
    }
}

#[test]
fn opens_until_it_expires() {
    let token = sealer().seal(&claims()).unwrap();
    assert_eq!(
        sealer().open(&token, Timestamp::from_millis(999)).unwrap(),
        claims()
    );
    assert_eq!(
        sealer().open(&token, Timestamp::from_millis(1_000)),
        Err(SealedError::Expired)
    );
}

#[test]
fn another_key_does_not_open_it() {
    let token = Sealer::new(Secret::new(vec![8; 32]))
        .seal(&claims())
        .unwrap();
    assert_eq!(
        sealer().open(&token, Timestamp::EPOCH),
        Err(SealedError::Invalid)
    );
}

#[test]
fn any_altered_character_is_refused() {
    let token = sealer().seal(&claims()).unwrap();
    for index in 0..token.len() {
        let mut bytes = token.clone().into_bytes();
        bytes[index] = if bytes[index] == b'A' { b'B' } else { b'A' };
        let altered = String::from_utf8(bytes).unwrap();
        assert!(
            sealer().open(&altered, Timestamp::EPOCH).is_err(),
            "index {index}"
        );
    }
}

proptest! {
    #[test]
    fn any_text_is_refused_without_a_panic(text in ".{0,200}") {
        prop_assert_eq!(sealer().open(&text, Timestamp::EPOCH), Err(SealedError::Invalid));
    }
}
