//! Secrets: no key, token or password leaves with a page or a patch. Issues never show one.

use serde_json::Value;
use windlass_launch_scout::SecretScan;

use crate::gates::{
    finding::{Checked, Finding, Limit},
    input::GateInput,
    outside::GateFault,
    run::Gate,
};

const FOUND: &str = "GATE_SECRET_FOUND";

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
        let scan = SecretScan::default();
        let mut findings = Vec::new();
        for path in input.changed.keys() {
            if input.stopped() {
                break;
            }
            let Some(text) = input.site.text(path) else {
                continue;
            };
            for (line, shown) in scan.lines(text) {
                findings.push(Finding::at(FOUND, path, line, &shown, message(&shown)));
            }
        }
        findings.extend(in_patches(&scan, input));
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
fn in_patches(scan: &SecretScan, input: &GateInput) -> Vec<Finding> {
    let bundle = input.artifact("patch_bundle.json").unwrap_or_default();
    let patches = bundle.get("patches").and_then(Value::as_array);
    let mut found = Vec::new();
    for patch in patches.into_iter().flatten() {
        let field = |name: &str| patch.get(name).and_then(Value::as_str).unwrap_or_default();
        if input.site.text(field("path")).is_some() {
            continue;
        }
        for (line, shown) in scan.lines(field("new_content")) {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::gates::{
        input::{ArtifactFile, GateInput},
        sample::{GUIDE, codes, page_with, subject, with_text},
    };

    /// Made up of parts, so that no scanner takes this file for a leak.
    fn token() -> String {
        format!("{}{}", "ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
    }

    #[test]
    fn secrets_are_found_and_placeholders_are_not() {
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
