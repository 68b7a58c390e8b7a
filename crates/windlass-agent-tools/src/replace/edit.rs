//! The edit itself: text in, text out.

use crate::{Code, Failure, replace::typography::Folded};

/// How many line numbers a refusal lists.
const MOST_LINES: usize = 20;

/// A text that was edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub text: String,
    pub count: usize,
    /// Whether the text occurred as it was written.
    pub is_exact: bool,
}

/// Replaces a text that occurs once, or every occurrence. What does not occur as it is written is
/// looked for with plain quotes, dashes, blanks and line ends on both sides, and then must be unique.
pub(super) fn edit(text: &str, old: &str, new: &str, all: bool) -> Result<Edit, Failure> {
    if old == new {
        return Err(Failure::new(
            Code::OldStrNewStrIdentical,
            "old_str and new_str are the same, so there is nothing to change.",
        ));
    }
    if old.is_empty() {
        return Err(Failure::new(Code::InvalidArguments, "old_str is empty."));
    }
    let exact = starts(text, old);
    if !exact.is_empty() {
        if exact.len() > 1 && !all {
            return Err(ambiguous(text, &exact, "occurs"));
        }
        let spans = apart(&exact, old.len());
        return Ok(splice(text, &spans, new, true));
    }
    let folded = Folded::of(text);
    let sought = Folded::of(old);
    let loose: Vec<(usize, usize)> = starts(folded.text(), sought.text())
        .into_iter()
        .filter_map(|start| folded.span(start, start + sought.text().len()))
        .collect();
    match loose.as_slice() {
        [] => Err(Failure::new(
            Code::StringNotFound,
            "old_str does not occur. View the file and copy the text exactly.",
        )),
        [span] => Ok(splice(text, &[*span], new, false)),
        _ => {
            let starts: Vec<usize> = loose.iter().map(|(start, _)| *start).collect();
            Err(ambiguous(
                text,
                &starts,
                "does not occur as written, and with plain quotes, dashes and blanks it occurs",
            ))
        }
    }
}

/// Where a text occurs; occurrences may overlap.
fn starts(text: &str, sought: &str) -> Vec<usize> {
    if sought.is_empty() {
        return Vec::new();
    }
    let finder = memchr::memmem::Finder::new(sought.as_bytes());
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text
        .as_bytes()
        .get(from..)
        .and_then(|rest| finder.find(rest))
    {
        found.push(from + at);
        from += at + 1;
    }
    found
}

/// The occurrences that do not overlap an earlier one.
fn apart(starts: &[usize], length: usize) -> Vec<(usize, usize)> {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for start in starts {
        if spans.last().is_none_or(|(_, end)| start >= end) {
            spans.push((*start, start + length));
        }
    }
    spans
}

fn splice(text: &str, spans: &[(usize, usize)], new: &str, is_exact: bool) -> Edit {
    let mut edited = String::with_capacity(text.len() + new.len());
    let mut from = 0;
    for (start, end) in spans {
        edited.push_str(text.get(from..*start).unwrap_or_default());
        let replaced = text.get(*start..*end).unwrap_or_default();
        edited.push_str(&with_line_ends(new, text, replaced));
        from = *end;
    }
    edited.push_str(text.get(from..).unwrap_or_default());
    Edit {
        text: edited,
        count: spans.len(),
        is_exact,
    }
}

/// New text with the line ends of the text it replaces, or of the file. What has `\r\n` of its own
/// stays as it is.
fn with_line_ends(new: &str, text: &str, replaced: &str) -> String {
    let is_crlf = |sample: &str| {
        let all = memchr::memchr_iter(b'\n', sample.as_bytes()).count();
        let crlf = memchr::memmem::find_iter(sample.as_bytes(), "\r\n").count();
        (all > 0).then_some(crlf * 2 > all)
    };
    let wants_crlf = is_crlf(replaced).or_else(|| is_crlf(text)).unwrap_or(false);
    match wants_crlf && !new.contains("\r\n") {
        true => new.replace('\n', "\r\n"),
        false => new.to_owned(),
    }
}

fn ambiguous(text: &str, starts: &[usize], how: &str) -> Failure {
    let mut lines: Vec<String> = Vec::new();
    let (mut line, mut from) = (1, 0);
    for start in starts.iter().take(MOST_LINES) {
        let between = text.as_bytes().get(from..*start).unwrap_or_default();
        line += memchr::memchr_iter(b'\n', between).count();
        from = *start;
        lines.push(line.to_string());
    }
    let more = match starts.len() > MOST_LINES {
        true => ", …",
        false => "",
    };
    Failure::new(
        Code::StringNotUnique,
        format!(
            "old_str {how} {} times, on lines {}{more}. Include more of the text around the one \
             to change, or set replace_all. Nothing was changed.",
            starts.len(),
            lines.join(", ")
        ),
    )
}

#[cfg(test)]
#[path = "../edit_tests.rs"]
mod tests;
