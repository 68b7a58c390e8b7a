//! Cases of `draft`, as tables.

use std::collections::BTreeSet;

use proptest::prelude::*;
use windlass_launch_model::{
    ClaimKind, PageRole,
    markdown::{Document, frontmatter, sentence_digest},
};

use super::*;

use crate::{phrases::registered_sentences, sample};

fn draft_of<'a>(drafts: &'a [Draft], id: &str) -> &'a str {
    &drafts
        .iter()
        .find(|draft| draft.page_id == id)
        .unwrap()
        .text
}

#[test]
fn a_page_is_written_from_its_claims() {
    let (_, drafts) = sample::full(SiteKind::Hugo).drafts();
    insta::assert_snapshot!(
        draft_of(&drafts, "docs/getting-started").replace(&"0".repeat(60), "…"), @r#"
    +++
    title = "Getting started with Acme PDF"
    description = "Install the wheel first. Then import it."
    date = 2024-05-06
    draft = false
    mood = ""
    tags = ["Acme PDF getting started", "install Acme PDF"]
    type = "docs"
    weight = 30
    +++

    This page answers one question and points to further reading. It keeps to what the source repository says, so each statement can be checked.

    ## Requirements

    These are named as required:

    - `python >= 3.10` <!-- claim_id: …000d -->

    ## Installation

    - Install the wheel first. <!-- claim_id: …0004 --> Then import it. <!-- claim_id: …0004 -->

    Use one of these commands:

    - `pip install acme-pdf` <!-- claim_id: …000b -->

    ## First steps

    1. Open a file with `Reader`. <!-- claim_id: …0005 -->

    ## Example

    This code is in the repository:

    `examples/read.py:1-3`

    ```python
    from acme import Reader

    Reader("a.pdf")
    ```

    ## See also

    Read on:

    - [Acme PDF documentation](/docs/acme/)
    - [Acme PDF](/products/acme/)
    - [Acme PDF reference](/reference/acme/)
    - [Acme PDF knowledge base](/kb/acme/)
    - [Acme PDF news](/blog/acme/)
    - [Source repository](https://example.org/acme/pdf)
    "#);
    insta::assert_snapshot!(draft_of(&drafts, "docs/_index"), @r#"
    +++
    title = "Acme PDF documentation"
    description = "All pages of this section at a glance."
    date = 2024-05-06
    draft = false
    mood = ""
    tags = ["Acme PDF documentation"]
    type = "docs"
    weight = 10
    +++

    This page lists everything that is written about the product in this section. Pick the page that fits what you want to do. <!-- launch: page -->

    ## In this section

    Pages in this section:

    - [Acme PDF developer guide](/docs/acme/developer-guide/)
    - [Getting started with Acme PDF](/docs/acme/getting-started/)

    ## See also

    Read on:

    - [Acme PDF](/products/acme/)
    - [Acme PDF reference](/reference/acme/)
    - [Acme PDF knowledge base](/kb/acme/)
    - [Acme PDF news](/blog/acme/)
    - [Source repository](https://example.org/acme/pdf)
    "#);
    insta::assert_snapshot!(draft_of(&drafts, "products/_index").replace(&"0".repeat(60), "…"), @r#"
    ---
    title: "Acme PDF"
    description: "Acme PDF reads and writes PDF files."
    ---

    This page gathers what the source repository says about the product. It adds nothing to what is written there, so each statement can be checked.

    ## Overview

    Acme PDF reads and writes PDF files. <!-- claim_id: …0001 -->

    ## Key features

    - It merges files with `merge(a, b)`. <!-- claim_id: …0002 -->
    - Text is found with \<fast\> search \| index. <!-- claim_id: …0003 -->

    ## Supported formats

    - Acme PDF reads DOCX files. <!-- claim_id: …0008 -->

    These formats are named:

    - `DOCX` <!-- claim_id: …0008 -->

    ## Installation

    - Install the wheel first. <!-- claim_id: …0004 --> Then import it. <!-- claim_id: …0004 -->

    Use one of these commands:

    - `pip install acme-pdf` <!-- claim_id: …000b -->

    ## Limitations

    - Encrypted files are not read. <!-- claim_id: …0006 -->

    ## License

    This is the license identifier:

    - `Apache-2.0` <!-- claim_id: …000c -->

    ## See also

    Read on:

    - [Acme PDF documentation](/docs/acme/)
    - [Acme PDF reference](/reference/acme/)
    - [Acme PDF knowledge base](/kb/acme/)
    - [Acme PDF news](/blog/acme/)
    - [Source repository](https://example.org/acme/pdf)
    "#);
    insta::assert_snapshot!(
        draft_of(&drafts, "docs/developer-guide").replace(&"0".repeat(60), "…"), @r#"
    +++
    title = "Acme PDF developer guide"
    description = "Acme PDF reads and writes PDF files."
    date = 2024-05-06
    draft = false
    mood = ""
    tags = ["Acme PDF guide", "Acme PDF workflows"]
    type = "docs"
    weight = 20
    +++

    This guide goes through the documented ways of working one after the other. It keeps to what the source repository says, so each step can be checked.

    ## Overview

    Acme PDF reads and writes PDF files. <!-- claim_id: …0001 -->

    ## Workflows

    ### Merge files

    1. Call `merge` with two paths. <!-- claim_id: …0009 -->

    ### Split a file

    1. Call `split` with one path. <!-- claim_id: …000a -->

    ## Examples

    This code is in the repository:

    `examples/read.py:1-3`

    ```python
    from acme import Reader

    Reader("a.pdf")
    ```

    ## Limitations

    - Encrypted files are not read. <!-- claim_id: …0006 -->

    ## See also

    Read on:

    - [Acme PDF documentation](/docs/acme/)
    - [Acme PDF](/products/acme/)
    - [Acme PDF reference](/reference/acme/)
    - [Acme PDF knowledge base](/kb/acme/)
    - [Acme PDF news](/blog/acme/)
    - [Source repository](https://example.org/acme/pdf)
    "#);
    insta::assert_snapshot!(draft_of(&drafts, "reference/api"), @r#"
    ---
    title: "Acme PDF API"
    description: "Names and places to look up."
    ---

    This page is for looking things up. Names and places are given as they stand in the source repository, so that each can be found there. <!-- launch: page -->

    ## Modules

    No statement about this was found in the source repository.

    ## Classes

    | Symbol | Defined in |
    | --- | --- |
    | `Reader` | `src/reader.py:12` |

    ## Functions

    No statement about this was found in the source repository.

    ## See also

    Read on:

    - [Acme PDF reference](/reference/acme/)
    - [Acme PDF](/products/acme/)
    - [Acme PDF documentation](/docs/acme/)
    - [Acme PDF knowledge base](/kb/acme/)
    - [Acme PDF news](/blog/acme/)
    - [Source repository](https://example.org/acme/pdf)
    "#);
}

#[test]
fn every_statement_is_marked_or_registered_and_every_marker_resolves() {
    for sample in [
        sample::full(SiteKind::Hugo),
        sample::full(SiteKind::Markdown),
        sample::bare(SiteKind::Hugo),
    ] {
        let known: BTreeSet<&str> = sample
            .facts
            .claims
            .iter()
            .map(|claim| claim.claim_id.as_str())
            .collect();
        let (planned, drafts) = sample.drafts();
        assert_eq!(drafts.len(), planned.plan.pages.len());
        for (page, draft) in planned.plan.pages.iter().zip(&drafts) {
            let read = Document::parse(&draft.text);
            let uncited: Vec<_> = read
                .uncited(registered_sentences())
                .map(|sentence| &sentence.text)
                .collect();
            assert!(uncited.is_empty(), "{}: {uncited:?}", page.page_id);
            assert!(read.stray_markers.is_empty());
            assert!(
                read.markers()
                    .all(|marker| known.contains(marker.claim_id.as_str()))
            );
            assert!(read.tags.is_empty(), "{}", page.page_id);
            // Values listed as code cite claims beside those that the plan requires.
            let shown = read.stated_claim_ids();
            let required: BTreeSet<&str> =
                page.required_claim_ids.iter().map(String::as_str).collect();
            assert_eq!(shown, required, "{}", page.page_id);
            let headings: Vec<&str> = read
                .headings
                .iter()
                .filter(|heading| heading.level == 2)
                .map(|heading| heading.text.as_str())
                .collect();
            assert_eq!(headings, page.required_headings);
            assert!(page.page_role != PageRole::Toc || read.code.is_empty());
            for block in &read.code {
                assert!(
                    sample
                        .snippets
                        .snippets
                        .iter()
                        .any(|snippet| snippet.code == block.text)
                );
            }
            for workflow in page
                .content_strategy
                .scenario_coverage
                .iter()
                .filter(|_| page.page_role == PageRole::ComprehensiveGuide)
            {
                let title = crate::markup::title(workflow);
                assert!(
                    read.headings.iter().any(|heading| heading.text == title),
                    "{title}"
                );
            }
        }
    }
}

#[test]
fn a_list_page_links_to_every_child() {
    for kind in [SiteKind::Hugo, SiteKind::Markdown] {
        let (planned, drafts) = sample::full(kind).drafts();
        for (page, draft) in planned.plan.pages.iter().zip(&drafts) {
            let targets: Vec<String> = Document::parse(&draft.text)
                .links
                .into_iter()
                .map(|link| link.target)
                .collect();
            for id in page
                .content_strategy
                .child_pages
                .iter()
                .chain(&page.cross_links)
            {
                let other = planned
                    .plan
                    .pages
                    .iter()
                    .find(|other| other.page_id == *id)
                    .unwrap();
                assert!(
                    targets.contains(&crate::links::href(page, other, kind)),
                    "{} → {id}",
                    page.page_id
                );
            }
        }
    }
}

#[test]
fn a_description_is_a_claim_or_registered() {
    let sample = sample::full(SiteKind::Hugo);
    let (_, drafts) = sample.drafts();
    for draft in &drafts {
        let (_, keys) = frontmatter::read(&draft.text).unwrap().unwrap();
        let text = keys["description"].as_str().unwrap();
        let is_claim = sample
            .facts
            .claims
            .iter()
            .any(|claim| claim.claim_text == text);
        assert!(
            is_claim || registered_sentences().contains(&sentence_digest(text)),
            "{text}"
        );
    }
}

#[test]
fn a_local_repository_is_not_shown() {
    let mut sample = sample::full(SiteKind::Hugo);
    for address in [
        "/home/someone/acme",
        "file:///home/someone/acme",
        "git@example.org:a/b",
        "https://user:secret@example.org/a",
    ] {
        sample.facts.repo_url = address.to_owned();
        let (_, drafts) = sample.drafts();
        assert!(drafts.iter().all(|draft| !draft.text.contains(address)));
    }
}

#[test]
fn code_that_hugo_would_run_is_not_shown() {
    let mut sample = sample::full(SiteKind::Hugo);
    sample.snippets.snippets[0].code = "{{< figure >}}\nx\ny\n".to_owned();
    assert!(
        sample
            .drafts()
            .1
            .iter()
            .all(|draft| !draft.text.contains("figure"))
    );
    sample.site.site_kind = SiteKind::Markdown;
    assert!(
        sample
            .drafts()
            .1
            .iter()
            .any(|draft| draft.text.contains("figure"))
    );
}

#[test]
fn the_same_input_produces_the_same_bytes() {
    let sample = sample::full(SiteKind::Hugo);
    assert_eq!(sample.drafts(), sample.drafts());
    let (_, drafts) = sample.drafts();
    let first = &manifest(&drafts).drafts[0];
    assert_eq!(
        first.draft_path,
        "drafts/products/content/products/acme/_index.md"
    );
    assert_eq!(
        first.sha256,
        Digest::of(drafts[0].text.as_bytes()).to_string()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Whatever a repository says, pages stay whole: nothing uncited, no tag, no lost heading.
    #[test]
    fn no_claim_breaks_a_page(texts in proptest::collection::vec("[ -~é]{1,50}", 1..8)) {
        let mut sample = sample::bare(SiteKind::Hugo);
        for text in &texts {
            sample.claim(text, ClaimKind::Feature, "key_features");
        }
        let (planned, drafts) = sample.drafts();
        for (page, draft) in planned.plan.pages.iter().zip(&drafts) {
            let read = Document::parse(&draft.text);
            prop_assert_eq!(read.uncited(registered_sentences()).count(), 0, "{}", draft.text);
            prop_assert!(read.tags.is_empty() && read.stray_markers.is_empty(), "{}", draft.text);
            let headings: Vec<String> = read.headings.iter().filter(|heading| heading.level == 2).map(|heading| heading.text.clone()).collect();
            prop_assert_eq!(&headings, &page.required_headings);
            prop_assert!(frontmatter::read(&draft.text).unwrap().is_some());
        }
    }
}

#[test]
fn canonical_addresses_are_the_planned_ones() {
    let written = |default: Option<&str>, known: &[(&str, &str)]| {
        let mut sample = sample::full(SiteKind::Hugo);
        let docs = sample.contract.sections.get_mut(&Section::Docs).unwrap();
        docs.required_keys.push("canonical".to_owned());
        docs.key_types
            .insert("canonical".to_owned(), "string".to_owned());
        docs.default_values
            .extend(default.map(|url| ("canonical".to_owned(), url.into())));
        sample.canonical_urls = known
            .iter()
            .map(|(name, url)| ((*name).to_owned(), (*url).to_owned()))
            .collect();
        let (_, drafts) = sample.drafts();
        let (_, keys) = frontmatter::read(draft_of(&drafts, "docs/getting-started"))
            .unwrap()
            .unwrap();
        keys["canonical"].clone()
    };
    let docs = ("docs", "https://docs.example/acme/");
    let right = "https://docs.example/acme/getting-started/";
    for (default, known, expected) in [
        (None, &[docs][..], right),
        (
            Some("https://old.example/"),
            &[docs][..],
            "https://old.example/",
        ),
        (None, &[("product", "https://www.example/")][..], ""),
        (None, &[][..], ""),
    ] {
        assert_eq!(written(default, known), expected, "{default:?} {known:?}");
    }
}

#[test]
fn a_page_never_names_another_product() {
    for (default, expected) in [
        ("Other", "Acme PDF"),
        ("AcmePDF", "AcmePDF"),
        ("Acme PDF", "Acme PDF"),
    ] {
        let mut sample = sample::full(SiteKind::Hugo);
        let docs = sample.contract.sections.get_mut(&Section::Docs).unwrap();
        docs.required_keys.push("product".to_owned());
        docs.default_values
            .insert("product".to_owned(), default.into());
        let (_, drafts) = sample.drafts();
        let (_, keys) = frontmatter::read(draft_of(&drafts, "docs/getting-started"))
            .unwrap()
            .unwrap();
        assert_eq!(keys["product"], expected, "{default}");
    }
}

#[test]
fn no_heading_claims_ignorance_for_lack_of_space() {
    let mut sample = sample::full(SiteKind::Hugo);
    for number in 0..40 {
        let text = format!("It has feature number {number}.");
        sample.claim(&text, ClaimKind::Feature, "key_features");
    }
    let (_, drafts) = sample.drafts();
    let landing = draft_of(&drafts, "products/_index");
    assert!(
        landing.contains("Encrypted files are not read."),
        "{landing}"
    );
    assert!(!landing.contains(phrases::not_documented()), "{landing}");
}
