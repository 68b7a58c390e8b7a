//! Typed identifiers. Each is a short, printable text that cannot be mistaken for another kind.
//!
//! Fresh ids carry 128 random bits from the `Entropy` port's caller, so a run id cannot
//! be guessed; knowing one is still not permission (access is checked per principal).

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The text cannot be an identifier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a valid {kind}: use 1 to 128 letters, digits, '_', '-', '.' or ':'")]
pub struct ParseIdError {
    kind: &'static str,
}

fn is_valid(text: &str) -> bool {
    (1..=128).contains(&text.len())
        && !text.starts_with('.')
        && !text.contains("..")
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':'))
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident, $kind:literal, $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// A fresh id from random bytes.
            pub fn from_random(random: [u8; 16]) -> Self {
                Self(format!("{}{}", $prefix, hex::encode(random)))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                if is_valid(text) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(ParseIdError { kind: $kind })
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(de::Error::custom)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 128,
                    "pattern": "^[A-Za-z0-9_:-]+(\\.[A-Za-z0-9_:-]+)*\\.?$"
                })
            }
        }
    )*};
}

ids! {
    /// A run, and the journal of the same name.
    RunId, "run id", "run_";
    /// A webhook delivery; the same on every attempt.
    DeliveryId, "delivery id", "msg_";
    /// The public part of an API key.
    KeyId, "key id", "key_";
    /// A confirm token's own id; what is marked as used.
    TokenId, "token id", "tok_";
}

/// The letters of [`base32`].
pub const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// 128 random bits as 26 lower-case letters and digits, for ids whose form a contract prescribes.
pub fn base32(bytes: [u8; 16]) -> String {
    let bits = u128::from_be_bytes(bytes);
    let mut text = String::with_capacity(26);
    for index in 0..26_u32 {
        // 26 × 5 bits are two more than there are.
        let five = match 123_u32.checked_sub(index * 5) {
            Some(shift) => bits >> shift,
            None => bits << 2,
        };
        let place = usize::try_from(five & 31).unwrap_or_default();
        text.push(char::from(BASE32[place]));
    }
    text
}

macro_rules! trace_ids {
    ($($(#[$doc:meta])* $name:ident, $bytes:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub struct $name([u8; $bytes]);

        impl $name {
            /// An id from random bytes.
            pub const fn from_bytes(bytes: [u8; $bytes]) -> Self {
                Self(bytes)
            }

            /// The raw bytes.
            pub const fn as_bytes(&self) -> &[u8; $bytes] {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&hex::encode(self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, formatter)
            }
        }

        impl FromStr for $name {
            type Err = ParseTraceIdError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let mut bytes = [0; $bytes];
                hex::decode_to_slice(text, &mut bytes).map_err(|_| ParseTraceIdError)?;
                Ok(Self(bytes))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(de::Error::custom)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "pattern": "^[0-9a-f]+$" })
            }
        }
    )*};
}

/// The text is not a W3C trace or span id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a trace or span id (lower-case hex)")]
pub struct ParseTraceIdError;

trace_ids! {
    /// A W3C trace id: one per run, shared by its children.
    TraceId, 16;
    /// A W3C span id: one per run attempt, step or call.
    SpanId, 8;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_texts_are_refused() {
        let long = "a".repeat(129);
        for text in [
            "", "..", "../etc", "a/b", "a\0b", "a b", ".hidden", "a..b", "é", &long,
        ] {
            assert!(text.parse::<RunId>().is_err(), "{text:?}");
        }
        for text in [
            "run_1",
            "r_2026-01-21T10-00-00Z_abcd",
            "job_abc123def456",
            "a.b:c",
        ] {
            assert_eq!(text.parse::<RunId>().unwrap().as_str(), text);
        }
    }
}
