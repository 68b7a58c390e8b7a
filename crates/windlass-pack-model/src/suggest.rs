//! Did-you-mean, as it follows a message.

use windlass_text::suggest::nearest;

/// `; did you mean "x"?`, or nothing.
pub fn hint<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(word, candidates) {
        Some(candidate) => format!("; did you mean \"{candidate}\"?"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_words_are_found_and_distant_ones_are_not() {
        let known = ["include_tags", "include_modules", "exclude_modules", "tags"];
        for (word, expected) in [
            ("include_tag", Some("include_tags")),
            ("inclde_tags", Some("include_tags")),
            ("Tags", Some("tags")),
            ("tgas", Some("tags")),
            ("exclude_module", Some("exclude_modules")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
    }
}
