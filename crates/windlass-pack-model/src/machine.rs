//! The machine id, which names machine overlays. Where the candidates come from (flag,
//! environment, host name) is the caller's business.

/// The id of a machine: the first candidate that is not empty once normalised, else `unknown`.
/// The candidates are asked one after the other, so that a costly one can come last.
pub fn machine_id<T: AsRef<str>>(candidates: impl IntoIterator<Item = T>) -> String {
    candidates
        .into_iter()
        .map(|candidate| normalise(candidate.as_ref()))
        .find(|id| !id.is_empty())
        .unwrap_or_else(|| "unknown".to_owned())
}

/// Lower-case, each run of other characters than `a-z`, `0-9`, `_`, `-` one `-`, none of them at
/// the ends. Such an id is always one safe path component.
pub fn normalise(text: &str) -> String {
    let mut id = String::with_capacity(text.len());
    for part in text.trim().to_lowercase().chars() {
        if part.is_ascii_alphanumeric() || matches!(part, '_' | '-') {
            id.push(part);
        } else if !id.ends_with('-') {
            id.push('-');
        }
    }
    id.trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_normalised() {
        for (text, expected) in [
            ("  My Laptop.local\n", "my-laptop-local"),
            ("a--b", "a--b"),
            ("a..b", "a-b"),
            ("a-.b", "a-b"),
            ("--x__", "x__"),
            ("../../etc", "etc"),
            ("Ünï", "n"),
            ("...", ""),
        ] {
            assert_eq!(normalise(text), expected, "{text}");
        }
    }

    #[test]
    fn the_first_usable_candidate_wins() {
        assert_eq!(machine_id(["", " . ", "Host"]), "host");
        assert_eq!(machine_id(Vec::<String>::new()), "unknown");
        let lazily = ["a"]
            .into_iter()
            .chain(std::iter::once_with(|| -> &str { panic!("asked") }));
        assert_eq!(machine_id(lazily), "a");
    }
}
