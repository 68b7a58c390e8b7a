//! Patterns of paths: `*`, `**`, `?`, `[abc]`, `{a,b}`; a pattern that names a folder means all
//! below it.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// A list of patterns.
#[derive(Debug)]
pub struct Globs(GlobSet);

impl Globs {
    /// Reads patterns; the failure names the pattern and the cause.
    pub fn new(patterns: &[String]) -> Result<Self, String> {
        Self::read(patterns.iter().map(String::as_str))
    }

    /// Reads one pattern.
    pub(crate) fn one(pattern: &str) -> Result<Self, String> {
        Self::read([pattern])
    }

    fn read<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            add(&mut set, pattern)?;
        }
        set.build().map(Self).map_err(|error| error.to_string())
    }

    /// Whether one of them fits a path with `/`, without a leading `./`.
    pub fn is_match(&self, path: &str) -> bool {
        self.0.is_match(path)
    }
}

fn add(set: &mut GlobSetBuilder, pattern: &str) -> Result<(), String> {
    let trimmed = pattern.trim_start_matches("./").trim_start_matches('/');
    let trimmed = trimmed.trim_end_matches('/');
    if trimmed.split('/').any(|segment| segment == "..") {
        return Err(format!(
            "the pattern \"{pattern}\" leads out of the project"
        ));
    }
    let itself = match trimmed {
        "" | "." => "**",
        _ => trimmed,
    };
    for glob in [itself, &format!("{itself}/**")] {
        let glob = GlobBuilder::new(glob)
            .literal_separator(true)
            .backslash_escape(true)
            .empty_alternates(true)
            .build()
            .map_err(|error| {
                let cause = error.kind();
                format!("the pattern \"{pattern}\" cannot be read: {cause}")
            })?;
        set.add(glob);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn patterns_and_what_they_mean() {
        for (pattern, yes, no) in [
            ("*.txt", "a.txt", "b/a.txt"),
            ("**/*.txt", "a.txt", "a.txts"),
            ("**/*.txt", "x/y/a.txt", "atxt"),
            ("data", "data/x/y", "database"),
            ("./data/", "data", "x/data"),
            ("data/**", "data/x/y", "data2/x"),
            ("a?c", "abc", "a/c"),
            ("[a-c]x", "bx", "dx"),
            ("[!a]x", "bx", "ax"),
            ("{a,b}/*.js", "b/i.js", "c/i.js"),
            ("a.b", "a.b", "axb"),
            ("ü*/日", "üx/日", "u/日"),
            (".", "anything/at.all", "\u{0}"),
        ] {
            let globs = Globs::new(&[pattern.to_owned()]).unwrap();
            assert!(globs.is_match(yes), "{pattern} {yes}");
            if pattern != "." {
                assert!(!globs.is_match(no), "{pattern} {no}");
            }
        }
        for wrong in ["../x", "a/../../b", "[a", "{a,b", "a\\"] {
            assert!(Globs::new(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn no_pattern_panics_and_plain_names_match_themselves(any in ".{0,20}", name in "[a-zA-Z0-9_.+é ]{1,12}") {
            let _ = Globs::one(&any);
            prop_assume!(name != "." && name != "..");
            prop_assert!(Globs::one(&name).unwrap().is_match(&name));
        }
    }
}
