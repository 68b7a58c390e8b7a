//! Runs every gate in the fixed order and makes one report of what they found.
//!
//! Each gate has a thread and a time limit. A gate that takes longer is told to stop and left
//! behind; its place in the report is a blocker. Nothing here judges a page.

use std::{collections::BTreeMap, sync::mpsc, time::Duration};

use windlass_launch_model::{
    GateResult, Issue, IssueStatus, Location, Severity, ValidationReport, issue::Occurrence,
};

use crate::{
    finding::{Checked, Finding, Limit, Place, shorten},
    fix,
    gates::GATES,
    input::GateInput,
    outside::GateFault,
    select,
    severity::severity,
};

/// One gate.
pub trait Gate: Send + Sync {
    /// Its name in reports.
    fn name(&self) -> &'static str;

    /// How long it may take.
    fn limit(&self) -> Limit;

    /// How many files a limit per file counts.
    fn files(&self, input: &GateInput) -> usize {
        input.changed.len()
    }

    /// Looks, and says what it found.
    fn check(&self, input: &GateInput) -> Result<Checked, GateFault>;
}

/// What a watcher hears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress<'a> {
    /// A gate begins.
    Started(&'a str),
    /// A gate is through, with so many issues.
    Finished(&'a GateResult, usize),
}

/// Runs all gates.
pub fn run_gates(
    input: &GateInput,
    watch: &mut dyn FnMut(Progress<'_>),
) -> Result<ValidationReport, GateFault> {
    run_these(&GATES, input, watch)
}

/// Runs some gates; the report lists them in this order.
pub(crate) fn run_these(
    gates: &[&'static dyn Gate],
    input: &GateInput,
    watch: &mut dyn FnMut(Progress<'_>),
) -> Result<ValidationReport, GateFault> {
    let mut results = Vec::with_capacity(gates.len());
    let mut issues = Vec::new();
    for gate in gates {
        watch(Progress::Started(gate.name()));
        let (found, skipped) = match timed(*gate, input)? {
            Some(Checked::Ran(findings)) => (findings, None),
            Some(Checked::Skipped { reason, findings }) => (findings, Some(reason)),
            Some(Checked::TimedOut) | None => (vec![timeout(*gate, input)], None),
        };
        let opened = open_issues(gate.name(), found, input);
        let result = GateResult {
            name: gate.name().to_owned(),
            ok: !ValidationReport::fails(&opened),
            skipped: skipped.is_some(),
            reason: skipped.map(str::to_owned),
            log_path: None,
        };
        watch(Progress::Finished(&result, opened.len()));
        results.push(result);
        issues.extend(opened);
    }
    issues.sort_by(select::order);
    let ok = !ValidationReport::fails(&issues);
    Ok(ValidationReport {
        schema_version: "1.0".to_owned(),
        ok,
        error_code: (!ok).then(|| "GATE_FAILED".to_owned()),
        profile: input.profile,
        gates: results,
        issues,
        manual_edits: !input.manual_edited_files.is_empty(),
        manual_edited_files: input.manual_edited_files.clone(),
    })
}

/// Runs one gate on a thread of its own; none when its time ran out.
fn timed(gate: &'static dyn Gate, input: &GateInput) -> Result<Option<Checked>, GateFault> {
    let seconds = gate.limit().seconds(input.profile, gate.files(input));
    let (answer, waiting) = mpsc::channel();
    let own = input.for_one_gate();
    let given = own.clone();
    std::thread::Builder::new()
        .name(format!("gate-{}", gate.name()))
        .spawn(move || {
            // Nobody listens once the time ran out.
            let _ = answer.send(gate.check(&given));
        })
        .map_err(|error| GateFault::Failed {
            gate: gate.name().to_owned(),
            cause: error.to_string(),
        })?;
    match waiting.recv_timeout(Duration::from_secs(seconds)) {
        Ok(checked) => checked.map(Some),
        Err(mpsc::RecvTimeoutError::Timeout) => {
            own.stop();
            Ok(None)
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            Err(GateFault::Crashed(gate.name().to_owned()))
        }
    }
}

fn timeout(gate: &dyn Gate, input: &GateInput) -> Finding {
    let seconds = gate.limit().seconds(input.profile, gate.files(input));
    Finding::run(
        "GATE_TIMEOUT",
        gate.name(),
        format!("{} did not finish within {seconds} s.", gate.name()),
    )
}

/// One issue per file, code and severity, with every occurrence.
fn open_issues(gate: &str, findings: Vec<Finding>, input: &GateInput) -> Vec<Issue> {
    let mut groups: BTreeMap<(Place, &'static str, Severity), Vec<Finding>> = BTreeMap::new();
    for finding in findings {
        let level = if is_the_runs(&finding, input) {
            severity(gate, finding.code, input.profile, input.strictness)
        } else {
            Severity::Info
        };
        groups
            .entry((finding.place.clone(), finding.code, level))
            .or_default()
            .push(finding);
    }
    groups
        .into_iter()
        .map(|((place, code, level), group)| issue(gate, &place, code, level, group))
        .collect()
}

/// Whether the run brought it: not in a file it never touched, not in a line it left alone.
fn is_the_runs(finding: &Finding, input: &GateInput) -> bool {
    let Place::Site(path) = &finding.place else {
        return true;
    };
    if input.site.contains(path) && !input.changed.contains_key(path) {
        return false;
    }
    let Some(line) = finding.line else {
        return true;
    };
    let old =
        |document: &crate::document::Document| input.is_old_line(path, document.line_text(line));
    !input.document(path).is_some_and(old)
}

fn issue(
    gate: &str,
    place: &Place,
    code: &'static str,
    level: Severity,
    mut group: Vec<Finding>,
) -> Issue {
    group.sort_by(|a, b| (a.line, &a.excerpt).cmp(&(b.line, &b.excerpt)));
    let path = place.path();
    let first = group.first();
    let excerpt = first.map_or("", |finding| finding.excerpt.as_str());
    let message = first.map_or("", |finding| finding.message.as_str());
    let line = first.and_then(|finding| finding.line);
    let more = group.len().saturating_sub(1);
    let fixer = fix::fixer(code);
    Issue {
        // The severity is no part of the id: a group of old lines is told apart by its ordinal.
        issue_id: Issue::id(
            gate,
            code,
            &path,
            excerpt,
            usize::from(level == Severity::Info),
        ),
        gate: gate.to_owned(),
        severity: level,
        title: title(message, more),
        message: message.to_owned(),
        status: IssueStatus::Open,
        error_code: Some(code.to_owned()),
        files: if path.is_empty() {
            Vec::new()
        } else {
            vec![path.clone()]
        },
        location: (!path.is_empty()).then_some(Location { path, line }),
        occurrences: group
            .iter()
            .filter_map(|finding| {
                Some(Occurrence {
                    line: finding.line?,
                    excerpt: finding.excerpt.clone(),
                })
            })
            .collect(),
        suggested_fix: fixer.map(|fixer| fixer.promise().to_owned()),
        fixable: fixer.is_some() && matches!(place, Place::Site(_)),
    }
}

/// The message's first sentence, and how often more it occurs; at most 80 characters.
fn title(message: &str, more: usize) -> String {
    let tail = if more == 0 {
        String::new()
    } else {
        format!(" (+{more})")
    };
    let sentence = message.split_once(". ").map_or(message, |(first, _)| first);
    let room = 80 - tail.chars().count();
    format!("{}{tail}", shorten(sentence.trim_end_matches('.'), room))
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
