//! Secrets at rest: encrypted with a key that lies in a file of its own.
//!
//! Authenticated encryption (ChaCha20-Poly1305) with a random nonce. Whose secret it is belongs
//! to what is authenticated: a record that was copied to another owner does not open.

use aws_lc_rs::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use windlass_ports::{Entropy, entropy::random};
use windlass_types::{Problem, Secret};

const VERSION: &str = "v1:";
const KEY_LENGTH: usize = 32;

/// Encrypts a secret for its owner.
pub(super) fn seal(
    key: &Secret<Vec<u8>>,
    entropy: &dyn Entropy,
    owner: &str,
    secret: &Secret<String>,
) -> Result<String, Problem> {
    let nonce: [u8; NONCE_LEN] = random(entropy);
    let mut text = secret.expose_secret().clone().into_bytes();
    cipher(key)?
        .seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(owner.as_bytes()),
            &mut text,
        )
        .map_err(|_| Problem::internal("webhook secret", "it cannot be encrypted"))?;
    let mut sealed = nonce.to_vec();
    sealed.append(&mut text);
    Ok(format!("{VERSION}{}", STANDARD.encode(sealed)))
}

/// Decrypts a secret of an owner.
pub(super) fn open(
    key: &Secret<Vec<u8>>,
    owner: &str,
    sealed: &str,
) -> Result<Secret<String>, Problem> {
    let unreadable = || {
        Problem::internal(
            "webhook secret",
            format!("the secret of {owner} does not open with this home's key"),
        )
        .next("windlass webhooks secret rotate --now")
    };
    let bytes = sealed
        .strip_prefix(VERSION)
        .and_then(|text| STANDARD.decode(text).ok())
        .ok_or_else(unreadable)?;
    let (nonce, text) = bytes.split_at_checked(NONCE_LEN).ok_or_else(unreadable)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| unreadable())?;
    let mut text = text.to_vec();
    let length = cipher(key)?
        .open_in_place(nonce, Aad::from(owner.as_bytes()), &mut text)
        .map_err(|_| unreadable())?
        .len();
    text.truncate(length);
    String::from_utf8(text)
        .map(Secret::new)
        .map_err(|_| unreadable())
}

fn cipher(key: &Secret<Vec<u8>>) -> Result<LessSafeKey, Problem> {
    let key = key.expose_secret().get(..KEY_LENGTH);
    key.and_then(|key| UnboundKey::new(&CHACHA20_POLY1305, key).ok())
        .map(LessSafeKey::new)
        .ok_or_else(|| Problem::internal("webhook secret", "the key file is too short"))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counted(std::sync::atomic::AtomicU8);

    impl Entropy for Counted {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        }
    }

    #[test]
    fn only_its_owner_s_record_opens_and_only_with_the_key() {
        let entropy = Counted(std::sync::atomic::AtomicU8::new(1));
        let key = Secret::new(vec![7; 32]);
        let secret = Secret::new("whsec_AAECAw==".to_owned());
        let sealed = seal(&key, &entropy, "key:a", &secret).unwrap();
        let again = seal(&key, &entropy, "key:a", &secret).unwrap();
        assert_ne!(sealed, again, "equal secrets do not look equal");
        assert!(!sealed.contains("AAECAw"));
        let opened = open(&key, "key:a", &sealed).unwrap();
        assert_eq!(opened.expose_secret(), secret.expose_secret());
        let mut altered = sealed.clone();
        altered.replace_range(10..11, if &sealed[10..11] == "A" { "B" } else { "A" });
        let other_key = Secret::new(vec![8; 32]);
        for (what, result) in [
            ("another owner", open(&key, "key:b", &sealed)),
            ("another key", open(&other_key, "key:a", &sealed)),
            ("altered", open(&key, "key:a", &altered)),
            ("cut", open(&key, "key:a", &sealed[..12])),
            ("empty", open(&key, "key:a", "")),
            (
                "a short key",
                open(&Secret::new(vec![7; 31]), "key:a", &sealed),
            ),
        ] {
            assert!(result.is_err(), "{what}");
        }
    }
}
