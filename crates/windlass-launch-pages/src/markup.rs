//! Text made safe to stand in Markdown, and names made safe to stand in addresses.
//!
//! What a repository says is data: nothing in it may open a tag, a link, a list or a shortcode on
//! the page. Code between backticks stays as it is.

use windlass_launch_model::{
    claim, ids,
    markdown::{Document, filler_in_sentence},
};

/// Whether a sentence can be shown at all.
///
/// Template tokens, shortcodes, comments and control characters cannot be escaped in a way that
/// every site generator respects, so a claim with one is left out. So is a claim with filler
/// ("coming soon"), which is refused on a page wherever it comes from.
pub fn is_showable(text: &str) -> bool {
    // A plain `http://` address would be refused later, and changing it would change the claim.
    let bad = [
        "{{", "}}", "<!--", "-->", "``", "<script", "<<<<<<<", ">>>>>>>", "http://",
    ];
    let lower = text.to_lowercase();
    text.chars().any(char::is_alphanumeric)
        && text.matches('`').count().is_multiple_of(2)
        && !text.chars().any(char::is_control)
        && !bad.iter().any(|token| lower.contains(token))
        && !has_token(text)
        && filler_in_sentence(text).is_none()
}

/// Whether there is something like `__UPPER_SNAKE__`.
fn has_token(text: &str) -> bool {
    text.split(|character: char| !(character.is_ascii_alphanumeric() || character == '_'))
        .any(|word| {
            word.strip_prefix("__")
                .and_then(|rest| rest.strip_suffix("__"))
                .is_some_and(|inner| {
                    !inner.is_empty()
                        && inner.bytes().all(|byte| {
                            byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_'
                        })
                })
        })
}

/// A sentence as inline Markdown that reads as the same text.
pub fn inline(text: &str) -> String {
    let mut shown = String::with_capacity(text.len() + 8);
    for (index, part) in text.split('`').enumerate() {
        if index % 2 == 1 {
            shown.push_str(&code_span(part));
        } else {
            escape(part, &mut shown);
        }
    }
    shown
}

fn escape(text: &str, shown: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find("https://") {
        escape_plain(&rest[..at], shown);
        let url = &rest[at..];
        let end = url
            .find(|character: char| {
                character.is_whitespace() || matches!(character, '<' | '>' | '"' | ')' | ']' | '|')
            })
            .unwrap_or(url.len());
        let url = url[..end].trim_end_matches(['.', ',', ';', ':', '!', '?', '\'']);
        // A bare address is a matter of taste to linters; between angle brackets it is a link.
        shown.push('<');
        shown.push_str(url);
        shown.push('>');
        rest = &rest[at + url.len()..];
    }
    escape_plain(rest, shown);
}

fn escape_plain(text: &str, shown: &mut String) {
    let characters: Vec<char> = text.chars().collect();
    for (index, &character) in characters.iter().enumerate() {
        let before = index
            .checked_sub(1)
            .map(|at| characters[at])
            .or(shown.chars().last());
        let after = characters.get(index + 1).copied();
        let in_word = |side: Option<char>| side.is_some_and(char::is_alphanumeric);
        let at_start = shown.is_empty();
        let needed = match character {
            '\\' | '*' | '[' | ']' | '<' | '>' | '|' | '~' | '^' => true,
            '_' => !(in_word(before) && in_word(after)),
            '#' | '+' | '-' | '=' | ':' => at_start,
            '&' => in_word(after) || after == Some('#'),
            '.' | ')' => {
                !at_start && shown.len() <= 9 && shown.bytes().all(|byte| byte.is_ascii_digit())
            }
            _ => false,
        };
        if needed {
            shown.push('\\');
        }
        shown.push(character);
    }
}

/// Code within a line, fenced by as many backticks as it needs.
pub fn code_span(code: &str) -> String {
    let code = code.split_whitespace().collect::<Vec<_>>().join(" ");
    let fence = "`".repeat(longest_backtick_run(&code) + 1);
    let pad = if code.starts_with('`') || code.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{code}{pad}{fence}")
}

/// The fence a block of code needs: three backticks, or one more than it holds.
pub fn fence(code: &str) -> String {
    "`".repeat((longest_backtick_run(code) + 1).max(3))
}

fn longest_backtick_run(code: &str) -> usize {
    code.split(|character| character != '`')
        .map(str::len)
        .max()
        .unwrap_or(0)
}

/// A claim as Markdown, its marker directly after every sentence of it.
pub fn cited(text: &str, claim_id: &str) -> String {
    let shown = inline(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    let marker = format!(" {}", claim::marker(claim_id));
    let ends: Vec<usize> = Document::parse_body(&shown)
        .sentences
        .iter()
        .map(|sentence| sentence.range.end)
        .collect();
    let Some((_, earlier)) = ends.split_last() else {
        return shown + &marker;
    };
    let mut cited = String::with_capacity(shown.len() + marker.len() * ends.len());
    let mut from = 0;
    for end in earlier {
        cited.push_str(&shown[from..*end]);
        cited.push_str(&marker);
        from = *end;
    }
    // What follows the last sentence (a closing emphasis, say) still belongs to it.
    cited.push_str(&shown[from..]);
    cited.push_str(&marker);
    cited
}

/// A name for an address; never empty.
pub fn slug(text: &str) -> String {
    let slug = ids::slug(text);
    if slug.is_empty() {
        "page".to_owned()
    } else {
        slug
    }
}

/// A key such as `read_a_file` as a title: `Read a file`.
pub fn title(key: &str) -> String {
    let words = key.replace(['_', '-'], " ");
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut characters = words.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(characters).collect()
    })
}

/// A key as a title in which the product is spelled as it is called: keys have no capitals.
pub fn title_with(key: &str, product: &str) -> String {
    let title = title(key);
    let plain = ids::slug(product).replace('-', " ");
    let lower = title.to_ascii_lowercase();
    let bounded = |at: usize| {
        let inner = |side: Option<char>| side.is_some_and(char::is_alphanumeric);
        !inner(lower[..at].chars().next_back()) && !inner(lower[at + plain.len()..].chars().next())
    };
    let mut at: Vec<usize> = match plain.as_str() {
        "" => Vec::new(),
        plain => lower.match_indices(plain).map(|(at, _)| at).collect(),
    };
    at.retain(|at| bounded(*at));
    let mut spelled = title;
    for at in at.into_iter().rev() {
        spelled.replace_range(at..at + plain.len(), product);
    }
    spelled
}

/// A title as the text of a heading or a link.
pub fn heading_text(text: &str) -> String {
    inline(text.trim_end_matches(['.', ',', ';', ':', '!']))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_markdown_would_read_as_markup_is_escaped() {
        for (text, expected) in [
            ("Reads *all* [files](x).", r"Reads \*all\* \[files\](x)."),
            ("Calls `a*b` on snake_case.", "Calls `a*b` on snake_case."),
            ("- not a list", r"\- not a list"),
            ("1. not a list", r"1\. not a list"),
            ("# not a heading", r"\# not a heading"),
            ("a <b>bold</b> | claim", r"a \<b\>bold\</b\> \| claim"),
            ("See https://example.org/a.", "See <https://example.org/a>."),
            ("R&D and &lt; stay.", r"R\&D and \&lt; stay."),
        ] {
            assert_eq!(inline(text), expected);
        }
    }

    #[test]
    fn every_sentence_of_a_claim_gets_its_marker() {
        assert_eq!(
            cited("Reads DOCX. Writes `a.b`.", "c1"),
            "Reads DOCX. <!-- claim_id: c1 --> Writes `a.b`. <!-- claim_id: c1 -->"
        );
        assert_eq!(cited("`Reader`", "c1"), "`Reader` <!-- claim_id: c1 -->");
    }

    #[test]
    fn what_cannot_be_escaped_is_not_shown() {
        for text in [
            "{{ x }}",
            "a <!-- b -->",
            "has __TOKEN_A__",
            "odd ` tick",
            "a\u{7}b",
            " ",
            "PDF output is coming soon.",
            concat!("Writes X", "XX files."),
        ] {
            assert!(!is_showable(text), "{text:?}");
        }
        assert!(is_showable("Calls `__init__` once."));
    }

    #[test]
    fn names_become_slugs() {
        assert_eq!(slug("Read a  File!"), "read-a-file");
        assert_eq!(slug("読"), "page");
        assert_eq!(title("read_a-file"), "Read a file");
        for (key, product, expected) in [
            (
                "getting-started-with-marlin-grid",
                "Marlin Grid",
                "Getting started with Marlin Grid",
            ),
            ("acmepdf-on-windows", "AcmePDF", "AcmePDF on windows"),
            ("use-marlin-grids", "Marlin Grid", "Use marlin grids"),
            ("usage", "読", "Usage"),
        ] {
            assert_eq!(title_with(key, product), expected);
        }
    }

    proptest! {
        /// Whatever a repository says comes back as that text, in one paragraph, fully cited.
        #[test]
        fn a_showable_text_reads_back_as_itself(text in "[ -~é。]{1,60}") {
            prop_assume!(is_showable(&text));
            let collapsed = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let page = format!("{}\n", cited(&text, "c1"));
            let page = Document::parse_body(&page);
            prop_assert!(page.headings.is_empty() && page.code.is_empty() && page.tags.is_empty());
            prop_assert!(page.sentences.iter().all(|sentence| !sentence.markers.is_empty()));
            prop_assert!(page.sentences.iter().all(|sentence| sentence.place == windlass_launch_model::markdown::Place::Paragraph));
            let read: String = page.sentences.iter().map(|sentence| sentence.text.clone()).collect();
            let plain = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
            prop_assert_eq!(plain(&read), plain(&collapsed));
        }
    }
}
