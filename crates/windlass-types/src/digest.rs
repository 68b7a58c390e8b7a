//! SHA-256 digests: of bytes, and of JSON values in their canonical form.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};

use crate::canonical::canonical_json;

/// A SHA-256 digest, shown as 64 lower-case hex characters.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The all-zero digest: what the first event of a journal names as its predecessor.
    pub const ZERO: Self = Self([0; 32]);

    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of several parts, each preceded by its length, so that no two
    /// different lists of parts share a digest by concatenation.
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    /// The digest of a JSON value, independent of key order and spacing.
    pub fn of_json(value: &serde_json::Value) -> Self {
        Self::of(canonical_json(value).as_bytes())
    }

    /// The raw bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// A digest from its raw bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The first twelve hex characters, for people.
    pub fn short(&self) -> String {
        hex::encode(&self.0[..6])
    }
}

impl Digest {
    /// Calls `work` with the 64 characters, which never leave the stack.
    fn with_text<T>(&self, work: impl FnOnce(&str) -> T) -> T {
        let mut text = [0_u8; 64];
        // The buffer has the right size and hex is ASCII; neither can fail.
        let _ = hex::encode_to_slice(self.0, &mut text);
        work(str::from_utf8(&text).unwrap_or_default())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_text(|text| formatter.write_str(text))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Digest({})", self.short())
    }
}

/// The text is not 64 hex characters.
#[derive(Debug, thiserror::Error)]
#[error("not a SHA-256 digest (64 hex characters)")]
pub struct ParseDigestError;

impl FromStr for Digest {
    type Err = ParseDigestError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| ParseDigestError)?;
        Ok(Self(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.with_text(|text| serializer.serialize_str(text))
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl schemars::JsonSchema for Digest {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Digest".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[0-9a-f]{64}$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_order_does_not_matter_but_values_do() {
        let left = serde_json::json!({"a": 1, "b": [1, 2]});
        let right: serde_json::Value = serde_json::from_str(r#"{"b":[1,2],"a":1}"#).unwrap();
        assert_eq!(Digest::of_json(&left), Digest::of_json(&right));
        let other = serde_json::json!({"a": 1, "b": [2, 1]});
        assert_ne!(Digest::of_json(&left), Digest::of_json(&other));
    }

    #[test]
    fn parts_do_not_run_together() {
        assert_ne!(
            Digest::of_parts(&[b"ab", b"c"]),
            Digest::of_parts(&[b"a", b"bc"])
        );
    }

    #[test]
    fn text_round_trip() {
        let digest = Digest::of(b"windlass");
        assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
        assert!("xyz".parse::<Digest>().is_err());
    }
}
