//! A picture without a text gets its caption, the nearest heading, or the words of its name.

use windlass_launch_model::markdown::{Document, Link, html::attribute};

use super::{Fixing, Rewrite, values};
use crate::gates::checks::accessibility::lacks_alt;

pub(super) fn rewrite(fixing: &Fixing<'_>) -> Rewrite {
    let document = fixing.document;
    let mut text = document.text.clone();
    let mut notes = Vec::new();
    let mut pictures: Vec<&Link> = document
        .links
        .iter()
        .filter(|link| link.image && lacks_alt(document, link))
        .filter(|link| fixing.names(document.line(link.range.start)))
        .collect();
    pictures.sort_by_key(|link| std::cmp::Reverse(link.range.start));
    for link in pictures {
        let words = describe(document, link);
        notes.push(format!("{} is described as “{words}”.", link.target));
        if link.html {
            let at = link.range.start + "<img".len();
            text.insert_str(at, &format!(" alt=\"{}\"", words.replace('"', "'")));
        } else {
            let source = &document.text[link.range.clone()];
            let close = source.find(']').unwrap_or(2);
            let clean = words.replace(['[', ']'], "");
            text.replace_range(link.range.start + 2..link.range.start + close, &clean);
        }
    }
    notes.reverse();
    Rewrite::own(fixing, text, notes)
}

fn describe(document: &Document, link: &Link) -> String {
    let source = &document.text[link.range.clone()];
    let caption = if link.html {
        attribute(source, "title").unwrap_or_default()
    } else {
        // `![](x "caption")`
        source.split('"').nth(1).unwrap_or_default()
    };
    if !caption.trim().is_empty() {
        return caption.trim().to_owned();
    }
    let above = document
        .headings
        .iter()
        .rev()
        .find(|heading| heading.range.start < link.range.start);
    above.map_or_else(
        || values::words(&link.target),
        |heading| heading.text.clone(),
    )
}
