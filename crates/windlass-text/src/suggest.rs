//! Did-you-mean: the known words nearest to an unknown one.

/// The candidate nearest to a word, when one is near enough to be meant.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = fold(word);
    // A third of the letters may differ, at least one, at most three.
    let letters = plain.chars().count();
    let limit = (letters / 3).clamp(1, 3);
    candidates
        .into_iter()
        .map(|candidate| {
            let distance = strsim::damerau_levenshtein(&plain, &fold(candidate));
            (distance, candidate)
        })
        .filter(|(distance, _)| *distance <= limit && distance * 2 <= letters)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `did you mean "x"?`
pub fn question<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, candidates).map(|candidate| format!("did you mean \"{candidate}\"?"))
}

/// The five names nearest to one, nearest first; one that contains it is nearest of all.
pub fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = name.to_lowercase();
    let mut ranked: Vec<(usize, &str)> = known
        .into_iter()
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
}
