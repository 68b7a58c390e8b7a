//! A failure for people: the resource that failed first, its cause, what its logs say, what helps.

use serde_json::Value;
use windlass_engine::contract::Contract;
use windlass_types::{Problem, code};

use super::{Screen, list, plan, safe, shown, text};
use crate::output::{Printer, Tone, counted, shorten};

/// Details longer than this are left to `--json`.
const LONGEST_DETAIL: usize = 200;
/// How many lines of logs are shown.
const MOST_LINES: usize = 30;

/// Details that have a view of their own, or are of no use to people.
const SHOWN_ELSEWHERE: [&str; 21] = [
    "failure",
    "statefulChanges",
    "resourceChanges",
    "changes",
    "counts",
    "missingSecrets",
    "drift",
    "cost",
    "rawTail",
    "logs",
    "field",
    "argument",
    "constraint",
    "run_id",
    "confirmToken",
    "confirmTokenExpiresAt",
    "noChanges",
    "isNewStack",
    "source",
    "diff",
    "planDigest",
];

/// Prints a failure of a stack command.
pub(crate) fn failure(printer: &Printer, problem: &Problem, contract: &dyn Contract) {
    let paint = printer.notice_paint();
    let say = |text: &str| printer.raw_notice(&format!("{text}\n"));
    say(&format!(
        "{} {}",
        paint.text(Tone::Bad, "error:"),
        safe(problem.message())
    ));
    say(&format!("  code: {}", contract.code_name(problem.code())));
    let details = Value::Object(problem.details().clone());
    for (key, value) in problem.details() {
        let value = shown(value);
        let is_news = !value.is_empty() && !problem.message().contains(&value);
        if is_news && value.len() <= LONGEST_DETAIL && !SHOWN_ELSEWHERE.contains(&key.as_str()) {
            say(&format!("  {key}: {}", safe(&value)));
        }
    }
    if let Some(report) = details.get("failure").filter(|report| report.is_object()) {
        for line in report_lines(report) {
            say(&line);
        }
    }
    plan::consequences(&Screen::notice(printer), &details);
    let tail = text(&details, "rawTail");
    if details.get("failure").is_none() && !tail.is_empty() {
        for line in last_lines(tail) {
            say(&paint.text(Tone::Dim, &format!("  | {}", safe(line))));
        }
    }
    let hint = paint.text(Tone::Active, "hint:");
    for action in problem.next_actions() {
        say(&format!("{hint} {}", safe(action)));
    }
    if problem.next_actions().is_empty() && problem.code() == &code::INTERNAL {
        say(&format!("{hint} windlass errors {}", problem.code().name));
    }
}

/// The report of a deployment, deletion or rollback that failed.
fn report_lines(report: &Value) -> Vec<String> {
    let name = match text(report, "resourceName") {
        "" => text(report, "logicalId"),
        name => name,
    };
    let mut lines = vec![format!(
        "  failed first: {} ({}) {}",
        safe(name),
        safe(text(report, "resourceType")),
        safe(text(report, "status"))
    )];
    for (label, key) in [("cause", "cause"), ("reason", "reason")] {
        let said = safe(text(report, key));
        if !said.is_empty() && !lines.iter().any(|line| line.ends_with(&said)) {
            lines.push(format!("  {label}: {said}"));
        }
    }
    let logs = list(report, "logs");
    let skipped = logs.len().saturating_sub(MOST_LINES);
    for line in &logs[skipped..] {
        lines.push(format!(
            "  | {}: {}",
            safe(text(line, "source")),
            shorten(&safe(text(line, "message")), LONGEST_DETAIL)
        ));
    }
    for also in list(report, "alsoFailed") {
        lines.push(format!(
            "  also failed: {} ({}): {}",
            safe(text(also, "logicalId")),
            safe(text(also, "resourceType")),
            safe(text(also, "reason"))
        ));
    }
    let cancelled = report.get("cancelled").and_then(Value::as_u64).unwrap_or(0);
    if cancelled > 0 {
        let count = usize::try_from(cancelled).unwrap_or(usize::MAX);
        lines.push(format!(
            "  stopped because of it: {}",
            counted(count, "resource")
        ));
    }
    let state = text(report, "stackStatus");
    if !state.is_empty() {
        lines.push(format!("  the stack is now {}", safe(state)));
    }
    let mut remedies: Vec<String> = Vec::new();
    for remedy in list(report, "remedies") {
        let said = match remedy {
            Value::String(said) => safe(said),
            other => safe(text(other, "text")),
        };
        if !said.is_empty() && !remedies.contains(&said) {
            remedies.push(said);
        }
    }
    lines.extend(
        remedies
            .iter()
            .map(|remedy| format!("  what helps: {remedy}")),
    );
    lines
}

fn last_lines(text: &str) -> impl Iterator<Item = &str> {
    let count = text.lines().count();
    text.lines().skip(count.saturating_sub(MOST_LINES))
}
