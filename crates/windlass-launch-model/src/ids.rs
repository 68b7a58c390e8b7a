//! The ids of a launch: runs, branches, patches, work items, product slugs.
//!
//! Issue ids are made by [`crate::Issue::id`], claim ids by [`crate::claim`].

use icu_normalizer::DecomposingNormalizerBorrowed;
use windlass_types::{
    Digest, RunId, Timestamp,
    id::{BASE32, ParseIdError, base32},
};

use crate::Worker;

/// The last moment that is shown as a date.
const LAST_MILLIS: i64 = 253_402_207_200_000;
const SLUG_LIMIT: usize = 63;

/// The pattern of a product slug, as schemas show it.
pub const SLUG_PATTERN: &str = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$";

/// A fresh run id: `r_2026-01-21T10-00-00Z_` and 26 characters from 128 random bits.
pub fn run_id(at: Timestamp, random: [u8; 16]) -> Result<RunId, ParseIdError> {
    let at = Timestamp::from_millis(at.as_millis().clamp(0, LAST_MILLIS)).to_string();
    let seconds = at.split('.').next().unwrap_or_default().replace(':', "-");
    format!("r_{seconds}Z_{}", base32(random)).parse()
}

/// Reads a run id; `None` for any text of another form, which then names no run.
pub fn parse_run_id(text: &str) -> Option<RunId> {
    const SHAPE: &[u8; 23] = b"r_0000-00-00T00-00-00Z_";
    let bytes = text.as_bytes();
    if bytes.len() != SHAPE.len() + 26 {
        return None;
    }
    let (head, tail) = bytes.split_at(SHAPE.len());
    let head_fits = head.iter().zip(SHAPE).all(|(byte, shape)| match shape {
        b'0' => byte.is_ascii_digit(),
        other => byte == other,
    });
    if head_fits && tail.iter().all(|byte| BASE32.contains(byte)) {
        text.parse().ok()
    } else {
        None
    }
}

/// The branch a run's pages are committed to.
pub fn branch_name(run_id: &RunId, product_slug: &str) -> String {
    format!("launch/{run_id}/{product_slug}")
}

/// The id of the patch with this number, counted from 1 within the run.
pub fn patch_id(sequence: u32) -> String {
    format!("patch_{sequence:03}")
}

/// The number in a patch id.
pub fn patch_sequence(patch_id: &str) -> Option<u32> {
    let digits = patch_id.strip_prefix("patch_")?;
    if digits.len() < 3 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

/// The id of one piece of work; the same piece never starts twice.
pub fn work_item_id(run_id: &RunId, worker: Worker, attempt: u32, scope_key: &str) -> String {
    format!("{run_id}:{}:{attempt}:{scope_key}", worker.as_str())
}

/// Whether a text is a product slug, and so safe in a path and in a branch.
pub fn is_product_slug(text: &str) -> bool {
    let bytes = text.as_bytes();
    let edge = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    bytes.len() <= SLUG_LIMIT
        && edge(bytes.first())
        && edge(bytes.last())
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-')
}

/// A text as a part of an address: lower-case ASCII letters and digits, single dashes between, at
/// most 60 characters; empty when nothing is left.
pub fn slug(text: &str) -> String {
    let mut slug = String::with_capacity(text.len());
    for character in text.chars().flat_map(char::to_lowercase) {
        if character.is_ascii_alphanumeric() {
            slug.push(character);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    // ASCII alone, so any byte is a boundary.
    slug.truncate(60);
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

/// The slug of a product's name: accents dropped, lower case, everything else a single dash.
/// A name without a Latin letter or digit gets a slug from its digest.
pub fn product_slug(product_name: &str) -> String {
    let decomposed = DecomposingNormalizerBorrowed::new_nfkd().normalize(product_name);
    let mut slug = String::new();
    for character in decomposed.chars() {
        if slug.len() >= SLUG_LIMIT {
            break;
        }
        if character.is_ascii_alphanumeric() {
            slug.push(character.to_ascii_lowercase());
        } else if is_accent(character) {
            // The letter before it stands alone.
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() {
        format!("product-{}", Digest::of(product_name.as_bytes()).short())
    } else {
        slug.to_owned()
    }
}

/// Combining marks that Latin letters decompose into.
fn is_accent(character: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&character)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn moment() -> Timestamp {
        "2026-01-21T10:00:00.987Z".parse().unwrap()
    }

    #[test]
    fn texts_as_parts_of_addresses() {
        for (text, expected) in [
            ("Read a  File!", "read-a-file"),
            ("--A--", "a"),
            ("読", ""),
            ("Ünder", "nder"),
        ] {
            assert_eq!(slug(text), expected, "{text}");
        }
        assert_eq!(slug(&"ab ".repeat(40)).len(), 59);
    }

    #[test]
    fn a_run_id_holds_the_second_and_128_bits() {
        for (random, expected) in [
            ([0; 16], "r_2026-01-21T10-00-00Z_aaaaaaaaaaaaaaaaaaaaaaaaaa"),
            (
                [0xff; 16],
                "r_2026-01-21T10-00-00Z_77777777777777777777777774",
            ),
            (
                *b"windlass-windlas",
                "r_2026-01-21T10-00-00Z_o5uw4zdmmfzxgllxnfxgi3dbom",
            ),
        ] {
            let id = run_id(moment(), random).unwrap();
            assert_eq!(id.as_str(), expected);
            assert_eq!(id.as_str().len(), 49);
            assert_eq!(parse_run_id(id.as_str()), Some(id));
        }
    }

    #[test]
    fn times_out_of_range_still_make_an_id() {
        for millis in [i64::MIN, -1, i64::MAX] {
            let id = run_id(Timestamp::from_millis(millis), [7; 16]).unwrap();
            assert!(parse_run_id(id.as_str()).is_some(), "{id}");
        }
    }

    #[test]
    fn hostile_run_ids_name_no_run() {
        let good = run_id(moment(), [9; 16]).unwrap().to_string();
        let long = format!("{good}{}", "a".repeat(10_000));
        for text in [
            "",
            "r_2026-01-21T10-00-00Z_abcd",
            "../../../../etc/passwd",
            "r_2026-01-21T10-00-00Z_/../../../../etc/passwd..",
            "r_2026-01-21T10-00-00Z_aaaaaaaaaaaaaaaaaaaaaaaaa\0",
            "r_2026-01-21T10-00-00Z_AAAAAAAAAAAAAAAAAAAAAAAAAA",
            "r_2026-01-21T10-00-00Z_aaaaaaaaaaaaaaaaaaaaaaaaa1",
            "r_2026-01-21T10:00:00Z_aaaaaaaaaaaaaaaaaaaaaaaaaa",
            "R_2026-01-21T10-00-00Z_aaaaaaaaaaaaaaaaaaaaaaaaaa",
            &format!(" {good}"),
            &format!("{good}\n"),
            &long,
        ] {
            assert_eq!(parse_run_id(text), None, "{text:?}");
        }
    }

    #[test]
    fn names_built_from_ids() {
        let id = run_id(moment(), [0; 16]).unwrap();
        assert_eq!(
            branch_name(&id, "acme-pdf"),
            "launch/r_2026-01-21T10-00-00Z_aaaaaaaaaaaaaaaaaaaaaaaaaa/acme-pdf"
        );
        assert_eq!(
            work_item_id(&id, Worker::Drafter, 2, "docs"),
            "r_2026-01-21T10-00-00Z_aaaaaaaaaaaaaaaaaaaaaaaaaa:W5:2:docs"
        );
    }

    #[test]
    fn patch_ids_count() {
        for (sequence, id) in [(1, "patch_001"), (42, "patch_042"), (1234, "patch_1234")] {
            assert_eq!(patch_id(sequence), id);
            assert_eq!(patch_sequence(id), Some(sequence));
        }
        for text in [
            "patch_",
            "patch_1",
            "patch_+01",
            "pat_001",
            "patch_99999999999",
        ] {
            assert_eq!(patch_sequence(text), None, "{text}");
        }
    }

    #[test]
    fn slugs_of_names() {
        for (name, slug) in [
            ("Acme PDF", "acme-pdf"),
            ("  Acme -- PDF!  ", "acme-pdf"),
            ("Café Übersicht 2", "cafe-ubersicht-2"),
            ("C++ Tools", "c-tools"),
            ("\u{ff21}\u{ff22}", "ab"),
            ("..", "product-5ec1f7e700f3"),
            ("日本", "product-cf2abf0c5be3"),
        ] {
            let made = product_slug(name);
            assert_eq!(made, slug, "{name}");
            assert!(is_product_slug(&made), "{name} → {made}");
        }
    }

    #[test]
    fn what_is_a_slug() {
        let longest = "a".repeat(63);
        let too_long = "a".repeat(64);
        for (text, good) in [
            ("a", true),
            ("a-1", true),
            (longest.as_str(), true),
            (too_long.as_str(), false),
            ("", false),
            ("-a", false),
            ("a-", false),
            ("A", false),
            ("a.b", false),
            ("a/b", false),
            ("a\n", false),
        ] {
            assert_eq!(is_product_slug(text), good, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn every_name_has_a_valid_slug(name in "\\PC{0,90}") {
            let slug = product_slug(&name);
            prop_assert!(is_product_slug(&slug), "{:?} → {:?}", name, slug);
        }

        #[test]
        fn every_fresh_id_is_read_back(random in any::<[u8; 16]>(), millis in any::<i64>()) {
            let id = run_id(Timestamp::from_millis(millis), random).unwrap();
            prop_assert_eq!(parse_run_id(id.as_str()), Some(id));
        }
    }
}
