//! Small matters of English in generated sentences.

/// `a, b and c`.
pub(crate) fn and_list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [front @ .., last] => format!("{} and {last}", front.join(", ")),
    }
}

/// With a capital.
pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// `a quiz`, `an answer`.
pub(crate) fn with_article(noun: &str) -> String {
    let vowel = noun.starts_with(|c: char| "aeiouAEIOU".contains(c))
        && !["uni", "use", "eu", "one"]
            .iter()
            .any(|sound| noun.starts_with(sound));
    if vowel {
        format!("an {noun}")
    } else {
        format!("a {noun}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_read_well() {
        let list = |parts: &[&str]| {
            and_list(
                &parts
                    .iter()
                    .map(|part| (*part).to_owned())
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(list(&[]), "");
        assert_eq!(list(&["a"]), "a");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!(capitalised("él"), "Él");
        for (noun, expected) in [
            ("quiz", "a quiz"),
            ("answer", "an answer"),
            ("user", "a user"),
            ("unit", "a unit"),
            ("", "a "),
        ] {
            assert_eq!(with_article(noun), expected);
        }
    }
}
