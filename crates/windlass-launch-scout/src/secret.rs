//! Keys, tokens and passwords in a text: found by their shape, never repeated.
//!
//! One rule for who collects code and who judges pages, so that what would be refused on a page
//! is not collected for one.

use std::sync::LazyLock;

use windlass_secrets::Redactor;

/// Labels that say what a value is called, not what it looks like: documentation is full of
/// `password=…`, so the value must look like one too.
const BY_NAME: [&str; 7] = [
    "password",
    "secret",
    "token",
    "api-key",
    "bearer",
    "authorization",
    "url-password",
];

static SCAN: LazyLock<SecretScan> = LazyLock::new(SecretScan::default);

/// Whether a text holds a secret.
pub(crate) fn is_leaking(text: &str) -> bool {
    SCAN.is_leaking(text)
}

/// Looks for secrets.
pub struct SecretScan {
    redactor: Redactor,
}

impl Default for SecretScan {
    fn default() -> Self {
        Self {
            redactor: Redactor::new(),
        }
    }
}

impl SecretScan {
    /// Whether a text holds a secret.
    pub fn is_leaking(&self, text: &str) -> bool {
        !self.lines(text).is_empty()
    }

    /// The lines that hold a secret, from 1, each with its secret taken out.
    pub fn lines(&self, text: &str) -> Vec<(u64, String)> {
        let mut found = Vec::new();
        let mut in_key = false;
        for (index, line) in text.lines().enumerate() {
            let number = index as u64 + 1;
            if line.contains("-----BEGIN ") && line.contains("PRIVATE KEY-----") {
                in_key = true;
                found.push((number, "[redacted:private-key]".to_owned()));
            }
            if in_key {
                in_key = !line.contains("-----END ");
                continue;
            }
            let redacted = self.redactor.redact(line);
            if redacted != line && removed(line, &redacted).iter().any(is_secret) {
                found.push((number, redacted.into_owned()));
            } else if let Some(token) = random_token(line) {
                found.push((number, line.replace(token, "[redacted:high-entropy]")));
            }
        }
        found
    }
}

/// What a redaction took out, each with its label.
fn removed<'l>(line: &'l str, redacted: &str) -> Vec<(String, &'l str)> {
    let mut found = Vec::new();
    let mut pieces = redacted.split("[redacted:");
    let mut rest = line
        .strip_prefix(pieces.next().unwrap_or_default())
        .unwrap_or(line);
    for piece in pieces {
        let (label, after) = piece.split_once(']').unwrap_or((piece, ""));
        let end = if after.is_empty() {
            Some(rest.len())
        } else {
            rest.find(after)
        };
        let end = end.unwrap_or(rest.len());
        found.push((label.to_owned(), &rest[..end]));
        rest = rest[end..].strip_prefix(after).unwrap_or_default();
    }
    found
}

fn is_secret((label, value): &(String, &str)) -> bool {
    let lower = value.to_ascii_lowercase();
    let stand_ins = [
        "example",
        "your",
        "xxxx",
        "placeholder",
        "changeme",
        "redacted",
        "<",
        "${",
        "{{",
        "…",
        "...",
    ];
    if stand_ins.iter().any(|word| lower.contains(word)) {
        return false;
    }
    !BY_NAME.contains(&label.as_str())
        || (value.len() >= 12 && is_mixed(value) && entropy(value) >= 3.2)
}

/// A long word that no person wrote: letters of both cases and digits in no order.
fn random_token(line: &str) -> Option<&str> {
    line.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '_' | '=' | '-')))
        .find(|token| {
            let body = token.trim_matches(['=', '-', '_']);
            let checksum = ["sha256-", "sha384-", "sha512-"]
                .iter()
                .any(|p| token.starts_with(p));
            body.len() >= 32
                && !checksum
                && is_mixed(body)
                && body.bytes().any(|b| b.is_ascii_uppercase())
                && body.bytes().any(|b| b.is_ascii_lowercase())
                && body.bytes().filter(u8::is_ascii_digit).count() >= 3
                && entropy(body) >= 4.3
        })
}

fn is_mixed(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit()) && text.bytes().any(|b| b.is_ascii_alphabetic())
}

/// Bits per character.
#[expect(clippy::cast_precision_loss, reason = "a line is short")]
fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = text.len() as f64;
    let share = |count: &&u32| f64::from(**count) / length;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| -share(&count) * share(&count).log2())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_distinguished_from_placeholders() {
        // Made up of parts, so that no scanner takes this file for a leak.
        let token = format!("{}{}", "ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
        let scan = SecretScan::default();
        for (text, expected) in [
            (format!("bank_token = \"{token}\""), true),
            (
                format!("a = 1\nb = '{}{}'", "AKIA", "QX7LZ2MR5TV8NB4W"),
                true,
            ),
            ("token = get_token()".to_owned(), false),
            ("password = \"your-password\"".to_owned(), false),
        ] {
            assert_eq!(scan.is_leaking(&text), expected, "{text}");
        }
        let shown = scan.lines(&format!("x\nkey {token}"));
        assert_eq!(shown.len(), 1);
        assert_eq!(shown[0].0, 2);
        assert!(!shown[0].1.contains(&token));
    }
}
