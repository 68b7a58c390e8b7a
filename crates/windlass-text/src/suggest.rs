//! Did-you-mean: the known words nearest to an unknown one.
//!
//! Comparing takes the product of both lengths, and the unknown word comes from a caller. So what is
//! too long to be a slip of a known word is compared with nothing.

use std::borrow::Cow;

/// The letters of the longest word that can be a slip of a known one.
const MOST_LETTERS: usize = 64;

/// The characters of a caller's word that a message repeats.
const MOST_SHOWN: usize = 100;

/// The candidate nearest to a word, when one is near enough to be meant.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if is_longer(word, MOST_LETTERS) {
        return None;
    }
    let plain = fold(word);
    // A third of the letters may differ, at least one, at most three.
    let letters = plain.chars().count();
    let limit = (letters / 3).clamp(1, 3);
    candidates
        .into_iter()
        // A folded letter may become up to three.
        .filter(|candidate| !is_longer(candidate, 3 * MOST_LETTERS))
        .filter_map(|candidate| {
            let known = fold(candidate);
            let is_comparable = known.chars().count().abs_diff(letters) <= limit;
            is_comparable.then(|| (strsim::damerau_levenshtein(&plain, &known), candidate))
        })
        .filter(|(distance, _)| *distance <= limit && distance * 2 <= letters)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// A caller's word as messages repeat it: its first hundred characters.
pub fn shown(word: &str) -> Cow<'_, str> {
    match word.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => Cow::Owned(format!("{}…", &word[..end])),
        None => Cow::Borrowed(word),
    }
}

/// `did you mean "x"?`
pub fn question<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, candidates).map(|candidate| format!("did you mean \"{candidate}\"?"))
}

/// The five names nearest to one, nearest first; one that contains it is nearest of all.
pub fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    if is_longer(name, MOST_LETTERS) {
        return Vec::new();
    }
    let wanted = name.to_lowercase();
    let mut ranked: Vec<(usize, &str)> = known
        .into_iter()
        .filter(|known| !is_longer(known, 3 * MOST_LETTERS))
        .map(|known| {
            let lower = known.to_lowercase();
            let distance = if lower.contains(&wanted) {
                0
            } else {
                strsim::damerau_levenshtein(&wanted, &lower)
            };
            (distance, known)
        })
        .collect();
    ranked.sort();
    ranked.dedup();
    ranked.into_iter().take(5).map(|(_, known)| known).collect()
}

/// Whether a word has more characters; it is not read further than that.
fn is_longer(word: &str, most: usize) -> bool {
    word.chars().nth(most).is_some()
}

/// Letters and digits alone: `memory_size`, `memory-size` and `memorySize` are one word.
fn fold(word: &str) -> String {
    word.chars()
        .filter(|letter| !matches!(letter, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_words_are_found_and_distant_ones_are_not() {
        let known = ["memory", "timeout", "connectTo", "iamRoleStatements", "q"];
        for (word, expected) in [
            ("memroy", Some("memory")),
            ("connect_to", Some("connectTo")),
            ("Timeout", Some("timeout")),
            ("iamRoleStatement", Some("iamRoleStatements")),
            ("colour", None),
            ("", None),
            ("t", None),
        ] {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
    }

    #[test]
    fn long_words_are_compared_with_nothing() {
        let long = "a".repeat(8 * 1024 * 1024);
        let edge = "b".repeat(64);
        // Compared, each of these would take hours.
        assert_eq!(nearest(&long, [long.as_str(), "memory"]), None);
        assert_eq!(nearest("memroy", [long.as_str(), "memory"]), Some("memory"));
        assert!(closest(&long, [long.as_str(), "memory"]).is_empty());
        assert_eq!(closest("memory", [long.as_str(), "memory"]), ["memory"]);
        assert_eq!(nearest(&edge, [edge.as_str()]), Some(edge.as_str()));
        assert_eq!(nearest(&format!("{edge}b"), [edge.as_str()]), None);
    }

    #[test]
    fn a_word_in_a_message_is_cut() {
        assert_eq!(shown(&"ü".repeat(100)), "ü".repeat(100));
        assert_eq!(shown(&"ü".repeat(101)), format!("{}…", "ü".repeat(100)));
    }
}
