//! Relative links in Markdown point at something that exists, heading anchors included, and every page
//! of the documentation is reached by links from its first page.
//!
//! Not here: links to the outside, which need a network and change on their own.

use std::collections::BTreeSet;

use super::{SourceFile, Violation};

/// Links here are addresses of a site, or lead nowhere on purpose.
const NOT_JUDGED: [&str; 2] = [
    "crates/windlass/tests/launch-products/",
    "examples/launch/site/content/",
];

/// Where a reader of the documentation begins.
const FIRST_PAGE: &str = "docs/README.md";

/// Checks every Markdown file.
pub fn check(files: &[SourceFile]) -> Vec<Violation> {
    let mut existing = BTreeSet::new();
    for file in files {
        let mut path = file.path.as_str();
        existing.insert(path);
        while let Some((folder, _)) = path.rsplit_once('/') {
            existing.insert(folder);
            path = folder;
        }
    }
    let mut violations = Vec::new();
    for file in files {
        let judged = is_markdown(&file.path)
            && !NOT_JUDGED
                .iter()
                .any(|folder| file.path.starts_with(folder));
        let Some(text) = file.text.as_deref().filter(|_| judged) else {
            continue;
        };
        for (line, target) in links_in(text) {
            if let Some(message) = problem(files, &existing, file, &target) {
                violations.push(Violation::new(format!("{}:{line}", file.path), message));
            }
        }
    }
    violations.extend(unreachable(files));
    violations
}

/// Pages of the documentation that no chain of links from the first page leads to.
fn unreachable(files: &[SourceFile]) -> Vec<Violation> {
    let text_of = |path: &str| {
        let file = files.iter().find(|file| file.path == path)?;
        file.text.as_deref()
    };
    let mut reached = BTreeSet::new();
    let mut open = vec![FIRST_PAGE.to_owned()];
    while let Some(page) = open.pop() {
        let Some(text) = text_of(&page).filter(|_| is_markdown(&page)) else {
            continue;
        };
        if reached.insert(page.clone()) {
            let targets = links_in(text).into_iter();
            open.extend(targets.filter_map(|(_, target)| {
                let path = target.split('#').next().unwrap_or_default();
                resolve(&page, path).filter(|_| !path.is_empty())
            }));
        }
    }
    files
        .iter()
        .filter(|file| file.path.starts_with("docs/") && is_markdown(&file.path))
        .filter(|file| !reached.contains(&file.path))
        .map(|file| {
            let message = format!("no links lead here from {FIRST_PAGE}");
            Violation::new(file.path.clone(), message)
        })
        .collect()
}

fn problem(
    files: &[SourceFile],
    existing: &BTreeSet<&str>,
    file: &SourceFile,
    target: &str,
) -> Option<String> {
    let is_external = target.contains("://") || target.starts_with("mailto:");
    if is_external || target.is_empty() {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let resolved = match path {
        "" => file.path.clone(),
        path => match resolve(&file.path, path) {
            Some(resolved) => resolved,
            None => return Some(format!("the link `{target}` leaves the repository")),
        },
    };
    if !resolved.is_empty() && !existing.contains(resolved.as_str()) {
        return Some(format!(
            "the link `{target}` leads nowhere: {resolved} does not exist"
        ));
    }
    if anchor.is_empty() || !is_markdown(&resolved) {
        return None;
    }
    let text = files
        .iter()
        .find(|other| other.path == resolved)
        .and_then(|other| other.text.as_deref())?;
    (!anchors_in(text).contains(anchor))
        .then(|| format!("the link `{target}` leads nowhere: no heading gives #{anchor}"))
}

fn is_markdown(path: &str) -> bool {
    path.ends_with(".md")
}

/// The path a relative link means, or `None` when it climbs out of the repository.
fn resolve(from: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    if link.starts_with('/') {
        return None;
    }
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Targets of `[text](target)` and `[name]: target`, with their line numbers. Code is skipped.
fn links_in(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (number, line) in prose_lines(text) {
        let line = without_code(line);
        let definition = line
            .trim_start()
            .strip_prefix('[')
            .and_then(|rest| rest.split_once("]: "));
        if let Some((name, target)) = definition
            && !name.contains(']')
        {
            links.push((number, target_of(target)));
            continue;
        }
        let mut rest = line.as_str();
        while let Some(start) = rest.find("](") {
            rest = &rest[start + 2..];
            let end = closing_parenthesis(rest).unwrap_or(rest.len());
            links.push((number, target_of(&rest[..end])));
            rest = &rest[end..];
        }
    }
    links
}

/// Strips the optional title and angle brackets.
fn target_of(text: &str) -> String {
    let text = text.trim();
    if let Some(inner) = text.strip_prefix('<') {
        return inner.split('>').next().unwrap_or_default().to_owned();
    }
    text.split_whitespace()
        .next()
        .unwrap_or_default()
        .to_owned()
}

fn closing_parenthesis(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (index, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(index),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Lines outside fenced code, numbered from one.
fn prose_lines(text: &str) -> Vec<(usize, &str)> {
    let mut fence: Option<&str> = None;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let start = line.trim_start();
        let marker = ["```", "~~~"]
            .into_iter()
            .find(|marker| start.starts_with(marker));
        match (fence, marker) {
            (None, Some(marker)) => fence = Some(marker),
            (Some(open), Some(marker)) if open == marker => fence = None,
            (None, None) => lines.push((index + 1, line)),
            _ => {}
        }
    }
    lines
}

fn without_code(line: &str) -> String {
    // Odd pieces between backticks are code; an unpaired last backtick opens none.
    let pieces: Vec<&str> = line.split('`').collect();
    let paired = pieces.len() - pieces.len() % 2;
    pieces
        .iter()
        .enumerate()
        .filter(|(index, _)| index % 2 == 0 || *index >= paired)
        .map(|(_, piece)| *piece)
        .collect::<Vec<_>>()
        .join("` `")
}

/// The anchors that headings give: lower case, punctuation dropped, spaces as hyphens.
fn anchors_in(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in prose_lines(text) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let slug: String = title
            .trim()
            .to_lowercase()
            .chars()
            .filter_map(|c| match c {
                ' ' => Some('-'),
                c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
                _ => None,
            })
            .collect();
        let mut anchor = slug.clone();
        let mut copy = 0;
        while !anchors.insert(anchor) {
            copy += 1;
            anchor = format!("{slug}-{copy}");
        }
    }
    anchors
}

#[cfg(test)]
#[path = "links_tests.rs"]
mod tests;
