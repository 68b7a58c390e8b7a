//! What makes two claims the same claim, and how a page says which claim backs a sentence.

use icu_normalizer::ComposingNormalizerBorrowed;
use windlass_types::Digest;

use crate::ClaimKind;

/// What stands for the product's name in a normalised claim.
const PRODUCT: &str = "{product_name}";

/// The form in which claims are compared and hashed: composed, trimmed, single spaces, lower
/// case, with the product's name replaced by a placeholder.
pub fn normalise(text: &str, product_name: &str) -> String {
    let text = plain(text);
    let name = plain(product_name);
    if name.is_empty() {
        text
    } else {
        text.replace(&name, PRODUCT)
    }
}

fn plain(text: &str) -> String {
    let composed = ComposingNormalizerBorrowed::new_nfc().normalize(text);
    composed
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase()
}

/// The id of a claim: 64 hex characters over its normalised text and its kind.
pub fn claim_id(text: &str, product_name: &str, kind: ClaimKind) -> String {
    let hashed = format!("{}|{}", normalise(text, product_name), kind.as_str());
    Digest::of(hashed.as_bytes()).to_string()
}

/// Whether a text has the form of a claim id.
pub fn is_claim_id(text: &str) -> bool {
    text.len() == 64
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// The comment that follows a sentence which a claim backs.
pub fn marker(claim_id: &str) -> String {
    format!("<!-- claim_id: {claim_id} -->")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_given_vector() {
        let text = "Acme PDF  reads DOCX files.";
        assert_eq!(
            normalise(text, "Acme PDF"),
            "{product_name} reads docx files."
        );
        assert_eq!(
            claim_id(text, "Acme PDF", ClaimKind::Format),
            "2ef33c9616ee7cb06e3a1828d247f584d131545beaefdc7bbddaf9fae43e1902"
        );
    }

    #[test]
    fn irrelevant_spelling_has_the_same_id() {
        let id = |text: &str| claim_id(text, "Acme Café", ClaimKind::Feature);
        let expected = id("Acme Café opens résumés.");
        for same in [
            "  acme café opens résumés.\n",
            "ACME CAFÉ\topens\u{a0}RÉSUMÉS.",
            "Acme Cafe\u{301} opens re\u{301}sume\u{301}s.",
        ] {
            assert_eq!(id(same), expected, "{same:?}");
        }
        for other in [
            "Acme Café opens résumés",
            "Acme Cafe opens résumés.",
            "Acme opens résumés.",
        ] {
            assert_ne!(id(other), expected, "{other:?}");
        }
        let text = "Acme Café opens résumés.";
        assert_ne!(claim_id(text, "Acme Café", ClaimKind::Api), expected);
    }

    #[test]
    fn a_product_without_a_name_replaces_nothing() {
        assert_eq!(normalise("Reads  it.", " "), "reads it.");
    }

    #[test]
    fn a_marker_is_a_comment() {
        assert_eq!(marker("b"), "<!-- claim_id: b -->");
    }

    #[test]
    fn the_form_of_an_id() {
        for (text, good) in [
            ("a".repeat(64), true),
            ("A".repeat(64), false),
            ("a".repeat(63), false),
            ("g".repeat(64), false),
            (String::new(), false),
        ] {
            assert_eq!(is_claim_id(&text), good, "{text}");
        }
    }
}
