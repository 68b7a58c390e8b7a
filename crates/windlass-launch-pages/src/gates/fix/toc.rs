//! A page that its table of contents leaves out is added to it.

use windlass_launch_model::{Page, PageRole, markdown::Document};

use super::{Fixing, Rewrite};
use crate::{
    gates::{
        addresses::Addresses,
        checks::{content_distribution::missing_children, internal_links::ORPHAN},
        input::GateInput,
    },
    links::href,
    markup::heading_text,
};

pub(super) fn rewrite(fixing: &Fixing<'_>) -> Rewrite {
    let input = fixing.input;
    let (toc, children): (Option<&Page>, Vec<&Page>) =
        if fixing.issue.error_code.as_deref() == Some(ORPHAN) {
            let child = input.planned(fixing.path);
            (
                child.and_then(|child| parent(input, child)),
                child.into_iter().collect(),
            )
        } else {
            let addresses = Addresses::new(input);
            let toc = input.planned(fixing.path);
            let missing = toc.map(|toc| missing_children(input, &addresses, toc, fixing.document));
            (toc, missing.unwrap_or_default())
        };
    let Some((toc, document)) = toc.and_then(|toc| Some((toc, input.document(&toc.output_path)?)))
    else {
        return Rewrite::default();
    };
    let entries: Vec<String> = children
        .iter()
        .map(|child| {
            let target = href(toc, child, input.context.site_kind);
            format!("- [{}]({target})\n", heading_text(&child.title))
        })
        .collect();
    let notes = children
        .iter()
        .map(|child| format!("Listed “{}”.", child.title))
        .collect();
    Rewrite {
        files: vec![(
            toc.output_path.clone(),
            with_entries(document, &entries.concat()),
        )],
        notes,
    }
}

/// The table of contents that names a page, else the one of its section and language.
fn parent<'a>(input: &'a GateInput, child: &Page) -> Option<&'a Page> {
    let tocs = || {
        let pages = input.plan.pages.iter();
        pages.filter(|page| page.page_role == PageRole::Toc && page.page_id != child.page_id)
    };
    tocs()
        .find(|page| page.content_strategy.child_pages.contains(&child.page_id))
        .or_else(|| {
            tocs().find(|page| page.section == child.section && page.locale == child.locale)
        })
}

/// The entries behind the last item of a list of links, else at the end.
fn with_entries(document: &Document, entries: &str) -> String {
    let text = document.text.as_str();
    let last = document.links.iter().rev().find(|link| {
        let line = document.line_text(document.line(link.range.start));
        line.starts_with("- [") || line.starts_with("* [")
    });
    match last {
        Some(link) => {
            let line = document.line_range(document.line(link.range.start));
            let bullet = &text[line.start..=line.start];
            let entries = entries.replace("- [", &format!("{bullet} ["));
            let gap = if text[..line.end].ends_with('\n') {
                ""
            } else {
                "\n"
            };
            format!("{}{gap}{entries}{}", &text[..line.end], &text[line.end..])
        }
        None => format!("{}\n\n{entries}", text.trim_end()),
    }
}
