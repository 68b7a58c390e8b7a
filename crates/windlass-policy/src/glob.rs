//! Patterns: `*` for any characters, `?` for one, and in targets `**` to cross slashes.

/// A pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Glob {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Exactly(char),
    /// One character that is not the separator.
    One,
    /// Any number of characters that are not the separator.
    Some,
    /// Any number of any characters.
    All,
}

/// Longer patterns are mistakes, and matching costs pattern × text.
const MAX_LENGTH: usize = 512;

impl Glob {
    /// A pattern for names, in which a star matches everything.
    pub(crate) fn name(text: &str) -> Result<Self, String> {
        Self::new(text, Part::All)
    }

    /// A pattern for principals, in which a star stops at a slash: `local:*` is every user and
    /// none of the programs (`local:ada/mcp`) that act in a user's name.
    pub(crate) fn principal(text: &str) -> Result<Self, String> {
        Self::new(text, Part::Some)
    }

    /// A pattern for paths, in which one star stays within a segment and two cross slashes.
    pub(crate) fn path(text: &str) -> Result<Self, String> {
        Self::new(text, Part::Some)
    }

    fn new(text: &str, star: Part) -> Result<Self, String> {
        if text.is_empty() || text.len() > MAX_LENGTH {
            return Err(format!(
                "a pattern has 1 to {MAX_LENGTH} bytes; leave the key out to match everything"
            ));
        }
        let mut parts = Vec::new();
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            let part = match letter {
                '*' if letters.next_if_eq(&'*').is_some() => Part::All,
                '*' => star,
                '?' => Part::One,
                other => Part::Exactly(other),
            };
            parts.push(part);
        }
        Ok(Self {
            text: text.to_owned(),
            parts,
        })
    }

    /// The pattern as it was written.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the whole text fits the pattern.
    pub(crate) fn matches(&self, text: &str) -> bool {
        // `fits[i]`: the parts so far fit the first `i` letters.
        let letters: Vec<char> = text.chars().collect();
        let mut fits = vec![false; letters.len() + 1];
        fits[0] = true;
        for part in &self.parts {
            let mut next = vec![false; letters.len() + 1];
            let star = matches!(part, Part::Some | Part::All);
            next[0] = star && fits[0];
            for (index, letter) in letters.iter().enumerate() {
                next[index + 1] = match part {
                    Part::Exactly(expected) => fits[index] && letter == expected,
                    Part::One => fits[index] && *letter != '/',
                    Part::Some => fits[index + 1] || next[index] && *letter != '/',
                    Part::All => fits[index + 1] || next[index],
                };
            }
            fits = next;
        }
        fits[letters.len()]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_and_paths() {
        let name = |pattern: &str, text: &str| Glob::name(pattern).unwrap().matches(text);
        let path = |pattern: &str, text: &str| Glob::path(pattern).unwrap().matches(text);
        for (pattern, text, expected) in [
            ("runs.*", "runs.list", true),
            ("runs.*", "runs.", true),
            ("runs.*", "run.list", false),
            ("*", "", true),
            ("local:*", "local:a/b", true),
            ("*.cancel", "runs.cancel", true),
            ("ru?s.list", "runs.list", true),
            ("runs.list", "runs.list.all", false),
            ("é*", "été", true),
        ] {
            assert_eq!(name(pattern, text), expected, "name {pattern} {text}");
        }
        for (pattern, text, expected) in [
            ("/srv/*", "/srv/app", true),
            ("/srv/*", "/srv/app/x", false),
            ("/srv/**", "/srv/app/x", true),
            ("/srv/**", "/srv/", true),
            ("/srv/**", "/srv", false),
            ("**/secret", "/a/b/secret", true),
            ("/a/?", "/a//", false),
            ("/a/**/z", "/a/b/c/z", true),
        ] {
            assert_eq!(path(pattern, text), expected, "path {pattern} {text}");
        }
    }

    #[test]
    fn empty_and_endless_patterns_are_refused() {
        assert!(Glob::name("").is_err());
        assert!(Glob::name(&"*".repeat(513)).is_err());
    }

    proptest! {
        #[test]
        fn a_text_matches_itself_and_a_star_matches_all(text in "[a-z./:é]{1,20}") {
            prop_assert!(Glob::path(&text).unwrap().matches(&text));
            prop_assert!(Glob::name("*").unwrap().matches(&text));
            prop_assert!(Glob::path("**").unwrap().matches(&text));
        }
    }
}
