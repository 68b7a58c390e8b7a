//! Secrets: no key, token or password leaves with a page or a patch. Issues never show one.

use serde_json::Value;
use windlass_secrets::Redactor;

use crate::{
    finding::{Checked, Finding, Limit},
    input::GateInput,
    outside::GateFault,
    run::Gate,
};

const FOUND: &str = "GATE_SECRET_FOUND";

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

/// The gate.
pub struct Secrets;

impl Gate for Secrets {
    fn name(&self) -> &'static str {
        "Secrets"
    }

    fn limit(&self) -> Limit {
        Limit::Total(30, 60)
    }

    fn check(&self, input: &GateInput) -> Result<Checked, GateFault> {
        let redactor = Redactor::new();
        let mut findings = Vec::new();
        for path in input.changed.keys() {
            if input.stopped() {
                break;
            }
            let Some(text) = input.site.text(path) else {
                continue;
            };
            for (line, shown) in secrets(&redactor, text) {
                findings.push(Finding::at(FOUND, path, line, &shown, message(&shown)));
            }
        }
        findings.extend(in_patches(&redactor, input));
        Ok(Checked::Ran(findings))
    }
}

fn message(shown: &str) -> String {
    let kind = shown
        .split_once("[redacted:")
        .and_then(|(_, rest)| rest.split_once(']'))
        .map_or("secret", |(label, _)| label);
    format!("The line holds what looks like a secret ({kind}). Remove it and revoke it.")
}

/// Patches whose file is not in the site any more, or is not text there.
fn in_patches(redactor: &Redactor, input: &GateInput) -> Vec<Finding> {
    let bundle = input.artifact("patch_bundle.json").unwrap_or_default();
    let patches = bundle.get("patches").and_then(Value::as_array);
    let mut found = Vec::new();
    for patch in patches.into_iter().flatten() {
        let field = |name: &str| patch.get(name).and_then(Value::as_str).unwrap_or_default();
        if input.site.text(field("path")).is_some() {
            continue;
        }
        for (line, shown) in secrets(redactor, field("new_content")) {
            let at = format!("{} line {line}: {shown}", field("patch_id"));
            found.push(Finding::artifact(
                FOUND,
                "patch_bundle.json",
                &at,
                message(&shown),
            ));
        }
    }
    found
}

/// The lines that hold a secret, each with its secret taken out.
fn secrets(redactor: &Redactor, text: &str) -> Vec<(u64, String)> {
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
        let redacted = redactor.redact(line);
        if redacted != line && removed(line, &redacted).iter().any(is_secret) {
            found.push((number, redacted.into_owned()));
        } else if let Some(token) = random_token(line) {
            found.push((number, line.replace(token, "[redacted:high-entropy]")));
        }
    }
    found
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
    use serde_json::json;

    use super::*;
    use crate::{
        input::{ArtifactFile, GateInput},
        sample::{GUIDE, codes, page_with, subject, with_text},
    };

    /// Made up of parts, so that no scanner takes this file for a leak.
    fn token() -> String {
        format!("{}{}", "ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
    }

    #[test]
    fn secrets_are_found_and_stand_ins_are_not() {
        let random = ["Zm9vYmFy", "QmF6UXV4", "Q29yZ2U5", "R3JhdWx0", "7xKp"].concat();
        let key = [
            "-----BEGIN RSA PRIVATE",
            " KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----",
        ]
        .concat();
        let cases = [
            (token(), 1),
            (format!("password = \"{}\"", "f8Kq2Lm9Zx41vB"), 1),
            (random, 1),
            (key, 1),
            ("password = \"your-password\"".to_owned(), 0),
            ("api_key=YOUR_API_KEY".to_owned(), 0),
            ("token = get_token()".to_owned(), 0),
            (format!("key {}{}", "AKIA", "IOSFODNN7EXAMPLE"), 0),
            (
                format!("<!-- claim_id: {} -->", "0123456789abcdef".repeat(4)),
                0,
            ),
            (
                "A_very_long_identifier_that_a_person_wrote_by_hand".to_owned(),
                0,
            ),
            ("The password is asked for.".to_owned(), 0),
        ];
        for (body, times) in cases {
            let found = codes(&Secrets, with_text(GUIDE, &page_with(&body)));
            assert_eq!(found, vec![FOUND; times], "{body}");
        }
    }

    #[test]
    fn findings_never_show_the_secret() {
        let subject = with_text(GUIDE, &page_with(&format!("Use {} now.", token())));
        let Ok(Checked::Ran(found)) = Secrets.check(&GateInput::new(subject)) else {
            panic!("did not run");
        };
        assert_eq!(found.len(), 1);
        assert!(!format!("{found:?}").contains(&token()[8..]));
        assert!(found[0].excerpt.contains("[redacted:"));
    }

    #[test]
    fn patches_of_removed_files_count() {
        let mut subject = subject();
        let patch = json!({"patches": [{"patch_id": "patch_001", "path": "gone.md", "new_content": token()}]});
        subject.artifacts = vec![ArtifactFile {
            name: "patch_bundle.json".to_owned(),
            bytes: patch.to_string().into_bytes(),
            schema: json!({}),
        }];
        assert_eq!(codes(&Secrets, subject), [FOUND]);
    }
}
