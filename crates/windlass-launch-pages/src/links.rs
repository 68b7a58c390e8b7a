//! Which pages lead to which: children of list pages, and links across sections.
//!
//! A list page leads to every page of its section; every page leads back to it and to the list
//! pages of the other sections. So no page is an orphan, and parents never go round in circles.

use std::collections::BTreeMap;

use windlass_launch_model::{Page, PageRole, Section, SiteKind};

use crate::{plan::is_list_page, url};

/// More links than this do not help.
const MOST_LINKS: usize = 6;

/// Sets the children and cross links of all pages, by id.
pub fn plan_links(pages: &mut [Page]) {
    let mut heads: BTreeMap<(String, Section), String> = BTreeMap::new();
    let mut members: BTreeMap<(String, Section), Vec<(String, PageRole)>> = BTreeMap::new();
    for page in pages.iter() {
        let key = (page.locale.clone(), page.section);
        if is_list_page(page) {
            heads.insert(key, page.page_id.clone());
        } else {
            members
                .entry(key)
                .or_default()
                .push((page.page_id.clone(), page.page_role));
        }
    }
    for page in pages.iter_mut() {
        let key = (page.locale.clone(), page.section);
        let siblings = members.get(&key).map_or(&[][..], Vec::as_slice);
        if is_list_page(page) && page.page_role == PageRole::Toc {
            page.content_strategy.child_pages = siblings.iter().map(|(id, _)| id.clone()).collect();
        }
        let other_heads = Section::ALL
            .into_iter()
            .filter(|section| *section != page.section)
            .filter_map(|section| heads.get(&(page.locale.clone(), section)));
        let own_head = heads.get(&key).filter(|_| !is_list_page(page));
        // A landing page has no list of children, so its section's pages are linked like others.
        let own_pages = siblings
            .iter()
            .filter(|_| is_list_page(page) && page.page_role != PageRole::Toc)
            .map(|(id, _)| id);
        let links = own_head.into_iter().chain(own_pages).chain(other_heads);
        page.cross_links = links.take(MOST_LINKS).cloned().collect();
    }
}

/// What one page writes to lead to another.
pub fn href(from: &Page, to: &Page, site_kind: SiteKind) -> String {
    match site_kind {
        SiteKind::Hugo => to.url_path.clone(),
        SiteKind::Markdown => url::relative(&from.output_path, &to.output_path),
    }
}
