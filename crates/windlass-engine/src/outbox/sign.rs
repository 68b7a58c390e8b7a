//! Signatures of a delivery, in both forms receivers know.
//!
//! Standard Webhooks: HMAC-SHA256 over `id.timestamp.body`. A secret of the form
//! `whsec_<base64>` is the bytes behind it, as the libraries of that standard read it; any other
//! secret is its own text. During a rotation there is a signature for each secret.
//!
//! `X-Aios-Signature`: HMAC-SHA256 over `timestamp.body`, keyed with the whole text of the secret.
//! The header holds one signature, so during a rotation it stays with the secret receivers have.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use windlass_types::{DeliveryId, Secret, Timestamp};

use super::SigningSecrets;

const USER_AGENT: &str = concat!("Windlass/", env!("CARGO_PKG_VERSION"));

/// The headers of one attempt.
pub fn sign(
    id: &DeliveryId,
    at: Timestamp,
    body: &str,
    secrets: &SigningSecrets,
) -> Vec<(String, String)> {
    let timestamp = at.as_seconds().to_string();
    let standard: Vec<String> = std::iter::once(&secrets.current)
        .chain(&secrets.previous)
        .map(|secret| {
            let parts = [id.as_str(), ".", &timestamp, ".", body];
            format!("v1,{}", STANDARD.encode(mac(&key_of(secret), &parts)))
        })
        .collect();
    let held = secrets.previous.as_ref().unwrap_or(&secrets.current);
    let own = mac(held.expose_secret().as_bytes(), &[&timestamp, ".", body]);
    [
        ("content-type", "application/json".to_owned()),
        ("user-agent", USER_AGENT.to_owned()),
        ("x-aios-timestamp", timestamp.clone()),
        ("x-aios-signature", format!("sha256={}", hex::encode(own))),
        ("webhook-id", id.to_string()),
        ("webhook-timestamp", timestamp),
        ("webhook-signature", standard.join(" ")),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

fn mac(key: &[u8], parts: &[&str]) -> Vec<u8> {
    // HMAC takes keys of any length, so the error cannot happen; an empty signature would verify
    // nowhere.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return Vec::new();
    };
    for part in parts {
        mac.update(part.as_bytes());
    }
    mac.finalize().into_bytes().to_vec()
}

fn key_of(secret: &Secret<String>) -> Vec<u8> {
    let text = secret.expose_secret();
    text.strip_prefix("whsec_")
        .and_then(|encoded| STANDARD.decode(encoded).ok())
        .unwrap_or_else(|| text.clone().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(secret: &str) -> SigningSecrets {
        SigningSecrets::one(Secret::new(secret.to_owned()))
    }

    fn shown(headers: &[(String, String)]) -> String {
        let lines: Vec<String> = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        lines.join("\n")
    }

    const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const BODY: &str = r#"{"event":"pipeline.completed","job_id":"job_abc123def456"}"#;

    /// Both signatures of a known secret, id, moment and body, computed elsewhere.
    #[test]
    fn headers_are_those_of_contract_and_standard() {
        let at = Timestamp::from_millis(1_740_230_400_999);
        let headers = sign(&"msg_0001".parse().unwrap(), at, BODY, &one(SECRET));
        insta::assert_snapshot!(shown(&headers), @"
        content-type: application/json
        user-agent: Windlass/0.1.0
        x-aios-timestamp: 1740230400
        x-aios-signature: sha256=b2f32155fa82673aab2766cd982065576fda30892838c703ad33159592d318af
        webhook-id: msg_0001
        webhook-timestamp: 1740230400
        webhook-signature: v1,MRmZMII0dQunMHjs0xNF1mPYh40RI2qhGcVljGD/71U=
        ");
    }

    #[test]
    fn a_rotation_carries_both_and_the_contract_s_header_stays_with_the_old() {
        let at = Timestamp::from_millis(1_740_230_400_000);
        let id = "msg_0001".parse().unwrap();
        let value = |secrets: &SigningSecrets, name: &str| {
            let headers = sign(&id, at, BODY, secrets);
            let found = headers.into_iter().find(|(header, _)| header == name);
            found.unwrap().1
        };
        let (old, new) = (one(SECRET), one("whsec_/v7+/v7+/v7+/v7+/v7+/g=="));
        let both = SigningSecrets {
            current: new.current.clone(),
            previous: Some(old.current.clone()),
        };
        let standard = "webhook-signature";
        assert_eq!(
            value(&both, standard),
            format!("{} {}", value(&new, standard), value(&old, standard))
        );
        let own = "x-aios-signature";
        assert_eq!(value(&both, own), value(&old, own));
    }

    /// The example of the Standard Webhooks specification.
    #[test]
    fn the_standard_s_own_example_verifies() {
        let headers = sign(
            &"msg_p5jXN8AQM9LWM0D4loKWxJek".parse().unwrap(),
            Timestamp::from_millis(1_614_265_330_000),
            r#"{"test": 2432232314}"#,
            &one("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
        );
        let signature = headers
            .iter()
            .find(|(name, _)| name == "webhook-signature")
            .unwrap();
        assert_eq!(
            signature.1,
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        );
    }
}
