//! Texts compared: by their words, their numbers, and as a reader sees them.

use windlass_launch_model::markdown::Document;
pub use windlass_launch_model::markdown::{
    likeness::{jaccard, numbers, words},
    sentence_digest as digest,
};

/// The body as a reader sees it: without comments and code blocks, white space collapsed.
pub fn readable(document: &Document) -> String {
    let mut out = String::new();
    let mut at = document.body;
    let code = document.code.iter().map(|code| code.range.clone());
    let mut cuts: Vec<_> = document.comments.iter().cloned().chain(code).collect();
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
    fn readable_text_has_no_comments_and_no_code() {
        let page = Document::parse(
            "---\ntitle: x\n---\nA b. <!-- claim_id: q -->\n\n```py\nx\n```\n\nC.\n",
        );
        assert_eq!(readable(&page), "A b. C.");
    }
}
