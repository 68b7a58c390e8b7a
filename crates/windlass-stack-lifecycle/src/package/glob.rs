//! Patterns of paths: `*`, `**`, `?`, `[abc]`, `{a,b}`; a pattern that names a folder means all
//! below it.

use regex::Regex;

/// A list of patterns.
#[derive(Debug)]
pub struct Globs(Vec<Regex>);

impl Globs {
    /// Reads patterns; the failure names the pattern and the cause.
    pub fn new(patterns: &[String]) -> Result<Self, String> {
        patterns
            .iter()
            .map(|pattern| one(pattern))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Whether one of them fits.
    pub fn is_match(&self, path: &str) -> bool {
        self.0.iter().any(|pattern| pattern.is_match(path))
    }
}

/// One pattern as an expression over whole paths with `/`, without a leading `./`.
pub(crate) fn one(pattern: &str) -> Result<Regex, String> {
    let trimmed = pattern.trim_start_matches("./").trim_start_matches('/');
    let trimmed = trimmed.trim_end_matches('/');
    if trimmed.split('/').any(|segment| segment == "..") {
        return Err(format!(
            "the pattern \"{pattern}\" leads out of the project"
        ));
    }
    let expression = match trimmed {
        "" | "." => ".*".to_owned(),
        _ => {
            translate(trimmed).ok_or_else(|| format!("the pattern \"{pattern}\" does not close"))?
        }
    };
    Regex::new(&format!("(?s)^(?:{expression})(?:/.*)?$"))
        .map_err(|_| format!("the pattern \"{pattern}\" cannot be read"))
}

/// `None` when a bracket does not close.
fn translate(pattern: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = pattern.chars().peekable();
    let mut braces = 0_u32;
    let mut at_start = true;
    while let Some(it) = rest.next() {
        let segment_starts = std::mem::replace(&mut at_start, it == '/');
        match it {
            '*' if rest.peek() == Some(&'*') => {
                rest.next();
                if segment_starts && rest.peek() == Some(&'/') {
                    rest.next();
                    out.push_str("(?:.*/)?");
                    at_start = true;
                } else {
                    out.push_str(".*");
                }
            }
            '*' => out.push_str("[^/]*"),
            '?' => out.push_str("[^/]"),
            '[' => out.push_str(&class(&mut rest)?),
            '{' => {
                braces += 1;
                out.push_str("(?:");
            }
            '}' if braces > 0 => {
                braces -= 1;
                out.push(')');
            }
            ',' if braces > 0 => out.push('|'),
            '\\' => out.push_str(&regex::escape(&rest.next()?.to_string())),
            other => out.push_str(&regex::escape(&other.to_string())),
        }
    }
    (braces == 0).then_some(out)
}

fn class(rest: &mut impl Iterator<Item = char>) -> Option<String> {
    let mut out = String::from("[");
    let mut is_first = true;
    for it in rest.by_ref() {
        match it {
            '!' | '^' if is_first => out.push('^'),
            ']' if !is_first => return Some(out + "]"),
            '-' => out.push('-'),
            other => out.push_str(&regex::escape(&other.to_string())),
        }
        is_first = false;
    }
    None
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
            let _ = one(&any);
            prop_assume!(name != "." && name != "..");
            prop_assert!(one(&name).unwrap().is_match(&name));
        }
    }
}
