//! The redactor: finds secrets in text and replaces each with `[redacted:label]`.
//!
//! The anchors of all rules are found in one pass; an automaton finds registered values exactly,
//! built for the first text that is long enough to hold one. Cloning shares it.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    ops::Range,
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};
use memchr::memmem;
use serde_json::Value;
use windlass_types::{Problem, Secret};

use crate::{
    anchors,
    pem::{self, Blocks},
    repeats,
    rules::{self, KNOWN, PLACEHOLDER},
    scan::{self, Found, Site},
};

/// How often what a replacement uncovers is looked for.
const ROUNDS: usize = 8;

/// The shortest value that can be registered; shorter ones occur by chance.
const MIN_KNOWN: usize = 6;

/// The redaction pass. Cheap to clone; all clones know the same registered values.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    known: Arc<RwLock<Known>>,
}

#[derive(Default)]
struct Known {
    values: BTreeSet<String>,
    /// The length of the shortest value.
    shortest: usize,
    automaton: OnceLock<Option<Arc<AhoCorasick>>>,
}

impl Known {
    /// What finds the values in a text; none where it cannot hold one.
    fn automaton(&self, text: &[u8]) -> Option<Arc<AhoCorasick>> {
        if self.values.is_empty() || text.len() < self.shortest {
            return None;
        }
        let build = || {
            AhoCorasickBuilder::new()
                .match_kind(MatchKind::LeftmostLongest)
                .build(&self.values)
                .ok()
                .map(Arc::new)
        };
        self.automaton.get_or_init(build).clone()
    }
}

impl std::fmt::Debug for Known {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Known({} values)", self.values.len())
    }
}

impl Redactor {
    /// A redactor that knows the rules and no values yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on this exact value is replaced wherever it occurs, also where it is
    /// written as a JSON string or percent-encoded. A value of several lines is matched
    /// line by line, one that is a JSON object also by the members whose names name secrets.
    /// Parts shorter than six bytes are not registered, because they occur by chance; returns
    /// whether anything was.
    pub fn register(&self, secret: &Secret<String>) -> bool {
        let text = secret.expose_secret();
        let members = members(text);
        let lines = text
            .lines()
            .chain(members.iter().flat_map(|it| it.lines()))
            .map(str::trim);
        let parts: Vec<&str> = lines
            .filter(|line| line.len() >= MIN_KNOWN && !line.starts_with("-----"))
            .collect();
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let before = known.values.len();
        for part in &parts {
            known.values.extend([
                (*part).to_owned(),
                json_escaped(part),
                percent_encoded(part),
            ]);
        }
        if known.values.len() > before {
            known.shortest = known.values.iter().map(String::len).min().unwrap_or(0);
            known.automaton = OnceLock::new();
        }
        !parts.is_empty()
    }

    /// The text without secrets; borrowed when there are none. Redacting twice is
    /// redacting once.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.redact_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // Replaced ranges begin and end at ASCII or at a registered text's edge, so the
            // result is valid; `lossy` only spares an unreachable error.
            Cow::Owned(bytes) => Cow::Owned(
                String::from_utf8(bytes)
                    .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
            ),
        }
    }

    /// Like [`Self::redact`], for bytes that may not be text.
    pub fn redact_bytes<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        if !Self::may_span_lines(text) {
            return self.redact_lines(Cow::Borrowed(text));
        }
        let mut blocks = Blocks::default();
        let mut without_keys = Vec::with_capacity(text.len());
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            blocks.feed(line, &mut without_keys);
        }
        blocks.finish(&mut without_keys);
        if without_keys == text {
            return self.redact_lines(Cow::Borrowed(text));
        }
        self.redact_lines(Cow::Owned(without_keys))
    }

    /// Whether the bytes hold a registered value.
    pub fn knows_part_of(&self, bytes: &[u8]) -> bool {
        let automaton = self.automaton(bytes);
        automaton.is_some_and(|automaton| automaton.is_match(bytes))
    }

    /// Whether redaction would change these bytes: a file that holds them is private.
    pub fn finds_in(&self, bytes: &[u8]) -> bool {
        matches!(self.redact_bytes(bytes), Cow::Owned(_))
    }

    /// Whether a secret that spans lines may begin here; quick and never wrongly no.
    pub(crate) fn may_span_lines(text: &[u8]) -> bool {
        memmem::find(text, pem::BEGIN).is_some()
            || memchr::memchr_iter(b'\n', text).any(|newline| {
                let line = &text[..newline];
                line.strip_suffix(b"\r").unwrap_or(line).ends_with(b">")
                    && pem::opens_element(&text[..=newline])
            })
    }

    fn automaton(&self, text: &[u8]) -> Option<Arc<AhoCorasick>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.automaton(text)
    }

    /// The same problem with every text a reader would see redacted.
    pub fn redact_problem(&self, problem: Problem) -> Problem {
        problem.map_text(&mut |text| self.redact(text).into_owned())
    }

    /// Redacts everything that ends within its line: all but private key blocks.
    ///
    /// A replacement can uncover an adjacent secret, so this repeats until nothing is found.
    /// Ordinary text needs two rounds, text made to need many loses the line: the work stays
    /// linear, and redacting twice is redacting once.
    pub(crate) fn redact_lines<'a>(&self, text: Cow<'a, [u8]>) -> Cow<'a, [u8]> {
        let mut text = text;
        for _ in 0..ROUNDS {
            let spans = find(&text, self.automaton(&text).as_deref());
            if spans.is_empty() {
                return text;
            }
            text = Cow::Owned(replace(&text, &spans));
        }
        let spans = find(&text, self.automaton(&text).as_deref());
        match spans.is_empty() {
            true => text,
            false => Cow::Owned(replace(&text, &lines_of(&text, &spans))),
        }
    }

    /// Where secrets are in this line; used to choose a place to cut it.
    pub(crate) fn spans(&self, line: &[u8]) -> Vec<Range<usize>> {
        let known = self.automaton(line);
        let mut spans: Vec<_> = find(line, known.as_deref())
            .into_iter()
            .map(|span| span.range)
            .collect();
        if Self::may_span_lines(line) {
            spans.extend(pem::spans(line));
        }
        spans
    }
}

struct Span {
    range: Range<usize>,
    label: &'static str,
}

/// Every secret, in order, without overlaps.
fn find(text: &[u8], known: Option<&AhoCorasick>) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut placeholders = Vec::new();
    let (mut at, mut floor) = (0, 0);
    while let Some(start) = anchors::find(text, at) {
        at = start + 1;
        for hit in anchors::at(text, start) {
            let rule = &rules::get(hit.rule);
            let site = Site {
                text,
                start,
                end: hit.end,
                floor,
            };
            match scan::judge(rule, site) {
                Found::Secret(range) => {
                    (at, floor) = (range.end, range.end);
                    spans.push(Span {
                        range,
                        label: rule.label,
                    });
                    break;
                }
                Found::Placeholder(range) => {
                    (at, floor) = (range.end, range.end);
                    placeholders.push(range);
                    break;
                }
                Found::Nothing => {}
            }
        }
    }
    let found: Vec<_> = spans.iter().map(|span| span.range.clone()).collect();
    let repeats = repeats::of(text, &found);
    if !repeats.is_empty() {
        let label = |(index, range): (usize, _)| Span {
            range,
            label: spans[index].label,
        };
        let repeats: Vec<_> = repeats.into_iter().map(label).collect();
        spans.extend(repeats);
        spans = merged(spans);
    }
    if let Some(known) = known {
        // Placeholders lie in order and apart, so only the first that ends later can overlap.
        let overlaps = |range: &Range<usize>| {
            let next =
                placeholders.partition_point(|other: &Range<usize>| other.end <= range.start);
            placeholders
                .get(next)
                .is_some_and(|other| other.start < range.end)
        };
        let exact = known
            .find_iter(text)
            .map(|hit| hit.range())
            .filter(|range| !overlaps(range));
        spans.extend(exact.map(|range| Span {
            range,
            label: KNOWN,
        }));
        spans = merged(spans);
    }
    spans
}

/// Joins overlapping spans; the one that begins first names the whole.
fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| (span.range.start, usize::MAX - span.range.end));
    let mut joined: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.range.start < last.range.end => {
                last.range.end = last.range.end.max(span.range.end);
            }
            _ => joined.push(span),
        }
    }
    joined
}

/// The whole lines that these spans lie in.
fn lines_of(text: &[u8], spans: &[Span]) -> Vec<Span> {
    let is_newline = |byte: &u8| *byte == b'\n';
    let mut lines: Vec<Span> = Vec::new();
    for span in spans {
        let from = lines.last().map_or(0, |line| line.range.end);
        if span.range.start < from {
            continue;
        }
        let before = text[from..span.range.start].iter().rposition(is_newline);
        let after = text[span.range.end..].iter().position(is_newline);
        lines.push(Span {
            range: before.map_or(from, |at| from + at + 1)
                ..after.map_or(text.len(), |at| span.range.end + at),
            label: span.label,
        });
    }
    lines
}

fn replace(text: &[u8], spans: &[Span]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut from = 0;
    for span in spans {
        out.extend_from_slice(&text[from..span.range.start]);
        out.extend_from_slice(PLACEHOLDER.as_bytes());
        out.extend_from_slice(span.label.as_bytes());
        out.push(b']');
        from = span.range.end;
    }
    out.extend_from_slice(&text[from..]);
    out
}

/// The texts of a JSON object that stand under a secret's name.
fn members(text: &str) -> Vec<String> {
    fn collect(value: Value, is_named: bool, found: &mut Vec<String>) {
        match value {
            Value::String(text) if is_named => found.push(text),
            Value::Array(items) => {
                items
                    .into_iter()
                    .for_each(|item| collect(item, is_named, found));
            }
            Value::Object(map) => {
                for (name, value) in map {
                    collect(value, rules::names_a_secret(&name), found);
                }
            }
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut found = Vec::new();
    if text.trim_start().starts_with('{')
        && let Ok(value) = serde_json::from_str(text)
    {
        collect(value, false, &mut found);
    }
    found
}

fn json_escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
#[path = "redactor_tests.rs"]
pub(crate) mod tests;
