//! Standard Webhooks signatures: HMAC-SHA256 over `id.timestamp.body`.
//!
//! A secret of the form `whsec_<base64>` is the bytes behind it, as the libraries of that
//! standard read it; any other secret is its own text.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use windlass_types::{DeliveryId, Secret, Timestamp};

/// The headers of one attempt.
pub fn sign(
    id: &DeliveryId,
    at: Timestamp,
    body: &str,
    secret: &Secret<String>,
) -> Vec<(String, String)> {
    let timestamp = at.as_seconds().to_string();
    let mut headers = vec![
        ("content-type".to_owned(), "application/json".to_owned()),
        ("webhook-id".to_owned(), id.to_string()),
        ("webhook-timestamp".to_owned(), timestamp.clone()),
    ];
    // HMAC takes keys of any length, so this cannot fail.
    if let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&key_of(secret)) {
        for part in [id.as_str(), ".", &timestamp, ".", body] {
            mac.update(part.as_bytes());
        }
        let signature = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
        headers.push(("webhook-signature".to_owned(), signature));
    }
    headers
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

    #[test]
    fn headers_are_those_of_standard_webhooks() {
        let headers = sign(
            &"dlv_1".parse().unwrap(),
            Timestamp::from_millis(1_674_087_231_999),
            r#"{"test": 2432232314}"#,
            &Secret::new("secret".to_owned()),
        );
        let shown: Vec<String> = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @"
        content-type: application/json
        webhook-id: dlv_1
        webhook-timestamp: 1674087231
        webhook-signature: v1,rlDXy/3jHNL3MZlp49uCfHkmIopXyfYMtbTbqlHHX9k=
        ");
    }

    /// The example of the Standard Webhooks specification.
    #[test]
    fn the_standard_s_own_example_verifies() {
        let headers = sign(
            &"msg_p5jXN8AQM9LWM0D4loKWxJek".parse().unwrap(),
            Timestamp::from_millis(1_614_265_330_000),
            r#"{"test": 2432232314}"#,
            &Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned()),
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
