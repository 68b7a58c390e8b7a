//! The events of a launch: a line for what matters, and a summary of where it stands.
//!
//! Pure: events in, lines and a summary out. Reads the events of contract 004 by their names, so
//! that a run driven by another process, or another version, is shown the same way.

use std::{collections::BTreeMap, time::Duration};

use serde_json::Value;
use windlass_launch_model::Severity;
use windlass_types::{Body, Event, Timestamp};

use crate::{
    flow::{EventLines, Line, LineKind},
    output::{Paint, Tone, counted, duration, shorten},
};

/// How far a run is in each state, for those who show a bar.
const PERCENT: [(&str, u8); 13] = [
    ("CREATED", 0),
    ("CLONED_INPUTS", 10),
    ("INGESTED", 20),
    ("FACTS_READY", 35),
    ("PLAN_READY", 40),
    ("DRAFTING", 45),
    ("DRAFT_READY", 60),
    ("LINKING", 65),
    ("VALIDATING", 70),
    ("FIXING", 80),
    ("READY_FOR_PR", 90),
    ("PR_OPENED", 95),
    ("DONE", 100),
];

/// States in which something is being done; the others say that something is done.
const UNDER_WAY: [&str; 4] = ["DRAFTING", "LINKING", "VALIDATING", "FIXING"];

/// Work that takes no longer needs no clock.
const SHORT: Duration = Duration::from_secs(1);

/// The result of a gate in the current validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gate {
    Running,
    Passed,
    Skipped,
    Failed,
}

#[derive(Clone, Debug)]
struct OpenIssue {
    severity: Severity,
    title: String,
    place: String,
}

/// A launch as far as its events were read.
#[derive(Debug, Default)]
pub(super) struct LaunchLines {
    title: String,
    state: String,
    /// When the state was entered.
    since: Option<Timestamp>,
    sections: Vec<(String, String)>,
    gates: Vec<(String, Gate)>,
    issues: BTreeMap<String, OpenIssue>,
    /// What is being worked on, and since when.
    work: Option<(String, Timestamp)>,
}

impl EventLines for LaunchLines {
    fn line(&mut self, event: &Event) -> Option<Line> {
        let at = event.time;
        let body = match Body::decode(&event.event_type, &event.payload) {
            Ok(Some(body)) => body,
            // A newer version's event: nothing to say about it here.
            Ok(None) => return None,
            Err(error) => {
                let text = format!("event {} cannot be read: {error}", event.seq);
                return Some(self.plain(LineKind::Failed, text, at));
            }
        };
        match body {
            Body::RunCreated(created) => {
                self.title.clone_from(&created.title);
                self.state = "CREATED".to_owned();
                self.since = Some(at);
                Some(self.plain(LineKind::Begun, created.title, at))
            }
            // Every command that works on a launch starts it again; an interruption says so itself.
            Body::RunStarted(started) if started.attempt > 1 => Some(self.plain(
                LineKind::Passing,
                format!("resumed (start {})", started.attempt),
                at,
            )),
            Body::StepFailed(step) if step.retry_at.is_some() => {
                let text = format!("{}: {}, trying again", step.key, step.problem.message());
                Some(self.plain(LineKind::Failed, text, at))
            }
            // How long a person took to decide is not how long the run took.
            Body::WaitStarted(_) => {
                self.since = None;
                None
            }
            Body::WaitCompleted(_) => {
                self.since = Some(at);
                None
            }
            Body::Domain(name, event) => self.hear(&name, &event.data, at),
            Body::RunCompleted(_) => {
                self.work = None;
                Some(self.enter("DONE", LineKind::Done, at))
            }
            Body::RunFailed(failed) => {
                self.work = None;
                let line = self.enter("FAILED", LineKind::Failed, at);
                let text = format!("{}: {}", line.text, failed.problem.message());
                Some(Line { text, ..line })
            }
            Body::RunCancelled(_) => {
                self.work = None;
                Some(self.enter("CANCELLED", LineKind::Failed, at))
            }
            Body::RunRolledBack(_) => Some(self.plain(
                LineKind::Undone,
                "the pull request was undone".to_owned(),
                at,
            )),
            Body::UndoFailed(undo) => {
                let text = format!("could not undo {}: {}", undo.key, undo.problem.message());
                Some(self.plain(LineKind::Failed, text, at))
            }
            Body::RunHeld(held) => {
                let text = format!("held: {}", held.problem.message());
                Some(self.plain(LineKind::Paused, text, at))
            }
            _ => None,
        }
    }

    fn has_summary(&self) -> bool {
        true
    }

    fn summary(&self, paint: Paint, columns: usize, now: Timestamp) -> String {
        let mut lines = vec![(Tone::Strong, format!("{}  {}", self.state, self.title))];
        if !self.sections.is_empty() {
            let sections: Vec<String> = self
                .sections
                .iter()
                .map(|(section, state)| format!("{section} {}", briefly(state)))
                .collect();
            lines.push((Tone::Plain, format!("  sections  {}", sections.join(" · "))));
        }
        if !self.gates.is_empty() {
            let marks: String = self.gates.iter().map(|(_, gate)| gate.mark()).collect();
            let running = self.gates.iter().find(|(_, gate)| *gate == Gate::Running);
            let running = running.map_or("", |(name, _)| name.as_str());
            lines.push((Tone::Plain, format!("  gates     {marks} {running}")));
        }
        if !self.issues.is_empty() {
            lines.push((Tone::Plain, format!("  issues    {}", self.found())));
        }
        if let Some((work, since)) = &self.work {
            let took = now.since(*since);
            let took = if took < SHORT {
                String::new()
            } else {
                duration(took)
            };
            lines.push((Tone::Dim, format!("  now       {work}  {took}")));
        }
        let shown: Vec<String> = lines
            .into_iter()
            .map(|(tone, line)| paint.text(tone, &shorten(line.trim_end(), columns)))
            .collect();
        shown.join("\n")
    }
}

impl LaunchLines {
    fn hear(&mut self, name: &str, data: &Value, at: Timestamp) -> Option<Line> {
        let text = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default();
        match name {
            "RUN_STATE_CHANGED" => {
                let to = text("to_state");
                let kind = match to {
                    // The engine's own events show these.
                    "DONE" | "FAILED" | "CANCELLED" => return None,
                    _ if UNDER_WAY.contains(&to) => LineKind::Begun,
                    _ => LineKind::Done,
                };
                let took = self.since.map(|since| at.since(since));
                let line = self.enter(to, kind, at);
                Some(Line {
                    took: took.filter(|_| kind == LineKind::Done),
                    ..line
                })
            }
            "RESUME_REWIND" => {
                let shown = format!("interrupted, back to {}", text("to_state"));
                self.enter(text("to_state"), LineKind::Undone, at);
                Some(self.plain(LineKind::Undone, shown, at))
            }
            "SECTION_STATE_CHANGED" => {
                self.section(text("section"), text("to_state"));
                let shown = format!("{}: {}", text("section"), words(text("to_state")));
                Some(self.plain(LineKind::Passing, shown, at))
            }
            "WORK_ITEM_STARTED" => {
                if text("worker") == "W7" {
                    self.gates.clear();
                }
                let shown = text("message").trim_end_matches(": begun").to_owned();
                self.work = Some((shown.clone(), at));
                Some(self.plain(LineKind::Passing, shown, at))
            }
            "WORK_ITEM_FINISHED" | "WORK_ITEM_FAILED" => Some(self.ended(name, data, at)),
            "GATE_RUN_STARTED" => {
                self.gates.push((text("gate").to_owned(), Gate::Running));
                None
            }
            "GATE_RUN_FINISHED" => Some(self.gate(data, at)),
            "ISSUE_OPENED" => self.opened(data.get("issue")?, at),
            "ISSUE_RESOLVED" => {
                let issue = self.issues.remove(text("issue_id"))?;
                let shown = format!("resolved: {}{}", issue.title, issue.place);
                Some(self.plain(LineKind::Done, shown, at))
            }
            "LLM_CALL_FAILED" => {
                let shown = format!("a language model call failed: {}", text("message"));
                Some(self.plain(LineKind::Failed, shown, at))
            }
            "PR_APPROVED" => {
                let yes = data.get("approved") == Some(&Value::Bool(true));
                let word = if yes { "approved" } else { "rejected" };
                let shown = format!("pull request {word} by {}", text("principal"));
                let kind = if yes {
                    LineKind::Done
                } else {
                    LineKind::Failed
                };
                Some(self.plain(kind, shown, at))
            }
            "PR_OPENED" => {
                let shown = format!("pull request {}", text("pr_url"));
                Some(self.plain(LineKind::Done, shown, at))
            }
            "INVALID_STATE_TRANSITION" => {
                let shown = format!("{} cannot follow {}", text("to_state"), text("from_state"));
                Some(self.plain(LineKind::Failed, shown, at))
            }
            _ => None,
        }
    }

    fn enter(&mut self, state: &str, kind: LineKind, at: Timestamp) -> Line {
        self.state = state.to_owned();
        self.since = Some(at);
        self.plain(kind, state.to_owned(), at)
    }

    fn section(&mut self, section: &str, state: &str) {
        match self.sections.iter_mut().find(|(name, _)| name == section) {
            Some((_, known)) => *known = state.to_owned(),
            None => self.sections.push((section.to_owned(), state.to_owned())),
        }
    }

    fn ended(&mut self, name: &str, data: &Value, at: Timestamp) -> Line {
        let text = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default();
        let took = self.work.take().map(|(_, since)| at.since(since));
        let sound = data.pointer("/outputs/ok") != Some(&Value::Bool(false));
        let message = text("message");
        let (kind, shown) = match (name, text("worker"), self.counts()) {
            ("WORK_ITEM_FAILED", ..) => (LineKind::Failed, message.to_owned()),
            (_, "W7", Some(counts)) if sound => {
                (LineKind::Done, format!("all gates passed ({counts})"))
            }
            (_, "W7", Some(counts)) => (LineKind::Failed, format!("{} ({counts})", self.found())),
            (_, "W8", _) => (LineKind::Done, message.to_owned()),
            // Its own event names the pull request.
            (_, "W9", _) => (LineKind::Passing, message.to_owned()),
            _ => (LineKind::Note, message.to_owned()),
        };
        Line {
            took,
            ..self.plain(kind, shown, at)
        }
    }

    fn gate(&mut self, data: &Value, at: Timestamp) -> Line {
        let name = data
            .get("gate")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let is = |key: &str| data.get(key) == Some(&Value::Bool(true));
        let gate = match (is("skipped"), is("ok")) {
            (true, _) => Gate::Skipped,
            (_, true) => Gate::Passed,
            _ => Gate::Failed,
        };
        match self.gates.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = gate,
            None => self.gates.push((name.clone(), gate)),
        }
        let (kind, shown) = match gate {
            Gate::Failed => {
                let count = |severity: &str| {
                    data.pointer(&format!("/issues/{severity}"))
                        .and_then(Value::as_u64)
                        .unwrap_or_default()
                };
                let found = tally(count("blocker"), count("error"), count("warn"));
                (LineKind::Failed, format!("{name}: {found}"))
            }
            Gate::Skipped => (LineKind::Passing, format!("{name}: skipped")),
            Gate::Passed | Gate::Running => (LineKind::Passing, format!("{name}: passed")),
        };
        let took = data.get("duration_ms").and_then(Value::as_u64);
        Line {
            took: took.map(Duration::from_millis),
            ..self.plain(kind, shown, at)
        }
    }

    fn opened(&mut self, issue: &Value, at: Timestamp) -> Option<Line> {
        let text = |key: &str| issue.get(key).and_then(Value::as_str).unwrap_or_default();
        let severity: Severity = serde_json::from_value(issue.get("severity")?.clone()).ok()?;
        let path = issue.pointer("/location/path").and_then(Value::as_str);
        let line = issue.pointer("/location/line").and_then(Value::as_u64);
        let place = match (path, line) {
            (Some(path), Some(line)) => format!(" ({path}:{line})"),
            (Some(path), None) => format!(" ({path})"),
            _ => String::new(),
        };
        let opened = OpenIssue {
            severity,
            title: text("title").to_owned(),
            place,
        };
        let shown = format!("{}: {}{}", severity.as_str(), opened.title, opened.place);
        let kind = match severity {
            Severity::Blocker | Severity::Error => LineKind::Failed,
            Severity::Warn => LineKind::Note,
            Severity::Info => LineKind::Passing,
        };
        self.issues.insert(text("issue_id").to_owned(), opened);
        Some(self.plain(kind, shown, at))
    }

    fn plain(&self, kind: LineKind, text: String, at: Timestamp) -> Line {
        let percent = PERCENT.iter().find(|(state, _)| *state == self.state);
        Line {
            percent: percent.map(|(_, percent)| *percent),
            ..Line::new(kind, text, &self.state.to_ascii_lowercase(), at)
        }
    }

    /// How many issues of each kind are open.
    fn found(&self) -> String {
        let count = |wanted: Severity| {
            let issues = self.issues.values();
            issues.filter(|issue| issue.severity == wanted).count() as u64
        };
        tally(
            count(Severity::Blocker),
            count(Severity::Error),
            count(Severity::Warn),
        )
    }

    /// How many gates have each result.
    fn counts(&self) -> Option<String> {
        let count = |wanted: Gate| {
            self.gates
                .iter()
                .filter(|(_, gate)| *gate == wanted)
                .count()
        };
        if self.gates.is_empty() {
            return None;
        }
        let mut parts = vec![format!(
            "{} of {} gates passed",
            count(Gate::Passed),
            self.gates.len()
        )];
        if count(Gate::Skipped) > 0 {
            parts.push(format!("{} skipped", count(Gate::Skipped)));
        }
        Some(parts.join(", "))
    }
}

impl Gate {
    const fn mark(self) -> char {
        match self {
            Self::Running => '…',
            Self::Passed => '✓',
            Self::Skipped => '–',
            Self::Failed => '✗',
        }
    }
}

/// How far a section is, in a word.
fn briefly(state: &str) -> &str {
    match state {
        "NOT_STARTED" => "·",
        "OUTLINED" => "planned",
        "DRAFTED" => "written",
        "MERGED_IN_WORKTREE" => "in the site",
        "DONE" => "✓",
        "BLOCKED" => "✗",
        other => other,
    }
}

/// The name of a state as a phrase: `MERGED_IN_WORKTREE` → `merged in worktree`.
pub(super) fn words(state: &str) -> String {
    state.to_ascii_lowercase().replace('_', " ")
}

/// How much was found.
pub(super) fn tally(blockers: u64, errors: u64, warnings: u64) -> String {
    let parts: Vec<String> = [
        (blockers, "blocker"),
        (errors, "error"),
        (warnings, "warning"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, noun)| counted(count, noun))
    .collect();
    if parts.is_empty() {
        "nothing that matters".to_owned()
    } else {
        parts.join(", ")
    }
}

#[cfg(test)]
#[path = "event_lines_tests.rs"]
mod tests;
