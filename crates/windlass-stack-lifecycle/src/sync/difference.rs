//! What of a bucket differs from a manifest. Pure.

use std::collections::BTreeMap;

use windlass_ports::aws::ObjectEntry;

use crate::sync::content_type::is_page;
use crate::sync::manifest::{Entry, Manifest, Ownership};

/// What is known of an object after a look at the listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is as it should be.
    Same,
    /// It differs or is not there.
    Differs,
    /// Its metadata must be asked for.
    Unknown,
}

/// Judges an object by its listing and by what was put there last.
pub(crate) fn judge(
    entry: &Entry,
    previous: Option<&Entry>,
    listed: Option<&ObjectEntry>,
) -> Verdict {
    let Some(listed) = listed else {
        return Verdict::Differs;
    };
    if listed.size != entry.size {
        return Verdict::Differs;
    }
    let is_untouched =
        previous.is_some_and(|previous| previous.e_tag.is_some() && previous.e_tag == listed.e_tag);
    match previous {
        Some(previous) if is_untouched && previous.mark() == entry.mark() => Verdict::Same,
        Some(_) if is_untouched => Verdict::Differs,
        _ => Verdict::Unknown,
    }
}

/// Keys that go.
pub(crate) fn gone(
    manifest: &Manifest,
    previous: Option<&Manifest>,
    listed: &BTreeMap<String, ObjectEntry>,
) -> Vec<String> {
    let put_before = |key: &String| previous.is_some_and(|it| it.files.contains_key(key));
    listed
        .keys()
        .filter(|key| !manifest.files.contains_key(*key))
        .filter(|key| manifest.ownership == Ownership::Whole || put_before(key))
        .cloned()
        .collect()
}

/// How late a file is put: pages name other files, and the first page names the most.
pub(crate) fn wave(path: &str) -> u8 {
    match (is_page(path), path) {
        (true, "index.html") => 2,
        (true, _) => 1,
        (false, _) => 0,
    }
}

#[cfg(test)]
mod tests {
    use windlass_types::Digest;

    use super::*;

    fn entry(text: &str, e_tag: Option<&str>) -> Entry {
        Entry {
            sha256: Digest::of(text.as_bytes()),
            size: text.len() as u64,
            content_type: "text/plain".to_owned(),
            cache_control: None,
            content_encoding: None,
            content_disposition: None,
            metadata: BTreeMap::new(),
            tags: BTreeMap::new(),
            e_tag: e_tag.map(str::to_owned),
        }
    }

    fn listed(size: u64, e_tag: &str) -> ObjectEntry {
        ObjectEntry {
            size,
            e_tag: Some(e_tag.to_owned()),
            ..ObjectEntry::default()
        }
    }

    #[test]
    fn verdicts() {
        let new = entry("ab", None);
        let other_headers = Entry {
            cache_control: Some("x".to_owned()),
            ..entry("ab", Some("1"))
        };
        for (previous, listing, expected) in [
            (None, None, Verdict::Differs),
            (Some(entry("ab", Some("1"))), None, Verdict::Differs),
            (None, Some(listed(3, "1")), Verdict::Differs),
            (None, Some(listed(2, "1")), Verdict::Unknown),
            (
                Some(entry("ab", Some("1"))),
                Some(listed(2, "1")),
                Verdict::Same,
            ),
            // Another process put something there in between.
            (
                Some(entry("ab", Some("1"))),
                Some(listed(2, "2")),
                Verdict::Unknown,
            ),
            (
                Some(entry("ab", None)),
                Some(listed(2, "2")),
                Verdict::Unknown,
            ),
            (
                Some(entry("cd", Some("1"))),
                Some(listed(2, "1")),
                Verdict::Differs,
            ),
            (Some(other_headers), Some(listed(2, "1")), Verdict::Differs),
        ] {
            let verdict = judge(&new, previous.as_ref(), listing.as_ref());
            assert_eq!(verdict, expected, "{previous:?} {listing:?}");
        }
    }

    #[test]
    fn only_our_files_are_removed() {
        let manifest = |ownership, files: &[&str]| Manifest {
            bucket_id: "B".to_owned(),
            distribution_id: None,
            ownership,
            files: files
                .iter()
                .map(|it| ((*it).to_owned(), entry("x", None)))
                .collect(),
        };
        let there: BTreeMap<String, ObjectEntry> = ["kept", "dropped", "foreign"]
            .map(|key| (key.to_owned(), listed(1, "1")))
            .into();
        let before = manifest(Ownership::Shared, &["kept", "dropped", "gone-already"]);
        for (ownership, previous, expected) in [
            (Ownership::Shared, None, vec![]),
            (Ownership::Shared, Some(&before), vec!["dropped"]),
            (Ownership::Whole, None, vec!["dropped", "foreign"]),
        ] {
            let now = manifest(ownership, &["kept", "new"]);
            assert_eq!(gone(&now, previous, &there), expected, "{ownership:?}");
        }
    }

    #[test]
    fn pages_come_last() {
        let mut paths = ["index.html", "a/index.html", "app.js", "z.css"];
        paths.sort_by_key(|path| wave(path));
        assert_eq!(paths, ["app.js", "z.css", "a/index.html", "index.html"]);
    }
}
