//! Sentences of a page, as the drafting side reads them, so that what it registered is found.

pub use windlass_launch_pages::prose::{
    Prose, Sentence, SentenceKind, parse, sentence_digest as digest,
};

use crate::document::Document;

/// The words of a text: lower case, letters and digits only.
pub fn words(text: &str) -> std::collections::BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Shared words over all words; 1 for two empty texts.
pub fn jaccard(a: &str, b: &str) -> f64 {
    let (a, b) = (words(a), words(b));
    let all = a.union(&b).count();
    if all == 0 {
        return 1.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of words are small")]
    let share = a.intersection(&b).count() as f64 / all as f64;
    share
}

/// The numbers of a text, versions included: `3`, `3.10`, `0.168.0`.
pub fn numbers(text: &str) -> std::collections::BTreeSet<String> {
    text.split(|c: char| !(c.is_ascii_digit() || c == '.'))
        .map(|number| number.trim_matches('.'))
        .filter(|number| !number.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The body as a reader sees it: without comments and code blocks, white space collapsed.
pub fn readable(document: &Document) -> String {
    let mut out = String::new();
    let mut at = document.body;
    let comments = document
        .html
        .iter()
        .filter(|range| document.text[(*range).clone()].starts_with("<!--"))
        .cloned();
    let mut cuts: Vec<_> = comments
        .chain(document.code.iter().map(|code| code.range.clone()))
        .collect();
    cuts.sort_by_key(|range| range.start);
    for cut in cuts {
        if cut.start >= at {
            out.push_str(&document.text[at..cut.start]);
            out.push(' ');
        }
        at = at.max(cut.end);
    }
    out.push_str(&document.text[at.min(document.text.len())..]);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likeness_and_numbers() {
        assert!((jaccard("Reads DOCX files.", "reads docx FILES") - 1.0).abs() < 1e-9);
        assert!(jaccard("reads docx", "writes xlsx") < 0.1);
        assert_eq!(
            numbers("Needs 3.10. Or 4"),
            ["3.10".to_owned(), "4".to_owned()].into()
        );
    }

    #[test]
    fn readable_text_has_no_comments_and_no_code() {
        let page = Document::parse(
            "---\ntitle: x\n---\nA b. <!-- claim_id: q -->\n\n```py\nx\n```\n\nC.\n",
        );
        assert_eq!(readable(&page), "A b. C.");
    }
}
