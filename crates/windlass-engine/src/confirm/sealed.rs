//! State that a client carries for us between two rounds of a call: claims and an HMAC, as text
//! with a versioned prefix.
//!
//! The claims are signed, not hidden: nothing secret goes in. The purpose is part of what is
//! signed, so a text for one purpose opens for no other. Confirm tokens are not among them: those
//! are opaque and journalled, see `token`.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use windlass_types::{Digest, Secret, Timestamp, TokenId};

const PREFIX: &str = "wst1";
/// Longer texts are refused before any work is done on them.
const MAX_LENGTH: usize = 4096;

/// What a sealed text says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// Its own id.
    #[serde(rename = "jti")]
    pub id: TokenId,
    /// Who may bring it back.
    #[serde(rename = "sub")]
    pub principal: String,
    /// What it is for.
    #[serde(rename = "op")]
    pub operation: String,
    /// The call it belongs to.
    #[serde(rename = "plan")]
    pub plan_digest: Digest,
    /// When it stops working.
    #[serde(rename = "exp")]
    pub expires_at: Timestamp,
}

/// Why it does not open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealedError {
    /// Not ours, or altered.
    #[error("the state was not sealed by this installation")]
    Invalid,
    /// Too old.
    #[error("the state has expired")]
    Expired,
}

/// Seals and opens such texts with one key.
pub struct Sealer {
    key: Secret<Vec<u8>>,
}

impl Sealer {
    /// A sealer; the key has at least 32 bytes.
    pub const fn new(key: Secret<Vec<u8>>) -> Self {
        Self { key }
    }

    /// The text.
    pub fn seal(&self, claims: &Claims) -> Result<String, serde_json::Error> {
        let body = URL_SAFE_NO_PAD.encode(serde_json::to_vec(claims)?);
        let tag = URL_SAFE_NO_PAD.encode(self.mac(body.as_bytes()).finalize().into_bytes());
        Ok(format!("{PREFIX}.{body}.{tag}"))
    }

    /// The claims of a text that is ours, unaltered and young enough.
    pub fn open(&self, token: &str, now: Timestamp) -> Result<Claims, SealedError> {
        if token.len() > MAX_LENGTH {
            return Err(SealedError::Invalid);
        }
        let mut parts = token.split('.');
        let (Some(PREFIX), Some(body), Some(tag), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(SealedError::Invalid);
        };
        let tag = URL_SAFE_NO_PAD
            .decode(tag)
            .map_err(|_| SealedError::Invalid)?;
        // Constant-time comparison; nothing of the body is looked at before it holds.
        self.mac(body.as_bytes())
            .verify_slice(&tag)
            .map_err(|_| SealedError::Invalid)?;
        let body = URL_SAFE_NO_PAD
            .decode(body)
            .map_err(|_| SealedError::Invalid)?;
        let claims: Claims = serde_json::from_slice(&body).map_err(|_| SealedError::Invalid)?;
        if claims.expires_at <= now {
            return Err(SealedError::Expired);
        }
        Ok(claims)
    }

    fn mac(&self, body: &[u8]) -> Hmac<Sha256> {
        // HMAC takes keys of any length, so the error cannot happen; an empty key would still
        // only produce tokens nobody can open elsewhere.
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key.expose_secret())
            .unwrap_or_else(|_| Hmac::<Sha256>::new(&Default::default()));
        mac.update(b"windlass.state.v1\0");
        mac.update(body);
        mac
    }
}
