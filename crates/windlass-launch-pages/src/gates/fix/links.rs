//! Broken links: to the one page or heading they can mean, else only their text stays.

use std::ops::Range;

use windlass_launch_model::{
    SiteKind,
    markdown::{Document, Link, anchor},
};

use super::{Fixing, Rewrite, cut};
use crate::{
    gates::{
        addresses::{Addresses, Target},
        checks::internal_links::{Judged, judge, targets},
        input::GateInput,
    },
    links::href,
};

pub(super) fn rewrite(fixing: &Fixing<'_>) -> Rewrite {
    let addresses = Addresses::new(fixing.input);
    let code = fixing.issue.error_code.as_deref().unwrap_or_default();
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut gone: Vec<Range<usize>> = Vec::new();
    let mut notes = Vec::new();
    let document = fixing.document;
    for (target, at) in targets(document) {
        let verdict = judge(fixing.input, &addresses, fixing.path, document, &target);
        let broken = matches!(verdict, Judged::Broken(found, _) if found == code);
        if !broken || !fixing.names(document.line(at)) {
            continue;
        }
        let link = document
            .links
            .iter()
            .find(|link| link.range.start == at && link.target == target);
        let new = meant(fixing.input, &addresses, fixing.path, &target);
        // A target that stands elsewhere, in a definition, is not rewritten here.
        let place = written(document, at, link, &target);
        match (new.zip(place), link) {
            (Some((new, place)), _) => {
                notes.push(format!("{target} is now {new}."));
                edits.push((place..place + target.len(), new));
            }
            (None, Some(link)) => {
                notes.push(format!("Unlinked {target}."));
                unlink(document, link, &mut edits, &mut gone);
            }
            (None, None) => {
                notes.push(format!("Dropped a reference to {target}."));
                unlink_reference(document, at, &mut edits, &mut gone);
            }
        }
    }
    let mut text = apply(document, edits, &gone);
    // Text that was only the name of a link must not become a statement without evidence.
    if uncited(fixing.input, &text) > uncited(fixing.input, &document.text) {
        let lines: Vec<Range<usize>> = fixing
            .issue
            .occurrences
            .iter()
            .map(|place| document.line_range(place.line))
            .collect();
        text = cut::cut(document, &lines);
        notes.push("Removed the line, of which only a link's name was left.".to_owned());
    }
    Rewrite::own(fixing, text, notes)
}

fn uncited(input: &GateInput, text: &str) -> usize {
    Document::parse(text).uncited(&input.registered).count()
}

/// Where a target is written: last in its link, or in its reference.
fn written(document: &Document, at: usize, link: Option<&Link>, target: &str) -> Option<usize> {
    let rest = &document.text[at..];
    let end = match link {
        Some(link) => link.range.len(),
        None => rest.find("}}")?,
    };
    rest.get(..end)?.rfind(target).map(|offset| at + offset)
}

/// The one page or heading a target can mean.
fn meant(input: &GateInput, addresses: &Addresses<'_>, path: &str, target: &str) -> Option<String> {
    match addresses.resolve(path, target) {
        Target::Here(anchor) => {
            heading(input.document(path)?, &anchor).map(|found| format!("#{found}"))
        }
        Target::Page(page, anchor) => {
            let found = heading(input.document(&page)?, &anchor)?;
            let (bare, _) = target.split_once('#')?;
            Some(format!("{bare}#{found}"))
        }
        Target::Nothing { wanted, .. } => page(input, path, &wanted),
        Target::Outside | Target::File(_) => None,
    }
}

/// The planned page whose slug a path ends in, if it is the only one.
fn page(input: &GateInput, from: &str, wanted: &str) -> Option<String> {
    let last = wanted.trim_end_matches('/').rsplit('/').next()?;
    let name = last.split('.').next().unwrap_or(last);
    let name = plain(name);
    let own = |path: &str| path == from || !input.site.contains(path);
    let mut fits = input.plan.pages.iter().filter(|page| {
        let stem = page
            .url_path
            .trim_matches('/')
            .rsplit('/')
            .next()
            .unwrap_or_default();
        !own(&page.output_path) && (plain(&page.slug) == name || plain(stem) == name)
    });
    let found = fits.next().filter(|_| !name.is_empty())?;
    if fits.next().is_some() {
        return None;
    }
    Some(match input.planned(from) {
        Some(page) => href(page, found, input.context.site_kind),
        None if input.context.site_kind == SiteKind::Hugo => found.url_path.clone(),
        None => format!("/{}", found.output_path),
    })
}

/// The heading an anchor can mean: the same but for punctuation, or the only one that contains
/// or is contained in it.
fn heading(document: &Document, anchor: &str) -> Option<String> {
    let wanted = plain(anchor);
    if wanted.is_empty() {
        return None;
    }
    let slugs = || {
        document
            .headings
            .iter()
            .map(|heading| heading.anchor.clone())
    };
    if let Some(same) = slugs().find(|found| plain(found) == wanted) {
        return Some(same);
    }
    let mut near = slugs().filter(|found| {
        let found = plain(found);
        !found.is_empty() && (found.contains(&wanted) || wanted.contains(&found))
    });
    let first = near.next()?;
    near.next().is_none().then_some(first)
}

fn plain(text: &str) -> String {
    anchor(text)
        .chars()
        .filter(|c| c.is_alphanumeric())
        .collect()
}

fn unlink(
    document: &Document,
    link: &Link,
    edits: &mut Vec<(Range<usize>, String)>,
    gone: &mut Vec<Range<usize>>,
) {
    let source = &document.text[link.range.clone()];
    if link.image {
        gone.push(link.range.clone());
    } else if link.html {
        // The tag stays as a name without a target.
        edits.push((link.range.clone(), "<a>".to_owned()));
    } else {
        let text = source
            .strip_prefix('[')
            .and_then(|rest| rest.rfind("](").map(|end| rest[..end].to_owned()))
            .unwrap_or_else(|| link.text.clone());
        edits.push((link.range.clone(), text));
    }
}

/// `[text]({{< ref "x" >}})` becomes its text; a reference on its own goes.
fn unlink_reference(
    document: &Document,
    at: usize,
    edits: &mut Vec<(Range<usize>, String)>,
    gone: &mut Vec<Range<usize>>,
) {
    let text = document.text.as_str();
    let line = document.line_range(document.line(at));
    let end = text[at..].find("}}").map_or(line.end, |end| at + end + 2);
    let before = &text[line.start..at];
    let open = before
        .strip_suffix("](")
        .and_then(|before| before.rfind('['));
    match open {
        Some(open) if text[end..].starts_with(')') => {
            let name = before[open + 1..before.len() - 2].to_owned();
            edits.push((line.start + open..end + 1, name));
        }
        _ => gone.push(at..end),
    }
}

fn apply(
    document: &Document,
    mut edits: Vec<(Range<usize>, String)>,
    gone: &[Range<usize>],
) -> String {
    let mut text = document.text.clone();
    let mut gone = gone.to_vec();
    edits.sort_by_key(|(range, _)| range.start);
    for (range, new) in edits.into_iter().rev() {
        let shift = new.len().cast_signed() - range.len().cast_signed();
        for later in gone.iter_mut().filter(|later| later.start >= range.end) {
            later.start = later.start.saturating_add_signed(shift);
            later.end = later.end.saturating_add_signed(shift);
        }
        text.replace_range(range, &new);
    }
    if gone.is_empty() {
        text
    } else {
        cut::cut(&Document::parse(&text), &gone)
    }
}
