//! Where the next page of a log begins: CloudWatch's token, and the span it belongs to, because
//! `1h` means another hour on the next call.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use windlass_types::Timestamp;

use crate::times::Span;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) span: Span,
    pub(super) token: String,
}

impl Cursor {
    pub(super) fn read(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (start, end, token): (i64, i64, String) = serde_json::from_slice(&bytes).ok()?;
        Some(Self {
            span: Span {
                start: Timestamp::from_millis(start),
                end: Timestamp::from_millis(end),
            },
            token,
        })
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = (
            self.span.start.as_millis(),
            self.span.end.as_millis(),
            &self.token,
        );
        let bytes = serde_json::to_vec(&parts).map_err(|_| fmt::Error)?;
        formatter.write_str(&URL_SAFE_NO_PAD.encode(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn read_back(start: i64, end: i64, token in "\\PC{0,30}") {
            let cursor = Cursor {
                span: Span { start: Timestamp::from_millis(start), end: Timestamp::from_millis(end) },
                token,
            };
            proptest::prop_assert_eq!(Cursor::read(&cursor.to_string()), Some(cursor));
        }

        #[test]
        fn anything_else_is_rejected_or_a_cursor(text in "\\PC{0,30}") {
            let _ = Cursor::read(&text);
        }
    }
}
