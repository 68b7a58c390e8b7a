//! Lines and files that are looked for.

use std::{
    fmt::Write as _,
    fs::File,
    io::{self, BufReader},
    ops::ControlFlow,
};

use regex::bytes::{Regex, RegexBuilder};
use rustix::fs::FileType;

use super::{
    MOST_TEXT,
    file::{self, Kind},
    ignored::Pattern,
    lines, tree,
};
use crate::{Code, Failure, Outcome};

/// More findings are not told.
const MOST_FINDINGS: usize = 300;
/// As much of a line as is told.
const MOST_LINE: usize = 400;

struct Findings {
    told: String,
    count: usize,
}

impl Findings {
    fn new() -> Self {
        Self {
            told: String::new(),
            count: 0,
        }
    }

    fn is_full(&self) -> bool {
        self.count >= MOST_FINDINGS || self.told.len() >= MOST_TEXT
    }

    fn outcome(mut self, is_whole: bool, nothing: &str) -> Outcome {
        if self.count == 0 {
            self.told.push_str(nothing);
        }
        if !is_whole {
            self.told
                .push_str("\n[there is more; search in a directory below, or more precisely]");
        }
        Outcome::text(self.told)
    }
}

pub(super) fn search(
    place: &tree::Place<'_>,
    grep: Option<&str>,
    glob: Option<&str>,
) -> Result<Outcome, Failure> {
    let regex = grep.map(regex).transpose()?;
    let pattern = glob
        .map(|glob| {
            Pattern::new(place.path, glob).map_err(|why| {
                Failure::new(Code::InvalidGlob, format!("{glob:?} is no glob: {why}."))
            })
        })
        .transpose()?;
    let mut findings = Findings::new();
    let is_whole = tree::walk(place, tree::ALL, &mut |entry| {
        let fits = |pattern: &Pattern| pattern.fits(&place.path.join(entry.below));
        if entry.kind != FileType::RegularFile || !pattern.as_ref().is_none_or(fits) {
            return ControlFlow::Continue(());
        }
        if findings.is_full() {
            return ControlFlow::Break(());
        }
        let shown = entry.below.to_string_lossy();
        match &regex {
            None => {
                findings.count += 1;
                let _ = writeln!(findings.told, "{}", windlass_text::visible(&shown));
            }
            Some(regex) => {
                // One that may not be read has no findings.
                if let Ok(Some(file)) = entry.parent.open_file(entry.name) {
                    let _ = matches(&file, Some(&shown), regex, &mut findings);
                }
            }
        }
        match findings.is_full() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    Ok(findings.outcome(is_whole, "Nothing was found."))
}

pub(super) fn search_file(file: &File, shown: &str, grep: &str) -> Result<Outcome, Failure> {
    let regex = regex(grep)?;
    let mut findings = Findings::new();
    let is_whole = matches(file, None, &regex, &mut findings)
        .map_err(|error| Failure::new(Code::GrepError, format!("{shown}: {error}.")))?;
    Ok(findings.outcome(is_whole, "No line matches."))
}

fn regex(text: &str) -> Result<Regex, Failure> {
    RegexBuilder::new(text)
        .size_limit(1 << 20)
        .build()
        .map_err(|error| Failure::new(Code::InvalidRegex, error.to_string()))
}

/// Adds the lines of a text file that match. Returns whether all were looked at.
fn matches(
    file: &File,
    shown: Option<&str>,
    regex: &Regex,
    findings: &mut Findings,
) -> io::Result<bool> {
    if matches!(file::kind(&file::start(file)?), Kind::Binary) {
        return Ok(true);
    }
    lines::each(BufReader::with_capacity(64 * 1024, file), |number, line| {
        if regex.is_match(&line.bytes) {
            findings.count += 1;
            let text = String::from_utf8_lossy(&line.bytes);
            let cut = text.get(..text.floor_char_boundary(MOST_LINE));
            let dots = if text.len() > MOST_LINE { "…" } else { "" };
            if let Some(shown) = shown {
                let _ = write!(findings.told, "{}:", windlass_text::visible(shown));
            }
            let _ = writeln!(findings.told, "{number}:{}{dots}", cut.unwrap_or_default());
        }
        !findings.is_full()
    })
}
