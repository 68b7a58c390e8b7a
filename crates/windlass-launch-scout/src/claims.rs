//! Claims in the making: a statement, where it was read, how much that source counts, and what
//! kind of statement it is.
//!
//! A claim is kept only if the lines it cites really hold its key words.

use std::{collections::BTreeSet, sync::LazyLock};

use regex::Regex;
use windlass_launch_model::{Citation, ClaimKind};
use windlass_types::Digest;

use crate::{
    formats,
    kind::is_file_name,
    tree::Tree,
    words::{content, jaccard, keys, thousandths},
};

/// Where a claim may come from, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    Manifest,
    Source,
    Test,
    ImplementationDoc,
    ApiDoc,
    ReadmeTechnical,
    ReadmeMarketing,
}

impl Origin {
    /// 1 to 7.
    pub(crate) const fn priority(self) -> u8 {
        match self {
            Self::Manifest => 1,
            Self::Source => 2,
            Self::Test => 3,
            Self::ImplementationDoc => 4,
            Self::ApiDoc => 5,
            Self::ReadmeTechnical => 6,
            Self::ReadmeMarketing => 7,
        }
    }

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Manifest => "manifest",
            Self::Source => "source",
            Self::Test => "test",
            Self::ImplementationDoc => "implementation_doc",
            Self::ApiDoc => "api_doc",
            Self::ReadmeTechnical => "readme_technical",
            Self::ReadmeMarketing => "readme_marketing",
        }
    }
}

/// What a claim is used for, besides what its kind says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Purpose {
    Positioning,
    Install,
    Quickstart,
    Compatibility,
    License,
    Version,
    Dependency,
}

/// A statement and the place it was read in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub text: String,
    pub kind: ClaimKind,
    pub origin: Origin,
    pub path: String,
    pub start: u64,
    pub end: u64,
    /// What the cited lines must hold, lower-case.
    pub keys: Vec<String>,
    pub purpose: Option<Purpose>,
    /// The heading it stands under.
    pub heading: String,
}

impl Found {
    /// A statement quoted from the lines it stands in.
    pub(crate) fn quoted(text: String, origin: Origin, path: &str, lines: (u64, u64)) -> Self {
        Self {
            kind: kind_of(&text, ""),
            keys: keys(&text),
            text,
            origin,
            path: path.to_owned(),
            start: lines.0,
            end: lines.1,
            purpose: None,
            heading: String::new(),
        }
    }

    /// The lines it cites, if they are there and hold its key words.
    pub(crate) fn excerpt(&self, tree: &Tree) -> Option<String> {
        let excerpt = excerpt(tree.text(&self.path)?, self.start, self.end)?;
        let said = excerpt.to_lowercase().replace('’', "'");
        self.keys
            .iter()
            .all(|key| said.contains(key.as_str()))
            .then_some(excerpt)
    }

    pub(crate) fn citation(&self, excerpt: &str) -> Citation {
        Citation {
            path: self.path.clone(),
            start_line: self.start,
            end_line: self.end,
            source_type: self.origin.as_str().to_owned(),
            excerpt_sha256: Digest::of(excerpt.as_bytes()).to_string(),
        }
    }
}

/// Lines of a text, from 1, both ends included, joined by `\n`; `None` if they are not all there.
pub fn excerpt(text: &str, start: u64, end: u64) -> Option<String> {
    if start == 0 || end < start {
        return None;
    }
    let skip = usize::try_from(start - 1).ok()?;
    let count = usize::try_from(end - start + 1).ok()?;
    let lines: Vec<&str> = text.lines().skip(skip).take(count).collect();
    (lines.len() == count).then(|| lines.join("\n"))
}

/// How well a passage backs a statement, in thousandths: two parts where it stands, two parts how
/// much of it is the statement, one part how many of the key words it holds.
pub(crate) fn relevance(found: &Found, excerpt: &str) -> u32 {
    let rank = u32::from(8 - found.origin.priority()) * 1000 / 7;
    let overlap = jaccard(&content(&found.text), &content(excerpt));
    let said = excerpt.to_lowercase();
    let wanted = keys(&found.text);
    let hits = wanted
        .iter()
        .filter(|key| said.contains(key.as_str()))
        .count();
    (2 * rank + 2 * overlap + thousandths(hits, wanted.len())) / 5
}

/// `high`, `medium` or `low`.
pub(crate) const fn confidence(relevance: u32) -> &'static str {
    match relevance {
        650.. => "high",
        400..650 => "medium",
        _ => "low",
    }
}

static LIMITATION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(does not|doesn['’]t|do not|don['’]t|cannot|can['’]t|(is|are) not|isn['’]t|aren['’]t|not (yet |currently )?(supported|available|implemented|possible)|unsupported|no support|only (supports?|works?|runs?|reads?|writes?)|limited to|limitations?|known issues?|at most|maximum of|experimental|deprecated)\b",
    )
    .ok()
});

static WORKFLOW: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)(^(install|create|open|load|save|run|call|use|add|import|pass|set|configure|build|convert|export|start|write|read|parse|clone|download|initiali[sz]e|instantiate|choose|select|render|iterate|register)\b|^(to|first|then|next|finally|after that|step \d+)\b|\bhow to\b)",
    )
    .ok()
});

static API: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)(`[\w.:]+\(\)?[^`]*`|`[A-Za-z_]\w*::\w+[^`]*`|\b(class|classes|method|methods|function|functions|apis?|interface|parameters?|arguments?|returns?|endpoints?|callbacks?|trait|struct|constructor)\b)",
    )
    .ok()
});

static MOVES_DATA: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(reads?|reading|writes?|writing|supports?|imports?|exports?|converts?|converting|conversion|loads?|saves?|parses?|opens?|renders?|generates?|extracts?|formats?|files?|documents?|input|output)\b",
    )
    .ok()
});

fn says(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern
        .as_ref()
        .is_some_and(|pattern| pattern.is_match(text))
}

/// The kind of a statement; the first rule that fits decides.
pub(crate) fn kind_of(text: &str, heading: &str) -> ClaimKind {
    let heading = heading.to_lowercase();
    let under = |words: &[&str]| words.iter().any(|word| heading.contains(word));
    if says(&LIMITATION, text) || under(&["limitation", "known issue", "caveat", "not supported"]) {
        ClaimKind::Limitation
    } else if says(&WORKFLOW, text) {
        ClaimKind::Workflow
    } else if says(&API, text) || names_member(text) {
        ClaimKind::Api
    } else if says(&MOVES_DATA, text) && !formats::named(text).is_empty() {
        ClaimKind::Format
    } else {
        ClaimKind::Feature
    }
}

/// Whether a text names a member of something in code: `Document.save`, but not `acme.toml`.
fn names_member(text: &str) -> bool {
    text.split('`').skip(1).step_by(2).any(|code| {
        let path = code.split([' ', '(', '[']).next().unwrap_or_default();
        let is_word = |part: &str| {
            part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && part.chars().all(|c| c.is_alphanumeric() || c == '_')
        };
        path.contains('.') && path.split('.').all(is_word) && !is_file_name(path)
    })
}

/// The names a product goes by, lower-case.
pub(crate) fn aliases<'a>(names: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    names
        .map(|name| name.trim().to_lowercase())
        .filter(|name| name.chars().count() >= 3)
        .collect()
}

#[cfg(test)]
#[path = "claims_tests.rs"]
mod tests;
