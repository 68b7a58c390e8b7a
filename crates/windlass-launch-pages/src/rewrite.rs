//! Prose from elsewhere, taken only when it says the same: the test a rewritten draft must pass.
//!
//! A rewrite may change how things are said. Front matter, headings, code, links and the set of
//! claims must stay, and every statement must be marked; otherwise the template's text stands.

use std::collections::BTreeSet;

use crate::{
    draft::Draft,
    phrases::registered_sentences,
    prose::{self, Prose},
};

/// Why a rewrite was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The front matter is another.
    #[error("the front matter was changed")]
    FrontMatter,
    /// The headings are others.
    #[error("the headings were changed")]
    Headings,
    /// The code is another.
    #[error("the code was changed")]
    Code,
    /// The links lead elsewhere.
    #[error("the links were changed")]
    Links,
    /// There is raw HTML.
    #[error("raw HTML was added")]
    Html,
    /// A claim was lost or added.
    #[error("the claims were changed")]
    Claims,
    /// A marker follows no sentence.
    #[error("the marker of {0} follows no sentence")]
    StrayMarker(String),
    /// A statement has no marker.
    #[error("no claim backs {0:?}")]
    Uncited(String),
}

/// The rewritten draft, when it keeps everything that matters.
pub fn accept_rewrite(draft: &Draft, rewritten: &str) -> Result<Draft, Rejection> {
    let (before, after) = (prose::parse(&draft.text), prose::parse(rewritten));
    if draft.text[..before.body_start] != rewritten[..after.body_start] {
        return Err(Rejection::FrontMatter);
    }
    if headings(&before) != headings(&after) {
        return Err(Rejection::Headings);
    }
    let code = |read: &Prose| -> Vec<_> {
        read.code
            .iter()
            .map(|block| (block.language.clone(), block.code.clone()))
            .collect()
    };
    if code(&before) != code(&after) {
        return Err(Rejection::Code);
    }
    let links =
        |read: &Prose| -> Vec<_> { read.links.iter().map(|link| link.target.clone()).collect() };
    if links(&before) != links(&after) {
        return Err(Rejection::Links);
    }
    if !after.html.is_empty() {
        return Err(Rejection::Html);
    }
    let claims = |read: &Prose| -> BTreeSet<_> {
        read.markers()
            .map(|marker| marker.claim_id.clone())
            .collect()
    };
    if claims(&before) != claims(&after) {
        return Err(Rejection::Claims);
    }
    if let Some(marker) = after.stray_markers.first() {
        return Err(Rejection::StrayMarker(marker.claim_id.clone()));
    }
    if let Some(sentence) = after.uncited(registered_sentences()).next() {
        return Err(Rejection::Uncited(sentence.text.clone()));
    }
    let mut text = rewritten.trim_end().to_owned();
    text.push('\n');
    Ok(Draft {
        text,
        ..draft.clone()
    })
}

fn headings(read: &Prose) -> Vec<(u8, &str)> {
    read.headings
        .iter()
        .map(|heading| (heading.level, heading.text.as_str()))
        .collect()
}

#[cfg(test)]
mod tests {
    use windlass_launch_model::Section;

    use super::*;

    #[test]
    fn a_rewrite_may_change_words_and_nothing_else() {
        let text = "---\ntitle: \"T\"\n---\n\n## One\n\nReads DOCX. <!-- claim_id: c1 -->\n\n```py\nx\n```\n";
        let draft = Draft {
            page_id: "docs/x".to_owned(),
            section: Section::Docs,
            output_path: "docs/x.md".to_owned(),
            text: text.to_owned(),
        };
        let good = text.replace("Reads DOCX.", "It is able to read DOCX files.");
        assert_eq!(accept_rewrite(&draft, &good).unwrap().text, good);
        for (from, to, expected) in [
            ("title: \"T\"", "title: \"U\"", Rejection::FrontMatter),
            ("## One", "## Two", Rejection::Headings),
            ("\nx\n", "\ny\n", Rejection::Code),
            ("Reads", "[Reads](https://example.org)", Rejection::Links),
            ("Reads", "<b>Reads</b>", Rejection::Html),
            ("c1", "c2", Rejection::Claims),
            ("Reads DOCX.", "", Rejection::StrayMarker("c1".to_owned())),
            (
                "Reads",
                "It is the best. Reads",
                Rejection::Uncited("It is the best.".to_owned()),
            ),
        ] {
            assert_eq!(
                accept_rewrite(&draft, &text.replacen(from, to, 1)),
                Err(expected),
                "{to}"
            );
        }
    }
}
