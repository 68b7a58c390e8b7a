//! Names of tools as models see them: `server__tool`.
//!
//! Providers take letters, digits, `_` and `-`, at most 64 of them. What does not fit is replaced
//! and told apart by a few characters of its digest, so that two tools never share a name and a
//! name never changes with the order in which servers answer.

use windlass_types::Digest;

/// Between server and tool.
const SEPARATOR: &str = "__";
/// What providers take.
const LONGEST: usize = 64;
/// A server's name leaves room for its tools.
const LONGEST_SERVER: usize = 32;

/// Whether a text can be a server's name.
pub(crate) fn check_server(name: &str) -> Result<(), String> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    if name.is_empty() {
        return Err("it is empty".to_owned());
    }
    if name.len() > LONGEST_SERVER {
        return Err(format!("it is longer than {LONGEST_SERVER} characters"));
    }
    if !name.chars().all(fits) {
        return Err("only letters, digits, `_` and `-` may be in it".to_owned());
    }
    if name.contains(SEPARATOR) || name.ends_with('_') {
        return Err("`__` separates it from the names of its tools".to_owned());
    }
    Ok(())
}

/// The name of a tool for models.
pub(crate) fn public(server: &str, tool: &str) -> String {
    let plain: String = tool
        .chars()
        .map(|letter| match letter {
            letter if letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-') => letter,
            _ => '_',
        })
        .collect();
    let name = format!("{server}{SEPARATOR}{plain}");
    if plain == tool && !tool.is_empty() && name.len() <= LONGEST {
        return name;
    }
    let mark = &Digest::of(tool.as_bytes()).to_string()[..8];
    let room = LONGEST - mark.len() - 1;
    // Only ASCII is left, so every byte is a character.
    format!("{}_{mark}", &name[..name.len().min(room)])
}

/// The server of a tool's name.
pub(crate) fn server_of(name: &str) -> Option<&str> {
    name.split_once(SEPARATOR).map(|(server, _)| server)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_fit_every_provider() {
        let long = "x".repeat(80);
        let table: String = ["search", "a.b", "a/b", "", "größe", &long]
            .iter()
            .map(|tool| format!("{}\n", public("docs", tool)))
            .collect();
        insta::assert_snapshot!(table, @"
        docs__search
        docs__a_b_2e7336dc
        docs__a_b_c14cddc0
        docs___e3b0c442
        docs__gr__e_d353a267
        docs__xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_d929cdee
        ");
    }

    #[test]
    fn names_of_servers() {
        for (name, fits) in [
            ("docs", true),
            ("my-docs_2", true),
            ("a__b", false),
            ("a_", false),
            ("", false),
            ("a b", false),
            ("ä", false),
            (&"x".repeat(33), false),
        ] {
            assert_eq!(check_server(name).is_ok(), fits, "{name}");
        }
    }

    proptest! {
        #[test]
        fn two_tools_never_share_a_name(one in ".{0,70}", other in ".{0,70}") {
            let (a, b) = (public("docs", &one), public("docs", &other));
            prop_assert_eq!(one == other, a == b);
            prop_assert!(a.len() <= 64);
            prop_assert_eq!(server_of(&a), Some("docs"));
        }
    }
}
