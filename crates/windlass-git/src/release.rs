//! Which tag is the latest release: the highest version among names that look like one.
//!
//! Pure; where the tags come from is not its concern.

use std::cmp::Ordering;

/// The tag with the highest version. Pre-releases count only where there is no release; of two
/// names for one version the one that sorts last wins, so that the answer never depends on
/// the order of the tags.
pub fn latest<'a>(tags: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    tags.into_iter()
        .filter_map(|tag| Some((Version::read(tag)?, tag)))
        .max_by(|(a, tag_a), (b, tag_b)| a.compare(b).then(tag_a.cmp(tag_b)))
        .map(|(_, tag)| tag)
}

struct Version<'a> {
    numbers: Vec<u64>,
    /// Empty for a release.
    pre_release: &'a str,
}

impl<'a> Version<'a> {
    /// `1.2`, `v1.2.3`, `v2`, `release-1.2.3-rc.1`, `2024.05.01`. A lone number needs the `v`:
    /// without it, it may be anything.
    fn read(tag: &'a str) -> Option<Self> {
        let rest = ["release", "version", "rel", "ver"]
            .iter()
            .find_map(|word| strip_word(tag, word))
            .map_or(tag, |rest| rest.trim_start_matches(['-', '_', '/', '.']));
        let bare = rest.strip_prefix(['v', 'V']).unwrap_or(rest);
        // Build information does not order versions.
        let (bare, lone_allowed) = (bare.split('+').next()?, bare.len() < rest.len());
        let (numbers, pre_release) = split_pre_release(bare);
        let numbers = numbers
            .split('.')
            .map(|part| part.parse().ok().filter(|_| !part.starts_with('+')))
            .collect::<Option<Vec<u64>>>()?;
        (numbers.len() > 1 || lone_allowed).then_some(Self {
            numbers,
            pre_release,
        })
    }

    fn compare(&self, other: &Self) -> Ordering {
        let released = |version: &Self| version.pre_release.is_empty();
        let length = self.numbers.len().max(other.numbers.len());
        let padded = |version: &Self| {
            let mut numbers = version.numbers.clone();
            numbers.resize(length, 0);
            numbers
        };
        released(self)
            .cmp(&released(other))
            .then_with(|| padded(self).cmp(&padded(other)))
            .then_with(|| compare_pre_release(self.pre_release, other.pre_release))
    }
}

fn strip_word<'a>(tag: &'a str, word: &str) -> Option<&'a str> {
    let head = tag.get(..word.len())?;
    head.eq_ignore_ascii_case(word).then(|| &tag[word.len()..])
}

/// `1.2.3-rc.1`, and also `1.2rc1` and `1.2.rc1` as some projects have it.
fn split_pre_release(version: &str) -> (&str, &str) {
    let end = version
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(version.len());
    let (numbers, pre_release) = version.split_at(end);
    if pre_release.is_empty() {
        return (numbers, "");
    }
    (
        numbers.trim_end_matches('.'),
        pre_release.trim_start_matches(['-', '_']),
    )
}

/// As semantic versioning has it: part by part, numbers as numbers and before words.
fn compare_pre_release(a: &str, b: &str) -> Ordering {
    let key = |text: &str| -> Vec<(bool, u64, String)> {
        text.split('.')
            .map(|part| match part.parse() {
                Ok(number) => (false, number, String::new()),
                Err(_) => (true, 0, part.to_owned()),
            })
            .collect()
    };
    key(a).cmp(&key(b))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_highest_version_is_the_latest() {
        for (tags, expected) in [
            (&["v1.9.0", "v1.10.0", "v1.2.0"][..], Some("v1.10.0")),
            (&["1.0", "v0.9.9"], Some("1.0")),
            (&["v2.0.0-rc.1", "v1.4.0"], Some("v1.4.0")),
            (&["v2.0.0-rc.2", "v2.0.0-rc.10"], Some("v2.0.0-rc.10")),
            (&["1.2rc1", "1.1"], Some("1.1")),
            (&["v4", "v4.1.2", "v3"], Some("v4.1.2")),
            (
                &["release-1.2", "Release/1.3", "rel_1.1"],
                Some("Release/1.3"),
            ),
            (&["2024.05.01", "2024.11.30"], Some("2024.11.30")),
            (&["v1.0.0+linux", "v1.0.0+mac"], Some("v1.0.0+mac")),
            (
                &["nightly", "20240501", "latest", "v", "", "1..2", "build-7"],
                None,
            ),
            (&["v99999999999999999999999.0", "v1.0"], Some("v1.0")),
            (&[], None),
        ] {
            assert_eq!(latest(tags.iter().copied()), expected, "{tags:?}");
        }
    }

    proptest! {
        #[test]
        fn the_order_of_the_tags_does_not_matter(
            mut tags in proptest::collection::vec("(v|release-)?[0-9]{1,2}(\\.[0-9]{1,2}){0,2}(-rc\\.?[0-9])?", 0..8)
        ) {
            let before = latest(tags.iter().map(String::as_str)).map(str::to_owned);
            tags.reverse();
            prop_assert_eq!(before.as_deref(), latest(tags.iter().map(String::as_str)));
        }

        #[test]
        fn any_name_is_answered(tag in "\\PC{0,20}") {
            let _ = latest([tag.as_str()]);
        }
    }
}
