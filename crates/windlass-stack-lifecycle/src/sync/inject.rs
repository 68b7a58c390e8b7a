//! Values put into a page as `window.STP_INJECTED_ENV`, before any script of its own.

use std::collections::BTreeMap;

/// The page with the values in it: behind the opening of its head, else of the document, else
/// behind the doctype.
pub(crate) fn inject(page: &[u8], values: &BTreeMap<String, String>) -> Vec<u8> {
    let script = script(values);
    let at = behind_tag(page, b"head")
        .or_else(|| behind_tag(page, b"html"))
        .or_else(|| behind_tag(page, b"!doctype"))
        .unwrap_or(0);
    let (before, after) = page.split_at(at);
    [before, script.as_bytes(), after].concat()
}

fn script(values: &BTreeMap<String, String>) -> String {
    // Text of a value must end neither the script nor a line of it.
    let json = serde_json::json!(values)
        .to_string()
        .replace('<', "\\u003c")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029");
    format!("<script>window.STP_INJECTED_ENV={json};</script>")
}

/// The place behind the first opening tag of a name.
fn behind_tag(page: &[u8], name: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let open = from + page.get(from..)?.iter().position(|byte| *byte == b'<')?;
        if page.get(open..)?.starts_with(b"<!--") {
            let end = page.get(open..)?.windows(3).position(|it| it == b"-->")?;
            from = open + end + 3;
            continue;
        }
        let rest = page.get(open + 1..)?;
        let is_it = rest
            .get(..name.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(name))
            && rest
                .get(name.len())
                .is_some_and(|next| next.is_ascii_whitespace() || *next == b'>');
        if is_it {
            return Some(open + 1 + end_of_tag(rest)?);
        }
        from = open + 1;
    }
}

/// The length of a tag up to its `>`, which may stand in a quoted attribute before.
fn end_of_tag(tag: &[u8]) -> Option<usize> {
    let mut quote = None;
    for (index, byte) in tag.iter().enumerate() {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(*byte),
            (Some(open), byte) if open == *byte => quote = None,
            (None, b'>') => return Some(index + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn injected(page: &str) -> String {
        let values = BTreeMap::from([("A".to_owned(), "</script>".to_owned())]);
        let page = inject(page.as_bytes(), &values);
        String::from_utf8(page)
            .unwrap()
            .replace(&script(&values), "[IT]")
    }

    #[test]
    fn the_place_is_before_the_first_script() {
        for (page, expected) in [
            (
                "<html><head><script src=a></script></head>",
                "<html><head>[IT]<script src=a></script></head>",
            ),
            (
                "<HEAD data-x='>'>\n<title>",
                "<HEAD data-x='>'>[IT]\n<title>",
            ),
            ("<!-- <head> --><head>x", "<!-- <head> --><head>[IT]x"),
            ("<header><html lang=en><p>", "<header><html lang=en>[IT]<p>"),
            ("<!DOCTYPE html><p>x", "<!DOCTYPE html>[IT]<p>x"),
            ("plain", "[IT]plain"),
            ("", "[IT]"),
        ] {
            assert_eq!(injected(page), expected);
        }
    }

    #[test]
    fn values_cannot_end_the_script() {
        let values = BTreeMap::from([("URL".to_owned(), "</script><b>\u{2028}\"".to_owned())]);
        assert_eq!(
            script(&values),
            "<script>window.STP_INJECTED_ENV={\"URL\":\"\\u003c/script>\\u003cb>\\u2028\\\"\"};</script>"
        );
    }

    proptest! {
        #[test]
        fn nothing_of_the_page_is_lost(page in "[<>a-z/!\"' -]{0,60}") {
            let with = injected(&page);
            prop_assert_eq!(with.replacen("[IT]", "", 1), page);
        }
    }
}
